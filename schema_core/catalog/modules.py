"""Modules: where functions come from that belong to no catalog, in the order of their use."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
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
        self._functions: dict[str, Module] = {}

    def of_packages(self) -> Iterable[tuple[str, Module]]:
        """The modules in use that packages brought, in order, each with its functions."""
        return [(name, self._functions[name]) for name in self.used if name in self._functions]

    def load(self, name: str) -> None:
        """Load a module and use it after all others.

        Raises:
            AlreadyExistsError: with code `module-exists`.
            NotFoundError: with code `module-not-found` for one that no package offers.
        """
        if name in self.loaded:
            raise AlreadyExistsError(f"the module {name} is loaded already", code="module-exists")
        if name != CORE:
            self._add(name, self._offered(name))
        self.loaded.append(name)
        self.used.append(name)

    def add(self, name: str, module: Module) -> None:
        """Load a module that is given as an object, and use it after all others.

        Raises:
            AlreadyExistsError: with code `module-exists`.
        """
        if name in self.loaded:
            raise AlreadyExistsError(f"the module {name} is loaded already", code="module-exists")
        self._add(name, module)
        self.loaded.append(name)
        self.used.append(name)

    def _add(self, name: str, module: Module | None) -> None:
        if module is None:
            raise self._missing(name, [CORE])
        self._functions[name] = {key.lower(): function for key, function in module.items()}

    def unload(self, name: str) -> None:
        """Forget a module.

        Raises:
            NotFoundError: with code `module-not-found`.
        """
        if name not in self.loaded:
            raise self._missing(name, self.loaded)
        self.loaded.remove(name)
        self._functions.pop(name, None)
        self.used = [one for one in self.used if one != name]

    def use(self, names: Iterable[str]) -> None:
        """Use these modules, in this order, and no others.

        Raises:
            SchemaError: with code `module-twice`.
            NotFoundError: with code `module-not-found`.
        """
        wanted = list(names)
        for position, name in enumerate(wanted):
            if name in wanted[:position]:
                raise SchemaError(f"the module {name} is named twice", code="module-twice")
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
