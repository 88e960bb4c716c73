"""Views in queries: an engine meets tables only, so a view is replaced by the query behind it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeAlias

from schema_core.errors import SchemaError
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
    """The views that are being read at the moment, each behind the one before.

    What was found behind a view is remembered until all are read, so that views that read others
    several times cost no more than they are many.
    """

    def __init__(self) -> None:
        self._open: list[ObjectIdentifier] = []
        self._found: dict[ObjectIdentifier, Relation] = {}

    def relation(self, view: ObjectIdentifier, read: Callable[[], Relation]) -> Relation:
        """What `read` finds behind the view.

        Raises:
            SchemaError: with code `recursive-view` for a view that reads itself, `too-deep` beyond
                `MAX_VIEWS` levels.
        """
        if view in self._open:
            raise SchemaError("the view reads itself", code="recursive-view")
        if len(self._open) == MAX_VIEWS:
            raise SchemaError(f"views lie more than {MAX_VIEWS} levels deep", code="too-deep")
        self._open.append(view)
        try:
            if view not in self._found:
                self._found[view] = read()
            return self._found[view]
        finally:
            self._open.pop()
            if not self._open:
                self._found.clear()


def inline_views(relation: Relation, query_of: QueryOf) -> Relation:
    """The relation with every scan of a view replaced by what `query_of` gives for it.

    The source around a scan names its columns, so what stands in its place may name them otherwise.
    """
    rebuilt: Relation = _rebuild(relation, query_of)
    return rebuilt


def _rebuild(node: Any, query_of: QueryOf) -> Any:
    if node is None or isinstance(node, LEAVES):
        return node
    if isinstance(node, Scan):
        return query_of(node.table.identifier) or node
    if isinstance(node, tuple):
        parts = [_rebuild(part, query_of) for part in node]
        if all(new is old for new, old in zip(parts, node, strict=True)):
            return node
        return type(node)(*parts) if hasattr(node, "_fields") else tuple(parts)
    if not is_dataclass(node) or isinstance(node, type):
        return node
    old = {one.name: getattr(node, one.name) for one in fields(node) if one.init}
    new = {name: _rebuild(value, query_of) for name, value in old.items()}
    changed = {name: value for name, value in new.items() if value is not old[name]}
    return replace(node, **changed) if changed else node
