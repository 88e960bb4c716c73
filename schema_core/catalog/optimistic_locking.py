"""Altering what was read: whoever says what that was is told when someone else was faster."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass, replace
from typing import Any

from schema_core.catalog.objects import (
    CatalogBaseTable,
    CatalogModel,
    CatalogTable,
    CatalogView,
    Options,
    ResolvedCatalogTable,
    ResolvedCatalogView,
)
from schema_core.catalog.resolve import ORIGINS, origin, resolve_table, resolve_view
from schema_core.errors import ConflictError, SchemaCoreError
from schema_core.schema.resolve import SchemaResolver
from schema_core.schema.unresolved import Schema, unresolve

#: So much of a definition is shown; the error holds all of it.
MAX_SHOWN = 400


def require_expected(shown: object, expected: object, found: object) -> None:
    """Nothing, if nothing was expected or just that is there, resolved or not.

    Raises:
        ConflictError: if there is something else, or nothing, which is None.

    >>> require_expected("db.t", None, "what there is")
    >>> require_expected("db.t", "what was read", "what there is")
    Traceback (most recent call last):
        ...
    schema_core.errors.ConflictError: db.t was changed by someone else
      hint: read was 'what was read'; now there is 'what there is'
    """
    if expected is None or _written(expected) == _written(found):
        return
    done = "dropped" if found is None else "changed"
    differences = "; ".join(_differences(_written(expected), _written(found)))
    error = ConflictError(f"{shown} was {done} by someone else", hint=differences)
    error.expected, error.found = expected, found
    raise error


def means_the_same(expected: CatalogBaseTable | None, found: CatalogBaseTable) -> bool:
    """Whether a resolved table or view that was expected means what there is, however written."""
    if expected is None or type(expected) not in ORIGINS:
        return False
    try:
        return _meaning(expected) == _meaning(found)
    except SchemaCoreError:
        return False


def _meaning(kept: CatalogBaseTable) -> object:
    """The resolved table or view, its schema written anew from what it means."""
    resolved: ResolvedCatalogTable | ResolvedCatalogView
    if isinstance(kept, CatalogTable):
        resolved = resolve_table(kept, SchemaResolver())
    elif isinstance(kept, CatalogView):
        resolved = resolve_view(kept, SchemaResolver(), lambda query: ())
    else:
        return kept
    return replace(resolved, schema=unresolve(resolved.resolved_schema))


def _written(kept: object) -> object:
    return origin(kept) if isinstance(kept, CatalogBaseTable | CatalogModel) else kept


def _differences(expected: Any, found: Any) -> Iterator[str]:
    """What was read and what there is, of each field that differs; secrets are masked."""
    if type(expected) is not type(found) or not is_dataclass(expected):
        yield f"read was {_short(expected)}; now there is {_short(found)}"
        return
    for name in (one.name for one in fields(expected)):
        before, after = getattr(expected, name), getattr(found, name)
        if isinstance(before, Options) and isinstance(after, Options):
            keys = sorted(key for key, _ in before.items() ^ after.items())
            if keys:  # values may be secret
                yield f"{name}: changed are {', '.join(map(repr, dict.fromkeys(keys)))}"
        elif before != after:
            yield f"{name}: read was {_short(before)}, now there is {_short(after)}"


def _short(value: object) -> str:
    text = " ".join(str(value).split()) if isinstance(value, Schema) else repr(value)
    text = "nothing" if value is None else text
    return text if len(text) <= MAX_SHOWN else f"{text[:MAX_SHOWN]}..."
