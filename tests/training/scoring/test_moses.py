import gzip

import pytest

from training.scoring.moses import preparation, tokenized_lowercase


def test_output_is_lower_cased_normalised_and_tokenised():
    found = tokenized_lowercase(["Ein Mann sagt: „Hier, z.B. um 10 Uhr!“", "  Annas  Hund. "], "de")
    assert found == ["ein mann sagt : &quot; hier , z.b. um 10 uhr ! &quot;", "annas hund ."]


def test_marks_of_markup_become_entities_as_in_the_published_files():
    assert tokenized_lowercase(["Anna's R&B [live]"], "en") == ["anna &apos;s r &amp; b &#91; live &#93;"]


def test_tokens_are_not_tokenised_further_in_words():
    (found,) = tokenized_lowercase(["Die Straßenbahn-Haltestelle"], "de")
    assert found == "die straßenbahn-haltestelle"


def test_an_empty_line_stays_an_empty_line():
    assert tokenized_lowercase(["", "x"], "en") == ["", "x"]


def test_a_report_names_the_library_and_its_version():
    assert "sacremoses 0" in preparation()


@pytest.mark.parametrize("language", ["de", "en"])
@pytest.mark.parametrize("part", ["test_2016_flickr", "test_2017_flickr", "test_2017_mscoco"])
def test_raw_multi30k_becomes_its_published_tokenised_form(corpora, part, language):
    folder = corpora / "multi30k"
    raw, published = (
        gzip.decompress((folder / f"{part}.{kind}{language}.gz").read_bytes()).decode().split("\n")[:-1]
        for kind in ("", "lc.norm.tok.")
    )
    assert tokenized_lowercase(raw, language) == published
