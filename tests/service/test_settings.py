"""Settings come from the command line, then the environment, then the defaults, and are checked at once."""

from pathlib import Path

import pytest

from service.settings import Settings, parse_settings


def test_nothing_given_means_the_defaults():
    assert parse_settings([], {}) == Settings()


def test_the_command_line_wins_over_the_environment():
    settings = parse_settings(["--port", "9000"], {"PORT": "7000", "HOST": "0.0.0.0", "MODEL": "runs/tiny"})
    assert (settings.port, settings.host, settings.model) == (9000, "0.0.0.0", Path("runs/tiny"))


def test_every_field_is_an_option_and_a_variable():
    for name in Settings.model_fields:
        value = str(getattr(Settings(), name))
        assert parse_settings([f"--{name.replace('_', '-')}", value], {}) == Settings()
        assert parse_settings([], {name.upper(): value}) == Settings()


def test_an_empty_variable_is_no_variable():
    assert parse_settings([], {"PORT": ""}) == Settings()


@pytest.mark.parametrize(
    ("arguments", "environment", "named"),
    [
        (["--port", "eighty"], {}, ("--port", "'eighty'", "integer")),
        ([], {"PORT": "70000"}, ("PORT", "'70000'", "65535")),
        (["--max-texts", "0"], {}, ("--max-texts", "'0'", "1")),
        (["--log-level", "loud"], {}, ("--log-level", "'loud'", "debug")),
        (["--body-seconds", "nan"], {}, ("--body-seconds", "'nan'")),
    ],
)
def test_a_wrong_value_ends_with_its_name_and_what_is_allowed(arguments, environment, named, capsys):
    with pytest.raises(SystemExit) as caught:
        parse_settings(arguments, environment)
    assert caught.value.code == 2
    message = capsys.readouterr().err
    for part in named:
        assert part in message


def test_help_has_examples_and_every_option(capsys):
    with pytest.raises(SystemExit) as caught:
        parse_settings(["--help"], {})
    assert caught.value.code == 0
    text = capsys.readouterr().out
    assert "examples:" in text
    for name in Settings.model_fields:
        assert f"--{name.replace('_', '-')}" in text
