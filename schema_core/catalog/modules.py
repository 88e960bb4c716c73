"""Modules: where functions come from that belong to no catalog, in the order of their use."""

from __future__ import annotations

from collections.abc import Iterable

from schema_core.errors import AlreadyExistsError, NotFoundError, SchemaError, similar

#: The module that holds the built-in functions.
CORE = "core"


class Modules:
    """The modules that are loaded, and those of them in use, in order.

    >>> modules = Modules()
    >>> modules.unload("core")
    >>> modules.used, modules.loaded
    ([], [])
    """

    def __init__(self) -> None:
        self.loaded = [CORE]
        self.used = [CORE]

    def load(self, name: str) -> None:
        """Load a module and use it after all others.

        Raises:
            AlreadyExistsError: with code `module-exists`.
            NotFoundError: with code `module-not-found` for any other than the built-in one.
        """
        if name in self.loaded:
            raise AlreadyExistsError(f"the module {name} is loaded already", code="module-exists")
        if name != CORE:
            raise self._missing(name, [CORE])
        self.loaded.append(name)
        self.used.append(name)

    def unload(self, name: str) -> None:
        """Forget a module.

        Raises:
            NotFoundError: with code `module-not-found`.
        """
        if name not in self.loaded:
            raise self._missing(name, self.loaded)
        self.loaded.remove(name)
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
