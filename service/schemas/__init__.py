"""What strangers write and read, one module per dialect."""
