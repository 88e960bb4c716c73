"""What streaming mode cannot write: statements of batch mode, updates of tables that append.

As in Flink, this also holds for queries of bounded tables.
"""

from __future__ import annotations

from collections.abc import Collection
from functools import partial
from typing import Any

from schema_core.environment.connector import Ability, installed_connector
from schema_core.environment.options import RUNTIME_MODE
from schema_core.environment.planner import BoundTable
from schema_core.environment.session import Session
from schema_core.environment.table_api.inline import InlineTable
from schema_core.errors import SchemaCoreError, UnsupportedError
from schema_core.query.relation import Relation, Scan
from schema_core.query.updates import find_update
from schema_core.types import RowKind


def require_batch(session: Session, name: str) -> None:
    """Refuse a statement that Flink runs in batch mode only (`feature-not-supported`)."""
    if _is_streaming(session):
        raise UnsupportedError(
            f"{name} is not supported in streaming mode",
            code="feature-not-supported",
            hint="create the environment with EnvironmentSettings.in_batch_mode(), or run "
            f"SET '{RUNTIME_MODE.key}' = 'batch'",
        )


def consumes_updates_of(session: Session, relation: Relation, target: BoundTable) -> bool:
    """Return whether a streaming query has updates, and a table takes them."""
    return session.streaming and _consumes_updates(target) and has_updates(session, relation)


def require_consumed_updates(session: Session, relation: Relation, target: BoundTable) -> None:
    """Require that a table takes the updates of a streaming query (`streaming-not-supported`)."""
    if not _is_streaming(session) or _consumes_updates(target):
        return
    operation = find_update(session.executable(relation), partial(_holds_changes, session))
    if operation is not None:
        raise UnsupportedError(
            f"the table {target.identifier.as_summary_string()} cannot consume update changes, "
            f"which {operation} produces",
            code="streaming-not-supported",
            hint="run the query in batch mode, with EnvironmentSettings.in_batch_mode(), or write "
            "a table with a primary key whose connector replaces rows, such as 'jdbc'",
        )


def require_appended(session: Session, relation: Relation) -> None:
    """Require that a streaming query only adds rows (`streaming-not-supported`)."""
    if not _is_streaming(session):
        return
    operation = find_update(session.executable(relation), partial(_holds_changes, session))
    if operation is not None:
        raise UnsupportedError(
            f"a stream of added rows cannot hold update changes, which {operation} produces",
            code="streaming-not-supported",
            hint="run the query in batch mode; to_changelog_stream takes updates of bounded tables",
        )


def has_updates(session: Session, relation: Relation) -> bool:
    """Return whether a streaming query updates or removes rows."""
    is_changed = partial(_holds_changes, session)
    return (
        _is_streaming(session) and find_update(session.executable(relation), is_changed) is not None
    )


def _is_streaming(session: Session) -> bool:
    return RUNTIME_MODE.of(session.config.get_configuration()) == "STREAMING"


def _consumes_updates(target: BoundTable) -> bool:
    """Return whether a table takes updates; True if its connector is not installed."""
    connector: Any = installed_connector(target.table.options)
    if connector is None or not connector.can_write:
        return True  # reported where it is opened
    if Ability.UPSERT in connector.abilities:
        return target.table.resolved_schema.primary_key is not None
    consumes = getattr(connector, "consumes_changes", None)
    return consumes is not None and consumes(target.table.options)


def _holds_changes(session: Session, scan: Scan) -> bool:
    """Return whether a table has updates or deletions, by its connector and its options."""
    options = session.config.get_configuration()
    source = session.bind(scan.table.identifier, scan.timestamp).with_hints(scan.hints, options)
    if isinstance(source.table, InlineTable):
        return False
    return _has_kind(source, {RowKind.UPDATE_BEFORE, RowKind.UPDATE_AFTER, RowKind.DELETE})


def stores_old_rows(target: BoundTable) -> bool:
    """Return whether a table has the rows before updates, by its connector and its options."""
    return _has_kind(target, {RowKind.UPDATE_BEFORE})


def _has_kind(table: BoundTable, kinds: Collection[RowKind]) -> bool:
    """Return whether a table has changes of some kinds."""
    options = table.table.options
    try:
        mode = getattr(installed_connector(options), "changelog_mode", None)
        return mode is not None and any(map(mode(options).contains, kinds))
    except SchemaCoreError:  # reported where the table is opened
        return False
