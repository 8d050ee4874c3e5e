"""Where the time of a run went, and why: by cause, data structure, place in the code and program, and along the critical path."""
