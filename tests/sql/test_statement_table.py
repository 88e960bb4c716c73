"""The table of statements: every statement is masked, completed and executed by it."""

from __future__ import annotations

import ast
import re
from importlib import import_module
from inspect import signature
from pathlib import Path
from typing import Any

import pytest

import schema_core.sql
from schema_core import TableEnvironment
from schema_core.base.keywords import QUERYING, RESERVED, UNRESERVED, VERBS, WRITING
from schema_core.base.secrets import mask_text
from schema_core.environment.operations import dispatch
from schema_core.errors import UnsupportedError
from schema_core.sql import statement_syntax as nodes
from schema_core.sql.ddl import CHANGES
from schema_core.sql.parser import parse_statement
from schema_core.sql.statement import STATEMENTS
from tests.support import cases

#: Statements of the cases that are parsed.
TEXTS = [text for text, expected in cases("statements") if not expected.startswith("!")]

#: Expected text of a grammar: keywords in capitals.
KEYWORDS = re.compile(r"[A-Z][A-Z_]+(?: [A-Z_]+)*")


def nodes_of_statements() -> set[type[nodes.Statement]]:
    classes = {cls for cls in vars(nodes).values() if isinstance(cls, type)}
    return {cls for cls in classes - {nodes.Statement} if issubclass(cls, nodes.Statement)}


def test_every_first_word_has_a_grammar() -> None:
    assert VERBS | {"("} == set(STATEMENTS)
    assert VERBS > QUERYING | WRITING


def test_the_words_of_the_grammar_are_complete() -> None:
    """Hints and completion propose the words that the grammar of statements accepts."""
    folder = Path(schema_core.sql.__file__).parent
    literals = [
        node.value
        for name in ("ddl", "statement", "statement_syntax")
        for node in ast.walk(ast.parse((folder / f"{name}.py").read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    ]
    words = {word for text in literals if KEYWORDS.fullmatch(text) for word in text.split()}

    assert UNRESERVED == (words | VERBS) - RESERVED


def test_every_statement_has_an_operation() -> None:
    assert nodes_of_statements() == {*nodes.OPERATIONS, nodes.Alter}
    # ALTER FUNCTION is a statement of its own
    assert set(CHANGES) - {nodes.ObjectKind.FUNCTION} == set(nodes.ALTERATIONS)


@pytest.mark.parametrize("name", sorted({*nodes.OPERATIONS.values(), *nodes.ALTERATIONS.values()}))
def test_every_operation_exists(name: str) -> None:
    module, _, function = name.partition(".")
    operation: Any = getattr(import_module(f"{dispatch.__package__}.{module}"), function)

    assert 3 == len(signature(operation).parameters)


@pytest.mark.parametrize("text", TEXTS)
def test_every_statement_ends_a_malformed_one(text: str) -> None:
    """The secrets of a malformed statement are masked up to the next statement."""
    malformed = "CREATE CATALOG c WITH ('pw' = 'b'; "
    hidden = "CREATE CATALOG c WITH (**** = ***; "

    shown = mask_text(malformed + text)

    assert hidden == shown[: len(malformed)]
    if not text.startswith("("):
        assert mask_text(text) == shown[len(malformed) :]


@pytest.mark.parametrize("text", TEXTS)
def test_every_statement_is_dispatched(text: str) -> None:
    statement = parse_statement(text)
    is_alter = isinstance(statement, nodes.Alter) and statement.kind not in nodes.ALTERATIONS
    if is_alter:
        with pytest.raises(UnsupportedError, match="is not supported"):
            dispatch.operation_of(statement)
    else:
        assert callable(dispatch.operation_of(statement))


@pytest.mark.parametrize("text", TEXTS)
def test_every_statement_is_completed(text: str) -> None:
    """The first word of each statement is proposed once its first letters are typed."""
    first = text.split(maxsplit=1)[0].upper()
    if first.isalpha():
        assert first in TableEnvironment.create().complete_statement(first[:-1], len(first) - 1)
