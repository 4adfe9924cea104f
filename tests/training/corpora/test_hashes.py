"""The compact set agrees with Python's."""

from hypothesis import given
from hypothesis import strategies as st

from training.corpora.hashes import HashSet, hash_of


@given(st.lists(st.integers(1, 60) | st.integers(1, 2**64 - 1)))
def test_the_set_agrees_with_the_builtin_one(numbers):
    ours, theirs = HashSet(), set()
    for number in numbers:
        assert ours.add(number) == (number not in theirs)
        theirs.add(number)
    assert len(ours) == len(theirs)


def test_the_set_grows_and_forgets_nothing():
    numbers = [hash_of(str(number)) for number in range(20_000)]
    ours = HashSet()
    assert all(ours.add(number) for number in numbers)
    assert not any(ours.add(number) for number in numbers)
    assert len(ours) == 20_000
