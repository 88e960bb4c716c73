"""``schema-core migrate``: from an empty directory to applied, undone and compared migrations."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from schema_core.catalog.migration_history import WrittenRows
from schema_core.cli.app import application
from schema_core.cli.commands.migrate import history_lines
from schema_core.migration import ModifyTable, catalog_changes_from_json
from schema_core.migration.files.applied_migrations import MigrationState, MigrationStatus

SETUP = """
CREATE CATALOG shop WITH ('type' = 'sql', 'url' = 'sqlite:///${folder}/shop.db');
USE CATALOG shop;
"""


class Shell:
    """Runs commands over one directory of migrations."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.errors = ""
        (folder / "migrations").mkdir()
        (folder / "migrations" / "setup.sql").write_text(SETUP)

    def run(self, command: str, *options: str, status: int = 0) -> str:
        given = [command, "--directory", str(self.folder / "migrations")]
        if command not in ("new", "merge", "hash"):
            given += ["--define", f"folder={self.folder}"]
        result = CliRunner().invoke(application(), ["migrate", *given, *options])
        self.errors = result.stderr
        assert status == result.exit_code, result.output
        return result.stdout

    def write(self, name: str, text: str) -> None:
        (self.folder / "migrations" / f"{name}.sql").write_text(text)

    def tables(self, text: str) -> str:
        (self.folder / "tables.sql").write_text(text)
        return str(self.folder / "tables.sql")


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    return Shell(tmp_path)


def test_the_life_of_a_table(shell: Shell) -> None:
    first = shell.tables("CREATE TABLE t (a INT) WITH ('connector' = 'print');")
    assert "0001_create_t.sql" in shell.run("autogenerate", "create_t", "--from", first)
    assert "CREATE TABLE" in shell.run("upgrade", "--sql")
    assert shell.run("upgrade", "--dry-run").endswith("rolled back\n")
    assert "pending " == shell.run("history")[:8]
    assert "upgrade 0001_create_t: 1 statement\n" == shell.run("upgrade")
    assert "nothing to do\n" == shell.run("upgrade")
    assert "" == shell.run("drift")

    second = shell.tables("CREATE TABLE t (a INT, b STRING) WITH ('connector' = 'print');")
    shell.run("autogenerate", "add_b", "--from", second)
    shell.run("upgrade", "1")
    shell.run("upgrade", "2")
    assert "nothing to do\n" == shell.run("autogenerate", "more", "--from", second)
    assert "DROP b" in shell.run("downgrade", "--sql", "1")
    assert "downgrade 0002_add_b: 1 statement\n" == shell.run("downgrade", "-1")
    rows = json.loads(shell.run("history", "--format", "json"))["migrations"]
    assert [
        ("0001_create_t", "applied"),
        ("0002_add_b", "undone"),
        ("0002_add_b", "pending"),
    ] == [(row["name"], row["state"]) for row in rows]
    assert "stamped 0001_create_t\nstamped 0002_add_b\n" == shell.run("stamp", "2")
    assert "downgrade" in shell.run("downgrade", "--dry-run", "base", status=1) or shell.errors


def test_renames(shell: Shell) -> None:
    shell.run("autogenerate", "a", "--from", shell.tables("CREATE TABLE t (a INT);"))
    shell.run("upgrade")
    wanted = shell.tables("CREATE TABLE u (b INT);")
    shell.run("autogenerate", "b", "--from", wanted, "--rename", "default.t=u",
              "--rename", "default.u.a=b")  # fmt: skip

    text = (shell.folder / "migrations" / "0002_b.sql").read_text()
    assert "RENAME TO u" in text
    assert "RENAME a TO b" in text
    for wrong in ("t=u", "default.t", "default.t="):
        shell.run("autogenerate", "c", "--from", wanted, "--rename", wrong, status=2)


def test_what_a_generated_migration_risks_is_printed(shell: Shell) -> None:
    table = "CREATE TABLE t (a {}, {} STRING) WITH ('connector' = 'blackhole');"
    shell.run("autogenerate", "a", "--from", shell.tables(table.format("INT", "b")))
    assert "" == shell.errors
    shell.run("upgrade")

    shell.run("autogenerate", "b", "--from", shell.tables(table.format("BIGINT", "c")))

    text = (shell.folder / "migrations" / "0002_b.sql").read_text()
    lines = shell.errors.splitlines()
    assert ["at risk", "if it is a rename: --rename default.t.b=c", "cannot be undone"] == [
        lines[0].partition(":")[0], lines[1], lines[2].partition(";")[0],
    ]  # fmt: skip
    assert all(f"-- {line}\n" in text for line in lines)


def test_errors_have_the_file_line_and_column(shell: Shell) -> None:
    shell.write("0001_a", "-- up\nCREATE TABLE t (\n  a FROB\n);\n")
    shell.run("upgrade", status=1)
    assert f"{shell.folder}/migrations/0001_a.sql:3:3: error[type-not-found]" in shell.errors

    shell.write("0001_a", "-- up\nCREATE TABLE t (a INT);\n\nALTER TABLE t DROP\n  b;\n")
    shell.run("upgrade", status=1)
    assert f"{shell.folder}/migrations/0001_a.sql:5:3: error[unknown-column]" in shell.errors

    shell.run("autogenerate", "b", "--from", shell.tables("CREATE TABLE t (\na INT,);"), status=1)
    assert f"{shell.folder}/tables.sql:2:7: error[syntax]" in shell.errors


def test_a_dry_run_shows_each_statement_with_its_risks(shell: Shell) -> None:
    shell.write(
        "0001_a",
        "-- up\nCREATE TABLE t (a INT, b STRING) WITH ('connector' = 'filesystem',"
        " 'path' = '/data', 'format' = 'parquet');\n-- down\nDROP TABLE t;\n",
    )
    shell.run("upgrade")
    shell.write("0002_b", "-- up\nALTER TABLE t ADD c INT;\nALTER TABLE t\n  DROP b;\n")

    lines = shell.run("upgrade", "--dry-run").splitlines()

    assert [
        "upgrade 0002_b: 2 statements",
        (
            "    warn: the migration cannot be undone: it has no section '-- down'"
            " [migration-irreversible]"
        ),
        "  ALTER TABLE t ADD c INT",
        "  ALTER TABLE t",
        "    DROP b",
        "    error: default.t: b: its values cannot be read any more [column-dropped]",
        "rolled back",
    ] == lines
    assert ["applied", "pending"] == [line[:7] for line in shell.run("history").splitlines()]


def test_a_dry_run_reports_that_risks_are_not_known(shell: Shell) -> None:
    """The tables of an adopted catalog are in no migration."""
    shell.write("0001_a", "-- up\nCREATE TABLE t (a INT, b INT);\n-- down\nDROP TABLE t;\n")
    shell.run("upgrade")
    shell.write("0001_a", "-- up\n-- down\n")
    shell.run("stamp", "1")
    shell.write("0002_b", "-- up\nALTER TABLE t DROP b;\n-- down\nALTER TABLE t ADD b INT;\n")

    assert "warn: risks are not known: " in shell.run("upgrade", "--dry-run")


def test_a_dry_run_with_a_target_follows_one_branch(shell: Shell) -> None:
    shell.write("0001_a", "-- up\nCREATE TABLE t (a INT) WITH ('connector' = 'print');\n-- down\n")
    shell.write("0002_b", "-- up\nALTER TABLE t ADD b INT;\n-- down\nALTER TABLE t DROP b;\n")
    shell.write("0002_c", "-- parents: 0001_a\n-- up\nALTER TABLE t ADD b INT;\n")

    lines = shell.run("upgrade", "0002_b", "--dry-run").splitlines()

    names = [line for line in lines if line.startswith("upgrade")]
    assert ["upgrade 0001_a: 1 statement", "upgrade 0002_b: 1 statement"] == names
    assert "rolled back" == lines[-1]


def test_an_existing_catalog_is_adopted(shell: Shell) -> None:
    shell.write("0001_a", "-- up\nCREATE TABLE t (a INT) WITH ('connector' = 'print');\n")
    shell.run("upgrade")
    shell.run("stamp", "base")
    (shell.folder / "migrations" / "0001_a.sql").unlink()
    tables = shell.folder / "tables.sql"

    printed = shell.run("baseline", "first", "--tables", str(tables)).splitlines()

    assert [f"{shell.folder}/migrations/0001_first.sql", str(tables)] == printed
    assert "nothing to do\n" == shell.run("autogenerate", "b", "--from", str(tables))
    shell.run("baseline", "--tables", str(tables), status=2)
    shell.run("baseline", status=1)
    assert "migration-exists" in shell.errors


def test_branches_are_merged(shell: Shell) -> None:
    shell.write("0001_a", "-- up\n-- down\n")
    shell.write("0002_b", "-- up\n-- down\n")
    shell.write("0002_c", "-- parents: 0001_a\n-- up\n-- down\n")
    shell.run("upgrade", status=1)
    assert "migration-branches" in shell.errors

    assert "0003_merge.sql" in shell.run("merge")
    assert "there are no branches\n" == shell.run("merge")
    assert 4 == len(shell.run("upgrade").splitlines())


def test_a_changed_file_is_found(shell: Shell) -> None:
    shell.run("new", "first")
    shell.run("upgrade")
    shell.write("0001_first", "-- parents:\n-- up\nCREATE DATABASE d;\n")

    assert "changed " == shell.run("history", status=1)[:8]
    shell.run("upgrade", status=1)
    assert "migration-changed" in shell.errors


def test_drift_is_a_finding(shell: Shell) -> None:
    shell.write("0001_a", "-- up\nCREATE TABLE t (a INT);\n-- down\nDROP TABLE t;\n")
    shell.run("upgrade")
    setup = shell.folder / "migrations" / "setup.sql"
    setup.write_text(f"{SETUP}ALTER TABLE t ADD b INT;\n")
    assert "default.t: add column `b` INT\n" == shell.run("drift", status=1)
    setup.write_text(SETUP)
    assert 1 == len(shell.run("drift", status=1).splitlines())
    (change,) = catalog_changes_from_json(shell.run("drift", "--format", "json", status=1))
    assert isinstance(change, ModifyTable)
    assert ["AddColumn{column=`b` INT, position=null}"] == [str(item) for item in change.changes]


@pytest.mark.parametrize(
    ("status", "options"),
    [(1, ("upgrade", "9")), (1, ("downgrade", "9")), (1, ("stamp", "9")),
     (1, ("new", "Not A Name")), (2, ("autogenerate", "x")),
     (2, ("autogenerate", "x", "--from", "a.sql", "--module", "a:b"))],
)  # fmt: skip
def test_wrong_input_is_reported(shell: Shell, status: int, options: tuple[str, ...]) -> None:
    shell.run(*options, status=status)

    assert "error[" in shell.errors


@pytest.mark.parametrize("text", ["SELEC", "USE CATALOG nowhere"])
def test_a_setup_script_that_fails_ends_with_2(shell: Shell, text: str) -> None:
    (shell.folder / "migrations" / "setup.sql").write_text(text)

    for command in ("history", "upgrade", "drift"):
        shell.run(command, status=2)


def test_a_setup_script_that_cannot_be_read_ends_with_2(shell: Shell) -> None:
    shell.run("history", "--setup", str(shell.folder / "absent.sql"), status=2)


def test_the_history_shows_who_how_long_and_the_rows(shell: Shell) -> None:
    shell.write("0001_a", "-- up\nCREATE TABLE t (a INT);\n-- down\nDROP TABLE t;\n")
    shell.run("upgrade", "--as", "ann")
    shell.write("0002_b", "-- up\n-- down\n")

    applied, pending = shell.run("history").splitlines()
    assert re.fullmatch(r"applied \S+\+00:00 [0-9.]+ m?s ann 0001_a", applied)
    assert "pending 0002_b" == re.sub(" +", " ", pending)
    row = json.loads(shell.run("history", "--format", "json"))["migrations"][0]
    assert ("ann", [], False) == (row["applied_by"], row["written_rows"], row["stamped"])
    assert row["milliseconds"] >= 0

    shell.run("downgrade", "base", "--as", "bob")
    undone, *rest = shell.run("history").splitlines()
    assert re.fullmatch(r"undone +\S+\+00:00 [0-9.]+ m?s bob 0001_a", undone)
    assert ["pending 0001_a", "pending 0002_b"] == [re.sub(" +", " ", line) for line in rest]
    row = json.loads(shell.run("history", "--format", "json"))["migrations"][0]
    assert ("undone", "bob") == (row["state"], row["applied_by"])


def test_the_lines_of_a_history_are_aligned_and_escaped() -> None:
    rows = (WrittenRows("d\n", "t", "rewrite", 336_776), WrittenRows("d", "t", "insert", None))
    applied, when = MigrationState.APPLIED, "2026-11-24T10:30:00+00:00"

    lines = history_lines(
        [
            MigrationStatus("0001_a", applied, when, False, "ann", 75_940, rows),
            MigrationStatus("0002_b", applied, when, True, "a longer name", None),
            MigrationStatus("0003_c", applied, when),
            MigrationStatus("0004_d", MigrationState.PENDING),
        ]
    )

    assert [
        f"applied {when} 75.9 s  ann           0001_a",
        "  rewrite d\\n.t: 336,776 rows",
        "  insert d.t: an unknown number of rows",
        f"applied {when} stamped a longer name 0002_b",
        f"applied {when}                       0003_c",
        "pending" + " " * 49 + "0004_d",
    ] == [*lines]
    assert [] == [*history_lines([])]


def test_checksums_are_written_and_verified(shell: Shell) -> None:
    shell.run("new", "first")
    assert "migrations.sum" in shell.run("hash")
    shell.run("new", "second")
    assert 2 == len(shell.run("upgrade").splitlines())

    shell.run("new", "third")
    shell.write("0003_third", "-- up\nCREATE DATABASE d;\n")
    for command in (["upgrade"], ["upgrade", "--dry-run"], ["upgrade", "--sql"], ["stamp", "3"],
                    ["new", "more"]):  # fmt: skip
        shell.run(*command, status=1)
        assert "migration-checksum-mismatch" in shell.errors
        assert "0003_third.sql was changed since its checksum was written" in shell.errors
    shell.run("hash")
    assert "upgrade 0003_third: 1 statement\n" == shell.run("upgrade")
