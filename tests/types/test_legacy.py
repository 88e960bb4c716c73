from __future__ import annotations

import pytest

from schema_core.errors import SchemaError
from schema_core.expressions.scope import in_sql
from schema_core.types import DataTypes, TypeRoot, common_type, parse_type
from schema_core.types.legacy import STRING_ARRAY, current_type, read_information
from tests.support import cases, listed


@pytest.mark.parametrize(("text", "expected"), cases("legacy"))
def test_type_information(text: str, expected: str) -> None:
    if expected.startswith("!"):
        with pytest.raises(SchemaError) as caught:
            read_information(text)
        assert expected == f"! {caught.value.code}"
        return
    result = read_information(text)

    assert listed(expected) == [str(result), current_type(result).as_summary_string()]
    assert result == read_information(str(result))


def test_an_array_of_strings_is_a_serialized_object() -> None:
    result = read_information("ROW<a OBJECT_ARRAY<STRING>>")

    assert f"ROW<a ANY<[Ljava.lang.String;, {STRING_ARRAY}>>" == str(result)
    assert "ROW<`a` ARRAY<STRING>>" == current_type(result).as_summary_string()


def test_type_root_is_kept_and_not_null_dropped() -> None:
    type_ = parse_type("LEGACY('DECIMAL', 'DECIMAL') NOT NULL")

    assert TypeRoot.DECIMAL is type_.root
    assert type_.not_null() is type_
    assert "LEGACY('DECIMAL', 'DECIMAL')" == str(type_)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("LEGACY('DECIMAL', 'DECIMAL')",        "DECIMAL(38, 18)"),
        ("LEGACY('INTEGER', 'ROW<a INT>')",     "INT"),
        ("LEGACY('RAW', 'DECIMAL')",            "DECIMAL(38, 18)"),
        ("LEGACY('RAW', 'INT')",                "RAW('java.lang.Integer', ?)"),
        ("LEGACY('RAW', 'OBJECT_ARRAY<INT>')",  "RAW('[Ljava.lang.Integer;', ?)"),
        ("LEGACY('RAW', 'OBJECT_ARRAY<STRING>')", "ARRAY<STRING>"),
        ("LEGACY('STRUCTURED_TYPE', 'ROW<INT>')", "ROW<`f0` INT>"),
        ("ARRAY<LEGACY('DECIMAL', 'DECIMAL')>", "ARRAY<DECIMAL(38, 18)>"),
        ("LEGACY('INTERVAL_DAY_TIME', 'INT')",  "INTERVAL SECOND(3)"),
    ],
)  # fmt: skip
def test_conversion_to_sql_types(text: str, expected: str) -> None:
    assert expected == in_sql(parse_type(text)).as_summary_string()


@pytest.mark.parametrize(
    "text",
    ["LEGACY('DECIMAL', 'INT')", "LEGACY('VARCHAR', 'VARCHAR')", "LEGACY('ROW', 'ROW<INT>')"],
)
def test_type_information_without_a_sql_type(text: str) -> None:
    with pytest.raises(SchemaError) as caught:
        in_sql(parse_type(text))

    assert "type-not-supported" == caught.value.code


def test_unknown_precision_cannot_be_compared() -> None:
    legacy = parse_type("LEGACY('DECIMAL', 'DECIMAL')")

    assert common_type([legacy, DataTypes.STRING()]) is None
    with pytest.raises(SchemaError) as caught:
        common_type([legacy, DataTypes.INT()])
    assert "invalid-type" == caught.value.code
