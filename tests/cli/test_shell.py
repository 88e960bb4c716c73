"""``schema-core sql``: statements of a pipe, and a prompt on a device without a screen."""

from __future__ import annotations

import io
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import typer
from rich.console import Console
from typer.testing import CliRunner, Result

from schema_core.base.plugins import install_command
from schema_core.cli.app import application
from schema_core.cli.commands import shell
from schema_core.environment.config import EnvironmentSettings
from schema_core.environment.jobs.client import submit
from schema_core.environment.jobs.graph import JobExecution, JobGraph
from schema_core.environment.jobs.metrics import JobMetrics
from schema_core.environment.plans.dry_run import DryRunPlanner
from schema_core.environment.result import string_result
from schema_core.environment.table_environment import TableEnvironment

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TABLE = "CREATE TABLE orders (id INT) WITH ('connector' = 'print');"


@pytest.fixture
def environment() -> TableEnvironment:
    settings = EnvironmentSettings.in_batch_mode()
    return TableEnvironment.create(settings, planner=DryRunPlanner())


def piped(text: str, *options: str) -> Result:
    return CliRunner().invoke(application(), ["sql", *options], input=text)


def test_statements_of_a_pipe_run_until_one_fails(tmp_path: Path) -> None:
    done = piped(f"{TABLE} SHOW TABLES;")
    assert 0 == done.exit_code
    assert "|     orders |" in done.stdout
    setup = tmp_path / "setup.sql"
    setup.write_text(TABLE)
    done = piped("DESCRIBE orders; DESCRIBE nope; SHOW TABLES", "--setup", str(setup))
    assert 1 == done.exit_code
    assert "<stdin>:1:27: error[table-not-found]" in done.stderr
    assert "|   id |" in done.stdout
    assert "table name" not in done.stdout


def test_what_cannot_be_read_ends_with_2(tmp_path: Path) -> None:
    setup = tmp_path / "setup.sql"
    setup.write_text("SELEC")
    assert 2 == piped("SHOW TABLES", "--setup", str(setup)).exit_code
    assert 2 == piped("SHOW TABLES", "--setup", str(tmp_path / "absent.sql")).exit_code
    assert 2 == piped("").exit_code


@contextmanager
def typed(environment: TableEnvironment, history: Path, keys: str) -> Iterator[Any]:
    """Return a prompt at which keys are typed."""
    pytest.importorskip("prompt_toolkit")
    from prompt_toolkit.input import create_pipe_input
    from prompt_toolkit.output import DummyOutput

    with create_pipe_input() as device:
        device.send_text(keys)
        yield shell.prompt_session(environment, history, input=device, output=DummyOutput())


def interact(environment: TableEnvironment, history: Path, keys: str) -> str:
    output = io.StringIO()
    console = Console(file=output, force_terminal=True, width=60, color_system=None)
    with typed(environment, history, keys) as session:
        shell.interact(environment, session, console)
    return output.getvalue()


def test_a_statement_has_several_lines(environment: TableEnvironment, tmp_path: Path) -> None:
    keys = f"{TABLE}\rSHOW\rTABLES\r;\rhelp\rexit\r"
    shown = interact(environment, tmp_path / "history", keys)

    assert ["orders"] == environment.list_tables()
    assert "orders" in shown
    assert "1 row" in shown
    assert "Ctrl-D ends the shell" in shown


def test_names_are_completed(environment: TableEnvironment, tmp_path: Path) -> None:
    environment.execute_sql(TABLE.removesuffix(";"))
    with typed(environment, tmp_path / "history", "") as session:
        from prompt_toolkit.completion import CompleteEvent
        from prompt_toolkit.document import Document

        text = Document("SHOW TABLES;\nDESCRIBE ord")
        result = list(session.completer.get_completions(text, CompleteEvent()))

    assert [("orders", -3)] == [(item.text, item.start_position) for item in result]
    assert [] == [*shell.completions(environment, "SELECT 'a", 9)]


def test_errors_and_interrupts_do_not_end_the_shell(
    environment: TableEnvironment, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    keys = f"SELEC;\rSELECT\x03{TABLE}\rSHOW TABLES;\r\x04"
    shown = interact(environment, tmp_path / "history", keys)

    assert "error[syntax]" in capsys.readouterr().err
    assert "orders" in shown


def test_the_history_is_kept_without_secrets(environment: TableEnvironment, tmp_path: Path) -> None:
    file = tmp_path / "state" / "history"
    secret = "CREATE TABLE s (a INT) WITH ('connector' = 'print', 'password' = 'hunter2');"
    interact(environment, file, f"SHOW TABLES;\r{secret}\r\x04")

    text = file.read_text()
    assert "SHOW TABLES;" in text
    assert "hunter2" not in text
    assert 0o600 == file.stat().st_mode & 0o777
    # the second shell finds the statement of the first one
    assert "result" not in interact(environment, file, "\x1b[A\r\x04")
    interact(environment, tmp_path / "state" / "history" / "below", "exit\r")


def test_tables_fit_the_terminal() -> None:
    output = io.StringIO()
    console = Console(file=output, force_terminal=True, width=40, color_system=None)
    rows = [("x" * 100, None)] * (shell.MAX_ROWS + 1)
    shell.show(string_result(["first", "second"], rows), console)
    lines = output.getvalue().splitlines()

    assert max(map(len, lines)) <= 40
    assert "…" in lines[1]
    assert "<N…" in lines[1]
    assert shell.MAX_ROWS == sum(line.startswith("xxx") for line in lines)
    assert "1,000 rows or more; the first 1,000 are shown" == "".join(lines[-2:])


def test_ctrl_c_cancels_a_statement(
    environment: TableEnvironment,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(TableEnvironment, "execute_statement", interrupted)
    terminal = Console(file=io.StringIO(), force_terminal=True)
    assert not shell.run_text(environment, "SHOW TABLES", terminal)
    assert "cancelled\n" == capsys.readouterr().err
    assert 130 == piped("SHOW TABLES").exit_code


def test_the_history_is_in_the_state_directory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", "/state")
    assert Path("/state/schema-core/history") == shell.history_file()


def test_the_prompt_requires_an_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shell, "is_interactive", lambda: True)
    monkeypatch.setitem(sys.modules, "prompt_toolkit", None)
    done = piped("SHOW TABLES")

    assert (2, "") == (done.exit_code, done.stdout)
    assert f"hint: {install_command('cli')}" in done.stderr


class Interrupting(io.StringIO):
    """An output that sends Ctrl-C to this process when it has three rows of a changelog."""

    def write(self, text: str) -> int:
        count = super().write(text)
        if text.startswith("| +I |") and 3 == self.getvalue().count("| +I |"):
            signal.raise_signal(signal.SIGINT)
        return count


def test_streaming_jobs_run_while_statements_are_run(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    environment = TableEnvironment.create(EnvironmentSettings.in_streaming_mode(), spark=spark)
    previous = signal.getsignal(signal.SIGINT)

    def run(text: str, *, terminal: bool = False) -> str:
        output = Interrupting()
        monkeypatch.setattr(sys, "stdout", output)
        done = shell.run_text(environment, text, Console(file=output, force_terminal=terminal))
        assert done is not terminal, "interrupted"
        return output.getvalue()

    try:
        started = run(
            "CREATE TABLE d (id BIGINT) WITH ('connector' = 'datagen', 'rows-per-second' = '50');"
            "CREATE TABLE b (id BIGINT) WITH ('connector' = 'blackhole');"
            "INSERT INTO b SELECT id FROM d; SHOW JOBS"
        )
        job = started.partition("Job ID: ")[2].partition("\n")[0]
        assert "| RUNNING |" in started
        rows = run("SELECT id FROM d WHERE id > 0", terminal=True)
        assert "+----+----------------------+" == rows.splitlines()[0]
        assert "rows in set" not in rows
        until = time.monotonic() + 60
        while not (environment.jobs.get(job).metrics() or JobMetrics()).rows_in:
            assert time.monotonic() < until
            time.sleep(0.1)
        described = run(f"DESCRIBE JOB '{job}'")
        assert "RUNNING" in described, "Ctrl-C does not end other jobs"
        assert "rows in | rows out | state rows" in described
        assert " sink | " in described
        run(f"STOP JOB '{job}'")
        assert "CANCELED" in run(f"DESCRIBE JOB '{job}'")
        shell.wait_for_jobs(environment)
    finally:
        signal.signal(signal.SIGINT, previous)
        for job_client in shell.endless_jobs(environment):
            job_client.cancel().result()


def test_a_shell_waits_for_its_jobs_at_the_end(
    environment: TableEnvironment, capsys: pytest.CaptureFixture[str]
) -> None:
    class Failing(JobExecution):
        has_end = False

        def run(self, job_id: str) -> None:
            time.sleep(0.1)
            raise OSError("no disk")

    environment.jobs.add(submit(JobGraph("insert into t", Failing())).run)
    with pytest.raises(typer.Exit) as caught:
        shell.wait_for_jobs(environment)
    shell.wait_for_jobs(environment)

    assert 1 == caught.value.exit_code
    first, *others = capsys.readouterr().err.splitlines()
    assert "schema-core: Ctrl-C stops the running jobs: insert into t" == first
    assert "error[job-failed]: the job failed: no disk" in others[0]
