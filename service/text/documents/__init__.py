"""Files of the kinds that people translate: bytes in, what is to be translated, bytes out."""

from service.text.documents.document import Document
from service.text.documents.kinds import SUFFIXES, open_document

__all__ = ["SUFFIXES", "Document", "open_document"]
