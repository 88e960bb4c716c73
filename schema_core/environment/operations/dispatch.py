"""Dispatch of statements: one function for each kind."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

from schema_core.base.text import quote_identifier
from schema_core.environment.operations import (
    alter_table,
    call_procedure,
    catalog_objects,
    compile_plan,
    connections,
    create_table,
    create_view,
    data,
    explain,
    jobs,
    show,
    show_create,
)
from schema_core.environment.result import TableResult
from schema_core.environment.session import Session
from schema_core.errors import SchemaCoreError, UnsupportedError
from schema_core.sql import statement_syntax as syntax
from schema_core.sql.statement_syntax import Alter, ObjectKind, Statement

#: kind of object -> what changes one
ALTERATIONS: dict[ObjectKind, Callable[[Session, Alter, str], TableResult]] = {
    ObjectKind.TABLE:              alter_table.alter_table,
    ObjectKind.VIEW:               create_view.alter_view,
    ObjectKind.CATALOG:            catalog_objects.alter_catalog,
    ObjectKind.DATABASE:           catalog_objects.alter_database,
    ObjectKind.MODEL:              catalog_objects.alter_model,
    ObjectKind.CONNECTION:         connections.alter_connection,
}  # fmt: skip


def alter(session: Session, statement: Alter, text: str) -> TableResult:
    """Alter an object.

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
    syntax.CreateTable:             create_table.create_table,
    syntax.CreateView:              create_view.create_view,
    syntax.CreateMaterializedTable: create_view.create_materialized_table,
    syntax.CreateCatalog:           catalog_objects.create_catalog,
    syntax.CreateDatabase:          catalog_objects.create_database,
    syntax.CreateFunction:          catalog_objects.create_function,
    syntax.CreateModel:             catalog_objects.create_model,
    syntax.CreateConnection:        connections.create_connection,
    syntax.Drop:                    catalog_objects.drop,
    syntax.Alter:                   alter,
    syntax.AlterFunction:           catalog_objects.alter_function,
    syntax.UseCatalog:              catalog_objects.use_catalog,
    syntax.UseDatabase:             catalog_objects.use_database,
    syntax.UseModules:              catalog_objects.use_modules,
    syntax.LoadModule:              catalog_objects.load_module,
    syntax.UnloadModule:            catalog_objects.unload_module,
    syntax.Show:                    show.show,
    syntax.ShowCreate:              show_create.show_create,
    syntax.Describe:                show.describe,
    syntax.Explain:                 explain.explain,
    syntax.SelectStatement:         data.select,
    syntax.Insert:                  data.insert,
    syntax.Delete:                  data.delete,
    syntax.Update:                  data.update,
    syntax.StatementSet:            data.statement_set,
    syntax.BeginStatementSet:       jobs.begin_statement_set,
    syntax.EndStatementSet:         jobs.end_statement_set,
    syntax.DescribeJob:             jobs.describe_job,
    syntax.StopJob:                 jobs.stop_job,
    syntax.Execute:                 data.execute,
    syntax.CompilePlan:             compile_plan.compile_plan,
    syntax.ExecutePlan:             compile_plan.execute_plan,
    syntax.AnalyzeTable:            data.analyze,
    syntax.TruncateTable:           data.truncate,
    syntax.CallProcedure:           call_procedure.call,
    syntax.SetOption:               catalog_objects.set_option,
    syntax.ResetOption:             catalog_objects.reset_option,
    syntax.Jar:                     catalog_objects.jar,
}  # fmt: skip


def run(session: Session, statement: Statement, text: str) -> TableResult:
    """Execute one statement and attach its span to errors, also to those of its rows.

    Errors of a query may be raised later, when its rows are read.
    """
    with of(statement, text), naming_warehouses(session):
        operation = OPERATIONS[type(statement)]
        if session.statement_set is not None and not isinstance(statement, syntax.EndStatementSet):
            operation = jobs.collect
        found = operation(session, statement, text)
    if found.job is not None:
        found.job.locate(partial(of, statement, text))
    if not isinstance(statement, READING):
        return found
    formatted = found.formatted
    shown = None if formatted is None else lambda: walked(formatted(), statement, text)
    return replace(found, rows=walked(found.rows, statement, text), formatted=shown)


#: Statements whose rows come when they are walked.
READING = (syntax.SelectStatement, syntax.Execute)

One = TypeVar("One")


@contextmanager
def of(statement: Statement, text: str) -> Iterator[None]:
    """Attach the span of the whole statement to errors that have none."""
    try:
        yield
    except SchemaCoreError as error:
        for other in (error, *error.others):
            if other.text is None:
                other.text, other.span = text, other.span or statement.span
        raise


@contextmanager
def naming_warehouses(session: Session) -> Iterator[None]:
    """Name the catalogs that manage tables in the hint of a table without a connector."""
    try:
        yield
    except SchemaCoreError as error:
        names = ", ".join(map(quote_identifier, session.registry.managing_names()))
        for other in (error, *error.others):
            if names and other.code == "missing-connector":
                other.hint = (
                    "add the option to its WITH clause: 'connector' = 'filesystem'; or create the "
                    f"table in a catalog that manages its tables: {names}"
                )
        raise


def walked(rows: Iterable[One], statement: Statement, text: str) -> Iterator[One]:
    """Yield the rows and attach the statement to their errors."""
    with of(statement, text):
        yield from rows
