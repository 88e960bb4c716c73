"""``schema-core show``, ``snapshot`` and ``convert``: tables of scripts, catalogs and dumps."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from enum import Enum
from pathlib import Path
from typing import Annotated
from urllib.parse import quote

import typer

from schema_core.base.paths import join_names, parse_path
from schema_core.base.text import escaped, quote_identifier
from schema_core.catalog.objects import TableKind
from schema_core.cli import WRONG, script
from schema_core.cli.commands.resolve import check, findings_of
from schema_core.cli.findings import VERSION, Level, print_lines, text_lines
from schema_core.environment.config import EnvironmentSettings
from schema_core.environment.plans.dry_run import dry_run_session
from schema_core.environment.table_environment import TableEnvironment
from schema_core.mappings.dialects import ddl_losses, read_tables, to_ddl


class ShowOutput(Enum):
    """The format of tables."""

    TEXT = "text"
    JSON = "json"
    SQL = "sql"


class LossPolicy(Enum):
    """What to do with what a dialect cannot hold."""

    ERROR = "error"
    NOTE = "note"
    ACCEPT = "accept"


def show(
    file: script.File,
    table: Annotated[
        list[str] | None, typer.Option("--table", "-t", help="A table; by default all.")
    ] = None,
    define: script.Define = None,
    output: Annotated[
        ShowOutput, typer.Option("--format", help="The format of the output.")
    ] = ShowOutput.TEXT,
) -> None:
    """Print the tables and views that a script leaves in its current catalog.

    A script that only creates and selects a catalog prints the tables of that catalog. Nothing is
    changed. Secrets are masked. Exits with 1 if a statement is invalid, with 2 if the file cannot
    be read.
    """
    with environment_of(file, define) as environment:
        paths = table or list(paths_in(environment))
        if output is ShowOutput.JSON:
            tables = {
                path: [
                    {"name": column.name, "type": str(column.get_data_type())}
                    for column in environment.from_path(path).get_resolved_schema().get_columns()
                ]
                for path in paths
            }
            print(json.dumps({"version": VERSION, "tables": tables}, indent=2))
        elif output is ShowOutput.SQL:
            for path in paths:
                print(f"{create_statement(environment, path)};\n")
        else:
            for path in paths:
                schema = environment.from_path(path).get_resolved_schema()
                print_lines(map(escaped, f"{path} {schema}".split("\n")))


def snapshot(
    file: script.File,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="The directory of the files; new or empty.")
    ],
    define: script.Define = None,
    replace: Annotated[
        bool, typer.Option("--replace", help="Write into a directory that has files.")
    ] = False,
) -> None:
    """Write the tables and views of a catalog as files, with one CREATE statement each.

    The catalog is the current one after the script, of which nothing is kept. Secrets are masked.
    Exits with 1 if a statement is invalid, with 2 if a file cannot be read or written.
    """
    with environment_of(file, define) as environment:
        texts = {
            f"{quote(join_names(parse_path(path).parts), safe='')}.sql": create_statement(
                environment, path
            )
            for path in paths_in(environment)
        }
    try:
        output.mkdir(parents=True, exist_ok=True)
        if not replace and any(output.iterdir()):
            raise script.report_unable(f"the directory {output} is not empty", "add --replace")
        for name, text in texts.items():
            (output / name).write_text(f"{text};\n", encoding="utf-8")
    except OSError as error:
        raise script.report_unable(f"cannot write {output}: {error.strerror}") from None
    print(f"{len(texts)} file{'' if len(texts) == 1 else 's'} in {output}")


def convert(
    file: Annotated[Path, typer.Argument(help="CREATE TABLE statements; - reads them from stdin.")],
    source: Annotated[str, typer.Option("--from", help="The dialect of the file.")],
    target: Annotated[str, typer.Option("--to", help="The dialect to print.")] = "flink",
    on_loss: Annotated[
        LossPolicy, typer.Option(help="What happens to what the target cannot hold.")
    ] = LossPolicy.ERROR,
) -> None:
    """Convert CREATE TABLE statements from one SQL dialect to another.

    Losses are printed on stderr. Exits with 1 if a table is invalid, or with `--on-loss error` if
    values would change, with 2 if the file cannot be read.
    """
    text = script.read_text(file)
    with script.exit_on_error(file, None):
        dump = read_tables(text, source)
        statements = [
            to_ddl(table.table, target, table.path, on_loss=on_loss.value) for table in dump.tables
        ]
        losses = [(table.path, loss) for table in dump.tables for loss in table.losses]
        losses += [
            (table.path, loss) for table in dump.tables for loss in ddl_losses(table.table, target)
        ]
    print(";\n\n".join(statements) + ";")
    script.print_error(*(escaped(f"{join_names(path)}: {loss}") for path, loss in losses))
    script.print_error(*(escaped(str(loss)) for loss in dump.losses))
    if on_loss is LossPolicy.ERROR and any(loss.changes_values for _, loss in losses):
        raise typer.Exit(WRONG)


@contextmanager
def environment_of(file: Path, define: list[str] | None) -> Iterator[TableEnvironment]:
    """Yield an environment after a dry run of a script.

    Exits with 1 for errors of the script or the block, with 2 if it cannot be read.
    """
    text = script.read(file, define)
    with dry_run_session(
        EnvironmentSettings.in_streaming_mode(), checks_connectors=False
    ) as session:
        findings = findings_of(file, check(session, text))
        script.print_error(*text_lines(findings))
        if any(finding.level is Level.ERROR for finding in findings):
            raise typer.Exit(WRONG)
        with script.exit_on_error(file):
            yield TableEnvironment(session)


def paths_in(environment: TableEnvironment) -> Iterator[str]:
    """Yield the quoted paths of the current catalog's tables and views, without its name."""
    for database in environment.list_databases():
        for name in environment.list_tables(None, database):
            yield ".".join(map(quote_identifier, (database, name)))


def create_statement(environment: TableEnvironment, path: str) -> str:
    """Return the CREATE statement of a table or view: no catalog in its path, secrets masked."""
    table = environment.find_table(path)
    is_view = table is not None and table.kind is TableKind.VIEW
    result = environment.execute_sql(f"SHOW CREATE {'VIEW' if is_view else 'TABLE'} {path}")
    catalog = quote_identifier(environment.get_current_catalog() or "")
    return str(next(iter(result.rows))[0]).rstrip().replace(f"{catalog}.", "", 1)
