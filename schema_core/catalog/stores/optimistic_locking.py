"""Optimistic locking: compare-and-set for ALTER operations."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from contextlib import contextmanager
from dataclasses import fields, is_dataclass, replace
from typing import Any

from schema_core.base.secrets import NO_KEYS, mask
from schema_core.base.text import shorten, show
from schema_core.catalog import objects
from schema_core.catalog.api import Capability
from schema_core.catalog.resolve import ORIGINS, origin, resolve_table, resolve_view
from schema_core.errors import ConflictError, SchemaCoreError, UnsupportedError
from schema_core.schema.resolve import SchemaResolver
from schema_core.schema.unresolved import Schema, unresolve

#: The maximum length of a value in a message; the error has the complete definitions.
MAX_SHOWN = 400


def require_expected(path: object, expected: object, found: object) -> None:
    """Refuse to alter an object that has changed since it was read (`ConflictError`).

    Call it within the transaction, or under the lock, that alters. `expected` may be resolved; None
    disables the check. `found` is None if the object was dropped.

    >>> require_expected("db.t", None, "new")
    >>> require_expected("db.t", "old", "new")
    Traceback (most recent call last):
        ...
    schema_core.errors.ConflictError: db.t has changed since it was read
      hint: expected 'old', found 'new'
    """
    if expected is None or _strip_resolution(expected) == _strip_resolution(found):
        return
    if isinstance(found, objects.CatalogBaseTable) and means_the_same(expected, found):
        return
    problem = "was dropped after it was read" if found is None else "has changed since it was read"
    error = ConflictError(f"{path} {problem}", hint=_hint(expected, found))
    error.expected, error.found = expected, found
    raise error


@contextmanager
def masking_conflicts(
    declared: Callable[[Mapping[str, str]], AbstractSet[str]],
) -> Iterator[None]:
    """Mask the options that are secret by `declared` in the hint of a `ConflictError`.

    A catalog masks only keys that contain a secret word, not those that a connector declares
    secret.
    """
    try:
        yield
    except ConflictError as error:
        secret = NO_KEYS
        for table in (error.expected, error.found):
            if isinstance(table, objects.CatalogBaseTable):
                secret |= declared(table.get_options())
        if secret:
            error.hint = _hint(error.expected, error.found, secret)
        raise


def alter_if_unchanged(
    capabilities: AbstractSet[Capability], alter: Callable[..., None], expected: object
) -> None:
    """Call an ALTER method with the definition that was read, if the catalog compares it.

    `Capability.VERSIONS` covers tables and views; a catalog may refuse `expected` for other kinds.
    If it compares and the object has changed, it raises a `ConflictError`.
    """
    if Capability.VERSIONS in capabilities:
        try:
            return alter(expected=expected)
        except UnsupportedError as error:  # the catalog has altered nothing
            if error.code != "unsupported-capability":
                raise
    return alter()


def _hint(expected: object, found: object, declared: AbstractSet[str] = NO_KEYS) -> str:
    return "; ".join(_differences(_strip_resolution(expected), _strip_resolution(found), declared))


def means_the_same(expected: object, found: objects.CatalogBaseTable) -> bool:
    """Return whether two definitions of a table or view resolve to the same."""
    if not isinstance(expected, objects.CatalogBaseTable) or type(expected) not in ORIGINS:
        return False
    try:
        return _resolve_meaning(expected) == _resolve_meaning(found)
    except SchemaCoreError:
        return False


def _resolve_meaning(kept: objects.CatalogBaseTable) -> object:
    """Return the resolved table or view, its schema derived from the resolved one."""
    resolved: objects.ResolvedCatalogTable | objects.ResolvedCatalogView
    if isinstance(kept, objects.CatalogTable):
        resolved = resolve_table(kept, SchemaResolver())
    elif isinstance(kept, objects.CatalogView):
        resolved = resolve_view(kept, SchemaResolver(), lambda query: ())
    else:
        return kept
    return replace(resolved, schema=unresolve(resolved.resolved_schema))


def _strip_resolution(kept: object) -> object:
    return (
        origin(kept) if isinstance(kept, objects.CatalogBaseTable | objects.CatalogModel) else kept
    )


def _differences(expected: Any, found: Any, declared: AbstractSet[str]) -> Iterator[str]:
    """Yield a description of each field that differs, with secrets masked."""
    shown, now = _mask_options(expected, declared), _mask_options(found, declared)
    if type(expected) is not type(found) or not is_dataclass(expected):
        yield f"expected {_short(shown)}, found {_short(now)}"
        return
    for name in (field.name for field in fields(expected)):
        if getattr(expected, name) == getattr(found, name):
            continue
        before, after = getattr(shown, name), getattr(now, name)
        if before == after:
            yield f"{name}: a secret value has changed"
        else:
            yield f"{name}: expected {_short(before)}, found {_short(after)}"


def _mask_options(stored: Any, declared: AbstractSet[str]) -> Any:
    options = getattr(stored, "options", None)
    if (
        is_dataclass(stored)
        and not isinstance(stored, type)
        and isinstance(options, objects.Options)
    ):
        return replace(stored, options=objects.Options(mask(options, declared)))
    return stored


def _short(value: object) -> str:
    if value is None:
        return "no object"
    if isinstance(value, Schema):
        return shorten(" ".join(str(value).split()), MAX_SHOWN)
    return show(value, MAX_SHOWN)
