"""Which index in disk pages, and which page size: what cost models say of each, and what simulation does."""
