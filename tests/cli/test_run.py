"""``schema-core run``: the progress of jobs on stderr."""

from __future__ import annotations

import io
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from datetime import datetime
from pathlib import Path

import pytest
from rich.console import Console
from typer.testing import CliRunner

from schema_core.catalogs.sql.catalog import SqlCatalog
from schema_core.cli import GOOD, INTERRUPTED, TERMINATED, WRONG, progress
from schema_core.cli.app import application
from schema_core.cli.commands import run as run_commands
from schema_core.environment.jobs.client import submit
from schema_core.environment.jobs.graph import JobExecution, JobGraph
from schema_core.environment.jobs.metrics import JobMetrics
from schema_core.errors import ExternalError


class Counting(JobExecution):
    """A job of three tasks, one of which ends at each request of its progress."""

    def __init__(self, error: Exception | None = None) -> None:
        self.done = 0
        self._error = error
        self._ended = threading.Event()

    def run(self, job_id: str) -> None:
        self._ended.wait()
        if self._error is not None:
            raise self._error

    def progress(self, job_id: str) -> tuple[int, int] | None:
        self.done += 1
        if self.done == 4:
            self._ended.set()
        return (self.done - 1, 3) if self.done > 1 else None


def follow(
    monkeypatch: pytest.MonkeyPatch, execution: JobExecution, *, terminal: bool
) -> list[str]:
    monkeypatch.setattr(progress, "UPDATE", 0.15)
    monkeypatch.setattr(progress, "LINES", 0.02)
    text = io.StringIO()
    console = Console(file=text, force_terminal=terminal, width=100, color_system=None)
    try:
        progress.follow(submit(JobGraph("insert into [t]", execution)), console=console)
    except ExternalError as error:
        return [*text.getvalue().splitlines(), error.problem]
    return text.getvalue().splitlines()


def test_progress_is_shown_in_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = follow(monkeypatch, Counting(), terminal=False)

    assert [
        "schema-core: insert into [t]: running after 0 s",
        "schema-core: insert into [t]: 1 of 3 tasks after 0 s",
        "schema-core: insert into [t]: 2 of 3 tasks after 0 s",
        "schema-core: insert into [t]: 3 of 3 tasks after 0 s",
    ] == lines[:4]
    assert lines[4].startswith("schema-core: insert into [t]: finished in 0.")
    assert 5 == len(lines)
    failed = follow(monkeypatch, Counting(OSError("disk full")), terminal=False)
    assert "the job failed: disk full" == failed[-1]
    assert not any("finished" in line for line in failed)


def test_progress_is_shown_as_a_bar_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = "\n".join(follow(monkeypatch, Counting(), terminal=True))

    for part in ("insert into [t]", "1/3 tasks", "3/3 tasks"):
        assert part in shown
    assert "finished in" not in shown
    failed = follow(monkeypatch, Counting(OSError("disk full")), terminal=True)
    assert "the job failed: disk full" == failed[-1]


@pytest.mark.parametrize("terminal", [False, True])
def test_work_without_a_job_shows_how_long_it_takes(
    terminal: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress, "LINES", 0.02)
    text = io.StringIO()
    console = Console(file=text, force_terminal=terminal, width=100, color_system=None)
    with suppress(ValueError), progress.show_elapsed_time("validate [t]", console):
        time.sleep(0.1)
        raise ValueError

    shown = text.getvalue()
    assert ("validate [t]" if terminal else "schema-core: validate [t]: running after 0 s") in shown
    time.sleep(0.05)
    assert shown == text.getvalue()


SCRIPT = """\
CREATE TABLE t (a INT) WITH ('connector' = 'blackhole');
INSERT INTO t VALUES (1);
{last};
SELECT 7 AS a;
"""
RESULT = """\
+------------------------------------+
| default_catalog.default_database.t |
+------------------------------------+
|                                 -1 |
+------------------------------------+
1 row in set
"""


@pytest.mark.usefixtures("spark")
@pytest.mark.parametrize("option", ["", "--quiet", "-q"])
def test_a_script_waits_for_its_jobs(tmp_path: Path, option: str) -> None:
    file = tmp_path / "script.sql"
    file.write_text(SCRIPT.format(last="SELECT 2 AS b"))
    result = CliRunner().invoke(application(), ["run", str(file), *([option] if option else [])])

    assert GOOD == result.exit_code, result.output
    assert RESULT in result.stdout
    lines = result.stderr.splitlines()
    if option:
        assert [] == lines
    else:
        assert 1 == len(lines)
        assert lines[0].startswith("schema-core: insert into default_catalog.default_database.t: ")


@pytest.mark.usefixtures("spark")
@pytest.mark.parametrize("sync", ["true", "false"])
def test_a_script_ends_at_a_job_that_fails(tmp_path: Path, sync: str) -> None:
    file = tmp_path / "script.sql"
    failing = (
        f"SET 'table.dml-sync' = '{sync}';\nINSERT INTO t SELECT 1 / a FROM (VALUES (0)) AS v (a)"
    )
    file.write_text(SCRIPT.format(last=failing))
    result = CliRunner().invoke(application(), ["run", str(file)])

    assert WRONG == result.exit_code
    assert f"{file}:4:1: error[job-failed]: the job failed: division by zero" in result.stderr
    assert "7" not in result.stdout.splitlines()[-3:]
    assert 1 == result.stdout.count("row in set")


@pytest.mark.parametrize("note", ["", "the rows of the job are committed"])
def test_ctrl_c_ends_a_script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, note: str) -> None:
    def interrupted(*_: object) -> None:
        error = KeyboardInterrupt()
        if note:
            error.add_note(note)
        raise error

    monkeypatch.setattr(run_commands, "run_statement", interrupted)
    file = tmp_path / "script.sql"
    file.write_text("SELECT 1")
    result = CliRunner().invoke(application(), ["run", str(file)])

    assert INTERRUPTED == result.exit_code
    assert f"schema-core: interrupted{note and ': '}{note}\n" == result.stderr


def listed(file: Path) -> list[str]:
    """Return the tables of the catalog that a script has created beside itself."""
    catalog = SqlCatalog("c", f"sqlite:///{file.parent / 'c.db'}")
    catalog.open()
    try:
        return catalog.list_tables("default")
    finally:
        catalog.close()


@pytest.mark.parametrize(
    "last",
    [
        "SELECT nope FROM t",
        "SELEC",
        "INSERT INTO t SELECT 'x', 2",
        "CREATE TABLE u (a INT) WITH ('connector' = 'filesistem'); SELECT a FROM u",
        "BEGIN STATEMENT SET; INSERT INTO t SELECT 1",
    ],
)
def test_nothing_is_run_if_any_statement_is_invalid(tmp_path: Path, last: str) -> None:
    file = tmp_path / "script.sql"
    first = (
        f"CREATE CATALOG c WITH ('type' = 'sql', 'url' = 'sqlite:///{tmp_path / 'c.db'}');\n"
        "USE CATALOG c; CREATE TABLE t (a INT) WITH ('connector' = 'blackhole');\n"
    )
    file.write_text(f"{first}{last};")
    done = CliRunner().invoke(application(), ["run", str(file)])

    assert WRONG == done.exit_code
    assert "" == done.stdout
    assert done.stderr.endswith("1 error\nnothing was run\n")
    assert [] == listed(file)

    file.write_text(f"{first}{last if 'SELEC' not in last else 'USE nowhere'};")
    done = CliRunner().invoke(application(), ["run", "--no-check", str(file)])
    assert WRONG == done.exit_code
    assert "t" in listed(file)


# --- streaming mode ------------------------------------------------------------------------------


class Endless(JobExecution):
    """A job with metrics that runs until it is cancelled or fails."""

    has_end = False

    def __init__(self, error: Exception | None = None) -> None:
        self._error = error
        self.canceled = threading.Event()
        self.fails = threading.Event()

    def run(self, job_id: str) -> None:
        while not self.canceled.wait(0.005):
            if self.fails.is_set() and self._error is not None:
                raise self._error

    def cancel(self, job_id: str) -> None:
        self.canceled.set()

    def metrics(self) -> JobMetrics:
        self.fails.set()  # when it has been shown
        return JobMetrics(3, 1234, 1200, None, 2, datetime(2024, 1, 1, 0, 0, 1))  # noqa: DTZ001


def test_streaming_jobs_are_shown_and_stopped_by_the_first_that_fails(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(progress, "UPDATE", 0.01)
    monkeypatch.setattr(progress, "LINES", 0.02)
    text = io.StringIO()
    jobs = [Endless(), Endless(OSError("disk full"))]
    clients = [
        submit(JobGraph(f"insert into {'ab'[place]}", job)) for place, job in enumerate(jobs)
    ]
    with pytest.raises(ExternalError, match="disk full"):
        progress.follow_endless(clients, console=Console(file=text, width=200, color_system=None))

    counts = "1,234 rows in, 1,200 rows out, 2 late rows, watermark 2024-01-01 00:00:01.000"
    assert f"schema-core: insert into a: {counts} after 0 s" in text.getvalue().splitlines()
    assert jobs[0].canceled.is_set()
    assert ["CANCELED", "FAILED"] == [client.get_job_status().result().name for client in clients]


@pytest.mark.parametrize(
    ("text", "streaming"),
    [
        ("SET 'execution.runtime-mode' = 'streaming'; SELECT 1", True),
        ("SET 'a' = 'b'; SET 'execution.runtime-mode' = 'STREAMING'; SELECT 1", True),
        ("SELECT 1; SET 'execution.runtime-mode' = 'streaming'", False),
        ("SET; SELECT 1", False),
    ],
)
def test_a_script_sets_its_mode_at_its_beginning(text: str, streaming: bool) -> None:
    assert streaming == run_commands.settings_of(text, streaming=False).is_streaming_mode()
    assert run_commands.settings_of("SELECT 1", streaming=True).is_streaming_mode()
    batch = "SET 'execution.runtime-mode' = 'batch'; SELECT 1"
    assert not run_commands.settings_of(batch, streaming=True).is_streaming_mode()


STREAM = """\
SET 'execution.checkpointing.dir' = '{root}/checkpoints';
CREATE TABLE s (id INT) WITH ('connector' = 'filesystem', 'path' = '{root}/source',
  'format' = 'csv', 'source.monitor-interval' = '100 ms');
CREATE TABLE t (id INT) WITH ('connector' = 'filesystem', 'path' = '{root}/t', 'format' = 'csv');
CREATE TABLE u (id INT) WITH ('connector' = 'filesystem', 'path' = '{root}/u', 'format' = 'csv');
INSERT INTO t SELECT id FROM s;
INSERT INTO u SELECT id * 2 FROM s;
SHOW JOBS;
"""


def test_sigterm_stops_the_jobs_of_a_script(tmp_path: Path) -> None:
    file, source = tmp_path / "job.sql", tmp_path / "source"
    file.write_text(STREAM.format(root=tmp_path))
    source.mkdir()
    (source / "1.csv").write_text("1\n2\n")

    def written(name: str) -> list[str]:
        return sorted(
            line for part in (tmp_path / name).glob("[!._]*") for line in part.read_text().split()
        )

    command = [sys.executable, "-m", "schema_core.cli", "run", str(file), "--streaming"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 120
    while (written("t"), written("u")) != (["1", "2"], ["2", "4"]) and time.monotonic() < deadline:
        time.sleep(0.1)
    process.send_signal(signal.SIGTERM)
    output, errors = process.communicate(timeout=120)
    assert TERMINATED == process.returncode, errors
    assert 2 == output.count("Job ID: ")
    assert 2 == output.count("| RUNNING |")
    assert errors.endswith("schema-core: terminated\n")
