"""What the elements of HTML are to a translator."""

from __future__ import annotations

# A sentence never goes across these. Everything else, unknown elements too, stands inside a sentence.
_SPLITTING = """
    address article aside audio blockquote body br button canvas caption center col colgroup dd details dialog dir
    div dl dt fieldset figcaption figure footer form frame frameset h1 h2 h3 h4 h5 h6 head header hgroup hr html
    iframe legend li link main menu meta nav noframes noscript object ol optgroup option p param pre script search
    section select source style summary table tbody td template textarea tfoot th thead title tr track ul video
"""
SPLITTING = frozenset(_SPLITTING.split())
# These stay as they are, with all they hold.
_UNTOUCHED = "code kbd math pre samp script style svg textarea tt var"
UNTOUCHED = frozenset(_UNTOUCHED.split())
# Inline elements that mean something only to the eye: an empty one is no word.
_SILENT = """
    a abbr acronym b bdi bdo big cite del dfn em font i img input ins label mark q ruby s small span strike strong
    sub sup time u wbr
"""
SILENT = frozenset(_SILENT.split())


def is_marked_untouched(attributes: dict[str, str]) -> bool:
    """translate="no", and the class that says the same to other translators."""
    return (
        attributes.get("translate", "").lower() == "no"
        or "notranslate" in attributes.get("class", "").split()
    )
