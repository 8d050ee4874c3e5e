"""Which hash join suits two relations: what the cost models say of each algorithm, and what simulation does."""
