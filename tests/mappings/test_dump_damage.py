"""Dumps in the form of each engine's own tool, in full and damaged."""

from __future__ import annotations

import random
from itertools import islice

import pytest

from fuzz.dump_damage import damages, dumps, find
from schema_core.mappings.dialects.api import read_tables

DUMPS = dumps()

#: Dialect -> the tables of its dump.
TABLES = {
    "bigquery": ["customers", "logs", "copy", "last_one"],
    "clickhouse": ["customers", "queue", "copy", "dd", "last_one"],
    "databricks": ["customers", "orders", "copy", "events", "last_one"],
    "duckdb": ["customers", "orders", "scratch", "last_one"],
    "hive": ["customers", "orders", "copy", "last_one"],
    "mysql": ["customers", "orders", "items"],
    "oracle": ["customers", "orders", "scratch", "last_one"],
    "postgres": ["customers", "orders", "orders_2024", "changes", "special", "remote"],
    "redshift": ["customers", "stage", "logs", "last_one"],
    "snowflake": ["customers", "orders", "lines", "ice", "last_one"],
    "sqlite": ["customers", "orders", "quoted name", "strict_one", "last_one"],
    "tsql": ["customers", "orders", "notes", "tags"],
}

#: What is refused rightly: tables without columns, and a computed column without a type.
REFUSED = {
    "databricks": ["missing-columns"],
    "duckdb": ["missing-columns"],
    "snowflake": ["missing-columns"],
    "tsql": ["not-representable"],
}


@pytest.mark.parametrize("dialect", DUMPS)
def test_every_table_of_a_dump_is_read(dialect: str) -> None:
    script = read_tables(DUMPS[dialect], dialect)

    assert [table.path[-1].lower() for table in script.tables] == TABLES[dialect]
    assert [error.code for error in script.errors] == REFUSED.get(dialect, [])


@pytest.mark.parametrize("dialect", DUMPS)
def test_damage_is_reported(dialect: str) -> None:
    """`fuzz.dump_damage` draws more of them."""
    text = DUMPS[dialect]
    before = read_tables(text, dialect)
    for damage in islice(damages(text, random.Random(7)), 10):
        assert find(before, text, damage, dialect) is None, damage
