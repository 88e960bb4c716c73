"""`TableEnvironment.alter_table`: changes of permanent tables, validated and compared."""

from __future__ import annotations

from typing import Any

import pytest

from schema_core import DataTypes, EnvironmentSettings, TableEnvironment
from schema_core.catalog import CatalogTable, InMemoryCatalog, ObjectPath, TableChange
from schema_core.environment.plans.dry_run import DryRunPlanner
from schema_core.errors import ConflictError, NotFoundError, SchemaCoreError
from schema_core.migration import AddColumn, ColumnPosition, DropColumn, ModifyColumnName, diff
from schema_core.schema.columns import (
    UnresolvedIndex,
    UnresolvedPhysicalColumn,
    UnresolvedPrimaryKey,
)

PATH = ObjectPath("default_database", "t")
A = UnresolvedPhysicalColumn("a", "INT")
B = UnresolvedPhysicalColumn("b", "STRING NOT NULL", "text")
C = UnresolvedPhysicalColumn("c", DataTypes.INT())


def environment() -> TableEnvironment:
    """An environment with a table, a temporary one and a view."""
    made = TableEnvironment.create(EnvironmentSettings.in_batch_mode(), planner=DryRunPlanner())
    made.execute_sql(
        "CREATE TABLE t (a INT, b STRING NOT NULL COMMENT 'text', d AS a + 1) PARTITIONED BY (a)"
        " WITH ('connector' = 'x')"
    )
    made.execute_sql("CREATE TEMPORARY TABLE hidden (a INT) WITH ('connector' = 'x')")
    made.execute_sql("CREATE VIEW v AS SELECT a FROM t")
    return made


def stored(made: TableEnvironment) -> CatalogTable:
    """The table as its catalog stores it."""
    catalog = made.get_catalog("default_catalog")
    assert isinstance(catalog, InMemoryCatalog)
    table = catalog.get_table(PATH)
    assert isinstance(table, CatalogTable)
    return table


def test_changes_are_applied_and_shown() -> None:
    made = environment()
    key = UnresolvedPrimaryKey("pk", ("b",))
    index = UnresolvedIndex("i", ("b",))

    assert made.alter_table("t", [AddColumn(C, ColumnPosition.after("a")), TableChange.add(key)])
    assert made.alter_table("t", [TableChange.add(index)])
    assert ["a", "c", "b", "d"] == [column.name for column in stored(made).schema.columns]
    assert (key, (index,)) == (stored(made).schema.primary_key, stored(made).schema.indexes)


def test_a_difference_leads_from_one_table_to_another() -> None:
    made = environment()
    made.execute_sql(
        "CREATE TABLE u (b STRING NOT NULL, e INT, PRIMARY KEY (b) NOT ENFORCED)"
        " WITH ('connector' = 'y')"
    )
    catalog = made.get_catalog("default_catalog")
    assert catalog is not None
    other = catalog.get_table(ObjectPath("default_database", "u"))
    assert isinstance(other, CatalogTable)

    assert made.alter_table("t", diff(stored(made), other))
    assert () == diff(stored(made), other)


#: changes, code
REFUSED: list[tuple[list[Any], str]] = [
    ([DropColumn(C)], "unknown-column"),
    ([DropColumn(UnresolvedPhysicalColumn("a", "BIGINT"))], "change-does-not-fit"),
    ([DropColumn(A)], "unknown-column"),  # the computed column and the partition key refer to it
    ([ModifyColumnName(A, "z")], "unknown-column"),
    ([TableChange.add(UnresolvedPrimaryKey("pk", ("a",)))], "invalid-constraint"),
    ([TableChange.reset("connector", "x")], "missing-connector"),
    ([TableChange.set("connector", "y")], "change-does-not-fit"),
    ([1], "invalid-argument"),
]


@pytest.mark.parametrize(("changes", "code"), REFUSED)
def test_an_invalid_result_is_refused_and_nothing_is_altered(changes: Any, code: str) -> None:
    made = environment()
    before = stored(made)

    with pytest.raises(SchemaCoreError) as caught:
        made.alter_table("t", changes)

    assert code == caught.value.code
    assert before == stored(made)


@pytest.mark.parametrize("path", ["nothing", "hidden", "v"])
def test_only_permanent_tables_are_altered(path: str) -> None:
    with pytest.raises(NotFoundError) as caught:
        environment().alter_table(path, [AddColumn(C)])

    assert caught.value.code == "table-not-found"


def test_a_missing_table_is_ignored_on_request() -> None:
    assert not environment().alter_table("nothing", [AddColumn(C)], ignore_if_not_exists=True)


class Hurried(InMemoryCatalog):
    """A catalog in which another process is faster, and which records the changes."""

    faster = False

    def alter_table(self, *args: Any, **more: Any) -> None:
        if self.faster:
            table = self.get_table(args[0])
            super().alter_table(args[0], table.copy({"connector": "z"}), False)
        self.changes = more.get("changes")
        super().alter_table(*args, **more)


def test_the_catalog_receives_the_changes_and_compares() -> None:
    made = environment()
    catalog = Hurried("hurried")
    made.register_catalog("hurried", catalog)
    made.execute_sql("CREATE TABLE hurried.`default`.t (a INT) WITH ('connector' = 'x')")

    assert made.alter_table("hurried.`default`.t", iter([AddColumn(C)]))
    assert catalog.changes == (AddColumn(C),)
    catalog.faster = True
    with pytest.raises(ConflictError):
        made.alter_table("hurried.`default`.t", [DropColumn(C)])
