"""The data of a run, whole: fetched, read, judged, split."""
