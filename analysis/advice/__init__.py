"""Which layout suits a table and its queries: predicted by the scan cost model, and simulated."""
