"""Every member of a schema is preserved or refused by every way to copy a table."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import cast

import pytest

from schema_core import EnvironmentSettings, Schema, TableDescriptor, TableEnvironment
from schema_core.catalog.objects import ResolvedCatalogTable
from schema_core.catalog.stores.catalog_store import CatalogDescriptor
from schema_core.errors import SchemaCoreError
from schema_core.mappings.dialects.api import DIALECTS, ddl_losses
from schema_core.properties.property_map import decode_object, encode_object
from schema_core.schema.resolve import SchemaResolver
from schema_core.schema.resolved import ResolvedSchema
from schema_core.schema.unresolved import SchemaBuilder, unresolve

#: A member -> what adds it to a schema of the columns `id` (NOT NULL), `ts` and `name`.
MEMBERS: dict[str, Callable[[SchemaBuilder], SchemaBuilder]] = {
    "nothing": lambda b: b,
    "nested column": lambda b: b.column("r", "ROW<x INT NOT NULL, y ARRAY<STRING>> NOT NULL"),
    "comment": lambda b: b.column("c", "INT").with_comment("it's"),
    "computed column": lambda b: b.column_by_expression("d", "id * 2").with_comment("twice"),
    "metadata column": lambda b: b.column_by_metadata("m", "INT", "key", True),
    "watermark": lambda b: b.watermark("ts", "ts - INTERVAL '5' SECOND"),
    "primary key": lambda b: b.primary_key_named("pk", "id"),
    "index": lambda b: b.index_named("i", "name", "id"),
    "indexes": lambda b: b.index("name").index("id"),
    "metadata index": lambda b: b.column_by_metadata("m", "INT").index("m"),
    "immutable columns": lambda b: b.primary_key("id").immutable_columns_named("im", "name"),
    "everything": lambda b: (
        b.column_by_expression("d", "id * 2")
        .column_by_metadata("m", "INT", "key")
        .watermark("ts", "ts")
        .primary_key("id")
        .index("name")
        .immutable_columns("name")
    ),
}

#: What SQL has no syntax for.
NOT_IN_SQL = {"index", "indexes", "metadata index", "immutable columns", "everything"}


def schema(member: str) -> Schema:
    columns = Schema.new_builder().column("id", "BIGINT NOT NULL").column("ts", "TIMESTAMP(3)")
    return MEMBERS[member](columns.column("name", "STRING")).build()


def descriptor(member: str) -> TableDescriptor:
    made = TableDescriptor.for_connector("x").schema(schema(member)).option("k", "v")
    return made.comment("all of it").build()


@pytest.fixture(params=["generic_in_memory", "sql"])
def environment(request: pytest.FixtureRequest) -> TableEnvironment:
    made = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    options = {"type": request.param} | ({"url": "sqlite://"} if request.param == "sql" else {})
    made.create_catalog("c", CatalogDescriptor.of("c", options))
    made.use_catalog("c")
    return made


def kept(environment: TableEnvironment, path: str = "t") -> ResolvedSchema:
    return environment.from_path(path).get_resolved_schema()


def resolved(member: str) -> ResolvedSchema:
    return SchemaResolver().resolve(schema(member))


# --- statements ----------------------------------------------------------------------------------


@pytest.mark.parametrize("member", MEMBERS)
def test_like_preserves_every_member(environment: TableEnvironment, member: str) -> None:
    environment.create_table("t", descriptor(member))
    environment.execute_sql("CREATE TABLE again LIKE t")

    assert resolved(member) == kept(environment) == kept(environment, "again")


@pytest.mark.parametrize("member", MEMBERS)
@pytest.mark.parametrize(
    "statements",
    [
        ["SET ('k' = 'w')", "RESET ('k')"],
        ["ADD extra INT", "DROP extra"],
        ["ADD extra INT FIRST", "RENAME extra TO other", "MODIFY other STRING", "DROP other"],
        ["RENAME TO u"],
    ],
    ids=["options", "add and drop", "rename and modify", "rename"],
)
def test_alter_table_preserves_every_member(
    environment: TableEnvironment, member: str, statements: list[str]
) -> None:
    environment.create_table("t", descriptor(member))
    for statement in statements:
        environment.execute_sql(f"ALTER TABLE t {statement}")

    assert resolved(member) == kept(environment, "u" if "RENAME TO u" in statements else "t")


def test_like_excludes_the_named_parts(environment: TableEnvironment) -> None:
    environment.create_table("t", descriptor("everything"))
    environment.execute_sql("CREATE TABLE u LIKE t (EXCLUDING CONSTRAINTS)")
    result = kept(environment, "u")

    assert (None, None) == (result.primary_key, result.immutable_columns)
    assert resolved("everything").indexes == result.indexes


def test_like_cannot_exclude_columns_of_an_index(environment: TableEnvironment) -> None:
    environment.create_table("t", descriptor("metadata index"))

    with pytest.raises(SchemaCoreError) as caught:
        environment.execute_sql("CREATE TABLE u LIKE t (EXCLUDING METADATA)")
    assert "object-in-use" == caught.value.code


@pytest.mark.parametrize("member", MEMBERS)
def test_show_create_recreates_the_table_or_is_refused(
    environment: TableEnvironment, member: str
) -> None:
    environment.create_table("t", descriptor(member))
    if member in NOT_IN_SQL:
        with pytest.raises(SchemaCoreError) as caught:
            environment.get_create_statement("t")
        assert "not-in-sql" == caught.value.code
        return

    statement = environment.get_create_statement("t")
    environment.drop_table("t")
    environment.execute_sql(statement)
    assert resolved(member) == kept(environment)


@pytest.mark.parametrize("member", MEMBERS)
def test_show_create_lists_what_sql_cannot_express(
    environment: TableEnvironment, member: str
) -> None:
    environment.create_table("t", descriptor(member))
    (row,) = environment.execute_sql("SHOW CREATE TABLE t").collect()
    expected = resolved(member)

    for lost in (*expected.indexes, expected.immutable_columns):
        assert lost is None or f"/* not in SQL: {lost} */" in row[0]
    environment.drop_table("t")
    environment.execute_sql(row[0])
    assert expected.columns == kept(environment).columns


# --- objects -------------------------------------------------------------------------------------


@pytest.mark.parametrize("member", MEMBERS)
def test_objects_preserve_every_member(environment: TableEnvironment, member: str) -> None:
    expected, resolver = resolved(member), SchemaResolver()
    environment.create_table("t", descriptor(member))
    result = environment.find_table("t")
    assert result is not None
    table = cast("ResolvedCatalogTable", result.table)
    copies: list[Schema] = [
        unresolve(expected),
        Schema.new_builder().from_resolved_schema(expected).build(),
        Schema.new_builder().from_schema(schema(member)).build(),
        descriptor(member).to_catalog_table().schema,
        descriptor(member).to_builder().build().to_catalog_table().schema,
        table.get_unresolved_schema(),
        table.copy({"a": "b"}).schema,
        pickle.loads(pickle.dumps(table)).schema,
        copy.deepcopy(table).schema,
        decode_object(table.get_table_kind(), encode_object(table)).schema,
    ]

    assert [expected] * len(copies) == [resolver.resolve(item) for item in copies]
    assert expected == kept(environment)


@pytest.mark.parametrize("member", MEMBERS)
def test_a_table_of_a_descriptor_preserves_every_member(
    environment: TableEnvironment, member: str
) -> None:
    assert resolved(member) == environment.from_descriptor(descriptor(member)).get_resolved_schema()


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("member", sorted(NOT_IN_SQL))
def test_statements_of_other_engines_report_what_they_lose(member: str, dialect: str) -> None:
    expected, losses = resolved(member), " ".join(map(str, ddl_losses(schema(member), dialect)))

    for lost in (*expected.indexes, expected.immutable_columns):
        assert lost is None or str(lost) in losses
