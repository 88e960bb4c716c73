"""Plans of migrations for Spark, executed by Spark; those for Iceberg, parsed by Spark's parser."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

from fuzz.migration_plans import drawn_pair
from schema_core import Schema
from schema_core.catalog.objects import CatalogTable
from schema_core.mappings.dialects import to_ddl
from schema_core.migration import plan
from schema_core.schema.columns import UnresolvedPhysicalColumn

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: Clauses of Iceberg's extension of Spark's grammar, whose jar is not here.
EXTENSION = ("IDENTIFIER FIELDS", "PARTITION FIELD")


@pytest.fixture
def session(spark: SparkSession) -> Iterator[SparkSession]:
    session = spark.newSession()
    session.sql("DROP DATABASE IF EXISTS plans CASCADE")
    session.sql("CREATE DATABASE plans")
    yield session
    session.sql("DROP DATABASE plans CASCADE")


def created(session: SparkSession, table: CatalogTable, name: str) -> None:
    """Create a table of files with what Spark's own catalog holds: physical columns."""
    builder = Schema.new_builder()
    for column in table.schema.columns:
        if isinstance(column, UnresolvedPhysicalColumn):
            builder.column(column.name, column.data_type)
            if column.comment is not None:
                builder.with_comment(column.comment)
    stored = CatalogTable(builder.build(), comment=table.comment)
    session.sql(to_ddl(stored, "spark", ("plans", name), on_loss="accept"))


def described(session: SparkSession, name: str) -> tuple[Any, list[Any]]:
    """The schema of a table, and its comment."""
    rows = session.sql(f"DESCRIBE TABLE EXTENDED plans.{name}").collect()
    comments = [row.data_type for row in rows if row.col_name == "Comment"]
    return session.table(f"plans.{name}").schema, comments


def test_statements_for_spark_lead_to_the_new_table(session: SparkSession) -> None:
    how = []
    for seed in range(24):
        old, new, renames = drawn_pair(Random(seed), for_flink=False)
        result = plan(old, new, "spark", renames=renames, path=("plans", "m"))
        created(session, old, "m")
        created(session, new, "fresh")
        for statement in result.statements:
            session.sql(statement)

        assert described(session, "fresh") == described(session, "m"), str(result)
        how.append(result.rewrite is None)
        for name in ("m", "m__old", "fresh"):
            session.sql(f"DROP TABLE IF EXISTS plans.{name}")

    assert {True, False} == set(how)


def test_a_rewrite_for_spark_keeps_rows(session: SparkSession) -> None:
    old = Schema.new_builder().column("id", "INT").column("name", "STRING").build()
    new = Schema.new_builder().column("name", "STRING").column("id", "BIGINT").build()
    session.sql("CREATE TABLE plans.m (id INT, name STRING) USING parquet")
    session.sql("INSERT INTO plans.m VALUES (1, 'a'), (NULL, 'b')")

    result = plan(old, new, "spark", path=("plans", "m"))
    for statement in result.statements:
        session.sql(statement)

    rows = session.sql("SELECT * FROM plans.m ORDER BY name").collect()
    assert [("a", 1), ("b", None)] == [tuple(row) for row in rows]
    assert "bigint" == dict(session.table("plans.m").dtypes)["id"]


@pytest.mark.parametrize("new", ["id INT NOT NULL", "id INT, more INT NOT NULL"])
def test_a_rewrite_for_spark_refuses_null_in_columns_that_are_not_null(
    session: SparkSession, new: str
) -> None:
    old = Schema.new_builder().column("id", "INT").build()
    builder = Schema.new_builder()
    for column in new.split(", "):
        builder.column(*column.split(" ", maxsplit=1))
    session.sql("CREATE TABLE plans.m (id INT) USING parquet")
    session.sql("INSERT INTO plans.m VALUES (1), (NULL)")

    result = plan(old, builder.build(), "spark", path=("plans", "m"))
    session.sql(result.statements[0])
    with pytest.raises(Exception, match=r"NULL in column (id|more), NOT NULL"):
        session.sql(result.statements[1])

    assert 1 == len(result.risks)
    assert [(1,), (None,)] == sorted(map(tuple, session.table("plans.m").collect()), key=str)
    session.sql("TRUNCATE TABLE plans.m")
    for statement in result.statements[1:]:
        session.sql(statement)
    assert 0 == session.table("plans.m").count()


def test_a_rewrite_for_spark_converts_rows_within_collections(session: SparkSession) -> None:
    row, wider = "ROW<x INT, y STRING>", "ROW<y STRING, x BIGINT, z INT>"
    key, wider_key = "ROW<p INT>", "ROW<p INT, q INT>"
    old = Schema.new_builder().column("a", f"ARRAY<{row}>")
    old = old.column("m", f"MAP<STRING, ARRAY<{row}>>").column("k", f"MAP<{key}, INT>")
    new = Schema.new_builder().column("a", f"ARRAY<{wider}>")
    new = new.column("m", f"MAP<STRING, ARRAY<{wider}>>").column("k", f"MAP<{wider_key}, BIGINT>")
    created(session, CatalogTable(old.build()), "m")
    one = "named_struct('x', 1, 'y', 'b')"
    session.sql(
        f"INSERT INTO plans.m SELECT array({one}, NULL), map('a', array({one})),"
        " map(named_struct('p', 2), 3) UNION ALL SELECT NULL, map('a', NULL), map()"
    )

    result = plan(old.build(), new.build(), "spark", path=("plans", "m"))
    for statement in result.statements:
        session.sql(statement)

    rows = session.sql("SELECT * FROM plans.m ORDER BY a DESC").collect()
    values = [row.asDict(recursive=True) for row in rows]
    expected = {"y": "b", "x": 1, "z": None}
    assert [] == list(result.risks)
    assert values[0]["a"] == [expected, None]
    assert values[0]["m"] == {"a": [expected]}
    assert [(key.asDict(), n) for key, n in rows[0].k.items()] == [({"p": 2, "q": None}, 3)]
    assert values[1] == {"a": None, "m": {"a": None}, "k": {}}


def test_statements_for_iceberg_are_those_of_sparks_grammar(session: SparkSession) -> None:
    parser = session._jsparkSession.sessionState().sqlParser()
    parsed = 0
    for seed in range(200):
        old, new, renames = drawn_pair(Random(seed), for_flink=False)
        for statement in plan(old, new, "iceberg", renames=renames, path="m").statements:
            if not any(clause in statement for clause in EXTENSION):
                parser.parsePlan(statement)
                parsed += 1

    assert parsed > 300
