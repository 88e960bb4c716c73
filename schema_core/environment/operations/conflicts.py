"""ON CONFLICT of INSERT, and which streaming queries require it: the rules of Flink 2.3."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from schema_core.environment.connector import Ability, installed_connector
from schema_core.environment.operations.streaming_sinks import (
    consumes_updates_of,
    has_updates,
    stores_old_rows,
)
from schema_core.environment.options import MATERIALIZE, REQUIRE_ON_CONFLICT
from schema_core.environment.planner import BoundTable
from schema_core.environment.session import Session
from schema_core.environment.table_api.inline import InlineTable
from schema_core.environment.unbounded import scans_in
from schema_core.errors import SchemaError, UnsupportedError
from schema_core.query.lookup_joins import lookups_in
from schema_core.query.relation import Relation, result_columns
from schema_core.query.upsert_keys import upsert_keys
from schema_core.sql.statement_syntax import Insert


def require_replacing_table(session: Session, target: BoundTable, statement: Insert) -> None:
    """Require a table that may take ON CONFLICT of a statement (`unsupported-ability`).

    In batch mode Flink accepts NOTHING and ERROR without an effect.
    """
    if statement.on_conflict is None:
        return
    if target.table.resolved_schema.primary_key is None:
        raise _refuse(target, statement.on_conflict, "the table has no primary key")
    if statement.overwrite:
        problem = "its connector replaces the rows with the same key"
        raise _refuse(target, statement.on_conflict, problem)
    if not session.streaming and not _replaces_by_key(target):
        raise _refuse(target, statement.on_conflict, _only_appends(target))


def conflict_action(
    session: Session,
    relation: Relation,
    target: BoundTable,
    chosen: Sequence[str],
    on_conflict: str | None,
) -> str | None:
    """Return what a streaming job does with rows of one primary key: see `Planner.insert`.

    None if the connector replaces rows by the key: if the key contains an upsert key of the query,
    and for DEDUPLICATE of rows that are only added. `chosen` are the columns that the query fills.

    Raises:
        UnsupportedError: with code `unsupported-ability` for a table that appends the rows of
            the query, and for a source without a watermark.
    """
    if on_conflict is None or not session.streaming:
        return None
    if stores_old_rows(target):
        problem = (
            f"its format {target.table.options.get('format')!r} stores the rows before updates"
        )
        raise _refuse(target, on_conflict, problem)
    if not _replaces_by_key(target) and not consumes_updates_of(session, relation, target):
        raise _refuse(target, on_conflict, _only_appends(target))
    waits = on_conflict != "DEDUPLICATE"
    if not waits and not has_updates(session, relation):
        return None
    if waits and (unmarked := sorted(_sources_without_watermark(session, relation))):
        problem = f"all tables that it reads must have a watermark, which {', '.join(unmarked)} "
        raise _refuse(
            target,
            on_conflict,
            f"{problem}{'lacks' if len(unmarked) == 1 else 'lack'}",
            "add WATERMARK FOR ts AS ts - INTERVAL '5' SECOND to the tables: the rows of a key are "
            "compared when the watermark advances",
        )
    materialize = MATERIALIZE.of(session.config.get_configuration())
    if materialize == "NONE":
        return None
    has_key = _has_upsert_key(session, relation, target, chosen)
    return None if has_key and materialize == "AUTO" else on_conflict


def require_key_of_rows(
    session: Session, relation: Relation, target: BoundTable, chosen: Sequence[str]
) -> None:
    """Require ON CONFLICT if a streaming query may return several rows with the primary key.

    As in Flink, the columns of the primary key must contain an upsert key of the query, from which
    rows arrive in order (`on-conflict-required`). A table that takes all changes requires it of
    queries whose rows are updated.
    """
    key = target.table.resolved_schema.primary_key
    options = session.config.get_configuration()
    is_free = not REQUIRE_ON_CONFLICT.of(options) or MATERIALIZE.of(options) != "AUTO"
    if not session.streaming or key is None or is_free:
        return
    replaces = _replaces_by_key(target)
    if not replaces and not consumes_updates_of(session, relation, target):
        return
    if _has_upsert_key(session, relation, target, chosen):
        return
    names = [column.name for column in result_columns(relation)]
    keys = upsert_keys(session.executable(relation))
    listed = " or ".join(
        f"({', '.join(names[place] for place in sorted(places))})"
        for places in sorted(keys, key=sorted)
    )
    raise SchemaError(
        f"the query has {f'the upsert key {listed}' if keys else 'no upsert key'}, which differs "
        f"from the primary key ({', '.join(key.columns)}) of "
        f"{target.identifier.as_summary_string()}: rows of the same key may arrive in any order",
        code="on-conflict-required",
        hint="add ON CONFLICT DO DEDUPLICATE, NOTHING or ERROR, or group the query by the primary "
        "key"
        if replaces
        else "group the query by the primary key, or declare the table without one",
    )


def _has_upsert_key(
    session: Session, relation: Relation, target: BoundTable, chosen: Collection[str]
) -> bool:
    """Return whether the primary key of a table contains an upsert key of a query."""
    key = target.table.resolved_schema.primary_key
    columns = () if key is None else key.columns
    primary = {place for place, name in enumerate(chosen) if name in columns}
    return any(places <= primary for places in upsert_keys(session.executable(relation)))


def _sources_without_watermark(session: Session, relation: Relation) -> Iterator[str]:
    query = session.executable(relation)
    looked_up = {id(lookup.scan) for lookup in lookups_in(query)}
    scans = {id(scan): scan for scan in scans_in(query) if id(scan) not in looked_up}
    for scan in scans.values():
        source = session.bind(scan.table.identifier, scan.timestamp)
        is_inline = isinstance(source.table, InlineTable)
        if not is_inline and not source.table.resolved_schema.watermark_specs:
            yield source.identifier.as_summary_string()


def _replaces_by_key(target: BoundTable) -> bool:
    connector = installed_connector(target.table.options)
    return Ability.UPSERT in getattr(connector, "abilities", ())


def _only_appends(target: BoundTable) -> str:
    return f"its connector {target.table.options.get('connector')!r} only appends rows"


def _refuse(
    target: BoundTable,
    on_conflict: str,
    problem: str,
    hint: str = "keep one row for each key in the query, with ROW_NUMBER() OVER (PARTITION BY ...)",
) -> UnsupportedError:
    return UnsupportedError(
        f"ON CONFLICT DO {on_conflict} is not supported for "
        f"{target.identifier.as_summary_string()}: {problem}",
        code="unsupported-ability",
        hint=hint,
    )
