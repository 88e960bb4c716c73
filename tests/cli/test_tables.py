"""``schema-core show``, ``snapshot`` and ``convert``."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from schema_core.catalogs.sql.catalog import SqlCatalog
from schema_core.cli.app import application

SCRIPT = """
CREATE DATABASE d;
CREATE TABLE d.t (a INT NOT NULL, b STRING) WITH ('connector' = 'x', 'password' = 'hunter2');
CREATE VIEW v AS SELECT a FROM d.t;
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "script.sql"
    path.write_text(SCRIPT)
    return path


def call(*arguments: object, given: str | None = None) -> Result:
    done = CliRunner().invoke(application(), list(map(str, arguments)), input=given)
    assert "hunter2" not in done.output
    return done


def test_tables_are_shown(file: Path) -> None:
    text = call("show", file).stdout
    assert "`d`.`t` (\n  `a` INT NOT NULL,\n  `b` STRING\n)" in text
    assert "`default_database`.`v` (" in text
    tables = json.loads(call("show", file, "--format", "json").stdout)["tables"]
    assert [{"name": "a", "type": "INT NOT NULL"}] == tables["`default_database`.`v`"]
    statements = call("show", file, "--format", "sql", "--table", "d.t").stdout
    assert statements.startswith("CREATE TABLE `d`.`t` (")
    assert "'password' = '******'" in statements
    assert 1 == call("show", file, "--table", "d.nope").exit_code


def test_the_tables_of_a_catalog_are_shown_and_written(tmp_path: Path, file: Path) -> None:
    url = f"sqlite:///{tmp_path / 'c.db'}"
    setup = f"CREATE CATALOG c WITH ('type' = 'sql', 'url' = '{url}'); USE CATALOG c;"
    file.write_text(f"{setup} {SCRIPT} CREATE TABLE `a/b` (x INT);")
    output = tmp_path / "snap"
    done = call("snapshot", file, "-o", output)

    assert (0, f"3 files in {output}\n") == (done.exit_code, done.stdout)
    assert ["d.t.sql", "default.a%2Fb.sql", "default.v.sql"] == sorted(
        path.name for path in output.iterdir()
    )
    assert (output / "d.t.sql").read_text().startswith("CREATE TABLE `d`.`t` (")
    assert (output / "default.v.sql").read_text().startswith("CREATE VIEW `default`.`v`")
    assert 2 == call("snapshot", file, "-o", output).exit_code
    assert 0 == call("snapshot", file, "-o", output, "--replace").exit_code
    assert 2 == call("snapshot", file, "-o", file).exit_code
    catalog = SqlCatalog("c", url)
    catalog.open()
    assert ["default"] == catalog.list_databases()


def test_an_invalid_script_ends_with_1(file: Path) -> None:
    file.write_text("CREATE TABLE t (a NOPE)")
    done = call("show", file)

    assert (1, "") == (done.exit_code, done.stdout)
    assert "error[type-not-found]" in done.stderr


def test_tables_are_converted() -> None:
    table = "CREATE TABLE a (id serial PRIMARY KEY, t varchar(3) DEFAULT 'x')"
    done = call("convert", "-", "--from", "postgres", given=table)
    assert 0 == done.exit_code
    assert done.stdout.startswith("CREATE TABLE `a` (\n  `id` INT NOT NULL,\n  `t` VARCHAR(3),")
    assert "a: t: DEFAULT 'x' is dropped" in done.stderr
    back = call("convert", "-", "--from", "flink", "--to", "trino", given=done.stdout)
    assert (0, True) == (back.exit_code, back.stdout.startswith('CREATE TABLE "a" ('))


def test_a_compressed_dump_of_any_length_is_converted(tmp_path: Path) -> None:
    file = tmp_path / "dump.sql.gz"
    rows = "INSERT INTO a VALUES (1);\n" * 50_000
    file.write_bytes(gzip.compress(f"CREATE TABLE a (x int);\n{rows}GRANTED;".encode(), 1))

    done = call("convert", file, "--from", "mysql")

    assert (0, "CREATE TABLE `a` (\n  `x` INT\n);\n") == (done.exit_code, done.stdout)
    assert f"{file}:50002:1: script: GRANTED is dropped" in done.stderr
    file.write_bytes(file.read_bytes()[:-20])
    assert 2 == call("convert", file, "--from", "mysql").exit_code


@pytest.mark.parametrize(
    ("table", "options", "status", "problem"),
    [
        ("CREATE TABLE a (x NOPE)", ("--from", "flink"), 1, "error[type-not-found]"),
        ("SELEC", ("--from", "postgres"), 1, "error["),
        ("CREATE TABLE a (x INT)", ("--from", "postgras"), 2, "did you mean 'postgres'?"),
        ("CREATE TABLE a (x TIMESTAMP(9))", ("--from", "flink", "--to", "postgres"), 1, "lossy"),
        ("", ("--from", "flink"), 2, "it is empty"),
    ],
)
def test_what_cannot_be_converted(
    table: str, options: tuple[str, ...], status: int, problem: str
) -> None:
    done = call("convert", "-", *options, given=table)

    assert status == done.exit_code, done.output
    assert problem in done.stderr


def test_losses_can_be_accepted() -> None:
    table = "CREATE TABLE a (x TIMESTAMP(9))"
    options = ("--from", "flink", "--to", "postgres", "--on-loss", "accept")
    done = call("convert", "-", *options, given=table)

    assert 0 == done.exit_code
    assert "fractional seconds are truncated" in done.stderr
