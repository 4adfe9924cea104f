"""The door to HTTP: `python -m service` serves a model in two dialects, /v1 and LibreTranslate's."""
