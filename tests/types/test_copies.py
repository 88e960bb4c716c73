from __future__ import annotations

import copy
import pickle

import pytest

from schema_core.types import (
    DataType,
    DataTypes,
    DistinctType,
    LocalZonedTimestampType,
    MapType,
    RawType,
    StructuredType,
    SymbolType,
    TimestampKind,
    TimestampType,
    UnresolvedType,
    UserDefinedType,
    VarCharType,
    parse_type,
)


class Point(UserDefinedType):
    """A user-defined class."""


TYPES: tuple[DataType, ...] = (
    TimestampType(3, nullable=False, kind=TimestampKind.ROWTIME),
    LocalZonedTimestampType(3, kind=TimestampKind.PROCTIME),
    MapType(TimestampType(3, kind=TimestampKind.ROWTIME), DataTypes.INT()),
    DistinctType(("c", "d", "money"), DataTypes.INT(nullable=False), description="what for"),
    StructuredType(None, [DataTypes.FIELD("a", DataTypes.INT())], path=("c", "d", "row")),
    parse_type("LEGACY('DECIMAL', 'DECIMAL')"),
    RawType("x.Y", None),
    UnresolvedType(("c", "d", "t"), nullable=False),
    SymbolType(),
    VarCharType.empty(),
    DataTypes.LIST_VIEW(DataTypes.INT()),
    DataTypes.MAP_VIEW(DataTypes.INT(), DataTypes.STRING()),
    Point(),
)


@pytest.mark.parametrize("type_", TYPES, ids=repr)
def test_copies_are_equal_in_all_attributes(type_: DataType) -> None:
    twins = (pickle.loads(pickle.dumps(type_)), copy.deepcopy(type_), copy.copy(type_))

    for twin in twins:
        assert (type(type_), type_, repr(type_)) == (type(twin), twin, repr(twin))
        assert type_.as_summary_string() == twin.as_summary_string()
        assert type_.root is twin.root


@pytest.mark.parametrize("kind", [TimestampKind.REGULAR, TimestampKind.ROWTIME])
def test_nullability_does_not_change_the_time_attribute(kind: TimestampKind) -> None:
    type_ = TimestampType(3, kind=kind)

    assert kind is type_.not_null().kind is type_.not_null().nullable().kind
    assert kind is type_.bridged_to("java.time.LocalDateTime").kind
    assert type_ == type_.with_kind(TimestampKind.ROWTIME)
