"""libretranslatepy, whose older version asks for the languages by POST."""

from libretranslatepy import LibreTranslateAPI
from reporting import KEY, LOCKED, SERVICE, Report

report = Report("libretranslatepy")
client = LibreTranslateAPI(SERVICE)
report.call("translate", lambda: client.translate("I have a dog.", "en", "de"))
report.call("translate from auto", lambda: client.translate("Wo ist der Hund?", "auto", "en"))
report.call("detect", lambda: client.detect("Wo ist der Hund?"))
report.call("languages", client.languages)
report.call("an unknown language", lambda: client.translate("a", "en", "zz"))
report.call("a wrong key", lambda: LibreTranslateAPI(LOCKED, "x").translate("a", "en", "de"))
report.call("a right key", lambda: LibreTranslateAPI(LOCKED, KEY).translate("I have a dog.", "en", "de"))
report.print()
