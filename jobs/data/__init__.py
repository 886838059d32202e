"""Data that people bring: how files are read and judged. Used before a launch on the first part of a file, by the
trainer on all of it, by the same rules."""
