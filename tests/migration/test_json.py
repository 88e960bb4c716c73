"""Changes as JSON, and in English."""

from __future__ import annotations

import json
from typing import Any

import pytest

from schema_core import DataTypes
from schema_core.base.json_codec import Codec
from schema_core.catalog.changes.json_format import CODECS
from schema_core.catalog.changes.table_changes import CHANGES, KINDS, NAMES
from schema_core.catalog.objects import TableDistribution
from schema_core.errors import SchemaCoreError, SchemaError
from schema_core.expressions import col
from schema_core.expressions.user_functions import udf
from schema_core.migration import (
    AddColumn,
    AddField,
    ColumnPosition,
    DropColumn,
    DropField,
    ModifyColumn,
    ModifyColumnComment,
    ModifyColumnName,
    ModifyColumnPosition,
    ModifyFieldComment,
    ModifyFieldName,
    ModifyFieldPosition,
    ModifyNestedType,
    ModifyPartitionKeys,
    ModifyPhysicalColumnType,
    ModifySnapshot,
    ModifyTableComment,
    TableChange,
    describe,
    from_json,
    to_json,
)
from schema_core.schema.columns import (
    SqlExpression,
    UnresolvedComputedColumn,
    UnresolvedImmutableColumns,
    UnresolvedIndex,
    UnresolvedMetadataColumn,
    UnresolvedPhysicalColumn,
    UnresolvedPrimaryKey,
    UnresolvedWatermarkSpec,
)
from schema_core.schema.unresolved import Schema
from schema_core.types import RowField

INT, BIG = DataTypes.INT(), DataTypes.BIGINT()
A = UnresolvedPhysicalColumn("a", INT)
M = UnresolvedMetadataColumn("m", INT, "k", True, "it's")
E = UnresolvedComputedColumn("e", SqlExpression("`a` + 1"))
X = RowField("x", INT)
FIRST = ColumnPosition.first()
KEY, OTHER = UnresolvedPrimaryKey("pk", ("a",)), UnresolvedPrimaryKey("pk", ("b",))
MARK = UnresolvedWatermarkSpec("ts", SqlExpression("`ts`"))
BUCKETS, MORE = TableDistribution.of_hash(["a"], 4), TableDistribution.of_hash(["a"], 8)
FIXED = UnresolvedImmutableColumns("f", ("a",))
PRIMARY = "CONSTRAINT `pk` PRIMARY KEY"

#: change, description
DESCRIBED: list[tuple[TableChange, str]] = [
    (AddColumn(A), "add column `a` INT"),
    (AddColumn(M, FIRST), "add column `m` INT METADATA FROM 'k' VIRTUAL COMMENT 'it''s' first"),
    (AddColumn(E, ColumnPosition.after("a")), "add column `e` AS [`a` + 1] after `a`"),
    (ModifyColumn(E, M), ("replace column `e` AS [`a` + 1] by `m` INT METADATA FROM 'k' VIRTUAL "
                           "COMMENT 'it''s'")),
    (ModifyColumnComment(A, "x\ny"), "set the comment of column `a` to 'x y'"),
    (ModifyColumnComment(A, None), "remove the comment of column `a`"),
    (ModifyPhysicalColumnType(A, BIG), "change the type of column `a` from INT to BIGINT"),
    (ModifyPhysicalColumnType(A, INT.not_null()), "make column `a` NOT NULL"),
    (ModifyColumnName(A, "b"), "rename column `a` to `b`"),
    (ModifyColumnPosition(A, FIRST), "move column `a` first"),
    (DropColumn(A), "drop column `a` INT"),
    (AddField(("r", "element"), X, FIRST), "add field `x` INT to `r`.`element` first"),
    (ModifyFieldComment(("r",), X, "c"), "set the comment of field `x` of `r` to 'c'"),
    (ModifyNestedType(("r", "x"), INT.not_null(), INT), "make `r`.`x` nullable"),
    (ModifyNestedType(("r", "x"), INT, BIG), "change the type of `r`.`x` from INT to BIGINT"),
    (ModifyFieldName(("r",), X, "y"), "rename field `x` of `r` to `y`"),
    (ModifyFieldPosition(("r",), X, FIRST), "move field `x` of `r` first"),
    (DropField(("r",), X), "drop field `x` of `r`"),
    (TableChange.add(KEY), f"add {PRIMARY} (`a`) NOT ENFORCED"),
    (TableChange.modify(KEY, OTHER),
     f"replace {PRIMARY} (`a`) NOT ENFORCED by {PRIMARY} (`b`) NOT ENFORCED"),
    (TableChange.drop(KEY), f"drop {PRIMARY} (`a`) NOT ENFORCED"),
    (TableChange.add(MARK), "add WATERMARK FOR `ts` AS [`ts`]"),
    (TableChange.modify(MARK, MARK),
     "replace WATERMARK FOR `ts` AS [`ts`] by WATERMARK FOR `ts` AS [`ts`]"),
    (TableChange.drop(MARK), "drop WATERMARK FOR `ts` AS [`ts`]"),
    (TableChange.add(BUCKETS), "make the table DISTRIBUTED BY HASH(`a`) INTO 4 BUCKETS"),
    (TableChange.modify(BUCKETS, MORE), (
        "make the table DISTRIBUTED BY HASH(`a`) INTO 8 BUCKETS "
        "instead of DISTRIBUTED BY HASH(`a`) INTO 4 BUCKETS"
    )),
    (TableChange.drop(BUCKETS),
     "make the table no longer DISTRIBUTED BY HASH(`a`) INTO 4 BUCKETS"),
    (TableChange.add(FIXED), "add CONSTRAINT `f` COLUMNS (`a`) IMMUTABLE NOT ENFORCED"),
    (TableChange.modify(FIXED, FIXED), (
        "replace CONSTRAINT `f` COLUMNS (`a`) IMMUTABLE NOT "
        "ENFORCED by CONSTRAINT `f` COLUMNS (`a`) IMMUTABLE NOT ENFORCED"
    )),
    (TableChange.drop(FIXED), "drop CONSTRAINT `f` COLUMNS (`a`) IMMUTABLE NOT ENFORCED"),
    (TableChange.add(UnresolvedIndex("i", ("a",))), "add INDEX `i` (`a`)"),
    (TableChange.drop(UnresolvedIndex("i", ("a",))), "drop INDEX `i` (`a`)"),
    (ModifyPartitionKeys((), ("a", "b")), "change the partition keys from none to `a`, `b`"),
    (ModifyTableComment("a", None), "remove the comment of the table"),
    (ModifySnapshot(None, 3), "set the snapshot to 3"),
    (ModifySnapshot(3, None), "remove the snapshot"),
    (TableChange.set("password", "hunter2"), "set option 'password' to '******'"),
    (TableChange.reset("password", "hunter2"), "remove option 'password'"),
]  # fmt: skip


@pytest.mark.parametrize(("change", "expected"), DESCRIBED)
def test_description_and_json(change: TableChange, expected: str) -> None:
    assert expected == describe(change)
    assert (change,) == from_json(to_json([change]))


def test_every_change_has_its_case_and_every_kind_of_value_its_codec() -> None:
    assert set(CHANGES) == {type(change) for change, _ in DESCRIBED}
    assert all(isinstance(CODECS[annotation], Codec) for annotation in (*KINDS, NAMES))


def test_secrets_are_masked_where_changes_are_printed() -> None:
    for change in (TableChange.set("password", "hunter2", "old2"), TableChange.reset("pw", "old2")):
        for text in (str(change), repr(change), describe(change)):
            assert "hunter2" not in text
            assert "old2" not in text


GOOD = json.loads(to_json([AddColumn(M, FIRST)]))
COLUMN = GOOD["changes"][0]


#: a document that is not changes
REFUSED: list[Any] = [
    "", "[", "[]", "{}", "1", "NaN", '{"version": 1}', "[" * 100_000, "9" * 5_000,
    '{"version": 1, "version": 1, "changes": []}',
    {"version": 2, "changes": []},
    {"version": True, "changes": []},
    {"version": 1, "changes": {}},
    {"version": 1, "changes": [1]},
    {"version": 1, "changes": [], "more": 1},
    {"version": 1, "changes": [{"change": "TableChange"}]},
    {"version": 1, "changes": [{"change": ["AddColumn"]}]},
    {"version": 1, "changes": [{**COLUMN, "more": 1}]},
    {"version": 1, "changes": [{**COLUMN, "position": "FIRST"}]},
    {"version": 1, "changes": [{**COLUMN, "position": {"after": 1}}]},
    {"version": 1, "changes": [{**COLUMN, "column": None}]},
    {"version": 1, "changes": [{**COLUMN, "column": {**COLUMN["column"], "virtual": 1}}]},
    {"version": 1, "changes": [{**COLUMN, "column": {**COLUMN["column"], "comment": 1}}]},
    {"version": 1, "changes": [{**COLUMN, "column": {**COLUMN["column"], "name": 1}}]},
    {"version": 1, "changes": [{"change": "SetOption", "key": 1, "value": "", "old_value": None}]},
    {"version": 1, "changes": [{"change": "AddField", "path": "r", "field": {}, "position": None}]},
    {"version": 1, "changes": [{"change": "ModifyNestedType", "path": ["r"], "old_type": "INT",
                                "new_type": "NOT A TYPE"}]},
    {"version": 1, "changes": [{"change": "ModifySnapshot", "old_snapshot": 1.5,
                                "new_snapshot": None}]},
    {"version": 1, "changes": [{"change": "AddDistribution",
                                "distribution": {"kind": "X", "keys": [], "buckets": None}}]},
]  # fmt: skip


@pytest.mark.parametrize("document", REFUSED, ids=lambda item: str(item)[:60])
def test_other_documents_are_refused(document: Any) -> None:
    with pytest.raises(SchemaError) as caught:
        from_json(document if isinstance(document, str) else json.dumps(document))

    later = document == {"version": 2, "changes": []}
    assert caught.value.code == ("version-not-supported" if later else "invalid-document")


def test_input_is_bounded() -> None:
    with pytest.raises(SchemaError) as caught:
        from_json(" " * 1_000_001)

    assert caught.value.code == "limit-exceeded"


@udf(result_type=DataTypes.BIGINT())
def twice(value: int) -> int:
    """A function without a name in SQL."""
    return 2 * value


def test_an_inline_function_is_refused() -> None:
    (column,) = Schema.new_builder().column_by_expression("b", twice(col("a"))).build().columns

    with pytest.raises(SchemaCoreError) as caught:
        to_json([AddColumn(column)])

    assert caught.value.code == "not-in-sql"
