"""What engines refuse or forget, as DuckDB, ClickHouse, PostgreSQL and SQLite themselves said."""

from __future__ import annotations

import pytest

from schema_core.errors import UnsupportedError
from schema_core.formats.dialects.api import ddl_losses, to_ddl
from schema_core.schema.unresolved import Schema

GENERATED = Schema.new_builder().column_by_expression("b", "1 + 1").build()


@pytest.mark.parametrize(
    ("dialect", "allowed"),
    [("postgres", True), ("duckdb", False), ("sqlite", False), ("clickhouse", False)],
)
def test_some_engines_want_a_column_that_is_stored(dialect: str, allowed: bool) -> None:
    """As the engines themselves said when they were asked."""
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
def test_a_key_that_an_engine_cannot_have_is_told(dialect: str, type_: str, kept: bool) -> None:
    builder = Schema.new_builder().column("c", f"{type_} NOT NULL")
    schema = builder.primary_key("c").build()
    lost = [loss for loss in ddl_losses(schema, dialect) if loss.path == ("primary key",)]

    assert kept == ("PRIMARY KEY" in to_ddl(schema, dialect, on_loss="accept")) == (not lost)


@pytest.mark.parametrize("dialect", ["postgres", "redshift", "clickhouse"])
def test_an_empty_comment_is_none_to_some_engines(dialect: str) -> None:
    schema = Schema.new_builder().column("c", "INT NOT NULL").with_comment("").build()

    assert "COMMENT" not in to_ddl(schema, dialect)
    assert ["the empty comment"] == [loss.source for loss in ddl_losses(schema, dialect)]
