"""Clients for Python: every call that they have for what this service does gets what it needs back."""

import pytest

DOG, DOG_DE = "I have a dog.", "Ich habe einen Hund."


def test_deepl_library(run):
    found = run("current", "deepl_library.py")
    assert found["translate_text of one"] == DOG_DE
    assert found["translate_text of several"] == [
        [DOG_DE, "EN", 13],
        ["", "EN", 0],
        ["Wo ist der Hund?", "DE", 16],
    ]
    [[text, language, billed]] = found["translate_text with options"]
    assert (text.partition("\n\n")[0], language, billed) == (DOG, "DE", 35)
    assert found["translate_text with html"].startswith("<p>Ich habe einen <b>Hund</b> &amp; ")
    assert '<x id="7"></x>' in found["translate_text with xml"]
    assert found["translate_text with xml"].endswith("</s><code>do not touch</code>")
    assert found["get_source_languages"] == ["DE", "EN"]
    assert found["get_target_languages"] == ["DE", "EN-GB", "EN-US"]
    assert found["get_glossary_languages"] == [["de", "en"], ["en", "de"]]
    assert found["get_usage"] > 0
    check_single_glossaries(found)
    check_multilingual_glossaries(found)
    check_documents(found)
    assert "Value for 'target_lang' not supported: ZZ" in found["an unknown target"]
    assert found["formality"].startswith("DeepLException: Bad request, message: 'formality'")
    assert found["rephrase_text"].startswith("DeepLException: Not found")
    assert found["a wrong key"].startswith("AuthorizationException")
    assert found["a right key"] == DOG_DE


def check_single_glossaries(found):
    assert found["create_glossary"] == found["get_glossary"] == ["Dogs", True, "EN", "DE", 1]
    assert found["create_glossary_from_csv"] == ["Cats", True, "EN", "DE", 2]
    assert {"Cats", "Dogs"} <= set(found["list_glossaries"])
    assert found["get_glossary_entries"] == {"dog": "Wauwau"}
    assert "Wauwau" in found["translate_text with a glossary"]
    assert "Wauwau" in found["translate_text_with_glossary"]
    assert found["delete_glossary"] is None
    assert found["get_glossary of none"].startswith("GlossaryNotFoundException")


def check_multilingual_glossaries(found):
    both = [["EN", "DE", 1], ["DE", "EN", 1]]
    assert found["create_multilingual_glossary"] == ["Both", both]
    assert found["create_multilingual_glossary_from_csv"] == [["EN", "DE", 2]]
    assert found["get_multilingual_glossary"] == both
    assert {"Both", "csv"} <= set(found["list_multilingual_glossaries"])
    assert found["update_multilingual_glossary_name"] == "Dogs both ways"
    assert found["update_multilingual_glossary_dictionary"] == [["EN", "DE", 2], ["DE", "EN", 1]]
    assert found["replace_multilingual_glossary_dictionary"] == 2
    assert found["get_multilingual_glossary_entries"] == "dog\tWauwau\ncat\tMieze"
    assert "pooch" in found["translate_text with a multilingual glossary"]
    assert found["delete_multilingual_glossary_dictionary"] is None
    assert found["delete_multilingual_glossary"] is None


def check_documents(found):
    done, billed, text = found["translate_document_from_filepath"]
    assert (done, billed) == (True, 28)
    check_letter(text)
    assert found["translate_document"] == DOG_DE
    assert found["translate_document_upload, _wait_until_done, _download"] == [True, "Ich habe eine Katze."]
    assert "exe format is not supported" in found["translate_document of an unknown kind"]


def check_letter(text):
    first, blank, second, end = text.split("\n")
    assert (first, blank, end) == (DOG_DE, "", "") and "klein" in second


def test_deepl_command_line(run):
    found = run("current", "deepl_command.py")
    assert found["text"] == found["a right key"] == DOG_DE
    assert found["text from"] == DOG
    assert all(code in found["languages"] for code in ("EN-GB", "EN-US", "DE: German"))
    assert "Characters:" in found["usage"]
    assert 'Created Glossary "g"' in found["glossary create"] and "\tg" in found["glossary list"]
    assert found["document"].strip() == DOG_DE
    assert "Authorization failure" in found["a wrong key"]


@pytest.mark.parametrize("environment", ["current", "older"])
def test_libretranslatepy(run, environment):
    found = run(environment, "libretranslatepy_calls.py")
    assert found["translate"] == found["a right key"] == DOG_DE
    assert "dog" in found["translate from auto"]
    assert found["detect"][0]["language"] == "de"
    assert [language["code"] for language in found["languages"]] == ["de", "en"]
    assert "400" in found["an unknown language"] and "403" in found["a wrong key"]


def test_libretranslate_aio(run):
    found = run("current", "libretranslate_aio_calls.py")
    assert found["translate"] == {"translated_text": DOG_DE, "detected_language": None, "alternatives": None}
    several = found["translate several"]
    assert several["translated_text"][0] == DOG_DE
    assert [len(set(one)) for one in several["alternatives"]] == [2, 2]
    assert found["translate from auto"]["detected_language"]["language"] == "de"
    assert found["translate html"] == f"<b>{DOG_DE}</b>"
    assert found["detect"][0]["language"] == "de"
    assert found["languages"][0] == {"code": "de", "name": "German", "targets": ["de", "en"]}
    assert found["frontend_settings"]["language"]["source"]["code"] in ("de", "en")
    assert found["suggest"] is found["health"] is True
    is_ours, text = found["translate_file"]
    assert is_ours
    check_letter(text)
    assert found["an unknown language"].startswith("BadRequestError: zz is not supported")
    assert found["no key"] == "BadRequestError: Please contact the server operator to get an API key"
    assert found["a wrong key"] == "ForbiddenError: Invalid API key"
    assert found["a right key"]
    assert [str(n) in text for n, text in enumerate(found["translate many at once"], 2)] == [True] * 8
    assert found["command translate"] == DOG_DE
    assert found["command translate-file"] == "x.txt"


def test_deep_translator(run):
    found = run("current", "deep_translator_calls.py")
    assert found["LibreTranslator.translate"].startswith("Ich habe einen Hund & ")
    assert found["LibreTranslator.translate_batch"][1] == found["a right key"] == DOG_DE
    assert found["a wrong key"].startswith("AuthorizationException")


def test_translate(run):
    assert run("older", "translate_calls.py") == {"translate": DOG_DE}


def test_google_cloud_translate(run):
    found = run("current", "google_calls.py")
    assert found["translate"] == {"translatedText": DOG_DE, "detectedSourceLanguage": "en", "input": DOG}
    assert found["translate several"][0] == {"translatedText": DOG_DE, "input": DOG}
    assert found["detect_language"]["language"] == "de"
    assert [one["language"] for one in found["detect_language of several"]] == ["de", "en"]
    assert found["get_languages"][0] == {"language": "de", "name": "German"}
    assert (
        found["an unknown language"].startswith("BadRequest")
        and "zz is not supported" in found["an unknown language"]
    )


@pytest.mark.parametrize("environment", ["current", "older"])
def test_azure_translator(run, environment):
    found = run(environment, "azure_calls.py")
    assert found["translate"][0] == found["a right key"][0] == [DOG_DE, "en"]
    assert found["translate from"][0] == [DOG_DE, None]
    assert found["get_supported_languages"] == ["de", "en"]
    assert "zz is not supported" in found["an unknown language"]
    assert "key is not known" in found["a wrong key"]
