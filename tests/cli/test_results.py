"""Results of statements on a terminal: tables, the pager, and rows that are updated."""

from __future__ import annotations

import io
import logging
import signal
import sys
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from queue import Queue
from typing import Any

import pytest
from rich.console import Console

from schema_core import ResolvedSchema
from schema_core.cli import results, script
from schema_core.cli.main import is_not_interrupt
from schema_core.environment.planner import Change
from schema_core.environment.result import PrintStyle, TableResult, string_result
from schema_core.spark import jobs
from schema_core.spark.session.session import deferred_interrupt
from schema_core.types import DataTypes, RowKind


def terminal(width: int = 40, height: int = 10) -> Console:
    return Console(
        file=io.StringIO(), force_terminal=True, width=width, height=height, color_system=None
    )


def shown(result: TableResult, console: Console | None = None, **options: bool) -> str:
    console = console or terminal()
    results.show_result(result, console, **options)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def query_result(rows: list[tuple[Any, ...]], **arguments: Any) -> TableResult:
    schema = ResolvedSchema.physical(["k", "n"], [DataTypes.STRING(), DataTypes.INT()])
    return TableResult(schema, rows, **arguments)


def test_tables_fit_the_terminal() -> None:
    rows = [("x" * 100, 1)] * (results.MAX_ROWS + 1)
    lines = shown(query_result(rows)).splitlines()

    assert max(map(len, lines)) <= 40
    assert "…" in lines[1]
    assert lines[1].endswith("…  1")
    assert results.MAX_ROWS == sum(line.startswith("xxx") for line in lines)
    assert "1,000 rows or more; the first 1,000 are shown" == "".join(lines[-2:])


def test_null_and_line_breaks() -> None:
    assert "a  <NULL>\n" in shown(query_result([("a", None), ("b", 10000)]))
    assert "a\n1 row\n" == shown(string_result(["k", "n"], [("a", None)])).partition("\n")[
        2
    ].replace(" ", "").replace("1row", "1 row")
    text = "CREATE TABLE t (\n  `\x1b` INT\n)"
    expected = text.replace("\x1b", r"\x1b") + "\n"
    assert expected == shown(string_result(["result"], [(text,)]))
    assert expected == shown(
        TableResult(string_result(["result"], []).schema, [(text,)], style=PrintStyle.RAW)
    )


def test_plans_are_trees_that_fit_the_terminal() -> None:
    plan = "== Tree ==\nUnion(fields=[a STRING, b STRING, c STRING, d STRING])\n"
    plan += ":- Values(rows=[1])\n+- Values(rows=[2])\n\n== SQL ==\n" + "x" * 50
    result = replace(string_result(["result"], [(plan,)]), style=PrintStyle.RAW)
    lines = """\
== Tree ==
Union
│ fields: a STRING, b STRING, c STRING,
│   d STRING
├─ Values
│    rows: 1
└─ Values
     rows: 2

== SQL ==
"""
    assert f"{lines}{'x' * 50}\n" == shown(result, terminal(height=20))


def test_expanded_rows_are_complete() -> None:
    result = shown(query_result([("x" * 60, None)]), is_expanded=True)
    assert f"-[ row 1 ]-\nk | {'x' * 60}\nn | <NULL>\n1 row\n" == result
    wide = string_result(["\u6f22", "abc"], [("1", "2")])
    assert "\u6f22  | 1\nabc | 2\n" in shown(wide, is_expanded=True)
    breaks = string_result(["k"], [("a\nb",), (None,)])
    assert shown(breaks).endswith("2 rows\n")


@pytest.fixture
def pager(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the file to which the pager writes what it is given."""
    file = tmp_path / "page"
    monkeypatch.setattr(sys, "stdin", open("/dev/null"))  # noqa: SIM115, PTH123
    monkeypatch.setattr(sys.stdin, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("PAGER", f"sh -c 'cat > {file}'")
    return file


def test_long_results_are_paged(
    pager: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [(f"{'x' * 100}{number}", number) for number in range(20)]
    assert "20 rows\n" == shown(query_result(rows))
    lines = pager.read_text().splitlines()
    assert 21 == len(lines)
    assert ["x" * 100 + "19", "19"] == lines[-1].split()
    pager.unlink()
    assert "" == shown(string_result(["result"], [("a\nb" * 20,)]))
    assert 21 == len(pager.read_text().splitlines())

    monkeypatch.setenv("TERM", "dumb")
    assert "19" in shown(query_result(rows))
    monkeypatch.setenv("TERM", "xterm")
    for command in ("", "a-pager-that-is-not-installed", "less '"):
        monkeypatch.setenv("PAGER", command)
        assert [] == results.pager_command()
    broken = pager.with_name("broken")
    broken.write_bytes(b"\0")
    broken.chmod(0o700)
    monkeypatch.setenv("PAGER", str(broken))
    shown(query_result(rows))
    assert "19" in capsys.readouterr().out, "a file that is not a program"


def changes() -> Iterator[tuple[str | None, ...]]:
    yield Change(("a", "1"), RowKind.INSERT)
    yield Change(("b", "1"), RowKind.INSERT)
    yield Change(("b", "1"), RowKind.INSERT)
    yield Change(("a", "1"), RowKind.UPDATE_BEFORE)
    yield Change(("a", "2"), RowKind.UPDATE_AFTER)
    yield Change(("b", "1"), RowKind.DELETE)


def streaming(rows: Any) -> TableResult:
    return query_result([], row_formatter=rows, has_kinds=True, max_column_width=30)


def test_changes_update_the_rows() -> None:
    result = shown(streaming(changes))
    assert result.endswith("k  n\nb  1\na  2\n2 rows after 6 changes\n")


def test_changes_are_printed_if_requested(capsys: pytest.CaptureFixture[str]) -> None:
    shown(streaming(changes), is_changelog=True)
    lines = capsys.readouterr().out.splitlines()

    assert "| -U |" == lines[6][:6]
    assert all(len(line) <= 40 for line in lines)
    assert "6 rows in set" == lines[-1]


def test_ctrl_c_leaves_the_last_rows() -> None:
    def endless() -> Iterator[tuple[str | None, ...]]:
        for number in range(2 * results.MAX_ROWS):
            yield Change(("a", str(number)), RowKind.INSERT)
        raise KeyboardInterrupt

    console = terminal()
    with pytest.raises(KeyboardInterrupt):
        shown(streaming(endless), console)
    assert isinstance(console.file, io.StringIO)
    lines = console.file.getvalue().splitlines()

    assert ["a  1998", "a  1999", "2,000 rows; the last 7 are shown"] == lines[-3:]
    assert "a  1992" not in lines[-9:]


def test_spark_is_cancelled_on_another_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    called: Queue[threading.Thread] = Queue()
    monkeypatch.setattr(jobs, "cancel_all_jobs", lambda: called.put(threading.current_thread()))
    previous = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt), script.cancel_jobs_at_interrupt():
        signal.raise_signal(signal.SIGINT)
    assert called.get(timeout=60) is not threading.main_thread()
    assert previous is signal.getsignal(signal.SIGINT)


def test_ctrl_c_waits_until_spark_has_started() -> None:
    previous = signal.signal(signal.SIGINT, signal.default_int_handler)
    steps = []

    @deferred_interrupt()
    def start() -> None:
        signal.raise_signal(signal.SIGINT)
        steps.append("started")

    @deferred_interrupt()
    def start_slowly() -> None:
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)
        steps.append("the second Ctrl-C is not deferred")

    try:
        with pytest.raises(KeyboardInterrupt):
            start()
        assert signal.default_int_handler is signal.getsignal(signal.SIGINT)
        with pytest.raises(KeyboardInterrupt):
            start_slowly()
        with deferred_interrupt():
            signal.signal(signal.SIGINT, signal.SIG_IGN)  # as PySpark sets a handler
        assert signal.SIG_IGN is signal.getsignal(signal.SIGINT)
        signal.signal(signal.SIGINT, lambda number, _: steps.append(f"signal {number}"))
        own = signal.getsignal(signal.SIGINT)
        with deferred_interrupt():
            signal.raise_signal(signal.SIGINT)
            signal.signal(signal.SIGINT, signal.SIG_IGN)
        assert own is signal.getsignal(signal.SIGINT), "that of the caller stays"
    finally:
        signal.signal(signal.SIGINT, previous)
    assert ["started", "signal 2"] == steps


def test_py4j_does_not_log_ctrl_c() -> None:
    for error, logged in ((KeyboardInterrupt(), False), (OSError(), True)):
        record = logging.LogRecord("root", 40, "", 1, "", None, (type(error), error, None))
        assert logged is is_not_interrupt(record)
