from __future__ import annotations

import copy
import pickle
from array import array
from collections import Counter
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any, NamedTuple

import pytest

from schema_core.errors import SchemaError
from schema_core.types import (
    DataTypes,
    DistinctType,
    Row,
    RowKind,
    accepts,
    parse_type,
    reject_reason,
)
from schema_core.types.base import TAKES
from tests.support import cases


@dataclass
class Point:
    a: int
    b: Any


@dataclass(slots=True)
class Slotted:
    a: int
    b: Any


class Named(NamedTuple):
    a: int
    b: Any


KNOWN: dict[str, object] = {
    item.__name__: item
    for item in (
        array, Counter, date, datetime, time, timedelta, Decimal, Row, Point, Slotted, Named, float,
        bytearray,
    )
}  # fmt: skip


@pytest.mark.parametrize(("given", "expected"), cases("values"))
def test_value(given: str, expected: str) -> None:
    text, _, spelled = given.partition(" | ")
    type_, value = parse_type(text), eval(spelled, {**KNOWN, "__builtins__": {}})

    result = reject_reason(type_, value)

    assert expected == ("yes" if result is None else str(result))
    assert accepts(type_, value) == type_.accepts(value) == (result is None)


def test_a_distinct_type_accepts_values_of_its_source_type() -> None:
    money = DistinctType(("money",), DataTypes.TINYINT(nullable=False))

    assert money.accepts(1)
    assert not money.accepts(None)
    assert "300 is outside -128..127" == str(reject_reason(money, 300))


def test_types_without_python_values() -> None:
    """A new type requires a row, or an entry here."""
    from schema_core import types

    concrete = {
        item
        for item in (getattr(types, name) for name in types.__all__)
        if isinstance(item, type) and "root" in vars(item)
    }
    assert {
        "BitmapType", "DescriptorType", "LegacyType", "NullType", "RawType", "SymbolType",
        "UnresolvedType",
    } == {kind.__name__ for kind in concrete - set(TAKES)}  # fmt: skip


class TestRow:
    def test_names_and_positions(self) -> None:
        row = Row(name="Alice", age=11)

        assert ("Alice", 11, "Alice", ["Alice", 11]) == (row["name"], row.age, row[0], row[0:2])
        assert {"name": "Alice", "age": 11} == row.as_dict()
        assert [11, "Alice"] == row.get_fields_by_names(["age", "name"])
        assert ("Alice" in row, "name" in row, len(row)) == (False, True, 2)
        assert 11 in Row("Alice", 11)
        assert "Row(name='Alice', age=11)" == repr(row)

    def test_nested_rows_become_dictionaries(self) -> None:
        row = Row(key=1, value=[Row(a=1)], more={"b": Row(c=2)})

        assert {"key": 1, "value": [{"a": 1}], "more": {"b": {"c": 2}}} == row.as_dict(True)
        assert [Row(a=1)] == row.as_dict()["value"]

    def test_a_row_of_names_is_a_row_factory(self) -> None:
        person = Row("name", "age")

        assert {"name": "Bob", "age": 1} == person("Bob", 1).as_dict()
        with pytest.raises(SchemaError) as caught:
            person(1, 2, 3)
        assert "invalid-data" == caught.value.code

    def test_row_can_be_modified(self) -> None:
        row = Row.of_kind(RowKind.UPDATE_AFTER, 1, 2)
        row.set_field_names(["a", "b"])
        row["a"] = 5
        row.set_row_kind(RowKind.DELETE)

        assert (RowKind.DELETE, [5, 2]) == (row.get_row_kind(), list(row))
        with pytest.raises(AttributeError):
            row.a = 6

    def test_row_equality_includes_kind_and_names(self) -> None:
        assert Row(1, 2) == Row(1, 2)
        assert Row(1) != Row(a=1)
        assert Row(1) != Row.of_kind(RowKind.DELETE, 1)
        assert Row(1) != (1,)
        assert hash(Row(1, 2)) == hash(Row(1, 2))

    @pytest.mark.parametrize("row", [Row(1, [2]), Row(a=1, b=None), Row("a")(1)])
    def test_row_can_be_copied_and_pickled(self, row: Row) -> None:
        for twin in (pickle.loads(pickle.dumps(row)), copy.deepcopy(row), copy.copy(row)):
            assert row == twin
            assert row.is_named == twin.is_named

    def test_refused_values(self) -> None:
        with pytest.raises(SchemaError) as both:
            Row(1, a=2)
        with pytest.raises(SchemaError) as unnamed:
            Row(1).as_dict()
        with pytest.raises(SchemaError) as missing:
            Row(amount=1)["amuont"]
        assert ("invalid-data", "unknown-field", "unknown-field") == tuple(
            item.value.code for item in (both, unnamed, missing)
        )
        assert "did you mean 'amount'?" == missing.value.hint
        with pytest.raises(AttributeError):
            Row(amount=1).other  # noqa: B018
