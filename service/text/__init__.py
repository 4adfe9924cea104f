"""What real texts need besides a model: detection, markup, what must not change, terms, files."""
