"""``schema-core ctas``: a new table from a query."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from schema_core.base.paths import parse_path
from schema_core.base.text import quote_identifier
from schema_core.cli import script
from schema_core.cli.commands.run import require_valid
from schema_core.cli.progress import Quiet, follow
from schema_core.environment.config import EnvironmentSettings
from schema_core.environment.table_environment import TableEnvironment
from schema_core.errors import SchemaError
from schema_core.sql.parser import parse_query, parse_statements


def ctas(
    table: Annotated[str, typer.Argument(metavar="TABLE", help="The path of the new table.")],
    query: Annotated[
        Path, typer.Argument(metavar="QUERY", help="A file with a query; - reads it from stdin.")
    ],
    setup: Annotated[
        Path | None, typer.Option(help="A script that creates the catalogs and the sources.")
    ] = None,
    option: Annotated[
        list[str] | None, typer.Option("--option", "-o", help="KEY=VALUE: an option of the table.")
    ] = None,
    replace: Annotated[bool, typer.Option("--replace", help="Replace an existing table.")] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print its effects, guarantees and losses.")
    ] = False,
    define: script.Define = None,
    quiet: Quiet = False,
) -> None:
    """Create a table from the rows of a query, and wait for the job.

    The setup is run before. Everything is checked before anything is changed. Exits with 1 if a
    statement is invalid or fails, with 2 if a file cannot be read, with 130 after Ctrl-C.
    """
    errors = Console(stderr=True, highlight=False)
    before = "" if setup is None else script.read(setup, define)
    text = script.read(query, define)
    with script.exit_on_error(errors, query, script.exit_code):
        statement = create_table_as(table, text, option or [], replace=replace)
    require_valid(setup or query, f"{before.rstrip().rstrip(';')};\n{statement}", errors)
    with script.exit_on_error(errors, query):
        environment = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
        for preceding in parse_statements(before) if before else ():
            result = environment.execute_statement(preceding, before)
            result.wait()
        if dry_run:
            print(environment.plan_ctas(statement))
            return
        result = environment.execute_sql(statement)
        if result.job is not None and not quiet:
            follow(result.job, errors)
        result.wait()
    print(f"created {table}")


def create_table_as(table: str, query: str, options: list[str], *, replace: bool = False) -> str:
    """Return the statement that creates a table from a query.

    Raises:
        SchemaError: with code `wrong-argument` for an option of another form.
        ParseError: for a path or a query outside the grammar.

    >>> print(create_table_as("d.t", "SELECT 1 AS a", ["connector=print"]))
    CREATE TABLE `d`.`t`
    WITH ('connector' = 'print')
    AS SELECT 1 AS a
    """
    text = query.strip().removesuffix(";")
    parse_query(text)
    path = ".".join(map(quote_identifier, parse_path(table).parts))
    pairs = []
    for option in options:
        key, sign, value = (part.replace("'", "''") for part in option.partition("="))
        if not (key and sign):
            raise SchemaError(f"--option requires KEY=VALUE, got {option!r}", code="wrong-argument")
        pairs.append(f"'{key}' = '{value}'")
    start = "CREATE OR REPLACE TABLE" if replace else "CREATE TABLE"
    clause = f"\nWITH ({', '.join(pairs)})" if pairs else ""
    return f"{start} {path}{clause}\nAS {text}"
