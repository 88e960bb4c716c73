"""Changes as JSON, with a version; read strictly, and only up to the limits of all input.

Law: ``from_json(to_json(changes)) == changes`` for changes in normal form, as `diff` returns them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import fields
from typing import Any, assert_never

from schema_core.base.arguments import require_instance, require_sequence, type_name
from schema_core.base.cursor import check_size
from schema_core.base.lazy_dataclass import dataclass
from schema_core.base.text import show
from schema_core.catalog.changes.normal_forms import normal_type
from schema_core.catalog.changes.table_changes import CHANGES, NAMES, ColumnPosition, TableChange
from schema_core.catalog.objects import DistributionKind, TableDistribution
from schema_core.errors import SchemaCoreError, SchemaError, UnsupportedError, at
from schema_core.schema.columns import (
    ResolvedExpression,
    SqlExpression,
    UnresolvedColumn,
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
from schema_core.sql.syntax import Call, walk
from schema_core.types import DataType, RowField

#: The version of the format.
VERSION = 1


def to_json(changes: Iterable[TableChange]) -> str:
    """Return changes as a JSON document, which `from_json` reads.

    The values of options are written as they are, those of secrets as well: keep secrets out of
    definitions that are stored.

    Raises:
        UnsupportedError: with code `type-not-serializable` or `inline-function` for a type or
            expression that has no text.
        ParseError: with code `text-too-long` for a document that would be refused.
        SchemaError: with code `wrong-argument` for anything but changes.

    >>> to_json([TableChange.set("connector", "kafka")])
    '{"version": 1, "changes": [{"change": "SetOption", "key": "connector", "value": "kafka", \
"old_value": null}]}'
    """
    document = []
    for position, change in enumerate(require_sequence(changes, "the changes"), 1):
        require_instance(change, TableChange, "a change")
        with at(f"change {position}, {type(change).__name__}"):
            document.append(write_change(change))
    text = json.dumps({"version": VERSION, "changes": document}, ensure_ascii=False)
    check_size(text)
    return text


def from_json(text: str) -> tuple[TableChange, ...]:
    """Return the changes of a JSON document.

    Raises:
        SchemaError: with code `invalid-changes` for a document that `to_json` does not write,
            `not-a-string` for anything but a string.
        ParseError: with code `text-too-long`.

    >>> print(*from_json(to_json([TableChange.set("connector", "kafka")])))
    SetOption{key='connector', value='kafka'}
    """
    check_size(text)
    try:
        document = json.loads(text, object_pairs_hook=without_duplicates)
    except (ValueError, RecursionError):
        raise invalid_changes("the document is not JSON") from None
    found = record(document, "version", "changes")
    if type(found["version"]) is not int or found["version"] != VERSION:
        raise invalid_changes(f"expected version {VERSION}, found {show(found['version'])}")
    changes = []
    for position, one in enumerate(list_of(found["changes"]), 1):
        with at(f"change {position}"):
            changes.append(read_change(one))
    return tuple(changes)


def write_change(change: TableChange) -> dict[str, Any]:
    """Return a change as an object of JSON.

    Raises:
        UnsupportedError: as `to_json`.
    """
    values = {
        field.name: CODECS[str(field.type)].encode(getattr(change, field.name))
        for field in fields(change)
    }
    return {"change": type(change).__name__, **values}


def read_change(document: Any) -> TableChange:
    """Return the change of an object of JSON.

    Raises:
        SchemaError: with code `invalid-changes`.
    """
    kind = KINDS.get(str(member(document, "change")))
    if kind is None:
        raise invalid_changes(f"unknown change {show(document['change'])}")
    found = record(document, "change", *(field.name for field in fields(kind)))
    try:
        values = {
            field.name: CODECS[str(field.type)].decode(found[field.name]) for field in fields(kind)
        }
        return kind(**values)
    except SchemaCoreError as error:
        raise invalid_changes(error.problem) from None


#: name of a change -> its class
KINDS = {kind.__name__: kind for kind in CHANGES}


# --- documents -----------------------------------------------------------------------------------


def invalid_changes(problem: str) -> SchemaError:
    """Return the error for a document that does not contain changes."""
    return SchemaError(
        problem, code="invalid-changes", hint="read only documents that `to_json` has written"
    )


def without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return the object of these pairs; a key may not be repeated."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("duplicate key")
    return found


def member(document: Any, key: str) -> Any:
    """Return a member of an object, which may have others.

    Raises:
        SchemaError: with code `invalid-changes` for anything else.
    """
    if not isinstance(document, dict):
        raise invalid_changes(f"expected an object, got {type_name(document)}")
    if key not in document:
        raise invalid_changes(f"expected an object with the key {key!r}, got {_keys(document)}")
    return document[key]


def _keys(document: dict[str, Any]) -> str:
    """Return the keys of an object for a message; its values may be secret."""
    return f"the keys {show(sorted(document))}" if document else "no keys"


def record(document: Any, *keys: str) -> dict[str, Any]:
    """Return an object that has exactly these keys.

    Raises:
        SchemaError: with code `invalid-changes` for anything else.
    """
    expected = f"expected an object with the keys {', '.join(keys)}"
    if not isinstance(document, dict):
        raise invalid_changes(f"{expected}, got {type_name(document)}")
    if document.keys() != set(keys):
        raise invalid_changes(f"{expected}, got {_keys(document)}")
    return document


def list_of(document: Any) -> list[Any]:
    """Return a list.

    Raises:
        SchemaError: with code `invalid-changes` for anything else.
    """
    if not isinstance(document, list):
        raise invalid_changes(f"expected a list, got {type_name(document)}")
    return document


def string(document: Any) -> str:
    """Return a string.

    Raises:
        SchemaError: with code `invalid-changes` for anything else.
    """
    if not isinstance(document, str):
        raise invalid_changes(f"expected a string, got {type_name(document)}")
    return document


def _names(document: Any) -> tuple[str, ...]:
    return tuple(map(string, list_of(document)))


# --- values --------------------------------------------------------------------------------------


def _same(value: Any) -> Any:
    return value


def _write_type(type_: WrittenType) -> str:
    if isinstance(type_, str):
        return type_
    if isinstance(type_, DataType):
        return type_.as_serializable_string()
    raise UnsupportedError(
        f"{type_} cannot be serialized before it is resolved",
        code="type-not-serializable",
        hint="resolve the definition first",
    )


def _read_data_type(document: Any) -> DataType:
    found = normal_type(string(document))
    if not isinstance(found, DataType):
        raise invalid_changes(f"expected a data type, got {show(document)}")
    return found


def _write_expression(expression: Written) -> str:
    if isinstance(expression, ResolvedExpression):
        return expression.as_serializable_string()
    tree = expression.syntax
    if tree is not None and any(isinstance(node, Call) and node.inline for node in walk(tree)):
        raise UnsupportedError(
            "an inline function has no name in SQL",
            code="inline-function",
            hint="register it and call it by its name",
        )
    return expression.text


def _write_position(position: ColumnPosition | None) -> Any:
    return None if position is None else {"after": position.column}


def _read_position(document: Any) -> ColumnPosition | None:
    if document is None:
        return None
    column = record(document, "after")["after"]
    return ColumnPosition(None if column is None else string(column))


def _write_field(field: RowField) -> dict[str, Any]:
    type_ = _write_type(field.data_type)
    return {"name": field.name, "type": type_, "comment": field.description}


def _read_field(document: Any) -> RowField:
    found = record(document, "name", "type", "comment")
    comment = found["comment"]
    return RowField(
        string(found["name"]),
        _read_data_type(found["type"]),
        None if comment is None else string(comment),
    )


def _write_column(column: UnresolvedColumn) -> dict[str, Any]:
    match column:
        case UnresolvedPhysicalColumn(name, type_, comment):
            return {"name": name, "type": _write_type(type_), "comment": comment}
        case UnresolvedComputedColumn(name, expression, comment):
            return {"name": name, "as": _write_expression(expression), "comment": comment}
        case UnresolvedMetadataColumn(name, type_, key, virtual, comment):
            return {
                "name": name,
                "type": _write_type(type_),
                "metadata": key,
                "virtual": virtual,
                "comment": comment,
            }
        case _:
            assert_never(column)


def _read_column(document: Any) -> UnresolvedColumn:
    if not isinstance(document, dict):
        raise invalid_changes(f"expected a column, got {type_name(document)}")
    for key in ("comment", "metadata"):
        if document.get(key) is not None:
            string(document[key])
    if "as" in document:
        found = record(document, "name", "as", "comment")
        expression = SqlExpression(string(found["as"]))
        return UnresolvedComputedColumn(string(found["name"]), expression, found["comment"])
    if "metadata" not in document:
        found = record(document, "name", "type", "comment")
        type_ = normal_type(string(found["type"]))
        return UnresolvedPhysicalColumn(string(found["name"]), type_, found["comment"])
    found = record(document, "name", "type", "metadata", "virtual", "comment")
    if not isinstance(found["virtual"], bool):
        problem = f"expected a boolean, got {type_name(found['virtual'])}"
        raise invalid_changes(problem)
    return UnresolvedMetadataColumn(
        string(found["name"]),
        normal_type(string(found["type"])),
        found["metadata"],
        found["virtual"],
        found["comment"],
    )


def _write_watermark(spec: UnresolvedWatermarkSpec) -> dict[str, Any]:
    return {"column": spec.column_name, "as": _write_expression(spec.watermark_expression)}


def _read_watermark(document: Any) -> UnresolvedWatermarkSpec:
    found = record(document, "column", "as")
    expression = SqlExpression(string(found["as"]))
    return UnresolvedWatermarkSpec(string(found["column"]), expression)


def _write_distribution(found: TableDistribution) -> dict[str, Any]:
    keys = list(found.bucket_keys)
    return {"kind": found.kind.value, "keys": keys, "buckets": found.bucket_count}


def _read_distribution(document: Any) -> TableDistribution:
    found = record(document, "kind", "keys", "buckets")
    if found["kind"] not in DistributionKind.__members__:
        raise invalid_changes(f"unknown kind of distribution {show(found['kind'])}")
    kind = DistributionKind[found["kind"]]
    return TableDistribution(kind, _read_integer(found["buckets"]), _names(found["keys"]))


def _read_integer(document: Any) -> int | None:
    if document is not None and (not isinstance(document, int) or isinstance(document, bool)):
        raise invalid_changes(f"expected an integer, got {type_name(document)}")
    return document


@dataclass(frozen=True, slots=True)
class FieldCodec:
    """How the values of a field are written to JSON and read from it."""

    encode: Callable[[Any], Any]
    decode: Callable[[Any], Any]


def _constraint(kind: Callable[[str, tuple[str, ...]], Any]) -> FieldCodec:
    """Return the codec of a named list of columns."""

    def decode(document: Any) -> Any:
        found = record(document, "name", "columns")
        return kind(string(found["name"]), _names(found["columns"]))

    return FieldCodec(lambda one: {"name": one.name, "columns": list(one.column_names)}, decode)


#: annotation of a field -> how its values are written and read; other values are refused by the
#: changes themselves
CODECS: dict[str, FieldCodec] = {
    "str":                        FieldCodec(_same, _same),
    "str | None":                 FieldCodec(_same, _same),
    "int | None":                 FieldCodec(_same, _read_integer),
    NAMES:                        FieldCodec(list, _names),
    "ColumnPosition":             FieldCodec(_write_position, _read_position),
    "ColumnPosition | None":      FieldCodec(_write_position, _read_position),
    "UnresolvedColumn":           FieldCodec(_write_column, _read_column),
    "WrittenType":                FieldCodec(_write_type, lambda found: normal_type(string(found))),
    "DataType":                   FieldCodec(_write_type, _read_data_type),
    "RowField":                   FieldCodec(_write_field, _read_field),
    "UnresolvedPrimaryKey":       _constraint(UnresolvedPrimaryKey),
    "UnresolvedImmutableColumns": _constraint(UnresolvedImmutableColumns),
    "UnresolvedIndex":            _constraint(UnresolvedIndex),
    "UnresolvedWatermarkSpec":    FieldCodec(_write_watermark, _read_watermark),
    "TableDistribution":          FieldCodec(_write_distribution, _read_distribution),
}  # fmt: skip
