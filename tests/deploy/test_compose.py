"""docker-compose.yml passes settings on that the service has, and what it says of them is so."""

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from service.keys import load_accounts
from service.settings import Settings, parse_settings

ROOT = Path(__file__).parents[2]
COMPOSE = (ROOT / "docker-compose.yml").read_text(encoding="utf-8")
HEAD, _, BODY = COMPOSE.partition("\nname:")
PASSED_ON = dict(
    re.findall(r"^      ([A-Z_]+): (\S+)$", BODY.partition("environment:")[2], flags=re.MULTILINE)
)
NOT_SETTINGS = {"ADDRESS", "PORT", "MODELS", "MEMORY", "IMAGE"}  # of the container around the service
IN_FILES = {"KEYS_FILE", "STATE_FOLDER"}  # what the container finds at a fixed place


@pytest.fixture(scope="module")
def resolved() -> dict[str, Any]:
    """The file as Docker reads it, with no variable set."""
    if not shutil.which("docker"):
        pytest.skip("needs the docker command; no engine")
    command = ["docker", "compose", "--file", str(ROOT / "docker-compose.yml"), "config", "--format", "json"]
    environment = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": "/nonexistent"}
    asked = subprocess.run(command, capture_output=True, text=True, env=environment)
    if "is not a docker command" in asked.stderr or "unknown shorthand flag" in asked.stderr:
        pytest.skip("needs docker's compose plugin")
    assert asked.returncode == 0, asked.stderr
    document: dict[str, Any] = json.loads(asked.stdout)
    return document


def test_every_variable_that_is_passed_on_is_a_setting():
    assert len(PASSED_ON) > 10
    assert sorted(name for name in PASSED_ON if name.lower() not in Settings.model_fields) == []


def test_a_setting_takes_its_value_from_the_variable_of_its_own_name():
    named = {name: re.match(r"\$\{DRAGOMAN_([A-Z_]+):-", value) for name, value in PASSED_ON.items()}
    assert {name: found[1] for name, found in named.items() if found} == {
        name: name for name in PASSED_ON if name not in IN_FILES
    }


def test_every_limit_of_a_request_can_be_set():
    limits = {name for name in Settings.model_fields if re.match(r"(max|queue)_|.*_per_|file_minutes", name)}
    assert sorted(name for name in limits if name.upper() not in PASSED_ON) == []


def test_the_head_of_the_file_names_every_variable_and_no_other():
    used = set(re.findall(r"\$\{DRAGOMAN_([A-Z_]+)", BODY))
    assert set(re.findall(r"DRAGOMAN_([A-Z_]+)", HEAD)) == used
    assert used >= NOT_SETTINGS


def test_without_a_variable_the_service_has_its_own_limits_and_wants_no_key(tmp_path):
    empty = {name: re.sub(r"\$\{DRAGOMAN_[A-Z_]+:-(.*)\}", r"\1", value) for name, value in PASSED_ON.items()}
    settings = parse_settings([], empty)
    assert settings == Settings(state_folder="/state", keys_file="/run/secrets/keys")
    assert not load_accounts(Settings(keys_file="/dev/null")).require_keys


def test_the_state_is_all_that_can_be_written_to_and_lasts(resolved):
    service = resolved["services"]["dragoman"]
    assert service["read_only"] is True
    writable = [volume for volume in service["volumes"] if not volume.get("read_only")]
    assert [(volume["type"], volume["source"], volume["target"]) for volume in writable] == [
        ("volume", "state", "/state")
    ]
    assert service["environment"]["STATE_FOLDER"] == "/state"


def test_the_state_belongs_to_the_user_that_the_image_runs_as():
    dockerfile = (ROOT / "Dockerfile").read_text(encoding="utf-8")
    [user] = re.findall(r"^USER (\d+):\d+$", dockerfile, flags=re.MULTILINE)
    assert user != "0"
    assert re.search(rf"install --directory --owner {user} --group {user} --mode 0700 /state", dockerfile)


def test_keys_come_in_as_a_secret_that_is_empty_by_default(resolved):
    service = resolved["services"]["dragoman"]
    assert resolved["secrets"]["keys"]["file"] == "/dev/null"
    [secret] = service["secrets"]
    assert service["environment"]["KEYS_FILE"] == f"/run/secrets/{secret['source']}"
    assert not any("KEY" in name for name in service["environment"] if name != "KEYS_FILE")
