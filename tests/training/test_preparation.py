"""A run's data: what preparation writes, and that its memory does not grow with the corpus."""

import json
import shutil
import subprocess
import sys
import textwrap
from collections import Counter
from dataclasses import replace
from itertools import islice, takewhile
from pathlib import Path

import pytest
import torch
from rich.console import Console

from tests.training.made_corpora import sentences, whole
from training.batches import Batches, Place, encode_example, fits
from training.corpora.augment import AugmentShares
from training.corpora.corpus import Mixture
from training.corpora.pairs import CorpusError
from training.corpora.split import count_overlap
from training.preparation import RunData, load_run_data, prepare, tokenizer_lines
from training.recipes import Recipe


@pytest.fixture
def mixed(tmp_path: Path, small_recipe: Recipe, quiet: Console) -> RunData:
    """Boats and, four times as few but as often trained on, houses."""
    boats = whole(tmp_path, "boats", sentences(0, 400))
    houses = whole(tmp_path, "houses", sentences(0, 100, "house"))
    recipe = replace(small_recipe, held_out=10)
    prepare(recipe, Mixture((boats, houses), (1.0, 1.0)), tmp_path / "data", quiet)
    return load_run_data(tmp_path / "data")


def test_what_was_prepared_is_in_the_facts_corpus_by_corpus(mixed: RunData) -> None:
    facts = mixed.facts
    assert facts["corpus"] == "boats + houses"
    assert facts["licence"] == "licence of boats; licence of houses"
    assert [one["name"] for one in facts["corpora"]] == ["boats", "houses"]
    assert [one["weight"] for one in facts["corpora"]] == [1.0, 1.0]
    for part in ("train", "validation", "test"):
        assert facts["pairs"][part] == sum(one["pairs"][part] for one in facts["corpora"])
    for one in facts["corpora"]:
        assert one["cleaning"]["kept"] == sum(one["pairs"].values()) + one["set_aside"]
    assert facts["pairs"]["train"] == len(mixed.train)


def test_held_out_parts_share_no_text_with_training_in_any_corpus(mixed: RunData) -> None:
    assert len(mixed.validation) == len(mixed.test) == 10
    assert count_overlap(mixed.validation + mixed.test, mixed.train) == 0


def test_the_ids_of_the_training_part_are_those_of_its_texts(mixed: RunData) -> None:
    for side, language in enumerate(mixed.languages):
        assert list(mixed.train_ids[language]) == [mixed.tokenizer.encode(pair[side]) for pair in mixed.train]


def test_batches_show_each_corpus_as_often_as_its_weight_says(mixed: RunData, small_recipe: Recipe) -> None:
    model = replace(small_recipe.model, vocabulary_size=mixed.tokenizer.size)
    batches = Batches(mixed, replace(small_recipe, model=model))
    shown: Counter[bool] = Counter()
    for batch, _ in takewhile(lambda item: item[1].epoch == 0, batches.after(Place())):
        for row in batch.target_BT.tolist():
            shown["house" in mixed.tokenizer.decode(row)] += 1
    assert shown.total() == batches.examples_per_epoch()
    assert abs(shown[True] - shown[False]) <= len(small_recipe.directions)


def test_a_run_on_several_corpora_goes_on_from_any_place(mixed: RunData, small_recipe: Recipe) -> None:
    model = replace(small_recipe.model, vocabulary_size=mixed.tokenizer.size)
    batches = Batches(mixed, replace(small_recipe, model=model, augment=AugmentShares(), sampling=0.3))
    whole = list(islice(batches.after(Place()), 150))
    assert whole[-1][1].epoch > 0
    for start in (1, 60, 120):
        resumed = islice(Batches(mixed, batches.recipe).after(whole[start - 1][1]), 150 - start)
        for (batch, place), (wanted, wanted_place) in zip(resumed, whole[start:], strict=True):
            assert place == wanted_place
            assert torch.equal(batch.source_BS, wanted.source_BS)
            assert torch.equal(batch.target_BT, wanted.target_BT)


@pytest.mark.parametrize("max_length", [9, 12, 60])
def test_pairs_that_are_too_long_are_counted_without_encoding_them_again(
    data: RunData, max_length: int
) -> None:
    examples = [encode_example(pair, data.tokenizer, "en") for pair in data.train]
    assert data.count_longer(max_length) == sum(not fits(example, max_length) for example in examples)


def test_the_tokenizer_learns_from_a_sample_of_a_large_corpus_as_it_is_trained_on(
    mixed: RunData, small_recipe: Recipe
) -> None:
    draws = mixed.draws(small_recipe.seed)
    everything = list(tokenizer_lines(mixed.train, draws, small_recipe))
    assert everything == [text for pair in mixed.train for text in pair]
    sample = list(tokenizer_lines(mixed.train, draws, replace(small_recipe, tokenizer_pairs=200)))
    assert len(sample) == 2 * 200
    assert 60 < sum("house" in line for line in sample[::2]) < 140  # a fifth of the pairs, half of the weight


@pytest.mark.parametrize(
    "name", ["train.en", "train.de.ids", "train.en.starts", "test.de", "tokenizer.model"]
)
def test_every_file_of_the_data_is_proved_before_it_is_used(
    data_folder: Path, tmp_path: Path, name: str
) -> None:
    shutil.copytree(data_folder, tmp_path / "data")
    content = (tmp_path / "data" / name).read_bytes()
    (tmp_path / "data" / name).write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    with pytest.raises(CorpusError, match=rf"{name}: changed since the run began"):
        load_run_data(tmp_path / "data")


def test_a_run_prepared_before_ids_were_stored_is_refused_with_the_reason(
    data_folder: Path, tmp_path: Path
) -> None:
    shutil.copytree(data_folder, tmp_path / "data")
    facts = json.loads((tmp_path / "data" / "corpus.json").read_text())
    facts["sha256"] = {name: value for name, value in facts["sha256"].items() if ".ids" not in name}
    (tmp_path / "data" / "corpus.json").write_text(json.dumps(facts))
    for path in (tmp_path / "data").glob("*.ids*"):
        path.unlink()
    with pytest.raises(CorpusError, match=r"not the data of a run: .*train\.en\.ids"):
        load_run_data(tmp_path / "data")


MEASURE = textwrap.dedent("""
    import json, resource, sys
    from dataclasses import replace
    from itertools import islice
    from pathlib import Path

    from rich.console import Console

    from training.batches import Batches, Place
    from training.corpora.corpus import open_files
    from training.preparation import load_run_data, prepare
    from training.recipes import recipe_named

    def peak():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss  # kilobytes

    corpus, folder, batches = Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])
    recipe = replace(recipe_named("tiny"), directions=(("en", "de"), ("de", "en")), tokenizer_pairs=2000)
    prepare(recipe, open_files([corpus], "en", "de"), folder, Console(quiet=True))
    prepared = peak()
    data = load_run_data(folder)
    for _ in islice(Batches(data, recipe).after(Place()), batches):
        pass
    print(json.dumps({"pairs": len(data.train), "preparation": prepared, "batches": peak()}))
""")


def peaks(folder: Path, pairs: int, batches: int) -> dict[str, int]:
    """Peak memory of a process that prepares a corpus of so many pairs, and then reads batches of it."""
    corpus = folder / f"{pairs}.tsv"
    with corpus.open("w", encoding="utf-8") as file:
        for number in range(pairs):
            file.write(
                f"This is line {number} of a long text.\tDies ist Zeile {number} in einem langen Text.\n"
            )
    result = subprocess.run(
        [sys.executable, "-c", MEASURE, str(corpus), str(folder / f"data-{pairs}"), str(batches)],
        capture_output=True,
        text=True,
        check=True,
    )
    found: dict[str, int] = json.loads(result.stdout)
    assert found["pairs"] > 0.5 * pairs
    return found


def test_ten_times_the_pairs_take_less_than_10_megabytes_more(tmp_path: Path) -> None:
    """One batch, so that both read a whole chunk, of which the smaller corpus fills a part: see the slow test."""
    small, large = (peaks(tmp_path, pairs, batches=1) for pairs in (2_000, 20_000))
    assert large["preparation"] - small["preparation"] < 10_000


@pytest.mark.slow
def test_a_million_pairs_take_less_than_100_megabytes_more_than_ten_thousand(tmp_path: Path) -> None:
    """In preparation and in reading batches; of the million, more than a whole chunk."""
    small, large = (peaks(tmp_path, pairs, batches=1000) for pairs in (10_000, 1_000_000))
    assert large["preparation"] - small["preparation"] < 100_000
    assert large["batches"] - small["batches"] < 100_000
