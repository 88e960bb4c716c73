"""Changes of tables and of catalogs as JSON, with a version; read strictly, up to limits.

Law: ``from_json(to_json(changes)) == changes`` for changes in normal form, as `diff` returns them,
and for changes of a catalog with unresolved objects in normal form. Others become so. Values of
options are written as they are, secrets included.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, Final

from schema_core.base.arguments import require_instance, require_sequence
from schema_core.base.cursor import check_size
from schema_core.base.json_codec import (
    INTEGER,
    STRING,
    Codec,
    Codecs,
    DocumentFormat,
    JsonError,
    at_member,
    enumeration,
    parse_json,
    record,
    require_object,
    sequence,
    tuple_of,
    union_codec,
)
from schema_core.base.paths import ObjectPath
from schema_core.base.text import show
from schema_core.catalog import objects
from schema_core.catalog.changes.catalog_changes import (
    CATALOG_CHANGES,
    CatalogChange,
    normal_object,
)
from schema_core.catalog.changes.normal_forms import normal_type
from schema_core.catalog.changes.table_changes import CHANGES, ColumnPosition, TableChange
from schema_core.catalog.objects import CatalogBaseTable, TableKind
from schema_core.errors import SchemaError, UnsupportedError, at
from schema_core.schema.columns import (
    ResolvedExpression,
    SqlExpression,
    UnresolvedComputedColumn,
    UnresolvedImmutableColumns,
    UnresolvedIndex,
    UnresolvedMetadataColumn,
    UnresolvedPhysicalColumn,
    UnresolvedPrimaryKey,
    UnresolvedWatermarkSpec,
    Written,
    WrittenType,
)
from schema_core.schema.unresolved import Schema
from schema_core.sql.syntax import Call, walk
from schema_core.types import DataType, RowField

#: The version of the format of changes of tables.
VERSION: Final = 1
#: The maximum length of a document with changes of a catalog, in characters.
MAX_DOCUMENT: Final = 16_000_000
HINT: Final = "read only documents that `to_json` has written"


# --- values --------------------------------------------------------------------------------------


def _encode_type(type_: WrittenType) -> str:
    if isinstance(type_, str):
        return type_
    if isinstance(type_, DataType):
        return type_.as_serializable_string()
    raise UnsupportedError(
        f"{type_} cannot be serialized before it is resolved",
        code="type-not-supported",
        hint="resolve the definition first",
    )


def _decode_type(document: Any) -> DataType:
    type_ = normal_type(STRING.decode(document))
    if not isinstance(type_, DataType):
        raise JsonError(f"expected a data type, got {show(document)}")
    return type_


def _encode_expression(expression: Written) -> str:
    if isinstance(expression, ResolvedExpression):
        return expression.as_serializable_string()
    tree = expression.syntax
    if tree is not None and any(isinstance(node, Call) and node.inline for node in walk(tree)):
        raise UnsupportedError(
            "an inline function has no name in SQL",
            code="not-in-sql",
            hint="register it and call it by its name",
        )
    return expression.text


CODECS: Final = Codecs(
    {
        "WrittenType": Codec(_encode_type, lambda text: normal_type(STRING.decode(text))),
        "DataType": Codec(_encode_type, _decode_type),
        "Written": Codec(_encode_expression, lambda text: SqlExpression(STRING.decode(text))),
        "ColumnPosition": record(ColumnPosition, Codecs({}), {"column": "after"}),
        "ObjectPath": Codec(
            lambda path: [path.database_name, path.object_name],
            lambda names: ObjectPath(*tuple_of(STRING, STRING).decode(names)),
        ),
        **{
            kind.__name__: enumeration(kind)
            for kind in (
                objects.DistributionKind, objects.LogicalRefreshMode, objects.RefreshStatus,
                objects.RefreshMode, objects.StartMode, objects.FreshnessUnit,
            )
        },
    }
)  # fmt: skip

#: key that identifies a class of columns, tried in this order -> the class, and its keys
COLUMN_KEYS: Final = {
    "as": (
        UnresolvedComputedColumn, {"name": "name", "expression": "as", "comment": "comment"}
    ),
    "metadata": (
        UnresolvedMetadataColumn,
        {
            "name": "name", "data_type": "type", "metadata_key": "metadata", "virtual": "virtual",
            "comment": "comment",
        },
    ),
    "type": (
        UnresolvedPhysicalColumn, {"name": "name", "data_type": "type", "comment": "comment"}
    ),
}  # fmt: skip
_COLUMNS: Final = {
    key: (kind, record(kind, CODECS, keys)) for key, (kind, keys) in COLUMN_KEYS.items()
}


def _encode_column(column: object) -> Any:
    return next(codec for kind, codec in _COLUMNS.values() if type(column) is kind).encode(column)


def _decode_column(document: Any) -> Any:
    members = require_object(document)
    key = next((key for key in _COLUMNS if key in members), "type")
    return _COLUMNS[key][1].decode(members)


#: The keys of a named list of columns.
_NAMED: Final = {"name": "name", "column_names": "columns"}

CODECS.update(
    {
        "UnresolvedColumn": Codec(_encode_column, _decode_column),
        "RowField": record(
            RowField, CODECS, {"name": "name", "data_type": "type", "description": "comment"}
        ),
        "UnresolvedPrimaryKey": record(UnresolvedPrimaryKey, CODECS, _NAMED),
        "UnresolvedImmutableColumns": record(UnresolvedImmutableColumns, CODECS, _NAMED),
        "UnresolvedIndex": record(UnresolvedIndex, CODECS, _NAMED),
        "UnresolvedWatermarkSpec": record(
            UnresolvedWatermarkSpec,
            CODECS,
            {"column_name": "column", "watermark_expression": "as"},
        ),
        "TableDistribution": record(
            objects.TableDistribution,
            CODECS,
            {"kind": "kind", "bucket_keys": "keys", "bucket_count": "buckets"},
        ),
        "Schema": record(Schema, CODECS),
        "Freshness": record(objects.Freshness, CODECS),
        "CatalogDatabase": record(objects.CatalogDatabase, CODECS),
    }
)
CODECS.update(
    {
        "TableChange": union_codec(
            "change",
            {kind.__name__: record(kind, CODECS) for kind in CHANGES},
            lambda change: type(change).__name__,
        )
    }
)

OBJECTS: Final[Mapping[TableKind, type[CatalogBaseTable]]] = {
    TableKind.TABLE: objects.CatalogTable,
    TableKind.VIEW: objects.CatalogView,
    TableKind.MATERIALIZED_TABLE: objects.CatalogMaterializedTable,
}

_OBJECT: Final = union_codec(
    "kind",
    {kind.value: record(class_, CODECS) for kind, class_ in OBJECTS.items()},
    lambda table: table.get_table_kind().value,
)
CODECS.update(
    {
        "CatalogBaseTable": Codec(
            lambda table: _OBJECT.encode(normal_object(table)), _OBJECT.decode
        ),
        "CatalogChange": union_codec(
            "change",
            {kind.__name__: record(kind, CODECS) for kind in CATALOG_CHANGES},
            lambda change: type(change).__name__,
        ),
    }
)


# --- documents -----------------------------------------------------------------------------------


def _encode_changes(changes: Iterable[object], kind: type) -> list[Any]:
    encoded = []
    for position, change in enumerate(require_sequence(changes, "the changes"), 1):
        require_instance(change, kind, "a change")
        with at(f"change {position}, {type(change).__name__}"):
            encoded.append(CODECS[kind.__name__].encode(change))
    return encoded


def _decode_changes(document: Any, kind: type) -> Any:
    with at_member("changes"):
        return sequence(CODECS[kind.__name__]).decode(document["changes"])


CATALOG_DOCUMENT: Final = DocumentFormat(
    "schema-core.catalog-changes",
    1,
    MAX_DOCUMENT,
    Codec(
        lambda changes: {"changes": _encode_changes(changes, CatalogChange)},
        lambda document: _decode_changes(require_object(document, ["changes"]), CatalogChange),
    ),
    HINT,
    code="invalid-document",
)


def to_json(changes: Iterable[TableChange]) -> str:
    """Return changes of a table as a JSON document, which `from_json` reads.

    Keep secrets out of definitions that are stored.

    Raises:
        UnsupportedError: with code `type-not-supported` or `not-in-sql` for a type or
            expression that has no text.
        ParseError: with code `limit-exceeded` for a document that would be refused.
        SchemaError: with code `invalid-argument` for anything but changes.

    >>> to_json([TableChange.set("connector", "kafka")])
    '{"version": 1, "changes": [{"change": "SetOption", "key": "connector", "value": "kafka", \
"old_value": null}]}'
    """
    document = {"version": VERSION, "changes": _encode_changes(changes, TableChange)}
    text = json.dumps(document, ensure_ascii=False)
    check_size(text)
    return text


def from_json(text: str) -> tuple[TableChange, ...]:
    """Return the changes of a document of `to_json`.

    Raises:
        SchemaError: with code `invalid-document` for any other document, `version-not-supported`,
            `invalid-argument`.
        ParseError: with code `limit-exceeded`.

    >>> print(*from_json(to_json([TableChange.set("connector", "kafka")])))
    SetOption{key='connector', value='kafka'}
    """
    check_size(text)
    try:
        return _decode_document(text)
    except JsonError as error:
        raise SchemaError(str(error), code="invalid-document", hint=HINT) from None


def _decode_document(text: str) -> tuple[TableChange, ...]:
    document = require_object(parse_json(text), ("version", "changes"))
    version = INTEGER.decode(document["version"])
    if version != VERSION:
        problem = f"expected version {VERSION}, found {version}"
        raise SchemaError(problem, code="version-not-supported", hint=HINT)
    changes: tuple[TableChange, ...] = _decode_changes(document, TableChange)
    return changes


def catalog_changes_to_json(changes: Iterable[CatalogChange]) -> str:
    """Return changes of a catalog as a JSON document with a digest.

    Raises:
        UnsupportedError: with code `type-not-supported` or `not-in-sql` for a type or
            expression without a text.
        SchemaError: with code `invalid-document` for a document that is too long to be read,
            `invalid-argument` for anything but changes of a catalog.
    """
    return CATALOG_DOCUMENT.write(changes)


def catalog_changes_from_json(text: str) -> tuple[CatalogChange, ...]:
    """Return the changes of a document of `catalog_changes_to_json`.

    Raises:
        SchemaError: with code `invalid-document` for any other document, also one that was changed;
            `version-not-supported`; `invalid-argument` for anything but a string.

    >>> from schema_core.catalog.changes.catalog_changes import RenameObject
    >>> path = ObjectPath("shop", "orders")
    >>> print(*catalog_changes_from_json(catalog_changes_to_json([RenameObject(path, "sales")])))
    RenameObject{path=`shop`.`orders`, newName=`sales`}
    """
    changes: tuple[CatalogChange, ...] = CATALOG_DOCUMENT.read(
        require_instance(text, str, "the document")
    )
    return changes
