"""Sample objects that a catalog must return unchanged, and names that it must support."""

from __future__ import annotations

from dataclasses import replace

from schema_core.catalog.objects import (
    CatalogBaseTable,
    CatalogFunction,
    CatalogMaterializedTable,
    CatalogModel,
    CatalogTable,
    CatalogType,
    CatalogView,
    Freshness,
    FreshnessUnit,
    FunctionLanguage,
    LogicalRefreshMode,
    RefreshStatus,
    ResolvedCatalogModel,
    ResourceUri,
    TableDistribution,
)
from schema_core.catalog.resolve import (
    resolve_materialized_table,
    resolve_model,
    resolve_table,
    resolve_view,
)
from schema_core.catalog.temporary import ResolvedTable
from schema_core.errors import SchemaError
from schema_core.schema.resolve import SchemaResolver
from schema_core.schema.unresolved import Schema, unresolve
from schema_core.types import DataTypes

#: Distinct names with characters that stores often mishandle.
ODD_NAMES = {
    "dotted": "a.b.c",
    "blank inside": "two words",
    "blank outside": " edge ",
    "back-tick": "back`tick",
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


def understood(table: CatalogBaseTable) -> ResolvedTable:
    """Return the resolved object with a schema that is derived from its resolved schema.

    Two objects have the same meaning if these are equal, however each was written and stored.

    Raises:
        SchemaError: with code `wrong-table-kind` for an object of an unknown kind; and as
            `SchemaResolver.resolve`.
    """
    resolver = SchemaResolver()
    resolved: ResolvedTable
    match table:
        case CatalogTable():
            resolved = resolve_table(table, resolver)
        case CatalogView():
            resolved = resolve_view(table, resolver, lambda query: ())
        case CatalogMaterializedTable():
            resolved = resolve_materialized_table(table, resolver)
        case _:
            raise SchemaError(f"a catalog gave a {type(table).__name__}", code="wrong-table-kind")
    return replace(resolved, schema=unresolve(resolved.resolved_schema))


def understood_model(model: CatalogModel) -> ResolvedCatalogModel:
    """As `understood`, for a model."""
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


EVERY_CLAUSE = CatalogTable(
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
    distribution=TableDistribution.of_hash(["id"], 8),
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

VIEW = CatalogView(
    columns(id="BIGINT NOT NULL", n="STRING"),
    "SELECT id, 'it''s' AS n FROM orders -- all",
    "SELECT `orders`.`id`, 'it''s' AS `n`\nFROM `c`.`db`.`orders` AS `orders`",
    options={"k": "v"},
    comment="recent",
)

MATERIALIZED = CatalogMaterializedTable(
    columns(day="STRING", total="DECIMAL(38, 2)"),
    "SELECT day, SUM(x) AS total FROM t GROUP BY day",
    "SELECT `day`, SUM(`x`) AS `total` FROM `c`.`db`.`t` GROUP BY `day`",
    logical_refresh_mode=LogicalRefreshMode.FULL,
    refresh_status=RefreshStatus.INITIALIZING,
    freshness=Freshness.of("1", FreshnessUnit.HOUR),
    partition_keys=("day",),
    refresh_handler_description="a job",
    refresh_handler=b"\x00\xff job",
    options={"format": "json"},
    comment="totals",
)

PLAIN = understood(CatalogTable(columns(a="INT", b="STRING")))
PARTITIONED = understood(CatalogTable(columns(a="INT", b="STRING", c="STRING"), ("b", "c")))

#: Table-like objects by what is special about them.
TABLES: dict[str, ResolvedTable] = {
    "plain": PLAIN,
    "partitioned": PARTITIONED,
    "every clause": understood(EVERY_CLAUSE),
    "every type": understood(CatalogTable(EVERY_TYPE)),
    "no columns": understood(CatalogTable(Schema())),
    "1000 columns": understood(CatalogTable(columns(**{f"c{i}": "INT" for i in range(1000)}))),
    "odd columns": understood(CatalogTable(columns(**dict.fromkeys(ODD_NAMES.values(), "INT")))),
    "long option": understood(CatalogTable(columns(a="INT"), options={"k": "v" * 100_000})),
    "many options": understood(
        CatalogTable(columns(a="INT"), options={f"z{-i}": str(i) for i in range(500)})
    ),
    "only buckets": understood(
        CatalogTable(columns(a="INT"), distribution=TableDistribution.of_unknown(bucket_count=3))
    ),
    "view": understood(VIEW),
    "view without more": understood(CatalogView(columns(a="INT"), "SELECT 1", "SELECT 1")),
    "materialized table": understood(MATERIALIZED),
}

MODEL = understood_model(
    CatalogModel(
        columns(text="STRING NOT NULL"),
        columns(label="STRING", score="DOUBLE"),
        options={"provider": "openai", "endpoint": "https://h/v1?a=b", "task": "it's"},
        comment="feelings",
    )
)
MODELS = {
    "every clause": MODEL,
    "nothing": understood_model(CatalogModel(Schema(), Schema())),
}

FUNCTION = CatalogFunction(
    "org.example.Plus$One",
    FunctionLanguage.JAVA,
    (ResourceUri("JAR", "file:///a b.jar"), ResourceUri("FILE", "s3://b/c.txt")),
    {"k": "v"},
)
FUNCTIONS = {
    "every clause": FUNCTION,
    "Python": CatalogFunction("package.module.function"),
}

#: User-defined types by what makes them: a source, or attributes.
TYPES = {
    "distinct": CatalogType(DataTypes.DECIMAL(10, 2), 'money; it\'s in "euros"\n'),
    "distinct without more": CatalogType(DataTypes.STRING()),
    "structured": CatalogType(
        DataTypes.ROW(
            [
                DataTypes.FIELD("street", DataTypes.STRING().not_null(), "with `number`"),
                DataTypes.FIELD("at", DataTypes.ARRAY(DataTypes.DOUBLE()).not_null()),
            ]
        ),
        "an address",
    ),
}
