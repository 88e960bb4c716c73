"""Views in queries: an engine meets tables only, so a view is replaced by the query behind it."""

from __future__ import annotations

from collections.abc import Callable, Generator
from copy import copy
from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeAlias

from schema_core.errors import SchemaCoreError, SchemaError
from schema_core.paths import ObjectIdentifier
from schema_core.query.relation import Relation, Scan
from schema_core.schema.resolved import ResolvedSchema
from schema_core.types import DataType

#: How many views may lie one behind the other.
MAX_VIEWS = 32

#: Leaves: values below which no relation lies.
LEAVES = (str, int, DataType, ResolvedSchema, ObjectIdentifier)


#: The query behind the view at a path, or None for a table.
QueryOf: TypeAlias = Callable[[ObjectIdentifier], Relation | None]


class OpenViews:
    """The queries of views that are being read at the moment, each behind the one before.

    What was found behind a query, or why nothing was, is remembered until all are read, so that
    views that read others several times cost no more than they are many. A query is known by its
    text: with every name spelled out it means the same everywhere.
    """

    def __init__(self) -> None:
        self._open: list[str] = []
        self._found: dict[str, Relation | SchemaCoreError] = {}

    def relation(self, query: str, read: Callable[[], Relation]) -> Relation:
        """What `read` finds behind the query of a view.

        Raises:
            SchemaError: with code `recursive-view` for a view that reads itself, `too-deep` beyond
                `MAX_VIEWS` levels.
        """
        if query in self._open:
            raise SchemaError("the view reads itself", code="recursive-view")
        if len(self._open) == MAX_VIEWS:
            raise SchemaError(f"views lie more than {MAX_VIEWS} levels deep", code="too-deep")
        self._open.append(query)
        try:
            if query not in self._found:
                self._found[query] = _outcome(read)
            found = self._found[query]
        finally:
            self._open.pop()
            if not self._open:
                self._found.clear()
        if isinstance(found, SchemaCoreError):
            raise copy(found)
        return found


def _outcome(read: Callable[[], Relation]) -> Relation | SchemaCoreError:
    """What was read, or the mistake, before places are added to it."""
    try:
        return read()
    except SchemaCoreError as error:
        return copy(error)


def inline_views(relation: Relation, query_of: QueryOf) -> Relation:
    """The relation with every scan of a view replaced by what `query_of` gives for it.

    The source around a scan names its columns, so what stands in its place may name them otherwise.
    """
    rebuilt: Relation = _finished(_rebuilt(relation, query_of), query_of)
    return rebuilt


def tables_in(relation: Relation) -> set[ObjectIdentifier]:
    """The tables and views that the relation reads."""
    found: set[ObjectIdentifier] = set()
    inline_views(relation, found.add)
    return found


#: A node being rebuilt: it asks for its parts one by one and is given each rebuilt.
Rebuilding: TypeAlias = Generator[Any, Any, Any]


def _finished(rebuilding: Rebuilding, query_of: QueryOf) -> Any:
    """What it ends with; the stack is a list, so that chains of thousands of terms fit."""
    waiting, value = [rebuilding], None
    while waiting:
        try:
            part = waiting[-1].send(value)
        except StopIteration as ended:
            waiting.pop()
            value = ended.value
        else:
            waiting.append(_rebuilt(part, query_of))
            value = None
    return value


def _rebuilt(node: Any, query_of: QueryOf) -> Rebuilding:
    if node is None or isinstance(node, LEAVES):
        return node
    if isinstance(node, Scan):
        return query_of(node.table.identifier) or node
    if isinstance(node, tuple):
        parts = []
        for part in node:
            parts.append((yield part))  # noqa: PERF401 - no comprehension may yield
        if all(new is old for new, old in zip(parts, node, strict=True)):
            return node
        return type(node)(*parts) if hasattr(node, "_fields") else tuple(parts)
    if not is_dataclass(node) or isinstance(node, type):
        return node
    changed = {}
    for one in fields(node):
        if one.init and (new := (yield (old := getattr(node, one.name)))) is not old:
            changed[one.name] = new
    return replace(node, **changed) if changed else node
