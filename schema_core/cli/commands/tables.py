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

from schema_core.base.paths import ObjectIdentifier, join_names, parse_path
from schema_core.base.text import PartialText, escaped, is_blank, quantity, quote_identifier
from schema_core.catalog.objects import TableKind
from schema_core.cli import UNREADABLE, WRONG, script
from schema_core.cli.commands.compare import iterate_differences
from schema_core.cli.commands.resolve import check, findings_of
from schema_core.cli.findings import VERSION, Level, print_lines, text_lines
from schema_core.environment.plans.dry_run import dry_run_session
from schema_core.environment.session import Session
from schema_core.environment.table_environment import TableEnvironment
from schema_core.mappings.dialects import ddl_losses, read_tables, to_ddl
from schema_core.report import markup
from schema_core.report.catalog_diagrams import draw_catalog, draw_columns, draw_differences
from schema_core.report.diagrams import Diagram
from schema_core.report.lineage import find_lineage
from schema_core.sql.syntax import Name


class ShowOutput(Enum):
    """The format of tables."""

    TEXT = "text"
    JSON = "json"
    SQL = "sql"


class DiagramContent(Enum):
    """What a diagram shows: tables with columns, only their names, or the lineage of columns."""

    TABLES = "tables"
    LINEAGE = "lineage"
    COLUMNS = "columns"


class DiagramOutput(Enum):
    """The format of a diagram."""

    MERMAID = "mermaid"
    SVG = "svg"
    HTML = "html"


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
    print(f"{quantity(len(texts), 'file')} in {output}")


def convert(
    file: Annotated[Path, typer.Argument(help="CREATE TABLE statements; - reads them from stdin.")],
    source: Annotated[str, typer.Option("--from", help="The dialect of the file.")],
    target: Annotated[str, typer.Option("--to", help="The dialect to print.")] = "flink",
    on_loss: Annotated[
        LossPolicy, typer.Option(help="What happens to what the target cannot hold.")
    ] = LossPolicy.ERROR,
) -> None:
    """Convert CREATE TABLE statements from one SQL dialect to another.

    A dump may have any length, and be compressed by gzip; its rows are skipped.
    Losses, and errors of statements that cannot be read, are printed on stderr; the other tables
    are converted. Exits with 1 if there are errors, or with `--on-loss error` if values would
    change, with 2 if the file cannot be read.
    """
    from schema_core.mappings.dialects.dump_files import read_definitions

    with script.exit_on_error(file, None), script.open_binary(file) as stream:
        text = read_definitions(stream, source)
    if is_blank(text) and not isinstance(text, PartialText):
        raise script.unreadable_exit(file, script.EMPTY)
    with script.exit_on_error(file, None):
        dump = read_tables(text, source)
        statements = [
            to_ddl(table.table, target, table.path, on_loss=on_loss.value) for table in dump.tables
        ]
        losses = [(table.path, loss) for table in dump.tables for loss in table.losses]
        losses += [
            (table.path, loss) for table in dump.tables for loss in ddl_losses(table.table, target)
        ]
    if statements:
        print(";\n\n".join(statements) + ";")
    script.print_error(*(escaped(f"{join_names(path)}: {loss}") for path, loss in losses))
    script.print_error(
        *(escaped(f"{file}:{loss.line}:{loss.column}: {loss}") for loss in dump.losses)
    )
    if dump.errors:
        script.show(file, dump.errors)
    if dump.errors or (
        on_loss is LossPolicy.ERROR and any(loss.changes_values for _, loss in losses)
    ):
        raise typer.Exit(WRONG)


def diagram(
    file: script.File,
    table: Annotated[
        list[str] | None,
        typer.Option("--table", "-t", help="A table, with all that it reads; by default all."),
    ] = None,
    show_: Annotated[
        DiagramContent, typer.Option("--show", help="What is drawn.")
    ] = DiagramContent.TABLES,
    against: Annotated[
        Path | None, typer.Option(help="An older script: draw the tables that differ from it.")
    ] = None,
    rename: Annotated[
        list[str] | None, typer.Option(help="TABLE.COLUMN=NEW: a column renamed since `--against`.")
    ] = None,
    define: script.Define = None,
    output: Annotated[
        DiagramOutput, typer.Option("--format", help="The format of the output.")
    ] = DiagramOutput.MERMAID,
) -> None:
    """Draw the tables and views of a catalog, their lineage, or what differs from an older script.

    The catalog is the current one after the script, of which nothing is kept. An arrow leads from a
    table to a view that reads it. Of more than 200 tables, the others are named by number. Exits
    with 1 if a statement is invalid, with 2 if a file cannot be read.
    """
    if against is not None:
        drawn = draw_script_differences(against, file, rename or [])
    else:
        with session_of(file, define) as session:
            drawn = draw_session(session, table, show_)
    notes = [node.text for node in drawn.nodes if node.kind == "note"]
    script.print_error(*map(escaped, notes))
    if output is DiagramOutput.HTML:
        listed = markup.items(map(markup.text, notes))
        print(markup.page(f"Diagram of {file}", markup.scroll(drawn.to_svg()), listed))
    else:
        print(drawn.to_mermaid() if output is DiagramOutput.MERMAID else drawn.to_svg())


def draw_session(session: Session, paths: list[str] | None, content: DiagramContent) -> Diagram:
    """Return the diagram of tables of the current catalog."""
    environment = TableEnvironment(session)
    identifiers = [
        session.identifier(Name(parse_path(path).parts)) for path in paths or paths_in(environment)
    ]
    problems: dict[ObjectIdentifier, str] | None = None if paths else {}
    lineage = find_lineage(session, identifiers, problems)
    if content is DiagramContent.COLUMNS:
        return draw_columns(lineage)
    return draw_catalog(lineage, problems, with_columns=content is DiagramContent.TABLES)


def draw_script_differences(old: Path, new: Path, renames: list[str]) -> Diagram:
    """Return the diagram of the tables of two scripts that differ."""
    with script.exit_on_error(new, UNREADABLE):
        before = script.tables(old).tables
        after, storages, _ = script.tables(new)
        hints = script.renames(renames, [path for path in after if path in before])
        paths = [table.identifier for table in iterate_differences(before, after, hints, storages)]
    former = {path: script.former_names(names) for path, names in hints.items()}
    return draw_differences(before, after, former, paths)


@contextmanager
def environment_of(file: Path, define: list[str] | None) -> Iterator[TableEnvironment]:
    """Yield an environment after a dry run of a script; exits as `session_of`."""
    with session_of(file, define) as session:
        yield TableEnvironment(session)


@contextmanager
def session_of(file: Path, define: list[str] | None) -> Iterator[Session]:
    """Yield a session after a dry run of a script.

    Exits with 1 for errors of the script or the block, with 2 if it cannot be read.
    """
    filled = script.read(file, define)
    with dry_run_session(script.settings(batch=False), checks_connectors=False) as session:
        findings = findings_of(file, filled, check(session, filled.text))
        script.print_error(*text_lines(findings))
        if any(finding.level is Level.ERROR for finding in findings):
            raise typer.Exit(WRONG)
        with script.exit_on_error(file), filled.locating():
            yield session


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
