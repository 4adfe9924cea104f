"""Parallel text from the outside: fetched, read, cleaned, split, varied."""
