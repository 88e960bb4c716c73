"""Summaries of statements in one line, and the base class of statements."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import MISSING, fields, is_dataclass
from enum import Enum
from typing import Any, get_args

from schema_core.masking import mask_query
from schema_core.secrets import mask_credentials, masked_value
from schema_core.sql import definition_syntax, query_syntax, syntax
from schema_core.sql.literal_printer import print_type
from schema_core.sql.printer import print_expression, print_query
from schema_core.text import quote_identifier


class Operation:
    """A parsed statement, executed by one function of `environment.operations`."""

    __slots__ = ()

    def as_summary_string(self) -> str:
        """Return the statement with its parameters in one line; secrets are masked.

        >>> from schema_core.sql.parser import parse_statement
        >>> parse_statement("DROP VIEW IF EXISTS d.v").as_summary_string()
        'DROP VIEW: (path: [`d`.`v`], ifExists: [true])'
        >>> parse_statement("ALTER CATALOG c SET ('password' = 'x')").as_summary_string()
        'ALTER CATALOG: (path: [`c`], change: [SET OPTIONS: (options: [password=******])])'
        """
        return summary(self)


QUERIES = get_args(query_syntax.Query)


EXPRESSIONS = (syntax.Literal, syntax.Interval, syntax.Call, syntax.Subquery)


#: Fields that are part of the heading before the parentheses.
HEADING_FIELDS = ("kind", "subject", "span")


def summary(statement: Any) -> str:
    """Return the heading of a statement and the fields that differ from their defaults."""
    parts = ", ".join(
        f"{name}: [{format_value(value)}]" for name, value in _changed_fields(statement)
    )
    return f"{_heading(statement)}: ({parts})" if parts else _heading(statement)


def _heading(statement: Any) -> str:
    name = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", type(statement).__name__).upper()
    kind = getattr(statement, "kind", None) or getattr(statement, "subject", None)
    return " ".join(filter(None, [name, kind.value if isinstance(kind, Enum) else kind]))


def _changed_fields(node: Any) -> Iterator[tuple[str, Any]]:
    """Yield the fields of a node that differ from their defaults."""
    for one in fields(node):
        value = getattr(node, one.name)
        default = one.default_factory() if one.default_factory is not MISSING else one.default
        if one.name in HEADING_FIELDS or (default is not MISSING and value == default):
            continue
        if one.name == "value" and hasattr(node, "key"):
            value = masked_value(node.key or "", value)
        yield re.sub(r"_(\w)", lambda found: found[1].upper(), one.name), value


def format_value(value: Any) -> str:
    """Return the value of a field as summaries print it."""
    match value:
        case bool():
            return str(value).lower()
        case Enum():
            return str(value.value)
        case tuple():
            return ", ".join(map(format_value, value))
        case syntax.Name(parts):
            return ".".join(map(quote_identifier, parts))
        case definition_syntax.Option(key, text):
            return f"{key}={masked_value(key, text)}"
        case query_syntax.Hint(name, options, arguments):
            pairs = [f"{key}={masked_value(key, text)}" for key, text in options]
            return f"{name}({', '.join([*pairs, *map(format_value, arguments)])})"
        case syntax.TypeName():
            return print_type(value) + (" NOT NULL" if value.nullable is False else "")
        case _ if isinstance(value, QUERIES):
            return " ".join(mask_query(print_query(value)).split())
        case _ if isinstance(value, EXPRESSIONS):
            return print_expression(value)
        case _ if is_dataclass(value):
            return summary(value)
        case _:
            return mask_credentials(str(value))
