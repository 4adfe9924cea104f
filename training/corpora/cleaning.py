"""Cleaning a corpus: each pair is repaired, then kept or dropped as a pair, and every decision is counted."""

from __future__ import annotations

import html
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from rich.table import Table

from tokenizer.normalise import normalise
from training.corpora.hashes import HashSet, hash_of
from training.corpora.language import LanguagePair, language_pair
from training.corpora.pairs import CorpusError, Pair

SCRIPTS = {
    **dict.fromkeys(
        ("en", "de", "fr", "es", "it", "nl", "pt", "pl", "sv", "da", "cs", "tr", "fi"), ("LATIN",)
    ),
    **dict.fromkeys(("ru", "uk", "bg"), ("CYRILLIC",)),
    "zh": ("CJK", "BOPOMOFO"),
    "ja": ("CJK", "HIRAGANA", "KATAKANA", "KATAKANA-HIRAGANA"),
    "ko": ("HANGUL", "CJK"),
    "el": ("GREEK",),
    "ar": ("ARABIC",),
    "fa": ("ARABIC",),
    "he": ("HEBREW",),
    "hi": ("DEVANAGARI",),
    "th": ("THAI",),
}
"""First words of the Unicode names of a language's letters. A language that is not here is not checked."""

REASONS = (
    "control characters",
    "empty side",
    "too long",
    "length ratio",
    "repeated words",
    "copied source",
    "wrong script",
    "wrong language",
    "duplicate",
)


@dataclass(frozen=True, kw_only=True)
class CleaningRules:
    source_language: str  # decides which script the letters of the source should have
    target_language: str  # the same for the target
    max_extent: int = 600  # longest side, in letters; Han characters and kana count three (see `extent`)
    max_ratio: float = 3.0  # a side may be this many times as long as the other,
    ratio_slack: int = 12  # … plus this many letters, since short sentences differ more
    max_repeats: int = 4  # the same word this often in a row is still language
    max_copied_words: int = 3  # identical sides of up to this many words are names, numbers, greetings
    min_script_share: float = 0.5  # share of a side's letters that must be in its language's script


@dataclass
class CleaningReport:
    """One count for each reason. `read == kept + dropped`, always."""

    read: int = 0
    kept: int = 0
    dropped_for: Counter[str] = field(default_factory=Counter)
    unescaped: int = 0  # kept or not: pairs in which HTML entities were turned back into characters

    @property
    def dropped(self) -> int:
        return self.dropped_for.total()

    def to_json(self) -> dict[str, Any]:
        """Plain values, with a count for every reason, zero too."""
        return {
            "read": self.read,
            "kept": self.kept,
            "dropped": {reason: self.dropped_for[reason] for reason in REASONS},
            "unescaped": self.unescaped,
        }

    def table(self, title: str = "Cleaning") -> Table:
        table = Table(title=title)
        table.add_column("pairs")
        table.add_column("count", justify="right")
        table.add_column("share", justify="right")
        rows = [
            ("read", self.read),
            *((f"dropped: {reason}", self.dropped_for[reason]) for reason in REASONS),
        ]
        for name, count in [*rows, ("kept", self.kept), ("HTML entities undone", self.unescaped)]:
            table.add_row(name, f"{count:,}", f"{count / max(self.read, 1):.2%}")
        return table


def clean(
    pairs: Iterable[Pair], rules: CleaningRules, report: CleaningReport, seen: HashSet | None = None
) -> Iterator[Pair]:
    """Normalised pairs that pass every rule, in their order; the report fills while the iterator runs.

    Raises CorpusError at the end when nothing was kept. Pairs that differ in case and spaces alone are duplicates;
    they are remembered as 8-byte hashes, not as text, in `seen`, which several corpora may share.
    """
    seen = HashSet() if seen is None else seen
    languages = _languages_to_tell_apart(rules)
    for pair in pairs:
        report.read += 1
        repaired = Pair(_unescape(pair.source), _unescape(pair.target))
        report.unescaped += repaired != pair
        normal = Pair(_one_line(repaired.source), _one_line(repaired.target))
        reason = _fault(repaired, normal, rules)
        if reason is None and languages is not None:
            is_other = languages.is_other(normal.source, rules.source_language) or languages.is_other(
                normal.target, rules.target_language
            )
            reason = "wrong language" if is_other else None
        if reason is None:
            reason = None if seen.add(hash_of_duplicates(normal)) else "duplicate"
        if reason is None:
            report.kept += 1
            yield normal
        else:
            report.dropped_for[reason] += 1
    if not report.kept:
        counts = ", ".join(f"{reason}: {count:,}" for reason, count in report.dropped_for.most_common())
        raise CorpusError(
            f"no pair is left: {report.read:,} read, 0 kept, {report.dropped:,} dropped ({counts})"
        )


def drop_duplicates(pairs: Iterable[Pair], report: CleaningReport, seen: HashSet) -> Iterator[Pair]:
    """Of pairs that were cleaned before, those that are not in `seen`."""
    for pair in pairs:
        report.read += 1
        if seen.add(hash_of_duplicates(pair)):
            report.kept += 1
            yield pair
        else:
            report.dropped_for["duplicate"] += 1


def hash_of_duplicates(pair: Pair) -> int:
    """The same for pairs that differ in case and spaces alone; final stops do tell them apart."""
    return hash_of("\n".join(" ".join(side.casefold().split()) for side in pair))


def extent(text: str) -> int:
    """Length in letters, with Han characters and kana counted three, which makes scripts comparable."""
    return len(text) + 2 * len(_WIDE.findall(text))


def _fault(raw: Pair, pair: Pair, rules: CleaningRules) -> str | None:
    """The first of REASONS that speaks against the pair itself, or None."""
    if any(_CONTROL.search(side) for side in raw):
        return "control characters"
    if not pair.source or not pair.target or not any(_WORD.search(side) for side in pair):
        return "empty side"
    shorter, longer = sorted(map(extent, pair))
    if longer > rules.max_extent:
        return "too long"
    if longer > shorter * rules.max_ratio + rules.ratio_slack:
        return "length ratio"
    if any(_repeats(side) > rules.max_repeats for side in pair):
        return "repeated words"
    if (
        pair.source.casefold() == pair.target.casefold()
        and _count_words(pair.source) > rules.max_copied_words
    ):
        return "copied source"
    if not (
        _in_script(pair.source, rules.source_language, rules.min_script_share)
        and _in_script(pair.target, rules.target_language, rules.min_script_share)
    ):
        return "wrong script"
    return None


def _languages_to_tell_apart(rules: CleaningRules) -> LanguagePair | None:
    """None where the script alone tells them apart."""
    scripts = [SCRIPTS.get(language) for language in (rules.source_language, rules.target_language)]
    if scripts[0] and scripts[1] and not set(scripts[0]) & set(scripts[1]):
        return None
    languages = language_pair(rules.source_language, rules.target_language)
    return languages if languages.is_known else None


def _unescape(text: str) -> str:
    """Undoes HTML entities, twice for `&amp;quot;`. Only whole ones: `AT&T` and `R&D` stay."""
    for _ in range(2):
        if "&" not in text:
            break
        text = _ENTITY.sub(lambda match: html.unescape(match[0]), text)
    return text


def _one_line(text: str) -> str:
    """Normalised, with breaks and runs of spaces as one space. No-break spaces are spelling and stay."""
    return _BLANKS.sub(" ", normalise(text)).strip()


def _count_words(text: str) -> int:
    """Words with letters; figures, dashes and pictures may well be the same in both languages."""
    return sum(any(map(str.isalpha, word)) for word in text.split())


def _repeats(text: str) -> int:
    """Length of the longest run of one and the same word."""
    longest, run, before = 0, 0, None
    for word in text.casefold().split():
        run = run + 1 if word == before else 1
        longest, before = max(longest, run), word
    return longest


def _in_script(text: str, language: str, share: float) -> bool:
    scripts = SCRIPTS.get(language)
    if scripts is None or ("LATIN" in scripts and text.isascii()):
        return True
    letters = [character for character in text if character.isalpha()]
    return sum(_script(letter) in scripts for letter in letters) >= share * len(letters)


@lru_cache(maxsize=1 << 14)
def _script(letter: str) -> str:
    return unicodedata.name(letter, "").partition(" ")[0]


_ENTITY = re.compile(r"&(?:[A-Za-z][A-Za-z0-9]{1,30}|#[0-9]{1,7}|#[xX][0-9A-Fa-f]{1,6});")
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f�]")
_BLANKS = re.compile("[ \t\n\x85\u2028\u2029]+")
_WORD = re.compile(r"\w")
_WIDE = re.compile("[぀-ヿ㐀-鿿豈-﫿]")
