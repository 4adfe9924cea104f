"""A small German–English corpus that the project writes itself, so that nothing need be downloaded to begin."""
