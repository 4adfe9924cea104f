"""Translation memories."""

import pytest

from training.corpora.archives import Stream
from training.corpora.corpus import open_files
from training.corpora.pairs import CorpusError, Pair
from training.corpora.readers import ReadingReport
from training.corpora.tmx import read_tmx

HEAD = (
    '<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE tmx SYSTEM "tmx14.dtd">\n'
    '<tmx version="1.4"><header/><body>'
)
FOOT = "</body></tmx>\n"


def unit(**variants: str) -> str:
    inner = "".join(
        f'<tuv xml:lang="{language.replace("_", "-")}"><seg>{text}</seg></tuv>'
        for language, text in variants.items()
    )
    return f"<tu>{inner}</tu>"


def memory(tmp_path, *units: str, head: str = HEAD, encoding: str = "utf-8") -> Stream:
    path = tmp_path / "memory.tmx"
    path.write_bytes((head + "".join(units) + FOOT).encode(encoding))
    return Stream(path)


def test_languages_agree_by_their_base_code_in_any_order(tmp_path):
    stream = memory(tmp_path, unit(de_AT="Hallo.", en_US="Hello."), unit(EN="Yes.", DE="Ja."))
    assert list(read_tmx(stream, "en", "de")) == [Pair("Hello.", "Hallo."), Pair("Yes.", "Ja.")]
    assert next(read_tmx(stream, "de", "en")) == Pair("Hallo.", "Hello.")


def test_units_without_one_of_the_languages_are_counted(tmp_path):
    report = ReadingReport()
    stream = memory(tmp_path, unit(en="Yes.", fr="Oui."), unit(en="No.", de="Nein."))
    assert list(read_tmx(stream, "en", "de", report=report)) == [Pair("No.", "Nein.")]
    assert (report.pairs, report.dropped) == (1, 1)


def test_a_memory_without_the_languages_names_those_it_has(tmp_path):
    with pytest.raises(CorpusError, match=r"no unit has both 'en' and 'de'; languages in the file: en, fr"):
        list(read_tmx(memory(tmp_path, unit(en="Yes.", fr="Oui.")), "en", "de"))


def test_inline_codes_are_left_out_and_marked_words_stay(tmp_path):
    english = (
        'Press <bpt i="1">&lt;b&gt;</bpt>Save<ept i="1">&lt;/b&gt;</ept> <hi>now</hi>,\n  please<ph>x</ph>.'
    )
    stream = memory(tmp_path, unit(en=english, de="Jetzt bitte &quot;Speichern&quot; drücken."))
    assert list(read_tmx(stream, "en", "de")) == [
        Pair("Press Save now, please.", 'Jetzt bitte "Speichern" drücken.')
    ]


def test_a_memory_in_utf_16_is_read_as_the_users_own_file(tmp_path):
    head = HEAD.replace("UTF-8", "UTF-16")
    stream = memory(tmp_path, unit(en="Yes.", de="Grüße."), head=head, encoding="utf-16")
    assert list(open_files([stream.path], "en", "de").read()) == [Pair("Yes.", "Grüße.")]


def test_broken_xml_is_named_by_line_and_column(tmp_path):
    stream = memory(tmp_path, unit(en="Yes.", de="Ja."), "<tu><tuv></tu>")
    with pytest.raises(CorpusError, match=r"memory\.tmx: the XML is broken: mismatched tag: line 3, column"):
        list(read_tmx(stream, "en", "de"))


def test_entities_that_grow_without_bound_are_refused(tmp_path):
    bomb = '<!DOCTYPE tmx [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;">]>'
    stream = memory(tmp_path, unit(en="&b;", de="Ja."), head=f'<?xml version="1.0"?>{bomb}<tmx><body>')
    with pytest.raises(CorpusError, match="declares entities"):
        list(read_tmx(stream, "en", "de"))


def test_units_are_forgotten_when_they_were_read(tmp_path):
    """Six thousand units, which take seven megabytes as a tree, peak no higher than one thousand."""
    import tracemalloc

    peaks = []
    for count in (1_000, 6_000):
        stream = memory(tmp_path, *(unit(en=f"Line {n}.", de=f"Zeile {n}.") for n in range(count)))
        tracemalloc.start()
        assert sum(1 for _ in read_tmx(stream, "en", "de")) == count
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < peaks[0] + 500_000
