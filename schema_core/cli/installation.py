"""What is installed, and what prevents the use of the rest; requires no third-party package."""

from __future__ import annotations

import platform
import sys
from collections.abc import Iterator
from typing import NamedTuple

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
    install_hint,
    installed_version,
    missing,
)
from schema_core.catalogs.hive.catalog import hive_support
from schema_core.environment.connector import DynamicTableFactory
from schema_core.errors import SchemaCoreError
from schema_core.spark.connector import MEMBERS
from schema_core.spark.session.java import find_java
from schema_core.spark.session.packages import has_package, package_of

BUILT_IN = "built in"

NO_JAVA = "none"

#: Extra -> what it adds, for the summary and the README.
PURPOSES = {
    "arrow":      "conversion of schemas to and from Arrow",
    "spark":      "conversion to and from Spark, jobs on Spark",
    "connect":    "with `spark`: jobs over Spark Connect",
    "polars":     "with `spark`: tables from polars DataFrames, and back",
    "dialects":   "CREATE TABLE of other engines, with sqlglot",
    "sql":        "catalogs in SQLite or another SQL database, with SQLAlchemy",
    "postgresql": "the same on PostgreSQL",
    "kafka":      "topics of Kafka without a jar",
    "avro":       "messages and files of Avro",
    "protobuf":   "messages of Protocol Buffers",
    "iceberg":    "tables of Apache Iceberg",
    "delta":      "tables of Delta Lake",
    "cli":        "the command `schema-core`",
    "all":        "all of the above",
    "demo":       "the data of the flights, which the demo and the documentation read",
    "testing":    "for implementors: contracts of catalogs and connectors, hypothesis strategies",
    "docs":       "MkDocs, for `make docs`",
}  # fmt: skip


class Component(NamedTuple):
    """A part of the installation: its name, its version or state, and where it is or why not.

    `problem` is why it cannot be used, with what to do; None if it can.
    """

    name: str
    state: str
    place: str
    problem: str | None = None


def java() -> tuple[str, str]:
    """Return version and location of Spark's Java, or `NO_JAVA` and the reason."""
    try:
        java = find_java()
    except SchemaCoreError as error:
        return NO_JAVA, f"{error.problem}; {error.hint or ''}"
    return str(java.version), f"{java.home} ({java.source})"


def extras() -> Iterator[Component]:
    """Yield the extras, with the versions of their packages."""
    for extra, modules in EXTRAS.items():
        versions = ", ".join(
            f"{package} {installed_version(package) or '-'}" for package in modules.values()
        )
        error = next(filter(None, map(missing, modules)), None)
        problem = f"{error.problem}; {install_command(extra)}" if error else None
        yield Component(f"extra {extra}", versions, problem or "", problem)


def implementations() -> Iterator[Component]:
    """Yield the catalogs, connectors, formats and other implementations of all packages."""
    for group in (CATALOGS, CONNECTORS, FORMATS, PLANNERS, FUNCTIONS, HOOKS):
        for plugin in discover(group):
            problem = why_not_usable(plugin)
            unusable = "not loaded" if plugin.problem else "not usable"
            state = "ready" if problem is None else unusable
            source = BUILT_IN if plugin.is_built_in else f"{plugin.target} ({plugin.package})"
            notes = [part for part in (source, problem or serves(plugin)) if part]
            name = f"{GROUPS[group]} {plugin.identifier}"
            yield Component(name, state, "; ".join(notes), problem)


def components() -> Iterator[Component]:
    """Yield all parts of the installation."""
    yield Component("schema_core", installed_version("schema-core") or "not installed", "")
    yield Component("Python", platform.python_version(), platform.platform())
    yield from extras()
    yield Component("Java", *java())
    yield Component("Hive", *hive_support())
    yield from implementations()


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

    Its attribute `requires` names modules that it imports lazily, `data_source` a data source of
    Spark, and `client_module` the module that replaces that.
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
    client: str | None = getattr(plugin.loaded, "client_module", None)
    if source is None or has_package(source) or (client is not None and not missing(client)):
        return None
    install = f"{install_hint(client)}, or " if client is not None else ""
    return (
        f"neither the jars nor the settings of Spark have the package for {source}; "
        f"{install}start Spark with 'spark.jars.packages' = '{package_of(source)}'"
    )


# --- the summary ----------------------------------------------------------------------------------

#: How to print all components.
DETAILS = "schema-core doctor --details"


def summary() -> str:
    """Return what works and what does not, with what to do."""
    version = installed_version("schema-core") or "not installed"
    java_version, java_place = java()
    works = ["  types, schemas, SQL, property maps, migrations, catalogs in memory"]
    lacks = []
    for component in extras():
        name = component.name.removeprefix("extra ")
        line = f"  {name}: {PURPOSES[name].replace('`', '')}"
        if component.problem is None:
            works.append(line)
        else:
            lacks += [line, f"    {component.problem}"]
    if java_version == NO_JAVA:
        lacks += ["  Java: jobs on Spark", f"    {java_place}"]
    lacks += _unusable(java_place)
    lines = [
        f"schema-core {version}, Python {platform.python_version()} ({sys.executable})",
        *([f"Java {java_version}, {java_place}"] if java_version != NO_JAVA else []),
        "",
        "works:",
        *works,
        "",
        *(["does not work:", *lacks, ""] if lacks else []),
        f"{DETAILS} lists versions, implementations and caches.",
    ]
    return "\n".join(lines)


def _unusable(java_problem: str) -> Iterator[str]:
    """Yield the implementations that an extra or Java would not make usable."""
    installs = {install_command(extra) for extra in EXTRAS}
    for component in implementations():
        problem = component.problem
        if problem is None or problem == java_problem:
            continue
        if not any(problem.endswith(command) for command in installs):
            yield f"  {component.name}"
            yield f"    {problem}"
