"""Resolved schemas: columns and their copies, rows, positions of keys, printed forms."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from schema_core.errors import SchemaError
from schema_core.schema.resolve import SchemaResolver
from schema_core.schema.resolved import (
    Column,
    ComputedColumn,
    Constraint,
    ImmutableColumns,
    Index,
    ResolvedSchema,
    UniqueConstraint,
    WatermarkSpec,
)
from schema_core.schema.unresolved import Schema
from schema_core.types import DataTypes

RESOLVED = SchemaResolver().resolve(
    Schema.new_builder()
    .column_by_expression("total", "price * 2")
    .with_comment("computed")
    .column("ts", "TIMESTAMP(3)")
    .column("price", "DECIMAL(10, 2) NOT NULL")
    .column_by_metadata("offset", "BIGINT", None, True)
    .column_by_metadata("when", "TIMESTAMP_LTZ(3)", "timestamp")
    .column("id", "INT NOT NULL")
    .watermark("ts", "ts - INTERVAL '5' SECOND")
    .primary_key("id", "price")
    .index("when")
    .immutable_columns("price")
    .build()
)

PRINTED = """\
(
  `total` DECIMAL(21, 2) NOT NULL AS price * 2 COMMENT 'computed',
  `ts` TIMESTAMP(3) *ROWTIME*,
  `price` DECIMAL(10, 2) NOT NULL,
  `offset` BIGINT METADATA VIRTUAL,
  `when` TIMESTAMP_LTZ(3) METADATA FROM 'timestamp',
  `id` INT NOT NULL,
  WATERMARK FOR `ts`: TIMESTAMP(3) AS ts - INTERVAL '5' SECOND,
  CONSTRAINT `PK_id_price` PRIMARY KEY (`id`, `price`) NOT ENFORCED,
  INDEX `INDEX_when` (`when`),
  CONSTRAINT `IMMUTABLE_COLUMNS_price` COLUMNS (`price`) IMMUTABLE NOT ENFORCED
)"""


def test_every_member_is_printed() -> None:
    assert PRINTED == str(RESOLVED)


def test_row_types_are_not_null_without_time_attributes() -> None:
    source = RESOLVED.to_source_row_data_type()

    assert RESOLVED.get_column_names() == source.field_names()
    assert not source.is_nullable
    assert "TIMESTAMP(3)" == source["ts"].data_type.as_summary_string()


def test_row_types_of_physical_and_persisted_columns() -> None:
    physical = RESOLVED.to_physical_row_data_type()
    written = RESOLVED.to_sink_row_data_type()

    assert ["ts", "price", "id"] == physical.field_names()
    assert ["ts", "price", "when", "id"] == written.field_names()
    assert written == RESOLVED.to_persisted_row_data_type()
    assert RESOLVED.to_row_data_type() == RESOLVED.to_source_row_data_type()


def test_primary_key_indexes_are_positions_of_physical_columns() -> None:
    assert [2, 1] == RESOLVED.get_primary_key_indexes()
    assert [1] == RESOLVED.get_immutable_column_indexes()
    assert [] == ResolvedSchema().get_primary_key_indexes()


@pytest.mark.parametrize(
    ("key", "name"),
    [(0, "total"), (5, "id"), (6, None), (-1, None), ("price", "price"), ("PRICE", None)],
)
def test_column_by_position_or_name(key: int | str, name: str | None) -> None:
    column = RESOLVED.get_column(key)

    assert name == (column and column.name)


def test_with_methods_return_new_columns() -> None:
    column = Column.metadata("ts", DataTypes.TIMESTAMP(3), "k", False).with_comment("it's")
    changed = column.rename("t").copy(DataTypes.INT(nullable=False)).with_comment(None)

    assert "`t` INT NOT NULL METADATA FROM 'k' COMMENT 'it''s'" == str(changed)
    assert "`ts` TIMESTAMP(3) METADATA FROM 'k' COMMENT 'it''s'" == str(column)


def test_metadata_key_defaults_to_the_column_name() -> None:
    column = Column.metadata("a", DataTypes.INT(), None, False)

    assert "a" == column.key
    assert "b" == column.rename("b").key


def test_constraints_have_a_type() -> None:
    key = UniqueConstraint.primary_key("pk", ["a"])
    immutable = ImmutableColumns.of("im", ["a"])

    assert (Constraint.ConstraintType.PRIMARY_KEY, False) == (key.get_type(), key.is_enforced())
    assert "PRIMARY KEY" == key.get_type_string()
    assert Constraint.ConstraintType.IMMUTABLE_COLUMNS is immutable.get_type()


def test_immutable_columns_require_a_primary_key() -> None:
    with pytest.raises(SchemaError) as caught:
        ResolvedSchema(immutable_columns=ImmutableColumns.of("im", ["a"]))

    assert "invalid-constraint" == caught.value.code


def test_names_and_types_must_have_equal_lengths() -> None:
    with pytest.raises(SchemaError) as caught:
        ResolvedSchema.physical(["a"], [])

    assert "column-count-mismatch" == caught.value.code


TS = RESOLVED.watermark_specs[0].watermark_expression


def untyped(thing: object) -> Any:
    """Call without type hints, as a caller without a type checker."""
    return thing


@pytest.mark.parametrize(
    ("code", "write"),
    [
        ("invalid-argument",     lambda: untyped(Column).physical("a", "INT")),
        ("invalid-argument",     lambda: untyped(ResolvedSchema).physical(["a"], ["INT"])),
        ("invalid-argument",     lambda: untyped(Column).metadata("a", None, None, False)),
        ("invalid-argument", lambda: untyped(Column).physical(None, DataTypes.INT())),
        ("invalid-argument", lambda: untyped(Column).computed("a", "b + 1")),
        ("invalid-argument", lambda: untyped(Column).metadata("a", DataTypes.INT(), 3, False)),
        ("invalid-argument", lambda: untyped(Column).metadata("a", DataTypes.INT(), None, None)),
        ("invalid-argument", lambda: untyped(UniqueConstraint).primary_key("pk", "ab")),
        ("invalid-argument", lambda: untyped(UniqueConstraint).primary_key(None, ["a"])),
        ("invalid-argument", lambda: untyped(WatermarkSpec).of("ts", "ts")),
        ("invalid-argument", lambda: untyped(WatermarkSpec).of(None, TS)),
        ("invalid-argument", lambda: untyped(Index).of("i", "ab")),
        ("invalid-argument", lambda: untyped(Index).of(None, ["a"])),
        ("invalid-argument", lambda: untyped(ImmutableColumns).of("i", [None])),
        ("invalid-argument", lambda: untyped(ResolvedSchema)("a")),
        ("invalid-argument", lambda: untyped(ResolvedSchema)(["a"])),
        ("invalid-argument", lambda: untyped(ResolvedSchema)([], ["a"])),
        ("invalid-argument", lambda: untyped(ResolvedSchema)([], [], "a")),
        ("invalid-argument", lambda: untyped(ResolvedSchema).physical(None, [])),
        ("invalid-argument", lambda: untyped(ResolvedSchema()).get_column(1.5)),
        ("invalid-argument", lambda: untyped(SchemaResolver()).resolve(Schema.new_builder())),
        ("invalid-argument", lambda: untyped(SchemaResolver()).resolve(None)),
    ],
)  # fmt: skip
def test_wrong_arguments_are_reported(code: str, write: Callable[[], object]) -> None:
    with pytest.raises(SchemaError) as caught:
        write()

    assert code == caught.value.code


def test_primary_key_of_a_computed_column_has_no_index() -> None:
    """Flink returns [-1, 0, -1]; such a schema can only be constructed manually."""
    schema = ResolvedSchema(
        [
            Column.metadata("m", DataTypes.INT(), None, False),
            Column.physical("a", DataTypes.INT()),
            Column.physical("a", DataTypes.STRING()),
        ],
        [],
        UniqueConstraint.primary_key("k", ["m", "a", "zz"]),
    )

    assert [-1, 0, -1] == schema.get_primary_key_indexes()


def test_a_key_of_no_columns_is_printed_as_in_flink() -> None:
    key = UniqueConstraint.primary_key("A", [])

    assert "CONSTRAINT `A` PRIMARY KEY () NOT ENFORCED" == str(key)


def test_none_means_no_members_as_in_pyflink() -> None:
    assert ResolvedSchema() == ResolvedSchema(None, None, None)


def test_the_sql_of_an_expression_is_printed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    written = Schema.new_builder().column("a", "INT").column_by_expression("b", "a + 1").build()
    column = SchemaResolver().resolve(written).columns[1]
    assert isinstance(column, ComputedColumn)
    other = replace(column.expression)
    assert "`a` + 1" == column.expression.as_serializable_string()

    monkeypatch.setattr("schema_core.schema.columns.to_sql", None)

    assert "`a` + 1" == column.expression.as_serializable_string()
    assert column.expression == other == pickle.loads(pickle.dumps(column.expression))
