"""Tables and views as Flink's HiveCatalog keeps them in a metastore, and as Spark and Hive do.

A table with ``'connector' = 'hive'`` is one of Hive's own: its columns are Hive's columns, its
options Hive's properties. Every other table is *generic*: Flink's property map under ``flink.``,
with columns for others to look at where Hive has their types.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from schema_core.catalog.objects import (
    CatalogBaseTable,
    CatalogTable,
    CatalogView,
    DistributionKind,
    ResolvedCatalogTable,
    ResolvedCatalogView,
    TableDistribution,
)
from schema_core.catalog.resolve import resolve_table
from schema_core.catalog.temporary import ResolvedTable
from schema_core.catalogs.hive import storage as hive_storage
from schema_core.catalogs.hive.columns import (
    columns_if_possible,
    columns_of,
    is_source_of_spark,
    is_told_by_spark,
    schema_of,
)
from schema_core.catalogs.hive.metastore import DDL_TIME, EXTERNAL, MANAGED, VIEW, Folder, HiveTable
from schema_core.errors import Gathering, SchemaError, UnsupportedError, at
from schema_core.formats.properties.keys import IS_GENERIC, Properties
from schema_core.formats.properties.legacy import is_hive_table
from schema_core.formats.properties.limits import FLINK, NO_LIMIT, StoreLimits, limit_violation
from schema_core.formats.properties.parts import pack
from schema_core.formats.properties.property_map import encode_table, encode_view
from schema_core.formats.properties.stored import EXPANDED, ORIGINAL, MapKind, read_map
from schema_core.formats.spark.table_properties import read_spark_table
from schema_core.schema.resolve import SchemaResolver
from schema_core.text import is_blank

#: The option that makes a table one of Hive's own, and its value.
CONNECTOR, HIVE = "connector", "hive"

#: The property that holds the comment of a table of Hive's.
COMMENT = "comment"

#: What the metastore, Hive and Spark write for themselves: no options, and never altered here.
KEPT = frozenset({
    DDL_TIME, "EXTERNAL", "COLUMN_STATS_ACCURATE", "numFiles", "numFilesErasureCoded",
    "numPartitions", "numRows", "rawDataSize", "totalSize", "bucketing_version",
    "last_modified_by", "last_modified_time",
})  # fmt: skip
SPARK = "spark.sql."
KEPT_PREFIXES = (SPARK, "view.")

#: What names Hive takes, but for their length.
NAME = re.compile(r"[A-Za-z0-9_]+")

#: The longest name of a function (FUNCS.FUNC_NAME); the longest text of a query (TBLS) in Derby.
FUNCTION_NAME, DERBY_QUERY = 128, 32_700


def is_kept(key: str) -> bool:
    """Whether a property is none of the user's."""
    return key in KEPT or key.startswith(KEPT_PREFIXES)


def visible(parameters: Mapping[str, str]) -> Properties:
    """The properties that are the user's."""
    return {
        key: value
        for key, value in parameters.items()
        if not is_kept(key) and key not in (COMMENT, IS_GENERIC)
    }


@dataclass(frozen=True, slots=True)
class HiveTables:
    """How tables become what a metastore holds; `store` says how much it holds."""

    store: StoreLimits

    # --- names and texts -----------------------------------------------------------------------

    def check_name(self, what: str, name: str) -> None:
        """Refuse a name that Hive does not take.

        Raises:
            SchemaError: with code `blank-name`.
            UnsupportedError: with code `name-characters-not-supported` or `name-too-long`.
        """
        if is_blank(name):
            raise SchemaError(f"a {what} needs a name", code="blank-name")
        lengths = {"database": self.store.database, "function": FUNCTION_NAME}
        most = lengths.get(what, self.store.table)
        if len(name) > most:
            problem = f"a name of {len(name):,} characters, of {most:,} that the store holds"
            raise UnsupportedError(problem, code="name-too-long")
        if not NAME.fullmatch(name):
            raise UnsupportedError(
                f"Hive has no {what} {name[:60]!r}",
                code="name-characters-not-supported",
                hint="use letters of English, digits and underscores",
            )

    def check_texts(self, texts: Mapping[str, str], key: int, value: int) -> None:
        """Refuse properties that the store would cut or change.

        Raises:
            UnsupportedError: with code `exceeds-store-limit` for each of them.
        """
        store = replace(self.store, prefix="", key=key, value=min(value, self.store.value))
        found = Gathering()
        for name, text in texts.items():
            with found.catching(), at(f"property {name[:60]!r}"):
                if (problem := limit_violation(name, text, store)) is not None:
                    raise UnsupportedError(problem, code="exceeds-store-limit")
        found.raise_all()

    # --- to Hive -------------------------------------------------------------------------------

    def encode(self, database: str, name: str, table: ResolvedTable) -> HiveTable:
        """What a metastore holds of a table or view.

        Raises:
            UnsupportedError: with code `not-in-hive` for what a table of Hive's own cannot have,
                `name-case-not-preserved` for columns with capitals, `exceeds-store-limit` for what
            is too long.
            SchemaError: with code `invalid-option-value`.
        """
        match table:
            case ResolvedCatalogView():
                return self._encode_view(database, name, table)
            case ResolvedCatalogTable() if is_hive(table.options):
                return self._encode_hive(database, name, table)
            case ResolvedCatalogTable():
                return self._encode_generic(database, name, table)
            case _:
                raise UnsupportedError("Hive keeps no materialized tables", code="not-in-hive")

    def _encode_view(self, database: str, name: str, view: ResolvedCatalogView) -> HiveTable:
        most = DERBY_QUERY if self.store.unit == "characters" else NO_LIMIT
        queries = {ORIGINAL: view.original_query, EXPANDED: view.expanded_query}
        for what, query in queries.items():
            if len(query.encode("utf-16-le", "replace")) > 2 * most:
                raise UnsupportedError(
                    f"the {what} is too long for Hive", code="exceeds-store-limit"
                )
        return HiveTable(
            database,
            name,
            VIEW,
            columns_if_possible(view.resolved_schema),
            (),
            pack(encode_view(view, "carry"), self.store) | {IS_GENERIC: "true"},
            hive_storage.storage_of({}),
            view.original_query,
            view.expanded_query,
        )

    def _encode_generic(self, database: str, name: str, table: ResolvedCatalogTable) -> HiveTable:
        columns = columns_if_possible(table.resolved_schema)
        keys = len(table.partition_keys)
        last = [column.name for column in columns[len(columns) - keys :]]
        split = len(columns) - keys if last == [*table.partition_keys] else len(columns)
        return HiveTable(
            database,
            name,
            MANAGED,
            columns[:split],
            columns[split:],
            pack(encode_table(table, "carry"), self.store),
            hive_storage.storage_of({}),
        )

    def _encode_hive(self, database: str, name: str, table: ResolvedCatalogTable) -> HiveTable:
        found = Gathering()
        for problem in beyond_hive(table):
            found.errors.append(UnsupportedError(problem, code="not-in-hive"))
        with found.catching():
            columns = columns_of(table.resolved_schema.columns)
        found.raise_all()
        split = len(columns) - len(table.partition_keys)
        return replace(
            self._without_columns(database, name, table),
            columns=columns[:split],
            partition_columns=columns[split:],
        )

    def _without_columns(self, database: str, name: str, table: ResolvedCatalogTable) -> HiveTable:
        """What the options and the comment of a table of Hive's own say."""
        options = {key: one for key, one in table.options.items() if key != CONNECTOR}
        for key in options:
            if is_kept(key) or key.startswith(FLINK) or key in (COMMENT, IS_GENERIC):
                problem = f"the option {key!r} is a property that Hive or Flink keeps for itself"
                raise UnsupportedError(problem, code="not-in-hive")
        external = options.pop(hive_storage.EXTERNAL, "false").lower() == "true"
        storage = hive_storage.storage_of(options)
        if table.distribution is not None:
            count, keys = table.distribution.bucket_count, table.distribution.bucket_keys
            storage = replace(storage, buckets=count or -1, bucket_columns=keys)
        own = {key: one for key, one in options.items() if not hive_storage.is_storage_option(key)}
        parameters = own | ({COMMENT: table.comment} if table.comment is not None else {})
        self.check_texts(parameters, self.store.key, self.store.value)
        if external:
            parameters["EXTERNAL"] = "TRUE"
        kind = EXTERNAL if external else MANAGED
        return HiveTable(database, name, kind, (), (), parameters, storage)

    # --- from Hive -----------------------------------------------------------------------------

    def decode(self, stored: HiveTable, folder: Folder = lambda: None) -> CatalogBaseTable:
        """The unresolved table or view; `folder` tells where its database lies.

        Raises:
            SchemaError: for properties that are damaged, as `stored_map.read_map`.
            UnsupportedError: with code `type-not-in-flink` for columns that no type stands for.
        """
        if not is_hive_table(stored.parameters):
            return _decode_generic(stored)
        if is_told_by_spark(stored):
            table, _ = read_spark_table(stored.parameters)
        else:
            keys = tuple(column.name for column in stored.partition_columns)
            schema = schema_of((*stored.columns, *stored.partition_columns))
            table = CatalogTable(schema, keys, distribution=_buckets(stored))
        comment = stored.parameters.get(COMMENT)
        if stored.kind == VIEW:
            queries = stored.original_query or "", stored.expanded_query or ""
            options = visible(stored.parameters)
            return CatalogView(table.schema, *queries, options=options, comment=comment)
        return replace(table, options=_options(stored, folder), comment=comment)

    # --- altered -------------------------------------------------------------------------------

    def alter(self, stored: HiveTable, new: ResolvedTable) -> HiveTable:
        """What a metastore holds after a table was altered; what others keep there stays.

        Raises:
            SchemaError: with code `wrong-table-kind` between tables of Hive's own and generic ones.
            UnsupportedError: as `encode`; with code `not-in-hive` for other columns of a table
                whose files are Spark's.
        """
        was_hive = is_hive_table(stored.parameters)
        if isinstance(new, ResolvedCatalogTable) and was_hive != is_hive(new.options):
            raise SchemaError(
                "a table of Hive's own does not become a generic one, nor the other way round",
                code="wrong-table-kind",
                hint=f"{CONNECTOR!r} = {HIVE!r} is what makes the one of the other",
            )
        kept = {key: one for key, one in stored.parameters.items() if is_kept(key)}
        if isinstance(new, ResolvedCatalogTable) and self._has_columns_of(stored, new):
            fresh = self._without_columns(stored.database, stored.name, new)
            columns, keys = stored.columns, stored.partition_columns
            fresh = replace(fresh, columns=columns, partition_columns=keys)
        else:
            require_not_of_spark(stored)
            fresh = self.encode(stored.database, stored.name, new)
            kept = {key: one for key, one in kept.items() if not key.startswith(SPARK)}
        if "EXTERNAL" not in fresh.parameters:
            kept.pop("EXTERNAL", None)
        storage = stored.storage if is_source_of_spark(stored) else fresh.storage
        location = fresh.storage.location or stored.storage.location
        return replace(
            fresh,
            parameters=kept | dict(fresh.parameters),
            storage=replace(storage, location=location, rest=stored.storage.rest),
            rest=stored.rest,
        )

    def _has_columns_of(self, stored: HiveTable, new: ResolvedCatalogTable) -> bool:
        """Whether a table whose columns Spark tells keeps them."""
        if is_hive_table(stored.parameters) and is_told_by_spark(stored):
            old = self.decode(stored)
            if isinstance(old, CatalogTable):
                was = resolve_table(old, SchemaResolver())
                return columns_told(was) == columns_told(new)
        return False


def columns_told(table: ResolvedCatalogTable) -> tuple[object, ...]:
    """What of a table Spark keeps."""
    return table.resolved_schema, table.partition_keys, table.distribution


def require_not_of_spark(stored: HiveTable) -> None:
    """Refuse to change the columns of a table whose files Spark reads by what it keeps of them.

    Raises:
        UnsupportedError: with code `not-in-hive`.
    """
    if is_source_of_spark(stored):
        raise UnsupportedError(
            "Spark keeps the columns of this table, and its files fit them",
            code="not-in-hive",
            hint="alter its columns with Spark",
        )


def is_hive(options: Mapping[str, str]) -> bool:
    """Whether a table with these options is one of Hive's own."""
    return options.get(CONNECTOR, "").lower() == HIVE


def beyond_hive(table: ResolvedCatalogTable) -> Iterator[str]:
    """What a table has that no table of Hive's own can have."""
    schema = table.resolved_schema
    for what, there in (
        ("watermarks", schema.watermark_specs),
        ("primary key", schema.primary_key),
        ("indexes", schema.indexes),
        ("immutable columns", schema.immutable_columns),
        ("snapshot", table.snapshot is not None),
    ):
        if there:
            yield f"a table of Hive has no {what}"
    names = [column.name for column in schema.columns]
    keys = list(table.partition_keys)
    if keys and names[-len(keys) :] != keys:
        yield f"the last columns of a table of Hive are its partition keys, {', '.join(keys)}"
    if len(keys) == len(names):
        yield "a table of Hive has a column besides its partition keys"
    spread = table.distribution
    if spread is not None and (
        spread.kind is DistributionKind.RANGE or not spread.bucket_count or not spread.bucket_keys
    ):
        yield "a table of Hive has buckets by the hash of some columns, and as many as it says"


def _buckets(stored: HiveTable) -> TableDistribution | None:
    storage = stored.storage
    if storage.buckets < 1 or not storage.bucket_columns:
        return None
    return TableDistribution.of_hash(storage.bucket_columns, storage.buckets)


def _options(stored: HiveTable, folder: Folder) -> Properties:
    """The options of a table of Hive's own: its properties, and how its files are kept."""
    options = {CONNECTOR: HIVE}
    if stored.kind == EXTERNAL:
        options[hive_storage.EXTERNAL] = "true"
    usual = f"{folder()}/{stored.name}"
    of_storage = hive_storage.options_of(stored.storage, usual)
    if is_source_of_spark(stored):  # Spark's provider says how files are kept
        of_storage = {key: one for key, one in of_storage.items() if key == hive_storage.LOCATION}
    return options | of_storage | visible(stored.parameters)


def _decode_generic(stored: HiveTable) -> CatalogBaseTable:
    """What Flink keeps among the properties; Flink 1.9 kept the columns in Hive's own list."""
    parameters = dict(stored.parameters)
    kind = MapKind.TABLE
    if stored.kind == VIEW:
        kind = MapKind.VIEW
        parameters[FLINK + ORIGINAL] = stored.original_query or ""
        parameters[FLINK + EXPANDED] = stored.expanded_query or ""
    found = read_map(parameters, kind).object
    if not isinstance(found, CatalogTable | CatalogView):
        raise SchemaError("what is stored here is no table", code="wrong-table-kind")
    if not found.schema.columns and stored.columns:
        return replace(found, schema=schema_of((*stored.columns, *stored.partition_columns)))
    return found
