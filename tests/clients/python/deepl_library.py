"""Every call of DeepL's library that this service answers."""

import io
import pathlib

import deepl
from deepl.api_data import MultilingualGlossaryDictionaryEntries as Entries
from reporting import KEY, LOCKED, SERVICE, Report

report = Report("deepl")
client = deepl.DeepLClient("any", server_url=SERVICE)


def results(found):
    return [[one.text, one.detected_source_lang, one.billed_characters] for one in found]


def info(glossary):
    return [glossary.name, glossary.ready, glossary.source_lang, glossary.target_lang, glossary.entry_count]


report.call("translate_text of one", lambda: str(client.translate_text("I have a dog.", target_lang="DE")))
report.call(
    "translate_text of several",
    lambda: results(client.translate_text(["I have a dog.", "", "Wo ist der Hund?"], target_lang="DE")),
)
report.call(
    "translate_text with options",
    lambda: results(
        client.translate_text(
            ["Ich habe einen Hund.\n\nEr ist klein."],
            source_lang="DE",
            target_lang="EN-US",
            split_sentences=deepl.SplitSentences.NO_NEWLINES,
            preserve_formatting=True,
            formality=deepl.Formality.PREFER_LESS,
            context="dogs",
            model_type="quality_optimized",
        )
    ),
)
report.call(
    "translate_text with html",
    lambda: (
        client.translate_text(
            "<p>I have a <b>dog</b> &amp; a cat.</p>", source_lang="EN", target_lang="DE", tag_handling="html"
        ).text
    ),
)
report.call(
    "translate_text with xml",
    lambda: (
        client.translate_text(
            '<s>I have <x id="7"></x> dogs.</s><code>do not touch</code>',
            source_lang="EN",
            target_lang="DE",
            tag_handling="xml",
            outline_detection=False,
            splitting_tags=["s"],
            non_splitting_tags="i,b",
            ignore_tags=["x", "code"],
        ).text
    ),
)
report.call("get_source_languages", lambda: [str(one) for one in client.get_source_languages()])
report.call("get_target_languages", lambda: [str(one) for one in client.get_target_languages()])
report.call(
    "get_glossary_languages",
    lambda: [[one.source_lang, one.target_lang] for one in client.get_glossary_languages()],
)
report.call("get_usage", lambda: client.get_usage().character.count)

glossary = client.create_glossary("Dogs", "EN", "DE", {"dog": "Wauwau"})
report.call("create_glossary", lambda: info(glossary))
report.call(
    "create_glossary_from_csv",
    lambda: info(client.create_glossary_from_csv("Cats", "EN", "DE", "cat,Mieze\ntree,Baum")),
)
report.call("get_glossary", lambda: info(client.get_glossary(glossary.glossary_id)))
report.call("list_glossaries", lambda: sorted(one.name for one in client.list_glossaries()))
report.call("get_glossary_entries", lambda: client.get_glossary_entries(glossary))
report.call(
    "translate_text with a glossary",
    lambda: (
        client.translate_text("I have a dog.", source_lang="EN", target_lang="DE", glossary=glossary).text
    ),
)
report.call(
    "translate_text_with_glossary",
    lambda: client.translate_text_with_glossary("My dog is small.", glossary).text,
)
report.call("delete_glossary", lambda: client.delete_glossary(glossary))
report.call("get_glossary of none", lambda: client.get_glossary(glossary.glossary_id))

several = client.create_multilingual_glossary(
    "Both", [Entries("EN", "DE", {"dog": "Wauwau"}), Entries("DE", "EN", {"Hund": "doggy"})]
)


def dictionaries(glossary):
    return [[one.source_lang, one.target_lang, one.entry_count] for one in glossary.dictionaries]


report.call("create_multilingual_glossary", lambda: [several.name, dictionaries(several)])
report.call(
    "create_multilingual_glossary_from_csv",
    lambda: dictionaries(client.create_multilingual_glossary_from_csv("csv", "EN", "DE", "a,b\nc,d")),
)
report.call(
    "get_multilingual_glossary",
    lambda: dictionaries(client.get_multilingual_glossary(several.glossary_id)),
)
report.call(
    "list_multilingual_glossaries",
    lambda: sorted(one.name for one in client.list_multilingual_glossaries()),
)
report.call(
    "update_multilingual_glossary_name",
    lambda: client.update_multilingual_glossary_name(several, "Dogs both ways").name,
)
report.call(
    "update_multilingual_glossary_dictionary",
    lambda: dictionaries(
        client.update_multilingual_glossary_dictionary(several, Entries("EN", "DE", {"cat": "Mieze"}))
    ),
)
report.call(
    "replace_multilingual_glossary_dictionary",
    lambda: (
        client.replace_multilingual_glossary_dictionary(
            several, Entries("DE", "EN", {"Hund": "pooch", "Katze": "kitty"})
        ).entry_count
    ),
)
report.call(
    "get_multilingual_glossary_entries",
    lambda: client.get_multilingual_glossary_entries(several, "EN", "DE").dictionaries[0].entries,
)
report.call(
    "translate_text with a multilingual glossary",
    lambda: (
        client.translate_text(
            "Ich habe einen Hund.", source_lang="DE", target_lang="EN-GB", glossary=several.glossary_id
        ).text
    ),
)
report.call(
    "delete_multilingual_glossary_dictionary",
    lambda: client.delete_multilingual_glossary_dictionary(several, source_lang="DE", target_lang="EN"),
)
report.call("delete_multilingual_glossary", lambda: client.delete_multilingual_glossary(several))

pathlib.Path("letter.txt").write_text("I have a dog.\n\nIt is small.\n", encoding="utf-8")


def translate_file():
    status = client.translate_document_from_filepath("letter.txt", "brief.txt", target_lang="DE")
    return [status.done, status.billed_characters, pathlib.Path("brief.txt").read_text(encoding="utf-8")]


def translate_stream():
    output = io.BytesIO()
    document = io.BytesIO(b"I have a dog.")
    client.translate_document(document, output, target_lang="DE", filename="a.txt", source_lang="EN")
    return output.getvalue().decode()


def translate_step_by_step():
    handle = client.translate_document_upload("I have a cat.", filename="cat.txt", target_lang="DE")
    status = client.translate_document_wait_until_done(handle)
    output = io.BytesIO()
    client.translate_document_download(handle, output)
    return [status.done, output.getvalue().decode()]


report.call("translate_document_from_filepath", translate_file)
report.call("translate_document", translate_stream)
report.call("translate_document_upload, _wait_until_done, _download", translate_step_by_step)
report.call(
    "translate_document of an unknown kind",
    lambda: client.translate_document_upload(b"\0\1\2", filename="a.exe", target_lang="DE"),
)

report.call("an unknown target", lambda: client.translate_text("a", target_lang="ZZ"))
report.call("formality", lambda: client.translate_text("a", target_lang="DE", formality="more"))
report.call("rephrase_text", lambda: client.rephrase_text("a", target_lang="DE"))
locked = deepl.DeepLClient("a wrong one", server_url=LOCKED)
report.call("a wrong key", lambda: locked.translate_text("a", target_lang="DE"))
opened = deepl.DeepLClient(KEY, server_url=LOCKED)
report.call("a right key", lambda: opened.translate_text("I have a dog.", target_lang="DE").text)
report.print()
