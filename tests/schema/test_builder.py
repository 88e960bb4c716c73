"""The schema builder: printed form, immediate errors, equality."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from schema_core.errors import SchemaError
from schema_core.schema.unresolved import Schema, SchemaBuilder
from schema_core.types import DataTypes


def everything() -> SchemaBuilder:
    return (
        Schema.new_builder()
        .column("id", "BIGINT NOT NULL")
        .with_comment("the 'id'")
        .column("nm", DataTypes.STRING())
        .column_by_expression("up", "UPPER(nm)")
        .column_by_metadata("off", "BIGINT", "offset", True)
        .column_by_metadata("part", DataTypes.INT())
        .column("ts", "TIMESTAMP(3)")
        .watermark("ts", "ts - INTERVAL '5' SECOND")
        .primary_key("id", "nm")
        .index_named("by`nm", "nm")
        .immutable_columns("nm")
    )


PRINTED = """\
(
  `id` [BIGINT NOT NULL] COMMENT 'the ''id''',
  `nm` STRING,
  `up` AS [UPPER(nm)],
  `off` [BIGINT] METADATA FROM 'offset' VIRTUAL,
  `part` INT METADATA,
  `ts` [TIMESTAMP(3)],
  WATERMARK FOR `ts` AS [ts - INTERVAL '5' SECOND],
  CONSTRAINT `PK_id_nm` PRIMARY KEY (`id`, `nm`) NOT ENFORCED,
  INDEX `by``nm` (`nm`),
  CONSTRAINT `IMMUTABLE_COLUMNS_nm` COLUMNS (`nm`) IMMUTABLE NOT ENFORCED
)"""


def test_every_member_is_printed() -> None:
    assert PRINTED == str(everything().build())


def test_schema_without_members() -> None:
    assert "(\n\n)" == str(Schema.derived())
    assert Schema.derived() == Schema.new_builder().build()


def test_built_schema_does_not_follow_its_builder() -> None:
    builder = Schema.new_builder().column("a", "INT")
    built = builder.build()
    builder.column("b", "INT").with_comment("late")

    assert "(\n  `a` [INT]\n)" == str(built)


def test_schemas_are_appended_to_each_other() -> None:
    first = Schema.new_builder().column("a", "INT").primary_key("a").build()
    second = Schema.new_builder().column("a", "STRING").watermark("t", "t").index("a").build()

    both = Schema.new_builder().from_schema(first).from_schema(second).build()

    assert (first.columns + second.columns) == both.columns
    assert first.primary_key == both.primary_key
    assert second.watermark_specs == both.watermark_specs
    assert second.indexes == both.indexes


def test_fields_of_a_row_become_columns_without_their_comments() -> None:
    row = DataTypes.ROW([DataTypes.FIELD("a", DataTypes.INT(), "lost"), DataTypes.STRING()])

    schema = Schema.new_builder().from_row_data_type(row).build()

    assert "(\n  `a` INT,\n  `f1` STRING\n)" == str(schema)


@pytest.mark.parametrize(
    ("code", "write"),
    [
        ("invalid-state",                lambda b: b.with_comment("of nothing")),
        ("already-declared",       lambda b: b.primary_key("a").primary_key("a")),
        ("invalid-name",               lambda b: b.primary_key_named(" ", "a")),
        ("invalid-constraint",           lambda b: b.primary_key()),
        ("invalid-constraint",           lambda b: b.index()),
        ("already-declared", lambda b: b.immutable_columns("a").immutable_columns("b")),
        ("invalid-name",               lambda b: b.immutable_columns_named("", "a")),
        ("invalid-constraint",           lambda b: b.immutable_columns_named("n")),
        ("column-count-mismatch",          lambda b: b.from_fields(["a"], [])),
        ("invalid-argument",                lambda b: b.from_row_data_type(DataTypes.INT())),
        ("invalid-argument",               lambda b: b.column("a", 3)),
        ("invalid-argument",        lambda b: b.column_by_expression("a", 3)),
        ("invalid-argument",        lambda b: b.watermark("a", None)),
        ("invalid-argument",                lambda b: b.from_row_data_type(None)),
        ("invalid-argument",               lambda b: b.from_fields(["a"], [int])),
        ("invalid-argument",           lambda b: b.column(3, "INT")),
        ("invalid-argument",           lambda b: b.column(None, "INT")),
        ("invalid-argument",           lambda b: b.column_by_expression(None, "1")),
        ("invalid-argument",           lambda b: b.column_by_metadata(b"m", "INT")),
        ("invalid-argument",           lambda b: b.column_by_metadata("m", "INT", True)),
        ("invalid-argument",           lambda b: b.column_by_metadata("m", "INT", "k", "yes")),
        ("invalid-argument",           lambda b: b.column("a", "INT").with_comment(3)),
        ("invalid-argument",           lambda b: b.watermark(None, "ts")),
        ("invalid-argument",           lambda b: b.primary_key(["a"])),
        ("invalid-argument",           lambda b: b.primary_key(None)),
        ("invalid-argument",           lambda b: b.primary_key_named(None, "a")),
        ("invalid-argument",           lambda b: b.primary_key_named("pk", ["a"])),
        ("invalid-argument",           lambda b: b.index(("a", "b"))),
        ("invalid-argument",           lambda b: b.index_named(7, "a")),
        ("invalid-argument",           lambda b: b.immutable_columns({"a"})),
        ("invalid-argument",           lambda b: b.immutable_columns_named(None, "a")),
        ("invalid-argument",           lambda b: b.from_fields("ab", ["INT", "INT"])),
        ("invalid-argument",           lambda b: b.from_fields(None, ["INT"])),
        ("invalid-argument",           lambda b: b.from_schema(b)),
        ("invalid-argument",           lambda b: b.from_resolved_schema(Schema())),
        ("invalid-argument",           lambda b: b.from_columns(None)),
        ("invalid-argument",           lambda b: b.from_columns(["a"])),
    ],
)  # fmt: skip
def test_invalid_calls_are_refused_immediately(
    code: str, write: Callable[[SchemaBuilder], object]
) -> None:
    with pytest.raises(SchemaError) as caught:
        write(Schema.new_builder())

    assert code == caught.value.code


def test_wrong_argument_has_a_hint() -> None:
    with pytest.raises(SchemaError) as caught:
        Schema.new_builder().primary_key(["a", "b"])  # type: ignore[arg-type]

    assert "a column of the primary key must be a string, got list" == caught.value.problem
    assert "unpack the list: *names" == caught.value.hint


def test_wrong_argument_changes_nothing() -> None:
    builder = Schema.new_builder().column("a", "INT")
    before = builder.build()
    attempts: tuple[Callable[[], object], ...] = (
        lambda: builder.from_columns([before.columns[0], 3]),  # type: ignore[list-item]
        lambda: builder.primary_key("a", None),  # type: ignore[arg-type]
        lambda: builder.with_comment(3),  # type: ignore[arg-type]
    )
    for write in attempts:
        with pytest.raises(SchemaError):
            write()

    assert before == builder.build()


@pytest.mark.parametrize(
    "write",
    [
        lambda b: b.column("a", "nonsense"),
        lambda b: b.column("a", "INT").column("a", "INT"),
        lambda b: b.column_by_expression("a", "nonsense ("),
        lambda b: b.primary_key("nowhere"),
        lambda b: b.watermark("nowhere", "t").watermark("nowhere", "t"),
        lambda b: b.index_named("", "a").index_named("", "a"),
    ],
)
def test_semantic_errors_are_raised_by_the_resolver_only(
    write: Callable[[SchemaBuilder], SchemaBuilder],
) -> None:
    write(Schema.new_builder()).build()


@pytest.mark.parametrize(
    ("one", "other", "equal"),
    [
        (lambda b: b.column("a", "INT"), lambda b: b.column("a", "INT"), True),
        (lambda b: b.column("a", "INT"), lambda b: b.column("a", "int"), False),
        (lambda b: b.column("a", "INT"), lambda b: b.column("a", DataTypes.INT()), False),
        (lambda b: b.column("a", "INT"), lambda b: b.column("a", "INT").with_comment(""), False),
        (
            lambda b: b.column_by_metadata("m", "INT"),
            lambda b: b.column_by_metadata("m", "INT", "m"),
            False,
        ),
        (
            lambda b: b.column_by_expression("c", "a+1"),
            lambda b: b.column_by_expression("c", "a + 1"),
            False,
        ),
        (lambda b: b.primary_key("a"), lambda b: b.primary_key_named("PK_a", "a"), True),
        (lambda b: b.index("a", "b"), lambda b: b.index("b", "a"), False),
    ],
)
def test_equal_declarations_are_equal(
    one: Callable[[SchemaBuilder], SchemaBuilder],
    other: Callable[[SchemaBuilder], SchemaBuilder],
    equal: bool,
) -> None:
    left, right = one(Schema.new_builder()).build(), other(Schema.new_builder()).build()

    assert equal == (left == right)
    assert not equal or hash(left) == hash(right)


def untyped(thing: object) -> Any:
    return thing


def test_members_have_the_names_of_flink() -> None:
    schema = (
        Schema.new_builder()
        .column("a", "INT NOT NULL")
        .with_comment("key")
        .column_by_expression("b", "a + 1")
        .column_by_metadata("m", DataTypes.TIMESTAMP(3), "k", True)
        .watermark("m", "m")
        .primary_key("a")
        .index("a", "m")
        .immutable_columns("a")
        .build()
    )
    a, b, m = map(untyped, schema.get_columns())
    (watermark,), (index,) = schema.get_watermark_specs(), schema.get_indexes()
    key, fixed = schema.get_primary_key(), schema.get_immutable_columns()

    assert ("a", "key", "INT NOT NULL") == (a.get_name(), a.get_comment(), a.get_data_type())
    assert ("[a + 1]", None) == (str(b.get_expression()), b.get_comment())
    assert (DataTypes.TIMESTAMP(3), "k", True) == (
        m.get_data_type(),
        m.get_metadata_key(),
        m.is_virtual(),
    )
    assert ("m", "[m]") == (
        watermark.get_column_name(),
        str(watermark.get_watermark_expression()),
    )
    assert key is not None
    assert fixed is not None
    assert [
        ("PK_a", ["a"]),
        ("INDEX_a_m", ["a", "m"]),
        ("IMMUTABLE_COLUMNS_a", ["a"]),
    ] == [
        (key.get_constraint_name(), key.get_column_names()),
        (index.get_index_name(), index.get_column_names()),
        (fixed.get_constraint_name(), fixed.get_column_names()),
    ]
