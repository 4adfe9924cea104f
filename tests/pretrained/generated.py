"""Sentences made up for tests: strings that must not change, and numbers, in places where people put them."""

from __future__ import annotations

from random import Random

STRINGS = (
    *("{{a.b}}", "{0}", "%1$s", "%(n)s", "${x}", ":name", '<x id="1"/>', '<x id="7"></x>', "[X7X]", "%d"),
    *(
        "https://host.example/a?b=1",
        "anna@mail.example",
        "@user",
        "#tag",
        "`code`",
        "😆",
        "/usr/bin/env",
        "KX-4821",
    ),
)
_FRAMES = (
    "Please open {} before you leave.",
    "The file {} was not found.",
    "{} has sent you a message.",
    "Welcome back, {}!",
    "We could not reach {} and {}.",
    "Your order {} will arrive on Monday.",
    "Do you want to delete {}?",
    "Click {} to go on.",
    "I think {} is better than {}.",
    "Send {} to {} today.",
    "The word {} is not in the list.",
    "You have a new message from {}",
)


def sentences_with_strings(count: int, seed: int = 1) -> list[tuple[str, tuple[str, ...]]]:
    """Each sentence, and the strings that stand in it once."""
    random = Random(seed)
    made: list[tuple[str, tuple[str, ...]]] = []
    for number in range(count):
        frame = _FRAMES[number % len(_FRAMES)]
        strings = tuple(random.sample(STRINGS, frame.count("{}")))
        pieces = frame.split("{}")
        text = pieces[0] + "".join(map("".join, zip(strings, pieces[1:], strict=True)))
        made.append((text, strings))
    return made


def sentences_with_numbers(count: int, seed: int = 2) -> list[str]:
    random = Random(seed)
    makers = (
        lambda: f"I paid {random.randrange(2, 99)} euros for {random.randrange(2, 9)} tickets.",
        lambda: (
            f"Flight {random.randrange(100, 9999)} leaves at {random.randrange(1, 12)}:{random.randrange(10, 59)}."
        ),
        lambda: f"The village had {random.randrange(1, 9)},{random.randrange(100, 999)} people.",
        lambda: f"Room {random.randrange(1, 500)} is on floor {random.randrange(1, 40)}.",
    )
    return [makers[number % len(makers)]() for number in range(count)]
