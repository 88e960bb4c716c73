"""Exact-type metadata: the exact Flink type, stored in the metadata of foreign fields.

Readers of a file may not have the catalog of a user-defined type, so its definition is stored, too.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from schema_core import types
from schema_core.base.caching import cached, length
from schema_core.errors import SchemaCoreError
from schema_core.types.base import node_count
from schema_core.types.unresolved import look_up

#: Keys in the metadata of a field.
TYPE_KEY = "schema_core.type"
DEFINITIONS_KEY = "schema_core.types"
LAYOUT_KEY = "schema_core.layout"
COMMENT_KEY = "comment"

#: Key in Arrow's metadata of Spark's own metadata, as JSON.
SPARK_METADATA_KEY = "SPARK::metadata::json"

#: The class name in a definition that has none.
PLACEHOLDER_CLASS = "x"


def type_metadata(type_: types.DataType) -> dict[str, str]:
    """Return the metadata that records a type, with definitions of its user-defined types.

    >>> type_metadata(types.CharType(3))
    {'schema_core.type': 'CHAR(3)'}
    >>> type_metadata(types.DistinctType(("c", "d", "money"), types.IntType()))["schema_core.types"]
    '{"`c`.`d`.`money`": {"source": "INT", "description": null}}'
    """
    return dict(_type_metadata(type_))


@cached(node_count, unit="types")
def _type_metadata(type_: types.DataType) -> dict[str, str]:
    metadata = {TYPE_KEY: str(type_)}
    definitions: dict[str, dict[str, str | None]] = {}
    for node in type_.walk():
        definition: dict[str, str | None]
        match node:
            case types.DistinctType(source_type=source):
                definition = {"source": str(source.nullable()), "description": node.description}
            case types.StructuredType(class_name=name, fields=fields) if node.path:
                inline = str(types.StructuredType(name or PLACEHOLDER_CLASS, fields))
                definition = {"fields": inline, "class": name, "description": node.description}
            case _:
                continue
        if definitions.setdefault(node.body(), definition) != definition:
            return metadata  # one path with two definitions: readers use the physical type
    if definitions:
        metadata[DEFINITIONS_KEY] = json.dumps(definitions, ensure_ascii=False)
    return metadata


def exact_type(metadata: Mapping[str, Any]) -> types.DataType | None:
    """Return the type that the metadata of a field records, or None if it cannot be parsed.

    >>> exact_type({TYPE_KEY: "CHAR(3)"}), exact_type({TYPE_KEY: "CHAR("}), exact_type({})
    (CharType(3), None, None)
    """
    text, definitions = metadata.get(TYPE_KEY), metadata.get(DEFINITIONS_KEY)
    if not isinstance(text, str):
        return None
    return parse_exact_type(text, definitions if isinstance(definitions, str) else None)


@cached(lambda text, definitions=None: length(text) + len(definitions or ""))
def parse_exact_type(text: str, definitions: str | None = None) -> types.DataType | None:
    """Parse a recorded type and its definitions; None if it is invalid."""
    try:
        type_ = types.parse_type(text)
        if definitions is None:
            return type_
        return types.require_resolved(_Definitions(definitions).resolve(type_))
    except SchemaCoreError:
        return None


class _Definitions:
    """The user-defined types that metadata defines, by their paths."""

    def __init__(self, text: str) -> None:
        self._definitions = read_object(text)
        self._open: set[str] = set()

    def resolve(self, type_: types.DataType) -> types.DataType:
        return look_up(type_, self._find)

    def _find(self, name: types.UnresolvedType) -> types.DataType:
        """Return the definition of a name, or the name if it is undefined or recursive."""
        path = name.body()
        definition = self._definitions.get(path)
        if not isinstance(definition, dict) or path in self._open:
            return name
        self._open.add(path)
        try:
            return self._build_type(name, definition)
        finally:
            self._open.discard(path)

    def _build_type(self, name: types.UnresolvedType, definition: dict[str, Any]) -> types.DataType:
        match definition:
            case {"source": str(source), "description": None | str() as description}:
                inner = self.resolve(types.parse_type(source))
                return types.DistinctType(name.path, inner, description=description)
            case {
                "fields": str(fields),
                "class": None | str() as class_name,
                "description": None | str() as description,
            }:
                inner = self.resolve(types.parse_type(fields))
                if isinstance(inner, types.StructuredType):
                    return types.StructuredType(
                        class_name, inner.fields, path=name.path, description=description
                    )
        return name


def read_object(text: str | bytes) -> dict[str, Any]:
    """Parse a JSON object in metadata; empty if it is invalid."""
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return document if isinstance(document, dict) else {}
