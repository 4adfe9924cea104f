"""Measuring a system's output against references."""
