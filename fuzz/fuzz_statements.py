"""Scripts: they parse or raise; a printed query parses to an equal query."""

from __future__ import annotations

from collections.abc import Iterator

from fuzz import driver
from schema_core.errors import SchemaCoreError
from schema_core.sql.parser import parse_query, parse_statements
from schema_core.sql.printer import print_query
from schema_core.sql.statement_syntax import (
    CreateMaterializedTable,
    CreateTable,
    CreateView,
    Insert,
    SelectStatement,
    Statement,
)
from schema_core.sql.syntax import Query

#: What a printed text may run into where the written one just fitted.
BUDGETS = ("limit-exceeded", "limit-exceeded")


def queries(statements: tuple[Statement, ...]) -> Iterator[Query]:
    """Return the queries within statements."""
    for statement in statements:
        match statement:
            case (
                SelectStatement(query=query)
                | CreateView(query=query)
                | CreateMaterializedTable(query=query)
                | Insert(query=query)
            ):
                yield query
            case CreateTable(query=query) if query is not None:
                yield query


def reread(query: Query) -> Query:
    """What the printed query reads as."""
    printed = print_query(query)
    try:
        return parse_query(printed)
    except SchemaCoreError as error:
        if error.code in BUDGETS:
            raise
        raise AssertionError(printed) from error


def target(text: str) -> None:
    """Read statements; print the queries among them and read those.

    A text that is not ASCII gets a prefix when it is printed, and keeps it from then on.
    """
    for query in queries(parse_statements(text)):
        again = reread(query)
        assert print_query(reread(again)) == print_query(again)


if __name__ == "__main__":
    driver.main("statements", target)
