"""Bots: each a file, each batched."""
