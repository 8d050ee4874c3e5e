"""Which layout suits a table and its queries: what the scan cost model says of each, and what simulation does."""
