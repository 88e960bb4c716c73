"""Cases of the catalog contract: sample objects, names, and calls that are refused or ignored."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace
from datetime import date
from typing import Any, TypeAlias

import pytest

from schema_core.base.paths import ObjectPath
from schema_core.catalog import objects
from schema_core.catalog.api import Capability, Catalog
from schema_core.catalog.migration_history import (
    CatalogMigration,
    RecordedObject,
    WrittenRows,
)
from schema_core.catalog.objects import CatalogPartitionSpec as Spec
from schema_core.catalog.own_options import COLUMN_HISTORY, PENDING_JOB
from schema_core.catalog.resolve import (
    resolve_materialized_table,
    resolve_model,
    resolve_table,
    resolve_view,
)
from schema_core.catalog.statistics import (
    CatalogColumnStatistics,
    CatalogColumnStatisticsDataBinary,
    CatalogColumnStatisticsDataBoolean,
    CatalogColumnStatisticsDataDate,
    CatalogColumnStatisticsDataDouble,
    CatalogColumnStatisticsDataLong,
    CatalogColumnStatisticsDataString,
    CatalogTableStatistics,
)
from schema_core.catalog.temporary import ResolvedTable
from schema_core.errors import AlreadyExistsError, NotFoundError, SchemaCoreError, SchemaError
from schema_core.schema.resolve import SchemaResolver
from schema_core.schema.unresolved import Schema, unresolve
from schema_core.types import DataTypes

#: Distinct names with characters that stores often mishandle.
ODD_NAMES = {
    "dotted": "a.b.c",
    "blank inside": "two words",
    "blank outside": " edge ",
    "backtick": "back`tick",
    "quotes": 'it\'s "quoted"',
    "slashes": "up/../down\\..",
    "dots": "..",
    "SQL": "'; DROP TABLE x; --",
    "wild cards": "a_%b",
    "wild cards of files": "*?[a]",
    "keyword": "SELECT",
    "digits": "2024",
    "line break": "two\nlines",
    "accent": "é",
    "accent in two": "e\u0301",
    "far east": "注文",
    "emoji": "😀",
    "equals": "a=b/c=d",
    "per cent": "a%2Fb",
    "hash": "a#b: c",
    "long": "n" * 120,
}


def with_derived_schema(table: objects.CatalogBaseTable) -> ResolvedTable:
    """Return the resolved object with a schema derived from its resolved schema.

    Objects of equal meaning then are equal, however written and stored. Errors as of
    `SchemaResolver.resolve`, and `wrong-object-type`.
    """
    resolver = SchemaResolver()
    resolved: ResolvedTable
    match table:
        case objects.CatalogTable():
            resolved = resolve_table(table, resolver)
        case objects.CatalogView():
            resolved = resolve_view(table, resolver, lambda query: ())
        case objects.CatalogMaterializedTable():
            resolved = resolve_materialized_table(table, resolver)
        case _:
            raise SchemaError(
                f"a catalog returned {type(table).__name__!r} instead of a table",
                code="wrong-object-type",
            )
    return replace(resolved, schema=unresolve(resolved.resolved_schema))


def understood_model(model: objects.CatalogModel) -> objects.ResolvedCatalogModel:
    """As `with_derived_schema`, for a model."""
    resolved = resolve_model(model, SchemaResolver())
    return replace(
        resolved,
        input_schema=unresolve(resolved.resolved_input_schema),
        output_schema=unresolve(resolved.resolved_output_schema),
    )


def columns(**types: str) -> Schema:
    """A schema of physical columns."""
    builder = Schema.new_builder()
    for name, type_ in types.items():
        builder.column(name, type_)
    return builder.build()


EVERY_CLAUSE = objects.CatalogTable(
    Schema.new_builder()
    .column("id", "BIGINT NOT NULL")
    .with_comment('it\'s "the" key; `really`\n')
    .column("price", "DECIMAL(10, 2)")
    .column("bought at", "TIMESTAMP_LTZ(3)")
    .column_by_expression("total", "price * 2 + CHAR_LENGTH('`x`')")
    .column_by_metadata("offset", "BIGINT", "value.offset", True)
    .watermark("bought at", "`bought at` - INTERVAL '5' SECOND")
    .primary_key_named("the.key", "id")
    .build(),
    ("price", "bought at"),
    distribution=objects.TableDistribution.of_hash(["id"], 8),
    options={"connector": "filesystem", "path": "s3://b/ü?x=1#y", "empty": "", " k ": "a: 'b'\n"},
    comment="orders; \"all\" of them, 'really'",
)

#: Every kind of type, and nesting.
EVERY_TYPE = columns(
    a="CHAR(3)", b="STRING", c="BINARY(4)", d="BYTES", e="BOOLEAN NOT NULL", f="DECIMAL(38, 18)",
    g="TINYINT", h="SMALLINT", i="INT", j="BIGINT", k="FLOAT", l="DOUBLE", m="DATE", n="TIME(3)",
    o="TIMESTAMP(9)", p="TIMESTAMP_LTZ(6)", q="INTERVAL DAY(2) TO SECOND(3)",
    r="ARRAY<INT NOT NULL> NOT NULL", s="MAP<STRING, MULTISET<INT>>",
    t="ROW<`a b` ROW<c ARRAY<DOUBLE>> NOT NULL, `d``e` INT 'comment'>", u="VARCHAR(7)",
)  # fmt: skip

UNRESOLVED_VIEW = objects.CatalogView(
    columns(id="BIGINT NOT NULL", n="STRING"),
    "SELECT id, 'it''s' AS n FROM orders -- all",
    "SELECT `orders`.`id`, 'it''s' AS `n`\nFROM `c`.`db`.`orders` AS `orders`",
    options={"k": "v"},
    comment="recent",
)

MATERIALIZED = objects.CatalogMaterializedTable(
    columns(day="STRING", total="DECIMAL(38, 2)"),
    "SELECT day, SUM(x) AS total FROM t GROUP BY day",
    "SELECT `day`, SUM(`x`) AS `total` FROM `c`.`db`.`t` GROUP BY `day`",
    logical_refresh_mode=objects.LogicalRefreshMode.FULL,
    refresh_status=objects.RefreshStatus.INITIALIZING,
    freshness=objects.Freshness.of("1", objects.FreshnessUnit.HOUR),
    partition_keys=("day",),
    refresh_handler_description="a job",
    refresh_handler=b"\x00\xff job",
    options={"format": "json"},
    comment="totals",
)

PLAIN = with_derived_schema(objects.CatalogTable(columns(a="INT", b="STRING")))
PARTITIONED = with_derived_schema(
    objects.CatalogTable(columns(a="INT", b="STRING", c="STRING"), ("b", "c"))
)

#: Table-like objects by what is special about them.
TABLES: dict[str, ResolvedTable] = {
    "plain": PLAIN,
    "partitioned": PARTITIONED,
    "every clause": with_derived_schema(EVERY_CLAUSE),
    "every type": with_derived_schema(objects.CatalogTable(EVERY_TYPE)),
    "no columns": with_derived_schema(objects.CatalogTable(Schema())),
    "1000 columns": with_derived_schema(
        objects.CatalogTable(columns(**{f"c{i}": "INT" for i in range(1000)}))
    ),
    "odd columns": with_derived_schema(
        objects.CatalogTable(columns(**dict.fromkeys(ODD_NAMES.values(), "INT")))
    ),
    "long option": with_derived_schema(
        objects.CatalogTable(columns(a="INT"), options={"k": "v" * 100_000})
    ),
    "many options": with_derived_schema(
        objects.CatalogTable(columns(a="INT"), options={f"z{-i}": str(i) for i in range(500)})
    ),
    # A job that creates a table marks it with options that users cannot set: they are stored.
    "options of the library": with_derived_schema(
        objects.CatalogTable(columns(a="INT"), options={PENDING_JOB: "m", COLUMN_HISTORY: "n"})
    ),
    "only buckets": with_derived_schema(
        objects.CatalogTable(
            columns(a="INT"), distribution=objects.TableDistribution.of_unknown(bucket_count=3)
        )
    ),
    "view": with_derived_schema(UNRESOLVED_VIEW),
    "view without more": with_derived_schema(
        objects.CatalogView(columns(a="INT"), "SELECT 1", "SELECT 1")
    ),
    "materialized table": with_derived_schema(MATERIALIZED),
}

MIGRATION = CatalogMigration(
    "0001_create_orders",
    1,
    "sha256:00ff",
    (),
    "2026-11-24T10:30:00+00:00",
    "-- up\nCREATE TABLE orders (id BIGINT);\n-- down\nDROP TABLE orders;\n",
    (
        RecordedObject("db", "orders", "TABLE", {"schema.0.name": "it's \u00e9", "comment": ""}),
        RecordedObject("gone", "", "DATABASE", None),
    ),
    stamped=True,
    applied_by="ann \u8868",
    milliseconds=1_234,
    written_rows=(WrittenRows("db", "orders", "rewrite", 336_776),),
)

MODEL = understood_model(
    objects.CatalogModel(
        columns(text="STRING NOT NULL"),
        columns(label="STRING", score="DOUBLE"),
        options={"provider": "openai", "endpoint": "https://h/v1?a=b", "task": "it's"},
        comment="feelings",
    )
)
MODELS = {
    "every clause": MODEL,
    "nothing": understood_model(objects.CatalogModel(Schema(), Schema())),
}

FUNCTION = objects.CatalogFunction(
    "org.example.Plus$One",
    objects.FunctionLanguage.JAVA,
    (objects.ResourceUri("JAR", "file:///a b.jar"), objects.ResourceUri("FILE", "s3://b/c.txt")),
    {"k": "v"},
)
FUNCTIONS = {
    "every clause": FUNCTION,
    "Python": objects.CatalogFunction("package.module.function"),
}

#: User-defined types by what makes them: a source, or attributes.
TYPES = {
    "distinct": objects.CatalogType(DataTypes.DECIMAL(10, 2), 'money; it\'s in "euros"\n'),
    "distinct without more": objects.CatalogType(DataTypes.STRING()),
    "structured": objects.CatalogType(
        DataTypes.ROW(
            [
                DataTypes.FIELD("street", DataTypes.STRING().not_null(), "with `number`"),
                DataTypes.FIELD("at", DataTypes.ARRAY(DataTypes.DOUBLE()).not_null()),
            ]
        ),
        "an address",
    ),
}


Call: TypeAlias = Callable[[Any], object]

# Paths of a populated catalog, and without objects.
ORDERS, RECENT, EVENTS = ObjectPath("db", "t"), ObjectPath("db", "v"), ObjectPath("db", "p")
MODEL_PATH, FUNCTION_PATH = ObjectPath("db", "m"), ObjectPath("db", "f")
TYPE_PATH, MONEY = ObjectPath("db", "money"), TYPES["distinct"]
NOTHING, NOWHERE = ObjectPath("db", "nothing"), ObjectPath("nowhere", "t")
DATABASE = objects.CatalogDatabase.create_instance({"k": "v", "": " a: 'b'\n"}, 'it\'s "the" one')
PARTITION = objects.CatalogPartition.create_instance({"k": "v", "path": "s3://b/x=1"}, "a part")
SPEC = Spec({"b": "x/y", "c": "1"})
OTHER = Spec({"b": "x/y", "c": "2"})
VIEW = TABLES["view"]

# The capability that a row requires; tables require none.
PARTS, CALLS, LEARNT = Capability.PARTITIONS, Capability.FUNCTIONS, Capability.MODELS
KINDS, REFRESHED = Capability.TYPES, Capability.MATERIALIZED_TABLES
MEASURED = Capability.STATISTICS

#: Statistics of every kind, and of none.
STATISTICS = CatalogTableStatistics(1_000, 3, 2**40, 5_000_000_000, {"k": "v", "": " a: 'b'\n"})
COLUMN_STATISTICS = CatalogColumnStatistics(
    {
        "a": CatalogColumnStatisticsDataLong(-(2**63), 2**63 - 1, 7, 0),
        "b": CatalogColumnStatisticsDataString(12, 3.5, 4, 1),
        "`c` d": CatalogColumnStatisticsDataDouble(float("-inf"), 1e300, None, 2),
        "day": CatalogColumnStatisticsDataDate(date(1, 1, 1), date(9999, 12, 31), 2, 0),
        "is": CatalogColumnStatisticsDataBoolean(1, 2, 3),
        "bytes": CatalogColumnStatisticsDataBinary(10, 0.1, None),
        "nothing": CatalogColumnStatisticsDataLong(),
    },
    {"by": "me"},
)

#: Refused calls: required capability, name, call, error code.
REFUSED: tuple[tuple[Capability | None, str, Call, str], ...] = (
    (None, "create a database without name",
     lambda c: c.create_database(" ", DATABASE, True), "invalid-name"),
    (None, "rename to no name", lambda c: c.rename_table(ORDERS, "", True), "invalid-name"),
    (None, "get a database", lambda c: c.get_database("nowhere"), "database-not-found"),
    (None, "create a database twice",
     lambda c: c.create_database("db", DATABASE, False), "database-exists"),
    (None, "drop no database", lambda c: c.drop_database("nowhere", False), "database-not-found"),
    (None, "drop no database with all",
     lambda c: c.drop_database("nowhere", False, True), "database-not-found"),
    (None, "drop a full database", lambda c: c.drop_database("db", False), "database-not-empty"),
    (None, "drop a full database if it exists",
     lambda c: c.drop_database("db", True), "database-not-empty"),
    (None, "alter no database",
     lambda c: c.alter_database("nowhere", DATABASE, False), "database-not-found"),
    (None, "list tables nowhere", lambda c: c.list_tables("nowhere"), "database-not-found"),
    (None, "list views nowhere", lambda c: c.list_views("nowhere"), "database-not-found"),
    (None, "get a table", lambda c: c.get_table(NOTHING), "table-not-found"),
    (None, "get a table nowhere", lambda c: c.get_table(NOWHERE), "table-not-found"),
    (None, "create a table twice", lambda c: c.create_table(ORDERS, PLAIN, False), "table-exists"),
    (None, "create a table over a view",
     lambda c: c.create_table(RECENT, PLAIN, False), "table-exists"),
    (None, "create a view over a table",
     lambda c: c.create_table(ORDERS, VIEW, False), "table-exists"),
    (None, "create a table nowhere",
     lambda c: c.create_table(NOWHERE, PLAIN, False), "database-not-found"),
    (None, "create a table nowhere if not exists",
     lambda c: c.create_table(NOWHERE, PLAIN, True), "database-not-found"),
    (None, "alter no table", lambda c: c.alter_table(NOTHING, PLAIN, False), "table-not-found"),
    (None, "alter a table to a view",
     lambda c: c.alter_table(ORDERS, VIEW, False), "wrong-object-type"),
    (None, "alter a view to a table",
     lambda c: c.alter_table(RECENT, PLAIN, True), "wrong-object-type"),
    (None, "drop no table", lambda c: c.drop_table(NOTHING, False), "table-not-found"),
    (None, "drop a table nowhere", lambda c: c.drop_table(NOWHERE, False), "table-not-found"),
    (None, "rename no table", lambda c: c.rename_table(NOTHING, "x", False), "table-not-found"),
    (None, "rename to a table", lambda c: c.rename_table(ORDERS, "p", False), "table-exists"),
    (None, "rename to a view", lambda c: c.rename_table(ORDERS, "v", True), "table-exists"),
    (PARTS, "list partitions of none", lambda c: c.list_partitions(ORDERS), "not-partitioned"),
    (PARTS, "list partitions of a view", lambda c: c.list_partitions(RECENT), "not-partitioned"),
    (PARTS, "list partitions of nothing", lambda c: c.list_partitions(NOTHING), "table-not-found"),
    (PARTS, "get no partition", lambda c: c.get_partition(EVENTS, OTHER), "partition-not-found"),
    (PARTS, "create a partition twice",
     lambda c: c.create_partition(EVENTS, SPEC, PARTITION, False), "partition-exists"),
    (PARTS, "create a partition of none",
     lambda c: c.create_partition(ORDERS, SPEC, PARTITION, False), "not-partitioned"),
    (PARTS, "create a partition of nothing",
     lambda c: c.create_partition(NOTHING, SPEC, PARTITION, False), "table-not-found"),
    (PARTS, "create half a partition",
     lambda c: c.create_partition(EVENTS, Spec({"b": "1"}), PARTITION, False),
     "invalid-partition-spec"),
    (PARTS, "create a wider partition",
     lambda c: c.create_partition(EVENTS, Spec({"a": "1", "b": "1", "c": "1"}), PARTITION, False),
     "invalid-partition-spec"),
    (PARTS, "create another partition",
     lambda c: c.create_partition(EVENTS, Spec({"a": "1", "c": "1"}), PARTITION, False),
     "invalid-partition-spec"),
    (PARTS, "alter no partition",
     lambda c: c.alter_partition(EVENTS, OTHER, PARTITION, False), "partition-not-found"),
    (PARTS, "drop no partition",
     lambda c: c.drop_partition(EVENTS, OTHER, False), "partition-not-found"),
    (PARTS, "drop a partition of none",
     lambda c: c.drop_partition(ORDERS, OTHER, False), "partition-not-found"),
    (PARTS, "drop a partition of nothing",
     lambda c: c.drop_partition(NOTHING, OTHER, False), "partition-not-found"),
    (PARTS, "get a partition of none",
     lambda c: c.get_partition(ORDERS, SPEC), "partition-not-found"),
    (PARTS, "get a partition of nothing",
     lambda c: c.get_partition(NOWHERE, SPEC), "partition-not-found"),
    (PARTS, "get half a partition",
     lambda c: c.get_partition(EVENTS, Spec({"b": "x/y"})), "partition-not-found"),
    (PARTS, "alter a partition of none",
     lambda c: c.alter_partition(ORDERS, SPEC, PARTITION, False), "partition-not-found"),
    (MEASURED, "get statistics of nothing",
     lambda c: c.get_table_statistics(NOTHING), "table-not-found"),
    (MEASURED, "get statistics of the columns of nothing",
     lambda c: c.get_table_column_statistics(NOWHERE), "table-not-found"),
    (MEASURED, "alter statistics of nothing",
     lambda c: c.alter_table_statistics(NOTHING, STATISTICS, False), "table-not-found"),
    (MEASURED, "alter statistics of the columns of nothing",
     lambda c: c.alter_table_column_statistics(NOTHING, COLUMN_STATISTICS, False),
     "table-not-found"),
    (MEASURED, "get statistics of no partition",
     lambda c: c.get_partition_statistics(EVENTS, OTHER), "partition-not-found"),
    (MEASURED, "get statistics of several partitions",
     lambda c: c.bulk_get_partition_statistics(EVENTS, [SPEC, OTHER]), "partition-not-found"),
    (MEASURED, "get statistics of a partition of none",
     lambda c: c.get_partition_column_statistics(ORDERS, SPEC), "partition-not-found"),
    (MEASURED, "alter statistics of no partition",
     lambda c: c.alter_partition_statistics(EVENTS, OTHER, STATISTICS, False),
     "partition-not-found"),
    (CALLS, "list functions nowhere", lambda c: c.list_functions("nowhere"), "database-not-found"),
    (CALLS, "get no function", lambda c: c.get_function(NOTHING), "function-not-found"),
    (CALLS, "create a function twice",
     lambda c: c.create_function(FUNCTION_PATH, FUNCTION, False), "function-exists"),
    (CALLS, "create a function in another case",
     lambda c: c.create_function(ObjectPath("db", "F"), FUNCTION, False), "function-exists"),
    (CALLS, "create a function nowhere",
     lambda c: c.create_function(NOWHERE, FUNCTION, True), "database-not-found"),
    (CALLS, "alter no function",
     lambda c: c.alter_function(NOTHING, FUNCTION, False), "function-not-found"),
    (CALLS, "drop no function", lambda c: c.drop_function(NOTHING, False), "function-not-found"),
    (LEARNT, "list models nowhere", lambda c: c.list_models("nowhere"), "database-not-found"),
    (LEARNT, "get no model", lambda c: c.get_model(NOTHING), "model-not-found"),
    (LEARNT, "create a model twice",
     lambda c: c.create_model(MODEL_PATH, MODEL, False), "model-exists"),
    (LEARNT, "create a model nowhere",
     lambda c: c.create_model(NOWHERE, MODEL, True), "database-not-found"),
    (LEARNT, "alter no model", lambda c: c.alter_model(NOTHING, MODEL, False), "model-not-found"),
    (LEARNT, "drop no model", lambda c: c.drop_model(NOTHING, False), "model-not-found"),
    (LEARNT, "rename no model", lambda c: c.rename_model(NOTHING, "x", False), "model-not-found"),
    (KINDS, "list types nowhere", lambda c: c.list_types("nowhere"), "database-not-found"),
    (KINDS, "get no type", lambda c: c.get_type(NOTHING), "type-not-found"),
    (KINDS, "create a type twice", lambda c: c.create_type(TYPE_PATH, MONEY, False), "type-exists"),
    (KINDS, "create a type nowhere",
     lambda c: c.create_type(NOWHERE, MONEY, True), "database-not-found"),
    (KINDS, "drop no type", lambda c: c.drop_type(NOTHING, False), "type-not-found"),
)  # fmt: skip

#: What a flag turns into nothing.
IGNORED: tuple[tuple[Capability | None, str, Call], ...] = (
    (None, "create a database", lambda c: c.create_database("db", objects.CatalogDatabase(), True)),
    (None, "drop a database", lambda c: c.drop_database("nowhere", True, True)),
    (None, "alter a database", lambda c: c.alter_database("nowhere", DATABASE, True)),
    (None, "create a table", lambda c: c.create_table(ORDERS, PARTITIONED, True)),
    (None, "create a view over a table", lambda c: c.create_table(ORDERS, VIEW, True)),
    (None, "alter a table", lambda c: c.alter_table(NOTHING, PLAIN, True)),
    (None, "drop a table", lambda c: c.drop_table(NOTHING, True)),
    (None, "drop a table nowhere", lambda c: c.drop_table(NOWHERE, True)),
    (None, "rename a table", lambda c: c.rename_table(NOTHING, "x", True)),
    (PARTS, "drop a partition", lambda c: c.drop_partition(EVENTS, OTHER, True)),
    (PARTS, "drop a partition of none", lambda c: c.drop_partition(ORDERS, OTHER, True)),
    (PARTS, "drop a partition of nothing", lambda c: c.drop_partition(NOTHING, OTHER, True)),
    (PARTS, "alter a partition of none",
     lambda c: c.alter_partition(ORDERS, OTHER, PARTITION, True)),
    (PARTS, "alter a partition", lambda c: c.alter_partition(EVENTS, OTHER, PARTITION, True)),
    (MEASURED, "alter statistics",
     lambda c: c.alter_table_statistics(NOTHING, STATISTICS, True)),
    (MEASURED, "alter statistics of a partition",
     lambda c: c.alter_partition_column_statistics(EVENTS, OTHER, COLUMN_STATISTICS, True)),
    (CALLS, "create a function",
     lambda c: c.create_function(FUNCTION_PATH, FUNCTIONS["Python"], True)),
    (CALLS, "alter a function", lambda c: c.alter_function(NOTHING, FUNCTION, True)),
    (CALLS, "drop a function", lambda c: c.drop_function(NOTHING, True)),
    (LEARNT, "create a model", lambda c: c.create_model(MODEL_PATH, MODELS["nothing"], True)),
    (LEARNT, "alter a model", lambda c: c.alter_model(NOTHING, MODEL, True)),
    (LEARNT, "drop a model", lambda c: c.drop_model(NOTHING, True)),
    (LEARNT, "rename a model", lambda c: c.rename_model(NOTHING, "x", True)),
    (KINDS, "create a type", lambda c: c.create_type(TYPE_PATH, TYPES["structured"], True)),
    (KINDS, "drop a type", lambda c: c.drop_type(NOTHING, True)),
)  # fmt: skip

#: What a catalog without a capability refuses.
WITHOUT: tuple[tuple[Capability, str, Call], ...] = (
    (PARTS, "list partitions", lambda c: c.list_partitions(EVENTS)),
    (PARTS, "create a partition", lambda c: c.create_partition(EVENTS, SPEC, PARTITION, True)),
    (MEASURED, "get statistics", lambda c: c.get_table_statistics(ORDERS)),
    (MEASURED, "alter statistics", lambda c: c.alter_table_statistics(ORDERS, STATISTICS, True)),
    (CALLS, "get a function", lambda c: c.get_function(FUNCTION_PATH)),
    (CALLS, "create a function", lambda c: c.create_function(NOTHING, FUNCTION, True)),
    (LEARNT, "get a model", lambda c: c.get_model(MODEL_PATH)),
    (LEARNT, "create a model", lambda c: c.create_model(NOTHING, MODEL, True)),
    (KINDS, "get a type", lambda c: c.get_type(TYPE_PATH)),
    (KINDS, "create a type", lambda c: c.create_type(NOTHING, MONEY, True)),
    (Capability.MIGRATIONS, "transaction", lambda c: c.transaction()),
    (Capability.MIGRATIONS, "add a migration", lambda c: c.add_migration(MIGRATION)),
    (Capability.MIGRATIONS, "remove a migration", lambda c: c.remove_migration("0001_a")),
    (Capability.PROCEDURES, "list procedures", lambda c: c.list_procedures("db")),
    (Capability.PROCEDURES, "get a procedure", lambda c: c.get_procedure(NOTHING)),
    (REFRESHED, "list materialized tables", lambda c: c.list_materialized_tables("db")),
)


#: Kind of object -> the capability that it requires, and SQL statements that each change what the
#: catalog stores. They run in this order, in the database `db` of a populated catalog.
STATEMENTS: dict[str, tuple[Capability | None, tuple[str, ...]]] = {
    "database": (None, (
        "CREATE DATABASE made COMMENT 'it''s made' WITH ('a' = '1')",
        "ALTER DATABASE made SET ('a' = '2', 'b' = '3')",
        "ALTER DATABASE db SET ('k' = 'changed')",
        "DROP DATABASE made RESTRICT",
        "CREATE DATABASE made",
        "CREATE TABLE made.t (a INT) WITH ('connector' = 'blackhole')",
        "DROP DATABASE made CASCADE",
    )),
    "table": (None, (
        """CREATE TABLE made (a INT NOT NULL, b STRING, c TIMESTAMP(3)) COMMENT 'it''s made'
           WITH ('connector' = 'blackhole', 'k' = '1')""",
        "CREATE TABLE alike LIKE made",
        "ALTER TABLE made ADD d INT COMMENT 'the last'",
        "ALTER TABLE made ADD (e STRING FIRST, f AS a + 1 AFTER a)",
        "ALTER TABLE made MODIFY d BIGINT FIRST",
        "ALTER TABLE made RENAME d TO g",
        "ALTER TABLE made DROP (g, f)",
        "ALTER TABLE made ADD WATERMARK FOR c AS c - INTERVAL '1' SECOND",
        "ALTER TABLE made MODIFY WATERMARK FOR c AS c - INTERVAL '2' SECOND",
        "ALTER TABLE made DROP WATERMARK",
        "ALTER TABLE made ADD CONSTRAINT key_ PRIMARY KEY (a) NOT ENFORCED",
        "ALTER TABLE made MODIFY CONSTRAINT key_of_a PRIMARY KEY (a) NOT ENFORCED",
        "ALTER TABLE made DROP PRIMARY KEY",
        "ALTER TABLE made ADD DISTRIBUTION BY HASH(a) INTO 4 BUCKETS",
        "ALTER TABLE made MODIFY DISTRIBUTION BY HASH(b) INTO 6 BUCKETS",
        "ALTER TABLE made DROP DISTRIBUTION",
        "ALTER TABLE made SET ('k' = '2', 'l' = '3')",
        "ALTER TABLE made RESET ('k')",
        "ALTER TABLE made RENAME TO renamed",
        "DROP TABLE renamed",
    )),
    "view": (None, (
        "CREATE TABLE base (a INT, b STRING) WITH ('connector' = 'blackhole')",
        "CREATE VIEW made (x) COMMENT 'made' AS SELECT a FROM base",
        "ALTER VIEW made AS SELECT b FROM base",
        "ALTER VIEW made RENAME TO renamed",
        "DROP VIEW renamed",
    )),
    "partition": (PARTS, (
        "ALTER TABLE p ADD PARTITION (b = 'made', c = '2') WITH ('k' = '1')",
        "ALTER TABLE p DROP PARTITION (b = 'made', c = '2')",
    )),
    "function": (CALLS, (
        "CREATE FUNCTION made AS 'a.B' LANGUAGE JAVA",
        "ALTER FUNCTION made AS 'a.C' LANGUAGE SCALA",
        "DROP FUNCTION made",
    )),
    "model": (LEARNT, (
        """CREATE MODEL made INPUT (a INT) OUTPUT (b STRING) COMMENT 'it''s made'
           WITH ('provider' = 'openai', 'k' = '1')""",
        "ALTER MODEL made SET ('k' = '2', 'l' = '3')",
        "ALTER MODEL made RESET ('k')",
        "ALTER MODEL made RENAME TO renamed",
        "DROP MODEL renamed",
    )),
}  # fmt: skip

#: Kind of object -> the capability that it requires, the statement by which writer {0} sets what no
#: other sets in its turn {1}, and what has been set.
SETTINGS: dict[str, tuple[Capability | None, str, Callable[[Catalog], Collection[str]]]] = {
    "table": (None, "ALTER TABLE db.t ADD w{0}_{1} INT",
        lambda c: [column.name for column in c.get_table(ORDERS).get_unresolved_schema().columns]),
    "database": (None, "ALTER DATABASE db SET ('w{0}_{1}' = '1')",
        lambda c: c.get_database("db").get_properties()),
    "model": (LEARNT, "ALTER MODEL db.m SET ('w{0}_{1}' = '1')",
        lambda c: c.get_model(MODEL_PATH).get_options()),
}  # fmt: skip


def kind_of(code: str) -> type[SchemaCoreError]:
    """The class of errors with this code."""
    if code.endswith("-not-found"):
        return NotFoundError
    return AlreadyExistsError if code.endswith("-exists") else SchemaError


def need(catalog: Catalog, capability: Capability | None) -> None:
    """Skip the test if the catalog lacks the capability."""
    if capability is not None and capability not in catalog.capabilities:
        pytest.skip(f"{type(catalog).__name__} does not store {capability.value}")


def state(catalog: Catalog) -> dict[str, object]:
    """Return all that the catalog stores, with equal values for equal meanings."""
    stored: dict[str, object] = {}
    for name in catalog.list_databases():
        database = catalog.get_database(name)
        stored[f"database {name}"] = (database.get_properties(), database.get_comment())
        for table in catalog.list_tables(name):
            path = ObjectPath(name, table)
            stored[f"table {path}"] = with_derived_schema(catalog.get_table(path))
        if Capability.FUNCTIONS in catalog.capabilities:
            for function in catalog.list_functions(name):
                path = ObjectPath(name, function)
                stored[f"function {path}"] = catalog.get_function(path)
        if Capability.MODELS in catalog.capabilities:
            for model in catalog.list_models(name):
                path = ObjectPath(name, model)
                stored[f"model {path}"] = understood_model(catalog.get_model(path))
        if Capability.TYPES in catalog.capabilities:
            for type_ in catalog.list_types(name):
                path = ObjectPath(name, type_)
                stored[f"type {path}"] = catalog.get_type(path)
    if Capability.PARTITIONS in catalog.capabilities and catalog.table_exists(EVENTS):
        for spec in catalog.list_partitions(EVENTS):
            stored[f"partition {spec}"] = catalog.get_partition(EVENTS, spec)
    return stored
