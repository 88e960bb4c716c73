"""Packages whose public names are loaded at first use, from the one declaration in their stub.

``import schema_core`` takes 16 ms of processor time; all of its names take 670 ms, and a first
schema 225 ms.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from itertools import pairwise
from typing import Any


def attach(
    package: str, file: str
) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Return ``__getattr__``, ``__dir__`` and ``__all__`` of a package (PEP 562).

    The stub beside the package's ``__init__.py``, which type checkers and editors read, declares
    the public names, and nothing else: ``from package.module import Name as Name``.

    Args:
        package: The ``__name__`` of the package.
        file: Its ``__file__``.
    """
    # The loader of the package also reads from a zip, in which executors of Spark receive it.
    loader: Any = getattr(sys.modules[package].__spec__, "loader", None)
    # It compares names as strings, so `./a.zip/package` must not be normalised.
    homes = _homes(loader.get_data(f"{file.rpartition('.')[0]}.pyi").decode())

    def load(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(import_module(homes[name]), name)
        setattr(sys.modules[package], name, value)
        return value

    def names() -> list[str]:
        return sorted({*vars(sys.modules[package]), *homes})

    return load, names, sorted(homes)


def _homes(stub: str) -> dict[str, str]:
    """Return the module of each name. `ast` would do it, too, but its import takes longer."""
    homes: dict[str, str] = {}
    module = ""
    for word, following in pairwise(stub.replace(",", " ").split()):
        if word == "from":
            module = following
        elif word == "as":
            homes[following] = module
    return homes
