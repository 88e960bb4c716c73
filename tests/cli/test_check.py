"""``schema-core check`` reports what would fail when a table is first used."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from schema_core.catalogs.sql.catalog import SqlCatalog
from schema_core.cli import GOOD, WRONG
from schema_core.cli.app import application

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
    return result.exit_code, [line.removeprefix(f"{path}:") for line in lines if "error[" in line]


def test_options_and_connectors_are_checked(tmp_path: Path) -> None:
    code, result = check(tmp_path / "script.sql", SCRIPT)

    assert code == WRONG
    integer = "expected an integer from -2147483648 to 2147483647, got"
    assert result == [
        "1:30: error[factory-not-found]: no connector 'filesistem' is installed",
        "2:58: error[factory-not-found]: no file format 'csw' is installed",
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


#: What is wrong in a script -> its errors with their positions.
MISTAKES: dict[str, tuple[str, list[str]]] = {
    "a misspelt connector": (
        "CREATE TABLE t (a INT) WITH ('connector' = 'filesistem', 'path' = '/p')",
        ["1:30: error[factory-not-found]: no connector 'filesistem' is installed"],
    ),
    "a misspelt connector after a format": (
        "CREATE TABLE t (a INT) WITH ('format' = 'csv', 'path' = '/p', 'connector' = 'filesistem')",
        ["1:63: error[factory-not-found]: no connector 'filesistem' is installed"],
    ),
    "a misspelt format": (
        "CREATE TABLE t (a INT) WITH ('connector' = 'filesystem', 'path' = '/p', 'format' = 'cvs')",
        ["1:73: error[factory-not-found]: no file format 'cvs' is installed"],
    ),
    "an unknown option": (
        "CREATE TABLE t (a INT) WITH ('connector' = 'datagen', 'rows-per-secnd' = '1')",
        ["1:55: error[unknown-option]: unsupported option: rows-per-secnd"],
    ),
    "a missing option": (
        "CREATE TABLE t (a INT) WITH ('connector' = 'filesystem', 'format' = 'csv')",
        ["1:14: error[missing-option]: required options are missing: path"],
    ),
    "an unknown format": (
        "CREATE TABLE t (a INT)\nWITH ('connector' = 'filesystem', 'path' = '', 'format' = 'jsn')",
        ["2:48: error[factory-not-found]: no file format 'jsn' is installed"],
    ),
    "a wrong metadata column": (
        (
            "CREATE TABLE t (a INT, k STRING METADATA FROM 'file.pth')\n"
            "WITH ('connector' = 'filesystem', 'path' = '/p', 'format' = 'csv')"
        ),
        [
            (
                "1:24: error[invalid-metadata-column]: "
                "connector 'filesystem' has no metadata 'file.pth'; "
                "it has: 'file.path', 'file.name', 'file.size', 'file.modification-time'"
            )
        ],
    ),
    "a query in the middle": (
        (
            "CREATE TABLE t (a INT) WITH ('connector' = 'datagen');\n"
            "SELECT a + nope FROM t;\nCREATE VIEW v AS SELECT a FROM t;\nSELECT a FROM v"
        ),
        ["2:12: error[unknown-column]: there is no column 'nope'"],
    ),
    "a table that cannot be written": (
        "CREATE TABLE t (a INT) WITH ('connector' = 'datagen');\nINSERT INTO t SELECT 1",
        ["2:1: error[unsupported-ability]: the connector 'datagen' cannot write tables"],
    ),
    "several at once": (
        (
            "CREATE TABLE t (a INT, b NOPE) WITH ('connector' = 'filesistem');\n"
            "CREATE TABLE u (a INT) WITH ('connector' = 'filesistem');\n"
            "SELECT a FROM u;\nSELECT FROM;\nSELECT UPER('x')"
        ),
        [
            "1:24: error[type-not-found]: unknown type `NOPE`",
            "1:38: error[factory-not-found]: no connector 'filesistem' is installed",
            "2:30: error[factory-not-found]: no connector 'filesistem' is installed",
            "4:8: error[syntax]: expected an expression, found 'FROM'",
            "5:8: error[function-not-found]: there is no function 'UPER'",
        ],
    ),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes_are_reported_where_they_are(tmp_path: Path, mistake: str) -> None:
    text, expected = MISTAKES[mistake]

    assert (WRONG, expected) == check(tmp_path / "script.sql", text)


def test_managed_tables_need_no_connector(tmp_path: Path) -> None:
    text = (
        f"CREATE CATALOG c WITH ('type' = 'sql', 'url' = 'sqlite:///{tmp_path / 'c.db'}', "
        f"'warehouse' = '{tmp_path / 'w'}'); CREATE TABLE c.`default`.t (a INT); "
        "INSERT INTO c.`default`.t SELECT 1"
    )
    assert (GOOD, []) == check(tmp_path / "script.sql", text)
    assert not (tmp_path / "w").exists()


def test_a_setup_precedes_each_file(tmp_path: Path) -> None:
    files = [tmp_path / name for name in ("setup.sql", "a.sql", "b.sql")]
    texts = (
        "CREATE TABLE t (a INT) WITH ('connector' = 'filesistem'); CREATE DATABASE d",
        "CREATE TABLE d.t (a INT) WITH ('connector' = 'datagen'); SELECT b FROM d.t",
        "CREATE TABLE d.t (a INT) WITH ('connector' = 'datagen'); SELECT a FROM d.t",
    )
    for file, text in zip(files, texts, strict=True):
        file.write_text(text)
    setup, *scripts = map(str, files)
    done = CliRunner().invoke(
        application(), ["check", "--format", "json", "--setup", setup, *scripts]
    )

    assert WRONG == done.exit_code
    document = json.loads(done.stdout)
    assert [(setup, "factory-not-found"), (scripts[0], "unknown-column")] == [
        (item["file"], item["code"]) for item in document["findings"]
    ]
    assert {*scripts, setup} == set(document["subjects"])


def test_a_note_does_not_end_with_1(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SqlCatalog, "capabilities", frozenset())
    path = tmp_path / "script.sql"
    path.write_text(
        f"CREATE CATALOG c WITH ('type' = 'sql', 'url' = 'sqlite:///{tmp_path / 'c.db'}');"
        "CREATE TABLE c.`default`.t (a INT) WITH ('connector' = 'print'); SELECT nope"
    )
    done = CliRunner().invoke(application(), ["check", str(path)])

    assert GOOD == done.exit_code
    assert "note[not-checked]" in done.stdout
    assert done.stdout.endswith("1 note\n")


def test_options_are_checked_also_if_the_columns_have_errors(tmp_path: Path) -> None:
    files = "'connector' = 'filesystem', 'path' = '/p'"
    script = f"""\
CREATE TABLE a (x NOTHING) WITH ({files}, 'format' = 'parquett');
CREATE TABLE b (x INT, y AS z) WITH ('connector' = 'kafkaa', 'password' = 'hunter2');
CREATE TABLE c (x INT, x INT) WITH ({files}, 'format' = 'csv', 'paht' = 'x');
CREATE TABLE d (x NOTHING) WITH ({files}, 'format' = 'csv');
CREATE TABLE e (x NOTHING) WITH ('format' = 'parquett') LIKE d;
CREATE TABLE f (x NOTHING);
"""
    code, result = check(tmp_path / "script.sql", script)

    assert code == WRONG
    places = [f"{line[0]} {line.split('[')[1].split(']')[0]}" for line in result]
    assert places == [
        "1 type-not-found",
        "1 factory-not-found",
        "2 unknown-column",
        "2 factory-not-found",
        "3 duplicate-column",
        "3 unknown-option",
        "4 type-not-found",
        "6 type-not-found",
    ]


@pytest.mark.parametrize(
    ("expression", "warning"),
    [
        ("TO_DATE(s, 'yyyy-MM-dd')", "TO_DATE returns a date in the year 1705471"),
        ("`to_date`(s, p)", "TO_DATE returns a date in the year 1705471"),
        ("TO_DATE('garbage', 'yyyy-MM-dd')", "TO_DATE returns a date in the year 1705471"),
        ("TO_DATE('2020-01-01', 'yyyy-MM-dd')", None),
        ("TO_DATE(s)", None),
        ("TO_TIMESTAMP(s, 'yyyy')", None),
        ("UNIX_TIMESTAMP(s)", "UNIX_TIMESTAMP returns -9223372036854775808"),
        ("UNIX_TIMESTAMP('2020', 'yyyy')", None),
        ("UNIX_TIMESTAMP()", None),
    ],
)
@pytest.mark.parametrize(
    "statement",
    [
        "SELECT {} FROM t",
        "SELECT 1 FROM t WHERE 1 IN (SELECT 1 FROM t WHERE {} IS NULL)",
        "CREATE VIEW v AS SELECT {} AS d FROM t",
        "CREATE TABLE u (s STRING, p STRING, d AS {}) WITH ('connector' = 'datagen')",
    ],
)
def test_calls_that_return_a_value_for_any_string_are_warned_of(
    tmp_path: Path, statement: str, expression: str, warning: str | None
) -> None:
    path = tmp_path / "script.sql"
    table = "CREATE TABLE t (s STRING, p STRING) WITH ('connector' = 'datagen');\n"
    path.write_text(table + statement.replace("{}", expression))
    done = CliRunner().invoke(application(), ["check", str(path)])
    lines = [line for line in done.output.splitlines() if "[lenient-pattern]" in line]

    assert GOOD == done.exit_code, done.output
    assert (warning is not None) is bool(lines)
    assert warning is None or (warning in lines[0] and f"{path}:2:" in lines[0])
