"""PyFlink's types: recorded names and parameters exist."""

from __future__ import annotations

import inspect
import re
from ast import literal_eval
from pathlib import Path
from typing import Any

import pytest

from schema_core import types
from schema_core.errors import UnsupportedError
from schema_core.schema.resolve import SchemaResolver
from schema_core.schema.unresolved import Schema
from schema_core.types import (
    DataType,
    DataTypes,
    DayTimeIntervalType,
    Resolution,
    UserDefinedType,
    YearMonthIntervalType,
)

LISTED = (Path(__file__).parent / "pyflink_names.txt").read_text(encoding="utf-8")


def recorded() -> list[tuple[str, str]]:
    """Yield each class with each recorded line about it."""
    lines = [line for line in LISTED.splitlines() if line and line[0] != "#"]
    pairs, owner = [], ""
    for line in lines:
        owner = owner if line[0] == " " else line
        pairs.append((owner, line.strip() if line[0] == " " else ""))
    return pairs


def owner_of(path: str) -> object:
    result: object = types
    for name in path.split("."):
        result = getattr(result, name)
    return result


def parameters(text: str) -> list[tuple[str, object]]:
    """Return names and defaults in the format of the list; `...` means no default."""
    pairs = (part.partition("=") for part in re.split(r", ", text) if part)
    return [(name, literal_eval(default) if default else ...) for name, _, default in pairs]


@pytest.mark.parametrize(("path", "line"), recorded())
def test_name(path: str, line: str) -> None:
    owner = owner_of(path)
    kind, name, written = re.fullmatch(
        r"(static |classmethod |property |member |)(\w*)(?:\((.*)\))?", line
    ).groups()  # type: ignore[union-attr]
    if written is None:
        assert not name or hasattr(owner, name)
        return
    result: Any = getattr(owner, name) if name else owner
    taken = [
        parameter
        for parameter in inspect.signature(result).parameters.values()
        if by_position(parameter)
    ]
    if name and kind not in ("static ", "classmethod "):
        taken = taken[1:]  # self

    wanted = parameters(written)
    assert [name for name, _ in wanted] == [str(item).partition(":")[0] for item in taken]
    for (_, default), item in zip(wanted, taken, strict=True):
        given = list(item.default) if isinstance(item.default, tuple) else item.default
        assert default is ... or default == given


def by_position(parameter: inspect.Parameter) -> bool:
    """Parameters that PyFlink does not have are keyword-only."""
    return parameter.kind is not parameter.KEYWORD_ONLY


def test_resolutions() -> None:
    assert "DAY(2)" == str(DataTypes.DAY())
    assert (Resolution.IntervalUnit.HOUR, -1) == (DataTypes.HOUR().unit, DataTypes.HOUR().precision)
    assert "INTERVAL YEAR(3)" == str(DataTypes.INTERVAL(DataTypes.YEAR(3)))
    assert "INTERVAL MINUTE" == str(
        DayTimeIntervalType(DayTimeIntervalType.DayTimeResolution.MINUTE)
    )
    assert 2 == YearMonthIntervalType.DEFAULT_PRECISION


class Point(UserDefinedType):
    @classmethod
    def sql_type(cls) -> DataType:
        return DataTypes.INT()


@pytest.mark.parametrize(
    "type_",
    [
        DataTypes.LIST_VIEW(DataTypes.INT()),
        DataTypes.MAP_VIEW(DataTypes.INT(), DataTypes.STRING()),
        Point(),
    ],
    ids=str,
)
def test_a_python_only_type_is_refused_as_column_type(type_: DataType) -> None:
    schema = Schema.new_builder().column("a", DataTypes.ARRAY(type_)).build()

    with pytest.raises(UnsupportedError) as caught:
        SchemaResolver().resolve(schema)
    assert ("invalid-type", ("column 'a'",)) == (caught.value.code, caught.value.path)
    with pytest.raises(UnsupportedError):
        type_.as_serializable_string()


def test_an_incomplete_user_defined_type_names_the_missing_method() -> None:
    assert ("point", __name__) == (Point.type_name(), Point.module())
    with pytest.raises(UnsupportedError) as caught:
        Point().serialize(1)
    assert "invalid-type" == caught.value.code
