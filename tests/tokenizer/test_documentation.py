import doctest
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "tokenizer.md"


def test_every_example_on_the_page_gives_what_the_page_says() -> None:
    failed, attempted = doctest.testfile(str(PAGE), module_relative=False, encoding="utf-8")
    assert attempted > 15
    assert failed == 0
