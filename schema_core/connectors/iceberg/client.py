"""Iceberg's catalogs through pyiceberg: their options, and errors as those of this library."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from types import MappingProxyType
from typing import Any

from pyiceberg.catalog import Catalog, load_catalog
from pyiceberg.exceptions import (
    CommitFailedException,
    NoSuchNamespaceError,
    NoSuchTableError,
    NoSuchViewError,
    ValidationException,
)
from pyiceberg.io import FileIO
from pyiceberg.table import Table

from schema_core.base.caching import GenerationalCache
from schema_core.base.lazy import regex
from schema_core.base.plugins import require_modules
from schema_core.base.secrets import mask_credentials
from schema_core.base.text import shorten
from schema_core.connectors.iceberg.options import (
    CATALOG_DATABASE,
    CATALOG_NAME,
    CATALOG_TABLE,
    CATALOG_TYPE,
    CREDENTIAL,
    ICEBERG,
    PROPERTY,
    TOKEN,
    URI,
    WAREHOUSE,
)
from schema_core.connectors.open_tables.locations import resolve_location
from schema_core.errors import (
    ConflictError,
    ExternalError,
    NotFoundError,
    SchemaCoreError,
    SchemaError,
    UnsupportedError,
)
from schema_core.errors.hints import RUN_AGAIN

#: The file with the tables of an embedded catalog, in its warehouse.
EMBEDDED = "iceberg-catalog.db"
#: Property of pyiceberg -> the option that sets it.
OWN = {"type": CATALOG_TYPE, "uri": URI, "warehouse": WAREHOUSE, "credential": CREDENTIAL,
       "token": TOKEN}  # fmt: skip
#: Kind of catalog -> the modules of its client, which pyiceberg installs by an extra.
CLIENTS = {"hive": ("thrift",), "glue": ("boto3",)}
#: Properties of pyiceberg that are not strings.
MAPPINGS = frozenset({"auth", "ssl"})
#: The versions of the format that pyiceberg writes.
VERSIONS = ("1", "2")
#: A property of pyiceberg with the name of a class: ``py-io-impl``, ``s3.retry-strategy-impl``.
CLASS = regex(r"(?:^|[.-])impl$", re.IGNORECASE)
#: Kinds of catalogs whose client holds one connection, which threads cannot share.
UNSHARED = frozenset({"hive"})
#: Name, properties and embedded database -> the catalog, for the tables of queries.
CATALOGS: GenerationalCache[Catalog] = GenerationalCache(f"{__name__}.open_table", 16, "catalogs")
#: The longest part of an error of pyiceberg in a message.
MAX_MESSAGE = 500


def catalog_properties(options: Mapping[str, str]) -> dict[str, str]:
    """Return the properties of pyiceberg for the options of a catalog or table.

    Raises:
        SchemaError: with code `missing-option` for a catalog in a SQL database without a warehouse,
            or without the URI of the database of a remote warehouse; with code
            `invalid-option-value` for a warehouse in a home directory.
        UnsupportedError: with code `option-not-supported`.
        NotFoundError: with code `missing-dependency` without the client of a metastore.
    """
    given = {key: option.of(options) for key, option in OWN.items()}
    properties = {key: value for key, value in given.items() if value is not None}
    require_modules(*CLIENTS.get(properties["type"], ()))
    for name, value in PROPERTY.entries(options).items():
        require_property(name)
        properties[name] = value
    if properties["type"] != "sql":
        return properties
    if "warehouse" not in properties:
        raise SchemaError(
            "a catalog of Iceberg in a SQL database requires the option 'warehouse'",
            code="missing-option",
            hint="set it to the directory of the tables: 'warehouse' = '/data/lake'",
        )
    properties["warehouse"], directory = resolve_location(properties["warehouse"], WAREHOUSE.key)
    if "uri" not in properties:
        properties["uri"] = _embedded_uri(properties["warehouse"], directory)
    if properties["uri"].startswith("sqlite:") and "?" not in properties["uri"]:
        properties["uri"] += "?timeout=60"
    return properties


def _embedded_uri(warehouse: str, directory: Path | None) -> str:
    if directory is None:
        raise SchemaError(
            f"the remote warehouse {warehouse!r} requires the option 'uri'",
            code="missing-option",
            hint="set it to the URL of a database, such as 'postgresql+psycopg2://host/database'",
        )
    from sqlalchemy import URL  # only SQL databases need it

    database = URL.create("sqlite", database=str(directory / EMBEDDED), query={"timeout": "60"})
    return database.render_as_string(hide_password=False)


def require_property(name: str) -> None:
    """Require a property of pyiceberg that names no class and is not an option of this library.

    Raises:
        UnsupportedError: with code `option-not-supported`.
    """
    if name in OWN:
        problem, hint = "is an option", f"set the option {OWN[name].key!r}"
    elif name in MAPPINGS:
        problem, hint = "is a mapping, not a string", "set 'credential' or 'token'"
    else:
        require_no_class((name,))
        return
    raise UnsupportedError(
        f"the property {name!r} {problem}", code="option-not-supported", hint=hint
    )


def require_no_class(names: Iterable[str]) -> None:
    """Refuse properties with the names of classes, which pyiceberg would import and call.

    Raises:
        UnsupportedError: with code `option-not-supported`.
    """
    for name in names:
        if CLASS.search(name):
            raise UnsupportedError(
                f"the property {name!r} names a class, which pyiceberg would import and call",
                code="option-not-supported",
                hint="omit it",
            )


def require_version(version: str | int) -> None:
    """Require a version of the format that pyiceberg writes.

    Tasks have the metadata as pyiceberg writes it, so rows of others that only tasks read, such as
    those of files with deletion vectors or of columns with default values, are not read either.

    Raises:
        UnsupportedError: with code `version-not-supported`.
    """
    if str(version) not in VERSIONS:
        raise UnsupportedError(
            f"version {version} of the format is not supported, except for definitions",
            code="version-not-supported",
            hint="set 'format-version' = '2' for a new table, or use another engine",
        )


def open_catalog(name: str, options: Mapping[str, str]) -> Catalog:
    """Return the catalog that options describe; errors as `iceberg_errors`.

    The properties of its tables may come from anyone: a table whose properties name a class is not
    loaded (`option-not-supported`).
    """
    properties = catalog_properties(options)
    with iceberg_errors():
        if properties["type"] == "sql" and URI.of(options) is None:
            _, directory = resolve_location(properties["warehouse"], WAREHOUSE.key)
            if directory is not None:
                directory.mkdir(parents=True, exist_ok=True)
        catalog = load_catalog(CATALOG_NAME.of(options) or name, **properties)
    load_file_io = catalog._load_file_io  # noqa: SLF001 - tables are loaded with it

    def load_without_classes(
        properties: Mapping[str, str] = MappingProxyType({}), location: str | None = None
    ) -> FileIO:
        require_no_class((*catalog.properties, *properties))
        return load_file_io(dict(properties), location)

    catalog._load_file_io = load_without_classes  # noqa: SLF001
    return catalog


def open_table(options: Mapping[str, str]) -> Table:
    """Return the table that the options of a table describe, as its catalog has it now.

    The catalog is opened once in a process: a server of the REST protocol is asked for its
    configuration and a token, a database for its tables.

    Raises:
        NotFoundError: with code `table-not-found`.
        ExternalError: as `iceberg_errors`.
    """
    name, properties = CATALOG_NAME.of(options) or ICEBERG, catalog_properties(options)
    if (catalog := CATALOGS.get(_catalog_key(name, properties))) is None:
        catalog = open_catalog(name, options)
        if properties["type"] not in UNSHARED:
            CATALOGS.add(_catalog_key(name, properties), catalog, 1)
    database, name = CATALOG_DATABASE.of(options) or "", CATALOG_TABLE.of(options) or ""
    with iceberg_errors():
        return load_table(catalog, (*database.split("."), name))


def _catalog_key(name: str, properties: Mapping[str, str]) -> tuple[Any, ...]:
    """Return what identifies a catalog; a database that replaces another file is another one."""
    file = None
    if properties["type"] == "sql" and properties["uri"].startswith("sqlite"):
        from sqlalchemy import make_url  # only SQL databases need it

        with suppress(OSError):
            status = Path(make_url(properties["uri"]).database or ":memory:").stat()
            file = (status.st_dev, status.st_ino)
    return (name, *sorted(properties.items()), file)


def load_table(catalog: Catalog, identifier: tuple[str, ...]) -> Table:
    """Return a table of a catalog; `NoSuchTableError` also if it is dropped meanwhile.

    Its metadata, which the catalog has named, may be deleted before they are read.
    """
    try:
        return catalog.load_table(identifier)
    except FileNotFoundError:
        return catalog.load_table(identifier)


@contextmanager
def iceberg_errors() -> Iterator[None]:
    """Convert the errors of pyiceberg, databases and file systems.

    Raises:
        NotFoundError: with code `table-not-found` or `database-not-found`.
        ConflictError: with code `concurrent-modification`, if another writer was faster.
        ExternalError: with code `external-failure`.
    """
    try:
        yield
    except (NoSuchTableError, NoSuchViewError) as error:
        raise NotFoundError(_message(error), code="table-not-found") from error
    except NoSuchNamespaceError as error:
        raise NotFoundError(_message(error), code="database-not-found") from error
    except (CommitFailedException, ValidationException) as error:
        raise ConflictError(
            f"another writer has changed the table: {_message(error)}",
            hint=RUN_AGAIN,
        ) from error
    except SchemaCoreError:
        raise
    except Exception as error:
        if not isinstance(error, FOREIGN) and _package(error) not in PACKAGES:
            raise
        raise ExternalError(
            f"Iceberg: {_message(error)}",
            code="external-failure",
            hint="check the options of the catalog, and whether its services are running",
        ) from error


#: The errors of file systems, and those of pyiceberg that are Python's own.
FOREIGN = (OSError, RuntimeError, ValueError)
#: The packages that pyiceberg calls.
PACKAGES = frozenset({
    "pyiceberg", "sqlalchemy", "pyarrow", "pydantic", "pydantic_core", "requests", "botocore",
    "thrift",
})  # fmt: skip


def _package(error: Exception) -> str:
    return type(error).__module__.partition(".")[0]


def _message(error: BaseException) -> str:
    text = " ".join(str(error).split()) or type(error).__name__
    return shorten(mask_credentials(text), MAX_MESSAGE)
