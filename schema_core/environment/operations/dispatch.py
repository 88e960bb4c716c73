"""Which function does which statement: one row a kind of statement."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, TypeVar

from schema_core.environment.operations import (
    alter_table,
    data,
    describe,
    drop,
    functions,
    listings,
    materialized,
    models,
    namespaces,
    show_create,
    tables,
    views,
)
from schema_core.environment.result import TableResult
from schema_core.environment.session import Session
from schema_core.errors import SchemaCoreError, UnsupportedError
from schema_core.sql import statement_syntax as syntax
from schema_core.sql.statement_syntax import Alter, ObjectKind, Statement

#: kind of object -> what changes one
ALTERATIONS: dict[ObjectKind, Callable[[Session, Alter, str], TableResult]] = {
    ObjectKind.TABLE:              alter_table.alter_table,
    ObjectKind.VIEW:               views.alter_view,
    ObjectKind.CATALOG:            namespaces.alter_catalog,
    ObjectKind.DATABASE:           namespaces.alter_database,
    ObjectKind.MODEL:              models.alter_model,
}  # fmt: skip


def alter(session: Session, statement: Alter, text: str) -> TableResult:
    """Change an object.

    Raises:
        UnsupportedError: with code `statement-not-supported` for a kind that is not changed so.
    """
    change = ALTERATIONS.get(statement.kind)
    if change is None:
        raise UnsupportedError(
            f"ALTER {statement.kind.value} is not supported", code="statement-not-supported"
        )
    return change(session, statement, text)


#: kind of statement -> what does it
OPERATIONS: dict[type[Statement], Callable[[Session, Any, str], TableResult]] = {
    syntax.CreateTable:             tables.create_table,
    syntax.CreateView:              views.create_view,
    syntax.CreateMaterializedTable: materialized.create_materialized_table,
    syntax.CreateCatalog:           namespaces.create_catalog,
    syntax.CreateDatabase:          namespaces.create_database,
    syntax.CreateFunction:          functions.create_function,
    syntax.CreateModel:             models.create_model,
    syntax.Drop:                    drop.drop,
    syntax.Alter:                   alter,
    syntax.AlterFunction:           functions.alter_function,
    syntax.UseCatalog:              namespaces.use_catalog,
    syntax.UseDatabase:             namespaces.use_database,
    syntax.UseModules:              namespaces.use_modules,
    syntax.LoadModule:              namespaces.load_module,
    syntax.UnloadModule:            namespaces.unload_module,
    syntax.Show:                    listings.show,
    syntax.ShowCreate:              show_create.show_create,
    syntax.Describe:                describe.describe,
    syntax.Explain:                 data.explain,
    syntax.SelectStatement:         data.select,
    syntax.Insert:                  data.insert,
    syntax.Delete:                  data.delete,
    syntax.Update:                  data.update,
    syntax.StatementSet:            data.statement_set,
    syntax.Execute:                 data.execute,
    syntax.AnalyzeTable:            data.analyze,
    syntax.TruncateTable:           data.truncate,
    syntax.CallProcedure:           data.call,
    syntax.SetOption:               namespaces.set_option,
    syntax.ResetOption:             namespaces.reset_option,
    syntax.Jar:                     namespaces.jar,
}  # fmt: skip


def run(session: Session, statement: Statement, text: str) -> TableResult:
    """Do one statement of the text; an error that passes says where in the text it is.

    So does one that comes later, when the rows of a query are walked.
    """
    with of(statement, text):
        found = OPERATIONS[type(statement)](session, statement, text)
    if not isinstance(statement, READING):
        return found
    texts = found.texts
    shown = None if texts is None else lambda: walked(texts(), statement, text)
    return replace(found, rows=walked(found.rows, statement, text), texts=shown)


#: Statements whose rows come when they are walked.
READING = (syntax.SelectStatement, syntax.Execute)

One = TypeVar("One")


@contextmanager
def of(statement: Statement, text: str) -> Iterator[None]:
    """Say of an error that passes where in the text it is: the whole statement, unless it knows."""
    try:
        yield
    except SchemaCoreError as error:
        for one in (error, *error.others):
            if one.text is None:
                one.text, one.span = text, one.span or statement.span
        raise


def walked(rows: Iterable[One], statement: Statement, text: str) -> Iterator[One]:
    """The rows, whose errors say which statement they are of."""
    with of(statement, text):
        yield from rows
