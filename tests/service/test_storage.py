"""What is kept is whole, and what cannot be kept is said at the start."""

import os
from datetime import UTC, datetime

import pytest

from service.app import create_app
from service.errors import NotFound, QuotaExceeded, TooMuch
from service.glossaries import Glossaries
from service.keys import Account
from service.settings import Settings
from service.storage import Storage, UnusableFolder
from service.usage import Usage

ACCOUNT = Account("a", 100, 0)


def test_a_value_comes_back_after_a_restart_and_nothing_without_a_folder(tmp_path):
    for folder, expected in ((tmp_path / "new" / "state", {"ä": [1]}), (None, None)):
        storage = Storage(folder)
        storage.write("x", {"ä": [1]})
        assert Storage(folder).read("x") == expected
        storage.delete("x")
        assert storage.read("x") is None


@pytest.mark.parametrize("name", ["../x", "a/b", "", "A", "x" * 65, ".x"])
def test_a_name_is_never_a_path(tmp_path, name):
    with pytest.raises(ValueError, match="no name of a stored value"):
        Storage(tmp_path).write(name, 1)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_used_is_named(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(UnusableFolder, match="file"):
        Storage(tmp_path / "file")
    (tmp_path / "usage.json").write_text("{")
    with pytest.raises(UnusableFolder, match=r"usage\.json cannot be read"):
        create_app(Settings(state_folder=str(tmp_path)))
    with pytest.raises(UnusableFolder, match="--state-folder"):
        create_app(Settings(suggestions="on"))


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_read_only_folder_is_named(tmp_path):
    tmp_path.chmod(0o500)
    with pytest.raises(UnusableFolder, match="cannot be written to"):
        Storage(tmp_path)


def test_usage_is_saved_given_back_on_failure_and_new_each_month(tmp_path):
    moment = datetime(2030, 1, 31, tzinfo=UTC)
    usage = Usage(Storage(tmp_path), clock=lambda: moment)
    with usage.charging(ACCOUNT, 60):
        assert usage.of(ACCOUNT) == 60
    with pytest.raises(KeyError), usage.charging(ACCOUNT, 30):
        raise KeyError
    with pytest.raises(QuotaExceeded, match="40 of 100 are left"):
        usage.charging(ACCOUNT, 41).__enter__()
    usage.save()
    assert Usage(Storage(tmp_path), clock=lambda: moment).of(ACCOUNT) == 60
    moment = datetime(2030, 2, 1, tzinfo=UTC)
    assert usage.of(ACCOUNT) == 0


def test_glossaries_outlive_a_restart_and_stay_with_their_account(tmp_path):
    glossaries = Glossaries(Storage(tmp_path))
    glossary = glossaries.add(
        ACCOUNT, "g", {("en", "de"): {"rail": "Gleis"}, ("de", "en"): {"Gleis": "rail"}}
    )
    gone = glossaries.add(ACCOUNT, "h", {("en", "de"): {"a": "b"}})
    glossaries.remove(ACCOUNT, gone.id)
    again = Glossaries(Storage(tmp_path))
    assert again.of(ACCOUNT) == [glossary]
    with pytest.raises(NotFound):
        again.get(Account("b", 0, 0), glossary.id)
    with pytest.raises(NotFound):
        again.get(ACCOUNT, f"../{glossary.id}")


def test_glossaries_are_bounded(monkeypatch):
    monkeypatch.setattr("service.glossaries.MAX_GLOSSARIES", 2)
    monkeypatch.setattr("service.glossaries.MAX_CHARACTERS", 10)
    glossaries = Glossaries(Storage(None))
    glossaries.add(ACCOUNT, "a", {("en", "de"): {"rail": "Gleis"}})
    with pytest.raises(TooMuch, match="10 characters"):
        glossaries.add(ACCOUNT, "b", {("en", "de"): {"a": "b"}})
    monkeypatch.setattr("service.glossaries.MAX_CHARACTERS", 100)
    glossaries.add(ACCOUNT, "b", {("en", "de"): {"a": "b"}})
    with pytest.raises(TooMuch, match="2 glossaries"):
        glossaries.add(ACCOUNT, "c", {("en", "de"): {"a": "b"}})
