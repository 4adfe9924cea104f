"""Google's client for basic translation."""

from google.auth.credentials import AnonymousCredentials
from google.cloud import translate_v2
from reporting import SERVICE, Report

report = Report("google-cloud-translate")
client = translate_v2.Client(credentials=AnonymousCredentials(), client_options={"api_endpoint": SERVICE})
report.call("translate", lambda: client.translate("I have a dog.", target_language="de"))
report.call(
    "translate several",
    lambda: client.translate(
        ["I have a dog.", "Hello!"], target_language="de", source_language="en", format_="text"
    ),
)
report.call("detect_language", lambda: client.detect_language("Wo ist der Hund?"))
report.call(
    "detect_language of several", lambda: client.detect_language(["Wo ist der Hund?", "Where is the dog?"])
)
report.call("get_languages", client.get_languages)
report.call("an unknown language", lambda: client.translate("a", target_language="zz"))
report.print()
