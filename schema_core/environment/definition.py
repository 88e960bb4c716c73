"""What functions are made of, as given by users and by modules of packages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from schema_core.arguments import require_instance
from schema_core.catalog.functions import Definition, FunctionClass
from schema_core.catalog.modules import Module
from schema_core.catalog.objects import CatalogFunction
from schema_core.environment.discovery import FUNCTIONS
from schema_core.environment.discovery import require as discovered
from schema_core.errors import NotFoundError, SchemaError
from schema_core.expressions.user_functions import (
    InPython,
    UserDefinedFunction,
    UserFunction,
    user_function,
)
from schema_core.text import show

#: What a function may be made of: the name of a class, a declaration, or a function of Python.
Given: TypeAlias = (
    str | FunctionClass | UserFunction | UserDefinedFunction | type[UserDefinedFunction]
)


def definition_of(function: Given) -> Definition:
    """A class by name, or what it does; a class of Python says so by its type hints."""
    if isinstance(function, FunctionClass):
        return function
    if isinstance(function, str):
        return CatalogFunction.create_instance(function, "Java")
    require_instance(function, object if callable(function) else UserDefinedFunction, "function")
    declared = user_function(function)
    return FunctionClass(
        declared.signatures,
        declared.kind,
        deterministic=declared.deterministic,
        spark=InPython(declared.implementation),
    )


def module_of(name: str, given: object) -> Module:
    """The functions of a module by their names.

    Raises:
        SchemaError: with code `wrong-argument` for what is no mapping of functions.
    """
    if not isinstance(given, Mapping) or not all(isinstance(key, str) for key in given):
        raise SchemaError(
            f"the module {name} must be a mapping from names to functions, got {show(given)}",
            code="wrong-argument",
        )
    return {key: definition_of(function) for key, function in given.items()}


def offered_module(name: str) -> Module | None:
    """The functions of a module that an installed package offers; None if none does.

    Raises:
        NotFoundError, SchemaError: as `schema_core.environment.discovery.require`, where there is
            one but it cannot be used.
    """
    try:
        found = discovered(FUNCTIONS, name)
    except NotFoundError as error:
        if error.code == "not-discovered":
            return None
        raise
    return module_of(name, found)
