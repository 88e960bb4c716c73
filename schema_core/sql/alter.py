"""ALTER, read: what changes of tables, views, databases, catalogs, models, functions.

The grammar is that of Flink 2.3 (Flink documentation, "ALTER Statements").
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from schema_core.sql.clauses import (
    if_exists,
    if_not_exists,
    interval,
    listed,
    listed_or_none,
    one_of,
    options,
    partition,
    with_options,
)
from schema_core.sql.columns import distribution, placed_elements
from schema_core.sql.create import LANGUAGES, kind_of
from schema_core.sql.definition_syntax import (
    AddElements,
    AddPartitions,
    Change,
    DropColumns,
    DropConstraint,
    DropDistribution,
    DropPartitions,
    DropPrimaryKey,
    DropWatermark,
    ModifyElements,
    Partition,
    Refresh,
    RenameColumn,
    RenameTo,
    ResetOptions,
    Resume,
    SetComment,
    SetFreshness,
    SetOptions,
    SetQuery,
    SetRefreshMode,
    Suspend,
)
from schema_core.sql.query import path_name, query, simple_name
from schema_core.sql.statement_rules import check_constraints
from schema_core.sql.statement_syntax import Alter, AlterFunction, ObjectKind, Statement
from schema_core.sql.tokens import refuse, string
from schema_core.text import Cursor


def alter(cursor: Cursor) -> Statement:
    """A statement that begins with ALTER."""
    start = cursor.expect("ALTER").start
    if cursor.key in ("TEMPORARY", "FUNCTION"):
        return _function(cursor, start)
    kind = kind_of(cursor)
    if_there = kind in (ObjectKind.TABLE, ObjectKind.MODEL) and if_exists(cursor)
    path = simple_name(cursor) if kind == ObjectKind.CATALOG else path_name(cursor)
    change = CHANGES[kind].get(cursor.key)
    if change is None:
        raise refuse(cursor, f"a change of a {kind.value.lower()}")
    cursor.advance()
    return Alter(kind, path, change(cursor), if_there, cursor.span_from(start))


def _function(cursor: Cursor, start: int) -> Statement:
    temporary = cursor.accept("TEMPORARY")
    system = temporary and cursor.accept("SYSTEM")
    cursor.expect("FUNCTION")
    if_there = if_exists(cursor)
    path = path_name(cursor)
    cursor.expect("AS")
    class_name = string(cursor)
    language = one_of(cursor, *LANGUAGES) if cursor.accept("LANGUAGE") else None
    span = cursor.span_from(start)
    return AlterFunction(path, class_name, language, temporary, system, if_there, span)


# ------------------------------------------------------------------------------------- changes


def _rename_to(cursor: Cursor) -> Change:
    cursor.expect("TO")
    return RenameTo(path_name(cursor))


def _rename(cursor: Cursor) -> Change:
    if cursor.key == "TO":
        return _rename_to(cursor)
    column = path_name(cursor)
    cursor.expect("TO")
    return RenameColumn(column, path_name(cursor))


def _set(cursor: Cursor) -> Change:
    return SetOptions(options(cursor))


def _reset(cursor: Cursor) -> Change:
    return ResetOptions(listed_or_none(cursor, string))


def _comment(cursor: Cursor) -> Change:
    return SetComment(string(cursor))


def _as_query(cursor: Cursor) -> Change:
    return SetQuery(query(cursor))


def _add(cursor: Cursor) -> Change:
    unless = if_not_exists(cursor)
    if unless or cursor.key == "PARTITION":
        return _add_partitions(cursor, if_not_exists=unless)
    if cursor.accept("DISTRIBUTION"):
        return AddElements(distribution=distribution(cursor))
    found = placed_elements(cursor)
    check_constraints(found.constraints)
    return AddElements(tuple(found.columns), found.watermark, tuple(found.constraints))


def _modify(cursor: Cursor) -> Change:
    if cursor.accept("DISTRIBUTION"):
        return ModifyElements(distribution=distribution(cursor))
    found = placed_elements(cursor)
    check_constraints(found.constraints)
    return ModifyElements(tuple(found.columns), found.watermark, tuple(found.constraints))


def _add_partitions(cursor: Cursor, *, if_not_exists: bool) -> Change:
    found: list[Partition] = []
    while not found or cursor.key == "PARTITION":
        one = partition(cursor)
        found.append(replace(one, options=with_options(cursor)))
    return AddPartitions(tuple(found), if_not_exists)


def _drop(cursor: Cursor) -> Change:
    if_there = if_exists(cursor)
    if if_there or cursor.key == "PARTITION":
        found = [partition(cursor)]
        while cursor.accept(","):
            found.append(partition(cursor))
        return DropPartitions(tuple(found), if_there)
    if cursor.accept("PRIMARY", "KEY"):
        return DropPrimaryKey()
    if cursor.accept("CONSTRAINT"):
        return DropConstraint(simple_name(cursor))
    if cursor.accept("WATERMARK"):
        return DropWatermark()
    if cursor.accept("DISTRIBUTION"):
        return DropDistribution()
    if cursor.key == "(":
        return DropColumns(listed(cursor, path_name))
    return DropColumns((path_name(cursor),))


def _set_materialized(cursor: Cursor) -> Change:
    if cursor.accept("FRESHNESS", "="):
        return SetFreshness(interval(cursor))
    if cursor.accept("REFRESH_MODE", "="):
        return SetRefreshMode(one_of(cursor, "FULL", "CONTINUOUS"))
    return _set(cursor)


def _refresh(cursor: Cursor) -> Change:
    return Refresh(partition(cursor) if cursor.key == "PARTITION" else None)


Changes = dict[str, Callable[[Cursor], Change]]

OF_TABLE: Changes = {
    "RENAME": _rename,
    "SET":    _set,
    "RESET":  _reset,
    "ADD":    _add,
    "MODIFY": _modify,
    "DROP":   _drop,
}  # fmt: skip

#: Kind of object -> first word of a change -> how to read what follows it.
CHANGES: dict[ObjectKind, Changes] = {
    ObjectKind.TABLE: OF_TABLE,
    ObjectKind.VIEW: {"RENAME": _rename_to, "AS": _as_query},
    ObjectKind.MATERIALIZED_TABLE: {
        "SET": _set_materialized,
        "RESET": _reset,
        "ADD": _add,
        "MODIFY": _modify,
        "DROP": _drop,
        "SUSPEND": lambda _: Suspend(),
        "RESUME": lambda cursor: Resume(with_options(cursor)),
        "REFRESH": _refresh,
        "AS": _as_query,
    },
    ObjectKind.DATABASE: {"SET": _set},
    ObjectKind.CATALOG: {"SET": _set, "RESET": _reset, "COMMENT": _comment},
    ObjectKind.MODEL: {"SET": _set, "RESET": _reset, "RENAME": _rename_to},
    ObjectKind.FUNCTION: {},
}
