"""Robustness by training: a share of the examples looks like what people and programs really send.

CAPITALS, all lower case, Title Case, no stop at the end, typing errors, two sentences in one, and strings
that must come through untouched. Only the training set is changed, and anew in every epoch.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, fields
from random import Random

from training.corpora import copies
from training.corpora.pairs import Pair


@dataclass(frozen=True, kw_only=True)
class AugmentShares:
    """How large a share of the pairs meets each change; a pair meets one at most. The defaults make 26 %."""

    capitals: float = (
        0.02  # THE SOURCE IN CAPITALS, ß as SS, as most people write it; that asks for a target in them
    )
    lower_case: float = 0.025  # the source in lower case; the target as it should be written
    title_case: float = 0.04  # The Source With Capital Words; the target as it should be written
    no_stop: float = 0.03  # no final stop, on both sides
    typing_errors: float = 0.02  # one or two slips in the source
    copies: float = 0.11  # strings to copy, at the same place on both sides
    joined: float = 0.015  # followed by another pair, both sides

    def __post_init__(self) -> None:
        for share in fields(self):
            if not 0.0 <= getattr(self, share.name) <= 1.0:
                raise ValueError(f"share {share.name} is {getattr(self, share.name)}; allowed: 0 … 1")
        if self.total > 1.0:
            raise ValueError(f"the shares add up to {self.total:.3f}; at most 1 is possible")

    @property
    def total(self) -> float:
        return float(sum(getattr(self, share.name) for share in fields(self)))


def augment(pair: Pair, random: Random, shares: AugmentShares, draw: Callable[[], Pair]) -> Pair:
    """The pair, or a changed one. `draw` gives any other pair of the same direction, for joining.

    The same state of `random` gives the same result. A change that does not apply (a pair without a stop, a
    script without capitals) leaves the pair as it is.
    """
    changes: tuple[tuple[float, Callable[[], Pair]], ...] = (
        (
            shares.capitals,
            lambda: Pair(pair.source.upper(), pair.target),
        ),  # encode_example does the other side
        (shares.lower_case, lambda: Pair(pair.source.lower(), pair.target)),
        (shares.title_case, lambda: Pair(title_case(pair.source), pair.target)),
        (shares.no_stop, lambda: without_stop(pair)),
        (shares.typing_errors, lambda: Pair(with_typing_errors(pair.source, random), pair.target)),
        (shares.copies, lambda: with_copies(pair, random)),
        (shares.joined, lambda: join(pair, draw())),
    )
    point = random.random()
    for share, change in changes:
        if point < share:
            return change()
        point -= share
    return pair


def title_case(text: str) -> str:
    """Each word with a capital; unlike `str.title` it leaves "don't" and "McDonald" alone after that."""
    return re.sub(r"(?<!\S)\w", lambda match: match[0].upper(), text)


def without_stop(pair: Pair) -> Pair:
    """Both sides lose it, or neither does: the ends must be of one kind."""
    ends = [_STOPS.get(side[-1:]) for side in pair]
    if ends[0] is None or ends[0] != ends[1] or any(side[-2:-1] in _STOPS for side in pair):
        return pair
    return Pair(pair.source[:-1].rstrip(), pair.target[:-1].rstrip())


def with_typing_errors(text: str, random: Random) -> str:
    """One slip, in a longer text often two, in words of four letters or more."""
    for _ in range(1 + (len(text) > 40 and random.random() < 0.5)):
        words = list(re.finditer(r"[^\W\d_]{4,}", text))
        if not words:
            break
        word = random.choice(words)
        text = text[: word.start()] + _slip(word[0], random) + text[word.end() :]
    return text


def with_copies(pair: Pair, random: Random) -> Pair:
    """One to three strings that are the same on both sides, at the same place."""
    for _ in range(random.choice((1, 1, 1, 1, 2, 2, 3))):
        places = [
            place for place in (_replace_shared, _replace_shared, _after_comma) if place(pair, random, "x")
        ]
        place = random.choice([*places, _around])
        pair = place(pair, random, copies.copy_string(random)) or pair
    return pair


def join(first: Pair, second: Pair) -> Pair:
    """Two pairs as one, with a space between them but where the script has none."""
    return Pair(
        *(one + ("" if one[-1:] in "。！？" else " ") + two for one, two in zip(first, second, strict=True))
    )


def _slip(word: str, random: Random) -> str:
    at = random.randrange(1, len(word) - 1)  # the first letter is seldom wrong, and its case matters
    kind = random.randrange(4)
    if kind == 0:
        return word[:at] + word[at + 1] + word[at] + word[at + 2 :]
    if kind == 1:
        return word[:at] + word[at + 1 :]
    if kind == 2:
        return word[: at + 1] + word[at:]
    return word[:at] + random.choice(_NEIGHBOURS.get(word[at], word[at])) + word[at + 1 :]


def _replace_shared(pair: Pair, random: Random, string: str) -> Pair | None:
    """In the place of a name or number that stands once on either side; a number gives way to a number."""
    words = [_SHARED.findall(side) for side in pair]
    shared = [word for word in words[0] if words[0].count(word) == words[1].count(word) == 1]
    shared = [word for word in shared if word.isdigit() or (len(word) > 2 and word not in _NO_NAMES)]
    if not shared:
        return None
    old = random.choice(shared)
    if old.isdigit():
        string = copies.number(random)
    return Pair(*(re.sub(rf"(?<!\w){re.escape(old)}(?!\w)", lambda _: string, side) for side in pair))


def _after_comma(pair: Pair, random: Random, string: str) -> Pair | None:
    """Between two clauses, where both sides have as many of them."""
    clauses = [side.split(", ") for side in pair]
    if len(clauses[0]) != len(clauses[1]) or len(clauses[0]) == 1:
        return None
    at = random.randrange(1, len(clauses[0]))
    return Pair(*(", ".join([*parts[:at], f"{string} {parts[at]}", *parts[at + 1 :]]) for parts in clauses))


def _around(pair: Pair, random: Random, string: str) -> Pair:
    """Before, after, before the final stop, in brackets, or as a frame."""
    before, after, inside = random.choice(
        (
            (f"{string} ", "", ""),
            (f"{string}: ", "", ""),
            ("", f" {string}", ""),
            ("", "", f" {string}"),
            ("", "", f" ({string})"),
            random.choice(_FRAMES),
        )
    )
    return Pair(*(before + _before_stop(side, inside) + after for side in pair))


def _before_stop(text: str, string: str) -> str:
    if text[-1:] in _STOPS and text[-2:-1] not in _STOPS:
        return text[:-1] + string + text[-1]
    return text + string


_STOPS = {".": ".", "。": ".", "!": "!", "！": "!", "?": "?", "？": "?"}
"""Stops and what they are in Latin script."""
_SHARED = re.compile(r"(?<![\w.,:])(?:[A-ZÄÖÜ][a-zäöüß]+|\d+)(?![\w]|[.,:]\d)")
_NO_NAMES = {"Also", "Dame", "Die", "Hat", "Man", "Pour", "Son", "War", "Was", "Will"}
"""Words that open sentences in two languages and mean two things."""
_FRAMES = (
    ("<b>", "</b>", ""),
    ("<p>", "</p>", ""),
    ('<x id="1">', "</x>", ""),
    ("**", "**", ""),
    ("*", "*", ""),
    ("- ", "", ""),
    ("• ", "", ""),
    ("(", ")", ""),
    ("[", "]", ""),
)
_ROWS = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
_NEIGHBOURS = {
    letter: row[max(0, place - 1) : place] + row[place + 1 : place + 2]
    for row in _ROWS
    for place, letter in enumerate(row)
}
