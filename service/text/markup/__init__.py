"""HTML and XML: read into tokens that, joined, are the source; then into blocks that can be translated."""
