"""What pyiceberg lacks of the REST catalogs of Iceberg, by the protocol of Iceberg's REST API."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

from pyiceberg.catalog import Catalog
from pyiceberg.catalog.rest import RestCatalog
from pyiceberg.exceptions import NoSuchNamespaceError, NoSuchViewError, RESTError
from pyiceberg.schema import Schema
from pyiceberg.table.update import (
    AddSchemaUpdate,
    AssertCurrentSchemaId,
    AssertDefaultSortOrderId,
    AssertDefaultSpecId,
    AssertLastAssignedFieldId,
    AssertTableUUID,
    TableRequirement,
    TableUpdate,
)
from pyiceberg.types import LongType, NestedField
from pyiceberg.view import View
from pyiceberg.view.metadata import ViewVersion

from schema_core.catalogs.iceberg.views import Namespace, ViewDefinition, new_version
from schema_core.mappings.iceberg.schemas import same_fields

if TYPE_CHECKING:
    from pyiceberg.table.metadata import TableMetadata

#: The number of the schema or version that the same request adds.
LAST_ADDED: Final = -1


def list_namespaces(catalog: Catalog, parent: Namespace) -> list[Namespace]:
    """Return the namespaces of a catalog of any type, or those in another namespace.

    pyiceberg encodes a parent twice.
    """
    if not isinstance(catalog, RestCatalog) or all(quote(name, safe="") == name for name in parent):
        return [*catalog.list_namespaces(parent)]
    names: list[Namespace] = []
    parameters = {"parent": catalog._namespace_separator.join(parent)}  # noqa: SLF001
    while True:
        response = catalog._session.get(catalog.url("namespaces"), params=parameters)  # noqa: SLF001
        if response.status_code == HTTPStatus.NOT_FOUND:
            raise NoSuchNamespaceError(f"no namespace {'.'.join(parent)!r}")
        _raise_for_status(response)
        names += [tuple(namespace) for namespace in response.json()["namespaces"]]
        token = response.json().get("next-page-token")
        if not token:
            return names
        parameters["pageToken"] = token


def _raise_for_status(response: Any) -> None:
    """Raise the error of a response, with the message of the server."""
    if not response.ok:
        with suppress(ValueError, TypeError, KeyError):
            raise RESTError(response.json()["error"]["message"])
        response.raise_for_status()


def requirements(metadata: TableMetadata) -> tuple[TableRequirement, ...]:
    """Return requirements that the definition of a table is as it was read."""
    return (
        AssertTableUUID(uuid=metadata.table_uuid),
        AssertCurrentSchemaId(current_schema_id=metadata.current_schema_id),
        AssertDefaultSpecId(default_spec_id=metadata.default_spec_id),
        AssertDefaultSortOrderId(default_sort_order_id=metadata.default_sort_order_id),
        AssertLastAssignedFieldId(last_assigned_field_id=metadata.last_column_id),
    )


def claim_field_id(metadata: TableMetadata, schema: Schema) -> Iterator[TableUpdate]:
    """Yield an update that the requirements of other writers detect, if the schema stays.

    No requirement compares properties, but one compares the last id of a field: a schema that is
    not used takes the next id.
    """
    if same_fields(schema, metadata.schema()):
        unused = NestedField(1 + metadata.last_column_id, "definition", LongType(), required=False)
        number = 1 + max(item.schema_id for item in metadata.schemas)
        yield AddSchemaUpdate(schema=Schema(unused, schema_id=number))


class RestViews:
    """The views of a REST catalog.

    A request compares only the id of a view, so a change by another writer is detected until it
    is read for the last time, just before the commit.
    """

    def __init__(self, catalog: RestCatalog) -> None:
        self._catalog = catalog

    def names(self, namespace: Namespace) -> list[str]:
        return [identifier[-1] for identifier in self._catalog.list_views(namespace)]

    def get(self, namespace: Namespace, name: str) -> View | None:
        try:
            return self._catalog.load_view((*namespace, name))
        except NoSuchViewError:
            return None

    def create(self, namespace: Namespace, name: str, view: ViewDefinition) -> bool:
        body = {
            "name": name,
            "schema": _json(view.schema),
            "view-version": _json(new_version(view, namespace, 1)),
            "properties": view.properties,
        }
        return self._post(self._path(namespace), body)

    def replace(self, namespace: Namespace, name: str, old: View, new: ViewDefinition) -> bool:
        stored = old.metadata
        last = self.get(namespace, name)
        if last is None or last.metadata != stored:
            return False
        version = new_version(new, namespace, 1 + max(item.version_id for item in stored.versions))
        updates: list[dict[str, Any]] = []
        schema_id = next(
            (item.schema_id for item in stored.schemas if same_fields(item, new.schema)), None
        )
        if schema_id is None:
            number = 1 + max(item.schema_id for item in stored.schemas)
            columns = new.schema.model_copy(update={"schema_id": number})
            updates.append({"action": "add-schema", "schema": _json(columns)})
            schema_id = LAST_ADDED
        version = version.model_copy(update={"schema_id": schema_id})
        current = next((v.version_id for v in stored.versions if _same_version(v, version)), None)
        if current is None:
            updates.append({"action": "add-view-version", "view-version": _json(version)})
            current = LAST_ADDED
        updates += [
            {"action": "set-current-view-version", "view-version-id": current},
            {"action": "set-properties", "updates": new.properties},
        ]
        if removed := sorted({*stored.properties} - {*new.properties}):
            updates.append({"action": "remove-properties", "removals": removed})
        body = {
            "identifier": _identifier(namespace, name),
            "requirements": [{"type": "assert-view-uuid", "uuid": str(stored.view_uuid)}],
            "updates": updates,
        }
        return self._post(f"{self._path(namespace)}/{quote(name, safe='')}", body)

    def rename(self, namespace: Namespace, name: str, new_name: str) -> bool:
        return self._post(
            "views/rename",
            {
                "source": _identifier(namespace, name),
                "destination": _identifier(namespace, new_name),
            },
        )

    def drop(self, namespace: Namespace, name: str) -> bool:
        try:
            self._catalog.drop_view((*namespace, name))
        except NoSuchViewError:
            return False
        return True

    def _path(self, namespace: Namespace) -> str:
        return f"namespaces/{self._catalog._encode_namespace_path(namespace)}/views"  # noqa: SLF001

    def _post(self, path: str, body: Mapping[str, Any]) -> bool:
        """Send a request; return False if an object is missing, taken or has changed."""
        session = self._catalog._session  # noqa: SLF001 - with the authentication of the catalog
        response = session.post(self._catalog.url(path), json=body)
        if response.status_code in (HTTPStatus.NOT_FOUND, HTTPStatus.CONFLICT):
            return False
        _raise_for_status(response)
        return True


def _json(model: Any) -> Any:
    return model.model_dump(mode="json", by_alias=True, exclude_none=True)


def _same_version(first: ViewVersion, second: ViewVersion) -> bool:
    """Return whether two versions differ in their ids and times only."""
    changed = {"version_id": first.version_id, "timestamp_ms": first.timestamp_ms}
    return bool(first == second.model_copy(update=changed))


def _identifier(namespace: Namespace, name: str) -> dict[str, Any]:
    return {"namespace": list(namespace), "name": name}
