"""The service needs no network and no place to write, in a container or not."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
NOBODY = 23_456  # a user that no machine knows
# Everything that is mounted becomes read-only: /tmp too, and what lies in other file systems.
READ_ONLY = """set -eu
while read -r _ folder _; do mount -o remount,bind,ro "$folder" 2>/dev/null || true; done </proc/self/mounts
exec "$@"
"""
UNSHARE = ["unshare", "--mount", "--net", "--propagation", "private"]


@pytest.fixture(scope="module")
def namespaces() -> list[str]:
    """The beginning of a command that runs in a network of its own, with nothing to write to."""
    if os.geteuid() != 0 or not shutil.which("unshare"):
        pytest.skip("needs root and unshare(1), to take the network and the disk away")
    command = [*UNSHARE, "sh", "-c", READ_ONLY, "sh"]
    tried = subprocess.run([*command, "true"], capture_output=True, text=True)
    if tried.returncode != 0:
        pytest.skip(f"this machine gives no namespaces: {tried.stderr.strip()}")
    return command


@pytest.fixture(scope="module")
def user() -> int:
    """Nobody, if nobody may start this Python; else who runs the tests. In the image nobody always may."""
    try:
        subprocess.run([sys.executable, "-c", ""], user=NOBODY, group=NOBODY, check=True)
    except (OSError, subprocess.SubprocessError):
        return os.geteuid()
    return NOBODY


def test_without_a_network_or_a_place_to_write_it_becomes_ready_and_translates(namespaces, user) -> None:
    script = str(Path(__file__).with_name("alone.py"))
    model = os.environ.get("MODEL", "pretrained/en-de")
    ran = subprocess.run(
        [*namespaces, sys.executable, "-B", script, str(user), model],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert ran.returncode == 0, ran.stderr[-3000:]
    told = json.loads(ran.stdout)
    assert told["answer"]["translation"]["text"]
    assert told["written"] == [] and told["reached"] is False, "else it would not have shown anything"
