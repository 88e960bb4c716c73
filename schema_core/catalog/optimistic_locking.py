"""Altering what was read: whoever says what that was is told when someone else was faster."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from contextlib import contextmanager
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
from schema_core.secrets import NO_KEYS, mask

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
    error = ConflictError(f"{shown} was {done} by someone else", hint=_hint(expected, found))
    error.expected, error.found = expected, found
    raise error


@contextmanager
def masking_conflicts(
    declared: Callable[[Mapping[str, str]], AbstractSet[str]],
) -> Iterator[None]:
    """Mask in the hint of a `ConflictError` what `declared` returns as secret keys of the options.

    A catalog masks keys that contain a secret word; the keys that a connector declares secret are
    known to the environment only.
    """
    try:
        yield
    except ConflictError as error:
        secret = NO_KEYS
        for one in (error.expected, error.found):
            if isinstance(one, CatalogBaseTable):
                secret |= declared(one.get_options())
        if secret:
            error.hint = _hint(error.expected, error.found, secret)
        raise


def _hint(expected: object, found: object, declared: AbstractSet[str] = NO_KEYS) -> str:
    return "; ".join(_differences(_written(expected), _written(found), declared))


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


def _differences(expected: Any, found: Any, declared: AbstractSet[str]) -> Iterator[str]:
    """Yield a description of each field that differs, with secrets masked."""
    shown, now = _masked(expected, declared), _masked(found, declared)
    if type(expected) is not type(found) or not is_dataclass(expected):
        yield f"read was {_short(shown)}; now there is {_short(now)}"
        return
    for name in (one.name for one in fields(expected)):
        if getattr(expected, name) == getattr(found, name):
            continue
        before, after = getattr(shown, name), getattr(now, name)
        if before == after:
            yield f"{name}: a secret value was changed"
        else:
            yield f"{name}: read was {_short(before)}, now there is {_short(after)}"


def _masked(stored: Any, declared: AbstractSet[str]) -> Any:
    options = getattr(stored, "options", None)
    if is_dataclass(stored) and not isinstance(stored, type) and isinstance(options, Options):
        return replace(stored, options=Options(mask(options, declared)))
    return stored


def _short(value: object) -> str:
    text = " ".join(str(value).split()) if isinstance(value, Schema) else repr(value)
    text = "nothing" if value is None else text
    return text if len(text) <= MAX_SHOWN else f"{text[:MAX_SHOWN]}..."
