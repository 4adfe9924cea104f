"""libretranslate-aio: all calls of both its clients, and its command line."""

import asyncio
import os
import pathlib
import subprocess
import sys
from dataclasses import asdict

import httpx
from libretranslate_aio import AsyncLibreTranslate, LibreTranslate
from reporting import KEY, LOCKED, SERVICE, Report

report = Report("libretranslate-aio")
client = LibreTranslate(SERVICE)
report.call("translate", lambda: asdict(client.translate("I have a dog.", "en", "de")))
report.call(
    "translate several",
    lambda: asdict(client.translate(["I have a dog.", "Hello!"], "en", "de", alternatives=2)),
)
report.call("translate from auto", lambda: asdict(client.translate("Wo ist der Hund?", "auto", "en")))
report.call(
    "translate html",
    lambda: client.translate("<b>I have a dog.</b>", "en", "de", format="html").translated_text,
)
report.call("detect", lambda: [asdict(one) for one in client.detect("Wo ist der Hund?")])
report.call("languages", lambda: [asdict(one) for one in client.languages()])
report.call("frontend_settings", lambda: asdict(client.frontend_settings()))
report.call("suggest", lambda: client.suggest("I have a dog.", "Ich habe ein Hündchen.", "en", "de"))
report.call("health", client.health)
pathlib.Path("letter.txt").write_text("I have a dog.\n\nIt is small.\n")


def translate_file():
    url = client.translate_file("letter.txt", "en", "de").translated_file_url
    return [url.startswith(f"{SERVICE}/download_file/"), httpx.get(url).text]


report.call("translate_file", translate_file)
report.call("an unknown language", lambda: client.translate("a", "en", "zz"))
report.call("no key", lambda: LibreTranslate(LOCKED).translate("a", "en", "de"))
report.call("a wrong key", lambda: LibreTranslate(LOCKED, api_key="x").translate("a", "en", "de"))
report.call(
    "a right key", lambda: LibreTranslate(LOCKED, api_key=KEY).translate("Hello!", "en", "de").translated_text
)


async def many():
    async with AsyncLibreTranslate(SERVICE) as several:
        found = await asyncio.gather(
            *(several.translate(f"I have {n} dogs.", "en", "de") for n in range(2, 10))
        )
        return [one.translated_text for one in found]


report.call("translate many at once", lambda: asyncio.run(many()))


def command(*arguments):
    found = pathlib.Path(sys.executable).parent / "libretranslate"
    finished = subprocess.run(
        [found, *arguments], env=os.environ | {"LIBRETRANSLATE_URL": SERVICE}, capture_output=True, text=True
    )
    return finished.stdout.strip() or finished.stderr.strip()


report.call("command translate", lambda: command("translate", "I have a dog.", "-t", "de"))
report.call(
    "command translate-file",
    lambda: command("translate-file", "letter.txt", "-s", "en", "-t", "de", "-o", "x.txt"),
)
report.print()
