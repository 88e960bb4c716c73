"""Plans for Iceberg, executed on tables of pyiceberg in a catalog of SQLite."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fuzz.iceberg_tables import check_pair, checks, create_catalog, create_table, execute, missing
from schema_core import Schema
from schema_core.catalog.objects import CatalogTable
from schema_core.migration import plan

if reason := missing():
    pytest.skip(reason, allow_module_level=True)


@pytest.fixture
def catalog(tmp_path: Path) -> Iterator[Any]:
    catalog = create_catalog(str(tmp_path))
    yield catalog
    catalog.close()


def table(*columns: tuple[str, str], key: tuple[str, ...] = ()) -> CatalogTable:
    builder = Schema.new_builder()
    for name, type_ in columns:
        builder.column(name, type_)
    return CatalogTable(builder.primary_key(*key).build() if key else builder.build())


def test_statements_lead_to_the_new_table_with_its_rows() -> None:
    outcomes = Counter(checks(25, 0))

    assert 25 == sum(outcomes.values())
    assert {"in place", "in place, NOT NULL lost", "rewrite"} == set(outcomes)


def test_fields_are_altered_at_any_depth(catalog: Any) -> None:
    old = table(("r", "ROW<a INT, b STRING, c ARRAY<ROW<d INT>>>"))
    new = table(("r", "ROW<b STRING, a BIGINT, c ARRAY<ROW<d BIGINT, e DATE>>, f DECIMAL(5, 2)>"))

    assert "in place" == check_pair(catalog, old, new, {})


@pytest.mark.parametrize(
    ("old", "new", "statements", "loss"),
    [
        (table(("a", "INT NOT NULL")), table(("a", "INT NOT NULL"), key=("a",)),
         ["ALTER TABLE `db`.`t` SET IDENTIFIER FIELDS `a`"], None),
        (table(("a", "INT NOT NULL"), key=("a",)), table(("a", "INT NOT NULL")),
         ["ALTER TABLE `db`.`t` DROP IDENTIFIER FIELDS `a`"], None),
        (table(("a", "INT")), table(("a", "INT NOT NULL"), key=("a",)), [],
         "for which a would have to be NOT NULL, is dropped"),
        (table(("a", "INT NOT NULL")), table(("a", "INT NOT NULL"), ("b", "INT NOT NULL"),
                                             key=("a", "b")),
         ["ALTER TABLE `db`.`t` ADD COLUMN `b` int"],
         "for which b would have to be NOT NULL, is dropped"),
        (table(("a", "DOUBLE NOT NULL")), table(("a", "DOUBLE NOT NULL"), key=("a",)), [],
         "primary key: CONSTRAINT `PK_a` PRIMARY KEY (`a`) NOT ENFORCED is dropped"),
        (table(("a", "ROW<x INT> NOT NULL")), table(("a", "ROW<x INT> NOT NULL"), key=("a",)), [],
         "primary key: CONSTRAINT `PK_a` PRIMARY KEY (`a`) NOT ENFORCED is dropped"),
        (table(("a", "FLOAT NOT NULL"), key=("a",)), table(("a", "FLOAT NOT NULL")), [], None),
    ],
)  # fmt: skip
def test_identifier_fields_are_required_columns(
    catalog: Any, old: CatalogTable, new: CatalogTable, statements: list[str], loss: str | None
) -> None:
    result = plan(old, new, "iceberg", path=("db", "t"))
    check_pair(catalog, old, new, {})

    assert statements == list(result.statements)
    assert loss is None or any(loss in each for each in result.losses)


def test_a_renamed_column_that_is_not_required_is_not_a_key() -> None:
    old, new = table(("a", "INT")), table(("b", "INT NOT NULL"), key=("b",))
    result = plan(old, new, "iceberg", renames={"a": "b"})

    assert ["ALTER TABLE `t` RENAME COLUMN `a` TO `b`"] == list(result.statements)


def test_a_key_of_float_is_not_part_of_a_rewrite() -> None:
    old = table(("a", "FLOAT NOT NULL"), ("b", "STRING"))
    new = table(("a", "FLOAT NOT NULL"), ("b", "INT"), key=("a",))

    assert not any("IDENTIFIER" in text for text in plan(old, new, "iceberg").statements)


@pytest.mark.parametrize(
    "statement",
    [
        "ALTER TABLE `db`.`t` SET IDENTIFIER FIELDS `optional`",
        "ALTER TABLE `db`.`t` SET IDENTIFIER FIELDS `floating`",
        "ALTER TABLE `db`.`t` ALTER COLUMN `optional` TYPE smallint",
        "ALTER TABLE `db`.`t` ALTER COLUMN `optional` TYPE string",
    ],
)
def test_pyiceberg_refuses_what_plans_do_not_contain(catalog: Any, statement: str) -> None:
    create_table(catalog, "t", table(("optional", "BIGINT"), ("floating", "FLOAT NOT NULL")))
    from pyiceberg.exceptions import ValidationError

    with pytest.raises((ValueError, ValidationError), match=r"(?i)identifier|column type"):
        execute(catalog, statement)


def test_partition_fields(catalog: Any) -> None:
    columns = table(("a", "INT"), ("b", "STRING"), ("c", "DATE")).schema
    old, new = CatalogTable(columns, ("a",)), CatalogTable(columns, ("c", "b"))
    create_table(catalog, "t", old)
    execute(catalog, "ALTER TABLE `db`.`t` ADD PARTITION FIELD `a`")
    for statement in plan(old, new, "iceberg", path=("db", "t")).statements:
        execute(catalog, statement)
    partitions = catalog.load_table("db.t").spec().fields

    assert ["b", "c"] == sorted(
        field.name for field in partitions if str(field.transform) != "void"
    )
