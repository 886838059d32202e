"""How the trainer ends: done; told to leave and saved; out of memory; anything else."""

DONE, FAILED, YIELDED, OUT_OF_MEMORY = 0, 1, 75, 77
