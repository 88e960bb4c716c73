"""Iceberg's catalogs through pyiceberg: their options, and errors as those of this library."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from pyiceberg.catalog import Catalog, load_catalog
from pyiceberg.exceptions import (
    CommitFailedException,
    NoSuchNamespaceError,
    NoSuchTableError,
    NoSuchViewError,
    ValidationException,
)
from pyiceberg.table import Table

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
from schema_core.errors import (
    ConflictError,
    ExternalError,
    NotFoundError,
    SchemaCoreError,
    SchemaError,
)

#: The file with the tables of an embedded catalog, in its warehouse.
EMBEDDED = "iceberg-catalog.db"
#: The longest part of an error of pyiceberg in a message.
MAX_MESSAGE = 500


def catalog_properties(options: Mapping[str, str]) -> dict[str, str]:
    """Return the properties of pyiceberg for the options of a catalog or table.

    Raises:
        SchemaError: with code `missing-option` for an embedded catalog without a warehouse.
    """
    kind = CATALOG_TYPE.of(options) or "sql"
    properties = {"type": kind}
    for option, key in ((URI, "uri"), (WAREHOUSE, "warehouse"), (CREDENTIAL, "credential"),
                        (TOKEN, "token")):  # fmt: skip
        if (value := option.of(options)) is not None:
            properties[key] = value
    prefix = f"{PROPERTY.key}."
    for key, value in options.items():
        if key.startswith(prefix):
            properties[key.removeprefix(prefix)] = value
    if kind != "sql":
        return properties
    if "warehouse" not in properties:
        raise SchemaError(
            "a catalog of Iceberg in a SQL database requires the option 'warehouse'",
            code="missing-option",
            hint="set it to the directory of the tables: 'warehouse' = '/data/lake'",
        )
    properties["warehouse"] = properties["warehouse"].rstrip("/") or "/"
    if "uri" not in properties:
        directory = properties["warehouse"].removeprefix("file://")
        properties["uri"] = f"sqlite:///{directory}/{EMBEDDED}"
    if properties["uri"].startswith("sqlite:") and "?" not in properties["uri"]:
        properties["uri"] += "?timeout=60"
    return properties


def open_catalog(name: str, options: Mapping[str, str]) -> Catalog:
    """Return the catalog that options describe; errors as `iceberg_errors`."""
    properties = catalog_properties(options)
    with iceberg_errors():
        _create_directory(properties)
        return load_catalog(CATALOG_NAME.of(options) or name, **properties)


def _create_directory(properties: Mapping[str, str]) -> None:
    """Create the directory of the database of an embedded catalog."""
    path = properties.get("uri", "").removeprefix("sqlite:///").partition("?")[0]
    if path.endswith(f"/{EMBEDDED}"):
        Path(path).parent.mkdir(parents=True, exist_ok=True)


def open_table(options: Mapping[str, str]) -> Table:
    """Return the table that the options of a table describe.

    Raises:
        NotFoundError: with code `table-not-found`.
        ExternalError: as `iceberg_errors`.
    """
    catalog = open_catalog(ICEBERG, options)
    database, name = CATALOG_DATABASE.of(options) or "", CATALOG_TABLE.of(options) or ""
    with iceberg_errors():
        return catalog.load_table((*database.split("."), name))


@contextmanager
def iceberg_errors() -> Iterator[None]:
    """Convert the errors of pyiceberg, databases and file systems.

    Raises:
        NotFoundError: with code `table-not-found` or `database-not-found`.
        ConflictError: with code `concurrent-modification`, if another writer was faster.
        ExternalError: with code `iceberg-failed`.
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
            hint="run the statement again",
        ) from error
    except SchemaCoreError:
        raise
    except Exception as error:
        if not isinstance(error, FOREIGN) and _package(error) not in PACKAGES:
            raise
        raise ExternalError(
            f"Iceberg: {_message(error)}",
            code="iceberg-failed",
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
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return shorten(mask_credentials(lines[0]), MAX_MESSAGE)
