"""Texts cut into segments and put back with their layout untouched."""
