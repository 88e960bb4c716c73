"""Modules: where functions come from that belong to no catalog, in the order of their use."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from threading import RLock
from typing import Any, TypeAlias

from schema_core.errors import AlreadyExistsError, NotFoundError, SchemaError, similar

#: The module that holds the built-in functions.
CORE = "core"

#: What a module is made of: functions by their names.
Module: TypeAlias = Mapping[str, Any]


def nowhere(name: str) -> Module | None:
    """No module but the built-in one is known."""
    return None


class Modules:
    """The modules that are loaded, and those of them in use, in order.

    `offered` gives the functions of a module that a package offers, or None.

    >>> modules = Modules()
    >>> modules.unload("core")
    >>> modules.used, modules.loaded
    ([], [])
    """

    def __init__(self, offered: Callable[[str], Module | None] = nowhere) -> None:
        self.loaded = [CORE]
        self.used = [CORE]
        self._offered = offered
        self._lock = RLock()
        self._functions: dict[str, Module] = {}

    def of_packages(self) -> Iterable[tuple[str, Module]]:
        """The modules in use that packages brought, in order, each with its functions."""
        found = ((name, self._functions.get(name)) for name in self.used)
        return [(name, functions) for name, functions in found if functions is not None]

    def load(self, name: str) -> None:
        """Load a module and use it after all others.

        Raises:
            AlreadyExistsError: with code `module-exists`.
            NotFoundError: with code `module-not-found` for one that no package offers.
        """
        self._load(name, lambda: self._offered(name))

    def add(self, name: str, module: Module) -> None:
        """Load a module that is given as an object, and use it after all others.

        Raises:
            AlreadyExistsError: with code `module-exists`.
        """
        self._load(name, lambda: module)

    def _load(self, name: str, find: Callable[[], Module | None]) -> None:
        with self._lock:
            if name in self.loaded:
                problem = f"the module {name} is loaded already"
                raise AlreadyExistsError(problem, code="module-exists")
            if name != CORE:
                if (module := find()) is None:
                    raise self._missing(name, [CORE])
                self._functions[name] = {key.lower(): value for key, value in module.items()}
            self.loaded = [*self.loaded, name]
            self.used = [*self.used, name]

    def unload(self, name: str) -> None:
        """Forget a module.

        Raises:
            NotFoundError: with code `module-not-found`.
        """
        with self._lock:
            if name not in self.loaded:
                raise self._missing(name, self.loaded)
            self.loaded = [one for one in self.loaded if one != name]
            self.used = [one for one in self.used if one != name]
            self._functions.pop(name, None)

    def use(self, names: Iterable[str]) -> None:
        """Use these modules, in this order, and no others.

        Raises:
            SchemaError: with code `duplicate-module`.
            NotFoundError: with code `module-not-found`.
        """
        wanted = list(names)
        with self._lock:
            for position, name in enumerate(wanted):
                if name in wanted[:position]:
                    raise SchemaError(f"the module {name} is named twice", code="duplicate-module")
                if name not in self.loaded:
                    raise self._missing(name, self.loaded)
            self.used = wanted

    def listed(self) -> list[tuple[str, bool]]:
        """All modules, those in use first and in order, and whether each is in use."""
        rest = sorted(set(self.loaded) - set(self.used))
        return [*((name, True) for name in self.used), *((name, False) for name in rest)]

    @staticmethod
    def _missing(name: str, known: Iterable[str]) -> NotFoundError:
        return NotFoundError(
            f"there is no module {name}", code="module-not-found", hint=similar(name, known)
        )
