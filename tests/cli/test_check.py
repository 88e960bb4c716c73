"""``schema-core check`` reports what would fail when a table is first used."""

from __future__ import annotations

from pathlib import Path

from typer.testing import CliRunner

from schema_core.cli import GOOD, WRONG
from schema_core.cli.commands import application

SCRIPT = """\
CREATE TABLE a (x INT) WITH ('connector' = 'filesistem', 'path' = '/p');
CREATE TABLE b (x INT) WITH ('connector' = 'filesystem', 'format' = 'csw', 'path' = '/p');
CREATE TABLE c (x INT) WITH ('connector' = 'filesystem', 'format' = 'csv');
CREATE TABLE d (x INT) WITH (
  'connector' = 'filesystem', 'format' = 'csv', 'path' = '/p',
  'paht' = '/q', 'sink.parallelism' = 'two', 'password' = 'hunter2'
);
CREATE TABLE e (x INT);
CREATE TABLE good (x INT) WITH ('connector' = 'filesystem', 'format' = 'csv', 'path' = '/p');
ALTER TABLE good SET ('sink.parallelism' = '');
SELECT nope FROM good;
CREATE VIEW v AS SELECT x FROM good;
"""


def check(path: Path, text: str) -> tuple[int, list[str]]:
    path.write_text(text)
    result = CliRunner().invoke(application(), ["check", str(path)])
    lines = result.output.splitlines()
    assert "hunter2" not in result.output
    return result.exit_code, [one.removeprefix(f"{path}:") for one in lines if "error[" in one]


def test_options_and_connectors_are_checked(tmp_path: Path) -> None:
    code, found = check(tmp_path / "script.sql", SCRIPT)

    assert code == WRONG
    integer = "expected an integer from -2147483648 to 2147483647, got"
    assert found == [
        "1:30: error[not-discovered]: no connector 'filesistem' is installed",
        "2:58: error[unknown-format]: no file format 'csw' is installed",
        "3:14: error[missing-option]: required options are missing: path",
        f"6:18: error[invalid-option-value]: {integer} 'two'",
        "6:3: error[unknown-option]: unsupported options: paht, password",
        "8:14: error[missing-connector]: the table has no option 'connector'",
        f"10:13: error[invalid-option-value]: {integer} ''",
        "11:8: error[unknown-column]: there is no column 'nope'",
    ]


def test_a_correct_script_has_no_findings(tmp_path: Path) -> None:
    good = (
        "CREATE TABLE t (x INT) WITH ('connector' = 'filesystem', 'format' = 'csv', 'path' = '/p');"
    )
    assert (GOOD, []) == check(tmp_path / "good.sql", f"{good}\nINSERT INTO t VALUES (1);")
