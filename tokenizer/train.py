"""Training of the tokenizer: a joint SentencePiece vocabulary over all languages of a model."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Sequence

from sentencepiece import SentencePieceTrainer

from tokenizer.capitals import is_in_capitals
from tokenizer.normalise import normalise
from tokenizer.tokenizer import LANGUAGE_TAG, UPPER
from tokenizer.vocabulary import SPACE_MARK

# The library reads ▁ as a space and silently skips a line with ▅. Neither is learnt: bytes spell them.
_WITHOUT_RESERVED = str.maketrans("", "", f"{SPACE_MARK}\u2585")
LONGEST_LINE = 4000  # characters; the library would skip long lines silently, so they are cut up instead


def train_tokenizer(
    lines: Iterable[str], *, size: int, languages: Sequence[str], coverage: float = 1.0
) -> bytes:
    """Learn `size` pieces from the TRAINING split's lines; returns a serialised SentencePiece model.

    Pads, unknown, start and end are 0, 1, 2, 3; then a control piece <2xx> for each of `languages`, <upper>,
    and 256 bytes. `size` is an upper bound: a small corpus gives fewer pieces. `coverage` is the share of characters
    that become pieces of their own; rarer ones are spelled with bytes. ValueError if nothing can be learnt.
    """
    for language in languages:
        if not LANGUAGE_TAG.fullmatch(f"<2{language}>"):
            raise ValueError(f"{language!r} is not a language code: two or three letters from a to z")
    least = 4 + len(languages) + 1 + 256
    if size <= least:
        raise ValueError(f"a vocabulary of {size} is too small: {least} ids are control pieces and bytes")
    model = io.BytesIO()
    try:
        SentencePieceTrainer.train(
            sentence_iterator=_spelled(lines),
            model_writer=model,
            model_type="unigram",
            vocab_size=size,
            hard_vocab_limit=False,
            character_coverage=coverage,
            byte_fallback=True,
            split_digits=True,  # numbers are copied digit by digit, whatever number comes
            normalization_rule_name="identity",  # ours is tokenizer.normalise
            remove_extra_whitespaces=False,
            add_dummy_prefix=False,  # Tokenizer.encode adds it, once a text
            control_symbols=[*(f"<2{language}>" for language in languages), UPPER],
            pad_id=0,
            unk_id=1,
            bos_id=2,
            eos_id=3,
            max_sentence_length=8 * LONGEST_LINE,
            num_threads=1,  # the same corpus gives the same vocabulary
            minloglevel=2,
        )
    except (RuntimeError, OSError) as error:
        raise ValueError(f"no tokenizer could be learnt from this text: {error}") from error
    return model.getvalue()


def _spelled(lines: Iterable[str]) -> Iterator[str]:
    used = 0
    for line in lines:
        text = normalise(line).translate(_WITHOUT_RESERVED)
        if is_in_capitals(text):
            text = text.lower()  # as it will be spelled
        for start in range(0, len(text), LONGEST_LINE):
            used += 1
            yield f" {text[start : start + LONGEST_LINE]}"
    if not used:
        raise ValueError("no tokenizer can be learnt: the text is empty")
