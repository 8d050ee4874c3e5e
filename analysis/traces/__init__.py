"""Trace files: what they say of themselves, their replay in full, their miss curves, and the programs that they were recorded of."""
