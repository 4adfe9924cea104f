"""What the operator decides. Read once, in `main`; nothing here is looked up again later."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

_EXAMPLES = """
Every option can also be given by an environment variable of the same name: --max-texts is MAX_TEXTS.
An option on the command line wins.

examples:
  python -m service
  python -m service --model runs/tiny --port 9000
  HOST=0.0.0.0 MODEL=/models/en-de python -m service
  curl -s localhost:8000/v1/translate -H 'content-type: application/json' \\
       -d '{"text": "Good morning!", "source": "en", "target": "de"}'
"""


class Settings(BaseModel):
    """Every field is an option of `python -m service` and an environment variable."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    host: Annotated[str, Field(description="address to listen on")] = "127.0.0.1"
    port: Annotated[int, Field(ge=0, le=65535, description="port to listen on; 0 takes a free one")] = 8000
    model: Annotated[Path, Field(description="model directory, or a folder of several")] = Path(
        "pretrained/en-de"
    )
    device: Annotated[str, Field(description="auto, cpu, cuda, cuda:0, …")] = "auto"
    dtype: Annotated[str, Field(description="auto, float32, bfloat16 or int8")] = "auto"
    engine: Annotated[
        Literal["auto", "native", "graphs", "pytorch"],
        Field(
            description="what decodes: native (on a CPU), graphs (CUDA), pytorch, or auto: the fastest that there is"
        ),
    ] = "auto"
    log_level: Annotated[
        Literal["debug", "info", "warning", "error"], Field(description="debug, info, warning or error")
    ] = "info"

    max_text_characters: Annotated[int, Field(ge=1, description="characters in one text")] = 20_000
    max_texts: Annotated[int, Field(ge=1, description="texts in one request")] = 128
    max_body_bytes: Annotated[int, Field(ge=1024, description="bytes in the body of one request")] = 1 << 20
    max_requests: Annotated[int, Field(ge=1, description="requests in work at one time")] = 1024

    keys_file: Annotated[
        str,
        Field(description="TOML file of API keys (see python -m service.keys); with any, a key is required"),
    ] = ""
    api_keys: Annotated[
        str, Field(description="more keys as NAME=SHA256, separated by commas; the hash, never the key")
    ] = ""
    characters_per_month: Annotated[int, Field(ge=0, description="characters of an account; 0: no limit")] = 0
    requests_per_minute: Annotated[
        int, Field(ge=0, description="requests of an account or, without keys, an address; 0: no limit")
    ] = 0
    state_folder: Annotated[
        str, Field(description="folder for glossaries, usage and suggestions; none: forgotten at the end")
    ] = ""
    suggestions: Annotated[
        Literal["on", "off"],
        Field(description="on or off: keep what clients POST to /suggest; needs --state-folder"),
    ] = "off"
    spec_title: Annotated[
        str, Field(description="title in /spec; the app Dialect wants to read LibreTranslate there")
    ] = "Dragoman"
    max_file_bytes: Annotated[int, Field(ge=1024, description="bytes of a file to be translated")] = 10 << 20
    file_minutes: Annotated[
        float, Field(gt=0, description="time for a client to fetch a translated file")
    ] = 30
    root_path: Annotated[str, Field(description="path under which a reverse proxy serves all this")] = ""
    trusted_proxies: Annotated[
        str, Field(description="addresses whose X-Forwarded-For and -Proto are believed, separated by commas")
    ] = "127.0.0.1"

    queue_tokens: Annotated[int, Field(ge=1, description="source pieces that may wait to be translated")] = (
        65_536
    )
    queue_seconds: Annotated[
        float, Field(ge=0, description="time that a request waits for room there before it is refused")
    ] = 3
    cache_sentences: Annotated[
        int,
        Field(ge=0, description="translations of sentences kept in memory for who asks the same; 0: none"),
    ] = 4096
    batch_tokens: Annotated[
        int, Field(ge=1, description="padded source pieces times beam width in one batch of PyTorch")
    ] = 4096

    head_seconds: Annotated[float, Field(gt=0, description="time for a client to send its request head")] = 30
    body_seconds: Annotated[float, Field(gt=0, description="time for a client to send its body")] = 30
    reply_seconds: Annotated[float, Field(gt=0, description="time for a client to read its answer")] = 30
    cors_origins: Annotated[str, Field(description="web origins allowed to call, separated by commas")] = "*"


def parse_settings(arguments: Sequence[str], environment: Mapping[str, str]) -> Settings:
    """Settings from the command line, then the environment, then the defaults.

    A wrong value ends the process with status 2 and a line that names the option, the value and what is allowed.
    """
    parser = _parser()
    given = vars(parser.parse_args(arguments))
    values = {
        name: environment[name.upper()] for name in Settings.model_fields if environment.get(name.upper())
    }
    values |= {name: value for name, value in given.items() if value is not None}
    try:
        return Settings.model_validate(values)
    except ValidationError as error:
        problem = error.errors()[0]
        name = str(problem["loc"][0])
        parser.error(
            f"--{name.replace('_', '-')} (or {name.upper()}): {problem['msg']}, not {problem['input']!r}"
        )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m service",
        description="Serve a translation model over HTTP.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    for name, field in Settings.model_fields.items():
        parser.add_argument(
            f"--{name.replace('_', '-')}",
            metavar=name.upper(),
            help=f"{field.description} (default: {field.default})",
        )
    return parser
