"""Option values, compared with recorded results of ``Configuration.get`` of Flink 2.3."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from schema_core.environment import options as option_values
from schema_core.environment.config import Configuration, TableConfig
from schema_core.environment.table_api.descriptor import TableDescriptor
from schema_core.errors import SchemaError

PARSERS: dict[str, Callable[[str], Any]] = {
    "duration": option_values.nanoseconds,
    "memory": option_values.memory_size,
    "integer": option_values.integer,
    "long": option_values.long,
    "double": option_values.double,
    "boolean": option_values.boolean,
    "enum": option_values.choice("STREAMING", "BATCH", "AUTOMATIC"),
    "list": option_values.string_list,
    "map": option_values.string_map,
}
#: Kind, string, Flink's answer (None for an error).
ROWS: list[tuple[str, str, Any]] = [
    tuple(json.loads(line))
    for line in (Path(__file__).parents[1] / "cases" / "option_values.jsonl").open()
]
#: Kinds whose values are YAML; values that require a YAML parser are refused.
YAML = ("list", "map")


def parsed(kind: str, text: str) -> Any:
    """Return the parsed value; None if it is refused."""
    try:
        return PARSERS[kind](text)
    except SchemaError as error:
        return None if error.code == "invalid-option-value" else error


@pytest.mark.parametrize(("kind", "text", "answer"), [row for row in ROWS if row[0] not in YAML])
def test_values_are_parsed_as_in_flink(kind: str, text: str, answer: Any) -> None:
    if answer is not None and kind in ("duration", "double"):
        answer = PARSERS[kind](answer)
    ours = parsed(kind, text)

    assert type(answer) is type(ours)
    assert answer == ours or (math.isnan(answer) and math.isnan(ours))


@pytest.mark.parametrize(("kind", "text", "answer"), [row for row in ROWS if row[0] in YAML])
def test_lists_and_maps_are_parsed_as_in_flink_or_refused(
    kind: str, text: str, answer: Any
) -> None:
    assert parsed(kind, text) in (answer, None)


def test_most_recorded_lists_and_maps_are_parsed() -> None:
    rows = [row for row in ROWS if row[0] in YAML and row[2] is not None]
    refused = [text for kind, text, _ in rows if parsed(kind, text) is None]

    assert len(refused) <= len(rows) // 2, refused


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1 h", timedelta(hours=1)),
        ("1h", timedelta(hours=1)),
        ("5", timedelta(milliseconds=5)),
        ("PT1M", timedelta(minutes=1)),
    ],
)
def test_the_retention_of_state(text: str, expected: timedelta) -> None:
    config = TableConfig().set("table.exec.state.ttl", text)

    assert expected == config.get_idle_state_retention()


@pytest.mark.parametrize(
    ("key", "text"),
    [
        ("table.exec.state.ttl", "1 x"),
        ("table.exec.state.ttl", "h"),
        ("table.exec.state.ttl", "9" * 10_000),
        ("table.exec.state.ttl", "9" * 10_000 + " d"),
        ("table.exec.state.ttl", "9223372036854775807 s"),
        ("table.exec.state.ttl", "1 ns"),
        ("table.generated-code.max-length", "two"),
        ("table.generated-code.max-length", "9" * 10_000),
        ("table.generated-code.max-length", "2147483648"),
    ],
)
def test_known_options_are_validated_when_set_and_read(key: str, text: str) -> None:
    with pytest.raises(SchemaError) as caught:
        TableConfig().set(key, text)

    assert caught.value.code == "invalid-option-value"
    unchecked = TableConfig({key: text})
    with pytest.raises(SchemaError) as caught:
        _ = unchecked.get_idle_state_retention(), unchecked.get_max_generated_code_length()
    assert caught.value.code == "invalid-option-value"


def test_typed_options() -> None:
    configuration = Configuration()
    configuration.set_integer("i", -1).set_boolean("b", True).set_float("f", 1e-7)
    configuration.set_float("inf", float("-inf"))

    assert {"i": "-1", "b": "true", "f": "1e-07", "inf": "-Infinity"} == configuration.to_dict()
    assert configuration.get_integer("i", 0) == -1
    assert configuration.get_integer("none", 7) == 7
    assert configuration.get_boolean("b", False) is True
    assert configuration.get_float("f", 0.0) == 1e-7
    configuration.set_bytearray("y", bytearray(b"ab"))
    assert "!!binary |-\n  YWI=" == configuration.to_dict()["y"]
    assert bytearray(b"ab") == configuration.get_bytearray("y", bytearray())
    assert bytearray(b"x") == configuration.get_bytearray("none", bytearray(b"x"))
    with pytest.raises(SchemaError) as not_bytes:
        configuration.get_bytearray("i", bytearray())
    assert "invalid-option-value" == not_bytes.value.code
    assert configuration.get_float("inf", 0.0) == float("-inf")


@pytest.mark.parametrize("get", ["get_integer", "get_boolean", "get_float"])
def test_a_typed_option_of_another_type_is_refused(get: str) -> None:
    configuration = Configuration({"k": "x", "my.password": "hunter2"})

    with pytest.raises(SchemaError) as caught:
        getattr(configuration, get)("k", None)
    assert caught.value.code == "invalid-option-value"
    with pytest.raises(SchemaError) as caught:
        getattr(configuration, get)("my.password", None)
    assert "hunter2" not in str(caught.value)


def test_negative_durations_are_refused() -> None:
    with pytest.raises(SchemaError) as caught:
        TableConfig().set_idle_state_retention(timedelta(milliseconds=-1))
    assert caught.value.code == "invalid-argument"


@pytest.mark.parametrize("kind", PARSERS)
@pytest.mark.parametrize("unit", ["9", "a;", "a:b,", " ", "'", '"', "[a, ", "{a: b, ", "\uff11"])
def test_long_values_are_parsed_in_linear_time(kind: str, unit: str) -> None:
    parsed(kind, unit * 20_000)


@pytest.mark.parametrize("number", [2**31, -(2**31) - 1, 10**5_000], ids=["above", "below", "huge"])
def test_an_integer_of_more_than_32_bits_is_refused(number: int) -> None:
    for call in (
        lambda: Configuration().set_integer("k", number),
        lambda: TableConfig().set_max_generated_code_length(number),
    ):
        with pytest.raises(SchemaError) as caught:
            call()
        assert "invalid-option-value" == caught.value.code


def test_a_value_that_is_not_a_string_is_refused() -> None:
    with pytest.raises(SchemaError) as caught:
        TableDescriptor.for_connector("filesystem").option("k", 10**5_000)

    assert "invalid-argument" == caught.value.code


@pytest.mark.parametrize("key", [5, None, ["k"], b"k"])
@pytest.mark.parametrize(
    "access",
    [
        lambda options, key: options[key],
        lambda options, key: options.get(key),
        lambda options, key: options.pop(key, "v"),
        lambda options, key: options.setdefault(key, "v"),
        lambda options, key: options.update({key: "v"} if key is None else [(key, "v")]),
        lambda options, key: options.remove_config(key),
        lambda options, key: options.__setitem__(key, "v"),
        lambda options, key: options.__delitem__(key),
        lambda options, key: options.__setitem__("k", key),
    ],
)
def test_a_configuration_holds_strings_only(
    access: Callable[[Configuration, Any], object], key: object
) -> None:
    options = Configuration({"k": "v"})

    with pytest.raises(SchemaError) as caught:
        access(options, key)
    assert "invalid-argument" == caught.value.code
    assert key not in options
    assert {"k": "v"} == options.to_dict()


@pytest.mark.parametrize("parser", [bool, int, float])
def test_parsers_of_python_are_refused(parser: type[Any]) -> None:
    """`bool("false")` is True."""
    with pytest.raises(SchemaError, match=r"(?s)parser of option 'a'.*use boolean, integer"):
        option_values.ConfigOption("a", parser)


def page_size(text: str) -> int:
    """Return the rows of a page, as a parser of a connector."""
    if not 1 <= int(text) <= 1000:
        raise ValueError(f"a page has 1 to 1,000 rows, not {text}")
    return int(text)


@pytest.mark.parametrize(
    ("key", "text", "message"),
    [
        ("page-size", "0", "the value '0' is not valid: a page has 1 to 1,000 rows, not 0"),
        ("page-size", "x", "the value 'x' is not valid: invalid literal for int()"),
        ("page.password", "1234", "the value cannot be parsed"),
    ],
)
def test_a_parser_may_raise_errors_of_python(key: str, text: str, message: str) -> None:
    """A secret is in none of them."""
    with pytest.raises(SchemaError, match="^" + re.escape(message)) as caught:
        option_values.ConfigOption(key, page_size).of({key: text})

    assert "invalid-option-value" == caught.value.code
    assert "1234" not in str(caught.value)
