"""Clients spell codes in many ways; each means one language or is refused by name."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.errors import UnavailablePair, UnsupportedLanguage
from service.languages import name_of, resolve_direction, targets_of

DIRECTIONS = (("en", "de"), ("de", "en"), ("en", "zh"))
GERMAN = ("de", "DE", "De", "de-AT", "de_AT", "DE-at", " de ", "de-Latn-CH", "de_Latn_CH")
ENGLISH = ("en", "EN", "en-US", "EN_GB", "en-us-x-private")


@pytest.mark.parametrize(("source", "target"), list(itertools.product(GERMAN, ENGLISH)))
def test_every_spelling_means_the_same_direction(source, target):
    assert resolve_direction(source, target, DIRECTIONS) == ("de", "en")


@pytest.mark.parametrize("code", ["zz", "", " ", "-", "_", "d", "deu", "german", "e\u0301n", "en\x00", "ᴅe"])
def test_an_unknown_code_is_refused_with_the_known_ones(code):
    with pytest.raises(UnsupportedLanguage, match=r"is not supported; known: de, en, zh") as caught:
        resolve_direction("en", code, DIRECTIONS)
    assert caught.value.field == "target"


def test_an_unavailable_pair_is_refused_with_the_available_ones():
    message = r"German \(de\) is not available as a target language from Chinese \(zh\).*en→de, de→en, en→zh"
    with pytest.raises(UnavailablePair, match=message):
        resolve_direction("zh", "de", DIRECTIONS)


def test_a_language_to_itself_is_always_a_direction():
    assert resolve_direction("zh-Hans", "ZH", DIRECTIONS) == ("zh", "zh")
    assert targets_of("zh", DIRECTIONS) == ["zh"]
    assert targets_of("en", DIRECTIONS) == ["de", "en", "zh"]


def test_withdrawn_codes_still_work():
    assert resolve_direction("iw", "en", (("he", "en"),)) == ("he", "en")
    assert resolve_direction("pb", "zt", (("pt", "zh"),)) == ("pt", "zh")


def test_a_language_without_a_name_is_called_by_its_code():
    assert (name_of("de"), name_of("qq")) == ("German", "qq")


@given(st.text(), st.text())
def test_any_two_strings_are_a_direction_or_a_clear_error(source, target):
    try:
        direction = resolve_direction(source, target, DIRECTIONS)
    except (UnavailablePair, UnsupportedLanguage) as error:
        assert len(error.message) < 300
    else:
        assert direction in DIRECTIONS or direction[0] == direction[1]
