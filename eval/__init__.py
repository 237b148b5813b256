"""Matches, tournaments and benchmarks."""
