"""DeepL's dialect: `/v2/…`, and the glossaries of `/v3/…`."""

from service.dialects.deepl.errors import shape

PREFIXES = ("/v2/", "/v3/")

__all__ = ["PREFIXES", "shape"]
