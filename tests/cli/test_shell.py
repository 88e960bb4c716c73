"""``schema-core sql``: statements of a pipe, and a prompt on a device without a screen."""

from __future__ import annotations

import io
import os
import pty
import re
import select
import signal
import subprocess
import sys
import termios
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import typer
from rich.console import Console
from typer.testing import CliRunner, Result

from schema_core.base.plugins import install_command
from schema_core.cli.app import application
from schema_core.cli.commands import shell
from schema_core.cli.commands.shell import Shell
from schema_core.environment.config import EnvironmentSettings
from schema_core.environment.jobs.client import submit
from schema_core.environment.jobs.graph import JobExecution, JobGraph
from schema_core.environment.jobs.metrics import JobMetrics
from schema_core.environment.plans.dry_run import DryRunPlanner
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
        shell.interact(Shell(environment, console), session)
    return output.getvalue()


def test_a_statement_has_several_lines(environment: TableEnvironment, tmp_path: Path) -> None:
    keys = f"{TABLE}\rSHOW\rTABLES\r;\rhelp\rexit\r"
    shown = interact(environment, tmp_path / "history", keys)

    assert ["orders"] == environment.list_tables()
    assert "orders" in shown
    assert "1 row" in shown
    assert r"\d NAME" in shown
    assert "Ctrl-R" in shown


def test_names_are_completed(environment: TableEnvironment, tmp_path: Path) -> None:
    environment.execute_sql(TABLE.removesuffix(";"))
    with typed(environment, tmp_path / "history", "") as session:
        from prompt_toolkit.completion import CompleteEvent
        from prompt_toolkit.document import Document

        text = Document("SHOW TABLES;\nDESCRIBE ord")
        result = list(session.completer.get_completions(text, CompleteEvent()))

    assert [("orders", -3)] == [(item.text, item.start_position) for item in result]
    assert [] == [*shell.completions(environment, "SELECT 'a", 9)]
    text = "CREATE TABLE t (a INT) WITH ('topic' = 'a;b', 'conn"
    assert [("connector", 4)] == [*shell.completions(environment, text, len(text))]


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


def test_commands_of_the_shell(
    environment: TableEnvironment, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "tables.sql"
    file.write_text(f"{TABLE}\nSELEC")
    inputs = (
        rf"\i {file}",
        r"\d",
        r"\d default_database.`orders`;",
        r"\x",
        r"\d orders",
        r"\timing",
        "SHOW VIEWS;",
        r"\d+ a",
        r"\i",
        r"\i -",
        r"\i ~absent/x.sql",
        rf"\i {tmp_path / 'absent.sql'}",
        "QUIT;",
        "CREATE DATABASE d;",
    )
    keys = "".join(f"{line}\r" for line in inputs)
    shown = interact(environment, tmp_path / "history", keys)
    output = capsys.readouterr()

    assert 1 == shown.count("table name\n")
    assert 1 == shown.count("\nid    INT   TRUE")
    assert "-[ row 1 ]-\n" in shown
    assert "name      | id\n" in shown
    assert "Time: 0." in output.out
    assert f"{file}:2:1: error[syntax]" in output.err
    assert r"unknown command \d+" in output.err
    assert 2 == output.err.count(r"usage: \i FILE")
    assert "~absent/x.sql: No such file" in output.err
    assert "absent.sql: No such file" in output.err
    assert ["default_database"] == environment.list_databases(), "QUIT ends the shell"


#: A control sequence of terminals.
CONTROL = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


def test_keys_on_a_terminal(tmp_path: Path) -> None:
    pytest.importorskip("prompt_toolkit")
    history = tmp_path / "history"
    history.write_text("\n# 2026-01-01\n+SHOW CATALOGS;\n")
    environment = {**os.environ, "TERM": "xterm", "PROMPT_TOOLKIT_NO_CPR": "1", "NO_COLOR": "1"}
    command = [sys.executable, "-m", "schema_core.cli", "sql", "--history", str(history)]
    master, slave = pty.openpty()
    termios.tcsetwinsize(slave, (20, 60))
    device = {"stdin": slave, "stdout": slave, "stderr": slave}
    with subprocess.Popen(command, env=environment, **device) as process, ExitStack() as stack:  # type: ignore[call-overload]
        stack.callback(process.kill)  # Popen waits for the process if the test fails
        os.close(slave)

        def read_until(*expected: str) -> None:
            text = ""
            for part in expected:
                while part not in text:
                    assert select.select([master], [], [], 20)[0], text
                    text = CONTROL.sub("", text + os.read(master, 1_000).decode())
                text = text.partition(part)[2]

        def press(keys: str) -> None:
            os.write(master, keys.encode())

        prompt = shell.PROMPT.strip()
        read_until("batch mode", prompt)
        press("\x1b[A")
        read_until("SHOW CATALOGS;")
        press("\r")
        read_until("default_catalog", "1 row", prompt)
        press("SHOW CREATE 'a;\r")
        read_until("'..>")
        press("\x03")
        read_until(prompt)
        press("USE CATALOG def\t")
        read_until("default_catalog")
        press(";\r")
        read_until("OK", prompt)
        press("\x04")
        assert 0 == process.wait(60)
    os.close(master)


def test_statements_of_options(tmp_path: Path) -> None:
    file = tmp_path / "tables.sql"
    file.write_text(TABLE.replace("orders", "${name}"))
    runner, app = CliRunner(), application()

    done = runner.invoke(app, ["sql", "-c", "SHOW CATALOGS; SELEC"])
    assert (1, True) == (done.exit_code, "default_catalog" in done.stdout)
    assert "<command>:1:16: error[syntax]" in done.stderr
    for option, value in (("-f", str(file)), ("-c", file.read_text())):
        done = runner.invoke(app, ["sql", option, value, "--define", "name=t"])
        assert (0, "OK\n") == (done.exit_code, done.stdout)
    assert 2 == runner.invoke(app, ["sql", "-f", str(file), "-c", "SHOW TABLES"]).exit_code


def test_ctrl_c_cancels_a_statement(
    environment: TableEnvironment,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(TableEnvironment, "execute_statement", interrupted)
    terminal = Console(file=io.StringIO(), force_terminal=True)
    assert not shell.run_text(Shell(environment, terminal, has_prompt=True), "SHOW TABLES")
    assert "cancelled\n" == capsys.readouterr().err
    with pytest.raises(typer.Exit) as caught:  # of --file or --command
        shell.run_text(Shell(environment, terminal), "SHOW TABLES")
    assert 130 == caught.value.exit_code
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
        done = shell.run_text(
            Shell(environment, Console(file=output, force_terminal=terminal)), text
        )
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
        run("SET 'sql-client.execution.result-mode' = 'changelog'")
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
