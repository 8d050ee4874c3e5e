"""Many users of one database: where its tables and indexes lie, and transactions that share a buffer pool and a processor."""
