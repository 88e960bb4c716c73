"""CREATE TABLE LIKE another table."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import TypeVar

from schema_core.catalog.changes.column_history import ColumnHistory, history_of_same_files
from schema_core.catalog.objects import CatalogTable, TableDistribution
from schema_core.environment.session import Session
from schema_core.errors import SchemaError, at
from schema_core.mappings.dialects.definitions import (
    check_sight,
    distribution_of,
    keys_of,
    options_of,
    schema_of,
    with_key_not_null,
)
from schema_core.schema import columns as schema_columns
from schema_core.schema.rules import duplicate_names
from schema_core.schema.unresolved import Schema
from schema_core.sql.statement_syntax import CreateTable, Like


class Strategy(Enum):
    """How LIKE treats a feature of the source."""

    INCLUDING = "INCLUDING"
    EXCLUDING = "EXCLUDING"
    OVERWRITING = "OVERWRITING"


INCLUDING, EXCLUDING, OVERWRITING = Strategy

# fmt: off
#: Feature -> its default strategy.
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

#: Kind of column -> its feature; physical columns are always included.
FEATURES: dict[type[schema_columns.UnresolvedColumn], str] = {
    schema_columns.UnresolvedComputedColumn: "GENERATED",
    schema_columns.UnresolvedMetadataColumn: "METADATA",
}


def choose_strategies(like: Like) -> dict[str, Strategy]:
    """Return the strategy of every feature; specific ones override ALL."""
    strategies = {option.feature: Strategy[option.strategy] for option in like.options}
    common = strategies.pop("ALL", None)
    return {feature: common or default for feature, default in DEFAULTS.items()} | strategies


def create_table_like(
    session: Session, statement: CreateTable, like: Like, text: str
) -> CatalogTable:
    """Return the table that the statement and its source describe.

    Codes: `wrong-object-type` unless the source is a table, `already-declared` where both define
    what only one may.
    """
    source = session.look_up(like.source).table
    if not isinstance(source, CatalogTable):
        raise SchemaError(
            "LIKE requires a table, got a view", code="wrong-object-type", span=like.source.span
        )
    strategies = choose_strategies(like)
    own = schema_of(statement.elements, text)
    key = _one("CONSTRAINTS", strategies, source.schema.primary_key, own.primary_key)
    columns = merge_like_columns(source.schema, own, strategies)
    if own.primary_key is not None:
        written = own.primary_key.column_names
        fresh = {column.name for column in own.columns}
        columns = with_key_not_null(columns, [name for name in written if name in fresh])
    schema = Schema(
        columns,
        merge_like_watermarks(source.schema, own, strategies),
        key,
        source.schema.indexes,
        None if strategies["CONSTRAINTS"] is EXCLUDING else source.schema.immutable_columns,
    )
    _require_indexed(schema)
    return CatalogTable(
        schema,
        _keep_layout(
            "PARTITIONS", strategies, source.partition_keys, keys_of(statement.partition_keys)
        ),
        options=merge_like_options(source.options, options_of(statement.options), strategies),
        comment=statement.comment,
        distribution=_keep_layout(
            "DISTRIBUTION",
            strategies,
            source.distribution,
            distribution_of(statement.distribution),
        ),
    )


def source_history(session: Session, like: Like, table: CatalogTable) -> ColumnHistory | None:
    """Return the history of the source's columns, if the new table has its files."""
    look_up = session.look_up(like.source)
    source = look_up.table
    if not isinstance(source, CatalogTable):  # replaced since `create_table_like` has read it
        return None
    return history_of_same_files(source, look_up.connector_options, table)


def _require_indexed(schema: Schema) -> None:
    """Raise if an index of the source reads an excluded column."""
    names = {column.name for column in schema.columns}
    for index in schema.indexes:
        if missing := [name for name in index.column_names if name not in names]:
            raise SchemaError(
                f"index {index.name!r} of the LIKE source reads the excluded column {missing[0]!r}",
                code="object-in-use",
                hint="include the column, or create the table with a TableDescriptor",
            )


def _conflict(feature: str) -> SchemaError:
    return SchemaError(
        f"both the table and its LIKE source have {feature.lower()}",
        code="already-declared",
        hint=f"write LIKE ... (EXCLUDING {feature})",
    )


def _one(
    feature: str,
    strategies: Mapping[str, Strategy],
    inherited: schema_columns.UnresolvedPrimaryKey | None,
    own: schema_columns.UnresolvedPrimaryKey | None,
) -> schema_columns.UnresolvedPrimaryKey | None:
    if strategies[feature] is EXCLUDING or inherited is None:
        return own
    if own is not None:
        raise _conflict(feature)
    return inherited


Layout = TypeVar("Layout", tuple[str, ...], TableDistribution | None)


def _keep_layout(
    feature: str,
    strategies: Mapping[str, Strategy],
    inherited: Layout,
    own: Layout,
) -> Layout:
    """Return a partitioning or distribution: EXCLUDING permits another one, but drops nothing."""
    if own and inherited and strategies[feature] is not EXCLUDING:
        raise _conflict(feature)
    return own or inherited


def merge_like_options(
    inherited: Mapping[str, str], own: Mapping[str, str], strategies: Mapping[str, Strategy]
) -> dict[str, str]:
    """Return the options of both tables, or the new one's (`already-declared` under INCLUDING)."""
    match strategies["OPTIONS"]:
        case Strategy.EXCLUDING:
            return dict(own)
        case Strategy.OVERWRITING:
            return {**inherited, **own}
        case Strategy.INCLUDING:
            if twice := sorted(inherited.keys() & own.keys()):
                raise SchemaError(
                    f"both the table and its LIKE source set {', '.join(twice)}",
                    code="already-declared",
                    hint="write LIKE ... (OVERWRITING OPTIONS)",
                )
            return {**inherited, **own}


def merge_like_columns(
    source: Schema, own: Schema, strategies: Mapping[str, Strategy]
) -> tuple[schema_columns.UnresolvedColumn, ...]:
    """Return the included columns of the source, some replaced in place, then the table's own.

    Codes: `already-declared` for a name of both, `unknown-column` for a computed column that reads
    what it cannot see.
    """
    included = [
        column
        for column in source.columns
        if strategies.get(FEATURES.get(type(column), ""), INCLUDING) is not EXCLUDING
    ]
    merged = {column.name: column for column in included}
    for column in own.columns:
        with at(f"column {column.name!r}", column.span):
            _require_replaceable(merged.get(column.name), column, strategies)
        merged[column.name] = column
    replaced = {column.name for column in own.columns}
    _check_own(own, [column for column in included if column.name not in replaced])
    return tuple(merged.values())


def _require_replaceable(
    old: schema_columns.UnresolvedColumn | None,
    new: schema_columns.UnresolvedColumn,
    strategies: Mapping[str, Strategy],
) -> None:
    if old is None:
        return
    feature = FEATURES.get(type(old))
    if feature is None or type(old) is not type(new) or strategies[feature] is not OVERWRITING:
        raise SchemaError(
            f"the LIKE source also defines column {new.name!r}",
            code="already-declared",
            hint=f"write LIKE ... (OVERWRITING {feature})" if type(old) is type(new) else None,
        )


def _check_own(own: Schema, inherited: list[schema_columns.UnresolvedColumn]) -> None:
    """Check that new computed columns read only physical columns of the source."""
    names = [column.name for column in own.columns]
    if twice := duplicate_names(names):
        raise SchemaError(f"duplicate column name {twice[0]!r}", code="duplicate-column")
    physical = [
        column
        for column in inherited
        if isinstance(column, schema_columns.UnresolvedPhysicalColumn)
    ]
    visible = {column.name for column in physical}
    hidden = [column.name for column in inherited if column.name not in visible]
    check_sight([*physical, *own.columns], hidden)


def merge_like_watermarks(
    source: Schema, own: Schema, strategies: Mapping[str, Strategy]
) -> tuple[schema_columns.UnresolvedWatermarkSpec, ...]:
    """Return the source's included watermarks and the table's own (`already-declared`)."""
    strategy = strategies["WATERMARKS"]
    inherited = () if strategy is EXCLUDING else source.watermark_specs
    specs = {spec.column_name: spec for spec in inherited}
    for spec in own.watermark_specs:
        if spec.column_name in specs and strategy is not OVERWRITING:
            raise _conflict("WATERMARKS")
        specs[spec.column_name] = spec
    return tuple(specs.values())
