"""Views and materialized tables that a migration breaks, and those that read what it changes.

A view is broken if it returned its declared columns before, and does not afterwards: its query is
invalid, or a column of the query has another type, to whose old values the rows would be cast. The
states are those of `TableEnvironment.read_view_states`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final, TypeAlias

from schema_core.base.paths import ObjectIdentifier
from schema_core.base.text import Span
from schema_core.catalog.objects import TableKind
from schema_core.environment.table_environment import TableEnvironment
from schema_core.environment.view_states import ViewState
from schema_core.errors import SchemaCoreError, SchemaError, at, raise_all
from schema_core.sql.statement_syntax import Drop, ObjectKind, Statement
from schema_core.sql.syntax import Name

#: The state of each view and materialized table of a catalog.
ViewStates: TypeAlias = Mapping[ObjectIdentifier, ViewState]

#: The kind of finding that accepts broken views in a comment; it is the code of the error.
BREAKS_VIEW: Final = "migration-breaks-view"
#: The code of a view whose rows are cast, or would have to be, to the columns that it declares.
STALE = "stale-view"


def read_all_view_states(
    environment: TableEnvironment, names: set[str] | None, *, skips_others: bool = False
) -> dict[ObjectIdentifier, ViewState]:
    """Return the states of the views of all catalogs.

    Args:
        environment: The environment with the catalogs.
        names: As for `TableEnvironment.read_view_states`.
        skips_others: Whether a catalog that cannot be read is skipped, unless it is current.

    Raises:
        SchemaCoreError: of a catalog.
    """
    current = environment.get_current_catalog()
    states = environment.read_view_states(names)
    for name in environment.list_catalogs():
        if name == current:
            continue
        try:
            with at(f"views of the catalog {name}"):
                states |= environment.read_view_states(names, catalog=name)
        except SchemaCoreError:
            if not skips_others:
                raise
    return states


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
        readers = {
            identifier: state
            for identifier, state in states.items()
            if identifier not in dependents and reached & state.reads
        }
        dependents |= readers
        reached |= readers.keys()
        is_complete = not readers
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
    before: ViewStates,
    after: ViewStates,
    spans: Mapping[ObjectIdentifier, Span],
    is_accepted: Callable[[Span | None], bool] = lambda _: False,
    hint: str | None = None,
) -> None:
    """Refuse a change that breaks views.

    Args:
        before: The states before the change.
        after: The states after it.
        spans: The last statement that alters or drops a table or view, by its path.
        is_accepted: Whether it is accepted that a statement breaks views; that of None is unknown.
        hint: What to do; by default what a migration can do.

    Raises:
        SchemaError: with code `migration-breaks-view` for each broken view, all at once.
    """
    catalogs = {identifier.catalog_name for identifier in spans}
    raise_all(
        SchemaError(
            describe_broken_view(state, full_path=bool(catalogs - {state.identifier.catalog_name})),
            code="migration-breaks-view",
            hint=hint or f"in the same migration, {_remedy(state)}",
            span=cause,
        )
        for state, cause in _find_causes(before, after, spans)
        if not is_accepted(cause)
    )


def _find_causes(
    before: ViewStates, after: ViewStates, spans: Mapping[ObjectIdentifier, Span]
) -> Iterator[tuple[ViewState, Span | None]]:
    for state in find_broken_views(before, after):
        yield state, _find_cause(before, state, spans)


def describe_broken_view(state: ViewState, *, full_path: bool = False) -> str:
    """Return why a view does not work.

    The views through which it reads what has changed are part of the reason.
    """
    problem, name = state.problem, name_view(state, full_path=full_path)
    if problem is None:
        return f"{name} works"
    through = "".join(f"in {place}: " for place in problem.path)
    return f"{name} does not work: {through}{problem.problem}"


def name_view(state: ViewState, *, full_path: bool = False) -> str:
    """Return the kind and path of a view, with its catalog if it is the full path."""
    kind, names = state.kind.value.lower().replace("_", " "), state.identifier.to_list()
    return f"{kind} {'.'.join(names if full_path else names[1:])}"


def _remedy(state: ViewState) -> str:
    path = state.identifier.as_serializable_string()
    if state.kind is TableKind.VIEW:
        return f"drop the view, or redefine it: ALTER VIEW {path} AS SELECT ..."
    return (
        "drop the materialized table, or redefine it: CREATE OR ALTER MATERIALIZED TABLE "
        f"{path} AS SELECT ..."
    )


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
