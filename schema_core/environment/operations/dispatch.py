"""Dispatch of statements: `statement_syntax.OPERATIONS` names the function of each."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from importlib import import_module
from typing import TypeAlias, TypeVar

from schema_core.base.text import quote_identifier
from schema_core.catalog.objects import TableKind
from schema_core.environment.connector import connector_hint
from schema_core.environment.result import TableResult
from schema_core.environment.session import Session
from schema_core.errors import SchemaCoreError, UnsupportedError
from schema_core.sql import statement_syntax as nodes
from schema_core.sql.statement_syntax import Statement

#: Kinds of statement -> kinds of table.
TABLE_KINDS = {
    nodes.ObjectKind.TABLE: TableKind.TABLE,
    nodes.ObjectKind.VIEW: TableKind.VIEW,
    nodes.ObjectKind.MATERIALIZED_TABLE: TableKind.MATERIALIZED_TABLE,
}

Operation: TypeAlias = Callable[[Session, Statement, str], TableResult]


def operation_of(statement: Statement) -> Operation:
    """Return the function that executes a statement; its module is imported at first use.

    ALTER of a kind without one is `feature-not-supported`.
    """
    if isinstance(statement, nodes.Alter):
        name = nodes.ALTERATIONS.get(statement.kind)
        if name is None:
            problem = f"ALTER {statement.kind.value} is not supported"
            raise UnsupportedError(problem, code="feature-not-supported")
    else:
        name = nodes.OPERATIONS[type(statement)]
    return _load_operation(name)


def _load_operation(name: str) -> Operation:
    module, _, function = name.partition(".")
    operation: Operation = getattr(import_module(f"{__package__}.{module}"), function)
    return operation


def run(session: Session, statement: Statement, text: str) -> TableResult:
    """Execute one statement and attach its span to errors.

    Errors of a query may come later, while its rows are read; they get the span too.
    """
    with locate_errors(statement, text), _name_warehouses(session):
        if session.statement_set is None or isinstance(statement, nodes.EndStatementSet):
            operation = operation_of(statement)
        else:
            operation = _load_operation("jobs.add_to_statement_set")
        result = operation(session, statement, text)
    if result.job is not None:
        result.job.locate(partial(locate_errors, statement, text))
    if not isinstance(statement, LAZY):
        return result
    locate = partial(_locate_row_errors, statement=statement, text=text)
    format_rows = result.row_formatter
    return replace(
        result,
        rows=locate(result.rows),
        row_formatter=None if format_rows is None else lambda: locate(format_rows()),
    )


#: Statements whose rows are computed while they are iterated.
LAZY = (nodes.SelectStatement, nodes.Execute)

T = TypeVar("T")


@contextmanager
def locate_errors(statement: Statement, text: str) -> Iterator[None]:
    """Attach the span of the whole statement to errors that have none."""
    try:
        yield
    except SchemaCoreError as error:
        for other in (error, *error.others):
            if other.text is None:
                other.text, other.span = text, other.span or statement.span
        raise


@contextmanager
def _name_warehouses(session: Session) -> Iterator[None]:
    """Name the catalogs that manage tables in the hint for a missing connector."""
    try:
        yield
    except SchemaCoreError as error:
        names = ", ".join(map(quote_identifier, session.registry.managing_names()))
        for other in (error, *error.others):
            if names and other.code == "missing-connector":
                other.hint = connector_hint(f"a catalog that manages its tables: {names}")
        raise


def _locate_row_errors(rows: Iterable[T], statement: Statement, text: str) -> Iterator[T]:
    with locate_errors(statement, text):
        yield from rows
