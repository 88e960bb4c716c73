"""Warnings of `check`: calls that return a value for a string that does not match a pattern.

Flink returns no error and no NULL for it, and so does this library.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass

from schema_core.errors import Diagnostic
from schema_core.sql.statement_syntax import Statement
from schema_core.sql.syntax import Call, Expression, Literal, LiteralKind

#: (function, number of arguments) -> its result for a string that does not match the pattern.
RESULTS = {
    ("TO_DATE", 2): "a date in the year 1705471",
    ("UNIX_TIMESTAMP", 1): "-9223372036854775808",
    ("UNIX_TIMESTAMP", 2): "-9223372036854775808",
}

#: The rule of the findings.
RULE = "lenient-pattern"

#: The pattern of UNIX_TIMESTAMP without a second argument.
DEFAULT_PATTERN = "yyyy-MM-dd HH:mm:ss"


def lenient_calls(statement: Statement, text: str) -> Iterator[Diagnostic]:
    """Yield a diagnostic for each such call of a statement, unless its string is known to match."""
    for call in _calls(statement):
        result = RESULTS.get((call.name, len(call.arguments)))
        if result is None or _matches(call.arguments):
            continue
        hint = "filter the rows that do not match, for example by TRY_CAST or SIMILAR TO"
        if call.name == "TO_DATE":
            hint = "TO_DATE without a pattern and TRY_CAST(... AS DATE) return NULL"
        yield Diagnostic(
            RULE,
            f"{call.name} returns {result} for a string that does not match the pattern",
            hint=hint,
            span=call.span,
            text=text,
        )


def _calls(statement: Statement) -> Iterator[Call]:
    rest: list[object] = [statement]
    while rest:
        node = rest.pop()
        if isinstance(node, Call):
            yield node
        if isinstance(node, tuple | list):
            rest += reversed(node)
        elif is_dataclass(node):
            rest += [getattr(node, field.name) for field in reversed(fields(node))]


def _matches(arguments: tuple[Expression, ...]) -> bool:
    """Whether the string and the pattern are literals, and the string matches."""
    texts = [
        argument.text
        for argument in arguments
        if isinstance(argument, Literal) and argument.kind is LiteralKind.STRING
    ]
    if len(texts) != len(arguments):
        return False
    from schema_core.spark.compiler.udfs.java_dates import UNPARSEABLE, simple_parse

    return simple_parse(texts[0], (*texts, DEFAULT_PATTERN)[1], "UTC") != UNPARSEABLE
