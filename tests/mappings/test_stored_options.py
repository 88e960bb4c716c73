"""Options that affect how stored rows are read, against the declarations of the connector."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from schema_core.connectors.files.filesystem import FilesystemConnector
from schema_core.mappings.stored_options import (
    OPTIONS,
    WITHOUT_EFFECT,
    find_changed_options,
    option_rule,
)
from schema_core.mappings.stored_types import FILES, READINGS

OPTION_KINDS = {"option-changed", *(kind for kind, _ in OPTIONS.values())}


def changed(old: Mapping[str, str], new: Mapping[str, str]) -> list[tuple[str, str]]:
    return [(finding.kind, finding.path[0]) for finding in find_changed_options(old, new)]


@pytest.mark.parametrize("form", FILES)
def test_every_option_of_files_has_a_rule_and_the_default_of_the_connector(form: str) -> None:
    for option in FilesystemConnector().declared({"format": form}):
        kind, default = option_rule(option.key)

        assert kind != "option-changed", option.key
        if option.default is not None and not option.key.startswith(WITHOUT_EFFECT):
            declared = str(option.default)
            assert declared.lower() == (default or "").lower(), option.key


def test_every_kind_of_option_has_a_meaning() -> None:
    assert READINGS.keys() >= OPTION_KINDS


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ({}, {"csv.header": "false"}, []),
        ({"csv.header": "TRUE"}, {"csv.header": "true"}, []),
        ({}, {"csv.header": "true"}, [("syntax-changed", "csv.header")]),
        ({"csv.quote-character": "'"}, {}, [("syntax-changed", "csv.quote-character")]),
        ({}, {"csv.null-literal": ""}, [("syntax-changed", "csv.null-literal")]),
        ({}, {"value.csv.null-literal": "-"}, [("syntax-changed", "value.csv.null-literal")]),
        ({"path": "/a"}, {"path": "/b"}, [("location-changed", "path")]),
        ({"format": "csv"}, {"format": "json"}, [("format-changed", "format")]),
        (
            {"format": "csv", "csv.field-delimiter": ";"},
            {"format": "json", "json.ignore-parse-errors": "true"},
            [("format-changed", "format")],
        ),
        ({}, {"csv.ignore-parse-errors": "true"}, [("errors-changed", "csv.ignore-parse-errors")]),
        ({}, {"sink.parallelism": "2"}, [("option-without-effect", "sink.parallelism")]),
        ({"topic": "a"}, {"topic": "b"}, [("option-changed", "topic")]),
    ],
)
def test_changed_options(
    old: Mapping[str, str], new: Mapping[str, str], expected: list[tuple[str, str]]
) -> None:
    assert expected == changed(old, new)
    assert expected == changed(new, old)


def test_secrets_have_no_effect_and_are_masked() -> None:
    (finding,) = find_changed_options({"password": "one"}, {"password": "two"})

    assert finding.kind == "option-without-effect"
    assert "one" not in finding.reason
    assert "two" not in finding.reason
