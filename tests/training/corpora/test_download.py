"""Downloads from a real server on this machine that misbehaves in the ways servers do."""

import gzip
import hashlib
import io
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest
from rich.console import Console

from training.corpora.catalogue import RemoteFile
from training.corpora.download import ATTEMPTS, LONGEST_PAUSE, Downloader, DownloadError

# Bytes that do not repeat, so that a part in the wrong place shows.
CONTENT = b"".join(hashlib.sha256(str(number).encode()).digest() for number in range(10_000))
ETAG = '"first"'


@dataclass
class Server:
    """A script: each answer handles one request; the last one handles all that follow."""

    address: str
    answers: list[Callable[[BaseHTTPRequestHandler], None]]
    requests: list[dict[str, str]] = field(default_factory=list)


@contextmanager
def serving(*answers: Callable[[BaseHTTPRequestHandler], None]) -> Iterator[Server]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            server.requests.append(dict(self.headers))
            answer = server.answers.pop(0) if len(server.answers) > 1 else server.answers[0]
            answer(self)
            self.close_connection = True

        def log_message(self, *_: object) -> None:
            pass

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server = Server(f"http://127.0.0.1:{http.server_port}/corpus.bin", list(answers))
    thread = Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server
    finally:
        http.shutdown()
        http.server_close()
        thread.join()


def respond(handler: BaseHTTPRequestHandler, status: int, body: bytes, **headers: str) -> None:
    handler.send_response(status)
    for name, value in ({"Content_Length": str(len(body))} | headers).items():
        handler.send_header(name.replace("_", "-"), value)
    handler.end_headers()
    handler.wfile.write(body)


def whole(handler: BaseHTTPRequestHandler) -> None:
    respond(handler, 200, CONTENT, ETag=ETAG)


def ranges(handler: BaseHTTPRequestHandler) -> None:
    """What a good server does: the rest, if the file is still the same."""
    wanted = handler.headers.get("Range")
    if wanted is None or handler.headers.get("If-Range") != ETAG:
        return whole(handler)
    start = int(wanted.removeprefix("bytes=").removesuffix("-"))
    if start >= len(CONTENT):
        return respond(handler, 416, b"", Content_Range=f"bytes */{len(CONTENT)}")
    span = f"bytes {start}-{len(CONTENT) - 1}/{len(CONTENT)}"
    return respond(handler, 206, CONTENT[start:], Content_Range=span, ETag=ETAG)


def broken_after(size: int) -> Callable[[BaseHTTPRequestHandler], None]:
    """Promises the whole file and closes the connection after `size` bytes."""
    return lambda handler: respond(handler, 200, CONTENT[:size], Content_Length=str(len(CONTENT)), ETag=ETAG)


def status(code: int, **headers: str) -> Callable[[BaseHTTPRequestHandler], None]:
    return lambda handler: respond(handler, code, b"an error", **headers)


def download(server: Server, folder: Path) -> tuple[bytes, list[float]]:
    """(what was fetched, the pauses between attempts)"""
    pauses: list[float] = []
    console = Console(file=io.StringIO())
    with Downloader(console, sleep=pauses.append) as downloader:
        path = downloader.obtain(RemoteFile("corpus.bin", server.address, None), folder)
    return path.read_bytes(), pauses


def test_a_file_arrives_whole_and_leaves_nothing_else_behind(tmp_path):
    with serving(whole) as server:
        assert download(server, tmp_path) == (CONTENT, [])
    assert [path.name for path in tmp_path.iterdir()] == ["corpus.bin"]


def test_a_broken_line_goes_on_where_it_broke(tmp_path):
    with serving(broken_after(100_000), ranges) as server:
        assert download(server, tmp_path)[0] == CONTENT
    resumed = server.requests[1]
    assert 0 < int(resumed["Range"].removeprefix("bytes=").removesuffix("-")) <= 100_000
    assert resumed["If-Range"] == ETAG


def test_a_server_without_ranges_sends_the_file_again_from_the_start(tmp_path):
    with serving(broken_after(100_000), whole) as server:
        assert download(server, tmp_path)[0] == CONTENT


def test_a_file_that_changed_meanwhile_is_not_pasted_together(tmp_path):
    (tmp_path / "corpus.bin.part").write_bytes(b"x" * 1000)
    (tmp_path / "corpus.bin.part.validator").write_text('"an older one"')
    with serving(ranges) as server:
        assert download(server, tmp_path)[0] == CONTENT
    assert server.requests[0]["If-Range"] == '"an older one"'


def test_a_part_without_a_validator_is_not_built_upon(tmp_path):
    (tmp_path / "corpus.bin.part").write_bytes(b"x" * 1000)
    with serving(ranges) as server:
        assert download(server, tmp_path)[0] == CONTENT
    assert "Range" not in server.requests[0]


def test_a_later_run_goes_on_with_what_an_interrupted_one_left(tmp_path):
    (tmp_path / "corpus.bin.part").write_bytes(CONTENT[:5000])
    (tmp_path / "corpus.bin.part.validator").write_text(ETAG)
    with serving(ranges) as server:
        assert download(server, tmp_path)[0] == CONTENT
    assert server.requests[0]["Range"] == "bytes=5000-"


def test_a_part_as_long_as_the_file_is_fetched_afresh(tmp_path):
    (tmp_path / "corpus.bin.part").write_bytes(b"x" * len(CONTENT))
    (tmp_path / "corpus.bin.part.validator").write_text(ETAG)
    with serving(ranges) as server:
        assert download(server, tmp_path)[0] == CONTENT


def test_another_range_than_asked_for_is_not_used(tmp_path):
    def wrong_range(handler: BaseHTTPRequestHandler) -> None:
        respond(handler, 206, b"y" * 100, Content_Range=f"bytes 7-106/{len(CONTENT)}", ETag=ETAG)

    (tmp_path / "corpus.bin.part").write_bytes(CONTENT[:5000])
    (tmp_path / "corpus.bin.part.validator").write_text(ETAG)
    with serving(wrong_range, whole) as server:
        assert download(server, tmp_path)[0] == CONTENT


def test_a_server_that_promises_more_than_it_has_is_given_up_on(tmp_path):
    def liar(handler: BaseHTTPRequestHandler) -> None:
        respond(handler, 200, CONTENT, Content_Length=str(len(CONTENT) + 10), ETag=ETAG)

    with serving(liar) as server, pytest.raises(DownloadError, match=f"given up after {ATTEMPTS} attempts"):
        download(server, tmp_path)
    assert not (tmp_path / "corpus.bin").exists()


def test_lines_that_break_more_often_than_attempts_are_allowed_still_bring_the_file(tmp_path):
    """Every attempt brings something, so none counts as a failure in a row."""

    def short(handler: BaseHTTPRequestHandler) -> None:
        start = int(handler.headers.get("Range", "bytes=0-").removeprefix("bytes=").removesuffix("-"))
        end = min(start + 40_000, len(CONTENT))
        handler.send_response(206 if start else 200)
        handler.send_header("Content-Length", str(len(CONTENT) - start))
        handler.send_header("ETag", ETAG)
        if start:
            handler.send_header("Content-Range", f"bytes {start}-{len(CONTENT) - 1}/{len(CONTENT)}")
        handler.end_headers()
        handler.wfile.write(CONTENT[start:end])

    with serving(short) as server:
        assert download(server, tmp_path)[0] == CONTENT
    assert len(server.requests) > ATTEMPTS


@pytest.mark.parametrize("code", [404, 403, 410])
def test_a_missing_file_is_reported_at_once_with_its_address(tmp_path, code):
    with (
        serving(status(code)) as server,
        pytest.raises(DownloadError, match=f"corpus.bin: the server .* {code} "),
    ):
        download(server, tmp_path)
    assert len(server.requests) == 1


def test_a_server_in_trouble_is_asked_again_after_growing_pauses(tmp_path):
    with serving(status(503), status(500), status(429), whole) as server:
        content, pauses = download(server, tmp_path)
    assert content == CONTENT
    assert pauses == sorted(pauses)
    assert len(set(pauses)) == 3


@pytest.mark.parametrize(("asked", "waited"), [("7", 7.0), ("86400", LONGEST_PAUSE), ("soon", 1.0)])
def test_the_pause_a_server_asks_for_is_kept_within_reason(tmp_path, asked, waited):
    with serving(status(503, Retry_After=asked), whole) as server:
        assert download(server, tmp_path)[1] == [waited]


def test_a_server_that_stays_in_trouble_is_given_up_on(tmp_path):
    with serving(status(503)) as server, pytest.raises(DownloadError, match=r"given up after .* status 503"):
        download(server, tmp_path)
    assert len(server.requests) == ATTEMPTS


def test_a_server_that_is_not_there_is_named(tmp_path):
    with serving(whole) as server:
        pass
    with pytest.raises(DownloadError, match=server.address):
        download(server, tmp_path)


def test_an_html_page_is_not_taken_for_the_file(tmp_path):
    def page(handler: BaseHTTPRequestHandler) -> None:
        respond(handler, 200, b"<html>please log in</html>", Content_Type="text/html; charset=utf-8")

    with serving(page) as server, pytest.raises(DownloadError, match="an HTML page instead of the file"):
        download(server, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_redirect_is_followed(tmp_path):
    with serving(whole) as target, serving(status(302, Location=target.address)) as server:
        assert download(server, tmp_path)[0] == CONTENT


def test_the_answer_is_asked_for_unpacked_so_that_lengths_are_those_of_the_file(tmp_path):
    with serving(whole) as server:
        download(server, tmp_path)
    assert server.requests[0]["Accept-Encoding"] == "identity"


def test_a_gzip_file_is_stored_as_served(tmp_path):
    packed = gzip.compress(b"text\n")

    def encoded(handler: BaseHTTPRequestHandler) -> None:
        respond(handler, 200, packed, Content_Encoding="gzip", Content_Type="application/x-gzip")

    with serving(encoded) as server:
        assert download(server, tmp_path)[0] == packed


def test_a_file_that_cannot_be_written_is_reported_with_its_path_and_the_cause(tmp_path):
    """A limit on the size of files makes the kernel refuse the write, as a full disk does."""
    script = textwrap.dedent("""
        import resource, sys
        from pathlib import Path
        from rich.console import Console
        from training.corpora.catalogue import RemoteFile
        from training.corpora.download import Downloader, DownloadError

        resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, 50_000))
        with Downloader(Console(stderr=True)) as downloader:
            try:
                downloader.obtain(RemoteFile("corpus.bin", sys.argv[1], None), Path(sys.argv[2]))
            except DownloadError as error:
                print(error)
    """)
    with serving(whole) as server:
        command = [sys.executable, "-c", script, server.address, str(tmp_path)]
        result = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    assert "corpus.bin.part: cannot be written: File too large" in result.stdout
    assert not (tmp_path / "corpus.bin").exists()
