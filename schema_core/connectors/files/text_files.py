"""Spark's format `text`: the lines of files as one column of strings.

Lines end with a line feed, a carriage return or both, and are written with a line feed. Flink has
no such format; its `raw` splits at line feeds only.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from schema_core.connectors.files.file_formats import Format
from schema_core.connectors.files.raw_files import require_one
from schema_core.spark.compiler.template import inline
from schema_core.spark.compiler.tree import Case, Node, fail, is_null, let
from schema_core.types import MAX_LENGTH, CharType, DataType, VarCharType

if TYPE_CHECKING:
    from schema_core.types import RowField


class Text:
    """The lines of text files."""

    def require(self, fields: Sequence[RowField], options: Mapping[str, str]) -> None:
        """Refuse tables without exactly one column of strings.

        Raises:
            SchemaError: with code `type-not-supported`.
        """
        require_one(fields, (CharType, VarCharType), "text")

    def physical_type(self, type_: DataType, options: Mapping[str, str]) -> DataType:
        return VarCharType(MAX_LENGTH)

    def reading(self, options: Mapping[str, str]) -> dict[str, str]:
        return {}

    def writing(self, fields: Sequence[RowField], options: Mapping[str, str]) -> dict[str, str]:
        return {"lineSep": "\n"}

    def decode(self, node: Node, name: str, type_: DataType, options: Mapping[str, str]) -> Node:
        return node

    def encode(self, node: Node, name: str, type_: DataType, options: Mapping[str, str]) -> Node:
        """Return a value that is one line; others fail the job."""

        def check_value(value: Node) -> Node:
            null = fail(f"column {name!r}: NULL cannot be written as a line")
            broken = fail(f"column {name!r}: a value has a line break")
            breaks = inline("contains({v}, {n}) OR contains({v}, {r})", v=value, n="\n", r="\r")
            return Case(((is_null(value), null), (breaks, broken)), value)

        return let(node, check_value)


TEXT_FILES = Format("text", codec=Text())
