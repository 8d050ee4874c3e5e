"""Which layout, which join and which index: what cost models say of each, and what simulation does, side by side."""
