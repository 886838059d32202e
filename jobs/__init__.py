"""What a job is: its spec, its recipes, its lifecycle, its money. Pure: no I/O, no clock, no randomness."""
