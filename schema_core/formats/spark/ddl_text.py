"""DDL text of Spark written from a tree: what `spark_ddl` reads."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from schema_core.errors import UnsupportedError
from schema_core.formats.spark.ddl import Tree
from schema_core.text import quote_identifier

_PLAIN_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")

#: Words of Spark's JSON -> those of its SQL, where they differ.
SQL_WORDS = {
    "byte": "TINYINT", "short": "SMALLINT", "integer": "INT", "long": "BIGINT",
    "timestamp": "TIMESTAMP_LTZ",
}  # fmt: skip


def print_ddl(tree: Mapping[str, Any]) -> str:
    r"""The DDL text of a struct: ``TIMESTAMP_LTZ`` rather than a word whose meaning is an option.

    Raises:
        UnsupportedError: with code `type-not-in-spark-ddl` for trees that the grammar has no words
            for.

    >>> print_ddl(
    ...     {
    ...         "type": "struct",
    ...         "fields": [
    ...             {
    ...                 "name": "a b",
    ...                 "type": "long",
    ...                 "nullable": False,
    ...                 "metadata": {"comment": "it's"},
    ...             }
    ...         ],
    ...     }
    ... )
    "`a b` BIGINT NOT NULL COMMENT 'it\\'s'"
    """
    return ", ".join(_field(one, " ") for one in tree["fields"])


def _field(field: Mapping[str, Any], between: str) -> str:
    name = field["name"]
    shown = name if _PLAIN_NAME.fullmatch(name) else quote_identifier(name)
    text = f"{shown}{between}{print_spark_type(field['type'], field['metadata'], (name,))}"
    if not field["nullable"]:
        text += " NOT NULL"
    comment = field["metadata"].get("comment")
    return f"{text} COMMENT {_quote(comment)}" if isinstance(comment, str) else text


def print_spark_type(
    tree: Tree, metadata: Mapping[str, Any] | None = None, path: tuple[str, ...] = ()
) -> str:
    """The text of a type; a collation is told in the metadata of the field that it is in."""
    metadata = metadata or {}
    match tree:
        case "string":
            collation = metadata.get("__COLLATIONS", {}).get(".".join(path))
            return f"STRING COLLATE {collation.partition('.')[2]}" if collation else "STRING"
        case str():
            return SQL_WORDS.get(tree, tree.upper())
        case {"type": "array", "elementType": element}:
            return f"ARRAY<{print_spark_type(element, metadata, (*path, 'element'))}>"
        case {"type": "map", "keyType": key, "valueType": value}:
            first = print_spark_type(key, metadata, (*path, "key"))
            return f"MAP<{first}, {print_spark_type(value, metadata, (*path, 'value'))}>"
        case {"type": "struct", "fields": fields}:
            return f"STRUCT<{', '.join(_field(one, ': ') for one in fields)}>"
        case _:
            word = tree.get("type")
            raise UnsupportedError(
                f"Spark's DDL has no word for {word}", code="type-not-in-spark-ddl"
            )


def _quote(text: str) -> str:
    """A literal: backslashes, quotes and line breaks are escaped."""
    for plain, escaped in (("\\", "\\\\"), ("'", "\\'"), ("\n", "\\n"), ("\r", "\\r")):
        text = text.replace(plain, escaped)
    return f"'{text}'"
