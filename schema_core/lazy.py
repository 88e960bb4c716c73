"""Packages whose public names are loaded at first use, from the one declaration in their stub."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any


def attach(
    package: str, file: str
) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Return ``__getattr__``, ``__dir__`` and ``__all__`` of a package (PEP 562).

    The stub beside the package's ``__init__.py``, which type checkers and editors read, declares
    the public names: ``from schema_core.paths import ObjectPath as ObjectPath``.

    Args:
        package: The ``__name__`` of the package.
        file: Its ``__file__``.
    """
    # The loader of the package also reads from a zip, in which executors of Spark receive it.
    loader: Any = getattr(sys.modules[package].__spec__, "loader", None)
    # It compares names as strings, so `./a.zip/package` must not be normalised.
    stub = ast.parse(loader.get_data(f"{file.rpartition('.')[0]}.pyi"))
    homes = {
        name.asname: str(one.module)
        for one in stub.body
        if isinstance(one, ast.ImportFrom)
        for name in one.names
        if name.asname is not None
    }

    def load(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(import_module(homes[name]), name)
        setattr(sys.modules[package], name, value)
        return value

    def names() -> list[str]:
        return sorted({*vars(sys.modules[package]), *homes})

    return load, names, sorted(homes)
