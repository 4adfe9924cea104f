"""Sentences in, hypotheses out: the one door to a model, for service, evaluation and training alike."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import torch

from model.alignment import Alignment, align
from model.decoding import Decoder, PlainDecoder, Work, run
from model.search import DecodingOptions, Found
from model.sentence import Sentence
from model.transformer import Transformer
from tokenizer import AnyTokenizer
from tokenizer.capitals import is_in_capitals
from tokenizer.sentences import FIRST_CJK

BYTE = re.compile("<0x([0-9A-F]{2})>")


class SentenceTooLong(ValueError):
    """The sentence has more pieces than the model can take; split it."""


class UnsupportedDirection(ValueError):
    """The model does not translate between these languages; the message lists those that it does."""


@dataclass(frozen=True)
class Hypothesis:
    """A translation with its score: sum of `piece_scores` / length ** length_penalty."""

    text: str
    score: float
    pieces: tuple[str, ...]
    piece_scores: tuple[float, ...]  # one a piece, and one of the end unless truncated
    truncated: bool  # the length limit cut it


NOTHING = Hypothesis("", 0.0, (), (), truncated=False)  # the translation of nothing


class Translator:
    """A model with its tokenizer.

    `longest` is the number of pieces of the longest source that it was trained on; sources beyond do not fit.
    """

    def __init__(
        self,
        model: Transformer,
        tokenizer: AnyTokenizer,
        *,
        name: str,
        directions: Sequence[tuple[str, str]],
        longest: int,
    ) -> None:
        self.model, self.tokenizer, self.name = model, tokenizer, name
        self.directions = tuple(directions)
        self.longest = longest
        prefixes = [tokenizer.source_prefix(target) for _, target in self.directions]
        self._frame = max(map(len, prefixes), default=0) + 1  # what asks for the target language, and the end
        controls = {tokenizer.pad_id, tokenizer.unk_id, tokenizer.bos_id}
        self.banned_ids = sorted(controls | {tokenizer.target_tag(code) for code in tokenizer.languages})
        self.plain = PlainDecoder(
            model, eos_id=tokenizer.eos_id, banned_ids=self.banned_ids, inner_ids=inner_ids(tokenizer)
        )
        self.decoder: Decoder = self.plain

    @property
    def device(self) -> torch.device:
        return self.model.output_VD.device

    @property
    def dtype(self) -> torch.dtype:
        return self.model.output_VD.dtype

    @property
    def engine(self) -> str:
        """What decodes, and in which numbers, for people."""
        return repr(self.decoder)

    @property
    def parameters(self) -> int:
        """How many numbers the model has learnt."""
        return self.model.config.parameter_count

    def is_empty(self, sentence: Sentence) -> bool:
        """Whether there is nothing in it but what frames a sentence."""
        return len(sentence.ids) <= self._length(())

    def fits(self, text: str) -> bool:
        """Whether `prepare` would take the text."""
        return self._length(self.tokenizer.encode(text)) <= self.longest

    def prepare(
        self, text: str, source_language: str, target_language: str, phrases: Sequence[str] = ()
    ) -> Sentence:
        """Encode one sentence, and what its translation has to hold; raises SentenceTooLong or UnsupportedDirection."""
        self._check_direction(source_language, target_language)
        ids = self.tokenizer.encode(text)
        if self._length(ids) > self.longest:
            raise SentenceTooLong(
                f"a sentence of {self._length(ids)} pieces; this model takes up to {self.longest}"
            )
        prefix = self.tokenizer.source_prefix(target_language)
        spelled = tuple(self._spell_phrase(phrase, text) for phrase in phrases)
        return Sentence(text, target_language, (*prefix, *ids, self.tokenizer.eos_id), spelled)

    def translate(self, sentences: Sequence[Sentence], options: DecodingOptions) -> list[list[Hypothesis]]:
        """One list a sentence, best first; any mix of directions.

        Sentences are decoded together, those of like length beside each other; batch mates do not change a result.
        A sentence without pieces is its own, empty translation.
        """
        results = [[NOTHING] for _ in sentences]
        with_text = [place for place, sentence in enumerate(sentences) if not self.is_empty(sentence)]
        with_text.sort(key=lambda place: (not sentences[place].phrases, -len(sentences[place].ids)))
        waiting = deque(Work(place, sentences[place], options) for place in with_text)
        for place, found in self._decode(waiting):
            results[place] = self.told(found)
        return results

    def session(self) -> TranslatorSession:
        """Sentences that are translated together, and join and leave as they come and are done."""
        return TranslatorSession(self)

    def told(self, found: Sequence[Found]) -> list[Hypothesis]:
        """Found targets as text, those that read alike once."""
        return distinct(self._hypothesis(one) for one in found)

    def score(
        self, sentences: Sequence[Sentence], targets: Sequence[str], *, length_penalty: float = 1.0
    ) -> list[Hypothesis]:
        """Forced decoding: how likely the model holds the given targets."""
        hypotheses = []
        for sentence, target in zip(sentences, targets, strict=True):
            ids = self.tokenizer.encode_target(target)
            id_scores = self.force(sentence, ids)
            score = sum(id_scores) / len(id_scores) ** length_penalty
            hypotheses.append(self._hypothesis(Found(tuple(ids), id_scores, score, truncated=False)))
        return hypotheses

    @torch.inference_mode()
    def force(self, sentence: Sentence, target_ids: Sequence[int]) -> tuple[float, ...]:
        """The log-probability of each id of a target, and of its end: by one pass of PyTorch over all of them."""
        config = self.model.config
        target = torch.tensor([[config.start_id, *target_ids, self.tokenizer.eos_id]]).to(self.device)
        source = torch.tensor([sentence.ids]).to(self.device)
        log_probs_1TV = self.model(source, target[:, :-1]).float().log_softmax(dim=-1)
        return tuple(log_probs_1TV.gather(2, target[:, 1:, None])[0, :, 0].tolist())

    def align(self, sentence: Sentence, target: str) -> Alignment:
        """Which of the sentence's pieces each piece of the target was made from."""
        prefix = len(self.tokenizer.source_prefix(sentence.target_language))
        target_ids = self.tokenizer.encode_target(target)
        return align(self.model, self.tokenizer, sentence.ids, target_ids, prefix=prefix)

    def __repr__(self) -> str:
        pairs = ", ".join(f"{source}→{target}" for source, target in self.directions)
        return f"Translator({self.name!r}, {pairs}, {self.decoder!r})"

    def _decode(self, waiting: deque[Work]) -> Iterable[tuple[int, list[Found]]]:
        """In as many threads as pay, which take from the same queue."""
        threads = min(self.decoder.threads, len(waiting))
        if threads <= 1:
            return run(self.decoder.session(), waiting)
        with ThreadPoolExecutor(threads) as pool:
            parts = pool.map(lambda _: list(run(self.decoder.session(), waiting)), range(threads))
            return [found for part in parts for found in part]

    def _length(self, ids: Sequence[int]) -> int:
        return len(ids) + self._frame

    def _check_direction(self, source_language: str, target_language: str) -> None:
        if (source_language, target_language) not in self.directions:
            pairs = ", ".join(f"{source}→{target}" for source, target in self.directions)
            raise UnsupportedDirection(
                f"{source_language}→{target_language} is not served by {self.name}; it translates {pairs}"
            )

    def _spell_phrase(self, phrase: str, sentence: str) -> tuple[int, ...]:
        """The ids of a phrase after another word. In a text in capitals they are those of small letters."""
        if getattr(self.tokenizer, "upper_id", None) is not None and is_in_capitals(sentence):
            phrase = phrase.lower()
        # A small letter before it, or a phrase in capitals would bring a control piece along.
        lead = self.tokenizer.encode_target("a")
        return tuple(self.tokenizer.encode_target(f"a {phrase}")[len(lead) :])

    def _hypothesis(self, found: Found) -> Hypothesis:
        return Hypothesis(
            self.tokenizer.decode(found.ids),
            found.score,
            tuple(self.tokenizer.pieces(found.ids)),
            found.id_scores,
            found.truncated,
        )


class TranslatorSession:
    """A decoder's session that answers in text. One thread works on it; other threads may have others."""

    def __init__(self, translator: Translator) -> None:
        self._translator, self.decoder = translator, translator.decoder
        self._session = self.decoder.session()
        self._empty: list[int] = []

    def __len__(self) -> int:
        return len(self._session) + len(self._empty)

    def takes(self, work: Work) -> bool:
        """Whether there is room for a sentence now. A session without any takes every one."""
        return self._session.takes(work)

    def add(self, work: Work) -> None:
        """Begin a sentence. One without pieces is its own, empty translation."""
        if self._translator.is_empty(work.sentence):
            self._empty.append(work.name)
        else:
            self._session.add(work)

    def advance(self) -> list[tuple[int, list[Hypothesis]]]:
        """Go on for a moment: names and translations, best first, of the sentences that are done by then."""
        done = [(name, [NOTHING]) for name in self._empty]
        self._empty = []
        return [*done, *((name, self._translator.told(found)) for name, found in self._session.advance())]

    def drop(self, name: int) -> None:
        """Forget a sentence."""
        self._empty = [other for other in self._empty if other != name]
        self._session.drop(name)


def inner_ids(tokenizer: AnyTokenizer) -> list[int]:
    """Pieces that go on with a word of a script that has blanks."""
    pieces = tokenizer.pieces(range(tokenizer.size))
    return [place for place, piece in enumerate(pieces) if _goes_on_with_word(piece)]


def _goes_on_with_word(piece: str) -> bool:
    """Whether a piece begins with a letter or digit and no blank; bytes beyond ASCII are taken for letters."""
    byte = BYTE.fullmatch(piece)
    first = chr(int(byte[1], 16)) if byte else piece[0]
    return (first.isalnum() and first < FIRST_CJK) or (byte is not None and not first.isascii())


def distinct(hypotheses: Iterable[Hypothesis]) -> list[Hypothesis]:
    """The first of each text: one text can be spelled with several rows of pieces."""
    seen: dict[str, Hypothesis] = {}
    for hypothesis in hypotheses:
        seen.setdefault(hypothesis.text, hypothesis)
    return list(seen.values())
