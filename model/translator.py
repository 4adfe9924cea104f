"""Sentences in, hypotheses out: the one door to a model, for service, evaluation and training alike."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor

from model.alignment import Alignment, align
from model.search import DecodingOptions, Found, SearchTask, beam_search, greedy_search, phrase_search, sample
from model.state import DecoderState
from model.transformer import Transformer
from tokenizer import AnyTokenizer
from tokenizer.capitals import is_in_capitals
from tokenizer.sentences import FIRST_CJK

BYTE = re.compile("<0x([0-9A-F]{2})>")
BATCH_PIECES = 4096  # padded source pieces times beam size in a batch


class SentenceTooLong(ValueError):
    """The sentence has more pieces than the model can take; split it."""


class UnsupportedDirection(ValueError):
    """The model does not translate between these languages; the message lists those that it does."""


@dataclass(frozen=True)
class Sentence:
    """A source that is known to fit the model. Made by `Translator.prepare` only."""

    text: str
    target_language: str
    ids: tuple[int, ...]  # <2xx> pieces </s>, or what another tokenizer asks for a language with
    phrases: tuple[tuple[int, ...], ...] = ()  # ids that its translation has to hold


@dataclass(frozen=True)
class Hypothesis:
    """A translation with its score: sum of `piece_scores` / length ** length_penalty."""

    text: str
    score: float
    pieces: tuple[str, ...]
    piece_scores: tuple[float, ...]  # one a piece, and one of the end unless truncated
    truncated: bool  # the length limit cut it


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

    @property
    def device(self) -> torch.device:
        return self.model.output_VD.device

    @property
    def dtype(self) -> torch.dtype:
        return self.model.output_VD.dtype

    @property
    def parameters(self) -> int:
        """How many numbers the model has learnt."""
        return self.model.config.parameter_count

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

        Sentences are sorted by length and batched by padded pieces; batch mates do not change a result.
        A sentence without pieces is its own, empty translation.
        """
        results: list[list[Hypothesis]] = [[Hypothesis("", 0.0, (), (), False)] for _ in sentences]
        for places in self._batches(sentences, options):
            batch = [sentences[place] for place in places]
            for place, found in zip(places, self._search(batch, options), strict=True):
                results[place] = distinct(self._hypothesis(one) for one in found)
        return results

    def score(
        self, sentences: Sequence[Sentence], targets: Sequence[str], *, length_penalty: float = 1.0
    ) -> list[Hypothesis]:
        """Forced decoding: how likely the model holds the given targets."""
        return [
            self._force(sentence, self.tokenizer.encode_target(target), length_penalty)
            for sentence, target in zip(sentences, targets, strict=True)
        ]

    def align(self, sentence: Sentence, target: str) -> Alignment:
        """Which of the sentence's pieces each piece of the target was made from."""
        prefix = len(self.tokenizer.source_prefix(sentence.target_language))
        target_ids = self.tokenizer.encode_target(target)
        return align(self.model, self.tokenizer, sentence.ids, target_ids, prefix=prefix)

    def __repr__(self) -> str:
        pairs = ", ".join(f"{source}→{target}" for source, target in self.directions)
        return f"Translator({self.name!r}, {pairs}, {self.dtype}, {self.device})"

    def _length(self, ids: Sequence[int]) -> int:
        return len(ids) + self._frame

    def _check_direction(self, source_language: str, target_language: str) -> None:
        if (source_language, target_language) not in self.directions:
            pairs = ", ".join(f"{source}→{target}" for source, target in self.directions)
            raise UnsupportedDirection(
                f"{source_language}→{target_language} is not served by {self.name}; it translates {pairs}"
            )

    def _batches(self, sentences: Sequence[Sentence], options: DecodingOptions) -> Iterator[list[int]]:
        """Places of sentences of like length, longest first, that together are within BATCH_PIECES."""
        rows = options.beam_size if options.strategy == "beam" else 1
        with_text = [
            place for place, sentence in enumerate(sentences) if self._length(()) < len(sentence.ids)
        ]
        yield from ([place] for place in with_text if sentences[place].phrases)
        with_text = [place for place in with_text if not sentences[place].phrases]
        with_text.sort(key=lambda place: -len(sentences[place].ids))
        while with_text:
            size = max(1, BATCH_PIECES // (rows * len(sentences[with_text[0]].ids)))
            yield with_text[:size]
            with_text = with_text[size:]

    @torch.inference_mode()
    def _search(self, batch: Sequence[Sentence], options: DecodingOptions) -> list[list[Found]]:
        if batch[0].phrases:  # and the batch is this one sentence
            return [self._search_with_phrases(batch[0], options)]
        task = self._task(batch, options)
        state = self.model.start(self._pad([sentence.ids for sentence in batch]))
        if options.strategy == "greedy":
            return [[found] for found in greedy_search(self._step, state, task)]
        if options.strategy == "beam":
            return beam_search(self._step, state, task, beam_size=options.beam_size, n_best=options.n_best)
        draws = [
            sample(
                self._step,
                state,
                task,
                seeds=[options.seed + draw] * len(batch),
                temperature=options.temperature,
                top_k=options.top_k,
                top_p=options.top_p,
            )
            for draw in range(options.n_best)
        ]
        return [
            sorted(of_sentence, key=lambda found: -found.score) for of_sentence in zip(*draws, strict=True)
        ]

    def _search_with_phrases(self, sentence: Sentence, options: DecodingOptions) -> list[Found]:
        """By beam whatever the strategy: what has to be said cannot be left to chance."""
        return phrase_search(
            self._step,
            self.model.start(self._pad([sentence.ids])),
            self._task([sentence], options),
            phrases=sentence.phrases,
            inner_ids=self._inner_ids,
            width=max(1, options.beam_size // 2) if options.strategy == "beam" else 1,
            n_best=options.n_best,
        )

    def _task(self, batch: Sequence[Sentence], options: DecodingOptions) -> SearchTask:
        return SearchTask(
            start_id=self.model.config.start_id,
            eos_id=self.tokenizer.eos_id,
            max_lengths=[self._max_length(sentence, options) for sentence in batch],
            min_length=options.min_length,
            length_penalty=options.length_penalty,
            banned_ids=self.banned_ids,
            sources=[sentence.ids for sentence in batch],
        )

    def _step(self, tokens_N: Tensor, state: DecoderState) -> tuple[Tensor, DecoderState]:
        logits_NV, state = self.model.step(tokens_N.to(self.device), state)
        return logits_NV.float().log_softmax(dim=-1), state

    @torch.inference_mode()
    def _force(self, sentence: Sentence, target_ids: Sequence[int], length_penalty: float) -> Hypothesis:
        target = torch.tensor([[self.model.config.start_id, *target_ids, self.tokenizer.eos_id]]).to(
            self.device
        )
        logits_1TV = self.model(self._pad([sentence.ids]), target[:, :-1])
        log_probs_1TV = logits_1TV.float().log_softmax(dim=-1)
        id_scores = log_probs_1TV.gather(2, target[:, 1:, None])[0, :, 0].tolist()
        score = sum(id_scores) / len(id_scores) ** length_penalty
        return self._hypothesis(Found(tuple(target_ids), tuple(id_scores), score, truncated=False))

    @cached_property
    def _inner_ids(self) -> list[int]:
        """Pieces that go on with a word of a script that has blanks."""
        pieces = self.tokenizer.pieces(range(self.tokenizer.size))
        return [place for place, piece in enumerate(pieces) if _goes_on_with_word(piece)]

    def _spell_phrase(self, phrase: str, sentence: str) -> tuple[int, ...]:
        """The ids of a phrase after another word. In a text in capitals they are those of small letters."""
        if getattr(self.tokenizer, "upper_id", None) is not None and is_in_capitals(sentence):
            phrase = phrase.lower()
        # A small letter before it, or a phrase in capitals would bring a control piece along.
        lead = self.tokenizer.encode_target("a")
        return tuple(self.tokenizer.encode_target(f"a {phrase}")[len(lead) :])

    def _max_length(self, sentence: Sentence, options: DecodingOptions) -> int:
        """In target pieces. A limit of the sentence's own: its batch mates have no say in it."""
        room = self.model.config.max_positions - 1
        if options.max_length is not None:
            return min(options.max_length, room)
        return min(max(2 * len(sentence.ids) + 10, options.min_length), room)

    def _pad(self, rows: Sequence[Sequence[int]]) -> Tensor:
        return padded(rows, self.model.config.pad_id).to(self.device)

    def _hypothesis(self, found: Found) -> Hypothesis:
        return Hypothesis(
            self.tokenizer.decode(found.ids),
            found.score,
            tuple(self.tokenizer.pieces(found.ids)),
            found.id_scores,
            found.truncated,
        )


def _goes_on_with_word(piece: str) -> bool:
    """Whether a piece begins with a letter or digit and no blank; bytes beyond ASCII are taken for letters."""
    byte = BYTE.fullmatch(piece)
    first = chr(int(byte[1], 16)) if byte else piece[0]
    return (first.isalnum() and first < FIRST_CJK) or (byte is not None and not first.isascii())


def padded(rows: Sequence[Sequence[int]], pad_id: int) -> Tensor:
    """Rows of ids as one tensor, filled up at the end."""
    width = max(map(len, rows))
    return torch.tensor([[*row, *[pad_id] * (width - len(row))] for row in rows])


def distinct(hypotheses: Iterable[Hypothesis]) -> list[Hypothesis]:
    """The first of each text: one text can be spelled with several rows of pieces."""
    seen: dict[str, Hypothesis] = {}
    for hypothesis in hypotheses:
        seen.setdefault(hypothesis.text, hypothesis)
    return list(seen.values())
