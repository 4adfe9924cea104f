"""An imported MarianMT model is the function that the transformers library computes, word for word."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import pytest
import torch

from model.decoding import padded
from model.exchange.parity import OurEngine
from model.import_opus_mt import import_opus_mt
from model.search import Found, SearchTask, beam_search
from model.translator import Translator
from tests.model.exchange.extra import needs
from tests.model.exchange.marian import OPUS_MT, SMALL, write_checkpoint
from tests.model.phrasebook import ENGLISH, GERMAN

pytestmark = needs("transformers")
INPUTS = 200
BATCH = 20
LIMIT = 16  # ids of a target


class Imported(NamedTuple):
    """A checkpoint and what became of it."""

    folder: Path
    reference: Any
    translator: Translator


@pytest.fixture(
    scope="module",
    params=[
        pytest.param((SMALL, None), id="small"),
        pytest.param((OPUS_MT, 58_101), id="of the size of OPUS-MT", marks=pytest.mark.slow),
    ],
)
def imported(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Imported]:
    shape, vocabulary_size = request.param
    folder = tmp_path_factory.mktemp("marian")
    reference = write_checkpoint(folder / "hf", shape=shape, vocabulary_size=vocabulary_size)
    yield Imported(folder / "hf", reference, import_opus_mt(folder / "hf", folder / "ours"))


def english() -> list[str]:
    """Sentences of one to twenty known words in any order."""
    random = Random(7)
    words = sorted({word for sentence in ENGLISH for word in sentence.rstrip(".").split()})
    return [" ".join(random.choices(words, k=random.randint(1, 20))) + "." for _ in range(INPUTS)]


def batches(rows: Sequence[Any]) -> Iterator[Sequence[Any]]:
    return (rows[start : start + BATCH] for start in range(0, len(rows), BATCH))


def sources(translator: Translator) -> list[tuple[int, ...]]:
    return [translator.prepare(text, "en", "de").ids for text in english()]


def generated(imported: Imported, rows: Sequence[Sequence[int]], **options: Any) -> Any:
    """What the reference generates for a batch, with our bans."""
    pad_id = imported.reference.config.pad_token_id
    source = padded(rows, pad_id)
    return imported.reference.generate(
        input_ids=source,
        attention_mask=(source != pad_id).long(),
        max_new_tokens=LIMIT,
        do_sample=False,
        forced_eos_token_id=None,
        suppress_tokens=imported.translator.banned_ids,
        return_dict_in_generate=True,
        output_scores=True,
        **options,
    )


def bare(row: torch.Tensor, imported: Imported) -> tuple[int, ...]:
    """Ids without the start, the end and padding."""
    config = imported.reference.config
    return tuple(i for i in row.tolist() if i not in (config.pad_token_id, config.eos_token_id))


def test_its_tokenizer_gives_the_ids_of_the_reference(imported: Imported) -> None:
    from transformers import MarianTokenizer

    reference = MarianTokenizer.from_pretrained(imported.folder)
    tokenizer = imported.translator.tokenizer
    for text in [*english(), *GERMAN, "Ünknown 漢字, wörds", "  blanks  everywhere ", "ﬁn ½"]:
        ids = tokenizer.encode(text)
        assert [*ids, tokenizer.eos_id] == reference(text)["input_ids"]
        target = [*tokenizer.encode_target(text), tokenizer.eos_id]
        assert target == reference(text_target=text)["input_ids"]
        if tokenizer.unk_id not in ids:
            assert tokenizer.decode(ids) == reference.decode(ids, skip_special_tokens=True)


def test_logits_are_those_of_the_reference(imported: Imported) -> None:
    config = imported.reference.config
    worst = 0.0
    random = Random(3)
    rows = sources(imported.translator)
    for batch in list(batches(rows))[:5]:
        targets = [
            [config.pad_token_id, *random.choices(range(1, config.vocab_size - 1), k=9)] for _ in batch
        ]
        source, target = padded(batch, config.pad_token_id), torch.tensor(targets)
        with torch.inference_mode():
            ours = imported.translator.model(source, target)
            theirs = imported.reference(
                input_ids=source,
                attention_mask=(source != config.pad_token_id).long(),
                decoder_input_ids=target,
            ).logits
        worst = max(worst, float((ours - theirs).abs().max()))
    print(f"largest difference of logits: {worst:.2g}")
    assert 0 < worst < 1e-4 < theirs.std()


def test_greedy_outputs_are_those_of_the_reference(imported: Imported) -> None:
    ours = OurEngine(imported.translator)
    ended = 0
    for batch in batches(sources(imported.translator)):
        theirs = generated(imported, batch, num_beams=1).sequences
        for mine, row in zip(ours.greedy(batch, limit=LIMIT), theirs, strict=True):
            assert mine == bare(row, imported)
            ended += len(mine) < LIMIT
    assert 10 <= ended <= 190, f"{ended} of 200 outputs end: not a test of both"


def test_the_best_of_a_beam_of_four_has_the_score_of_the_reference(imported: Imported) -> None:
    """But where just one of them is cut: there the reference takes what is unfinished for finished."""
    worst, compared, eos_id = 0.0, 0, imported.reference.config.eos_token_id
    for batch in batches(sources(imported.translator)):
        theirs = generated(imported, batch, num_beams=4, length_penalty=1.0, early_stopping="never")
        for [mine], row, score in zip(
            beams(imported.translator, batch), theirs.sequences, theirs.sequences_scores.tolist(), strict=True
        ):
            if len(mine.id_scores) > LIMIT or mine.truncated == (eos_id in row):
                continue
            compared += 1
            worst = max(worst, abs(mine.score - score))
            assert mine.score == pytest.approx(score, abs=1e-3)
            assert mine.ids == bare(row, imported)
    print(f"largest difference of {compared} beam scores: {worst:.2g}")
    assert compared >= 150


@torch.inference_mode()
def beams(translator: Translator, batch: Sequence[tuple[int, ...]]) -> list[list[Found]]:
    """Beam 4 without the loop guard, which the reference does not have."""
    task = SearchTask(
        start_id=translator.model.config.start_id,
        eos_id=translator.tokenizer.eos_id,
        max_lengths=[LIMIT] * len(batch),
        banned_ids=translator.banned_ids,
    )
    own = OurEngine(translator)
    return beam_search(own.step, own.start(batch), task, beam_size=4, n_best=1)
