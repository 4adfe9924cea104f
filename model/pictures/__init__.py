"""Pictures of an inspection as SVG, for notebooks and documents: what the glass box shows, on paper."""

from model.pictures.attention import every_head, one_head
from model.pictures.beam import beam
from model.pictures.choices import choices
from model.pictures.flow import flow
from model.pictures.positions import positions

__all__ = ["beam", "choices", "every_head", "flow", "one_head", "positions"]
