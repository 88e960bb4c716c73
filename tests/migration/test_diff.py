"""Changes between definitions: which they are, in which order, and what they are refused for."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import pytest

from schema_core import DataTypes, Schema
from schema_core.catalog import CatalogTable
from schema_core.catalog.changes.table_changes import CHANGES, KINDS, NAMES
from schema_core.catalog.objects import TableDistribution
from schema_core.catalog.resolve import resolve_table
from schema_core.errors import SchemaError
from schema_core.migration import (
    AddColumn,
    AddField,
    ColumnPosition,
    DropColumn,
    DropField,
    ModifyColumnComment,
    ModifyColumnName,
    ModifyFieldName,
    ModifyNestedType,
    ModifyPhysicalColumnType,
    TableChange,
    apply,
    diff,
    invert,
    likely_renames,
)
from schema_core.schema.columns import (
    UnresolvedComputedColumn,
    UnresolvedImmutableColumns,
    UnresolvedIndex,
    UnresolvedPhysicalColumn,
    UnresolvedPrimaryKey,
    UnresolvedWatermarkSpec,
)
from schema_core.schema.resolve import SchemaResolver
from schema_core.schema.unresolved import SqlExpression
from schema_core.types import RowField


def schema(*columns: str) -> Schema:
    """A schema of columns such as ``a INT``, ``b AS a + 1`` or ``c INT METADATA FROM 'k'``."""
    builder = Schema.new_builder()
    for column in columns:
        name, _, rest = column.partition(" ")
        if rest.startswith("AS "):
            builder.column_by_expression(name, rest[3:])
            continue
        type_, _, key = rest.partition(" METADATA FROM ")
        if key:
            builder.column_by_metadata(name, type_, key.strip("'"))
            continue
        type_, _, comment = rest.partition(" COMMENT ")
        builder.column(name, type_)
        if comment:
            builder.with_comment(comment.strip("'"))
    return builder.build()


AB = ("a INT", "b INT")

#: old columns, new columns, renames, changes
COLUMNS: list[tuple[tuple[str, ...], tuple[str, ...], Any, list[str]]] = [
    (AB, AB, {}, []),
    (("a int", "b AS a+1"), ("a INT", "b AS `a` + 1"), {}, []),
    (("a STRING",), ("a VARCHAR(2147483647)",), {}, []),
    (("a INT METADATA FROM 'a'",), ("a INT METADATA FROM 'a'",), {}, []),
    (AB, (*AB, "c INT"), {}, ["AddColumn{column=`c` INT, position=null}"]),
    (AB, ("c INT", *AB), {}, ["AddColumn{column=`c` INT, position=FIRST}"]),
    (AB, ("a INT", "c INT", "b INT"), {}, ["AddColumn{column=`c` INT, position=AFTER `a`}"]),
    (AB, ("b INT",), {}, ["DropColumn{columnName='a'}"]),
    (AB, ("b INT", "a INT"), {}, ["ModifyColumnPosition{Column=`b` INT, newPosition=FIRST}"]),
    (("a INT", "b INT", "c INT", "d INT"), ("b INT", "c INT", "d INT", "a INT"), {},
     ["ModifyColumnPosition{Column=`a` INT, newPosition=AFTER `d`}"]),
    (("a INT",), ("a BIGINT NOT NULL COMMENT 'new'",), {}, [
        "ModifyColumnComment{Column=`a` INT, newComment='new'}",
        "ModifyPhysicalColumnType{Column=`a` INT COMMENT 'new', newType=BIGINT NOT NULL}",
    ]),
    (("a INT",), ("a INT NOT NULL",), {},
     ["ModifyPhysicalColumnType{Column=`a` INT, newType=INT NOT NULL}"]),
    (("a INT", "b AS a + 1"), ("a INT", "b INT"), {},
     ["ModifyColumn{oldColumn=`b` AS [`a` + 1], newColumn=`b` INT, newPosition=null}"]),
    (AB, ("c INT", "b INT"), {}, [
        "AddColumn{column=`c` INT, position=FIRST}",
        "DropColumn{columnName='a'}",
    ]),
    (AB, ("c INT", "b INT"), {"a": "c"}, ["ModifyColumnName{Column=`a` INT, newName='c'}"]),
    (AB, ("b INT",), {"a": "b"}, [
        "DropColumn{columnName='b'}",
        "ModifyColumnName{Column=`a` INT, newName='b'}",
    ]),
    (("a INT", "b STRING"), ("a STRING", "b INT"), {"a": "b", "b": "a"}, [
        "ModifyColumnName{Column=`a` INT, newName='a_'}",
        "ModifyColumnName{Column=`b` STRING, newName='a'}",
        "ModifyColumnName{Column=`a_` INT, newName='b'}",
        "ModifyColumnPosition{Column=`a` STRING, newPosition=FIRST}",
    ]),
    (("m INT METADATA FROM 'k'",), ("n INT METADATA FROM 'k'",), {"m": "n"},
     ["ModifyColumnName{Column=`m` INT METADATA FROM 'k', newName='n'}"]),
    (("a INT",), ("x AS b + 1", "b INT", "a INT"), {}, [
        "AddColumn{column=`b` INT, position=FIRST}",
        "AddColumn{column=`x` AS [`b` + 1], position=FIRST}",
    ]),
    (("a INT", "b INT", "c AS a + 1"), ("b INT",), {}, [
        "DropColumn{columnName='c'}",
        "DropColumn{columnName='a'}",
    ]),
    (("r ROW<a INT, b INT>",), ("r ROW<b BIGINT 'big', c INT>",), {}, [
        "DropField{path=`r`, field=`a` INT}",
        "ModifyFieldComment{path=`r`, field=`b` INT, newComment='big'}",
        "ModifyNestedType{path=`r`.`b`, oldType=INT, newType=BIGINT}",
        "AddField{path=`r`, field=`c` INT, position=null}",
    ]),
    (("r ARRAY<MAP<STRING, ROW<a INT>>>",), ("r ARRAY<MAP<STRING, ROW<b INT>>>",),
     {("r", "element", "value", "a"): "b"},
     ["ModifyFieldName{path=`r`.`element`.`value`, field=`a` INT, newName='b'}"]),
    (("r ROW<a INT, b INT>",), ("r ROW<a INT, b INT>",), {("r", "a"): "b", ("r", "b"): "a"}, [
        "ModifyFieldName{path=`r`, field=`a` INT, newName='a_'}",
        "ModifyFieldName{path=`r`, field=`b` INT, newName='a'}",
        "ModifyFieldName{path=`r`, field=`a_` INT, newName='b'}",
        "ModifyFieldPosition{path=`r`, field=`a` INT, newPosition=FIRST}",
    ]),
    (("r ROW<a INT, b INT, c INT>",), ("r ROW<c INT, a INT, b INT> NOT NULL",), {}, [
        "ModifyFieldPosition{path=`r`, field=`c` INT, newPosition=FIRST}",
        ("ModifyPhysicalColumnType{Column=`r` ROW<`c` INT, `a` INT, `b` INT>, "
         "newType=ROW<`c` INT, `a` INT, `b` INT> NOT NULL}"),
    ]),
    (("r ARRAY<INT>",), ("r MAP<INT, INT>",), {},
     ["ModifyPhysicalColumnType{Column=`r` ARRAY<INT>, newType=MAP<INT, INT>}"]),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "renames", "expected"), COLUMNS)
def test_columns(
    old: tuple[str, ...], new: tuple[str, ...], renames: dict[Any, str], expected: list[str]
) -> None:
    changes = diff(schema(*old), schema(*new), renames=renames)

    assert expected == list(map(str, changes))


KEY = UnresolvedPrimaryKey("pk", ("a",))
WATERMARK = UnresolvedWatermarkSpec("ts", SqlExpression("ts"))
INDEX = UnresolvedIndex("i", ("a",))
FIXED = UnresolvedImmutableColumns("f", ("a",))

#: members of the schema and of the table, before and after, and the changes
PARTS: list[tuple[dict[str, Any], dict[str, Any], list[str]]] = [
    ({}, {"primary_key": KEY},
     ["AddUniqueConstraint{constraint=CONSTRAINT `pk` PRIMARY KEY (`a`) NOT ENFORCED}"]),
    ({"primary_key": KEY}, {}, ["DropConstraint{constraintName='pk'}"]),
    ({"primary_key": KEY}, {"primary_key": UnresolvedPrimaryKey("pk", ("b",))},
     ["ModifyUniqueConstraint{newConstraint=CONSTRAINT `pk` PRIMARY KEY (`b`) NOT ENFORCED}"]),
    ({}, {"watermark_specs": (WATERMARK,)},
     ["AddWatermark{watermarkSpec=WATERMARK FOR `ts` AS [`ts`]}"]),
    ({"watermark_specs": (WATERMARK,)}, {}, ["DropWatermark{}"]),
    ({"indexes": (INDEX,)}, {}, ["DropIndex{indexName='i'}"]),
    ({"indexes": (INDEX,)}, {"indexes": (UnresolvedIndex("j", ("a",)), INDEX)}, [
        "DropIndex{indexName='i'}",
        "AddIndex{index=INDEX `j` (`a`)}",
        "AddIndex{index=INDEX `i` (`a`)}",
    ]),
    ({"primary_key": KEY, "immutable_columns": FIXED}, {}, [
        "DropImmutableColumns{constraint=CONSTRAINT `f` COLUMNS (`a`) IMMUTABLE NOT ENFORCED}",
        "DropConstraint{constraintName='pk'}",
    ]),
    ({}, {"distribution": TableDistribution.of_hash(["a"], 4)},
     ["AddDistribution{distribution=DISTRIBUTED BY HASH(`a`) INTO 4 BUCKETS}"]),
    ({"distribution": TableDistribution.of_hash(["a"], 4)}, {}, ["DropDistribution{}"]),
    ({}, {"partition_keys": ("a",)}, ["ModifyPartitionKeys{oldKeys=, newKeys=`a`}"]),
    ({}, {"comment": ""}, ["ModifyTableComment{newComment=''}"]),
    ({"snapshot": 1}, {"snapshot": 2}, ["ModifySnapshot{newSnapshot=2}"]),
    ({"options": {"k": "1", "l": "2"}}, {"options": {"k": "3", "password": "hunter2"}}, [
        "ResetOption{key='l'}",
        "SetOption{key='k', value='3'}",
        "SetOption{key='password', value='******'}",
    ]),
]  # fmt: skip

OF_TABLES = ("distribution", "partition_keys", "comment", "snapshot", "options")


def table(**members: Any) -> CatalogTable:
    """A table with these parts."""
    within = {name: value for name, value in members.items() if name not in OF_TABLES}
    of_table = {name: value for name, value in members.items() if name in OF_TABLES}
    return CatalogTable(Schema(schema(*AB).columns, **within), **of_table)


@pytest.mark.parametrize(("before", "after", "expected"), PARTS)
def test_parts(before: dict[str, Any], after: dict[str, Any], expected: list[str]) -> None:
    assert expected == list(map(str, diff(table(**before), table(**after))))


def test_a_rename_is_followed_by_keys_and_indexes() -> None:
    old = table(primary_key=KEY, indexes=(INDEX,), immutable_columns=FIXED, partition_keys=("a",))
    column = old.schema.columns[0]

    result = apply([ModifyColumnName(column, "c")], old)

    assert result.schema.primary_key == UnresolvedPrimaryKey("pk", ("c",))
    assert result.schema.indexes == (UnresolvedIndex("i", ("c",)),)
    assert result.schema.immutable_columns == UnresolvedImmutableColumns("f", ("c",))
    assert result.partition_keys == ("c",)


def test_what_no_change_touches_stays_as_it_is_written() -> None:
    old = schema("a string", "b AS a||'x'")
    new = schema("a string", "b AS a||'x'", "c INT")

    assert old.columns == apply(diff(old, new), old).columns[:2]


def test_inverted_changes_rename_back() -> None:
    old, new = schema("a INT", "r ROW<x INT>"), schema("b INT", "q ROW<y INT>")
    renames: dict[str | tuple[str, ...], str] = {"a": "b", "r": "q", ("r", "x"): "y"}
    back = invert(diff(old, new, renames=renames), old)

    assert [
        "ModifyFieldName{path=`q`, field=`y` INT, newName='x'}",
        "ModifyColumnName{Column=`b` INT, newName='a'}",
        "ModifyColumnName{Column=`q` ROW<`x` INT>, newName='r'}",
    ] == list(map(str, back))


#: old columns, new columns, candidates
LIKELY: list[tuple[tuple[str, ...], tuple[str, ...], dict[tuple[str, ...], str]]] = [
    (("a INT",), ("b INT",), {("a",): "b"}),
    (("a INT",), ("b BIGINT",), {}),
    (("a INT",), ("b INT", "c INT"), {}),
    (("a INT", "b INT"), ("c INT",), {}),
    (("r ROW<a INT>",), ("r ROW<b INT>",), {("r", "a"): "b"}),
    (("r MAP<INT, ROW<a INT>>",), ("r MAP<INT, ROW<b INT>>",), {("r", "value", "a"): "b"}),
]


@pytest.mark.parametrize(("old", "new", "expected"), LIKELY)
def test_likely_renames(
    old: tuple[str, ...], new: tuple[str, ...], expected: dict[tuple[str, ...], str]
) -> None:
    assert expected == likely_renames(schema(*old), schema(*new))


# --- refusals ------------------------------------------------------------------------------------

A, B = schema(*AB).columns
C = UnresolvedPhysicalColumn("c", DataTypes.INT())
R = UnresolvedPhysicalColumn("r", "ROW<x INT>")
X, Y = RowField("x", DataTypes.INT()), RowField("y", DataTypes.INT())
BIG = DataTypes.BIGINT()

#: changes of (a INT, b INT, r ROW<x INT>), code
REFUSED: list[tuple[TableChange, str]] = [
    (AddColumn(A), "duplicate-column"),
    (AddColumn(C, ColumnPosition.after("d")), "unknown-column"),
    (DropColumn(C), "unknown-column"),
    (DropColumn(UnresolvedPhysicalColumn("a", BIG)), "change-does-not-fit"),
    (DropColumn(UnresolvedPhysicalColumn("a", "INT", "x")), "change-does-not-fit"),
    (ModifyColumnComment(UnresolvedPhysicalColumn("a", BIG), "x"), "change-does-not-fit"),
    (ModifyColumnName(A, "b"), "duplicate-column"),
    (ModifyPhysicalColumnType(UnresolvedComputedColumn("a", SqlExpression("1")), BIG),
     "change-does-not-fit"),
    (TableChange.modify(A, UnresolvedPhysicalColumn("b", BIG)), "duplicate-column"),
    (TableChange.drop(KEY), "change-does-not-fit"),
    (TableChange.modify(KEY, KEY), "change-does-not-fit"),
    (TableChange.drop(INDEX), "change-does-not-fit"),
    (TableChange.drop(WATERMARK), "change-does-not-fit"),
    (TableChange.set("k", "2", "1"), "change-does-not-fit"),
    (TableChange.reset("k", "1"), "change-does-not-fit"),
    (AddField(("r",), X), "duplicate-column"),
    (AddField(("a",), Y), "change-does-not-fit"),
    (AddField(("r", "x"), Y), "change-does-not-fit"),
    (AddField((), Y), "unknown-column"),
    (AddField(("r",), Y, ColumnPosition.after("z")), "unknown-column"),
    (DropField(("r",), Y), "unknown-column"),
    (DropField(("r",), RowField("x", BIG)), "change-does-not-fit"),
    (ModifyFieldName(("r",), Y, "x"), "unknown-column"),
    (ModifyNestedType(("r", "x"), BIG, BIG), "change-does-not-fit"),
    (ModifyNestedType(("r", "y"), BIG, BIG), "change-does-not-fit"),
]  # fmt: skip


@pytest.mark.parametrize(("change", "code"), REFUSED, ids=str)
def test_a_change_that_does_not_fit_is_refused(change: TableChange, code: str) -> None:
    with pytest.raises(SchemaError) as caught:
        apply([change], Schema((A, B, R)))

    assert (code, (f"change 1, {type(change).__name__}",)) == (caught.value.code, caught.value.path)


PATH_OF_NO_FIELD: dict[tuple[str, ...], str] = {("a", "b"): "b"}

#: call, code
INVALID: list[tuple[Any, str]] = [
    (lambda: diff(schema("a INT", "a INT"), schema()), "duplicate-column"),
    (lambda: diff(table(indexes=(INDEX, INDEX)), table()), "already-declared"),
    (lambda: diff(table(watermark_specs=(WATERMARK, WATERMARK)), table()), "already-declared"),
    (lambda: diff(schema("a INT"), schema("b INT"), renames={"x": "b"}), "unknown-column"),
    (lambda: diff(schema("a INT"), schema("b INT"), renames={"a": "x"}), "unknown-column"),
    (lambda: diff(schema(*AB), schema("c INT"), renames={"a": "c", "b": "c"}), "duplicate-column"),
    (lambda: diff(schema("a INT"), schema("b INT"), renames=PATH_OF_NO_FIELD), "unknown-column"),
    (lambda: diff(schema("a INT"), schema(), renames=["a"]), "invalid-argument"),  # type: ignore[arg-type]
    (lambda: diff("a INT", schema()), "invalid-argument"),  # type: ignore[arg-type]
    (lambda: apply([1], schema()), "invalid-argument"),  # type: ignore[list-item]
    (lambda: apply([], "a INT"), "invalid-argument"),  # type: ignore[type-var]
    (lambda: AddColumn("a INT"), "invalid-argument"),  # type: ignore[arg-type]
    (lambda: TableChange.modify(INDEX, INDEX), "invalid-argument"),
    (lambda: TableChange.modify(A, KEY), "invalid-argument"),
]


@pytest.mark.parametrize(("call", "code"), INVALID)
def test_invalid_arguments_are_refused(call: Any, code: str) -> None:
    with pytest.raises(SchemaError) as caught:
        call()

    assert code == caught.value.code


def test_a_schema_has_no_options() -> None:
    with pytest.raises(SchemaError) as caught:
        apply([TableChange.set("k", "1")], schema("a INT"))

    assert caught.value.code == "change-does-not-fit"


def test_every_field_of_a_change_is_validated() -> None:
    annotations = {
        kind for change in CHANGES for kind in (str(field.type) for field in fields(change))
    }

    assert annotations - {NAMES} == set(KINDS)


def test_resolved_tables_are_compared_by_meaning() -> None:
    """The implicit cast written out means the same; changes fit the table as it is written."""
    plain = CatalogTable(schema("a INT", "b BIGINT", "c AS COALESCE(a, b)", "d AS a + 1"))
    cast = CatalogTable(schema("a INT", "b BIGINT", "c AS COALESCE(CAST(a AS BIGINT), b)"))
    old, new = (resolve_table(item, SchemaResolver()) for item in (plain, cast))

    assert ["DropColumn{columnName='d'}"] == list(map(str, diff(old, new)))
    assert plain.schema.columns[:3] == apply(diff(old, new), plain).schema.columns
    assert len(diff(plain, cast)) == 2
