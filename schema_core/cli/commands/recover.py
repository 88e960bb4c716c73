"""``schema-core recover``: recover tables of jobs whose processes have ended."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

import typer
from rich.console import Console

from schema_core.base.paths import ObjectIdentifier, parse_path
from schema_core.cli import script
from schema_core.environment.config import EnvironmentSettings
from schema_core.environment.jobs.recovery import (
    Recovery,
    RecoveryAction,
    list_identifiers,
    recover_tables,
)
from schema_core.environment.operations.dispatch import run
from schema_core.environment.session import Session
from schema_core.sql import statement_syntax
from schema_core.sql.parser import parse_statements

#: The statements that are executed: those on which the catalogs and the meaning of tables depend.
SETTING_UP: tuple[type[statement_syntax.Statement], ...] = (
    statement_syntax.CreateCatalog,
    statement_syntax.CreateFunction,
    statement_syntax.Jar,
    statement_syntax.LoadModule,
    statement_syntax.SetOption,
    statement_syntax.UseCatalog,
    statement_syntax.UseDatabase,
    statement_syntax.UseModules,
)

Tables = Annotated[
    list[str] | None,
    typer.Option("--table", "-t", help="A table; by default all of the current catalog."),
]


def recover(file: script.File, define: script.Define = None, table: Tables = None) -> None:
    """Recover tables of jobs whose processes have ended: commit or roll back.

    Of the script only the statements that set a session up are executed, such as CREATE CATALOG,
    USE and SET. Exits with 1 if a table cannot be recovered, with 2 if the file cannot be read.
    """
    text = script.read(file, define)
    errors = Console(stderr=True, highlight=False)
    with script.exit_on_error(errors, file):
        session = Session(EnvironmentSettings.in_batch_mode())
        for statement in parse_statements(text):
            if isinstance(statement, SETTING_UP):
                run(session, statement, text)
        found = recover_tables(session, _iterate_tables(session, table), _show)
    print(f"{len(found)} {'table' if len(found) == 1 else 'tables'}")


def _show(recovery: Recovery) -> None:
    if recovery.action is not RecoveryAction.CHECKED:
        print(recovery)


def _iterate_tables(session: Session, names: list[str] | None) -> Iterator[ObjectIdentifier]:
    """Return the tables to recover."""
    if names:
        return iter([session.registry.qualify(parse_path(name)) for name in names])
    catalog = session.registry.current_catalog
    return iter(()) if catalog is None else list_identifiers(session, catalog)
