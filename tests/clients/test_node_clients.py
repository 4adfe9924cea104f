"""Clients for Node: every call that they have for what this service does gets what it needs back."""

DOG, DOG_DE = "I have a dog.", "Ich habe einen Hund."


def test_deepl_node(run):
    found = run("node", "deepl_library.mjs")
    assert found["translateText of one"] == found["a right key"] == DOG_DE
    first, second, third = found["translateText of several"]
    assert (first, second) == ([DOG_DE, "en", 13], ["Wo ist der Hund?", "de", 16])
    assert "&" in third[0] and third[2] == 5
    assert found["translateText with options"] == DOG
    assert found["translateText with html"].startswith("<p>Ich habe einen <b>Hund</b> &amp; ")
    assert '<x id="7"></x>' in found["translateText with xml"]
    assert found["translateText with xml"].endswith("</s><code>do not touch</code>")
    assert found["getSourceLanguages"] == ["de", "en"]
    assert found["getTargetLanguages"] == ["de", "en-GB", "en-US"]
    assert {"sourceLang": "en", "targetLang": "de"} in found["getGlossaryLanguagePairs"]
    assert found["getUsage"] > 0
    check_glossaries(found)
    done, billed, text = found["translateDocument"]
    assert (done, billed) == (True, 28)
    assert text.startswith(f"{DOG_DE}\n\n") and text.endswith("\n")
    assert "exe format is not supported" in found["translateDocument of an unknown kind"]
    assert "Value for 'target_lang' not supported: zz" in found["an unknown target"]
    assert "formality" in found["formality"]
    assert found["a wrong key"].startswith("AuthorizationError")


def check_glossaries(found):
    assert found["createGlossary"] == ["Dogs", True, 1]
    assert (found["createGlossaryWithCsv"], found["getGlossary"]) == (2, "Dogs")
    assert found["listGlossaries"] is found["listMultilingualGlossaries"] is True
    assert found["getGlossaryEntries"] == {"dog": "Wauwau"}
    assert "Wauwau" in found["translateText with a glossary"]
    assert found["getGlossary of none"].startswith("GlossaryNotFoundError")
    both = [["en", "de", 1], ["de", "en", 1]]
    assert found["createMultilingualGlossary"] == found["getMultilingualGlossary"] == both
    assert found["createMultilingualGlossaryWithCsv"] == [["en", "de", 2]]
    assert found["updateMultilingualGlossaryName"] == "Dogs both ways"
    assert found["updateMultilingualGlossaryDictionary"][0] == ["en", "de", 2]
    assert found["replaceMultilingualGlossaryDictionary"] == 1
    assert found["getMultilingualGlossaryDictionaryEntries"] == {"dog": "Wauwau", "cat": "Mieze"}
    for call in ("deleteGlossary", "deleteMultilingualGlossaryDictionary", "deleteMultilingualGlossary"):
        assert found[call] is None


def test_libretranslate(run):
    assert run("node", "libretranslate_calls.mjs") == {
        "translate": DOG_DE,
        "translate from auto": DOG_DE,
        "a right key": DOG_DE,
    }


def test_translate(run):
    found = run("node", "translate_calls.mjs")
    assert found["translate"] == found["a right key"] == DOG_DE
    assert found["translate from"] == DOG
    assert found["a wrong key"] == "Error: Invalid API key"


def test_translate_tools_core(run):
    found = run("node", "translate_tools_calls.mjs")
    assert found["translate"] == found["a right key"] == DOG_DE
    first, _, third = found["translateBatch"]
    assert first == DOG_DE and "&" in third
    assert "ZodError" in found["a wrong key"]  # it looks at nothing but the field that is not there


def test_azure_rest(run):
    found = run("node", "azure_calls.mjs")
    assert found["translate"] == found["a right key"] == [[DOG_DE, "en"]]
    assert "zz is not supported" in found["an unknown language"]
    assert "key is not known" in found["a wrong key"]
