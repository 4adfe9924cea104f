"""Ask a running service to translate, and say whether the answers are right.

    python deploy/smoke.py http://127.0.0.1:8000

Both directions of the bundled model, beam and greedy, with a blank line that has to stay; then the dialect
of LibreTranslate and an error. Only the standard library is used, so any Python runs it, also the one
inside the container. Ends with 1 when an answer is wrong.
"""

from __future__ import annotations

import json
import sys
import time
import urllib.error
import urllib.request
from typing import Any

ENGLISH = "Where is the next train station?\n\nI would like a cup of coffee, please."
GERMAN = "Wo ist der nächste Bahnhof?\n\nIch hätte gern eine Tasse Kaffee."
# Words of which every right translation of a paragraph has one.
GERMAN_WORDS = (("bahnhof", "bahnstation"), ("kaffee",))
ENGLISH_WORDS = (("station",), ("coffee",))

# An http_proxy in the environment is not meant for the service under test.
OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))


def main(address: str) -> int:
    for strategy in ("beam", "greedy"):
        for source, target, text, words in (
            ("en", "de", ENGLISH, GERMAN_WORDS),
            ("de", "en", GERMAN, ENGLISH_WORDS),
        ):
            started = time.perf_counter()
            body = {"text": text, "source": source, "target": target}
            translation = translated_text(post(f"{address}/v1/translate/{strategy}", body, status=200))
            seconds = time.perf_counter() - started
            require_paragraphs(translation, words)
            print(f"  {source}→{target} {strategy}, {seconds:.2f} s: {translation!r}")

    answer = post(f"{address}/translate", {"q": ENGLISH, "source": "en", "target": "de"}, status=200)
    require_paragraphs(answer["translatedText"], GERMAN_WORDS)
    unknown = post(f"{address}/v1/translate", {"text": "Hello.", "source": "en", "target": "xx"}, status=400)
    require("xx" in json.dumps(unknown), f"an unknown language is not named in {unknown}")
    with OPENER.open(f"{address}/v1/models", timeout=10) as response:
        [model] = json.loads(response.read())["models"]
    print(f"  decoding: {model['engine']}")
    print("  LibreTranslate's dialect answers; an unknown language is refused by name")
    return 0


def post(url: str, body: dict[str, str], *, status: int) -> dict[str, Any]:
    request = urllib.request.Request(
        url, json.dumps(body).encode(), headers={"Content-Type": "application/json"}, method="POST"
    )
    try:
        with OPENER.open(request, timeout=60) as response:
            given, content = response.status, response.read()
    except urllib.error.HTTPError as error:
        given, content = error.code, error.read()
    require(given == status, f"{url} answered {given} instead of {status}: {content[:500]!r}")
    answer: dict[str, Any] = json.loads(content)
    return answer


def translated_text(answer: dict[str, Any]) -> str:
    text = answer["translation"]["text"]
    require(isinstance(text, str), f"the translation of one text is {text!r}")
    return str(text)


def require_paragraphs(translation: str, words: tuple[tuple[str, ...], ...]) -> None:
    paragraphs = translation.split("\n\n")
    require(len(paragraphs) == len(words), f"the blank line was not kept: {translation!r}")
    for paragraph, choice in zip(paragraphs, words, strict=True):
        require(
            any(word in paragraph.lower() for word in choice),
            f"none of {', '.join(choice)} is in {paragraph!r}",
        )


def require(fact: bool, otherwise: str) -> None:
    if not fact:
        sys.exit(f"smoke: {otherwise}")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python deploy/smoke.py ADDRESS, such as http://127.0.0.1:8000")
    sys.exit(main(sys.argv[1].rstrip("/")))
