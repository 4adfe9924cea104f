"""`python -m service`: read the settings, set up logging, serve."""

from __future__ import annotations

import functools
import logging
import os
import sys

import uvicorn
from fastapi import FastAPI

from service.app import create_app
from service.deadlines import DeadlineProtocol
from service.keys import UnusableKeys
from service.settings import Settings, parse_settings
from service.storage import UnusableFolder


def main() -> int:
    settings = parse_settings(sys.argv[1:], os.environ)
    logging.basicConfig(
        level=settings.log_level.upper(),
        format="%(asctime)s %(levelname)s %(name)s %(message)s",
        stream=sys.stderr,
    )
    return serve(settings)


def serve(settings: Settings) -> int:
    """Serve until a signal comes; 1 when the model could not be loaded, 2 when the settings cannot be used, else 0."""
    has_failed = False

    def stop_serving() -> None:
        nonlocal has_failed
        has_failed = True
        server.should_exit = True

    try:
        app = create_app(settings, on_load_failure=stop_serving)
    except (UnusableKeys, UnusableFolder) as error:
        print(f"python -m service: {error}", file=sys.stderr)
        return 2
    server = build_server(settings, app)
    server.run()
    return 1 if has_failed else 0


def build_server(settings: Settings, app: FastAPI) -> uvicorn.Server:
    """uvicorn with our deadlines, and without a word of its own on requests."""
    config = uvicorn.Config(
        app,
        host=settings.host,
        port=settings.port,
        http=functools.partial(  # type: ignore[arg-type]  # uvicorn calls it, and nothing else
            DeadlineProtocol, head_seconds=settings.head_seconds, reply_seconds=settings.reply_seconds
        ),
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,  # uvicorn's would hold query strings, and with them texts
        server_header=False,
        root_path=settings.root_path,
        forwarded_allow_ips=settings.trusted_proxies,
        timeout_graceful_shutdown=20,
    )
    return uvicorn.Server(config)


if __name__ == "__main__":
    sys.exit(main())
