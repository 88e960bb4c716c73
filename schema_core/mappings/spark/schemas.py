"""Convert Spark schemas as JSON or DDL to Flink schemas and back, without a JVM."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from schema_core.base.cursor import check_size
from schema_core.base.text import MAX_DEPTH, Span, show
from schema_core.errors import ParseError, SchemaError, at
from schema_core.mappings.loss import ForeignSchema, Policy, read_fields, too_deep
from schema_core.mappings.spark.ddl import Tree, parse_ddl, print_ddl
from schema_core.mappings.spark.types import STEPS, read_field_tree, to_field_tree
from schema_core.schema.resolved import ResolvedSchema
from schema_core.types import RowField

#: The required and the optional keys of a JSON object, by its type.
KEYS: dict[str, tuple[frozenset[str], frozenset[str]]] = {
    "struct": (frozenset({"type", "fields"}), frozenset()),
    "array":  (frozenset({"type", "elementType", "containsNull"}), frozenset()),
    "map":    (frozenset({"type", "keyType", "valueType", "valueContainsNull"}), frozenset()),
    "udt":    (frozenset({"type", "sqlType"}), frozenset({"class", "pyClass", "serializedClass"})),
}  # fmt: skip
FIELD_KEYS = (frozenset({"name", "type", "nullable"}), frozenset({"metadata"}))


# --- JSON -----------------------------------------------------------------------------------------


def from_json(text: str) -> ForeignSchema:
    """Read the JSON of a StructType: its columns, errors of refused columns, and losses.

    Raises:
        ParseError, SchemaError, UnsupportedError: as `parse_json`.

    >>> result = from_json('''{"type": "struct", "fields": [
    ...     {"name": "id", "type": "long", "nullable": false, "metadata": {}},
    ...     {"name": "at", "type": "interval", "nullable": true, "metadata": {}}]}''')
    >>> [str(column) for column in result.schema.columns], [error.code for error in result.refused]
    (['`id` BIGINT NOT NULL'], ['type-not-supported'])
    """
    return read_fields(parse_json(text)["fields"], read_field_tree)


def to_json(schema: ResolvedSchema, *, on_loss: Policy = "error") -> str:
    """Return the StructType JSON of a schema with exact-type metadata, as ``StructType.json()``."""
    return print_json(_struct(schema, on_loss))


def parse_json(text: str) -> dict[str, Any]:
    """Parse and validate the JSON of a StructType.

    Raises:
        ParseError: for a string that is not JSON, or too long.
        SchemaError: with code `invalid-document` and the location.
        UnsupportedError: with code `limit-exceeded`.
    """
    check_size(text)
    try:
        tree = json.loads(text)
    except json.JSONDecodeError as error:
        span = Span(error.pos, error.pos + 1)
        raise ParseError(f"invalid JSON: {error.msg}", span=span, text=text) from None
    except RecursionError:
        raise too_deep() from None
    if not isinstance(tree, dict) or tree.get("type") != "struct":
        raise _invalid("expected a struct")
    return _validate_dict(tree, 1)


def print_json(tree: Mapping[str, Any]) -> str:
    """Print a tree as Spark does: keys sorted, no white space."""
    return json.dumps(tree, separators=(",", ":"), sort_keys=True)


def _invalid(problem: str) -> SchemaError:
    return SchemaError(problem, code="invalid-document")


def _validate_tree(tree: Any, depth: int) -> Tree:
    if depth > MAX_DEPTH:
        raise too_deep()
    if isinstance(tree, str):
        return tree
    if not isinstance(tree, dict):
        raise _invalid(f"expected a type, found {str(tree)[:60]}")
    return _validate_dict(tree, depth)


def _validate_dict(tree: dict[str, Any], depth: int) -> dict[str, Any]:
    kind = tree.get("type")
    if not isinstance(kind, str) or kind not in KEYS:
        raise _invalid(f"expected one of {', '.join(KEYS)}, found {str(kind)[:60]}")
    _check_keys(tree, *KEYS[kind])
    validated = dict(tree)
    for name, step in STEPS.items():
        if name in tree:
            with at(step):
                validated[name] = _validate_tree(tree[name], depth + 1)
    for name in ("containsNull", "valueContainsNull"):
        if not isinstance(tree.get(name, True), bool):
            raise _invalid(f"{name} must be true or false, got {show(tree[name])}")
    if kind == "struct":
        if not isinstance(tree["fields"], list):
            raise _invalid(f"fields must be a list, got {show(tree['fields'])}")
        validated["fields"] = [_validate_field(field, depth) for field in tree["fields"]]
    return validated


def _validate_field(field: Any, depth: int) -> dict[str, Any]:
    if not isinstance(field, dict):
        raise _invalid(f"expected a field, found {str(field)[:60]}")
    name = field.get("name")
    with at(f"field {name!r}"):
        _check_keys(field, *FIELD_KEYS)
        metadata = field.get("metadata") or {}
        if not isinstance(name, str):
            raise _invalid(f"the name must be a string, got {show(name)}")
        if not isinstance(field["nullable"], bool):
            raise _invalid(f"nullable must be true or false, got {show(field['nullable'])}")
        if not isinstance(metadata, dict):
            raise _invalid(f"the metadata must be an object, got {show(metadata)}")
        return {**field, "type": _validate_tree(field["type"], depth + 1), "metadata": metadata}


def _check_keys(tree: dict[str, Any], needed: frozenset[str], allowed: frozenset[str]) -> None:
    missing, unknown = needed - set(tree), set(tree) - needed - allowed
    if missing or unknown:
        what = "missing" if missing else "unknown"
        raise _invalid(f"{what} key {min(missing or unknown)!r}")


# --- DDL ------------------------------------------------------------------------------------------


def from_ddl(text: str, *, timestamp: str = "timestamp") -> ForeignSchema:
    """Read Spark's DDL: its columns, errors of refused columns, and losses.

    Raises:
        ParseError: as `parse_ddl`.

    >>> print(from_ddl("id BIGINT NOT NULL COMMENT 'key', tags ARRAY<VARCHAR(5)>").schema)
    (
      `id` BIGINT NOT NULL COMMENT 'key',
      `tags` ARRAY<VARCHAR(5)>
    )
    """
    return read_fields(parse_ddl(text, timestamp=timestamp)["fields"], read_field_tree)


def to_ddl(schema: ResolvedSchema, *, on_loss: Policy = "error") -> str:
    """Return the DDL of a schema, which has no exact-type metadata.

    Raises:
        UnsupportedError: with code `lossy` if values would change and `on_loss` is `error`.
    """
    return print_ddl(_struct(schema, on_loss))


def _struct(schema: ResolvedSchema, on_loss: Policy) -> dict[str, Any]:
    fields = [RowField(column.name, column.data_type, column.comment) for column in schema.columns]
    return {"type": "struct", "fields": [to_field_tree(field, on_loss=on_loss) for field in fields]}
