"""Types in statements and casts."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from schema_core.base.cursor import Cursor
from schema_core.base.text import MAX_DEPTH
from schema_core.errors import SchemaError
from schema_core.sql.parser import parse_statement
from schema_core.sql.printer import print_type
from schema_core.sql.statement_syntax import CreateTable
from schema_core.sql.syntax import TypeName
from schema_core.sql.tokens import cursor_over, expect_end
from schema_core.sql.type_name import cast_target, data_type, type_name, type_name_of
from schema_core.types import CharType, UnresolvedType, parse_type
from tests.support import cases, listed


def meaning(read: Callable[[Cursor], TypeName], text: str, *, as_cast: bool) -> str:
    """The type string, or ``!`` for a refused type."""
    cursor = cursor_over(text)
    try:
        written = read(cursor)
        expect_end(cursor)
        return str(data_type(written, as_cast=as_cast))
    except SchemaError:
        return "!"


@pytest.mark.parametrize(("text", "expected"), cases("sql_types"))
def test_data_type_of_a_type_name(text: str, expected: str) -> None:
    column = meaning(type_name, text, as_cast=False)
    cast = meaning(cast_target, text, as_cast=True)

    assert listed(expected) == [column, cast]


def test_unknown_type_name_is_unresolved() -> None:
    written = type_name(cursor_over("a.`INT`"))

    assert UnresolvedType(("a", "INT")) == data_type(written, as_cast=False)


def test_length_zero_is_valid_in_a_cast() -> None:
    assert CharType.empty(nullable=True) == data_type(
        cast_target(cursor_over("CHAR(0)")), as_cast=True
    )


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("INT",                     "INTEGER"),
        ("DEC(5,1)",                "DECIMAL(5, 1)"),
        ("CHAR VARYING(3) ARRAY",   "VARCHAR(3) ARRAY"),
        ("ARRAY<INT NOT NULL>",     "ARRAY< INTEGER NOT NULL >"),
        ("MAP<INT NOT NULL, INT>",  "MAP< INTEGER NOT NULL, INTEGER >"),
        ("ROW<a INT NOT NULL 'c'>", "ROW< `a` INTEGER NOT NULL 'c' >"),
        ("ROW(a ROW())",            "ROW(`a` ROW())"),
        ("ROW<>",                   "ROW<>"),
        ("TIMESTAMP(3) WITH LOCAL TIME ZONE", "TIMESTAMP(3) WITH LOCAL TIME ZONE"),
        ("TIME(3) WITHOUT TIME ZONE", "TIME(3)"),
        ("STRUCTURED<'a', b INT>",  "STRUCTURED< 'a', `b` INTEGER >"),
        ("RAW('a', 'b')",           "RAW('a', 'b')"),
        ("INTERVAL DAYS",           "INTERVAL DAY"),
        ("a.`b c`",                 "`a`.`b c`"),
    ],
)  # fmt: skip
def test_printed(text: str, printed: str) -> None:
    assert printed == print_type(cast_target(cursor_over(text)))


@pytest.mark.parametrize(
    ("text", "spelled"),
    [
        ("INT NOT NULL",                 "INTEGER"),
        ("STRING",                       "VARCHAR(2147483647) CHARACTER SET `UTF-16LE`"),
        ("ARRAY<ARRAY<CHAR(3)>>",        "CHAR(3) CHARACTER SET `UTF-16LE` ARRAY ARRAY"),
        ("MULTISET<INT NOT NULL>",       "INTEGER MULTISET"),
        ("MAP<INT, ARRAY<DECIMAL(5, 2)>>", "MAP< INTEGER, DECIMAL(5, 2) ARRAY >"),
        ("ROW<a INT NOT NULL, `b c` DATE>", "ROW(`a` INTEGER NOT NULL, `b c` DATE)"),
        ("TIMESTAMP_LTZ(3)",             "TIMESTAMP(3) WITH LOCAL TIME ZONE"),
        ("TIME",                         "TIME(0)"),
    ],
)  # fmt: skip
def test_spelling_of_implicit_casts(text: str, spelled: str) -> None:
    assert spelled == print_type(type_name_of(parse_type(text)))


@pytest.mark.parametrize(
    "text", ["INTERVAL DAY", "ARRAY<VARIANT>", "BITMAP", "ROW<a STRUCTURED<'a.B', b INT>>"]
)
def test_types_without_a_spelling(text: str) -> None:
    with pytest.raises(SchemaError) as caught:
        type_name_of(parse_type(text))

    assert "not-in-sql" == caught.value.code


def test_each_column_has_its_own_depth() -> None:
    columns = ", ".join(f"c{place} INT ARRAY" for place in range(MAX_DEPTH + 1))

    statement = parse_statement(f"CREATE TABLE t ({columns})")

    assert isinstance(statement, CreateTable)
    assert MAX_DEPTH + 1 == len(statement.elements.columns)
