"""What is shown is what is served; what is changed changes that and no more."""

from __future__ import annotations

import pytest
import torch

from model.heads import Head
from model.inspection import Inspection, head_numbers, inspect
from model.search import DecodingOptions
from model.sentence import Sentence
from model.what_if import WhatIf
from tests.model.boats import boats
from tests.model.phrasebook import ENGLISH, phrasebook

HEADS = [Head("encoder", 0, 2), Head("decoder", 0, 3), Head("cross", 0, 1)]


def sentence(place: int = 0) -> Sentence:
    return phrasebook().prepare(ENGLISH[place], "en", "de")


def inspected(**changes: object) -> Inspection:
    return inspect(phrasebook(), sentence(), WhatIf(**changes))  # type: ignore[arg-type]


@pytest.mark.parametrize("beam_size", [1, 2, 5])
@pytest.mark.parametrize("place", [0, 17, 63])
def test_with_nothing_changed_it_shows_what_is_served(place: int, beam_size: int) -> None:
    shown = inspect(phrasebook(), sentence(place), WhatIf(beam_size=beam_size)).shown
    [[served]] = phrasebook().translate([sentence(place)], DecodingOptions(beam_size=beam_size))
    assert (shown.text, shown.score, shown.pieces) == (served.text, served.score, served.pieces)


def test_greedy_stands_beside_beam() -> None:
    [[served]] = phrasebook().translate([sentence()], DecodingOptions(strategy="greedy"))
    assert inspected().greedy.text == served.text
    assert inspected(follows_greedy=True).shown.ids == inspected().greedy.ids


def test_each_choice_has_the_probability_that_forced_decoding_gives_it() -> None:
    result = inspected()
    [scored] = phrasebook().score([sentence()], [result.shown.text])
    chosen = torch.tensor([choice.chosen.probability for choice in result.choices])
    torch.testing.assert_close(chosen.log(), torch.tensor(scored.piece_scores), atol=1e-4, rtol=1e-4)
    for choice in result.choices:
        probabilities = [one.probability for one in choice.alternatives]
        assert probabilities == sorted(probabilities, reverse=True)
        assert sum(probabilities) <= 1 + 1e-5
        assert choice.rank > len(probabilities) or choice.alternatives[choice.rank - 1] == choice.chosen


@pytest.mark.parametrize("beam_size", [1, 4])
def test_a_translation_begins_with_what_is_forced(beam_size: int) -> None:
    free = inspected(beam_size=beam_size)
    other = next(
        one.token for one in free.choices[1].alternatives if one.token != free.choices[1].chosen.token
    )
    forced = inspected(beam_size=beam_size, prefix=(free.shown.ids[0], other))
    assert forced.shown.ids[:2] == (free.shown.ids[0], other)
    assert forced.choices[1].rank > 1, "its probability stays what the model gives it"
    assert inspected(beam_size=beam_size, prefix=free.shown.ids).shown.ids == free.shown.ids


def test_a_forced_end_is_the_end() -> None:
    end = phrasebook().tokenizer.eos_id
    first = inspected().shown.ids[0]
    shown = inspected(prefix=(first, end)).shown
    assert (shown.ids, shown.truncated) == ((first,), False)


def test_a_wide_margin_lets_more_of_the_beam_go_on() -> None:
    kept = [
        sum(node.fate == "kept" for node in inspected(margin=margin).tree) for margin in (0.0, 3.0, 100.0)
    ]
    assert kept == sorted(kept)
    assert kept[0] < kept[2]


def test_temperature_flattens_what_comes_next_and_keeps_its_order() -> None:
    sure, unsure = (inspected(temperature=temperature).choices[0] for temperature in (0.5, 2.0))
    assert sure.entropy < unsure.entropy
    assert [one.token for one in sure.alternatives[:3]] == [one.token for one in unsure.alternatives[:3]]


@pytest.mark.parametrize("head", HEADS, ids=str)
def test_the_numbers_of_a_head_are_its_weights(head: Head) -> None:
    numbers = head_numbers(inspected(), head)
    torch.testing.assert_close(numbers.scores_LM.softmax(dim=-1), numbers.weights_LM)
    torch.testing.assert_close(numbers.weights_LM @ numbers.values_MK, numbers.found_LK)


@pytest.mark.parametrize("key_value_heads", [1, 2, 4])
def test_the_heads_together_write_what_the_sublayer_adds(key_value_heads: int) -> None:
    translator = boats(key_value_heads=key_value_heads)
    result = inspect(translator, translator.prepare("a small boat", "en", "de"), WhatIf(max_length=6))
    heads = [head_numbers(result, Head("cross", 1, number)).found_LK for number in range(4)]
    attention = translator.model.decoder[1].cross_attention
    written = attention.output(torch.cat(heads, dim=-1))  # type: ignore[operator,union-attr]
    torch.testing.assert_close(written, result.decoder.layers[1].written[1].added_LD)


def test_the_lens_over_the_last_layer_reads_what_is_said() -> None:
    result = inspected()
    assert [one.token for one in result.lens[-1]] == [
        choice.alternatives[0].token for choice in result.choices
    ]


def test_the_best_path_spells_the_best_hypothesis() -> None:
    result = inspected()
    assert [result.tree[place].token for place in result.best_path][:-1] == list(result.beam[0].ids)
    assert result.tree[result.best_path[-1]].fate == "finished"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (dict(beam_size=0), "beam_size is 0, allowed: 1 … 16"),
        (dict(temperature=float("nan")), "temperature is nan"),
        (dict(prefix=(99_999,)), "no piece has the id 99999"),
        (dict(prefix=(0,)), "may not be there"),
        (dict(prefix=(9,) * 200), "200 pieces, at most"),
        (dict(silent_heads=frozenset({Head("cross", 7, 0)})), "no layer 7"),
    ],
)
def test_what_is_not_possible_is_named(changes: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        inspected(**changes)
