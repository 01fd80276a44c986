"""Simple baselines for sets of sequences, to compare the library with."""
