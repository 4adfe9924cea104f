"""LibreTranslate's dialect: `/translate` and what stands beside it."""

from service.dialects.libretranslate.errors import shape

PATHS = frozenset(
    {"/translate", "/detect", "/languages", "/frontend/settings", "/suggest", "/spec", "/translate_file"}
)
PREFIX = "/download_file/"
UPLOAD = "/translate_file"

__all__ = ["PATHS", "PREFIX", "UPLOAD", "shape"]
