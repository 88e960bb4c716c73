"""Views in queries: an engine meets tables only, so a view is replaced by the query behind it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeAlias

from schema_core.paths import ObjectIdentifier
from schema_core.query.relation import Relation, Scan
from schema_core.schema.resolved import ResolvedSchema
from schema_core.types import DataType

#: Leaves: values below which no relation lies.
LEAVES = (str, int, DataType, ResolvedSchema, ObjectIdentifier)


#: The query behind the view at a path, or None for a table.
QueryOf: TypeAlias = Callable[[ObjectIdentifier], Relation | None]


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
