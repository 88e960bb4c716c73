"""Changes of a catalog as JSON, with a version and a digest; read strictly, up to a limit.

Law: ``catalog_changes_from_json(catalog_changes_to_json(changes)) == changes`` for changes whose
objects are unresolved and in normal form. Others become so.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields
from enum import Enum
from typing import Any, Final, TypeVar

from schema_core.base.arguments import require_instance, require_sequence, type_name
from schema_core.base.paths import ObjectPath
from schema_core.base.text import show
from schema_core.catalog.changes.table_changes import NAMES
from schema_core.catalog.objects import (
    CatalogBaseTable,
    CatalogDatabase,
    CatalogMaterializedTable,
    CatalogTable,
    CatalogView,
    Freshness,
    FreshnessUnit,
    LogicalRefreshMode,
    RefreshMode,
    RefreshStatus,
    StartMode,
    TableKind,
)
from schema_core.errors import SchemaCoreError, at
from schema_core.migration.catalog_changes import (
    AddDatabase,
    AddObject,
    CatalogChange,
    ModifyDatabase,
    ModifyObject,
    ModifyTable,
    RemoveDatabase,
    RemoveObject,
    RenameObject,
    normal_object,
)
from schema_core.migration.json_format import (
    CODECS,
    FieldCodec,
    invalid_changes,
    list_of,
    member,
    read_change,
    record,
    string,
    without_duplicates,
    write_change,
)
from schema_core.schema.unresolved import Schema

FORMAT: Final = "schema-core.catalog-changes"
VERSION: Final = 1
#: The longest document that is written and read, in characters.
MAX_DOCUMENT: Final = 16_000_000

T = TypeVar("T", bound=Enum)


def catalog_changes_to_json(changes: Iterable[CatalogChange]) -> str:
    """Return changes of a catalog as a JSON document with a digest.

    The values of options are written as they are, those of secrets as well.

    Raises:
        UnsupportedError: with code `type-not-serializable` or `inline-function` for a type or
            expression that has no text.
        SchemaError: with code `invalid-changes` for a document that would be refused as too long,
            `wrong-argument` for anything but changes of a catalog.
    """
    written = []
    for position, change in enumerate(require_sequence(changes, "the changes"), 1):
        require_instance(change, CatalogChange, "a change")
        with at(f"change {position}, {type(change).__name__}"):
            written.append(_write(change))
    content = {"format": FORMAT, "version": VERSION, "changes": written}
    text = json.dumps({**content, "digest": _digest(content)}, indent=2)
    _require_size(text)
    return text


def catalog_changes_from_json(text: str) -> tuple[CatalogChange, ...]:
    """Return the changes of a document that `catalog_changes_to_json` has written.

    Raises:
        SchemaError: with code `invalid-changes` for any other document, also for one that was
            changed; `wrong-argument` for anything but a string.

    >>> path = ObjectPath("shop", "orders")
    >>> print(*catalog_changes_from_json(catalog_changes_to_json([RenameObject(path, "sales")])))
    RenameObject{path=`shop`.`orders`, newName=`sales`}
    """
    _require_size(require_instance(text, str, "the document"))
    try:
        document = json.loads(text, object_pairs_hook=without_duplicates)
    except (ValueError, RecursionError):
        raise invalid_changes("the document is not JSON") from None
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise invalid_changes("the document does not contain changes of a catalog")
    if type(document.get("version")) is not int or document["version"] != VERSION:
        raise invalid_changes(f"expected version {VERSION}, found {show(document.get('version'))}")
    content = record(document, "format", "version", "changes", "digest")
    digest = content.pop("digest")
    if digest != _digest(content):
        raise invalid_changes("digest mismatch: the document was modified")
    found = []
    for position, one in enumerate(list_of(content["changes"]), 1):
        with at(f"change {position}"):
            found.append(_read(one))
    return tuple(found)


def _require_size(text: str) -> None:
    if len(text) > MAX_DOCUMENT:
        raise invalid_changes(
            f"the document has {len(text):,} characters, at most {MAX_DOCUMENT:,} are read"
        )


def _digest(content: Mapping[str, Any]) -> str:
    """Return the SHA-256 of a document as canonical JSON."""
    text = json.dumps(content, sort_keys=True, separators=(",", ":"))
    return f"sha256:{hashlib.sha256(text.encode('ascii')).hexdigest()}"


def _write(change: CatalogChange) -> dict[str, Any]:
    return {"change": type(change).__name__, **_write_members(change)}


def _read(document: Any) -> CatalogChange:
    kind = KINDS.get(str(member(document, "change")))
    if kind is None:
        raise invalid_changes(f"unknown change of a catalog {show(document['change'])}")
    members = {key: value for key, value in document.items() if key != "change"}
    found: CatalogChange = _read_members(kind, members)
    return found


#: name of a change -> its class
KINDS: Mapping[str, type[CatalogChange]] = {
    kind.__name__: kind
    for kind in (
        AddDatabase, ModifyDatabase, RemoveDatabase, AddObject, RenameObject, ModifyTable,
        ModifyObject, RemoveObject,
    )
}  # fmt: skip


# --- values --------------------------------------------------------------------------------------


def _write_members(value: Any) -> dict[str, Any]:
    return {
        field.name: MEMBERS[str(field.type)].encode(getattr(value, field.name))
        for field in fields(value)
    }


def _read_members(kind: Callable[..., Any], document: Any) -> Any:
    """Return an object of a class whose members are those of a JSON object.

    Raises:
        SchemaError: with code `invalid-changes`.
    """
    members = fields(kind)  # type: ignore[arg-type]
    found = record(document, *(one.name for one in members))
    try:
        return kind(**{one.name: MEMBERS[str(one.type)].decode(found[one.name]) for one in members})
    except SchemaCoreError as error:
        raise invalid_changes(error.problem) from None


def _members(kind: type[Any]) -> FieldCodec:
    return FieldCodec(_write_members, lambda document: _read_members(kind, document))


def _optional(codec: FieldCodec) -> FieldCodec:
    return FieldCodec(
        lambda value: None if value is None else codec.encode(value),
        lambda document: None if document is None else codec.decode(document),
    )


def _sequence(codec: FieldCodec) -> FieldCodec:
    return FieldCodec(
        lambda values: [codec.encode(value) for value in values],
        lambda document: tuple(codec.decode(one) for one in list_of(document)),
    )


def _enumerated(kind: type[T]) -> FieldCodec:
    def decode(document: Any) -> T:
        if string(document) not in kind.__members__:
            raise invalid_changes(f"unknown {kind.__name__} {show(document)}")
        return kind[document]

    return FieldCodec(lambda value: value.name, decode)


def _strings(document: Any) -> dict[str, str]:
    if not isinstance(document, dict):
        raise invalid_changes(f"expected an object, got {type_name(document)}")
    return {key: string(value) for key, value in document.items()}


def _bytes(document: Any) -> bytes:
    try:
        return base64.b64decode(string(document), validate=True)
    except (binascii.Error, ValueError):
        raise invalid_changes("expected base64") from None


def _integer(document: Any) -> int:
    if type(document) is not int:
        raise invalid_changes(f"expected an integer, got {type_name(document)}")
    return document


#: kind of an object -> its class
OBJECTS: Mapping[TableKind, type[CatalogBaseTable]] = {
    TableKind.TABLE: CatalogTable,
    TableKind.VIEW: CatalogView,
    TableKind.MATERIALIZED_TABLE: CatalogMaterializedTable,
}


def _write_object(found: CatalogBaseTable) -> dict[str, Any]:
    return {"kind": found.get_table_kind().value, **_write_members(normal_object(found))}


def _read_object(document: Any) -> CatalogBaseTable:
    kinds = {kind.value: kind for kind in OBJECTS}
    kind = kinds.get(str(member(document, "kind")))
    if kind is None:
        raise invalid_changes(f"unknown kind of object {show(document['kind'])}")
    members = {key: value for key, value in document.items() if key != "kind"}
    found: CatalogBaseTable = _read_members(OBJECTS[kind], members)
    return found


def _read_path(document: Any) -> ObjectPath:
    names = [string(one) for one in list_of(document)]
    if len(names) != 2:
        problem = f"expected the names of a database and of an object, got {len(names)} names"
        raise invalid_changes(problem)
    return ObjectPath(names[0], names[1])


TEXT = FieldCodec(str, string)

#: annotation of a member -> how its values are written and read
MEMBERS: Mapping[str, FieldCodec] = {
    "str":                   TEXT,
    "str | None":            _optional(TEXT),
    "int":                   FieldCodec(int, _integer),
    "int | None":            _optional(FieldCodec(int, _integer)),
    "bytes | None":          _optional(
        FieldCodec(lambda value: base64.b64encode(value).decode(), _bytes)
    ),
    "Mapping[str, str]":     FieldCodec(dict, _strings),
    NAMES:                   CODECS[NAMES],
    "ObjectPath":            FieldCodec(
        lambda path: [path.database_name, path.object_name], _read_path
    ),
    "CatalogDatabase":       _members(CatalogDatabase),
    "CatalogBaseTable":      FieldCodec(_write_object, _read_object),
    "tuple[TableChange, ...]": _sequence(FieldCodec(write_change, read_change)),
    "Schema":                _members(Schema),
    "tuple[UnresolvedColumn, ...]": _sequence(CODECS["UnresolvedColumn"]),
    "tuple[UnresolvedWatermarkSpec, ...]": _sequence(CODECS["UnresolvedWatermarkSpec"]),
    "UnresolvedPrimaryKey | None": _optional(CODECS["UnresolvedPrimaryKey"]),
    "tuple[UnresolvedIndex, ...]": _sequence(CODECS["UnresolvedIndex"]),
    "UnresolvedImmutableColumns | None": _optional(CODECS["UnresolvedImmutableColumns"]),
    "TableDistribution | None": _optional(CODECS["TableDistribution"]),
    "LogicalRefreshMode":    _enumerated(LogicalRefreshMode),
    "RefreshStatus":         _enumerated(RefreshStatus),
    "RefreshMode | None":    _optional(_enumerated(RefreshMode)),
    "StartMode | None":      _optional(_enumerated(StartMode)),
    "Freshness | None":      _optional(_members(Freshness)),
    "FreshnessUnit":         _enumerated(FreshnessUnit),
}  # fmt: skip
