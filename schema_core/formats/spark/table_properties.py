"""The properties by which Spark keeps the schema of a table in a Hive metastore.

The schema is the JSON of a StructType, under one key or in numbered parts; partition and bucket
columns are numbered lists (Spark's HiveExternalCatalog). Spark has no checksum, so what it lost can
only be told by a missing part or by JSON that does not end.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from schema_core.catalog.objects import CatalogTable, ResolvedCatalogTable, TableDistribution
from schema_core.errors import Diagnostic, Gathering, SchemaError, at, similar
from schema_core.formats.foreign_schema import raise_refused
from schema_core.formats.loss import Policy
from schema_core.formats.properties.keys import Properties, malformed_key
from schema_core.formats.spark import schemas
from schema_core.formats.spark.types import CHAR_VARCHAR
from schema_core.schema.resolved import ResolvedSchema
from schema_core.schema.unresolved import Schema
from schema_core.types import CharType, DataType, VarCharType
from schema_core.types.base import MAX_LENGTH

SOURCES = "spark.sql.sources."
SCHEMA = f"{SOURCES}schema"
PROVIDER, PARTS, PART = f"{SOURCES}provider", f"{SCHEMA}.numParts", f"{SCHEMA}.part."
PARTITIONS, PARTITION = f"{SCHEMA}.numPartCols", f"{SCHEMA}.partCol."
BUCKETS = f"{SCHEMA}.numBuckets"
BUCKET_COLUMNS, BUCKET_COLUMN = f"{SCHEMA}.numBucketCols", f"{SCHEMA}.bucketCol."
SORT_COLUMNS, SORT_COLUMN = f"{SCHEMA}.numSortCols", f"{SCHEMA}.sortCol."

#: The lists of columns: how many, and how their keys begin.
LISTS = ((PARTITIONS, PARTITION), (BUCKET_COLUMNS, BUCKET_COLUMN), (SORT_COLUMNS, SORT_COLUMN))

#: ``spark.sql.sources.schemaStringLengthThreshold``: characters of one property.
THRESHOLD = 4_000


def has_spark_schema(properties: Mapping[str, str]) -> bool:
    """Whether Spark wrote the schema of a table into these properties."""
    return any(key.startswith(SCHEMA) for key in properties)


# --- writing -------------------------------------------------------------------------------------


def write_spark_table(
    table: ResolvedCatalogTable,
    provider: str = "parquet",
    *,
    on_loss: Policy = "error",
    threshold: int = THRESHOLD,
) -> Properties:
    """The properties that Spark writes for a table of this schema.

    Raises:
        UnsupportedError: for a type that Spark cannot hold, and as `loss.enforce`.

    >>> from schema_core.catalog.objects import ResolvedCatalogTable
    >>> from schema_core.schema.resolved import ResolvedSchema
    >>> from schema_core.schema.unresolved import Schema
    >>> from schema_core.types import DataTypes
    >>> schema = ResolvedSchema.physical(["id"], [DataTypes.INT()])
    >>> sorted(write_spark_table(ResolvedCatalogTable(Schema(), resolved_schema=schema)))
    ['spark.sql.sources.provider', 'spark.sql.sources.schema']
    """
    text = schema_json(table.resolved_schema, on_loss)
    properties = {PROVIDER: provider}
    if len(text) <= threshold:
        properties[SCHEMA] = text
    else:
        parts = [text[start : start + threshold] for start in range(0, len(text), threshold)]
        properties |= indexed_properties(PARTS, PART, parts)
    if table.partition_keys:
        properties |= indexed_properties(PARTITIONS, PARTITION, table.partition_keys)
    distribution = table.distribution
    if distribution is not None and distribution.bucket_count and distribution.bucket_keys:
        properties[BUCKETS] = str(distribution.bucket_count)
        properties |= indexed_properties(BUCKET_COLUMNS, BUCKET_COLUMN, distribution.bucket_keys)
    return properties


def schema_json(schema: ResolvedSchema, on_loss: Policy) -> str:
    """The JSON of a schema as Spark keeps it: CHAR and VARCHAR are strings with its own note."""
    tree = schemas.parse_json(schemas.to_json(schema, on_loss=on_loss))
    types = {column.name: column.data_type for column in schema.columns}
    for field in tree["fields"]:
        if (told := bounded_string(types[field["name"]])) is not None:
            field["metadata"][CHAR_VARCHAR] = told
    return schemas.print_json(tree)


def bounded_string(type_: DataType) -> str | None:
    """What Spark calls a string of limited length, or None.

    >>> from schema_core.types import DataTypes
    >>> bounded_string(DataTypes.VARCHAR(7)), bounded_string(DataTypes.STRING())
    ('varchar(7)', None)
    """
    match type_:
        case CharType(length=length):
            return f"char({length})"
        case VarCharType(length=length) if length < MAX_LENGTH:
            return f"varchar({length})"
        case _:
            return None


def indexed_properties(count: str, prefix: str, texts: tuple[str, ...] | list[str]) -> Properties:
    """A list as Spark writes it: how many, and each under its number."""
    return {count: str(len(texts))} | {f"{prefix}{i}": text for i, text in enumerate(texts)}


# --- reading -------------------------------------------------------------------------------------


def read_spark_table(
    properties: Mapping[str, str],
) -> tuple[CatalogTable, tuple[Diagnostic, ...]]:
    """The table that Spark's properties tell of, and what cannot be known of it.

    Raises:
        SchemaError: with code `missing-key` or `invalid-key-value` for every key that is damaged,
            `invalid-spark-schema` for a schema that is no StructType.
        UnsupportedError: with code `type-not-in-flink` for columns that no type stands for.
    """
    require_well_formed(properties)
    with at(SCHEMA):
        found = schemas.from_json(stored_schema_json(properties))
    raise_refused(found.refused)
    buckets = properties.get(BUCKETS)
    keys = [*indexed_values(properties, BUCKET_COLUMNS, BUCKET_COLUMN)]
    table = CatalogTable(
        found.schema,
        tuple(indexed_values(properties, PARTITIONS, PARTITION)),
        distribution=TableDistribution.of_hash(keys, int(buckets)) if buckets else None,
    )
    problem = "where Spark's table lies is not among its properties: it has no connector here"
    notes = [Diagnostic("connector-unknown", problem, path=(PROVIDER,))]
    notes += [Diagnostic("spark-type-changed", str(one)) for one in found.losses]
    if int(properties.get(SORT_COLUMNS, "0")):
        problem = "rows lie in order within a bucket, of which Flink's tables know nothing"
        notes.append(Diagnostic("ignored-key", problem, path=(SORT_COLUMNS,)))
    return table, tuple(notes)


def stored_schema_json(properties: Mapping[str, str]) -> str:
    """The JSON of the schema, of one property or of all parts."""
    if SCHEMA in properties:
        return properties[SCHEMA]
    return "".join(indexed_values(properties, PARTS, PART))


def indexed_values(properties: Mapping[str, str], count: str, prefix: str) -> Iterator[str]:
    """The texts of a list; nothing where it has no count."""
    for number in range(int(properties.get(count, "0"))):
        yield properties[f"{prefix}{number}"]


def require_well_formed(properties: Mapping[str, str]) -> None:
    """Refuse lists whose count and members differ.

    Raises:
        SchemaError: with every damaged key.
    """
    found = Gathering()
    found.errors += malformed_properties(properties)
    found.raise_all()


def malformed_properties(properties: Mapping[str, str]) -> Iterator[SchemaError]:
    """What is wrong with the lists among Spark's properties."""
    for count, prefix in ((PARTS, PART), *LISTS):
        yield from _malformed_list(properties, count, prefix)
    if SCHEMA in properties and PARTS in properties:
        yield malformed_key(PARTS, "the schema stands in one piece and in parts", "duplicate-key")
    if SCHEMA not in properties and PARTS not in properties:
        yield malformed_key(
            SCHEMA, f"the key {SCHEMA!r} is missing, and so are its parts", "missing-key"
        )
    buckets = properties.get(BUCKETS, "1")
    if not (buckets.isascii() and buckets.isdecimal() and 0 < int(buckets[:10]) < 2**31):
        yield malformed_key(BUCKETS, f"{buckets[:20]!r} is no number of buckets")


def unknown_columns(properties: Mapping[str, str], schema: Schema) -> Iterator[Diagnostic]:
    """Members of the lists of columns that the schema does not have."""
    names = [column.name for column in schema.columns]
    for count, prefix in LISTS:
        for number, name in enumerate(indexed_values(properties, count, prefix)):
            if name not in names:
                problem, key = f"there is no column {name!r}", f"{prefix}{number}"
                hint = similar(name, names)
                yield Diagnostic("unknown-column", problem, path=(key,), hint=hint)


def _malformed_list(
    properties: Mapping[str, str], count: str, prefix: str
) -> Iterator[SchemaError]:
    members = {key for key in properties if key.startswith(prefix)}
    told = properties.get(count, "0")
    if not (told.isascii() and told.isdecimal() and len(told) < 10):
        yield malformed_key(count, f"{told[:20]!r} is no number of members")
        return
    expected = {f"{prefix}{number}" for number in range(min(int(told), len(members) + 1))}
    for key in sorted(expected - members):
        yield malformed_key(key, f"the key {key!r} is missing, of {told} in a row", "missing-key")
    for key in sorted(members - expected):
        yield malformed_key(key, f"{count} is {told}, and {key!r} is none of these")
