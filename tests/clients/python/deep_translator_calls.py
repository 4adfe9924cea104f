"""deep-translator, which sends a POST with everything in the query, and an old DeepL request by GET."""

from deep_translator import LibreTranslator
from reporting import KEY, LOCKED, SERVICE, Report

report = Report("deep-translator")


def client(url, key):
    return LibreTranslator(source="en", target="de", api_key=key, custom_url=f"{url}/")


report.call("LibreTranslator.translate", lambda: client(SERVICE, "any").translate("I have a dog & a cat."))
report.call(
    "LibreTranslator.translate_batch",
    lambda: client(SERVICE, "any").translate_batch(["Hello!", "I have a dog."]),
)
report.call("a wrong key", lambda: client(LOCKED, "x").translate("I have a dog."))
report.call("a right key", lambda: client(LOCKED, KEY).translate("I have a dog."))
report.print()
