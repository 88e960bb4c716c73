"""Planners and connectors: discovery by entry point, errors, and validation of options."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from schema_core.base.paths import ObjectIdentifier
from schema_core.base.plugins import Entry, discover, require
from schema_core.base.secrets import HIDDEN, mask, mask_text
from schema_core.environment import connector as connectors
from schema_core.environment.connector import Ability, find_connector, using, validate
from schema_core.environment.options import ConfigOption, integer
from schema_core.errors import NotFoundError, SchemaError
from schema_core.types import DataType

GROUP = "schema_core.planners"


def entry(name: str, target: str) -> Entry:
    return Entry(name, target, "toy 1.0")


def test_built_in_implementations_are_found() -> None:
    assert ["spark"] == [result.identifier for result in discover(GROUP)]
    connectors = {result.identifier for result in discover("schema_core.connectors")}
    assert {"blackhole", "datagen", "filesystem", "print"} <= connectors
    assert {None} == {
        result.problem for group in (GROUP, "schema_core.connectors") for result in discover(group)
    }


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ("no_such_module:X", "the module 'no_such_module' is not installed"),
        ("schema_core.errors:NoSuchName", "AttributeError: module 'schema_core.errors' has no"),
    ],
)
def test_an_entry_point_that_fails_to_load_reports_the_reason(value: str, problem: str) -> None:
    entries = [entry("x", value)]
    (result,) = discover(GROUP, entries)
    with pytest.raises(NotFoundError) as caught:
        require(GROUP, "x", entries)

    assert (result.problem or "").startswith(problem)
    assert "not-loadable" == caught.value.code


def test_an_unknown_identifier_lists_the_available_ones() -> None:
    entries = [entry("spark", "builtins:int"), entry("arrow", "builtins:int")]
    with pytest.raises(NotFoundError) as caught:
        require(GROUP, "Spark", entries)

    assert "no planner 'Spark' is installed" == caught.value.problem
    assert ("factory-not-found", "did you mean 'spark'?") == (caught.value.code, caught.value.hint)


def test_the_hint_lists_the_identifiers_if_none_is_similar() -> None:
    entries = [entry("spark", "builtins:int"), entry("arrow", "builtins:int")]
    with pytest.raises(NotFoundError) as caught:
        require(GROUP, "xyz", entries)

    assert caught.value.hint == "use one of arrow, spark"


def test_duplicate_identifiers_are_refused() -> None:
    entries = [entry("x", "builtins:str"), entry("x", "builtins:int")]
    with pytest.raises(SchemaError) as caught:
        require(GROUP, "x", entries)

    assert (
        "several packages provide the planner 'x': builtins:int, builtins:str"
        == caught.value.problem
    )


class Queue:
    """A connector with one option of each kind."""

    identifier = "queue"
    can_read = can_write = True
    abilities: frozenset[Ability] = frozenset()
    metadata: Mapping[str, DataType] = {}
    writable_metadata: frozenset[str] = frozenset()

    def declared(self, options: Mapping[str, str]) -> Sequence[ConfigOption[Any]]:
        return (
            ConfigOption("topic", str, required=True, deprecated_keys=("queue.topic",)),
            ConfigOption("size", integer, 1),
            ConfigOption("properties", str, is_map=True, deprecated_keys=("settings",)),
            ConfigOption("fields.#.kind", str, required=True),
        )


@pytest.mark.parametrize(
    "options",
    [
        {"topic": "t"},
        {"topic": "t", "size": "2", "properties.a.b": "c", "connector": "queue"},
        {"topic": "t", "scan.watermark.idle-timeout": "1 min"},
    ],
)
def test_valid_options_are_accepted(options: dict[str, str]) -> None:
    validate(Queue(), options)


def test_a_deprecated_key_suggests_its_replacement() -> None:
    with pytest.warns(DeprecationWarning, match="'queue.topic' is deprecated: use 'topic'"):
        validate(Queue(), {"queue.topic": "t"})
    with pytest.warns(DeprecationWarning, match=r"'settings\.a\.b' .*: use 'properties\.a\.b'"):
        validate(Queue(), {"topic": "t", "settings.a.b": "c"})


@pytest.mark.parametrize(
    ("options", "codes"),
    [
        ({}, ["missing-option"]),
        ({"topic": "t", "size": "big"}, ["invalid-option-value"]),
        ({"topic": "t", "sise": "1"}, ["unknown-option"]),
        ({"topic": "t", "properties": "a:b"}, ["unknown-option"]),
        ({"topic": "t", "scan.watermark.alignment.group": "g"}, ["conflicting-options"]),
        ({"size": "x", "more": "y"}, ["missing-option", "invalid-option-value", "unknown-option"]),
    ],
)
def test_all_option_errors_are_reported(options: dict[str, str], codes: list[str]) -> None:
    with pytest.raises(SchemaError) as caught:
        validate(Queue(), options)

    assert codes == [diagnostic.code for diagnostic in caught.value.diagnostics]


def test_a_table_without_connector() -> None:
    with pytest.raises(SchemaError) as caught:
        find_connector({"path": "x"})

    assert "missing-connector" == caught.value.code


def test_errors_name_the_table_and_mask_secrets() -> None:
    options = {"password": "hunter2", "connector": "queue"}
    with (
        pytest.raises(SchemaError) as caught,
        using(ObjectIdentifier.of("c", "d", "t"), options, "read"),
    ):
        raise SchemaError("bad")

    assert ("read table c.d.t",) == caught.value.path
    assert "the table's options are 'connector', 'password'" == caught.value.hint


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("scan.watermark.emit.strategy", "on_event"),
        ("scan.watermark.alignment.update-interval", "1 x"),
        ("scan.watermark.idle-timeout", "soon"),
    ],
)
def test_options_of_watermarks_are_read(key: str, value: str) -> None:
    right = "ON-EVENT" if key.endswith("strategy") else "1 h"
    validate(Queue(), {"topic": "t", key: right})
    with pytest.raises(SchemaError) as caught:
        validate(Queue(), {"topic": "t", key: value})

    assert caught.value.code == "invalid-option-value"
    assert caught.value.path == (f"option {key!r}",)


class Vault(Queue):
    """A connector whose map of headers is secret."""

    identifier = "vault"

    def declared(self, options: Mapping[str, str]) -> Sequence[ConfigOption[Any]]:
        return (ConfigOption("locks", str, is_map=True, secret=True),)


def test_all_keys_of_a_secret_map_are_masked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connectors, "find_connector", lambda _: Vault())
    options = {"connector": "vault", "locks.front.number": "8361", "size": "2"}

    masked = mask(options, connectors.secret_keys(options))

    assert {"connector": "vault", "locks.front.number": HIDDEN, "size": "2"} == masked
    assert "8361" not in mask_text("CREATE TABLE t (a INT) WITH ('locks.front' = '8361')")
