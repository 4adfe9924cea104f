"""translate, which goes through an older libretranslatepy."""

from reporting import SERVICE, Report
from translate import Translator

report = Report("translate")
client = Translator(provider="libre", from_lang="en", to_lang="de", base_url=SERVICE)
report.call("translate", lambda: client.translate("I have a dog."))
report.print()
