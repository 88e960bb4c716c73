"""``schema-core sweep``: resolve and verify all tables of a catalog or of dumps."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Annotated, cast

import typer

from schema_core.base.secrets import mask_credentials
from schema_core.catalog.registry import make_catalog
from schema_core.catalog.stores.catalog_store import CatalogDescriptor
from schema_core.catalogs.hive.catalog import HiveCatalog
from schema_core.catalogs.sql.catalog import SqlCatalog
from schema_core.cli import UNREADABLE, script
from schema_core.cli.findings import FindingReport, Format, Level, Output, ReportedFinding, finish
from schema_core.cli.progress import Quiet, follow
from schema_core.environment.jobs.client import submit
from schema_core.environment.jobs.graph import JobGraph
from schema_core.errors import SchemaError
from schema_core.spark import sweep
from schema_core.spark.jobs import SparkJob
from schema_core.spark.session.session import JobSession

#: The environment variable with the password of a SQL catalog.
PASSWORD = "SCHEMA_CORE_PASSWORD"  # noqa: S105 - the name of the variable
#: Prefix of the directory of hive-site.xml.
HIVE = "hive:"
#: Definitions of a catalog that are sent to the cluster at once.
CHUNK = 20_000


def sweep_catalog(
    source: Annotated[
        str,
        typer.Argument(
            help="A file or directory of dumps (.jsonl, .json), the URL of a SQL catalog, or "
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
    report = sweep.SweepReport()

    def sweep_portions() -> None:
        for definitions in portions:
            if results is None:
                report.merge(sweep.sweep_report(definitions, streaming=not batch))
            else:
                rows = sweep.sweep_definitions(definitions, streaming=not batch)
                rows.write.mode("append").parquet(str(results))
        if results is not None and results.exists():
            report.merge(sweep.report_of(session.open_session().read.parquet(str(results))))

    with (
        script.exit_on_error(Path(source), UNREADABLE),
        open_source(source, username) as (session, portions),
    ):
        if results is not None and results.exists():
            problem = f"the directory {str(results)!r} exists"
            raise SchemaError(problem, code="target-not-empty", hint="name a new one")
        spark_job = SparkJob(session.open_session(), f"sweep of {source}", sweep_portions)
        job = submit(JobGraph("spark", spark_job, ()))
        follow(job, quiet)
        job.wait()
    subject, findings = mask_credentials(source), []
    for code, tally in sorted(report.findings.items()):
        count = f"{tally.count:,} definition{'s' if tally.count > 1 else ''}"
        message = f"{count}, such as {'; '.join(map(str, tally.examples))}"
        findings.append(ReportedFinding(Level.ERROR, code, message, subject=subject))
    printed = FindingReport(
        "sweep", findings, [subject], text=[str(report)], document=report.to_json()
    )
    finish(printed, output)


@contextmanager
def open_source(
    source: str, username: str | None
) -> Iterator[tuple[JobSession, Iterator[sweep.Definitions]]]:
    """Yield the Spark session, and the definitions in portions, read while they are swept.

    Raises:
        NotFoundError: with code `not-found` for a path that does not exist.
    """
    if not source.startswith(HIVE) and "://" not in source:
        session = JobSession()
        yield session, sweep.read_dumps(session, source)
        return
    if source.startswith(HIVE):
        login = {"hive-conf-dir": source.removeprefix(HIVE) or None}
        options = {"type": "hive"}
    else:
        login = {"username": username, "password": os.environ.get(PASSWORD)}
        options = {"type": "sql", "url": source}
    options |= {key: value for key, value in login.items() if value is not None}
    catalog = cast(  # by the types above
        "SqlCatalog | HiveCatalog", make_catalog(CatalogDescriptor.of("swept", options))
    )
    if isinstance(catalog, HiveCatalog):
        catalog.open()  # starts Spark with the settings of the metastore
    try:
        session = JobSession()
        maps = catalog.stored_maps()
        chunks = iter(lambda: list(islice(maps, CHUNK)), [])
        yield session, (sweep.definitions_of(session.open_session(), chunk) for chunk in chunks)
    finally:
        catalog.close()
