"""``schema-core sweep``: resolve and verify all tables of a catalog, or of a directory of dumps."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer
from rich.console import Console

from schema_core.base.secrets import mask_credentials
from schema_core.catalog.registry import make_catalog
from schema_core.catalog.stores.catalog_store import CatalogDescriptor
from schema_core.catalogs.hive.catalog import HiveCatalog
from schema_core.catalogs.sql.catalog import SqlCatalog
from schema_core.cli import UNREADABLE, script
from schema_core.cli.findings import FindingReport, Format, Level, Output, ReportedFinding, finish
from schema_core.cli.progress import Quiet, follow
from schema_core.environment.jobs.graph import JobGraph
from schema_core.environment.jobs.run import submit
from schema_core.errors import SchemaError
from schema_core.spark.commit.sweep import (
    definitions_of,
    dumps,
    report_of,
    sweep_definitions,
    sweep_report,
)
from schema_core.spark.commit.sweep_summary import SweepReport
from schema_core.spark.jobs import SparkJob
from schema_core.spark.session.session import JobSession

if TYPE_CHECKING:
    from schema_core.spark.commit.sweep import Portion

#: The variable of the environment with the password of a SQL catalog.
PASSWORD = "SCHEMA_CORE_PASSWORD"  # noqa: S105 - the name of the variable
#: Prefix of the source of a Hive metastore, before the directory of its hive-site.xml.
HIVE = "hive:"
#: Definitions of a catalog that are sent to the cluster at once.
CHUNK = 20_000


def sweep_catalog(
    source: Annotated[
        str,
        typer.Argument(
            help="A file or directory of dumps (.jsonl, .json, .sql), the URL of a SQL catalog, or "
            "hive:DIRECTORY with the directory of hive-site.xml."
        ),
    ],
    batch: Annotated[bool, typer.Option("--batch", help="Without time attributes.")] = False,
    username: Annotated[
        str | None, typer.Option(help=f"The user of a SQL catalog; the password is in {PASSWORD}.")
    ] = None,
    results: Annotated[
        Path | None,
        typer.Option("--results", help="A new directory for the results, as Parquet files."),
    ] = None,
    output: Format = Output.TEXT,
    quiet: Quiet = False,
) -> None:
    """Resolve and verify every table of a catalog on Spark, and print a report.

    The report counts findings by code, the types in use, and the tables that other engines could
    not hold losslessly. Exits with 1 if there are findings, with 2 if the source cannot be read,
    with 130 after Ctrl-C.
    """
    errors = Console(stderr=True, highlight=False)
    report = SweepReport()
    with (
        script.exit_on_error(errors, Path(source), lambda _: UNREADABLE),
        open_source(source, username) as (session, portions),
    ):
        action = _action(portions, report, results, streaming=not batch)
        job = submit(
            JobGraph("spark", SparkJob(session.opened(), f"sweep of {source}", action), ())
        )
        job.wait() if quiet else follow(job, errors)
    finish(findings_of(report, source), output)


def findings_of(report: SweepReport, source: str) -> FindingReport:
    """Return a report with an error for each code, of which the examples are in the message."""
    findings = []
    for code, tally in sorted(report.findings.items()):
        examples = "; ".join(
            f"{path}{f' ({location})' if location else ''}: {message}"
            for path, location, message in tally.examples
        )
        count = f"{tally.count:,} definition{'s' if tally.count > 1 else ''}"
        message = f"{count}, such as {examples}"
        findings.append(
            ReportedFinding(Level.ERROR, code, message, subject=mask_credentials(source))
        )
    subjects = [mask_credentials(source)]
    return FindingReport("sweep", findings, subjects, text=[str(report)], document=report.to_json())


def _action(
    portions: Iterator[Portion], report: SweepReport, results: Path | None, *, streaming: bool
) -> Callable[[], None]:
    """Return what the job does: sweep all portions, and merge their reports."""

    def act() -> None:
        for definitions, form in portions:
            if results is None:
                report.merge(sweep_report(definitions, form, streaming=streaming))
                continue
            found = sweep_definitions(definitions, form, streaming=streaming)
            found.write.mode("append").parquet(str(results))
        if results is not None and results.exists():
            session = JobSession().opened()
            report.merge(report_of(session.read.parquet(str(results))))

    if results is not None and results.exists():
        raise SchemaError(
            f"the directory {str(results)!r} exists", code="path-not-empty", hint="name a new one"
        )
    return act


# --- sources --------------------------------------------------------------------------------------


@contextmanager
def open_source(
    source: str, username: str | None
) -> Iterator[tuple[JobSession, Iterator[Portion]]]:
    """Open a source: the Spark session, and its definitions in portions.

    Raises:
        NotFoundError: with code `not-found` for a path that does not exist.
        SchemaError: with code `unknown-source` for a file that is not a dump.
    """
    if source.startswith(HIVE):
        directory = source.removeprefix(HIVE)
        options = {"type": "hive"} | ({"hive-conf-dir": directory} if directory else {})
        with _portions_of_catalog(options) as found:
            yield found
    elif "://" in source:
        with _portions_of_catalog({"type": "sql", "url": source, **_login(username)}) as found:
            yield found
    else:
        session = JobSession()
        yield session, dumps(session, source)


def _login(username: str | None) -> dict[str, str]:
    login = {"username": username, "password": os.environ.get(PASSWORD)}
    return {key: value for key, value in login.items() if value is not None}


@contextmanager
def _portions_of_catalog(
    options: dict[str, str],
) -> Iterator[tuple[JobSession, Iterator[Portion]]]:
    """Open a catalog; its definitions are read in portions while they are swept."""
    made = make_catalog(CatalogDescriptor.of("swept", options))
    catalog = cast("SqlCatalog | HiveCatalog", made)  # by the types above
    if isinstance(catalog, HiveCatalog):
        catalog.open()  # starts Spark with the settings of the metastore
    try:
        session = JobSession()
        yield session, _portions(session, catalog.stored_maps())
    finally:
        catalog.close()


def _portions(session: JobSession, maps: Iterator[tuple[str, str]]) -> Iterator[Portion]:
    while portion := list(islice(maps, CHUNK)):
        yield definitions_of(session.opened(), portion), "maps"
