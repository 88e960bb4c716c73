from __future__ import annotations

import pytest

from schema_core.types import (
    CastMode,
    DataType,
    DataTypes,
    DistinctType,
    RowField,
    StructuredType,
    SymbolType,
    TypeRoot,
    parse_type,
    supports_avoiding_cast,
    supports_explicit_cast,
    supports_implicit_cast,
    why_not,
)
from schema_core.types.casts import CASTS
from tests.support import cases, listed

LEVELS = {
    "free": (True, True, True),
    "implicit": (False, True, True),
    "explicit": (False, False, True),
    "never": (False, False, False),
}


def answers(source: DataType, target: DataType) -> tuple[bool, bool, bool]:
    return (
        supports_avoiding_cast(source, target),
        supports_implicit_cast(source, target),
        supports_explicit_cast(source, target),
    )


@pytest.mark.parametrize(("pair", "level"), cases("casts"))
def test_cast(pair: str, level: str) -> None:
    source, target = map(parse_type, listed(pair))

    assert LEVELS[level] == answers(source, target)


def test_every_root_has_a_row() -> None:
    assert set(CASTS) == set(TypeRoot)


class TestDistinct:
    """A distinct type casts as its source does, but never into another distinct type."""

    money = DistinctType(("m",), DataTypes.INT())
    weight = DistinctType(("w",), DataTypes.INT())

    def test_casts_of_a_distinct_type(self) -> None:
        assert supports_implicit_cast(self.money, DataTypes.BIGINT())
        assert supports_implicit_cast(DataTypes.INT(), self.money)
        assert not supports_implicit_cast(DataTypes.BIGINT(), self.money)
        assert supports_explicit_cast(self.money, DataTypes.STRING())

    def test_casts_between_distinct_types(self) -> None:
        assert (True, False, False) == answers(self.money, self.weight)
        assert (True, True, True) == answers(self.money, self.money)


def test_a_registered_structured_type_is_only_itself_or_a_row() -> None:
    fields = [RowField("a", DataTypes.INT())]
    registered = StructuredType("x.Y", fields, path=("c", "d", "y"))

    assert (False, False, False) == answers(registered, StructuredType("x.Y", fields))
    assert (True, True, True) == answers(registered, DataTypes.ROW(fields))


def test_a_symbol_cannot_be_cast() -> None:
    assert (False, False, False) == answers(SymbolType(), DataTypes.STRING())
    assert supports_implicit_cast(SymbolType(nullable=False), SymbolType())


@pytest.mark.parametrize(
    ("source", "target", "mode", "path", "problem"),
    [
        ("INT", "BIGINT NOT NULL", CastMode.IMPLICIT, (), "is nullable, unlike"),
        ("INT", "BIGINT NOT NULL", CastMode.EXPLICIT, None, ""),
        ("ROW<a INT, b DATE>", "ROW<x INT, y INT>", CastMode.EXPLICIT,
            ("field 'b'",), "cannot be cast to"),
        ("MAP<INT, ARRAY<INT>>", "MAP<INT, ARRAY<DATE>>", CastMode.EXPLICIT,
            ("value", "element"), "cannot be cast to"),
        ("ROW<a INT>", "ROW<a INT, b INT>", CastMode.EXPLICIT,
            (), "has a different number of fields than"),
        ("INTERVAL DAY TO HOUR", "INT", CastMode.EXPLICIT,
            (), "requires a single interval field to be cast to"),
    ],
)  # fmt: skip
def test_why_not(
    source: str, target: str, mode: CastMode, path: tuple[str, ...] | None, problem: str
) -> None:
    result = why_not(parse_type(source), parse_type(target), mode)

    assert (path, problem) == ((result.path, result.problem) if result else (None, ""))
