from training.batches import Place
from training.progress import Progress


def scored(scores: list[float], keep: int) -> Progress:
    progress = Progress()
    for update, score in enumerate(scores, start=1):
        progress.update = update
        progress.record(score, keep)
    return progress


def test_the_best_are_those_with_the_largest_bleu() -> None:
    assert scored([2, 6, 4], keep=2).best == [(6, 2), (4, 3)]


def test_the_first_of_equal_scores_stays_best() -> None:
    assert scored([5, 5], keep=1).best == [(5, 1)]


def test_patience_counts_validations_since_the_best() -> None:
    assert scored([3, 9, 8, 7], keep=1).validations_without_gain == 2
    assert scored([3, 9, 8, 10], keep=1).validations_without_gain == 0


def test_a_score_that_has_never_moved_from_zero_costs_no_patience() -> None:
    assert scored([0, 0, 0], keep=1).validations_without_gain == 0


def test_while_the_score_is_zero_the_newest_is_the_best() -> None:
    progress = scored([0, 0, 0], keep=1)
    assert progress.best == [(0, 3)]
    progress.update = 4
    assert progress.record(2, keep=1)
    progress.update = 5
    assert not progress.record(0, keep=1)
    assert progress.best == [(2, 4)]


def test_progress_comes_back_from_json_as_it_was() -> None:
    progress = scored([1, 3, 2], keep=2)
    progress.place = Place(4, 1, 9)
    assert Progress.from_json(progress.to_json()) == progress
