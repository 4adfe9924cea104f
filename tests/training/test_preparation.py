"""A run's data: what preparation writes, and that its memory does not grow with the corpus."""

import json
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import islice, takewhile
from pathlib import Path

import pytest
import torch
from rich.console import Console

from tests.training.made_corpora import sentences, whole
from tokenizer.train import train_tokenizer
from training.batches import Batches, Place, encode_example, fits
from training.corpora.augment import AugmentShares
from training.corpora.corpus import Mixture, open_files
from training.corpora.pairs import CorpusError, Pair
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


def test_a_corpus_whose_sentences_are_all_too_long_stops_before_training_with_the_counts(
    tmp_path: Path, small_recipe: Recipe, quiet: Console
) -> None:
    recipe = replace(small_recipe, held_out=10, max_length=4)
    corpus = whole(tmp_path, "boats", sentences(0, 100))
    with pytest.raises(
        CorpusError, match=r"all 80 pairs of the train part are longer than 4 pieces.* 0 kept"
    ):
        prepare(recipe, corpus, tmp_path / "data", quiet)
    assert not (tmp_path / "data").exists()


def test_one_endless_pair_among_many_is_counted_and_in_no_batch(
    tmp_path: Path, small_recipe: Recipe, quiet: Console
) -> None:
    long = Pair("green " * 4 + "boat and house " * 15, "grünes " * 4 + "Boot und Haus " * 15)
    corpus = whole(tmp_path, "boats", [*sentences(0, 60), long, *sentences(60, 120)])
    recipe = replace(small_recipe, held_out=10, max_length=40, batch_tokens=200)
    prepare(recipe, corpus, tmp_path / "data", quiet)
    data = load_run_data(tmp_path / "data")
    assert data.facts["too_long"] == {"train": 1, "validation": 0}
    recipe = replace(recipe, model=replace(recipe.model, vocabulary_size=data.tokenizer.size))
    examples = 0
    for batch, _ in takewhile(lambda item: item[1].epoch == 0, Batches(data, recipe).after(Place())):
        examples += len(batch.source_BS)
        assert len(batch.source_BS) * (batch.source_BS.shape[1] + batch.target_BT.shape[1]) <= 200
    assert examples == 2 * (len(data.train) - 1)


def test_the_tokenizer_is_learnt_from_the_training_part_alone(
    tmp_path: Path, small_recipe: Recipe, quiet: Console
) -> None:
    """Learnt again from the training file, it is the same, byte for byte; with the test in it, it is another."""
    recipe = replace(small_recipe, held_out=30)
    prepare(recipe, whole(tmp_path, "boats", sentences(0, 200)), tmp_path / "data", quiet)
    data = load_run_data(tmp_path / "data")

    def learnt(pairs: Sequence[Pair]) -> bytes:
        lines = [text for pair in pairs for text in pair]
        return train_tokenizer(lines, size=recipe.model.vocabulary_size, languages=recipe.languages)

    assert learnt(data.train) == data.tokenizer.model
    assert learnt([*data.train, *data.test]) != data.tokenizer.model


def test_no_piece_holds_a_carriage_return_or_a_byte_order_mark(
    tmp_path: Path, small_recipe: Recipe, quiet: Console
) -> None:
    """From files that have both: Windows line ends, one more inside of a line, and a mark at the head."""
    pairs = sentences(0, 500)
    source, target = ("".join(f"{text}\r\n" for text in side) for side in zip(*pairs, strict=True))
    (tmp_path / "a.en").write_bytes(b"\xef\xbb\xbf" + source.replace("number 7 ", "number\r7 ").encode())
    (tmp_path / "a.de").write_bytes(b"\xef\xbb\xbf" + target.replace("\r\n", "\n").encode())
    corpus = open_files([tmp_path / "a.en", tmp_path / "a.de"], "en", "de")
    prepare(replace(small_recipe, held_out=10), corpus, tmp_path / "data", quiet)
    data = load_run_data(tmp_path / "data")
    assert sorted([*data.train, *data.validation, *data.test]) == sorted(pairs)
    assert data.facts["corpora"][0]["reading"]["lone_carriage_returns"] == 1
    pieces = data.tokenizer.pieces(range(data.tokenizer.size))
    assert not any("\r" in piece or "\ufeff" in piece for piece in pieces)
    assert data.tokenizer.encode("The boat.\r") != []
    assert data.tokenizer.decode(data.tokenizer.encode("\ufeffThe boat.\r")).strip() == "The boat."


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


needs_proc = pytest.mark.skipif(
    not Path("/proc/self/status").exists(), reason="reads the peak of memory from /proc, as Linux has it"
)
RECIPE = """
import sys
from dataclasses import replace
from itertools import islice
from pathlib import Path

from rich.console import Console

from training.batches import Batches, Place
from training.corpora.corpus import open_files
from training.preparation import load_run_data, prepare
from training.recipes import recipe_named

corpus, folder = Path(sys.argv[1]), Path(sys.argv[2])
recipe = replace(recipe_named("tiny"), directions=(("en", "de"), ("de", "en")), tokenizer_pairs=2000)
"""
PREPARE = """
prepare(recipe, open_files([corpus], "en", "de"), folder, Console(quiet=True))
"""
READ_BATCHES = """
for _ in islice(Batches(load_run_data(folder), recipe).after(Place()), int(sys.argv[3])):
    pass
"""
# Of this program alone, in kilobytes; ru_maxrss would count the one that started it.
PEAK = """
print(Path("/proc/self/status").read_text().partition("VmHWM:")[2].split()[0])
"""


def peaks(folder: Path, pairs: int, batches: int) -> tuple[int, int]:
    """Peak memory in kilobytes of a process that prepares a corpus, and of one that reads batches of it."""
    corpus, data = folder / f"{pairs}.tsv", folder / f"data-{pairs}"
    with corpus.open("w", encoding="utf-8") as file:
        for number in range(pairs):
            file.write(
                f"This is line {number} of a long text.\tDies ist Zeile {number} in einem langen Text.\n"
            )
    found = []
    for step in (PREPARE, READ_BATCHES):
        command = [sys.executable, "-c", RECIPE + step + PEAK, str(corpus), str(data), str(batches)]
        found.append(int(subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout))
    assert load_run_data(data).facts["pairs"]["train"] > 0.5 * pairs
    return found[0], found[1]


@needs_proc
def test_ten_times_the_pairs_take_little_more_memory(tmp_path: Path) -> None:
    """Batches are made of chunks, of which the smaller corpus fills a tenth: see the slow test for those."""
    small, large = (peaks(tmp_path, pairs, batches=1) for pairs in (1_000, 10_000))
    assert large[0] - small[0] < 15_000


@needs_proc
@pytest.mark.slow
def test_a_million_pairs_take_less_than_100_megabytes_more_than_ten_thousand(tmp_path: Path) -> None:
    """In preparation, and in reading batches: of the million, those of more than a whole chunk."""
    small, large = (peaks(tmp_path, pairs, batches=1000) for pairs in (10_000, 1_000_000))
    print(f"kilobytes in preparation and in reading batches: 10,000 pairs {small}, 1,000,000 pairs {large}")
    assert large[0] - small[0] < 100_000
    assert large[1] - small[1] < 100_000
