"""Views of Iceberg's catalogs, which a SQL database has as Iceberg's JDBC catalog stores them.

The metadata of a view is a JSON file ("View Metadata" in the Iceberg view specification), to which
the row of the view in ``iceberg_tables`` refers. pyiceberg reads and writes rows of tables only.
"""

from __future__ import annotations

import time
import uuid
from typing import Any, Protocol

from pyiceberg.catalog.sql import IcebergTables, SqlCatalog
from pyiceberg.exceptions import NoSuchViewError
from pyiceberg.io import load_file_io
from pyiceberg.schema import Schema
from pyiceberg.view import View
from pyiceberg.view.metadata import (
    SQLViewRepresentation,
    ViewHistoryEntry,
    ViewMetadata,
    ViewRepresentation,
    ViewVersion,
)
from sqlalchemy import delete, insert, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from schema_core.base.lazy import dataclass
from schema_core.errors import UnsupportedError

#: The type of the rows of views.
VIEW = "VIEW"
#: The longest metadata file of a view, in bytes.
MAX_METADATA = 64_000_000

#: The names of a namespace.
Namespace = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ViewDefinition:
    """A view to store.

    Attributes:
        schema: The columns.
        query: The query, in Flink's SQL.
        properties: The properties.
        location: The directory of its metadata.
    """

    schema: Schema
    query: str
    properties: dict[str, str]
    location: str


class Views(Protocol):
    """The views of a catalog; methods return False for a name that is taken, or changed since."""

    def names(self, namespace: Namespace) -> list[str]: ...
    def get(self, namespace: Namespace, name: str) -> View | None: ...
    def create(self, namespace: Namespace, name: str, view: ViewDefinition) -> bool: ...
    def replace(self, namespace: Namespace, name: str, old: View, new: ViewDefinition) -> bool: ...
    def rename(self, namespace: Namespace, name: str, new_name: str) -> bool: ...
    def drop(self, namespace: Namespace, name: str) -> bool: ...


def new_version(view: ViewDefinition, namespace: Namespace, number: int) -> ViewVersion:
    """Return the version of a view with a number."""
    representation = SQLViewRepresentation(type="sql", sql=view.query, dialect="flink")
    return ViewVersion(
        version_id=number,
        schema_id=view.schema.schema_id,
        timestamp_ms=int(time.time() * 1000),
        summary={"engine-name": "schema-core"},
        representations=[ViewRepresentation(root=representation)],
        default_namespace=namespace,
    )


class SqlViews:
    """The views of a catalog in a SQL database."""

    def __init__(self, catalog: SqlCatalog) -> None:
        self._catalog = catalog

    def _condition(self, namespace: Namespace, *name: str) -> tuple[Any, ...]:
        row = IcebergTables
        return (
            row.catalog_name == self._catalog.name,
            row.table_namespace == ".".join(namespace),
            row.iceberg_type == VIEW,
            *(row.table_name == value for value in name),
        )

    def names(self, namespace: Namespace) -> list[str]:
        query = select(IcebergTables.table_name).where(*self._condition(namespace))
        with Session(self._catalog.engine) as session:
            return list(session.scalars(query))

    def get(self, namespace: Namespace, name: str) -> View | None:
        condition = self._condition(namespace, name)
        query = select(IcebergTables.metadata_location).where(*condition)
        with Session(self._catalog.engine) as session:
            location = session.scalars(query).first()
        return None if location is None else self._read((*namespace, name), location)

    def _read(self, identifier: Namespace, location: str) -> View:
        file = load_file_io(self._catalog.properties, location).new_input(location)
        if len(file) > MAX_METADATA:
            raise NoSuchViewError(f"the metadata of the view at {location} is too long")
        with file.open() as stream:
            view = StoredView(identifier, ViewMetadata.model_validate_json(stream.read()))
        view.metadata_location = location
        return view

    def create(self, namespace: Namespace, name: str, view: ViewDefinition) -> bool:
        first = new_version(view, namespace, 1)
        metadata = ViewMetadata(
            view_uuid=str(uuid.uuid4()),
            format_version=1,
            location=view.location,
            schemas=[view.schema],
            current_version_id=1,
            versions=[first],
            version_log=[ViewHistoryEntry(timestamp_ms=first.timestamp_ms, version_id=1)],
            properties=view.properties,
        )
        row = {
            "catalog_name": self._catalog.name,
            "table_namespace": ".".join(namespace),
            "table_name": name,
            "metadata_location": self._write(metadata, 0),
            "previous_metadata_location": None,
            "iceberg_type": VIEW,
        }
        with Session(self._catalog.engine) as session:
            try:
                session.execute(insert(IcebergTables).values(**row))
                session.commit()
            except IntegrityError:
                return False
        return True

    def _write(self, metadata: ViewMetadata, number: int) -> str:
        location = f"{metadata.location}/metadata/{number:05}-{uuid.uuid4()}.metadata.json"
        file = load_file_io(self._catalog.properties, location).new_output(location)
        with file.create() as stream:
            stream.write(metadata.model_dump_json(by_alias=True).encode())
        return location

    def replace(self, namespace: Namespace, name: str, old: View, new: ViewDefinition) -> bool:
        stored = old.metadata
        number = 1 + max(version.version_id for version in stored.versions)
        schema_id = 1 + max(schema.schema_id for schema in stored.schemas)
        schema = new.schema.model_copy(update={"schema_id": schema_id})
        version = new_version(new, namespace, number).model_copy(update={"schema_id": schema_id})
        entry = ViewHistoryEntry(timestamp_ms=version.timestamp_ms, version_id=number)
        changes = {
            "schemas": [*stored.schemas, schema],
            "versions": [*stored.versions, version],
            "version_log": [*stored.version_log, entry],
            "current_version_id": number,
            "properties": new.properties,
        }
        location = getattr(old, "metadata_location", None)
        values = {
            "metadata_location": self._write(stored.model_copy(update=changes), number),
            "previous_metadata_location": location,
        }
        condition = (
            *self._condition(namespace, name), IcebergTables.metadata_location == location,
        )  # fmt: skip
        return self._execute(update(IcebergTables).where(*condition).values(**values))

    def rename(self, namespace: Namespace, name: str, new_name: str) -> bool:
        condition = self._condition(namespace, name)
        try:
            return self._execute(
                update(IcebergTables).where(*condition).values(table_name=new_name)
            )
        except IntegrityError:
            return False

    def drop(self, namespace: Namespace, name: str) -> bool:
        return self._execute(delete(IcebergTables).where(*self._condition(namespace, name)))

    def _execute(self, statement: Any) -> bool:
        """Execute a statement; return whether it changed a row."""
        with Session(self._catalog.engine) as session:
            result: Any = session.execute(statement)
            session.commit()
        return bool(result.rowcount)


class StoredView(View):  # type: ignore[misc] # pyiceberg is not analysed
    """A view with the place of its metadata, by which a change by another writer is detected."""

    metadata_location: str | None = None


class NoViews:
    """A catalog whose views pyiceberg does not support."""

    def names(self, namespace: Namespace) -> list[str]:
        return []

    def get(self, namespace: Namespace, name: str) -> View | None:
        return None

    def create(self, namespace: Namespace, name: str, view: ViewDefinition) -> bool:
        raise _unsupported("create")

    def replace(self, namespace: Namespace, name: str, old: View, new: ViewDefinition) -> bool:
        raise _unsupported("replace")

    def rename(self, namespace: Namespace, name: str, new_name: str) -> bool:
        return False

    def drop(self, namespace: Namespace, name: str) -> bool:
        return False


def _unsupported(action: str) -> UnsupportedError:
    return UnsupportedError(
        f"pyiceberg does not {action} views of this type of catalog",
        code="unsupported-capability",
        hint="drop and create the view, or use 'catalog-type' = 'sql'",
    )
