"""Catalog objects as Flink's HiveCatalog stores them in a metastore, and as Spark and Hive do.

A table with ``'connector' = 'hive'`` is a *Hive table*: its columns and options are Hive's columns
and properties. Others are *generic*: Flink's property map with the prefix ``flink.``, and columns
for other engines to show if Hive has their types.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import TypeAlias

from schema_core.base.lazy import NamedTuple, dataclass, regex
from schema_core.base.text import is_blank
from schema_core.catalog import objects
from schema_core.catalog.changes.column_history import ColumnHistory
from schema_core.catalog.own_options import COLUMN_HISTORY
from schema_core.catalog.resolve import resolve_table
from schema_core.catalog.stores.storable import require_read_back
from schema_core.catalog.temporary import ResolvedTable
from schema_core.catalogs.hive.columns import (
    from_hive,
    generic_columns,
    hive_columns,
    is_spark_source,
    prefers_spark_schema,
    schema_of,
)
from schema_core.catalogs.hive.metastore import (
    DDL_TIME,
    EXTERNAL,
    MANAGED,
    VIEW,
    HiveColumn,
    HiveDatabase,
    HiveFunction,
    HivePartition,
    HiveStorage,
    HiveTable,
)
from schema_core.catalogs.hive.statistics import PARTS as STATISTICS
from schema_core.errors import (
    Gathering,
    SchemaCoreError,
    SchemaError,
    UnsupportedError,
    at,
    choose_from,
)
from schema_core.properties.key_syntax import IS_GENERIC, Properties
from schema_core.properties.legacy import is_hive_table
from schema_core.properties.limits import FLINK, NO_LIMIT, StoreLimits, limit_violation
from schema_core.properties.parts import pack
from schema_core.properties.property_map import EXPANDED, ORIGINAL, encode_table, encode_view
from schema_core.properties.spark_table_properties import SOURCES, read_spark_table
from schema_core.properties.stored import MapKind, read_map
from schema_core.schema.resolve import SchemaResolver

#: Returns the location of the database of a table.
DatabaseLocation: TypeAlias = Callable[[], str | None]

# --- storage -------------------------------------------------------------------------------------

# Flink's options of Hive tables (`Constants` of its Hive connector).
LOCATION, IS_EXTERNAL = "hive.location-uri", "hive.is-external"
FILE_FORMAT = "hive.storage.file-format"
INPUT, OUTPUT = "hive.stored.as.input.format", "hive.stored.as.output.format"
SERDE, SERDE_PROPERTY = "hive.serde.lib.class.name", "hive.serde.info.prop."

#: The parameters of every serde.
DEFAULT_SERDE_PARAMETERS = {"serialization.format": "1"}


class FileFormat(NamedTuple):
    """The Java classes of a file format."""

    input_format: str
    output_format: str
    serde: str


_IO, _SERDE = "org.apache.hadoop.hive.ql.io", "org.apache.hadoop.hive.serde2"

FORMATS: dict[str, FileFormat] = {
    "textfile": FileFormat(
        "org.apache.hadoop.mapred.TextInputFormat",
        f"{_IO}.HiveIgnoreKeyTextOutputFormat",
        f"{_SERDE}.lazy.LazySimpleSerDe",
    ),
    "sequencefile": FileFormat(
        "org.apache.hadoop.mapred.SequenceFileInputFormat",
        f"{_IO}.HiveSequenceFileOutputFormat",
        f"{_SERDE}.lazy.LazySimpleSerDe",
    ),
    "rcfile": FileFormat(
        f"{_IO}.RCFileInputFormat",
        f"{_IO}.RCFileOutputFormat",
        f"{_SERDE}.columnar.LazyBinaryColumnarSerDe",
    ),
    "orc": FileFormat(
        f"{_IO}.orc.OrcInputFormat", f"{_IO}.orc.OrcOutputFormat", f"{_IO}.orc.OrcSerde"
    ),
    "parquet": FileFormat(
        f"{_IO}.parquet.MapredParquetInputFormat",
        f"{_IO}.parquet.MapredParquetOutputFormat",
        f"{_IO}.parquet.serde.ParquetHiveSerDe",
    ),
    "avro": FileFormat(
        f"{_IO}.avro.AvroContainerInputFormat",
        f"{_IO}.avro.AvroContainerOutputFormat",
        f"{_SERDE}.avro.AvroSerDe",
    ),
}


def is_storage_option(key: str) -> bool:
    """Return whether an option configures the storage instead of becoming a property."""
    return key in (LOCATION, FILE_FORMAT, INPUT, OUTPUT, SERDE) or key.startswith(SERDE_PROPERTY)


def storage_of(options: Mapping[str, str]) -> HiveStorage:
    """Return the storage that options configure, by default text files (`invalid-option-value`).

    Law: ``storage_of(options_of(storage)) == storage``, except a default location.

    >>> storage_of({"hive.storage.file-format": "ORC"}).serde
    'org.apache.hadoop.hive.ql.io.orc.OrcSerde'
    """
    chosen = options.get(FILE_FORMAT, "textfile").lower()
    if chosen not in FORMATS:
        raise SchemaError(
            f"unknown Hive file format {chosen!r}",
            code="invalid-option-value",
            hint=choose_from(chosen, FORMATS),
        )
    classes = FORMATS[chosen]
    given = {
        key.removeprefix(SERDE_PROPERTY): value
        for key, value in options.items()
        if key.startswith(SERDE_PROPERTY)
    }
    if "field.delim" in given:  # Hive's text serde reads it from either property
        given = {"serialization.format": given["field.delim"]} | given
    return HiveStorage(
        options.get(INPUT, classes.input_format),
        options.get(OUTPUT, classes.output_format),
        options.get(SERDE, classes.serde),
        DEFAULT_SERDE_PARAMETERS | given,
        options.get(LOCATION),
    )


def options_of(storage: HiveStorage, default_location: str | None = None) -> Properties:
    """Return the options that configure a storage, without defaults."""
    options: Properties = {}
    if storage.location is not None and storage.location != default_location:
        options[LOCATION] = storage.location
    classes = (storage.input_format, storage.output_format, storage.serde)
    named = next((name for name, value in FORMATS.items() if value == classes), None)
    if named is None:
        keys = (INPUT, OUTPUT, SERDE)
        options |= {key: item for key, item in zip(keys, classes, strict=True) if item is not None}
    elif named != "textfile":
        options[FILE_FORMAT] = named
    expected = DEFAULT_SERDE_PARAMETERS | {
        "serialization.format": storage.serde_parameters.get("field.delim", "1")
    }
    return options | {
        SERDE_PROPERTY + key: value
        for key, value in storage.serde_parameters.items()
        if expected.get(key) != value
    }


# --- tables --------------------------------------------------------------------------------------

#: The option of a Hive table, and its value.
CONNECTOR, HIVE = "connector", "hive"

#: The property with the comment of a Hive table.
COMMENT = "comment"

#: Properties of the metastore, Hive and Spark: not options, and never altered here.
RESERVED = frozenset({
    DDL_TIME, "EXTERNAL", "COLUMN_STATS_ACCURATE", "numFiles", "numFilesErasureCoded",
    "numPartitions", "numRows", "rawDataSize", "totalSize", "bucketing_version",
    "last_modified_by", "last_modified_time",
})  # fmt: skip
SPARK = "spark.sql."
RESERVED_PREFIXES = (SPARK, "view.", STATISTICS)

#: The characters of names.
NAME = regex(r"[A-Za-z0-9_]+")

#: Maximum lengths of a function name (FUNCS.FUNC_NAME), and of a query (TBLS) in Derby.
FUNCTION_NAME, DERBY_QUERY = 128, 32_700


def is_reserved(key: str) -> bool:
    """Return whether a property belongs to the metastore, Hive or Spark."""
    return key in RESERVED or key.startswith(RESERVED_PREFIXES)


def user_properties(parameters: Mapping[str, str]) -> Properties:
    """Return the properties that a user has set."""
    return {
        key: value
        for key, value in parameters.items()
        if not is_reserved(key) and key not in (COMMENT, IS_GENERIC)
    }


# --- databases, partitions, functions ------------------------------------------------------------

#: Flink's property with the location of a database.
DATABASE_LOCATION = "hive.database.location-uri"

# Maximum lengths in Hive's schema (package.jdo): database property keys and class names; values,
# comments and locations; partition names.
DATABASE_KEY, VALUE, PARTITION_NAME = 180, 4_000, 767

#: Language -> prefix of the class name.
LANGUAGES: dict[objects.FunctionLanguage, str] = {
    objects.FunctionLanguage.PYTHON: "flink:python:",
    objects.FunctionLanguage.SCALA:  "flink:scala:",
    objects.FunctionLanguage.JAVA:   "",
}  # fmt: skip

#: The prefix of Java classes in earlier versions of Flink.
FORMER_JAVA_PREFIX = "flink:"

#: The kinds of resources that Hive supports.
RESOURCES = ("JAR", "FILE", "ARCHIVE")

_ESCAPED = regex("%([0-9A-Fa-f]{2})")


def unescape(escaped: str) -> str:
    """Unescape a key or value in the name of a partition.

    >>> unescape("x%2Fy")
    'x/y'
    """
    return _ESCAPED.sub(lambda found: chr(int(found[1], 16)), escaped)


def partition_values(partition_name: str) -> dict[str, str]:
    """Return the values by key in the name of a partition's directory.

    >>> partition_values("b=x%2Fy/c=1")
    {'b': 'x/y', 'c': '1'}
    """
    pairs = (part.partition("=") for part in partition_name.split("/"))
    return {unescape(key): unescape(value) for key, _, value in pairs}


@dataclass(frozen=True, slots=True)
class HiveCodec:
    """Encodes catalog objects as records of a metastore, within the limits of `store`."""

    store: StoreLimits

    # --- names and lengths ---------------------------------------------------------------------

    def check_name(self, what: str, name: str) -> None:
        """Refuse a name that Hive does not support.

        Errors: `invalid-name`, `name-not-supported`.
        """
        if is_blank(name):
            raise SchemaError(f"a {what} requires a name", code="invalid-name")
        lengths = {"database": self.store.database, "function": FUNCTION_NAME}
        most = lengths.get(what, self.store.table)
        if len(name) > most:
            problem = f"a name of {len(name):,} characters exceeds the {most:,} that Hive stores"
            raise UnsupportedError(problem, code="name-not-supported")
        if not NAME.fullmatch(name):
            raise UnsupportedError(
                f"invalid characters in the {what} name {name[:60]!r}",
                code="name-not-supported",
                hint="use ASCII letters, digits and underscores",
            )

    def check_lengths(self, properties: Mapping[str, str], key: int, value: int) -> None:
        """Refuse properties that the store would truncate or change (`exceeds-store-limit`)."""
        store = replace(self.store, prefix="", key=key, value=min(value, self.store.value))
        errors = Gathering()
        for name, text in properties.items():
            with errors.catching(), at(f"property {name[:60]!r}"):
                if (problem := limit_violation(name, text, store)) is not None:
                    raise UnsupportedError(problem, code="exceeds-store-limit")
        errors.raise_all()

    # --- to Hive -------------------------------------------------------------------------------

    def encode(self, database: str, name: str, table: ResolvedTable) -> HiveTable:
        """Return the record of a table or view.

        Errors: `not-representable`, `name-not-supported` for columns in upper case,
        `exceeds-store-limit`, `invalid-option-value`.
        """
        match table:
            case objects.ResolvedCatalogView():
                return self._encode_view(database, name, table)
            case objects.ResolvedCatalogTable() if is_hive(table.options):
                return self._encode_hive(database, name, table)
            case objects.ResolvedCatalogTable():
                return self._encode_generic(database, name, table)
            case _:
                raise UnsupportedError(
                    "Hive does not support materialized tables", code="not-representable"
                )

    def _encode_view(
        self, database: str, name: str, view: objects.ResolvedCatalogView
    ) -> HiveTable:
        most = DERBY_QUERY if self.store.unit == "characters" else NO_LIMIT
        queries = {ORIGINAL: view.original_query, EXPANDED: view.expanded_query}
        for what, query in queries.items():
            if len(query.encode("utf-16-le", "replace")) > 2 * most:
                raise UnsupportedError(
                    f"the {what} exceeds the {most:,} characters that Hive stores",
                    code="exceeds-store-limit",
                )
        return HiveTable(
            database,
            name,
            VIEW,
            generic_columns(view.resolved_schema),
            (),
            pack(encode_view(view, "carry"), self.store) | {IS_GENERIC: "true"},
            storage_of({}),
            view.original_query,
            view.expanded_query,
        )

    def _encode_generic(
        self, database: str, name: str, table: objects.ResolvedCatalogTable
    ) -> HiveTable:
        # Flink refuses options that it does not know; it also fills columns that files lack
        hidden = {}
        if self._is_hidden(table.options):
            hidden = {COLUMN_HISTORY: table.options[COLUMN_HISTORY]}
            table = table.copy({k: v for k, v in table.options.items() if k not in hidden})
        columns = generic_columns(table.resolved_schema)
        keys = len(table.partition_keys)
        last = [column.name for column in columns[len(columns) - keys :]]
        split = len(columns) - keys if last == [*table.partition_keys] else len(columns)
        return HiveTable(
            database,
            name,
            MANAGED,
            columns[:split],
            columns[split:],
            pack(encode_table(table, "carry"), self.store) | hidden,
            storage_of({}),
        )

    def _is_hidden(self, options: Mapping[str, str]) -> bool:
        """Return whether the history of columns, which only we read, is not an option for Flink."""
        history = options.get(COLUMN_HISTORY)
        if history is None or len(history) > self.store.value:
            return False
        with suppress(SchemaError):
            return ColumnHistory.of(options).adds_only
        return False

    def _encode_hive(
        self, database: str, name: str, table: objects.ResolvedCatalogTable
    ) -> HiveTable:
        errors = Gathering()
        for problem in unsupported_features(table):
            errors.errors.append(UnsupportedError(problem, code="not-representable"))
        with errors.catching():
            columns = hive_columns(table.resolved_schema.columns)
        errors.raise_all()
        split = len(columns) - len(table.partition_keys)
        return replace(
            self._without_columns(database, name, table),
            columns=columns[:split],
            partition_columns=columns[split:],
        )

    def _without_columns(
        self, database: str, name: str, table: objects.ResolvedCatalogTable
    ) -> HiveTable:
        """Return the record of a Hive table's options and comment."""
        options = {key: option for key, option in table.options.items() if key != CONNECTOR}
        for key in options:
            if is_reserved(key) or key.startswith(FLINK) or key in (COMMENT, IS_GENERIC):
                problem = f"the option {key!r} is reserved by Hive or Flink"
                raise UnsupportedError(problem, code="not-representable")
        external = options.pop(IS_EXTERNAL, "false").lower() == "true"
        storage = storage_of(options)
        if table.distribution is not None:
            count, keys = table.distribution.bucket_count, table.distribution.bucket_keys
            storage = replace(storage, buckets=count or -1, bucket_columns=keys)
        own = {key: option for key, option in options.items() if not is_storage_option(key)}
        parameters = own | ({COMMENT: table.comment} if table.comment is not None else {})
        self.check_lengths(parameters, self.store.key, self.store.value)
        if external:
            parameters["EXTERNAL"] = "TRUE"
        kind = EXTERNAL if external else MANAGED
        return HiveTable(database, name, kind, (), (), parameters, storage)

    # --- from Hive -----------------------------------------------------------------------------

    def decode(
        self, stored: HiveTable, location: DatabaseLocation = lambda: None
    ) -> objects.CatalogBaseTable:
        """Return the unresolved table or view; `location` returns the location of its database.

        Errors: `type-not-supported`; malformed properties as `read_map`.
        """
        if not is_hive_table(stored.parameters):
            return _decode_generic(stored)
        if prefers_spark_schema(stored):
            table, _ = read_spark_table(stored.parameters)
        else:
            keys = tuple(column.name for column in stored.partition_columns)
            schema = schema_of((*stored.columns, *stored.partition_columns))
            table = objects.CatalogTable(schema, keys, distribution=_buckets(stored))
        comment = stored.parameters.get(COMMENT)
        if stored.kind == VIEW:
            queries = stored.original_query or "", stored.expanded_query or ""
            options = user_properties(stored.parameters)
            return objects.CatalogView(table.schema, *queries, options=options, comment=comment)
        return replace(table, options=_options(stored, location), comment=comment)

    # --- ALTER ---------------------------------------------------------------------------------

    def alter(self, stored: HiveTable, new: ResolvedTable) -> HiveTable:
        """Return the record of an altered table, with what other engines stored in it.

        Errors: as `encode`; `wrong-object-type` for a change between a Hive table and a generic
        one, `not-representable` for other columns of a table whose columns Spark stores.
        """
        was_hive = is_hive_table(stored.parameters)
        if isinstance(new, objects.ResolvedCatalogTable) and was_hive != is_hive(new.options):
            raise SchemaError(
                "a Hive table cannot become a generic table, or vice versa",
                code="wrong-object-type",
                hint=f"keep the option {CONNECTOR!r} = {HIVE!r}, or drop and create the table",
            )
        reserved = {key: value for key, value in stored.parameters.items() if is_reserved(key)}
        if isinstance(new, objects.ResolvedCatalogTable) and self._keeps_spark_columns(stored, new):
            fresh = self._without_columns(stored.database, stored.name, new)
            columns, keys = stored.columns, stored.partition_columns
            fresh = replace(fresh, columns=columns, partition_columns=keys)
        else:
            require_no_spark_schema(stored)
            fresh = self.encode(stored.database, stored.name, new)
            reserved = {key: reserved[key] for key in reserved if not key.startswith(SPARK)}
        if "EXTERNAL" not in fresh.parameters:
            reserved.pop("EXTERNAL", None)
        storage = stored.storage if is_spark_source(stored) else fresh.storage
        location = fresh.storage.location or stored.storage.location
        return replace(
            fresh,
            parameters=reserved | dict(fresh.parameters),
            storage=replace(storage, location=location, rest=stored.storage.rest),
            rest=stored.rest,
        )

    def _keeps_spark_columns(self, stored: HiveTable, new: objects.ResolvedCatalogTable) -> bool:
        """Return whether a table with columns in Spark's properties keeps them."""
        if is_hive_table(stored.parameters) and prefers_spark_schema(stored):
            old = self.decode(stored)
            if isinstance(old, objects.CatalogTable):
                was = resolve_table(old, SchemaResolver())
                return columns_of_spark(was) == columns_of_spark(new)
        return False

    # --- databases -----------------------------------------------------------------------------

    def encode_database(self, name: str, database: objects.CatalogDatabase) -> HiveDatabase:
        """Return the record of a database (`exceeds-store-limit`, `not-representable`)."""
        properties = database.get_properties()
        location = properties.pop(DATABASE_LOCATION, None)
        if COMMENT in properties:
            problem = f"the property {COMMENT!r} is reserved for the comment of a database in Hive"
            raise UnsupportedError(problem, code="not-representable")
        self.check_lengths(properties, DATABASE_KEY, VALUE)
        self.check_lengths({COMMENT: database.comment or "-"}, DATABASE_KEY, VALUE)
        return HiveDatabase(name, database.comment, location, properties)

    def decode_database(
        self, stored: HiveDatabase, default_location: str
    ) -> objects.CatalogDatabase:
        """Return the database, with its location unless that is the default."""
        properties = dict(stored.parameters)
        comment = properties.pop(COMMENT, stored.comment)
        if stored.location not in (None, default_location):
            properties[DATABASE_LOCATION] = stored.location or ""
        return objects.CatalogDatabase(properties, comment)

    def alter_database(self, stored: HiveDatabase, new: objects.CatalogDatabase) -> HiveDatabase:
        """Return the record of an altered database (`not-representable` for another location).

        Hive 2 alters properties only, so a new comment becomes a property.
        """
        fresh = self.encode_database(stored.name, new)
        if fresh.location not in (None, stored.location):
            raise UnsupportedError(
                "Hive cannot change the location of a database", code="not-representable"
            )
        parameters = dict(fresh.parameters)
        if (fresh.comment or "") != (stored.comment or ""):
            parameters[COMMENT] = fresh.comment or ""
        return replace(stored, parameters=parameters)

    # --- partitions ----------------------------------------------------------------------------

    def encode_partition(
        self, table: HiveTable, values: tuple[str, ...], partition: objects.CatalogPartition
    ) -> HivePartition:
        """Return the record of a partition, with the storage of its table.

        Errors: `not-representable` for a generic table or a blank value, `exceeds-store-limit`.
        """
        if not is_hive_table(table.parameters) or not table.partition_columns:
            raise UnsupportedError(
                "generic tables cannot have partitions in Hive",
                code="not-representable",
                hint="create the table with 'connector' = 'hive'",
            )
        if not all(value.strip() for value in values):
            problem = "partition values must not be blank in Hive"
            raise UnsupportedError(problem, code="not-representable")
        name = "/".join(values)
        if 3 * len(name.encode()) > PARTITION_NAME and len(name) > PARTITION_NAME // 3:
            problem = (
                f"partition values of {len(name):,} characters exceed the length of a name in Hive"
            )
            raise UnsupportedError(problem, code="exceeds-store-limit")
        parameters, location = self._partition_properties(partition)
        storage = replace(table.storage, location=location)
        return HivePartition(table.database, table.name, values, parameters, storage, table.columns)

    def decode_partition(self, table: HiveTable, stored: HivePartition) -> objects.CatalogPartition:
        """Return the partition, with its location unless that is the default."""
        properties = user_properties(stored.parameters)
        location = stored.storage.location
        if location is not None and not _is_default_location(table, stored, location):
            properties[LOCATION] = location
        return objects.CatalogPartition(properties, stored.parameters.get(COMMENT))

    def alter_partition(
        self, table: HiveTable, stored: HivePartition, new: objects.CatalogPartition
    ) -> HivePartition:
        """Return the record of an altered partition, with the properties of Hive."""
        parameters, location = self._partition_properties(new)
        reserved = {key: value for key, value in stored.parameters.items() if is_reserved(key)}
        storage = replace(stored.storage, location=location or stored.storage.location)
        return replace(stored, parameters=reserved | parameters, storage=storage)

    def _partition_properties(
        self, partition: objects.CatalogPartition
    ) -> tuple[Properties, str | None]:
        properties = partition.get_properties()
        location = properties.pop(LOCATION, None)
        for key in properties:
            if is_reserved(key) or key == COMMENT:
                problem = f"the property {key!r} is reserved by Hive"
                raise UnsupportedError(problem, code="not-representable")
        if partition.comment is not None:
            properties[COMMENT] = partition.comment
        self.check_lengths(properties, self.store.key, VALUE)
        return properties, location

    # --- functions -----------------------------------------------------------------------------

    def encode_function(
        self, database: str, name: str, function: objects.CatalogFunction
    ) -> HiveFunction:
        """Return the record of a function.

        Errors: `exceeds-store-limit`; `not-representable` for options, unknown kinds of resources
        and a class name that begins with a prefix of Flink's.
        """
        if function.options:
            raise UnsupportedError(
                "functions cannot have options in Hive", code="not-representable"
            )
        unknown = [
            resource.kind
            for resource in function.resource_uris
            if resource.kind.upper() not in RESOURCES
        ]
        if unknown:
            raise UnsupportedError(
                f"unknown kind of resource {unknown[0]!r}",
                code="not-representable",
                hint=choose_from(unknown[0], RESOURCES),
            )
        class_name = LANGUAGES[function.language] + function.class_name
        files = tuple((resource.kind.upper(), resource.uri) for resource in function.resource_uris)
        names = {"class": class_name} | {
            f"file {number}": uri for number, (_, uri) in enumerate(files)
        }
        self.check_lengths(names, DATABASE_KEY, VALUE)
        stored = HiveFunction(database, name, class_name, files)
        resources = tuple(objects.ResourceUri(*file) for file in files)
        require_read_back(
            replace(function, resource_uris=resources), lambda: self.decode_function(stored)
        )
        return stored

    def decode_function(self, stored: HiveFunction) -> objects.CatalogFunction:
        """Return the function; a class name without a prefix is a Java class."""
        resources = tuple(objects.ResourceUri(kind, uri) for kind, uri in stored.resources)
        for language, prefix in LANGUAGES.items():
            if prefix and stored.class_name.startswith(prefix):
                return objects.CatalogFunction(
                    stored.class_name.removeprefix(prefix), language, resources
                )
        class_name = stored.class_name.removeprefix(FORMER_JAVA_PREFIX)
        return objects.CatalogFunction(class_name, objects.FunctionLanguage.JAVA, resources)


def columns_of_spark(table: objects.ResolvedCatalogTable) -> tuple[object, ...]:
    """Return the parts of a table that Spark's properties hold."""
    return table.resolved_schema, table.partition_keys, table.distribution


def require_no_spark_schema(stored: HiveTable) -> None:
    """Refuse to change columns that Spark reads from its own properties (`not-representable`)."""
    if is_spark_source(stored):
        raise UnsupportedError(
            "the columns of this table are stored by Spark and fixed by its files",
            code="not-representable",
            hint="alter its columns with Spark",
        )


def is_hive(options: Mapping[str, str]) -> bool:
    """Return whether a table with these options is a Hive table."""
    return options.get(CONNECTOR, "").lower() == HIVE


def unsupported_features(table: objects.ResolvedCatalogTable) -> Iterator[str]:
    """Describe the features of a table that Hive tables lack."""
    schema = table.resolved_schema
    for what, is_present in (
        ("watermarks", schema.watermark_specs),
        ("primary keys", schema.primary_key),
        ("indexes", schema.indexes),
        ("immutable columns", schema.immutable_columns),
        ("snapshots", table.snapshot is not None),
    ):
        if is_present:
            yield f"Hive tables do not support {what}"
    names = [column.name for column in schema.columns]
    keys = list(table.partition_keys)
    if keys and names[-len(keys) :] != keys:
        yield f"the partition keys of a Hive table must be its last columns: {', '.join(keys)}"
    if len(keys) == len(names):
        yield "a Hive table requires a column that is not a partition key"
    spread = table.distribution
    if spread is not None and (
        spread.kind is objects.DistributionKind.RANGE
        or not spread.bucket_count
        or not spread.bucket_keys
    ):
        yield "a Hive table requires a hash distribution with keys and a bucket count"


def _buckets(stored: HiveTable) -> objects.TableDistribution | None:
    storage = stored.storage
    if storage.buckets < 1 or not storage.bucket_columns:
        return None
    return objects.TableDistribution.of_hash(storage.bucket_columns, storage.buckets)


def _options(stored: HiveTable, location: DatabaseLocation) -> Properties:
    options = {CONNECTOR: HIVE}
    if stored.kind == EXTERNAL:
        options[IS_EXTERNAL] = "true"
    usual = f"{location()}/{stored.name}"
    of_storage = options_of(stored.storage, usual)
    if is_spark_source(stored):  # the storage is Spark's provider
        of_storage = {key: value for key, value in of_storage.items() if key == LOCATION}
    return options | of_storage | user_properties(stored.parameters)


def _decode_generic(stored: HiveTable) -> objects.CatalogBaseTable:
    """Return the table of Flink's property map; Flink 1.9 stored its columns as Hive's."""
    parameters = dict(stored.parameters)
    kind = MapKind.TABLE
    if stored.kind == VIEW:
        kind = MapKind.VIEW
        parameters[FLINK + ORIGINAL] = stored.original_query or ""
        parameters[FLINK + EXPANDED] = stored.expanded_query or ""
    history = parameters.pop(COLUMN_HISTORY, None)
    table = read_map(parameters, kind).object
    if history is not None and isinstance(table, objects.CatalogTable):
        table = table.copy({**table.options, COLUMN_HISTORY: history})
    if not isinstance(table, objects.CatalogTable | objects.CatalogView):
        raise SchemaError("the stored object is not a table", code="wrong-object-type")
    if not table.schema.columns and stored.columns:
        return replace(table, schema=schema_of((*stored.columns, *stored.partition_columns)))
    return table


def _is_default_location(table: HiveTable, stored: HivePartition, location: str) -> bool:
    directory, inside, name = location.partition(f"{table.storage.location}/")
    values = tuple(partition_values(name).values())
    return not directory and bool(inside) and values == stored.values


def stored_map(stored: HiveTable) -> Properties:
    """Return the property map of a table: its parameters, or its columns if only Hive stores them.

    >>> from schema_core.catalogs.hive.metastore import HiveColumn
    >>> stored_map(HiveTable("db", "t", columns=(HiveColumn("id", "bigint"),)))
    {'schema.0.name': 'id', 'schema.0.data-type': 'BIGINT'}
    """
    parameters = dict(stored.parameters)
    if not is_hive_table(parameters):
        return parameters
    if prefers_spark_schema(stored):
        return {key: value for key, value in parameters.items() if key.startswith(SOURCES)}
    properties: Properties = {}
    for number, column in enumerate((*stored.columns, *stored.partition_columns)):
        properties[f"schema.{number}.name"] = column.name
        properties[f"schema.{number}.data-type"] = _type_text(column)
        if column.comment is not None:
            properties[f"schema.{number}.comment"] = column.comment
    for number, column in enumerate(stored.partition_columns):
        properties[f"partition.keys.{number}.name"] = column.name
    return properties


def _type_text(column: HiveColumn) -> str:
    """Return the type of a column in Flink's syntax, or in Hive's if Flink lacks it."""
    try:
        return str(from_hive(column.type))
    except SchemaCoreError:
        return column.type
