"""Functions and modules of functions, as users pass them to an environment."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Self, TypeAlias

from schema_core.base.arguments import require_instance
from schema_core.base.plugins import FUNCTIONS, find
from schema_core.base.text import show
from schema_core.catalog.functions import Definition, FunctionClass, declaration_of
from schema_core.catalog.objects import CatalogFunction
from schema_core.errors import SchemaError
from schema_core.expressions.user_functions import UserDefinedFunction, UserFunction

#: What defines a function: a class name, a declaration, or a Python function.
FunctionArgument: TypeAlias = (
    str | FunctionClass | UserFunction | UserDefinedFunction | type[UserDefinedFunction]
)


class Module(Mapping[str, FunctionArgument]):
    """Functions by name, which `TableEnvironment.load_module` loads together.

    >>> from schema_core.pyflink.table.udf import udf
    >>> from schema_core import DataTypes
    >>> twice = udf(lambda i: 2 * i, input_types=["INT"], result_type=DataTypes.INT())
    >>> list(Module({"twice": twice}))
    ['twice']
    """

    def __init__(self, functions: Mapping[str, FunctionArgument]) -> None:
        require_instance(functions, Mapping, "functions")
        self._functions = dict(functions)
        for name in self._functions:
            require_instance(name, str, "the name of a function")

    def __getitem__(self, name: str) -> FunctionArgument:
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
        """Return an entry; arguments of other types raise (`invalid-argument`)."""
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


def to_definition(function: FunctionArgument) -> Definition:
    """Return the definition of a function."""
    if isinstance(function, FunctionClass):
        return function
    if isinstance(function, str):
        return CatalogFunction.create_instance(function, "Java")
    require_instance(function, object if callable(function) else UserDefinedFunction, "function")
    return declaration_of(function)


def to_definitions(name: str, module: object) -> Mapping[str, Definition]:
    """Return the functions of a module by name (`invalid-argument` unless it is a mapping)."""
    if not isinstance(module, Mapping) or not all(isinstance(key, str) for key in module):
        raise SchemaError(
            f"the module {name} must be a mapping from names to functions, got {show(module)}",
            code="invalid-argument",
        )
    return {key: to_definition(function) for key, function in module.items()}


def load_installed_module(name: str) -> Mapping[str, Definition] | None:
    """Return the functions of a module that an installed package provides, or None.

    Errors are those of `schema_core.base.plugins.find` and `to_definitions`.
    """
    module = find(FUNCTIONS, name)
    return None if module is None else to_definitions(name, module)
