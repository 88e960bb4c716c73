"""CREATE TABLE and CREATE TABLE LIKE."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import TypeVar

from schema_core.catalog.changes.former_names import FormerNames, names_of_same_files
from schema_core.catalog.objects import CatalogTable, TableDistribution
from schema_core.environment.jobs.recovery import finish
from schema_core.environment.operations.create_table_as import create_table_as, table_creation
from schema_core.environment.result import OK, TableResult
from schema_core.environment.session import Session
from schema_core.errors import AlreadyExistsError, Gathering, SchemaError, at
from schema_core.mappings.dialects.definitions import (
    check_sight,
    distribution_of,
    keys_of,
    options_of,
    read_schema,
    schema_of,
    table_of,
    with_key_not_null,
)
from schema_core.schema.columns import (
    UnresolvedColumn,
    UnresolvedComputedColumn,
    UnresolvedMetadataColumn,
    UnresolvedPhysicalColumn,
    UnresolvedPrimaryKey,
    UnresolvedWatermarkSpec,
)
from schema_core.schema.rules import repeated
from schema_core.schema.unresolved import Schema
from schema_core.sql.statement_syntax import CreateTable, Like


def create_table(session: Session, statement: CreateTable, text: str) -> TableResult:
    """Create a table; CREATE TABLE AS also writes the query into it."""
    identifier = session.identifier(statement.path)
    if statement.query is not None:
        relation = session.query(statement.query, text)
        return create_table_as(session, table_creation(session, statement, relation, text))
    former = None
    if statement.like is not None:
        table = create_table_like(session, statement, statement.like, text)
        former = _former_names(session, statement.like, table)
    else:
        table = plain_table(session, statement, text)
    if statement.temporary:
        session.tables.create_temporary(identifier, table, statement.if_not_exists, former)
    else:
        finish(session, identifier)
        try:
            session.tables.create(identifier, table, statement.if_not_exists, former)
        except AlreadyExistsError as error:
            if statement.or_replace and error.hint is None:
                error.hint = (
                    "OR REPLACE replaces a table only in CREATE OR REPLACE TABLE ... AS SELECT; "
                    "drop the table first"
                )
            raise
    return OK


def plain_table(session: Session, statement: CreateTable, text: str) -> CatalogTable:
    """Return the table that the statement describes without LIKE and AS.

    Raises:
        SchemaError: for types that cannot be and columns that are not seen, with what else is wrong
            in the schema.
    """
    found = Gathering()
    schema = read_schema(statement.elements, text, found)
    with found.catching():
        check_sight(schema.columns)
    table = table_of(statement, schema)
    if found.errors:
        with found.catching():
            session.resolve(table)
        found.raise_all()
    return table


# --- LIKE ----------------------------------------------------------------------------------


class Strategy(Enum):
    """How LIKE treats a feature of the source."""

    INCLUDING = "INCLUDING"
    EXCLUDING = "EXCLUDING"
    OVERWRITING = "OVERWRITING"


INCLUDING, EXCLUDING, OVERWRITING = Strategy

# fmt: off
#: feature -> its strategy by default
DEFAULTS: dict[str, Strategy] = {
    "OPTIONS":      OVERWRITING,
    "CONSTRAINTS":  INCLUDING,
    "DISTRIBUTION": INCLUDING,
    "PARTITIONS":   INCLUDING,
    "GENERATED":    INCLUDING,
    "METADATA":     INCLUDING,
    "WATERMARKS":   INCLUDING,
}
# fmt: on

#: kind of column -> the feature that it belongs to; physical columns are always taken
FEATURES: dict[type[UnresolvedColumn], str] = {
    UnresolvedComputedColumn: "GENERATED",
    UnresolvedMetadataColumn: "METADATA",
}


def strategies_of(like: Like) -> dict[str, Strategy]:
    """Return the strategy of every feature: ALL first, then the specific ones."""
    given = {option.feature: Strategy[option.strategy] for option in like.options}
    chosen = {feature: given.get("ALL", default) for feature, default in DEFAULTS.items()}
    return chosen | {feature: one for feature, one in given.items() if feature != "ALL"}


def create_table_like(
    session: Session, statement: CreateTable, like: Like, text: str
) -> CatalogTable:
    """Return the table that the statement describes together with its source.

    Raises:
        SchemaError: with code `invalid-like-source` where the source is not a table,
            `like-conflict` where both define what only one may define.
    """
    source = session.found(like.source).table
    if not isinstance(source, CatalogTable):
        raise SchemaError(
            "LIKE requires a table, got a view", code="invalid-like-source", span=like.source.span
        )
    strategies = strategies_of(like)
    own = schema_of(statement.elements, text)
    key = _one("CONSTRAINTS", strategies, source.schema.primary_key, own.primary_key)
    columns = merged_columns(source.schema, own, strategies)
    if own.primary_key is not None:
        written = own.primary_key.column_names
        fresh = {column.name for column in own.columns}
        columns = with_key_not_null(columns, [name for name in written if name in fresh])
    schema = Schema(
        columns,
        merged_watermarks(source.schema, own, strategies),
        key,
        source.schema.indexes,
        None if strategies["CONSTRAINTS"] is EXCLUDING else source.schema.immutable_columns,
    )
    _require_indexed(schema)
    return CatalogTable(
        schema,
        _kept("PARTITIONS", strategies, source.partition_keys, keys_of(statement.partition_keys)),
        options=merged_options(source.options, options_of(statement.options), strategies),
        comment=statement.comment,
        distribution=_kept(
            "DISTRIBUTION",
            strategies,
            source.distribution,
            distribution_of(statement.distribution),
        ),
    )


def _former_names(session: Session, like: Like, table: CatalogTable) -> FormerNames | None:
    """Return the former names of the columns of the source, if the new table has its files.

    Raises:
        SchemaError: with code `former-name` for a new column by the former name of another one.
    """
    found = session.found(like.source)
    source = found.table
    if not isinstance(source, CatalogTable):  # replaced since `create_table_like` has read it
        return None
    return names_of_same_files(source, found.connector_options, table)


def _require_indexed(schema: Schema) -> None:
    """Raise where an excluded column is part of an index of the source."""
    names = {column.name for column in schema.columns}
    for index in schema.indexes:
        if missing := [name for name in index.column_names if name not in names]:
            raise SchemaError(
                f"index {index.name!r} of the LIKE source reads the excluded column {missing[0]!r}",
                code="still-referenced",
                hint="include the column, or create the table with a TableDescriptor",
            )


def _conflict(feature: str) -> SchemaError:
    return SchemaError(
        f"both the table and its LIKE source have {feature.lower()}",
        code="like-conflict",
        hint=f"write LIKE ... (EXCLUDING {feature})",
    )


def _one(
    feature: str,
    strategies: Mapping[str, Strategy],
    inherited: UnresolvedPrimaryKey | None,
    own: UnresolvedPrimaryKey | None,
) -> UnresolvedPrimaryKey | None:
    if strategies[feature] is EXCLUDING or inherited is None:
        return own
    if own is not None:
        raise _conflict(feature)
    return inherited


Kept = TypeVar("Kept", tuple[str, ...], TableDistribution | None)


def _kept(
    feature: str,
    strategies: Mapping[str, Strategy],
    inherited: Kept,
    own: Kept,
) -> Kept:
    """Return a partitioning or distribution: EXCLUDING permits another, but drops nothing."""
    if own and inherited and strategies[feature] is not EXCLUDING:
        raise _conflict(feature)
    return own or inherited


def merged_options(
    inherited: Mapping[str, str], own: Mapping[str, str], strategies: Mapping[str, Strategy]
) -> dict[str, str]:
    """Return the options of both tables, or of the new table only.

    Raises:
        SchemaError: with code `like-conflict` for a key of both under INCLUDING.
    """
    match strategies["OPTIONS"]:
        case Strategy.EXCLUDING:
            return dict(own)
        case Strategy.OVERWRITING:
            return {**inherited, **own}
        case Strategy.INCLUDING:
            if twice := sorted(inherited.keys() & own.keys()):
                raise SchemaError(
                    f"both the table and its LIKE source set {', '.join(twice)}",
                    code="like-conflict",
                    hint="write LIKE ... (OVERWRITING OPTIONS)",
                )
            return {**inherited, **own}


def merged_columns(
    source: Schema, own: Schema, strategies: Mapping[str, Strategy]
) -> tuple[UnresolvedColumn, ...]:
    """Return the included columns of the source, then the table's own; some are replaced in place.

    Raises:
        SchemaError: with code `like-conflict` for a name of both, `unknown-column` for a computed
            column that reads what it cannot see.
    """
    kept = [
        column
        for column in source.columns
        if strategies.get(FEATURES.get(type(column), ""), INCLUDING) is not EXCLUDING
    ]
    merged: dict[str, UnresolvedColumn] = {column.name: column for column in kept}
    for column in own.columns:
        with at(f"column {column.name!r}", column.span):
            _require_replaceable(merged.get(column.name), column, strategies)
        merged[column.name] = column
    _check_own(own, [c for c in kept if c.name not in {column.name for column in own.columns}])
    return tuple(merged.values())


def _require_replaceable(
    old: UnresolvedColumn | None, new: UnresolvedColumn, strategies: Mapping[str, Strategy]
) -> None:
    if old is None:
        return
    feature = FEATURES.get(type(old))
    if feature is None or type(old) is not type(new) or strategies[feature] is not OVERWRITING:
        raise SchemaError(
            f"the LIKE source also defines column {new.name!r}",
            code="like-conflict",
            hint=f"write LIKE ... (OVERWRITING {feature})" if type(old) is type(new) else None,
        )


def _check_own(own: Schema, inherited: list[UnresolvedColumn]) -> None:
    """Check that new computed columns read only physical columns of the source."""
    names = [column.name for column in own.columns]
    if twice := repeated(names):
        raise SchemaError(f"duplicate column name {twice[0]!r}", code="duplicate-column")
    hidden = [one.name for one in inherited if not isinstance(one, UnresolvedPhysicalColumn)]
    physical = [one for one in inherited if isinstance(one, UnresolvedPhysicalColumn)]
    check_sight([*physical, *own.columns], hidden)


def merged_watermarks(
    source: Schema, own: Schema, strategies: Mapping[str, Strategy]
) -> tuple[UnresolvedWatermarkSpec, ...]:
    """Return the included watermarks of the source and the table's own.

    Raises:
        SchemaError: with code `like-conflict` for a column that both have one for.
    """
    strategy = strategies["WATERMARKS"]
    kept = (
        {} if strategy is EXCLUDING else {spec.column_name: spec for spec in source.watermark_specs}
    )
    for spec in own.watermark_specs:
        if spec.column_name in kept and strategy is not OVERWRITING:
            raise _conflict("WATERMARKS")
        kept[spec.column_name] = spec
    return tuple(kept.values())
