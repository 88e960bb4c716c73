"""The objects of catalogs: databases, tables, views, partitions, models, functions and types.

They are frozen and unresolved; kinds with a schema have a resolved subclass. Catalogs store only
resolved objects and return unresolved ones (FLIP-164).
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import field, replace
from enum import Enum
from types import MappingProxyType, NoneType
from typing import ClassVar, Self

from schema_core.base.arguments import require_instance, require_names, require_sequence
from schema_core.base.lazy import dataclass, regex
from schema_core.base.paths import ObjectIdentifier
from schema_core.base.plugins import load_higher
from schema_core.base.secrets import QueryText, mask
from schema_core.base.text import quote_identifier, show
from schema_core.errors import SchemaError, choose_from
from schema_core.schema.resolved import ResolvedSchema
from schema_core.schema.table_schema import TableSchema
from schema_core.schema.unresolved import Schema
from schema_core.types import DataType, DistinctType, RowType, StructuredType, require_resolved


class TableKind(Enum):
    """The kinds of objects with columns."""

    TABLE = "TABLE"
    VIEW = "VIEW"
    MATERIALIZED_TABLE = "MATERIALIZED_TABLE"


class Options(dict[str, str]):
    """Options by key in the given order; secrets are masked in the `repr`.

    Errors: `invalid-argument` for other arguments than mappings of strings.
    """

    __slots__ = ()

    def __init__(self, given: Mapping[str, str] = MappingProxyType({})) -> None:
        if not isinstance(given, dict):
            require_instance(given, Mapping, "the options")
        super().__init__(given)
        pairs: Iterable[tuple[object, object]] = self.items()
        for key, value in pairs:
            if not (isinstance(key, str) and isinstance(value, str)):
                kind = type(value if isinstance(key, str) else key).__name__
                raise SchemaError(
                    f"option {show(key)} must be a string, got {kind}", code="invalid-argument"
                )

    def __repr__(self) -> str:
        return repr(mask(self))


class DistributionKind(Enum):
    """How rows are assigned to buckets."""

    UNKNOWN = "UNKNOWN"
    HASH = "HASH"
    RANGE = "RANGE"


@dataclass(frozen=True, slots=True)
class TableDistribution:
    """The distribution of rows over buckets by the values of columns.

    >>> print(TableDistribution.of_hash(["id"], 4))
    DISTRIBUTED BY HASH(`id`) INTO 4 BUCKETS
    """

    kind: DistributionKind
    bucket_count: int | None = None
    bucket_keys: tuple[str, ...] = ()

    @staticmethod
    def of(
        kind: DistributionKind, bucket_count: int | None, bucket_keys: Iterable[str]
    ) -> TableDistribution:
        """Return a distribution (`invalid-argument` for keys that are not a list of names)."""
        keys = require_names(bucket_keys, "the distribution")
        return TableDistribution(kind, bucket_count, keys)

    @staticmethod
    def of_unknown(
        bucket_keys: Iterable[str] = (), bucket_count: int | None = None
    ) -> TableDistribution:
        """Return a distribution by an algorithm that the connector chooses."""
        return TableDistribution.of(DistributionKind.UNKNOWN, bucket_count, bucket_keys)

    @staticmethod
    def of_hash(bucket_keys: Iterable[str], bucket_count: int | None = None) -> TableDistribution:
        """Return a distribution by hash."""
        return TableDistribution.of(DistributionKind.HASH, bucket_count, bucket_keys)

    @staticmethod
    def of_range(bucket_keys: Iterable[str], bucket_count: int | None = None) -> TableDistribution:
        """Return a distribution by ranges of values."""
        return TableDistribution.of(DistributionKind.RANGE, bucket_count, bucket_keys)

    def get_kind(self) -> DistributionKind:
        return self.kind

    def get_bucket_count(self) -> int | None:
        return self.bucket_count

    def get_bucket_keys(self) -> list[str]:
        return list(self.bucket_keys)

    def __str__(self) -> str:
        into = f" INTO {self.bucket_count} BUCKETS" if self.bucket_count else ""
        if into and not self.bucket_keys:
            return f"DISTRIBUTED{into}"
        kind = "" if self.kind is DistributionKind.UNKNOWN else self.kind.value
        return f"DISTRIBUTED BY {kind}({', '.join(map(quote_identifier, self.bucket_keys))}){into}"


@dataclass(frozen=True, slots=True)
class CatalogConnection:
    """The options of an external system; secrets are masked in the `repr`.

    >>> CatalogConnection({"url": "http://host", "password": "hunter2"})
    CatalogConnection(options={'url': 'http://host', 'password': '******'}, comment=None)
    """

    options: Mapping[str, str] = field(default_factory=Options, hash=False)
    comment: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "options", Options(self.options))


# --- tables and views ----------------------------------------------------------------------------

#: The query of a view as written, and with all names qualified.
QUERIES = ("original_query", "expanded_query")


def _unwrap_schema(schema: Schema | TableSchema) -> Schema:
    """Return an unresolved schema."""
    return schema.to_schema() if isinstance(schema, TableSchema) else schema


@dataclass(frozen=True, slots=True)
class CatalogBaseTable(ABC):
    """The base of tables, views and materialized tables: a schema, options, a comment."""

    #: The attributes that hold a query.
    _queries: ClassVar[tuple[str, ...]] = ()

    schema: Schema
    options: Mapping[str, str] = field(default_factory=Options, hash=False, kw_only=True)
    comment: str | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        require_instance(self.schema, Schema, "the schema")
        if self.comment is not None:
            require_instance(self.comment, (str, NoneType), "the comment")
        object.__setattr__(self, "options", Options(self.options))
        for name in self._queries:
            text = require_instance(getattr(self, name), str, f"the {name.replace('_', ' ')}")
            object.__setattr__(self, name, QueryText(text))

    @staticmethod
    def create_table(
        schema: Schema | TableSchema,
        partition_keys: Iterable[str] = (),
        properties: Mapping[str, str] | None = None,
        comment: str | None = None,
    ) -> CatalogTable:
        """A table; `properties` are its options.

        `invalid-argument` for partition keys that are not a list of names.
        """
        keys = require_names(partition_keys, "the partition keys")
        options = {} if properties is None else properties
        return CatalogTable(_unwrap_schema(schema), keys, options=options, comment=comment)

    @staticmethod
    def create_view(
        original_query: str,
        expanded_query: str,
        schema: Schema | TableSchema,
        properties: Mapping[str, str] | None = None,
        comment: str | None = None,
    ) -> CatalogView:
        """A view; `properties` are its options."""
        options = {} if properties is None else properties
        columns = _unwrap_schema(schema)
        return CatalogView(
            columns, original_query, expanded_query, options=options, comment=comment
        )

    @abstractmethod
    def get_table_kind(self) -> TableKind:
        """Return the kind of the object."""

    def get_unresolved_schema(self) -> Schema:
        return self.schema

    def get_options(self) -> dict[str, str]:
        """A copy of the options."""
        return dict(self.options)

    def get_comment(self) -> str:
        """Return the comment, or an empty string."""
        return self.comment or ""

    def get_description(self) -> str | None:
        return self.get_comment()

    def get_detailed_description(self) -> str | None:
        return self.get_comment()

    def copy(self, options: Mapping[str, str] | None = None) -> Self:
        """Return the object, with other options if given."""
        return self if options is None else replace(self, options=options)


@dataclass(frozen=True, slots=True)
class CatalogTable(CatalogBaseTable):
    """A table; its options configure its connector."""

    partition_keys: tuple[str, ...] = ()
    distribution: TableDistribution | None = field(default=None, kw_only=True)
    snapshot: int | None = field(default=None, kw_only=True)

    def get_table_kind(self) -> TableKind:
        return TableKind.TABLE

    def is_partitioned(self) -> bool:
        return bool(self.partition_keys)

    def get_partition_keys(self) -> list[str]:
        return list(self.partition_keys)

    def get_distribution(self) -> TableDistribution | None:
        return self.distribution

    def get_snapshot(self) -> int | None:
        """Return the time of the snapshot of the table, in milliseconds."""
        return self.snapshot

    def to_properties(self) -> dict[str, str]:
        """Return the table as Flink's property map, as `schema_core.properties.encode_table`.

        Raises:
            SchemaError: for an unresolved table that does not resolve with built-in functions.
            UnsupportedError: for everything that would not be restored.

        >>> table = CatalogTable(Schema.new_builder().column("id", "INT").build())
        >>> table.to_properties()
        {'schema.0.name': 'id', 'schema.0.data-type': 'INT'}
        """
        properties: dict[str, str] = load_higher("encode_table")(self)
        return properties

    @staticmethod
    def from_properties(properties: Mapping[str, str]) -> CatalogTable:
        """Return the unresolved table of a property map.

        Raises:
            SchemaError: `malformed-property` for an incomplete map,
                `reserved-option` for an option that only this library sets, in its catalogs.
        """
        table: CatalogTable = load_higher("decode_table")(properties)
        return table


@dataclass(frozen=True, slots=True)
class CatalogView(CatalogBaseTable):
    """A named query, as written and with all names qualified."""

    _queries = QUERIES

    original_query: str
    expanded_query: str

    def get_table_kind(self) -> TableKind:
        return TableKind.VIEW

    def get_original_query(self) -> str:
        return self.original_query

    def get_expanded_query(self) -> str:
        return self.expanded_query


@dataclass(frozen=True, slots=True)
class ResolvedCatalogTable(CatalogTable):
    """A resolved table."""

    resolved_schema: ResolvedSchema = field(kw_only=True)

    def get_resolved_schema(self) -> ResolvedSchema:
        return self.resolved_schema


@dataclass(frozen=True, slots=True)
class ResolvedCatalogView(CatalogView):
    """A resolved view."""

    resolved_schema: ResolvedSchema = field(kw_only=True)

    def get_resolved_schema(self) -> ResolvedSchema:
        return self.resolved_schema


# --- databases, functions, models ----------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ObjectWithProperties:
    """The base of databases and partitions."""

    properties: Mapping[str, str] = field(default_factory=Options, hash=False)
    comment: str | None = None

    def __post_init__(self) -> None:
        require_instance(self.comment, (str, NoneType), "the comment")
        object.__setattr__(self, "properties", Options(self.properties))

    @classmethod
    def create_instance(cls, properties: Mapping[str, str], comment: str | None = None) -> Self:
        return cls(properties, comment)

    def get_properties(self) -> dict[str, str]:
        """Return a copy of the properties."""
        return dict(self.properties)

    def get_comment(self) -> str:
        """Return the comment, or an empty string."""
        return self.comment or ""

    def get_description(self) -> str | None:
        return self.get_comment()

    def get_detailed_description(self) -> str | None:
        return self.get_comment()


@dataclass(frozen=True, slots=True)
class CatalogDatabase(ObjectWithProperties):
    """The properties and the comment of a database."""

    def copy(self, properties: Mapping[str, str] | None = None) -> CatalogDatabase:
        """Return the database, with other properties if given."""
        return self if properties is None else replace(self, properties=properties)


class FunctionLanguage(Enum):
    """The language of a user-defined function."""

    JAVA = "JAVA"
    SCALA = "SCALA"
    PYTHON = "PYTHON"


@dataclass(frozen=True, slots=True)
class ResourceUri:
    """A file that a function requires: its kind (JAR, FILE, ARCHIVE) and its URI."""

    kind: str
    uri: str

    def __post_init__(self) -> None:
        require_instance(self.kind, str, "kind")
        require_instance(self.uri, str, "uri")


@dataclass(frozen=True, slots=True)
class CatalogFunction:
    """A user-defined function: the name of its class, which is never imported here."""

    class_name: str
    language: FunctionLanguage = FunctionLanguage.PYTHON
    resource_uris: tuple[ResourceUri, ...] = ()
    options: Mapping[str, str] = field(default_factory=Options, hash=False)

    def __post_init__(self) -> None:
        require_instance(self.class_name, str, "class_name")
        require_instance(self.language, FunctionLanguage, "language")
        object.__setattr__(self, "options", Options(self.options))
        uris = require_sequence(self.resource_uris, "resource_uris")
        for uri in uris:
            require_instance(uri, ResourceUri, "a resource")
        object.__setattr__(self, "resource_uris", uris)

    @staticmethod
    def create_instance(class_name: str, function_language: str = "Python") -> CatalogFunction:
        """A function of this class; the language in any case.

        `feature-not-supported` for others than Java, Scala and Python.
        """
        require_instance(function_language, str, "function_language")
        language = function_language.upper()
        if language not in FunctionLanguage.__members__:
            raise SchemaError(
                f"unknown function language {function_language!r}",
                code="feature-not-supported",
                hint="choose Java, Scala or Python",
            )
        return CatalogFunction(class_name, FunctionLanguage[language])

    def get_class_name(self) -> str:
        return self.class_name

    def get_function_language(self) -> FunctionLanguage:
        return self.language

    def get_function_resources(self) -> list[ResourceUri]:
        return list(self.resource_uris)

    def get_options(self) -> dict[str, str]:
        """A copy of the options."""
        return dict(self.options)

    def get_description(self) -> str | None:
        return "This is a user-defined function"

    def get_detailed_description(self) -> str | None:
        return f"{self.get_description()} in {self.language.value} of class {self.class_name}"

    def copy(self) -> CatalogFunction:
        """Return the function itself, which is immutable."""
        return self


@dataclass(frozen=True, slots=True)
class CatalogModel:
    """A model: its input and output columns, and the options of its provider."""

    input_schema: Schema
    output_schema: Schema
    options: Mapping[str, str] = field(default_factory=Options, hash=False, kw_only=True)
    comment: str | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        require_instance(self.input_schema, Schema, "input_schema")
        require_instance(self.output_schema, Schema, "output_schema")
        require_instance(self.comment, (str, NoneType), "the comment")
        object.__setattr__(self, "options", Options(self.options))

    @staticmethod
    def create_model(
        input_schema: Schema,
        output_schema: Schema,
        options: Mapping[str, str] | None = None,
        comment: str | None = None,
    ) -> CatalogModel:
        given = {} if options is None else options
        return CatalogModel(input_schema, output_schema, options=given, comment=comment)

    def get_input_schema(self) -> Schema:
        return self.input_schema

    def get_output_schema(self) -> Schema:
        return self.output_schema

    def get_options(self) -> dict[str, str]:
        """A copy of the options."""
        return dict(self.options)

    def get_comment(self) -> str | None:
        return self.comment

    def copy(self, options: Mapping[str, str] | None = None) -> Self:
        """Return the model, with other options if given."""
        return self if options is None else replace(self, options=options)


@dataclass(frozen=True, slots=True)
class ResolvedCatalogModel(CatalogModel):
    """A resolved model."""

    resolved_input_schema: ResolvedSchema = field(kw_only=True)
    resolved_output_schema: ResolvedSchema = field(kw_only=True)

    def get_resolved_input_schema(self) -> ResolvedSchema:
        return self.resolved_input_schema

    def get_resolved_output_schema(self) -> ResolvedSchema:
        return self.resolved_output_schema


# --- materialized tables --------------------------------------------------------------------------


class FreshnessUnit(Enum):
    """The units of a freshness, with their length in seconds."""

    SECOND = 1
    MINUTE = 60
    HOUR = 3_600
    DAY = 86_400
    WEEK = 604_800


class LogicalRefreshMode(Enum):
    """The refresh mode as declared."""

    CONTINUOUS = "CONTINUOUS"
    FULL = "FULL"
    AUTOMATIC = "AUTOMATIC"


class RefreshMode(Enum):
    """The effective refresh mode."""

    CONTINUOUS = "CONTINUOUS"
    FULL = "FULL"


class RefreshStatus(Enum):
    """The current state of the refresh."""

    INITIALIZING = "INITIALIZING"
    ACTIVATED = "ACTIVATED"
    SUSPENDED = "SUSPENDED"


class StartMode(Enum):
    """The position at which the first refresh starts to read."""

    FROM_BEGINNING = "FROM_BEGINNING"


@dataclass(frozen=True, slots=True)
class Freshness:
    """The maximum age of the rows of a materialized table.

    >>> print(Freshness.of("3", FreshnessUnit.MINUTE))
    INTERVAL '3' MINUTE
    """

    interval: int
    unit: FreshnessUnit

    @staticmethod
    def of(interval: str, unit: FreshnessUnit) -> Freshness:
        """Return the freshness of an interval (else `invalid-materialized-table`)."""
        require_instance(interval, str, "interval")
        require_instance(unit, FreshnessUnit, "unit")
        number = int(interval) if re.fullmatch(r"[+-]?\d{1,30}", interval) else 0
        if not 0 < number < 2**31:
            raise SchemaError(
                f"the freshness must be a positive integer, got {interval!r}",
                code="invalid-materialized-table",
            )
        return Freshness(number, unit)

    @property
    def seconds(self) -> int:
        """The interval in seconds."""
        return self.interval * self.unit.value

    def to_cron(self) -> str:
        """Return the cron expression of a full refresh, as Flink's scheduler (Quartz) reads it.

        `invalid-materialized-table` for one that a clock cannot keep: it must divide the next
        larger unit.

        >>> Freshness.of("10", FreshnessUnit.MINUTE).to_cron()
        '0 0/10 * * * ? *'
        """
        cycle = CYCLES.get(self.unit)
        if cycle is None:
            raise SchemaError(
                f"a full refresh does not support {self.unit.name}s",
                code="invalid-materialized-table",
                hint=choose_from(self.unit.name, (unit.name for unit in CYCLES)),
            )
        if cycle % self.interval or (self.interval == cycle > 1):
            raise SchemaError(
                f"a full refresh cannot run every {self.interval} {self.unit.name}s",
                code="invalid-materialized-table",
                hint=f"choose a divisor of {cycle}",
            )
        return CRON[self.unit].format(self.interval)

    def __str__(self) -> str:
        return f"INTERVAL '{self.interval}' {self.unit.name}"


#: Default freshness by logical refresh mode, as in Flink.
DEFAULT_FRESHNESS = {
    LogicalRefreshMode.FULL: Freshness(1, FreshnessUnit.HOUR),
    LogicalRefreshMode.CONTINUOUS: Freshness(3, FreshnessUnit.MINUTE),
    LogicalRefreshMode.AUTOMATIC: Freshness(3, FreshnessUnit.MINUTE),
}

#: AUTOMATIC means CONTINUOUS below so many seconds (``materialized-table.refresh-mode.
#: freshness-threshold``, 30 minutes).
CONTINUOUS_BELOW = 1_800

#: Unit -> how many make the next larger one, which a full refresh must divide evenly. Weeks are not
#: supported.
CYCLES = {
    FreshnessUnit.SECOND: 60,
    FreshnessUnit.MINUTE: 60,
    FreshnessUnit.HOUR: 24,
    FreshnessUnit.DAY: 1,
}


#: Unit -> the cron expression of a full refresh: second, minute, hour, day, month, weekday, year.
CRON = {
    FreshnessUnit.SECOND: "0/{} * * * * ? *",
    FreshnessUnit.MINUTE: "0 0/{} * * * ? *",
    FreshnessUnit.HOUR: "0 0 0/{} * * ? *",
    FreshnessUnit.DAY: "0 0 0 * * ? *",
}


#: The option with the date format of a partition field, which a scheduled refresh fills.
DATE_FORMATTER = regex(r"partition\.fields\.(.+)\.date-formatter")


@dataclass(frozen=True, slots=True)
class CatalogMaterializedTable(CatalogBaseTable):
    """A named query whose result is stored."""

    _queries = QUERIES

    original_query: str
    expanded_query: str
    logical_refresh_mode: LogicalRefreshMode = field(kw_only=True)
    refresh_status: RefreshStatus = field(kw_only=True)
    refresh_mode: RefreshMode | None = field(default=None, kw_only=True)
    freshness: Freshness | None = field(default=None, kw_only=True)
    start_mode: StartMode | None = field(default=None, kw_only=True)
    refresh_handler_description: str | None = field(default=None, kw_only=True)
    refresh_handler: bytes | None = field(default=None, kw_only=True)
    partition_keys: tuple[str, ...] = field(default=(), kw_only=True)
    distribution: TableDistribution | None = field(default=None, kw_only=True)
    snapshot: int | None = field(default=None, kw_only=True)

    def get_table_kind(self) -> TableKind:
        return TableKind.MATERIALIZED_TABLE

    def is_partitioned(self) -> bool:
        return bool(self.partition_keys)

    def get_partition_keys(self) -> list[str]:
        return list(self.partition_keys)

    def get_distribution(self) -> TableDistribution | None:
        return self.distribution

    def get_original_query(self) -> str:
        return self.original_query

    def get_expanded_query(self) -> str:
        return self.expanded_query


@dataclass(frozen=True, slots=True)
class ResolvedCatalogMaterializedTable(CatalogMaterializedTable):
    """A resolved materialized table, with its freshness and refresh mode."""

    resolved_schema: ResolvedSchema = field(kw_only=True)

    def get_resolved_schema(self) -> ResolvedSchema:
        return self.resolved_schema

    def as_table(self, options: Mapping[str, str] | None = None) -> ResolvedCatalogTable:
        """Return the table of the stored rows, which a connector reads and writes.

        `options` replace those of the definition. Date formatters of partition fields are the
        refresh's, not the connector's.
        """
        chosen = self.options if options is None else options
        return ResolvedCatalogTable(
            self.schema,
            self.partition_keys,
            options=Options(
                {key: value for key, value in chosen.items() if not DATE_FORMATTER.fullmatch(key)}
            ),
            comment=self.comment,
            distribution=self.distribution,
            snapshot=self.snapshot,
            resolved_schema=self.resolved_schema,
        )


# --- partitions -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, init=False)
class CatalogPartitionSpec:
    """Values of all or some partition keys; their order does not affect equality.

    >>> print(CatalogPartitionSpec({"b": "x", "c": "y"}))
    b=x/c=y
    >>> CatalogPartitionSpec({"b": "x", "c": "y"}) == CatalogPartitionSpec({"c": "y", "b": "x"})
    True
    """

    pairs: tuple[tuple[str, str], ...] = field(compare=False)
    content: frozenset[tuple[str, str]] = field(repr=False)

    def __init__(self, partition_spec: Mapping[str, str]) -> None:
        pairs = Options(partition_spec).items()
        object.__setattr__(self, "pairs", tuple(pairs))
        object.__setattr__(self, "content", frozenset(pairs))

    def get_partition_spec(self) -> dict[str, str]:
        """Return the values by key, in the given order."""
        return dict(self.pairs)

    def covers(self, other: CatalogPartitionSpec) -> bool:
        """Return whether the other specification has every value of this one."""
        return self.content <= other.content

    def __str__(self) -> str:
        return "/".join(f"{key}={value}" for key, value in self.pairs)


@dataclass(frozen=True, slots=True)
class CatalogPartition(ObjectWithProperties):
    """The properties and the comment of a partition."""

    def copy(self) -> CatalogPartition:
        return self


# --- user-defined types ---------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class CatalogType:
    """A user-defined type without its path: structured for rows and classes, otherwise distinct.

    The SQL standard defines the first by attributes, the second by its source.

    >>> from schema_core.types import DataTypes as T
    >>> money = CatalogType(T.DECIMAL(10, 2)).named(ObjectIdentifier.of("c", "d", "money"))
    >>> print(money, "from", money.source_type)
    `c`.`d`.`money` from DECIMAL(10, 2)
    """

    definition: DataType
    description: str | None = None

    def __post_init__(self) -> None:
        require_resolved(self.definition)
        if isinstance(self.definition, StructuredType) and self.definition.path:
            raise SchemaError(
                f"{self.definition} already has a path",
                code="invalid-state",
                hint="define it without a path: the catalog assigns the path",
            )

    def named(self, identifier: ObjectIdentifier) -> DataType:
        """Return the nullable type with the path of its catalog object."""
        path = (identifier.catalog_name, identifier.database_name, identifier.object_name)
        return named_type(path, self.definition, self.description)


def named_type(
    path: tuple[str, ...], definition: DataType, description: str | None
) -> StructuredType | DistinctType:
    """Return the nullable user-defined type with this path."""
    match definition:
        case RowType(fields=fields):
            return StructuredType(None, fields, path=path, description=description)
        case StructuredType(class_name=name, fields=fields):
            return StructuredType(name, fields, path=path, description=description)
        case source:
            return DistinctType(path, source.nullable(), description=description)


def definition_of(named: StructuredType | DistinctType) -> DataType:
    """Return the definition from which `named_type` makes this type."""
    match named:
        case DistinctType(source_type=source):
            return source.nullable()
        case StructuredType(class_name=None, fields=fields):
            return RowType(fields)
        case StructuredType(class_name=name, fields=fields):
            return StructuredType(name, fields)
