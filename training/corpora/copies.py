"""Strings that a translation must carry over unchanged: placeholders, addresses, names, numbers, emoji.

They are made up afresh each time, so that a model learns to copy any such string and cannot learn a list.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from functools import cache
from random import Random
from string import ascii_letters, ascii_lowercase, ascii_uppercase, digits

_CONSONANTS, _VOWELS = "bcdfghjklmnprstvwz", "aeiou"


def copy_string(random: Random) -> str:
    """One string of any kind."""
    return random.choices(list(KINDS.values()), _WEIGHTS)[0](random)


def name(random: Random) -> str:
    """A name that nobody has: two or three syllables, capital first."""
    return _word(random, syllables=random.randint(2, 3)).capitalize()


def number(random: Random) -> str:
    """A number that is written alike in all languages: no separators of thousands, no decimals."""
    return str(random.randrange(10 ** random.choice((1, 2, 2, 3, 3, 4, 4, 5, 6, 8, 10, 12))))


def _word(random: Random, *, syllables: int) -> str:
    return "".join(
        random.choice(_CONSONANTS) + random.choice(_VOWELS) + random.choice(("", "", random.choice("nrlst")))
        for _ in range(syllables)
    )


def _identifier(random: Random) -> str:
    """user, fileName, MAX_SIZE, x, a.b, row_12"""
    words = [_word(random, syllables=random.randint(1, 2)) for _ in range(random.randint(1, 3))]
    kind = random.randrange(6)
    if kind == 0:
        return random.choice(ascii_letters)
    if kind == 1:
        return words[0] + "".join(word.capitalize() for word in words[1:])
    if kind == 2:
        return "_".join(words).upper()
    if kind == 3:
        return ".".join(words)
    return "_".join(words) + random.choice(("", "", f"_{random.randrange(100)}"))


def _placeholder(random: Random) -> str:
    """The forms of format strings and template languages."""
    identifier, small = _identifier(random), random.randrange(10)
    return random.choice(
        (
            f"{{{identifier}}}",
            f"{{{small}}}",
            f"{{{{{identifier}}}}}",
            f"{{{{ {identifier} }}}}",
            f"${{{identifier}}}",
            f"${identifier}",
            f"%{small + 1}$s",
            f"%({identifier})s",
            random.choice(("%s", "%d", "%i", "%@", "%.2f")),
            f"%{identifier}%",
            f":{identifier}",
            f"__{identifier}__",
            f"[[{identifier}]]",
            f"<{identifier}>",
        )
    )


def _marker(random: Random) -> str:
    """What translation tools put in the place of inline codes."""
    small, letter = random.randrange(100), random.choice(ascii_uppercase)
    return random.choice(
        (
            f"[{letter}{small}{letter}]",
            f"[{small}]",
            f'<x id="{small}"></x>',
            f'<x id="{small}"/>',
            f"<{letter.lower()}{small}/>",
            f"<ph{small}>",
            f"&{random.choice(('amp', 'lt', 'gt', 'quot', 'nbsp', 'copy', f'#{small + 33}'))};",
            f"⟦{small}⟧",
            f"@@{letter}{small}@@",
        )
    )


def _address(random: Random) -> str:
    """URLs, e-mail addresses, paths, under domains kept for examples."""
    host = f"{_word(random, syllables=2)}.{random.choice(('example', 'example.com', 'example.org', 'test'))}"
    path = "/".join(_word(random, syllables=random.randint(1, 3)) for _ in range(random.randint(1, 3)))
    query = f"?{random.choice(ascii_lowercase)}={random.randrange(1000)}"
    return random.choice(
        (
            f"https://{host}/{path}",
            f"https://www.{host}/{path}{query}",
            f"http://{host}",
            f"www.{host}",
            f"{_word(random, syllables=2)}.{_word(random, syllables=2)}@{host}",
            f"{_word(random, syllables=2)}{random.randrange(100)}@{host}",
            f"/{path}/{_word(random, syllables=2)}.{random.choice(('txt', 'json', 'py', 'jpg'))}",
        )
    )


def _mention(random: Random) -> str:
    word = _word(random, syllables=random.randint(2, 3))
    return random.choice(
        (f"@{word}", f"#{word}", f"#{word.capitalize()}{random.randrange(100)}", f"@{word}_{word[:2]}")
    )


def _code(random: Random) -> str:
    identifier = _identifier(random)
    return random.choice(
        (f"`{identifier}`", f"`{identifier}()`", f"`--{identifier}`", f"{identifier}()", f"--{identifier}")
    )


def _reference(random: Random) -> str:
    """Article numbers, versions, times, dates of machines, codes."""
    letters = "".join(random.choices(ascii_uppercase, k=random.randint(2, 4)))
    figures = "".join(random.choices(digits, k=random.randint(2, 6)))
    return random.choice(
        (
            f"{letters}-{figures}",
            f"{letters}{figures}",
            f"{random.randrange(10)}.{random.randrange(20)}.{random.randrange(20)}",
            f"v{random.randrange(10)}.{random.randrange(20)}",
            f"#{figures}",
            "".join(random.choices("0123456789abcdef", k=8)),
            f"+{random.randrange(10, 99)} {figures}",
            f"{random.randrange(24)}:{random.randrange(60):02}",
            f"{random.randrange(1900, 2100)}-{random.randrange(1, 13):02}-{random.randrange(1, 29):02}",
        )
    )


def _emoji(random: Random) -> str:
    """One to three pictures; some with a skin tone, some joined, some flags."""
    kind = random.random()
    if kind < 0.1:
        return "".join(chr(0x1F1E6 + random.randrange(26)) for _ in range(2))
    if kind < 0.2:
        return random.choice("👋👍🙏👏💪👩🧑") + chr(0x1F3FB + random.randrange(5))
    if kind < 0.25:
        return "👩\u200d" + random.choice("💻🔬🎤🚀🍳")
    return "".join(random.choices(_pictures(), k=random.choice((1, 1, 1, 2, 3))))


@cache
def _pictures() -> tuple[str, ...]:
    blocks = (
        range(0x1F300, 0x1F3FB),
        range(0x1F400, 0x1F650),
        range(0x1F680, 0x1F6C6),
        range(0x1F900, 0x1FA00),
    )
    return tuple(chr(code) for block in blocks for code in block if unicodedata.category(chr(code)) == "So")


KINDS: dict[str, Callable[[Random], str]] = {
    "name": name,
    "number": number,
    "placeholder": _placeholder,
    "marker": _marker,
    "address": _address,
    "mention": _mention,
    "code": _code,
    "reference": _reference,
    "emoji": _emoji,
}
_WEIGHTS = (1, 2, 3, 2, 3, 1, 1, 1, 1)  # how often each is drawn, beside the others
