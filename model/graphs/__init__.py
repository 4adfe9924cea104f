"""Decoding in buffers that stay where they are, so that a GPU can repeat a whole step by itself (CUDA graphs)."""
