"""Azure's client for texts, of either version."""

from azure.ai.translation.text import TextTranslationClient
from azure.core.credentials import AzureKeyCredential
from reporting import KEY, LOCKED, SERVICE, Report

report = Report("azure-ai-translation-text")


def client(url, key):
    return TextTranslationClient(endpoint=url, credential=AzureKeyCredential(key))


def translate(url=SERVICE, key="any", **languages):
    found = client(url, key).translate(body=["I have a dog.", "Hello!"], **languages)
    return [
        [one.translations[0].text, one.detected_language and one.detected_language.language] for one in found
    ]


report.call("translate", lambda: translate(to_language=["de"]))
report.call("translate from", lambda: translate(to_language=["de"], from_language="en"))
report.call(
    "get_supported_languages", lambda: sorted(client(SERVICE, "any").get_supported_languages().translation)
)
report.call("an unknown language", lambda: translate(to_language=["zz"]))
report.call("a wrong key", lambda: translate(LOCKED, "x", to_language=["de"]))
report.call("a right key", lambda: translate(LOCKED, KEY, to_language=["de"]))
report.print()
