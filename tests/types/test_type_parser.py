from __future__ import annotations

import pytest

from schema_core.base.text import MAX_DEPTH, MAX_DIGITS, MAX_TEXT
from schema_core.errors import ParseError, SchemaCoreError, UnsupportedError
from schema_core.types import (
    DataTypes,
    LegacyType,
    TimestampKind,
    TypeRoot,
    UnresolvedType,
    VarCharType,
    parse_type,
    require_resolved,
)
from tests.support import cases


@pytest.mark.parametrize(("text", "expected"), cases("types"))
def test_type_string(text: str, expected: str) -> None:
    if expected.startswith("!"):
        with pytest.raises(ParseError) as caught:
            parse_type(text)
        assert expected == f"! {caught.value.code}"
    else:
        assert expected == parse_type(text).as_serializable_string()


@pytest.mark.parametrize(
    ("text", "summary"),
    [
        ("STRING NOT NULL",                     "STRING NOT NULL"),
        ("BYTES",                               "BYTES"),
        ("VARCHAR(3)",                          "VARCHAR(3)"),
        ("TIMESTAMP(3) WITH LOCAL TIME ZONE",   "TIMESTAMP_LTZ(3)"),
        ("ROW<a STRING 'note'>",                "ROW<`a` STRING '...'>"),
        ("MAP<STRING, BYTES>",                  "MAP<STRING, BYTES>"),
        ("STRUCTURED<'x.Y', a STRING>",         "STRUCTURED<'x.Y', `a` STRING>"),
        ("RAW('a.B', 'AANhLkI=')",              "RAW('a.B', '...')"),
    ],
)  # fmt: skip
def test_summary(text: str, summary: str) -> None:
    assert summary == parse_type(text).as_summary_string()


def test_time_attributes_are_printed_in_the_summary_only() -> None:
    type_ = DataTypes.TIMESTAMP(3)
    rowtime = type_.with_kind(TimestampKind.ROWTIME)

    assert "TIMESTAMP(3) *ROWTIME*" == rowtime.as_summary_string()
    assert str(type_) == str(rowtime)
    assert type_ == rowtime


@pytest.mark.parametrize(
    ("text", "marked"),
    [
        ("ROW<a DECIMAL(3, 5)>",    "DECIMAL(3, 5)"),
        ("ROW<a INT, b CHAR(0)>",   "CHAR(0)"),
        ("ARRAY<INT> NUL",          "NUL"),
        ("MAP<INT INT>",            "INT"),
        ("TIMESTAMP WITH ZONE",     "ZONE"),
    ],
)  # fmt: skip
def test_error_has_its_position(text: str, marked: str) -> None:
    with pytest.raises(ParseError) as caught:
        parse_type(text)

    span = caught.value.span
    assert span is not None
    assert marked == text[span.start : span.stop]
    assert text == caught.value.text


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("ARRAY<" * MAX_DEPTH + "INT" + ">" * MAX_DEPTH,  "limit-exceeded"),
        ("x" * (MAX_TEXT + 1),                            "limit-exceeded"),
        ("CHAR(" + "1" * (MAX_DIGITS + 1) + ")",          "limit-exceeded"),
    ],
    ids=["deep", "long", "digits"],
)  # fmt: skip
def test_limits_of_type_strings(text: str, code: str) -> None:
    with pytest.raises(ParseError) as caught:
        parse_type(text)

    assert code == caught.value.code


def test_nesting_up_to_the_limit_round_trips() -> None:
    depth = MAX_DEPTH - 1
    text = "ARRAY<" * depth + "INT" + ">" * depth

    assert text == str(parse_type(text))


def test_unresolved_name_is_not_serializable() -> None:
    type_ = parse_type("ARRAY<`my type`.b>")

    assert (UnresolvedType(("my type", "b")),) == type_.children()
    with pytest.raises(UnsupportedError) as unresolved:
        require_resolved(type_)
    with pytest.raises(UnsupportedError) as printed:
        type_.as_serializable_string()
    assert "type-not-found" == unresolved.value.code
    assert "type-not-supported" == printed.value.code


def test_length_zero_is_not_serializable() -> None:
    with pytest.raises(UnsupportedError):
        VarCharType.empty().as_serializable_string()


def test_a_legacy_type_has_the_root_in_its_string() -> None:
    type_ = parse_type("LEGACY('DECIMAL', 'DECIMAL')")

    assert isinstance(type_, LegacyType)
    assert type_.is_(TypeRoot.DECIMAL)


@pytest.mark.parametrize(("text", "hint"), cases("type_hints"))
def test_common_mistakes_have_a_hint(text: str, hint: str) -> None:
    with pytest.raises(SchemaCoreError) as caught:
        DataTypes.of(text)

    assert hint in (caught.value.hint or "")
