"""Planners, connectors, formats, catalogs and functions are found by entry point (FLIP-32).

What cannot be loaded is not an error until it is asked for; until then it is reported with the
reason, since a missing extra is no fault of the job that does not need it.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Any

from schema_core.catalog.registry import CATALOGS
from schema_core.errors import NotFoundError, SchemaError, similar
from schema_core.extras import extra_of, install_hint

if TYPE_CHECKING:
    from collections.abc import Iterable
    from importlib.metadata import EntryPoint

PLANNERS = "schema_core.planners"
CONNECTORS = "schema_core.connectors"
FORMATS = "schema_core.formats"
FUNCTIONS = "schema_core.functions"

#: Where packages offer what -> what one of it is called, and what its entry point names.
GROUPS: dict[str, tuple[str, str]] = {
    CATALOGS:   ("catalog",   "a `CatalogFactory`"),
    CONNECTORS: ("connector", "a class of `Connector`, made without arguments"),
    FORMATS:    ("format",    "what the connector that reads it takes: for files a `Format`"),
    PLANNERS:   ("planner",   "a class of `Planner`, made with a `PlannerContext`"),
    FUNCTIONS:  ("module",    "a mapping from names to functions, which LOAD MODULE loads"),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Found:
    """An entry point: its identifier, where it points, and what it gave or why it gave nothing.

    `loaded` is what the entry point names (a class); `problem` says in a sentence why it could not
    be loaded, and is None when it could.
    """

    identifier: str
    target: str
    package: str
    loaded: Any = None
    problem: str | None = None
    hint: str | None = None


def _load(entry: EntryPoint) -> Found:
    package = f"{entry.dist.name} {entry.dist.version}" if entry.dist else "?"
    try:
        return Found(entry.name, entry.value, package, entry.load())
    except ModuleNotFoundError as error:
        problem = f"the module {error.name!r} is not installed"
        hint = install_hint(error.name) if error.name and extra_of(error.name) else None
        return Found(entry.name, entry.value, package, problem=problem, hint=hint)
    except Exception as error:  # noqa: BLE001 - whatever a foreign module does when it is imported
        problem = f"{type(error).__name__}: {error}"
    return Found(entry.name, entry.value, package, problem=problem)


def discover(group: str, entries: Iterable[EntryPoint] | None = None) -> tuple[Found, ...]:
    """Everything registered in a group, sorted by identifier; `entries` stand in for the installed.

    >>> [found.identifier for found in discover("schema_core.planners")]
    ['spark']
    """
    found = map(_load, entry_points(group=group) if entries is None else entries)
    return tuple(sorted(found, key=lambda one: (one.identifier, one.target)))


def require(group: str, identifier: str, entries: Iterable[EntryPoint] | None = None) -> Any:
    """What the one entry point with this identifier (case counts) names.

    Raises:
        NotFoundError: with code `not-discovered` when there is none, naming those there are, or
            `not-loadable` when it could not be loaded, with the reason.
        SchemaError: with code `ambiguous-identifier` when several have the identifier.
    """
    every = discover(group, entries)
    what = GROUPS[group][0] if group in GROUPS else group.rpartition(".")[2].removesuffix("s")
    matches = [found for found in every if found.identifier == identifier]
    if not matches:
        known = sorted({found.identifier for found in every})
        raise NotFoundError(
            f"no {what} {identifier!r} is installed; there are: {', '.join(known) or 'none'}",
            code="not-discovered",
            hint=similar(identifier, known),
        )
    if len(matches) > 1:
        targets = ", ".join(found.target for found in matches)
        raise SchemaError(
            f"several packages offer a {what} {identifier!r}: {targets}",
            code="ambiguous-identifier",
            hint="uninstall all but one",
        )
    (match,) = matches
    if match.problem is not None:
        raise NotFoundError(
            f"the {what} {identifier!r} of {match.package} cannot be loaded: {match.problem}",
            code="not-loadable",
            hint=match.hint,
        )
    return match.loaded
