"""Connectors: their options, metadata and abilities, and the validation of tables that use them.

`Connector` is independent of engines; planners require more of it. As in Flink's factory
discovery, options are checked at a table's first use, not when it is created. Metadata columns are
also checked when a table with an installed connector is defined.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import contextmanager, suppress
from enum import Enum
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias, runtime_checkable

from schema_core.base.lazy import dataclass
from schema_core.base.plugins import CONNECTORS, require
from schema_core.base.secrets import without_secrets
from schema_core.catalog.objects import ResolvedCatalogTable
from schema_core.catalog.own_options import COLUMN_HISTORY
from schema_core.environment.options import (
    ConfigOption,
    choice,
    nanoseconds,
    warn_deprecated,
)
from schema_core.errors import (
    ExternalError,
    Gathering,
    NotFoundError,
    SchemaCoreError,
    SchemaError,
    UnsupportedError,
    at,
    similar,
)
from schema_core.schema.columns import MetadataColumn
from schema_core.types import supports_explicit_cast

if TYPE_CHECKING:
    from schema_core.base.paths import ObjectIdentifier
    from schema_core.base.text import Span
    from schema_core.catalog.objects import CatalogBaseTable
    from schema_core.environment.planner import BoundTable
    from schema_core.types import DataType

#: Options that every table understands; durations are exact, in nanoseconds.
WATERMARK_OPTIONS: tuple[ConfigOption[Any], ...] = (
    ConfigOption("scan.watermark.emit.strategy", choice("on-event", "on-periodic"), "on-periodic"),
    ConfigOption("scan.watermark.alignment.group", str),
    ConfigOption("scan.watermark.alignment.max-drift", nanoseconds),
    ConfigOption("scan.watermark.alignment.update-interval", nanoseconds, 1_000_000_000),
    ConfigOption("scan.watermark.idle-timeout", nanoseconds),
)
IMPLICIT_OPTIONS: tuple[str, ...] = (
    "connector",
    "property-version",
    COLUMN_HISTORY,
    *(option.key for option in WATERMARK_OPTIONS),
)


class Ability(Enum):
    """What a connector supports beyond reading all rows and appending rows.

    A statement that needs an undeclared ability is refused before its job; pushdowns are offered
    only if declared. Metadata is declared separately: `Connector.metadata`,
    `Connector.writable_metadata`.
    """

    #: INSERT OVERWRITE and REPLACE TABLE AS replace existing rows (`SupportsOverwrite`)
    OVERWRITE = "overwrite"
    #: REPLACE TABLE AS, but not INSERT OVERWRITE (`SupportsReplacement`)
    REPLACEMENT = "replacement"
    #: rows go into the partitions of a PARTITIONED BY table (`SupportsPartitioning`)
    PARTITIONS = "partitions"
    #: rows go into the buckets of a DISTRIBUTED BY table (`SupportsBucketing`)
    BUCKETS = "buckets"
    #: rows of a job become visible at once, or never (`SupportsStaging`)
    STAGING = "staging"
    #: INSERT INTO a table with a PRIMARY KEY replaces the rows with the same key
    UPSERT = "upsert"
    #: predicates of the query are offered (`SupportsFilterPushDown`)
    FILTER_PUSH_DOWN = "filter push-down"
    #: only columns that the query reads are requested (`SupportsProjectionPushDown`)
    PROJECTION_PUSH_DOWN = "projection push-down"
    #: the number of rows needed is offered (`SupportsLimitPushDown`)
    LIMIT_PUSH_DOWN = "limit push-down"
    #: only partitions that the filters select are requested (`SupportsPartitionPushDown`)
    PARTITION_PUSH_DOWN = "partition push-down"
    #: COUNT, MIN, MAX and SUM are offered (`SupportsAggregatePushDown`)
    AGGREGATE_PUSH_DOWN = "aggregate push-down"
    #: the first rows by ORDER BY are offered (`SupportsTopNPushDown`)
    TOP_N_PUSH_DOWN = "top-N push-down"
    #: the columns that INSERT names are offered (`SupportsTargetColumnWriting`)
    TARGET_COLUMNS = "target columns"
    #: DELETE deletes rows (`SupportsRowLevelDelete`)
    ROW_LEVEL_DELETE = "row-level delete"
    #: UPDATE updates rows (`SupportsRowLevelUpdate`)
    ROW_LEVEL_UPDATE = "row-level update"
    #: the filters of a DELETE are offered (`SupportsDeletePushDown`)
    DELETE_PUSH_DOWN = "delete push-down"
    #: the filters and values of an UPDATE are offered (`SupportsUpdatePushDown`)
    UPDATE_PUSH_DOWN = "update push-down"
    #: TRUNCATE TABLE deletes all rows (`SupportsTruncate`)
    TRUNCATE = "truncate"


class Visibility(Enum):
    """When readers see the rows of a batch job (FLIP-218, "Data Visibility").

    A connector declares it by a method ``visibility(options)``
    (`schema_core.environment.jobs.atomicity.visibility_of`).
    """

    #: as soon as they are written, also those of a job that fails
    WRITE_VISIBLE = "write-visible"
    #: a part at a time: when a task or a batch commits
    INCREMENTAL = "incremental"
    #: all at once, when the job has finished
    FINAL = "final"


class Boundedness(Enum):
    """Whether the rows of a table have an end, with Flink's names.

    A connector declares it by a method ``boundedness(options)``.
    """

    BOUNDED = "bounded"
    #: rows may arrive forever: readable only by streaming jobs
    CONTINUOUS_UNBOUNDED = "unbounded"


class DeliveryGuarantee(Enum):
    """How often a restarted streaming job writes each row, as in Flink.

    A connector declares it by a method ``delivery_guarantee(options)``.
    """

    EXACTLY_ONCE = "exactly-once"
    AT_LEAST_ONCE = "at-least-once"
    #: rows may be repeated or lost, so a job needs no checkpoints
    NONE = "none"


class Connector(Protocol):
    """A kind of external system that stores tables. Constructed without arguments.

    The properties may be class attributes.
    """

    @property
    def identifier(self) -> str:
        """The value of the option ``connector``."""

    @property
    def can_read(self) -> bool:
        """Whether tables can be read."""

    @property
    def can_write(self) -> bool:
        """Whether tables can be written."""

    @property
    def abilities(self) -> frozenset[Ability]:
        """What is supported beyond reading all rows and appending rows."""

    @property
    def metadata(self) -> Mapping[str, DataType]:
        """The keys that METADATA columns may name, with their types when read."""

    @property
    def writable_metadata(self) -> frozenset[str]:
        """The metadata keys that can also be written."""

    def declared(self, options: Mapping[str, str]) -> Sequence[ConfigOption[Any]]:
        """Return the connector's options, then its format's (`SchemaError` if not installed)."""


@dataclass(frozen=True, slots=True)
class Context:
    """The table for which a factory creates a source or a sink.

    The methods have the names of Flink's ``DynamicTableFactory.Context``.
    """

    identifier: ObjectIdentifier
    table: ResolvedCatalogTable
    configuration: Mapping[str, str]
    temporary: bool = False

    def get_object_identifier(self) -> ObjectIdentifier:
        return self.identifier

    def get_catalog_table(self) -> ResolvedCatalogTable:
        return self.table

    def get_enrichment_options(self) -> dict[str, str]:
        """Return the options of a compiled plan: always empty."""
        return {}

    def get_configuration(self) -> Mapping[str, str]:
        return self.configuration

    def is_temporary(self) -> bool:
        return self.temporary

    def get_physical_row_data_type(self) -> DataType:
        return self.table.resolved_schema.to_physical_row_data_type()

    def get_primary_key_indexes(self) -> list[int]:
        """Return the key columns' positions among the physical columns."""
        return self.table.resolved_schema.get_primary_key_indexes()


@runtime_checkable
class DynamicTableFactory(Protocol):
    """A connector that creates a source or sink for each table."""

    def create_dynamic_table_source(self, context: Context) -> Connector: ...
    def create_dynamic_table_sink(self, context: Context) -> Connector: ...


def boundedness_of(connector: Connector | None, options: Mapping[str, str]) -> Boundedness:
    """Return whether the rows of a table have an end; the default is `BOUNDED`.

    >>> boundedness_of(None, {})
    <Boundedness.BOUNDED: 'bounded'>
    """
    declared: Any = getattr(connector, "boundedness", None)
    return Boundedness.BOUNDED if declared is None else Boundedness(declared(options))


def delivery_guarantee_of(connector: Connector, options: Mapping[str, str]) -> DeliveryGuarantee:
    """Return how often a streaming job writes each row of a table.

    The default is `AT_LEAST_ONCE`: a restarted job writes its last micro-batch again.
    """
    declared: Any = getattr(connector, "delivery_guarantee", None)
    guarantee = DeliveryGuarantee.AT_LEAST_ONCE
    return guarantee if declared is None else DeliveryGuarantee(declared(options))


def require_no_definition(options: Mapping[str, str], hinted: Iterable[str]) -> None:
    """Refuse options in a hint that have an effect only when the table is created.

    Args:
        options: The options of the table.
        hinted: The keys of the hint.

    Raises:
        SchemaError: with code `invalid-hint`.
    """
    connector = installed_connector(options)
    if connector is None:
        return
    declared = [option for option in connector.declared(options) if option.defines_table]
    for key in hinted:
        if any(option.has_key(key) for option in declared):
            raise SchemaError(
                f"the option {key!r} is that of a new table, so a hint with it has no effect",
                code="invalid-hint",
                hint="remove it from the hint; CREATE TABLE or ALTER TABLE ... SET sets it",
            )


def find_connector(options: Mapping[str, str]) -> Connector:
    """Return the installed connector that the options name (`missing-connector` without one).

    Other errors are those of `schema_core.base.plugins.require`.
    """
    if "connector" not in options:
        raise SchemaError(
            "the table has no option 'connector'",
            code="missing-connector",
            hint=connector_hint("a catalog with the option 'warehouse', which manages such tables"),
        )
    connector: Connector = require(CONNECTORS, options["connector"])()
    return connector


def connector_hint(catalog: str) -> str:
    """Return the hint for a table without a connector; a `catalog` manages tables without one."""
    return (
        "add the option to its WITH clause: 'connector' = 'filesystem'; or create the table in "
        f"{catalog}"
    )


def secret_keys(options: Mapping[str, str]) -> frozenset[str]:
    """Return the keys that a table's installed connector declares secret, in lower case."""
    with suppress(SchemaCoreError):
        declared = find_connector(options).declared(options)
        return frozenset(
            key.lower() for option in declared if option.secret for key in option.key_patterns()
        )
    return frozenset()


def validate(connector: Connector, options: Mapping[str, str]) -> None:
    """Check the options of a table, and raise all errors at once.

    Codes: `missing-option`, `invalid-option-value`, `unknown-option`,
    `conflicting-options`.
    """
    declared = connector.declared(options)
    problems = Gathering()
    for check in (_check_required, _check_values, _check_known):
        with problems.catching():
            check(declared, options)
    with problems.catching():
        _check_alignment(options)
    problems.raise_all()
    for option in declared:
        for key, current in option.replaced_keys(options).items():
            warn_deprecated(f"the option {key!r}", repr(current))


def validate_options(
    declared: Sequence[ConfigOption[Any]], options: Mapping[str, str], implicit: Collection[str]
) -> None:
    """Check options that are not those of a table, and raise all errors at once.

    `implicit` are keys beside the declared ones. Codes: `missing-option`, `invalid-option-value`,
    `unknown-option`.
    """
    problems = Gathering()
    with problems.catching():
        _check_required(declared, options)
    for option in declared:
        with problems.catching():
            option.of(options)
    with problems.catching():
        _check_known(declared, options, implicit)
    problems.raise_all()


def open_connector(bound: BoundTable, purpose: str, configuration: Mapping[str, str]) -> Connector:
    """Return the connector of a table after validation, ready to read or write it.

    For a `DynamicTableFactory` it is the source or sink that the factory creates.

    Raises:
        NotFoundError, SchemaError: as `find_connector`, `validate` and `check_metadata`.
        UnsupportedError: `unsupported-ability` if it does not read or write.
    """
    connector = validate_bound(bound, purpose)
    if isinstance(connector, DynamicTableFactory):
        context = Context(bound.identifier, bound.table, configuration, bound.is_temporary)
        if purpose == "write":
            connector = connector.create_dynamic_table_sink(context)
        else:
            connector = connector.create_dynamic_table_source(context)
    check_metadata(connector, bound.table, "write" if purpose == "write" else "read")
    return connector


def validate_bound(bound: BoundTable, purpose: str) -> Connector:
    """Return the connector of a table after its options were validated; see `open_connector`."""
    options = bound.table.options
    connector = find_connector(options)
    if not (connector.can_write if purpose == "write" else connector.can_read):
        raise UnsupportedError(
            f"the connector {connector.identifier!r} cannot {purpose} tables",
            code="unsupported-ability",
        )
    validate(connector, options)
    return connector


def check_definition(identifier: ObjectIdentifier, table: ResolvedCatalogTable) -> None:
    """Check the options and metadata columns of a table as its first use would.

    Flink, and so CREATE TABLE, checks options only when a table is used. Errors are those of
    `find_connector`, `validate` and `check_metadata`.
    """
    with using(identifier, table.options, "use"):
        connector = find_connector(table.options)
        problems = Gathering()
        with problems.catching():
            validate(connector, table.options)
        if not isinstance(connector, DynamicTableFactory):
            with problems.catching():
                check_metadata(connector, table, "define")
        problems.raise_all()


# --- metadata columns ----------------------------------------------------------------------

#: The operation that a table is checked for.
Purpose: TypeAlias = Literal["read", "write", "define"]


def check_metadata(
    connector: Connector,
    table: ResolvedCatalogTable,
    purpose: Purpose,
    *,
    unchanged: Collection[str] = (),
) -> None:
    """Check the metadata columns of a table against its connector, and raise all errors at once.

    To `read`, every key exists and its type casts explicitly into the column's. To `write`, keys
    of columns that are not VIRTUAL are writable and the cast works in reverse. To `define`, keys
    exist and types cast; a read-only key is allowed also without VIRTUAL, since it can be read.
    `unchanged` columns are skipped.

    The code is `invalid-metadata-column`.
    """
    spans: dict[str, Span | None] = {}
    if purpose == "define":  # only then the columns belong to the text of the statement
        spans = {column.name: column.span for column in table.schema.columns}
    problems = Gathering()
    metadata = metadata_of(connector, table.options)
    for column in metadata_columns(table):
        if column.name not in unchanged:
            with problems.catching(), at(f"column {column.name!r}", spans.get(column.name)):
                _CHECKS[purpose](connector, column, metadata, table.options)
    problems.raise_all()


def check_declared_metadata(
    table: ResolvedCatalogTable, purpose: Purpose, *, old: CatalogBaseTable | None = None
) -> None:
    """Check the metadata columns against the installed connector of the table, if any.

    Columns that `old` has for the same connector are skipped, so an ALTER of something else does
    not depend on them. So are connectors that are not installed, and a `DynamicTableFactory`, whose
    metadata is known only when it creates a source.
    """
    if not metadata_columns(table):
        return
    unchanged: Collection[str] = ()
    if old is not None and _name(old) == _name(table):
        before = {column.name: column for column in old.schema.columns}
        unchanged = {
            column.name for column in table.schema.columns if column == before.get(column.name)
        }
    connector = installed_connector(table.options)
    if connector is not None and not isinstance(connector, DynamicTableFactory):
        check_metadata(connector, table, purpose, unchanged=unchanged)


def _name(table: CatalogBaseTable) -> str | None:
    return table.options.get("connector")


def metadata_columns(table: ResolvedCatalogTable) -> list[MetadataColumn]:
    """Return the metadata columns of a table."""
    columns = table.resolved_schema.columns
    if not any(issubclass(kind, MetadataColumn) for kind in set(map(type, columns))):
        return []
    return [column for column in columns if isinstance(column, MetadataColumn)]


def installed_connector(options: Mapping[str, str]) -> Connector | None:
    """Return the connector that the options of a table name, None if it is not installed."""
    if "connector" not in options:
        return None
    try:
        return find_connector(options)
    except NotFoundError:
        return None


def metadata_of(connector: Connector, options: Mapping[str, str]) -> Mapping[str, DataType]:
    """Return the metadata of a table by key, with the format's ``format_metadata(options)``."""
    forwarded: Any = getattr(connector, "format_metadata", None)
    return connector.metadata if forwarded is None else {**connector.metadata, **forwarded(options)}


#: Metadata key -> its type.
Metadata: TypeAlias = "Mapping[str, DataType]"


def _read(
    connector: Connector, column: MetadataColumn, metadata: Metadata, options: Mapping[str, str]
) -> None:
    type_ = _type_of(connector, column, metadata, options)
    if not supports_explicit_cast(type_, column.data_type):
        raise SchemaError(
            f"metadata {column.key!r} of connector {connector.identifier!r} is {type_}, "
            f"which does not cast to {column.data_type}",
            code="invalid-metadata-column",
            hint=f"declare the column {type_} and cast in queries",
        )


def _write(
    connector: Connector, column: MetadataColumn, metadata: Metadata, options: Mapping[str, str]
) -> None:
    if not column.is_persisted():
        return
    type_ = _type_of(connector, column, metadata, options)
    if column.key not in connector.writable_metadata:
        raise SchemaError(
            f"metadata {column.key!r} of connector {connector.identifier!r} cannot be written",
            code="invalid-metadata-column",
            hint=f"declare the column METADATA FROM '{column.key}' VIRTUAL",
        )
    if not supports_explicit_cast(column.data_type, type_):
        raise SchemaError(
            f"{column.data_type} does not cast to {type_}, the type of metadata {column.key!r} "
            f"of connector {connector.identifier!r}",
            code="invalid-metadata-column",
            hint=f"declare the column {type_}",
        )


def _define(
    connector: Connector, column: MetadataColumn, metadata: Metadata, options: Mapping[str, str]
) -> None:
    _type_of(connector, column, metadata, options)
    if connector.can_read:
        _read(connector, column, metadata, options)
    if connector.can_write and column.key in connector.writable_metadata:
        _write(connector, column, metadata, options)


def _type_of(
    connector: Connector, column: MetadataColumn, metadata: Metadata, options: Mapping[str, str]
) -> DataType:
    if column.key not in metadata:
        known = ", ".join(map(repr, metadata)) or "none"
        raise SchemaError(
            f"connector {connector.identifier!r} has no metadata {column.key!r}; it has: {known}",
            code="invalid-metadata-column",
            hint=_hint_of_format(connector, column, metadata, options),
        )
    return metadata[column.key]


def _hint_of_format(
    connector: Connector, column: MetadataColumn, metadata: Metadata, options: Mapping[str, str]
) -> str | None:
    """Return a similar key, or which format the key would belong to."""
    form = options.get("value.format", options.get("format"))
    prefix, _, key = column.key.partition(".")
    if form is not None and prefix == "value" and key:
        owner = f"keys that start with 'value.' are those of the format {form!r}"
        try:
            connector.declared(options)
        except SchemaCoreError as error:
            reason = "; ".join(filter(None, (error.problem, error.hint)))
            return f"{owner}, whose metadata are unknown: {reason}"
        keys = [name for name in metadata if name.startswith("value.")]
        return f"{owner}, which has {', '.join(map(repr, keys)) or 'no metadata'}"
    return similar(column.key, metadata)


_CHECKS: dict[Purpose, Callable[[Connector, MetadataColumn, Metadata, Mapping[str, str]], None]] = {
    "read": _read,
    "write": _write,
    "define": _define,
}


# --- abilities -----------------------------------------------------------------------------

#: Ability -> what the statement does, for the message, and the hint.
_NEEDED_FOR: dict[Ability, tuple[str, str]] = {
    Ability.OVERWRITE: (
        "replace existing rows",
        "use INSERT INTO, or write into a new table",
    ),
    Ability.PARTITIONS: (
        "write into partitions",
        "define the table without PARTITIONED BY",
    ),
    Ability.BUCKETS: (
        "distribute rows into buckets",
        "define the table without DISTRIBUTED",
    ),
    Ability.STAGING: (
        "keep the old rows until the new ones are complete, as REPLACE TABLE AS requires",
        "create a new table with CREATE TABLE AS, and drop the old one afterwards",
    ),
    Ability.ROW_LEVEL_DELETE: (
        "delete rows",
        "write the rows that remain into a new table",
    ),
    Ability.ROW_LEVEL_UPDATE: (
        "update rows",
        "write the updated rows into a new table",
    ),
    Ability.TRUNCATE: (
        "delete all rows",
        "drop the table, and create it again",
    ),
}


#: Statement -> the ability without which it is refused.
ROW_LEVEL_ABILITIES: Mapping[str, Ability] = {
    "DELETE": Ability.ROW_LEVEL_DELETE,
    "UPDATE": Ability.ROW_LEVEL_UPDATE,
}


def creation_abilities(connector: Connector, options: Mapping[str, str]) -> frozenset[Ability]:
    """Return the abilities for CREATE and REPLACE TABLE AS of a table with these options.

    A connector's method `creation_abilities` adds to its `abilities`, such as staging of some
    tables.
    """
    declared: frozenset[Ability] = getattr(connector, "abilities", frozenset())
    more: Any = getattr(connector, "creation_abilities", None)
    return declared if more is None else declared | more(options)


def require_abilities(
    connector: Connector, needed: Iterable[Ability], more: AbstractSet[Ability] = frozenset()
) -> None:
    """Raise for a write that needs an ability which the connector lacks, also in `more`.

    Flink's planner raises the same errors (`SupportsOverwrite`, `SupportsPartitioning`,
    `SupportsBucketing`); the code is `unsupported-ability`.
    """
    declared: frozenset[Ability] = getattr(connector, "abilities", frozenset())
    for ability, (problem, hint) in _NEEDED_FOR.items():
        if ability in needed and ability not in declared | more:
            raise UnsupportedError(
                f"the connector {connector.identifier!r} cannot {problem}: "
                f"it does not declare the ability {ability.value!r}",
                code="unsupported-ability",
                hint=hint,
            )


def _check_required(declared: Sequence[ConfigOption[Any]], options: Mapping[str, str]) -> None:
    missing = sorted(
        option.key
        for option in declared
        if option.required and "#" not in option.key and not any(map(option.has_key, options))
    )
    if missing:
        raise SchemaError(
            f"required options are missing: {', '.join(missing)}", code="missing-option"
        )


def _check_values(declared: Sequence[ConfigOption[Any]], options: Mapping[str, str]) -> None:
    problems = Gathering()
    for option in (*declared, *WATERMARK_OPTIONS):
        with problems.catching():
            option.of(options)
    problems.raise_all()


#: Options that a hint lists.
MAX_LISTED = 10


def _check_known(
    declared: Sequence[ConfigOption[Any]],
    options: Mapping[str, str],
    implicit: Collection[str] = IMPLICIT_OPTIONS,
) -> None:
    unknown = [
        key
        for key in sorted(options.keys() - {*implicit})
        if not any(option.has_key(key) for option in declared)
    ]
    if unknown:
        names = sorted({name for option in declared for name in option.key_patterns()})
        hints = [hint for key in unknown if (hint := similar(key, {*names, *implicit}))]
        more = f" and {len(names) - MAX_LISTED} more" if len(names) > MAX_LISTED else ""
        listing = f"supported options: {', '.join(names[:MAX_LISTED])}{more}"
        raise SchemaError(
            f"unsupported option{'s' if len(unknown) > 1 else ''}: {', '.join(unknown)}",
            code="unknown-option",
            hint="; ".join(hints) or listing,
        )


def _check_alignment(options: Mapping[str, str]) -> None:
    pair = ("scan.watermark.alignment.group", "scan.watermark.alignment.max-drift")
    if sum(key in options for key in pair) == 1:
        raise SchemaError(
            f"{pair[0]} and {pair[1]} must be set together", code="conflicting-options"
        )


@contextmanager
def using(identifier: ObjectIdentifier, options: Mapping[str, str], purpose: str) -> Iterator[None]:
    """Add the table and the operation to every error of the block, and mask secrets.

    The default hint lists only option keys: the value of a misspelt key may be a secret.
    """
    try:
        with at(f"{purpose} table {identifier.as_summary_string()}"):
            yield
    except SchemaCoreError as error:
        secret = secret_keys(options)
        for other in (error, *error.others):
            other.problem = without_secrets(other.problem, options, secret)
            other.hint = other.hint and without_secrets(other.hint, options, secret)
            other.args = (other.problem,)
        if _repeats_secret(error, options, secret):  # a traceback would print the cause's message
            error.__cause__ = error.__context__ = None
        if isinstance(error, ExternalError):
            raise
        keys = ", ".join(map(repr, sorted(options))) or "none"
        error.hint = error.hint or f"the table's options are {keys}"
        raise


def _repeats_secret(
    error: BaseException, options: Mapping[str, str], secret: AbstractSet[str]
) -> bool:
    seen: list[BaseException | None] = [error.__cause__, error.__context__]
    while seen:
        if (cause := seen.pop()) is None:
            continue
        message = str(cause)
        if without_secrets(message, options, secret) != message:
            return True
        seen += [cause.__cause__, cause.__context__]
    return False
