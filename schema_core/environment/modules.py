"""Modules of functions as users pass them to an environment, and their list."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Self

from schema_core.base.arguments import require_instance
from schema_core.base.text import show
from schema_core.environment.discovery import Given


class Module(Mapping[str, Given]):
    """Functions by name, which `TableEnvironment.load_module` loads together.

    >>> from schema_core.pyflink.table.udf import udf
    >>> from schema_core import DataTypes
    >>> twice = udf(lambda i: 2 * i, input_types=["INT"], result_type=DataTypes.INT())
    >>> list(Module({"twice": twice}))
    ['twice']
    """

    def __init__(self, functions: Mapping[str, Given]) -> None:
        require_instance(functions, Mapping, "functions")
        self._functions = dict(functions)
        for name in self._functions:
            require_instance(name, str, "the name of a function")

    def __getitem__(self, name: str) -> Given:
        return self._functions[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._functions)

    def __len__(self) -> int:
        return len(self._functions)

    def list_functions(self) -> list[str]:
        """Return the names of the functions, sorted."""
        return sorted(self._functions)

    def __repr__(self) -> str:
        return f"Module({', '.join(map(show, self.list_functions()))})"


class ModuleEntry(tuple[str, bool]):
    """The name of a loaded module, and whether it is in use.

    >>> ModuleEntry("core", True).name()
    'core'
    """

    __slots__ = ()

    def __new__(cls, name: str, used: bool) -> Self:
        """Return an entry.

        Raises:
            SchemaError: with code `wrong-argument` for arguments of other types.
        """
        require_instance(name, str, "name")
        require_instance(used, bool, "used")
        return super().__new__(cls, (name, used))

    def name(self) -> str:
        return self[0]

    def used(self) -> bool:
        return self[1]

    def __getnewargs__(self) -> tuple[str, bool]:
        return self[0], self[1]

    def __repr__(self) -> str:
        return f"ModuleEntry{{name='{self[0]}', used={str(self[1]).lower()}}}"
