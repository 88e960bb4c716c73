"""Layouts: an Arrow type as JSON text, ``["timestamp","ms","Asia/Tokyo"]``, written and read.

A layout says how values of a type lie in memory, down to the fields of nested types; it stands
beside the type and is no type. The words and parameters are the rows of `arrow_kinds`.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias

from schema_core.errors import SchemaError, UnsupportedError
from schema_core.extras import needs
from schema_core.formats.arrow.kinds import (
    BY_WORD,
    EXTENSION_METADATA,
    EXTENSION_NAME,
    kind_of,
)
from schema_core.formats.loss import too_deep
from schema_core.text import MAX_DEPTH, check_size

if TYPE_CHECKING:
    import pyarrow as pa

Annotate: TypeAlias = "Callable[[pa.Field, int], pa.Field]"
Node: TypeAlias = list[Any]

#: The word of a layout for extension types without a row: name, content, the type beneath.
EXTENSION = "extension"


@needs("pyarrow")
def describe(arrow: pa.DataType) -> Node:
    """An Arrow type as JSON.

    >>> import pyarrow as pa
    >>> describe(pa.large_list(pa.timestamp("ms", "Asia/Tokyo")))
    ['large_list', ['item', True, ['timestamp', 'ms', 'Asia/Tokyo']]]
    """
    kind = kind_of(arrow)
    if kind is not None:
        return [kind.word, *(_described(arrow, name) for name in kind.attributes.split())]
    if hasattr(arrow, "__arrow_ext_serialize__"):
        content = arrow.__arrow_ext_serialize__().decode("latin-1")
        return [EXTENSION, arrow.extension_name, content, describe(arrow.storage_type)]
    raise UnsupportedError(f"no layout describes Arrow's {arrow}", code="type-not-in-flink")


def _described(arrow: Any, name: str) -> Any:
    value = getattr(arrow, name)
    if name == "fields":
        return [[field.name, field.nullable, describe_field(field)] for field in value]
    if name.endswith("_field"):
        return [value.name, value.nullable, describe_field(value)]
    return describe(value) if name.endswith("_type") else value


@needs("pyarrow")
def describe_field(field: pa.Field) -> Node:
    """The type of a field; an extension that is known by name alone stands around it."""
    node, metadata = describe(field.type), field.metadata or {}
    if EXTENSION_NAME not in metadata:
        return node
    told = (metadata.get(key, b"") for key in (EXTENSION_NAME, EXTENSION_METADATA))
    return [EXTENSION, *(one.decode("latin-1") for one in told), node]


@needs("pyarrow")
def build(node: Node, annotate: Annotate | None = None) -> pa.DataType:
    """The Arrow type that JSON describes; `annotate` may change the field of a position.

    >>> build(["large_list", ["item", True, ["timestamp", "ms", "Asia/Tokyo"]]])
    LargeListType(large_list<item: timestamp[ms, tz=Asia/Tokyo]>)
    """
    import pyarrow as pa

    if not isinstance(node, list):
        raise SchemaError(f"no layout of Arrow: {node!r}", code="invalid-layout")
    word, *values = node
    if word == EXTENSION:
        return build(values[-1], annotate)
    kind = BY_WORD[word]
    noted = annotate or (lambda field, position: field)
    pairs = zip(kind.attributes.split(), values, strict=True)
    arguments = [_built(*pair, position, noted) for position, pair in enumerate(pairs)]
    return getattr(pa, kind.factory or kind.word)(*arguments)


def _built(name: str, value: Any, position: int, noted: Annotate) -> Any:
    if name == "fields":
        return [noted(build_field(*one), index) for index, one in enumerate(value)]
    if name.endswith("_field"):
        return noted(build_field(*value), position)
    if name == "value_type":
        return build(value, noted)
    return build(value) if name.endswith("_type") else value


@needs("pyarrow")
def build_field(name: str, nullable: bool, node: Node) -> pa.Field:
    """A field of the type that JSON describes, with the name of its extension if it has one."""
    import pyarrow as pa

    metadata = tags(node)
    return pa.field(name, build(node), nullable=nullable, metadata=metadata or None)


@needs("pyarrow")
def tags(node: Node) -> dict[bytes, bytes]:
    """The metadata that makes a field one of an extension type."""
    if node[0] != EXTENSION:
        return {}
    told = (one.encode("latin-1") for one in node[1:3])
    return dict(zip((EXTENSION_NAME, EXTENSION_METADATA), told, strict=True))


@needs("pyarrow")
def write_layout(field: pa.Field) -> str:
    """The Arrow type of a field as the text of a layout."""
    return json.dumps(describe_field(field), ensure_ascii=False, separators=(",", ":"))


@needs("pyarrow")
def read_layout(text: str) -> Node:
    """The Arrow type that the text of a layout describes, as JSON that `build` takes.

    Raises:
        SchemaError: with code `invalid-layout` for a text that describes none.
    """
    import pyarrow as pa

    check_size(text)
    if _depth(text) > 3 * MAX_DEPTH:
        raise too_deep()
    try:
        node = json.loads(text)
        build(node)
    except (pa.ArrowException, ValueError, TypeError, LookupError, AttributeError) as error:
        raise SchemaError(f"no layout of Arrow: {text[:100]}", code="invalid-layout") from error
    return list(node)


def _depth(text: str) -> int:
    """How deep the brackets go; those within strings count, which only errs on the safe side."""
    depth = deepest = 0
    for character in text:
        if character == "[":
            depth += 1
            deepest = max(deepest, depth)
        elif character == "]":
            depth -= 1
    return deepest
