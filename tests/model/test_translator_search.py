"""What the Translator finds on a model that has really learnt: scores, alternatives, lengths, samples."""

from collections.abc import Sequence
from dataclasses import replace
from math import inf

import pytest
import torch

from model.search import DecodingOptions
from model.search.loops import FREE_REPEATS, repeats
from model.sentence import Sentence
from model.translator import Hypothesis, Translator, distinct
from tests.model.interpreter import WORDS, english, translated

GREEDY = DecodingOptions(strategy="greedy")
BEAM = DecodingOptions(strategy="beam", beam_size=4)
CONTROLS = ("<pad>", "<unk>", "<s>", "</s>", "<2de>", "<2en>")


def prepared(translator: Translator, texts: Sequence[str]) -> list[Sentence]:
    return [translator.prepare(text, "en", "de") for text in texts]


def ids_of(translator: Translator, hypothesis: Hypothesis) -> list[int]:
    size = translator.tokenizer.size
    by_piece = dict(zip(translator.tokenizer.pieces(range(size)), range(size), strict=True))
    return [by_piece[piece] for piece in hypothesis.pieces]


# --- scores


@pytest.mark.parametrize("penalty", [0.0, 0.6, 1.0])
@pytest.mark.parametrize(
    "options", [GREEDY, replace(BEAM, n_best=4), DecodingOptions(strategy="sample", n_best=3)]
)
def test_scores_are_the_log_probabilities_that_forced_decoding_gives(
    translator: Translator, options: DecodingOptions, penalty: float
) -> None:
    sentences = prepared(translator, english(20, seed=1))
    found = translator.translate(sentences, replace(options, length_penalty=penalty))
    for source, hypotheses in zip(sentences, found, strict=True):
        assert [one.score for one in hypotheses] == sorted((one.score for one in hypotheses), reverse=True)
        for one in hypotheses:
            end = [] if one.truncated else [translator.tokenizer.eos_id]
            expected = forced(translator, source, ids_of(translator, one) + end)
            assert list(one.piece_scores) == pytest.approx(expected, abs=1e-4)
            assert one.score == pytest.approx(sum(expected) / len(expected) ** penalty, abs=1e-4)
            assert one.text == translator.tokenizer.decode(ids_of(translator, one))


def forced(translator: Translator, source: Sentence, target: list[int]) -> list[float]:
    """Log-probabilities of the target's ids from one pass over all of it, without cache, batch or search."""
    given = torch.tensor([[translator.model.config.start_id, *target[:-1]]])
    log_probs = translator.model(torch.tensor([source.ids]), given)[0].log_softmax(dim=-1)
    return [float(row[token]) for row, token in zip(log_probs, target, strict=True)]


@pytest.mark.parametrize("options", [GREEDY, BEAM])
def test_scoring_a_translation_gives_the_score_it_was_found_with(
    translator: Translator, options: DecodingOptions
) -> None:
    sentences = prepared(translator, english(30, seed=2))
    found = [hypotheses[0] for hypotheses in translator.translate(sentences, options)]
    scored = translator.score(sentences, [one.text for one in found])
    compared = 0
    for one, again in zip(found, scored, strict=True):
        assert one.text == again.text
        if one.pieces == again.pieces and not one.truncated:  # a model may spell a text in an unusual way
            assert again.score == pytest.approx(one.score, abs=1e-4)
            assert again.piece_scores == pytest.approx(one.piece_scores, abs=1e-4)
            compared += 1
    assert compared > 20


def test_the_right_translation_scores_better_than_a_wrong_one(translator: Translator) -> None:
    source = translator.prepare("quiet river.", "en", "de")
    right, wrong, nothing = translator.score([source] * 3, ["still Fluss.", "Fluss still.", ""])
    assert right.score > wrong.score
    assert right.score > nothing.score
    assert len(nothing.piece_scores) == 1


# --- search


@pytest.mark.parametrize("penalty", [0.0, 0.6, 1.0])
def test_asking_for_alternatives_keeps_the_best_and_repeats_none(
    translator: Translator, penalty: float
) -> None:
    sentences = prepared(translator, english(30, seed=3))
    five = DecodingOptions(beam_size=5, length_penalty=penalty, look_ahead=None, margin=inf)
    alone = translator.translate(sentences, five)
    among = translator.translate(sentences, replace(five, n_best=5))
    for (best,), alternatives in zip(alone, among, strict=True):
        assert alternatives[0].text == best.text
        assert alternatives[0].score == pytest.approx(best.score, abs=1e-5)
        texts = [one.text for one in alternatives]
        assert len(set(texts)) == len(texts) <= 5


def test_one_text_comes_once_however_often_it_is_found_or_spelled(translator: Translator) -> None:
    options = DecodingOptions(strategy="sample", top_k=1, n_best=8)
    assert [len(found) for found in translated(translator, english(5, seed=3), options)] == [1] * 5
    one, other = Hypothesis("ab", -1.0, ("ab",), (), False), Hypothesis("cd", -1.5, ("cd",), (), False)
    assert distinct([one, replace(one, score=-1.2, pieces=("a", "b")), other]) == [one, other]


def test_a_beam_finds_what_the_model_holds_likelier_than_greedy_search_does(translator: Translator) -> None:
    sentences = prepared(translator, english(60, seed=4))
    greedy = translator.translate(sentences, GREEDY)
    beam = translator.translate(sentences, replace(BEAM, beam_size=5))
    better = [b[0].score - g[0].score for b, g in zip(beam, greedy, strict=True)]
    assert sum(difference > -1e-5 for difference in better) >= 0.95 * len(better)
    assert sum(better) > 0.5


def test_a_beam_of_one_is_greedy_search(translator: Translator) -> None:
    sentences = prepared(translator, english(30, seed=6))
    assert translator.translate(sentences, replace(BEAM, beam_size=1)) == translator.translate(
        sentences, GREEDY
    )


def test_control_pieces_never_come_not_even_from_a_flat_distribution(translator: Translator) -> None:
    options = DecodingOptions(strategy="sample", temperature=100.0, n_best=64)
    (found,) = translated(translator, ["winter garden under seven."], options)
    pieces = [piece for one in found for piece in one.pieces]
    assert len(set(pieces)) > 200  # of 327: anything else may come
    assert not set(CONTROLS) & set(pieces)
    assert not any(control in one.text for control in CONTROLS for one in found)


@pytest.mark.parametrize("options", [GREEDY, BEAM])
def test_nothing_is_said_over_and_over(translator: Translator, options: DecodingOptions) -> None:
    words = [f"{word}{stop}" for word in WORDS for stop in ("", ".")] + ["so so", "bye bye", "no no no"]
    words += ["sun sun sun sun sun.", "ha ha ha ha", "open, open, open."]
    sentences = prepared(translator, words)
    for source, (best,) in zip(sentences, translator.translate(sentences, options), strict=True):
        ids = ids_of(translator, best)
        assert len(ids) <= 2 * len(source.ids) + 10
        for n in range(1, 5):
            assert repeats(ids, n) <= max(FREE_REPEATS, repeats(source.ids[1:-1], n) + 1)


# --- lengths


def test_a_cut_translation_says_so_and_one_that_ends_there_does_not(translator: Translator) -> None:
    texts = ["quiet river winter."]
    for options in (GREEDY, BEAM):
        (whole,) = translated(translator, texts, options)[0]
        assert (whole.text, whole.truncated) == ("still Fluss Winter.", False)
        length = len(whole.pieces)
        (same,) = translated(translator, texts, replace(options, max_length=length))[0]
        assert (same.text, same.truncated) == (whole.text, False)
        (cut,) = translated(translator, texts, replace(options, max_length=length - 2))[0]
        assert len(cut.pieces) <= length - 2
        assert len(cut.piece_scores) == len(cut.pieces) + (not cut.truncated)
        assert cut.truncated or options is BEAM  # a beam may find another sentence, which ends in time
        assert cut.score == pytest.approx(sum(cut.piece_scores) / len(cut.piece_scores), abs=1e-6)


def test_each_sentence_has_the_length_limit_of_its_own_source(translator: Translator) -> None:
    """A flat distribution hardly ever ends: what comes is as long as it may be."""
    options = DecodingOptions(strategy="sample", temperature=100.0, seed=3)
    sentences = prepared(translator, ["sun.", "sun moon river stone garden.", "quiet " * 40])
    for source, (one,) in zip(sentences, translator.translate(sentences, options), strict=True):
        limit = 2 * len(source.ids) + 10
        assert len(one.pieces) <= limit
        assert one.truncated == (len(one.pieces) == limit)


def test_the_minimum_length_is_kept(translator: Translator) -> None:
    for strategy in ("greedy", "beam", "sample"):
        options = replace(GREEDY, strategy=strategy, min_length=9)
        for (one,) in translated(translator, ["sun.", "moon river."], options):
            assert len(one.pieces) >= 9


def test_no_limit_asked_for_goes_beyond_the_models_positions(translator: Translator) -> None:
    options = DecodingOptions(strategy="greedy", min_length=1000)
    (one,) = translated(translator, ["sun moon."], options)[0]
    assert one.truncated
    assert len(one.pieces) == translator.model.config.max_positions - 1
    (one,) = translated(translator, ["sun moon."], replace(options, max_length=4000))[0]
    assert len(one.pieces) == translator.model.config.max_positions - 1


# --- sampling


def test_a_seed_gives_the_same_samples_again_and_another_seed_others(translator: Translator) -> None:
    texts = english(10, seed=7)
    options = DecodingOptions(strategy="sample", temperature=1.5, seed=11)
    first = translated(translator, texts, options)
    torch.manual_seed(12345)  # nothing outside has a say
    assert translated(translator, texts, options) == first
    assert translated(translator, texts, replace(options, seed=12)) != first


def test_samples_do_not_depend_on_batch_mates(translator: Translator) -> None:
    texts = english(10, seed=8)
    options = DecodingOptions(strategy="sample", seed=5, n_best=3)
    together = translated(translator, texts, options)
    for text, found in zip(texts, together, strict=True):
        (alone,) = translated(translator, [text], options)
        assert [one.text for one in alone] == [one.text for one in found]


def test_sampling_the_likeliest_piece_is_greedy_search(translator: Translator) -> None:
    texts = english(20, seed=9)
    options = DecodingOptions(strategy="sample", top_k=1, seed=4)
    assert translated(translator, texts, options) == translated(translator, texts, GREEDY)
