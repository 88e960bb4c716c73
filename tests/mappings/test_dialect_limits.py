"""Limits of DuckDB, ClickHouse, PostgreSQL and SQLite, as reported by the engines themselves."""

from __future__ import annotations

import pytest

from schema_core.errors import UnsupportedError
from schema_core.mappings.dialects.api import ddl_losses, to_ddl
from schema_core.schema.unresolved import Schema

GENERATED = Schema.new_builder().column_by_expression("b", "1 + 1").build()


@pytest.mark.parametrize(
    ("dialect", "allowed"),
    [("postgres", True), ("duckdb", False), ("sqlite", False), ("clickhouse", False)],
)
def test_some_engines_need_a_stored_column(dialect: str, allowed: bool) -> None:
    """The expected results are those of the engines."""
    if allowed:
        assert "GENERATED" in to_ddl(GENERATED, dialect)
        return
    with pytest.raises(UnsupportedError) as caught:
        to_ddl(GENERATED, dialect)
    assert "missing-columns" == caught.value.code


@pytest.mark.parametrize(
    ("dialect", "type_", "kept"),
    [
        ("duckdb", "INT", True),
        ("duckdb", "ARRAY<INT>", False),
        ("duckdb", "MAP<INT, INT>", False),
        ("duckdb", "ROW<a INT>", False),
        ("clickhouse", "INT", True),
        ("clickhouse", "ARRAY<INT NOT NULL>", True),
        ("clickhouse", "ARRAY<INT>", False),
        ("postgres", "ARRAY<INT>", True),
    ],
)
def test_an_unsupported_key_is_a_loss(dialect: str, type_: str, kept: bool) -> None:
    builder = Schema.new_builder().column("c", f"{type_} NOT NULL")
    schema = builder.primary_key("c").build()
    lost = [loss for loss in ddl_losses(schema, dialect) if loss.path == ("primary key",)]

    assert kept == ("PRIMARY KEY" in to_ddl(schema, dialect, on_loss="accept")) == (not lost)


@pytest.mark.parametrize("dialect", ["postgres", "redshift", "clickhouse"])
def test_some_engines_drop_empty_comments(dialect: str) -> None:
    schema = Schema.new_builder().column("c", "INT NOT NULL").with_comment("").build()

    assert "COMMENT" not in to_ddl(schema, dialect)
    assert ["the empty comment"] == [loss.source for loss in ddl_losses(schema, dialect)]
