"""Discovery of planners, connectors, formats, catalogs and so on by entry point (FLIP-32).

An entry point that cannot be loaded is an error only when it is used; until then it is reported
with the reason, since a missing extra does not matter to jobs that do not need it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeAlias

from schema_core.base.arguments import require_instance
from schema_core.base.extras import extra_of, install_hint
from schema_core.base.lazy_dataclass import dataclass
from schema_core.base.text import show
from schema_core.catalog.functions import Definition, FunctionClass, Module, declaration_of
from schema_core.catalog.objects import CatalogFunction
from schema_core.catalog.registry import CATALOGS
from schema_core.errors import NotFoundError, SchemaError, similar
from schema_core.expressions.user_functions import UserDefinedFunction, UserFunction

if TYPE_CHECKING:
    from collections.abc import Iterable
    from importlib.metadata import EntryPoint

PLANNERS = "schema_core.planners"
CONNECTORS = "schema_core.connectors"
FORMATS = "schema_core.formats"
FUNCTIONS = "schema_core.functions"
HOOKS = "schema_core.job_status_hooks"

#: Entry-point group -> noun in messages, and the expected object.
GROUPS: dict[str, tuple[str, str]] = {
    CATALOGS:   ("catalog",   "a `CatalogFactory`"),
    CONNECTORS: ("connector", "a class of `Connector`, made without arguments"),
    FORMATS:    ("format",    "a format object of its connector, such as `Format` for files"),
    PLANNERS:   ("planner",   "a class of `Planner`, made with a `PlannerContext`"),
    FUNCTIONS:  ("module",    "a mapping from names to functions, which LOAD MODULE loads"),
    HOOKS:      ("job status hook", "a factory of `JobStatusHook` without parameters"),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Found:
    """An entry point, and the loaded object or the reason for failure.

    `loaded` is what the entry point names (a class); `problem` is the reason why it could not be
    loaded, or None.
    """

    entry: EntryPoint
    loaded: Any = None
    problem: str | None = None
    hint: str | None = None

    @property
    def identifier(self) -> str:
        return self.entry.name

    @property
    def target(self) -> str:
        return self.entry.value

    @property
    def is_built_in(self) -> bool:
        """Whether the entry point names a module of this package."""
        return self.entry.module.partition(".")[0] == __package__.partition(".")[0]

    @property
    def package(self) -> str:
        """The name and version of the package, for which all of its metadata is parsed."""
        return f"{self.entry.dist.name} {self.entry.dist.version}" if self.entry.dist else "?"


#: Hint for an entry point that cannot be loaded, for example after a class was renamed.
NOT_LOADED = "correct the entry point in the pyproject.toml of the package, and install it again"


def _load(entry: EntryPoint) -> Found:
    try:
        return Found(entry, entry.load())
    except ModuleNotFoundError as error:
        problem = f"the module {error.name!r} is not installed"
        hint = install_hint(error.name) if error.name and extra_of(error.name) else None
        return Found(entry, problem=problem, hint=hint)
    except Exception as error:  # noqa: BLE001 - whatever a foreign module does when it is imported
        problem = f"{type(error).__name__}: {error}"
    return Found(entry, problem=problem, hint=NOT_LOADED)


def installed(group: str) -> tuple[EntryPoint, ...]:
    """Return the installed entry points of a group; all packages are read only if any changed."""
    directories = tuple((path, _changed(path)) for path in sys.path)
    return _installed(group, directories)


@lru_cache(maxsize=32)
def _installed(group: str, directories: tuple[tuple[str, int], ...]) -> tuple[EntryPoint, ...]:
    from importlib.metadata import entry_points  # slow to import

    return tuple(entry_points(group=group))


def _changed(path: str) -> int:
    """Return when a directory of packages was changed, in nanoseconds; 0 if there is none."""
    try:
        return os.stat(path or ".").st_mtime_ns  # noqa: PTH116 - a path of any kind
    except OSError:
        return 0


def discover(group: str, entries: Iterable[EntryPoint] | None = None) -> tuple[Found, ...]:
    """Return everything registered in a group, sorted by identifier.

    `entries` replaces the installed entry points.

    >>> [found.identifier for found in discover("schema_core.planners")]
    ['spark']
    """
    found = map(_load, installed(group) if entries is None else entries)
    return tuple(sorted(found, key=lambda one: (one.identifier, one.target)))


def require(group: str, identifier: str, entries: Iterable[EntryPoint] | None = None) -> Any:
    """Load the only entry point with an identifier, which is case-sensitive.

    Raises:
        NotFoundError: with code `not-discovered` when there is none, naming those there are, or
            `not-loadable` when it could not be loaded, with the reason.
        SchemaError: with code `ambiguous-identifier` when several have the identifier.
    """
    every = installed(group) if entries is None else tuple(entries)
    what = GROUPS[group][0] if group in GROUPS else group.rpartition(".")[2].removesuffix("s")
    matches = discover(group, (entry for entry in every if entry.name == identifier))
    if not matches:
        known = sorted({entry.name for entry in every})
        raise NotFoundError(
            f"no {what} {identifier!r} is installed",
            code="not-discovered",
            hint=similar(identifier, known, 0.5) or f"use one of {', '.join(known) or 'none'}",
        )
    if len(matches) > 1:
        targets = ", ".join(found.target for found in matches)
        raise SchemaError(
            f"several packages provide the {what} {identifier!r}: {targets}",
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


# --- functions -----------------------------------------------------------------------------

#: What a function may be made of: the name of a class, a declaration, or a function of Python.
Given: TypeAlias = (
    str | FunctionClass | UserFunction | UserDefinedFunction | type[UserDefinedFunction]
)


def definition_of(function: Given) -> Definition:
    """Return the definition of a function from a class name, a declaration or a Python function."""
    if isinstance(function, FunctionClass):
        return function
    if isinstance(function, str):
        return CatalogFunction.create_instance(function, "Java")
    require_instance(function, object if callable(function) else UserDefinedFunction, "function")
    return declaration_of(function)


def module_of(name: str, given: object) -> Module:
    """Return the functions of a module by name.

    Raises:
        SchemaError: with code `wrong-argument` for an object that is not a mapping of functions.
    """
    if not isinstance(given, Mapping) or not all(isinstance(key, str) for key in given):
        raise SchemaError(
            f"the module {name} must be a mapping from names to functions, got {show(given)}",
            code="wrong-argument",
        )
    return {key: definition_of(function) for key, function in given.items()}


def offered_module(name: str) -> Module | None:
    """Return the functions of a module that an installed package provides, or None.

    Raises:
        NotFoundError, SchemaError: as `schema_core.environment.discovery.require`, where there is
            one but it cannot be used.
    """
    try:
        found = require(FUNCTIONS, name)
    except NotFoundError as error:
        if error.code == "not-discovered":
            return None
        raise
    return module_of(name, found)
