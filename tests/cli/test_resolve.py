"""``schema-core resolve``: every error of a file with its position, and the exit codes."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from schema_core.cli import GOOD, UNREADABLE, WRONG
from schema_core.cli.app import application
from schema_core.cli.commands.resolve import check
from schema_core.environment.config import EnvironmentSettings
from schema_core.environment.plans.dry_run import dry_run_session
from schema_core.errors import MAX_ERRORS
from tests.test_pages import read_page

FIVE = """\
CREATE TABLE orders (
  id BIGINT NOT NULL,
  qty INTT,
  total AS prise * 2,
  up AS UPER('x'),
  PRIMARY KEY (idd) NOT ENFORCED
) WITH ('connector' = 'filesystem');
CREATE VIEW twice AS SELECT id FROM orders;
SELECT id, FROM orders;
"""


def resolve(path: Path, *options: str) -> Result:
    return CliRunner().invoke(application(), ["resolve", str(path), *options])


def test_five_errors_are_reported_at_once_with_their_positions(tmp_path: Path) -> None:
    path = tmp_path / "five.sql"
    path.write_text(FIVE)

    result = resolve(path)

    expected = [
        line.removeprefix(f"{path}:") for line in result.output.splitlines() if "error[" in line
    ]
    assert WRONG == result.exit_code
    assert [
        "3:3: error[type-not-found]: unknown type `INTT`",
        "4:12: error[unknown-column]: there is no column 'prise'",
        "5:9: error[function-not-found]: there is no function 'UPER'",
        "6:3: error[unknown-column]: there is no column 'idd'",
        "9:12: error[syntax]: expected an expression, found 'FROM'",
    ] == expected
    assert 5 == result.output.count("hint: ")
    assert 5 == sum(set(line.strip()) == {"^"} for line in result.output.splitlines())


def test_consequences_of_an_earlier_error_are_not_reported(tmp_path: Path) -> None:
    path = tmp_path / "follows.sql"
    path.write_text("CREATE TABLE a (x NOPE); SELECT x FROM a; SELECT x FROM b;")

    result = resolve(path)

    assert ["type-not-found", "table-not-found"] == [
        line.split("[")[1].split("]")[0] for line in result.output.splitlines() if "error[" in line
    ]


@pytest.mark.parametrize(
    ("script", "codes"),
    [
        # a name that only contains that of a failed statement is an error of its own
        ("CREATE TABLE a (x NOPE); SELECT x FROM data", "type-not-found table-not-found"),
        ("CREATE TABLE data (x NOPE); SELECT x FROM a", "type-not-found table-not-found"),
        ("CREATE TABLE a (x NOPE); SELECT x FROM A", "type-not-found table-not-found"),
        # the same name elsewhere is another object
        (
            "CREATE DATABASE d; CREATE TABLE d.a (x NOPE); SELECT x FROM a",
            "type-not-found table-not-found",
        ),
        (
            "CREATE DATABASE d; CREATE TABLE a (x NOPE); USE d; SELECT x FROM a",
            "type-not-found table-not-found",
        ),
        # the same object under another name is not
        (
            "CREATE DATABASE d; CREATE TABLE d.a (x NOPE); USE d; SELECT x FROM a",
            "type-not-found",
        ),
        ("CREATE TABLE `a b` (x NOPE); SELECT x FROM default_database.`a b`", "type-not-found"),
        (
            "CREATE TABLE a (x NOPE); DROP TABLE a; DESCRIBE a; SHOW CREATE TABLE a",
            "type-not-found",
        ),
        ("CREATE TABLE a (x NOPE); ALTER TABLE a ADD y INT; DROP VIEW a", "type-not-found"),
        ("CREATE TABLE a (x NOPE); INSERT INTO a SELECT 1", "type-not-found"),
        # chains: what fails for want of a failed object is missing as well
        (
            "CREATE TABLE a (x NOPE); CREATE VIEW v AS SELECT * FROM a; SELECT * FROM v",
            "type-not-found",
        ),
        (
            "CREATE TABLE a (x NOPE); ALTER TABLE a RENAME TO b; SELECT * FROM b",
            "type-not-found",
        ),
        ("CREATE TABLE a (x NOPE); CREATE TABLE b LIKE a; SELECT * FROM b", "type-not-found"),
        # what was created in the end, or dropped, no longer counts
        (
            "CREATE TABLE a (x NOPE); CREATE TABLE a (x INT); DROP TABLE a; SELECT x FROM a",
            "type-not-found table-not-found",
        ),
        (
            "CREATE TABLE a (x INT); CREATE TABLE a (x INT); DROP TABLE a; SELECT x FROM a",
            "table-exists table-not-found",
        ),
        # catalogs and databases, and what would lie in them
        (
            "CREATE CATALOG c WITH ('type' = 'nope'); SELECT * FROM c.d.t; USE CATALOG c; TABLE d",
            "factory-not-found table-not-found",
        ),
        (
            "CREATE DATABASE d; CREATE DATABASE d; SELECT * FROM d.t",
            "database-exists table-not-found",
        ),
        # a catalog that nothing would have created is missing at each place
        ("CREATE DATABASE c.d; TABLE c.d.t; CREATE TABLE c.e.t (x INT)", "catalog-not-found " * 2),
    ],
)
def test_consequences_are_matched_by_path(tmp_path: Path, script: str, codes: str) -> None:
    path = tmp_path / "follows.sql"
    path.write_text(script)

    result = resolve(path)

    assert codes.split() == [
        line.split("[")[1].split("]")[0] for line in result.output.splitlines() if "error[" in line
    ]


@pytest.mark.parametrize(
    ("options", "column"),
    [((), "`ts` TIMESTAMP(3) *ROWTIME*"), (("--batch",), "`ts` TIMESTAMP(3),")],
)
def test_a_valid_file_prints_its_tables(
    tmp_path: Path, options: tuple[str, ...], column: str
) -> None:
    path = tmp_path / "right.sql"
    path.write_text("CREATE TABLE t (ts TIMESTAMP(3), WATERMARK FOR ts AS ts); SHOW TABLES")

    result = resolve(path, *options)

    assert GOOD == result.exit_code
    assert column in result.output


def test_a_statement_set_of_a_script_is_ended(tmp_path: Path) -> None:
    path = tmp_path / "set.sql"
    script = (
        "CREATE TABLE t (a INT) WITH ('connector' = 'blackhole');"
        "BEGIN STATEMENT SET; INSERT INTO t VALUES (1);"
    )
    path.write_text(f"{script} END;")
    assert GOOD == resolve(path).exit_code
    path.write_text(script)
    result = resolve(path)
    assert WRONG == result.exit_code
    assert "error[invalid-state]" in result.output


def test_a_missing_or_binary_file_exits_with_2(tmp_path: Path) -> None:
    binary = tmp_path / "binary.sql"
    binary.write_bytes(b"\xff\xfe\x00")

    assert UNREADABLE == resolve(tmp_path / "missing.sql").exit_code
    assert UNREADABLE == resolve(binary).exit_code
    assert UNREADABLE == resolve(tmp_path).exit_code


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("SELECT " + "(" * 10_000 + "1" + ")" * 10_000, "limit-exceeded"),
        ("SELECT 1 + " + "9" * 5_000, "limit-exceeded"),
        ("SELECT '" + "x" * 2_000_000 + "'", "limit-exceeded"),
        ("CREATE TABLE t (a " + "ARRAY<" * 10_000 + "INT" + ">" * 10_000 + ")", "limit-exceeded"),
    ],
    ids=["parentheses", "digits", "length", "types"],
)
def test_a_script_beyond_the_limits_is_refused(tmp_path: Path, text: str, code: str) -> None:
    path = tmp_path / "huge.sql"
    path.write_text(text)

    result = resolve(path)

    assert WRONG == result.exit_code
    assert f"error[{code}]" in result.output


def test_a_sum_of_thousands_of_terms_is_not_nested(tmp_path: Path) -> None:
    path = tmp_path / "chain.sql"
    path.write_text("SELECT " + " OR ".join(f"1 = {term}" for term in range(2_000)))

    assert GOOD == resolve(path).exit_code


def test_errors_beyond_the_maximum_are_not_listed() -> None:
    text = ";\n".join(f"SELECT u{number}(1)" for number in range(MAX_ERRORS + 10))
    with dry_run_session(EnvironmentSettings.in_batch_mode()) as session:
        errors = check(session, text)

    assert len(errors) == MAX_ERRORS + 1
    assert {error.code for error in errors[:-1]} == {"function-not-found"}
    assert errors[-1].code == "too-many-errors"


def test_lineage_of_tables_and_views_as_html(tmp_path: Path) -> None:
    path = tmp_path / "script.sql"
    path.write_text(
        "CREATE TABLE t (a INT, b AS a + 1); CREATE VIEW gone AS SELECT a FROM t; DROP VIEW gone;\n"
        "CREATE VIEW v AS SELECT b * 2 AS c FROM t;"
    )
    result = resolve(path, "--format", "html")
    results = read_page(result.stdout)

    assert GOOD == result.exit_code
    assert 1 == results.tags.count("svg")
    assert ["c", "INT", "default_catalog.default_database.t.b"] == results.cells[-3:]
    assert "gone" not in results.text


def test_a_view_without_a_lineage_is_a_warning_of_the_page(tmp_path: Path) -> None:
    path = tmp_path / "script.sql"
    path.write_text(
        "CREATE TABLE t (a INT, b INT); CREATE VIEW v AS SELECT b FROM t; ALTER TABLE t DROP b;"
    )
    result = resolve(path, "--format", "html")
    results = read_page(result.stdout)

    assert GOOD == result.exit_code
    assert "warning" == results.cells[5]
    assert "svg" not in results.tags
