"""The notes that carry exact types through foreign metadata, and the comments beside them.

The text of a user-defined type is its path in a catalog, which nobody who reads a file may have; so
a note of such a type has a second one beside it, which says what the paths in it stand for.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from schema_core.caching import cached, length
from schema_core.errors import SchemaCoreError
from schema_core.types import (
    DataType,
    DistinctType,
    StructuredType,
    UnresolvedType,
    parse_type,
    require_resolved,
)
from schema_core.types.base import node_count
from schema_core.types.unresolved import look_up

#: Keys in the metadata of a field: the exact type and the user-defined types in it, the physical
#: layout in Arrow, the comment.
TYPE_KEY = "schema_core.type"
DEFINITIONS_KEY = "schema_core.types"
LAYOUT_KEY = "schema_core.layout"
COMMENT_KEY = "comment"

#: Where Spark keeps a field's metadata, as JSON, in the metadata of Arrow's fields.
SPARK_METADATA_KEY = "SPARK::metadata::json"

#: What a class is called in a definition that has none.
PLACEHOLDER_CLASS = "x"


def type_metadata(type_: DataType) -> dict[str, str]:
    """The note of a type, and what the paths in it stand for if there are any.

    >>> type_metadata(parse_type("CHAR(3)"))
    {'schema_core.type': 'CHAR(3)'}
    >>> type_metadata(DistinctType(("c", "d", "money"), parse_type("INT")))["schema_core.types"]
    '{"`c`.`d`.`money`": {"source": "INT", "description": null}}'
    """
    return dict(_type_metadata(type_))


@cached(node_count)
def _type_metadata(type_: DataType) -> dict[str, str]:
    found = {TYPE_KEY: str(type_)}
    definitions: dict[str, dict[str, str | None]] = {}
    for one in filter(_is_named, type_.walk()):
        told = _definition(one)
        if definitions.setdefault(one.body(), told) != told:
            return found  # a path that stands for two types: whoever reads it gets the physical one
    if definitions:
        found[DEFINITIONS_KEY] = json.dumps(definitions, ensure_ascii=False)
    return found


def _is_named(type_: DataType) -> bool:
    return isinstance(type_, DistinctType) or (
        isinstance(type_, StructuredType) and bool(type_.path)
    )


def _definition(type_: DataType) -> dict[str, str | None]:
    match type_:
        case DistinctType(source_type=source):
            return {"source": str(source.nullable()), "description": type_.description}
        case StructuredType(class_name=name, fields=fields):
            inline = StructuredType(name or PLACEHOLDER_CLASS, fields)
            told = {"fields": str(inline), "class": name, "description": type_.description}
            return dict(told)
        case _:
            return {}


def exact_type(told: Mapping[str, Any]) -> DataType | None:
    """The type that the notes in a field's metadata tell, or None where they cannot be read.

    >>> exact_type({TYPE_KEY: "CHAR(3)"}), exact_type({TYPE_KEY: "CHAR("}), exact_type({})
    (CharType(3), None, None)
    """
    note, definitions = told.get(TYPE_KEY), told.get(DEFINITIONS_KEY)
    if not isinstance(note, str):
        return None
    return parse_exact_type(note, definitions if isinstance(definitions, str) else None)


def _note_length(note: str, definitions: str | None = None) -> int:
    return length(note) + len(definitions or "")


@cached(_note_length)
def parse_exact_type(note: str, definitions: str | None = None) -> DataType | None:
    """The type that the text of a note tells, or None where it cannot be read."""
    try:
        type_ = parse_type(note)
        if definitions is None:
            return type_
        return require_resolved(_Definitions(definitions).resolved(type_))
    except SchemaCoreError:
        return None


class _Definitions:
    """The user-defined types that a note tells, by their paths."""

    def __init__(self, text: str) -> None:
        self._told = _read_json(text)
        self._open: set[str] = set()

    def resolved(self, type_: DataType) -> DataType:
        return look_up(type_, self._find)

    def _find(self, name: UnresolvedType) -> DataType:
        """What is told of a name; the name itself where nothing is, or where it is without end."""
        path = name.body()
        told = self._told.get(path)
        if not isinstance(told, dict) or path in self._open:
            return name
        self._open.add(path)
        try:
            return self._built(name, told)
        finally:
            self._open.discard(path)

    def _built(self, name: UnresolvedType, told: dict[str, Any]) -> DataType:
        match told:
            case {"source": str(source), "description": None | str() as description}:
                inner = self.resolved(parse_type(source))
                return DistinctType(name.path, inner, description=description)
            case {
                "fields": str(fields),
                "class": None | str() as class_name,
                "description": None | str() as description,
            }:
                inner = self.resolved(parse_type(fields))
                if isinstance(inner, StructuredType):
                    return StructuredType(
                        class_name, inner.fields, path=name.path, description=description
                    )
        return name


def _read_json(text: str) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}
