"""Parts of a run: every pair accounted for, no held-out text trained on, whatever corpora come together."""

from pathlib import Path

import pytest

from tests.training.made_corpora import LANGUAGES, divided, sentences, whole
from training.corpora.cleaning import CleaningReport, CleaningRules, clean
from training.corpora.corpus import Corpus, Mixture, open_files, open_mixture
from training.corpora.pairs import CorpusError, Pair
from training.corpora.parts import PARTS, Contribution, write_parts
from training.corpora.rows import StoredPairs
from training.corpora.split import count_overlap, split


def parts_of(folder: Path) -> dict[str, list[Pair]]:
    return {part: list(StoredPairs(folder / part, LANGUAGES)) for part in PARTS}


def written(tmp_path: Path, *corpora: Corpus, **more) -> tuple[dict[str, list[Pair]], list[Contribution]]:
    folder = tmp_path / "parts"
    folder.mkdir()
    contributions = write_parts(corpora, folder, held_out=5, seed=1, **more)
    assert {path.name.partition(".")[0] for path in folder.iterdir()} == set(PARTS)  # nothing else is left
    return parts_of(folder), contributions


def test_the_parts_of_one_corpus_are_those_of_the_split_in_memory(tmp_path):
    pairs = sentences(0, 60) + [Pair("The boat number 7 is green.", f"Andere Fassung {n}.") for n in range(3)]
    parts, (contribution,) = written(tmp_path, whole(tmp_path, "boats", pairs))
    rules = CleaningRules(source_language="en", target_language="de")
    expected = split(list(clean(pairs, rules, CleaningReport())), validation=5, test=5, seed=1)
    assert parts == {"train": expected.train, "validation": expected.validation, "test": expected.test}
    assert contribution.set_aside == expected.set_aside
    assert contribution.cleaning.kept == sum(contribution.pairs.values()) + contribution.set_aside


def test_corpora_stand_one_after_the_other_and_a_duplicate_belongs_to_the_first(tmp_path):
    one, two = sentences(0, 40), sentences(0, 40, "house")
    parts, contributions = written(
        tmp_path, whole(tmp_path, "boats", one), whole(tmp_path, "houses", two + one[:10])
    )
    assert contributions[1].cleaning.dropped_for == {"duplicate": 10}
    first = contributions[0].pairs["train"]
    assert set(parts["train"][:first]) <= set(one)
    assert set(parts["train"][first:]) <= set(two)


def test_a_held_out_text_of_one_corpus_is_trained_on_in_none(tmp_path):
    one = sentences(0, 40)
    two = [Pair(pair.source, f"{pair.target[:-1]}, ganz anders gesagt.") for pair in one]  # the same sources
    parts, contributions = written(tmp_path, whole(tmp_path, "boats", one), whole(tmp_path, "again", two))
    held_out = parts["validation"] + parts["test"]
    assert len(held_out) == 10
    assert count_overlap(held_out, parts["train"]) == 0
    assert sum(contribution.set_aside for contribution in contributions) == 10  # the other version of each


def test_parts_that_the_makers_chose_are_taken_untouched_and_leak_into_no_other_corpus(tmp_path):
    """Their own training part is theirs: what it shares with their test is counted, and stays."""
    test = [*sentences(100, 110), Pair("  odd  spaces ", "bleiben  so ")]
    parts = {"train": sentences(0, 30) + test[:2], "validation": sentences(200, 210), "test_2016": test}
    other = sentences(50, 60) + sentences(98, 112) + sentences(205, 215)
    found, contributions = written(
        tmp_path, divided(tmp_path, "boats", parts), whole(tmp_path, "other", other)
    )
    assert found["validation"] == parts["validation"]
    assert found["test"] == test
    assert found["train"] == [*parts["train"], *sentences(50, 60), *sentences(98, 100), *sentences(110, 112),
                              *sentences(210, 215)]  # fmt: skip
    assert [one.overlap for one in contributions] == [2, 0]
    assert [one.set_aside for one in contributions] == [0, 13]
    assert contributions[1].cleaning.dropped_for == {
        "duplicate": 2
    }  # the two that were in the first corpus too


def test_a_corpus_in_the_other_order_of_languages_is_turned_round(tmp_path):
    turned = [Pair(pair.target, pair.source) for pair in sentences(0, 30, "house")]
    parts, _ = written(
        tmp_path, whole(tmp_path, "boats", sentences(0, 30)), whole(tmp_path, "houses", turned, ("de", "en"))
    )
    everything = [pair for pairs in parts.values() for pair in pairs]
    assert sorted(everything) == sorted(sentences(0, 30) + sentences(0, 30, "house"))


def test_old_pairs_come_last_and_only_where_no_held_out_text_is_in_them(tmp_path):
    boats = sentences(0, 60)
    old = [*sentences(0, 10, "tree"), *boats]
    parts, contributions = written(tmp_path, whole(tmp_path, "boats", boats), old_pairs=old)
    assert contributions[1].name == "old pairs"
    assert (contributions[1].pairs["train"], contributions[1].set_aside) == (60, 10)
    assert parts["train"][50:60] == sentences(0, 10, "tree")
    assert count_overlap(parts["validation"] + parts["test"], parts["train"]) == 0


def test_a_corpus_of_which_nothing_is_left_for_training_is_an_error_that_names_it(tmp_path):
    held_out = {"train": sentences(0, 9), "validation": sentences(20, 25), "test": sentences(30, 35)}
    corpora = [divided(tmp_path, "boats", held_out), whole(tmp_path, "leak", sentences(30, 35))]
    with pytest.raises(CorpusError, match="leak: none of its pairs is left to be trained on; 5 share a text"):
        written(tmp_path, *corpora)


def test_a_divided_corpus_without_a_test_part_is_refused(tmp_path):
    corpus = divided(tmp_path, "boats", {"train": sentences(0, 9), "validation": sentences(20, 25)})
    with pytest.raises(CorpusError, match="boats has the parts train, validation; wanted"):
        written(tmp_path, corpus)


# Several corpora by name


def test_names_with_weights_open_corpora_in_their_order(tmp_path):
    for name in ("news", "talks"):
        whole(tmp_path, name, sentences(0, 3))
    mixture = open_mixture(tmp_path, "news:3 talks:0.5")
    assert [corpus.name for corpus in mixture.corpora] == ["news", "talks"]
    assert mixture.weights == (3.0, 0.5)
    assert open_mixture(tmp_path, "news talks").weights is None
    assert open_mixture(tmp_path, "news").weights is None


@pytest.mark.parametrize(
    ("names", "message"),
    [
        ("news:0 talks:1", "the weight of news is '0'; allowed: numbers above 0"),
        ("news:many", "the weight of news is 'many'"),
        ("news:-1", "the weight of news is '-1'"),
        ("news:nan", "the weight of news is 'nan'"),
        ("news:2 talks", "all of them with a weight"),
        ("news news", "named once each"),
        ("", "named once each"),
        ("absent", "no corpus here"),
    ],
)
def test_names_that_make_no_sense_are_refused(tmp_path, names, message):
    for name in ("news", "talks"):
        whole(tmp_path, name, sentences(0, 3))
    with pytest.raises(CorpusError, match=message):
        open_mixture(tmp_path, names)


def test_corpora_of_other_languages_are_not_mixed(tmp_path):
    (tmp_path / "a.tsv").write_text("One.\tUn.\n")
    french = open_files([tmp_path / "a.tsv"], "en", "fr")
    with pytest.raises(CorpusError, match=r"a\.tsv is en–fr, boats is en–de"):
        Mixture((whole(tmp_path, "boats", sentences(0, 3)), french))
