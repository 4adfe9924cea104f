"""DeepL's command line."""

import os
import pathlib
import subprocess
import sys

from reporting import KEY, LOCKED, SERVICE, Report

report = Report("deepl", named="deepl, the command line (Python)")


def run(*arguments, url=SERVICE, key="any"):
    finished = subprocess.run(
        [sys.executable, "-m", "deepl", *arguments],
        env=os.environ | {"DEEPL_AUTH_KEY": key, "DEEPL_SERVER_URL": url},
        capture_output=True,
        text=True,
    )
    return finished.stdout.strip() or finished.stderr.strip()


report.call("text", lambda: run("text", "--to", "DE", "I have a dog."))
report.call("text from", lambda: run("text", "--from", "de", "--to", "EN-GB", "Ich habe einen Hund."))
report.call("languages", lambda: run("languages"))
report.call("usage", lambda: run("usage"))
report.call(
    "glossary create", lambda: run("glossary", "create", "--name", "g", "--from", "EN", "--to", "DE", "a=b")
)
report.call("glossary list", lambda: run("glossary", "list"))
pathlib.Path("in.txt").write_text("I have a dog.\n")


def document():
    run("document", "--to", "DE", "in.txt", "out")
    return pathlib.Path("out/in.txt").read_text()


report.call("document", document)
report.call("a wrong key", lambda: run("text", "--to", "DE", "a", url=LOCKED))
report.call("a right key", lambda: run("text", "--to", "DE", "I have a dog.", url=LOCKED, key=KEY))
report.print()
