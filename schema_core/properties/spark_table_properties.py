"""The table properties in which Spark stores the schema of a table in a Hive metastore.

The schema is the JSON of a StructType, under one key or in numbered parts; partition and bucket
columns are numbered lists (Spark's HiveExternalCatalog). There is no checksum: only a missing part
or truncated JSON shows a loss.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from schema_core.catalog.objects import CatalogTable, ResolvedCatalogTable, TableDistribution
from schema_core.errors import Diagnostic, SchemaError, at, raise_all, similar
from schema_core.mappings.loss import Policy, raise_refused
from schema_core.mappings.spark import schemas
from schema_core.mappings.spark.types import CHAR_VARCHAR
from schema_core.properties.key_syntax import Properties, malformed_key
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

#: The lists of columns: the key of the count, and the prefix of the elements.
LISTS = ((PARTITIONS, PARTITION), (BUCKET_COLUMNS, BUCKET_COLUMN), (SORT_COLUMNS, SORT_COLUMN))

#: ``spark.sql.sources.schemaStringLengthThreshold``: the maximum length of one property.
THRESHOLD = 4_000


def has_spark_schema(properties: Mapping[str, str]) -> bool:
    """Whether Spark wrote a schema."""
    return any(key.startswith(SCHEMA) for key in properties)


# --- writing --------------------------------------------------------------------------------------


def write_spark_table(
    table: ResolvedCatalogTable,
    provider: str = "parquet",
    *,
    on_loss: Policy = "error",
    threshold: int = THRESHOLD,
) -> Properties:
    """The properties that Spark writes for a table of this schema.

    Raises:
        UnsupportedError: for a type that Spark cannot store, and as `loss.enforce`.

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
    """The schema as Spark stores it: CHAR and VARCHAR are strings with metadata."""
    tree = schemas.parse_json(schemas.to_json(schema, on_loss=on_loss))
    types = {column.name: column.data_type for column in schema.columns}
    for field in tree["fields"]:
        if (size := bounded_string(types[field["name"]])) is not None:
            field["metadata"][CHAR_VARCHAR] = size
    return schemas.print_json(tree)


def bounded_string(type_: DataType) -> str | None:
    """Spark's name of a string type with a length limit; None for other types.

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


def indexed_properties(count: str, prefix: str, values: tuple[str, ...] | list[str]) -> Properties:
    """Encode a list as Spark does: its length, and each element under its index."""
    return {count: str(len(values))} | {f"{prefix}{i}": value for i, value in enumerate(values)}


# --- reading --------------------------------------------------------------------------------------


def read_spark_table(
    properties: Mapping[str, str],
) -> tuple[CatalogTable, tuple[Diagnostic, ...]]:
    """Decode a table from Spark's properties, with notes on what they do not contain.

    Raises:
        SchemaError: with code `malformed-property` for each malformed key,
            `invalid-document` for a schema that is not a StructType.
        UnsupportedError: with code `type-not-supported`.
    """
    raise_all(malformed_properties(properties))
    with at(SCHEMA):
        conversion = schemas.from_json(stored_schema_json(properties))
    raise_refused(conversion.refused)
    buckets = properties.get(BUCKETS)
    keys = [*indexed_values(properties, BUCKET_COLUMNS, BUCKET_COLUMN)]
    table = CatalogTable(
        conversion.schema,
        tuple(indexed_values(properties, PARTITIONS, PARTITION)),
        distribution=TableDistribution.of_hash(keys, int(buckets)) if buckets else None,
    )
    problem = "Spark's properties do not contain the location: the table has no connector"
    notes = [Diagnostic("not-recorded", problem, path=(PROVIDER,))]
    notes += [Diagnostic("value-assumed", str(loss)) for loss in conversion.losses]
    if int(properties.get(SORT_COLUMNS, "0")):
        problem = "the sort order within buckets is dropped: Flink has no equivalent"
        notes.append(Diagnostic("ignored-key", problem, path=(SORT_COLUMNS,)))
    return table, tuple(notes)


def stored_schema_json(properties: Mapping[str, str]) -> str:
    """The JSON of the schema, from one property or joined from its parts."""
    if SCHEMA in properties:
        return properties[SCHEMA]
    return "".join(indexed_values(properties, PARTS, PART))


def indexed_values(properties: Mapping[str, str], count: str, prefix: str) -> Iterator[str]:
    """Yield the elements of a list; none without a count."""
    for number in range(int(properties.get(count, "0"))):
        yield properties[f"{prefix}{number}"]


def malformed_properties(properties: Mapping[str, str]) -> Iterator[SchemaError]:
    """Yield an error for each malformed list."""
    for count, prefix in ((PARTS, PART), *LISTS):
        members = {key for key in properties if key.startswith(prefix)}
        size = properties.get(count, "0")
        if not (size.isascii() and size.isdecimal() and len(size) < 10):
            yield malformed_key(count, f"{size[:20]!r} is not a valid number of elements")
            continue
        expected = {f"{prefix}{number}" for number in range(min(int(size), len(members) + 1))}
        for key in sorted(expected - members):
            problem = f"the key {key!r} is missing: {count} is {size}"
            yield malformed_key(key, problem)
        for key in sorted(members - expected):
            yield malformed_key(key, f"unexpected key {key!r}: {count} is {size}")
    if SCHEMA in properties and PARTS in properties:
        yield malformed_key(PARTS, "the schema is stored both as a whole and in parts")
    if SCHEMA not in properties and PARTS not in properties:
        yield malformed_key(SCHEMA, f"the key {SCHEMA!r} is missing, and so are its parts")
    buckets = properties.get(BUCKETS, "1")
    if not (buckets.isascii() and buckets.isdecimal() and 0 < int(buckets[:10]) < 2**31):
        yield malformed_key(BUCKETS, f"{buckets[:20]!r} is not a valid number of buckets")


def unknown_columns(properties: Mapping[str, str], schema: Schema) -> Iterator[Diagnostic]:
    """Yield the elements of the lists that are not columns of the schema."""
    names = [column.name for column in schema.columns]
    for count, prefix in LISTS:
        for number, name in enumerate(indexed_values(properties, count, prefix)):
            if name not in names:
                problem, key = f"unknown column {name!r}", f"{prefix}{number}"
                hint = similar(name, names)
                yield Diagnostic("unknown-column", problem, path=(key,), hint=hint)
