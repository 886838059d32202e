"""Thousands of runs under faults, with a virtual clock: no sequence of faults may break the guarantee."""
