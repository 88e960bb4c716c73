"""``schema-core doctor`` and ``explain``: the installation, and pages of errors."""

from __future__ import annotations

import platform
from typing import Annotated

import typer
from rich.console import Console
from rich.markdown import Markdown
from rich.table import Column, Table
from rich.text import Text

from schema_core.base.caching import cache_usage
from schema_core.base.plugins import (
    CATALOGS,
    CONNECTORS,
    EXTRAS,
    FORMATS,
    FUNCTIONS,
    GROUPS,
    HOOKS,
    PLANNERS,
    Plugin,
    discover,
    install_command,
    missing,
)
from schema_core.catalogs.hive.catalog import hive_support
from schema_core.cli import script
from schema_core.cli.app import installed_version
from schema_core.environment.connector import DynamicTableFactory
from schema_core.errors import NotFoundError, SchemaCoreError
from schema_core.errors.codes import page, summaries
from schema_core.spark.connector import MEMBERS
from schema_core.spark.session.java import find_java
from schema_core.spark.session.packages import has_package, package_of

BUILT_IN = "built in"

NO_JAVA = "none"


def doctor() -> None:
    """Show versions, extras, Java, implementations, why something cannot be used, and caches."""
    console = Console()
    where = Column("where, or why not", overflow="fold")
    table = Table("what", "found", where, box=None, pad_edge=False)
    table.add_row("schema_core", installed_version("schema-core") or "not installed", "")
    table.add_row("Python", platform.python_version(), platform.platform())
    for extra, modules in EXTRAS.items():
        packages = modules.values()
        versions = ", ".join(
            f"{package} {installed_version(package) or '-'}" for package in packages
        )
        error = next(filter(None, map(missing, modules)), None)
        hint = f"{error.problem}; {install_command(extra)}" if error else ""
        table.add_row(f"extra {extra}", versions, Text(hint))
    table.add_row("Java", *java())
    table.add_row("Hive", *map(Text, hive_support()))
    for group in (CATALOGS, CONNECTORS, FORMATS, PLANNERS, FUNCTIONS, HOOKS):
        for plugin in discover(group):
            problem = why_not_usable(plugin)
            unusable = "not loaded" if plugin.problem else "not usable"
            state = "ready" if problem is None else unusable
            source = BUILT_IN if plugin.is_built_in else f"{plugin.target} ({plugin.package})"
            notes = [part for part in (source, problem or serves(plugin)) if part]
            table.add_row(f"{GROUPS[group]} {plugin.identifier}", state, Text("; ".join(notes)))
    console.print(table)
    console.print()
    console.print(caches())


def caches() -> Table:
    """Return a table of the caches of the imported modules."""
    table = Table(
        "cache", *(Column(name, justify="right") for name in ("entries", "size", "at most")), "of",
        box=None, pad_edge=False,
    )  # fmt: skip
    for usage in cache_usage():
        name = usage.name.removeprefix("schema_core.")
        numbers = (f"{number:,}" for number in (usage.entries, usage.size, usage.budget))
        table.add_row(Text(name, overflow="fold"), *numbers, usage.unit)
    return table


def serves(plugin: Plugin) -> str:
    """Return a connector's engine and abilities; '' for anything else."""
    if not isinstance(plugin.loaded, type) or not hasattr(plugin.loaded, "can_read"):
        return ""
    connector = plugin.loaded()
    if isinstance(connector, DynamicTableFactory):
        return "makes its sources and sinks for each table"
    does = [word for word in ("read", "write") if getattr(connector, f"can_{word}", False)]
    abilities = sorted(ability.value for ability in getattr(connector, "abilities", ()))
    missing_members = [member for member in MEMBERS if not hasattr(connector, member)]
    engine = "Spark" if not missing_members else "no engine that is installed"
    return f"{engine}: {', '.join([*does, *abilities])}"


def why_not_usable(plugin: Plugin) -> str | None:
    """Return why an implementation cannot be used, or None.

    Its attribute `requires` names modules that it imports lazily.
    """
    if plugin.problem is not None:
        return f"{plugin.problem}; {plugin.hint}" if plugin.hint else plugin.problem
    requires: tuple[str, ...] = getattr(plugin.loaded, "requires", ())
    for module in requires:
        if error := missing(module):
            return f"{error.problem}; {error.hint}"
    if "pyspark" in requires:
        version, reason = java()
        if version == NO_JAVA:
            return reason
    source: str | None = getattr(plugin.loaded, "data_source", None)
    if source is not None and not has_package(source):
        return (
            f"neither the jars nor the settings of Spark have the package for {source}; "
            f"start Spark with 'spark.jars.packages' = '{package_of(source)}'"
        )
    return None


def java() -> tuple[str, str]:
    """Return version and location of Spark's Java, or `NO_JAVA` and the reason."""
    try:
        java = find_java()
    except SchemaCoreError as error:
        return NO_JAVA, f"{error.problem}; {error.hint or ''}"
    return str(java.version), f"{java.home} ({java.source})"


def explain(
    code: Annotated[str | None, typer.Argument(help="The code in brackets after 'error'.")] = None,
) -> None:
    """Print the page of an error code, or without a code a list of all.

    Exits with 2 for an unknown code.
    """
    console = Console(highlight=False)
    if code is not None:
        try:
            text = page(code)
        except NotFoundError as error:
            hint = error.hint or "list all with: schema-core explain"
            raise script.report_unable(error.problem, hint) from None
        if console.is_terminal:
            console.print(Markdown(text))
        else:
            print(text, end="")
    elif console.is_terminal:
        table = Table("code", "meaning", box=None, pad_edge=False)
        for name, sentence in summaries():
            table.add_row(Text(name, "bold", no_wrap=True), Text(sentence))
        console.print(table)
    else:
        print("\n".join(f"{name}: {sentence}" for name, sentence in summaries()))
