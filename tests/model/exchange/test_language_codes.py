import pytest

from model.exchange.language_codes import language_code


@pytest.mark.parametrize(
    ("spelling", "code"),
    [
        ("en", "en"),
        ("eng", "en"),
        ("EN", "en"),
        ("deu", "de"),
        ("nds", "nds"),
        ("pt_BR", "pt-br"),
        ("por_br", "pt-br"),
        ("cmn_Hans", "zh-hans"),
        ("zho", "zh"),
        ("nor", "nb"),
        (" fr ", "fr"),
    ],
)
def test_a_spelling_of_another_project_becomes_ours(spelling: str, code: str) -> None:
    assert language_code(spelling) == code
    assert language_code(code) == code


@pytest.mark.parametrize(
    "spelling", ["ROMANCE", "mul", "gmw", "SCANDINAVIA", "", "e", "en de", "NORTH_EU", "roa"]
)
def test_what_is_no_single_language_is_refused_by_name(spelling: str) -> None:
    with pytest.raises(ValueError, match="is not the code of one language") as error:
        language_code(spelling)
    assert repr(spelling) in str(error.value)
