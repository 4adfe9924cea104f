"""DeepL's dialect: `/v2/…`, and the glossaries of `/v3/…`."""

from service.dialects.deepl.errors import shape

PREFIXES = ("/v2/", "/v3/")
UPLOAD = "/v2/document"

__all__ = ["PREFIXES", "UPLOAD", "shape"]
