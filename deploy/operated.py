"""Ask a running service whether it does as its operator wanted: whether it keeps things, and whether it wants a key.

    python deploy/operated.py ADDRESS make                  makes a glossary and prints its id
    python deploy/operated.py ADDRESS find ID               looks for it, as after a restart
    python deploy/operated.py ADDRESS key KEY               tries without a key, with a wrong one, and with this one

Only the standard library is used. Ends with 1 when the service does otherwise.
"""

from __future__ import annotations

import json
import sys
import urllib.error
import urllib.request
from typing import Any

# An http_proxy in the environment is not meant for the service under test.
OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))
GLOSSARY = {"name": "kept", "source_lang": "en", "target_lang": "de", "entries": "harbour\tSeehafen"}
TEXT = {"text": "Good morning!", "source": "en", "target": "de"}


def main(address: str, command: str, *names: str) -> int:
    if (command, len(names)) == ("make", 0):
        status, answer = ask(f"{address}/v2/glossaries", GLOSSARY)
        require(status == 201, f"a glossary was refused with {status}: {answer}")
        print(answer["glossary_id"])
    elif (command, len(names)) == ("find", 1):
        status, answer = ask(f"{address}/v2/glossaries/{names[0]}")
        require(status == 200, f"the glossary is gone: {status} {answer}")
        print("  the glossary outlasted its container")
    elif (command, len(names)) == ("key", 1):
        given = {key: ask(f"{address}/v1/translate", TEXT, key)[0] for key in ("", "wrong", names[0])}
        require(list(given.values()) == [401, 403, 200], f"no key, a wrong and the right one gave {given}")
        print("  without its key nobody gets in")
    else:
        sys.exit(__doc__)
    return 0


def ask(url: str, body: dict[str, Any] | None = None, key: str = "") -> tuple[int, Any]:
    headers = {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {key}"} if key else {})
    content = None if body is None else json.dumps(body).encode()
    try:
        with OPENER.open(urllib.request.Request(url, content, headers), timeout=60) as response:
            return response.status, json.loads(response.read())
    except urllib.error.HTTPError as error:
        return error.code, error.read()[:500]


def require(fact: bool, otherwise: str) -> None:
    if not fact:
        sys.exit(f"operated: {otherwise}")


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1].rstrip("/"), *sys.argv[2:]))
