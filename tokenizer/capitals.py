"""TEXT IN CAPITALS, told from text that only holds some."""

FEWEST = 4  # capital letters: "OK" and "TV" are words of their own, spelled as they are


def is_in_capitals(text: str) -> bool:
    """Whether no letter is small, at least four are capitals, and lower case loses nothing that capitals give back.

    The last is not so with ẞ or İ; nor does Chinese, which has no capitals, ever pass.
    """
    return text == text.upper() == text.lower().upper() and sum(map(str.isupper, text)) >= FEWEST
