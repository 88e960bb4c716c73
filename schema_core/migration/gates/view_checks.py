"""Views and materialized tables that a migration breaks, and those that read what it changes.

A view is broken if it returned its declared columns before, and does not afterwards: its query is
invalid, or a column of the query has another type, to whose old values the rows would be cast. The
states are those of `TableEnvironment.read_view_states`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeAlias

from schema_core.base.paths import ObjectIdentifier
from schema_core.base.text import Span
from schema_core.catalog.objects import TableKind
from schema_core.environment.view_states import ViewState
from schema_core.errors import SchemaError, raise_all
from schema_core.sql.statement_syntax import Drop, ObjectKind, Statement
from schema_core.sql.syntax import Name

#: The state of each view and materialized table of a catalog.
ViewStates: TypeAlias = Mapping[ObjectIdentifier, ViewState]

#: The code of a view whose rows are cast, or would have to be, to the columns that it declares.
STALE = "stale-view"


def find_broken_views(before: ViewStates, after: ViewStates) -> tuple[ViewState, ...]:
    """Return the views that do not work after a change and did before, or were created by it.

    A view that was already broken under another name is not returned.

    Args:
        before: The states before the change.
        after: The states after it.
    """
    invalid = {state.query for state in before.values() if _is_invalid(state)}
    return tuple(
        state
        for identifier, state in after.items()
        if state.problem is not None
        and not _had_problem(state, before.get(identifier))
        and (identifier in before or state.query not in invalid)
    )


def _is_invalid(state: ViewState) -> bool:
    return state.problem is not None and state.problem.code != STALE


def _had_problem(state: ViewState, before: ViewState | None) -> bool:
    """Return whether a view was invalid before, or stale for the same reason."""
    if before is None or before.problem is None or state.problem is None:
        return False
    return _is_invalid(before) or before.problem.problem == state.problem.problem


def find_dependents(
    states: ViewStates, identifiers: Iterable[ObjectIdentifier]
) -> tuple[ViewState, ...]:
    """Return the views that read tables or views, directly or through other views.

    Args:
        states: The states of the views.
        identifiers: The tables and views that are read.
    """
    reached = set(identifiers)
    dependents: dict[ObjectIdentifier, ViewState] = {}
    is_complete = False
    while not is_complete:
        found = {
            identifier: state
            for identifier, state in states.items()
            if identifier not in dependents and reached & state.reads
        }
        dependents |= found
        reached |= found.keys()
        is_complete = not found
    return tuple(dependents.values())


def find_names(statements: Iterable[Statement]) -> set[str] | None:
    """Return the names of the objects that statements create, alter or drop.

    None means any: DROP DATABASE drops tables that it does not name.
    """
    names: set[str] = set()
    for statement in statements:
        if isinstance(statement, Drop) and statement.kind is ObjectKind.DATABASE:
            return None
        for node in (statement, getattr(statement, "change", None)):
            path = getattr(node, "path", None)
            names |= {path.parts[-1]} if isinstance(path, Name) else set()
    return names


def require_working_views(
    before: ViewStates, after: ViewStates, spans: Mapping[ObjectIdentifier, Span]
) -> None:
    """Refuse a migration that breaks views.

    Args:
        before: The states before the migration.
        after: The states after it.
        spans: The last statement that alters or drops a table or view, by its path.

    Raises:
        SchemaError: with code `migration-breaks-view` for each broken view, all at once.
    """
    raise_all(
        SchemaError(
            describe_broken_view(state),
            code="migration-breaks-view",
            hint=f"in the same migration, {_remedy(state)}",
            span=_find_cause(before, state, spans),
        )
        for state in find_broken_views(before, after)
    )


def describe_broken_view(state: ViewState) -> str:
    """Return why a view does not work.

    The views through which it reads what has changed are part of the reason.
    """
    problem = state.problem
    if problem is None:
        return f"{name_view(state)} works"
    through = "".join(f"in {place}: " for place in problem.path)
    return f"{name_view(state)} does not work: {through}{problem.problem}"


def name_view(state: ViewState) -> str:
    """Return the kind and path of a view."""
    kind = state.kind.value.lower().replace("_", " ")
    return f"{kind} {state.identifier.database_name}.{state.identifier.object_name}"


def _remedy(state: ViewState) -> str:
    path = state.identifier.as_serializable_string()
    if state.kind is TableKind.VIEW:
        return f"drop the view, or redefine it: ALTER VIEW {path} AS SELECT ..."
    return "keep what it reads; a migration cannot alter a materialized table"


def _find_cause(
    before: ViewStates, state: ViewState, spans: Mapping[ObjectIdentifier, Span]
) -> Span | None:
    """Return the last statement that changes what a view reads, or the view itself."""
    reached, waiting = set[ObjectIdentifier](), [state.identifier]
    while waiting:
        identifier = waiting.pop()
        if identifier not in reached:
            reached.add(identifier)
            waiting += before[identifier].reads if identifier in before else ()
    return max((spans[identifier] for identifier in reached & spans.keys()), default=None)
