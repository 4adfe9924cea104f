"""Decoding on fixed buffers finds what PyTorch finds, hypothesis for hypothesis, steps replayed from a tape or not."""

import threading
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import torch

from model.decoding import Work, run
from model.graphs.capture import Run
from model.graphs.decoder import GraphDecoder
from model.search import DecodingOptions, Found
from model.sentence import Sentence
from model.translator import Translator
from tests.model.graphs.decoders import BEAM, GREEDY, OPTIONS, assert_same, batch, plain_decoder
from tests.model.graphs.tape import Counted
from tests.model.interpreter import english
from tests.model.variants import ALL_VARIANTS, named


@pytest.mark.parametrize("options", [GREEDY, BEAM], ids=["greedy", "beam"])
@pytest.mark.parametrize("variant", ALL_VARIANTS, ids=named)
def test_every_variant_finds_what_pytorch_finds(variant: dict[str, Any], options: DecodingOptions) -> None:
    plain, sentences = plain_decoder(**variant), batch(count=3)
    assert_same(GraphDecoder(plain).search(sentences, options), plain.search(sentences, options))


@pytest.mark.parametrize("options", OPTIONS, ids=range(len(OPTIONS)))
@pytest.mark.parametrize("count", [1, 2, 17])
def test_every_search_finds_what_pytorch_finds(options: DecodingOptions, count: int) -> None:
    plain = plain_decoder()
    decoder = GraphDecoder(plain, capture=Counted())
    for seed in range(3):  # in buffers that others have used
        assert_same(decoder.search(batch(seed, count), options), plain.search(batch(seed, count), options))


def test_the_sentences_of_these_tests_end_at_different_times() -> None:
    found = plain_decoder().search(batch(), GREEDY)
    assert len({len(one.ids) for [one] in found}) >= 4
    assert {one.truncated for [one] in found} == {True, False}


def test_a_learnt_model_translates_as_with_pytorch(translator: Translator) -> None:
    fast = Translator(
        translator.model,
        translator.tokenizer,
        name="twin",
        directions=translator.directions,
        longest=translator.longest,
    )
    fast.decoder = GraphDecoder(fast.plain)
    texts = [*english(60, seed=4, longest=30), "", "?", "Ä"]
    sentences = [translator.prepare(text, "en", "de") for text in texts]
    sentences.append(translator.prepare("the old sun", "en", "de", phrases=["Mond"]))
    for options in (GREEDY, BEAM, DecodingOptions(strategy="sample", n_best=2, seed=5)):
        wanted, got = translator.translate(sentences, options), fast.translate(sentences, options)
        assert [[one.text for one in of_one] for of_one in got] == [
            [one.text for one in of_one] for of_one in wanted
        ]


@pytest.mark.parametrize(
    ("phrases", "options"),
    [(((7, 8),), BEAM), (((7, 8),), GREEDY), ((), DecodingOptions(strategy="sample", n_best=3, seed=1))],
)
def test_phrases_and_samples_go_the_plain_way(
    phrases: tuple[tuple[int, ...], ...], options: DecodingOptions
) -> None:
    plain, capture = plain_decoder(), Counted()
    [sentence] = batch(count=1)
    sentence = Sentence(sentence.text, "de", sentence.ids, phrases)
    assert_same(
        GraphDecoder(plain, capture=capture).search([sentence], options), plain.search([sentence], options)
    )
    assert capture.captures == 0


def test_a_batch_of_shapes_that_were_seen_is_replayed_and_captures_nothing() -> None:
    plain, capture = plain_decoder(), Counted()
    decoder = GraphDecoder(plain, capture=capture)
    decoder.search(batch(), BEAM)
    captures, replays = capture.captures, capture.replays
    found = decoder.search(batch(), BEAM)
    assert capture.captures == captures
    assert capture.replays == 2 * replays
    assert replays >= max(len(one.ids) for of_one in found for one in of_one)


def test_many_shapes_are_bounded_and_change_no_result() -> None:
    plain, capture = plain_decoder(), Counted()
    decoder = GraphDecoder(plain, most=2, capture=capture)
    for width in (1, 2, 3, 5, 9):
        options = DecodingOptions(beam_size=width)
        assert_same(decoder.search(batch(), options), plain.search(batch(), options))
        assert len(decoder.graphs) <= 2
    assert capture.captures > 10


def test_a_session_decodes_sentences_with_equal_options_together() -> None:
    plain = plain_decoder()
    decoder = GraphDecoder(plain, capture=Counted())
    works = [Work(name, one, (GREEDY, BEAM)[name % 3 == 0]) for name, one in enumerate(batch(count=12))]
    found = dict(run(decoder.session(), deque(works)))
    assert_same(
        [found[work.name] for work in works], [plain.search([w.sentence], w.options)[0] for w in works]
    )
    plain.batch_pieces = 20
    assert decoder.batch_pieces == 20


def test_searches_of_several_threads_take_turns() -> None:
    plain = plain_decoder()
    decoder = GraphDecoder(plain)
    batches = [batch(seed) for seed in range(8)]
    wanted = [plain.search(one, BEAM) for one in batches]
    together = threading.Barrier(4)

    def search(number: int) -> list[list[Found]]:
        if number < 4:
            together.wait()
        return decoder.search(batches[number], BEAM)

    with ThreadPoolExecutor(4) as pool:
        for got, expected in zip(pool.map(search, range(8)), wanted, strict=True):
            assert_same(got, expected)


class Failing:
    """Captures, until there have been so many."""

    def __init__(self, error: Exception, after: int) -> None:
        self.error, self.left = error, after

    def __call__(self, run: Run) -> Run:
        if not self.left:
            raise self.error
        self.left -= 1
        return run


def test_without_memory_for_buffers_pytorch_decodes_and_the_log_says_so(
    caplog: pytest.LogCaptureFixture,
) -> None:
    plain = plain_decoder()
    capture = Failing(torch.OutOfMemoryError("tried to allocate 7 GiB"), after=2)
    decoder = GraphDecoder(plain, capture=capture)
    assert_same(decoder.search(batch(), BEAM), plain.search(batch(), BEAM))
    assert "without CUDA graphs" in caplog.text and "7 GiB" in caplog.text
    assert len(decoder.graphs) == 0
    capture.left = 100
    assert_same(decoder.search(batch(), BEAM), plain.search(batch(), BEAM))
    assert len(decoder.graphs) > 2


def test_any_other_failure_is_told_and_what_was_captured_is_not_used_again() -> None:
    plain = plain_decoder()
    capture = Failing(RuntimeError("operation not permitted when stream is capturing"), after=2)
    decoder = GraphDecoder(plain, capture=capture)
    with pytest.raises(RuntimeError, match="not permitted"):
        decoder.search(batch(), BEAM)
    assert len(decoder.graphs) == 0
    capture.left = 100
    assert_same(decoder.search(batch(), BEAM), plain.search(batch(), BEAM))


def test_a_decoder_says_what_it_computes_in() -> None:
    assert repr(GraphDecoder(plain_decoder())) == "CUDA graphs, float32 on cpu"
