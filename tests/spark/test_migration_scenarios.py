"""Migrations of tables with rows, as their authors run them: the rows afterwards, or refused."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from typer.testing import CliRunner

from schema_core import EnvironmentSettings, Row, TableEnvironment
from schema_core.catalogs import SqlCatalog
from schema_core.cli.app import application
from tests.spark.migration_scenarios import (
    APPLIED,
    DEFINITIONS,
    FORMS,
    GOODS,
    GOODS_VALUES,
    PEOPLE,
    REFUSED,
    START,
    VALUES,
    Applied,
    Refused,
    Rows,
)

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SETUP = """
CREATE CATALOG shop WITH (
  'type' = 'sql', 'url' = 'sqlite:///${root}/shop.db', 'warehouse' = '${root}/warehouse');
USE CATALOG shop;
"""
#: The folders that a scenario changes, and that are restored before the next one.
FOLDERS = ("data", "warehouse", "migrations")


class Project:
    """A directory of migrations, with a catalog and the files of its tables."""

    def __init__(self, spark: SparkSession, root: Path) -> None:
        self.spark, self.root, self.errors = spark, root / "project", ""
        self.snapshot = root / "snapshot"
        (self.root / "migrations").mkdir(parents=True)
        self.write("setup", SETUP)
        self.write("0001_tables", "-- up\n" + "".join(f"{text};\n" for text in DEFINITIONS))
        inserts = [*VALUES, *(f"INSERT INTO goods_{form} VALUES {GOODS_VALUES}" for form in FORMS)]
        self.write("0002_rows", "-- up\n" + "".join(f"{text};\n" for text in inserts))
        self.run("upgrade")
        for name in FOLDERS:
            shutil.copytree(self.root / name, self.snapshot / name)
        copy_catalog(self.root, self.snapshot)

    def restore(self) -> None:
        """Restore the catalog, the files of tables and the migrations of the start."""
        copy_catalog(self.snapshot, self.root)
        for name in FOLDERS:
            shutil.rmtree(self.root / name)
            shutil.copytree(self.snapshot / name, self.root / name)

    def write(self, name: str, text: str) -> None:
        (self.root / "migrations" / f"{name}.sql").write_text(text)

    def run(self, command: str, *options: str, status: int = 0) -> str:
        arguments = ["migrate", command, *options, "--directory", str(self.root / "migrations")]
        if command not in ("new", "merge", "hash"):
            arguments += ["--define", f"root={self.root}"]
        result = CliRunner().invoke(application(), arguments)
        self.errors = result.stderr
        assert status == result.exit_code, f"{result.output}{result.exception!r}"
        return result.stdout

    def files(self) -> Mapping[str, bytes]:
        """Return the files of tables and their content, without those of the commit protocol."""
        return {
            str(path.relative_to(self.root)): path.read_bytes()
            for folder in ("data", "warehouse")
            for path in (self.root / folder).rglob("*")
            if path.is_file() and not path.name.startswith(("_", "."))
        }

    def environment(self) -> TableEnvironment:
        settings = EnvironmentSettings.in_batch_mode()
        environment = TableEnvironment.create(settings, spark=self.spark)
        url, rows = f"sqlite:///{self.root}/shop.db", str(self.root / "warehouse")
        environment.register_catalog("shop", SqlCatalog("shop", url, warehouse=rows))
        environment.use_catalog("shop")
        return environment

    def execute(self, statement: str) -> None:
        """Execute a statement outside of migrations."""
        self.environment().execute_sql(statement).wait()

    def read(self, *tables: str) -> dict[str, Rows]:
        """Return the rows of tables and queries, and compare their numbers with COUNT(*)."""
        environment = self.environment()

        def query(text: str) -> Rows:
            with environment.execute_sql(text).collect() as rows:
                return sorted((plain(row) for row in rows), key=repr)

        result = {}
        for table in tables:
            if table == "goods":
                form_rows: dict[Any, Rows] = {form: [] for form in FORMS}
                for form, *values in query(union("SELECT '{0}' AS form, * FROM goods_{0}")):
                    form_rows[form].append(tuple(values))
                counts: dict[Any, int] = dict(
                    query(union("SELECT '{0}' AS form, COUNT(*) FROM goods_{0}"))
                )
                assert {form: len(rows) for form, rows in form_rows.items()} == counts
                rows = form_rows["json"]
                assert form_rows == dict.fromkeys(FORMS, rows)
                result[table] = rows
            elif table.startswith("SELECT"):
                result[table] = query(table)
            else:
                result[table] = query(f"SELECT * FROM {table}")
                assert [(len(result[table]),)] == query(f"SELECT COUNT(*) FROM {table}")
        return result


def copy_catalog(source: Path, target: Path) -> None:
    """Copy a catalog also for processes that have the database open."""
    with (
        closing(sqlite3.connect(source / "shop.db")) as old,
        closing(sqlite3.connect(target / "shop.db")) as new,
    ):
        old.backup(new)


def union(query: str) -> str:
    return " UNION ALL ".join(query.format(form) for form in FORMS)


def plain(row: Any) -> tuple[Any, ...]:
    """Return a row, also within rows, as tuples."""
    return tuple(plain(value) if isinstance(value, Row) else value for value in row)


def by_order(rows: Mapping[str, Rows]) -> dict[str, Rows]:
    return {table: sorted(values, key=repr) for table, values in rows.items()}


@pytest.fixture(scope="module")
def created(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Project:
    return Project(spark, tmp_path_factory.mktemp("scenarios"))


@pytest.fixture
def project(created: Project) -> Project:
    created.restore()
    return created


def test_the_first_rows(project: Project) -> None:
    assert by_order(START) == project.read(*START)


@pytest.mark.parametrize("scenario", APPLIED, ids=lambda scenario: scenario.name)
def test_a_change_is_applied_and_undone(project: Project, scenario: Applied) -> None:
    down = f"-- down\n{scenario.down}\n" if scenario.down else ""
    project.write("0003_change", f"-- up\n{scenario.up}\n{down}")

    project.run("upgrade", *scenario.options)

    assert by_order(scenario.rows) == project.read(*scenario.rows)
    assert "" == project.run("drift")
    if scenario.down:
        project.run("downgrade", "-1")
        start = {table: START[table] for table in scenario.undone}
        assert by_order(start) == project.read(*start)


@pytest.mark.parametrize("scenario", REFUSED, ids=lambda scenario: scenario.name)
def test_a_change_is_refused_before_anything_is_changed(
    project: Project, scenario: Refused
) -> None:
    project.write("0003_change", f"-- up\n{scenario.up}\n")
    files = project.files()

    output = project.run("upgrade", *scenario.options, status=1)

    assert f"error[{scenario.code}]" in project.errors
    assert scenario.text in output + project.errors
    assert "0003_change" in project.errors
    assert files == project.files()
    (project.root / "migrations" / "0003_change.sql").unlink()
    assert "" == project.run("drift")


# --- other commands ------------------------------------------------------------------------------


def wanted(project: Project, *changes: tuple[str, str]) -> str:
    """Write the first definitions with changed texts, as the wanted ones; return the file."""
    text = ";\n".join(DEFINITIONS) + ";\n"
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    file = project.root / "tables.sql"
    file.write_text(text)
    return str(file)


STOCK = "stock (id INT, qty INT)"


def test_check_finds_what_the_migrations_lack(project: Project) -> None:
    assert "" == project.run("check", "--from", wanted(project))

    changed = wanted(project, (STOCK, "stock (id INT, qty INT, place STRING)"))
    assert "place" in project.run("check", "--from", changed, status=1)


def test_a_generated_migration_is_applied_and_undone(project: Project) -> None:
    people = "people (id INT, name STRING, age STRING, city STRING)"
    changed = wanted(
        project,
        (people, "people (id INT, kind INT, label STRING, age STRING, city STRING)"),
        ("id INT, city STRING", "id INT, city STRING, note STRING"),
        ("keyed (id INT NOT NULL, name STRING", "`key'ed` (id INT NOT NULL, name STRING"),
    )
    renames = ("--rename", "default.keyed=`key'ed`", "--rename", "default.people.name=label")

    path = Path(project.run("autogenerate", "change", "--from", changed, *renames).strip())
    assert "${root}" not in path.read_text().partition("-- up")[2]
    project.run("upgrade", "--validate")

    rows = project.read("people", "cities", "`key'ed`")
    assert [(1, None, "Ada Lovelace", "36", "London")] == rows["people"][:1]
    assert [(1, None, "Rome"), (2, None, "Bonn")] == [
        (row[0], row[2], row[1]) for row in rows["cities"]
    ]
    assert START["keyed"] == rows["`key'ed`"]
    assert "nothing to do\n" == project.run("autogenerate", "more", "--from", changed)
    project.run("downgrade", "-1")
    assert PEOPLE == project.read("people")["people"]


def test_what_cannot_be_altered_in_place_is_not_generated(project: Project) -> None:
    goods = GOODS.replace("id INT", "id STRING")
    changed = wanted(
        project,
        (f"goods_orc ({GOODS})", f"goods_orc ({goods})"),
        (STOCK, "stock (id INT, qty INT, place STRING)"),
    )

    path = project.run("autogenerate", "change", "--from", changed, status=1).strip()

    assert "error[migration-not-supported]" in project.errors
    text = Path(path).read_text()
    assert "-- needs a rewrite: " in text
    assert "ADD place STRING" in text
    assert "goods_orc" not in text.partition("-- up")[2]


def test_wanted_definitions_with_a_broken_view_are_refused(project: Project) -> None:
    goods = GOODS.replace(", name STRING", "")
    changed = wanted(project, (f"goods_parquet ({GOODS})", f"goods_parquet ({goods})"))

    assert "" == project.run("autogenerate", "change", "--from", changed, status=1)

    assert "tables.sql:" in project.errors
    assert "name" in project.errors
    assert not [*project.root.glob("migrations/0003*")]


@pytest.mark.parametrize(
    ("statement", "kind"),
    [
        ("ALTER TABLE goods_csv DROP item", "column-dropped"),
        ("ALTER TABLE goods_orc MODIFY id STRING", "type-changed"),
        ("ALTER TABLE goods_json MODIFY name INT", "text-parsed"),
        ("ALTER TABLE goods_csv SET ('csv.field-delimiter' = '|')", "syntax-changed"),
        ("ALTER TABLE goods_parquet SET ('format' = 'avro')", "format-changed"),
        ("ALTER TABLE cities RENAME TO towns", "table-renamed"),
        ("ALTER TABLE goods_parquet DROP name", "migration-breaks-view"),
        ("DROP TABLE stock", "table-dropped"),
        ("DELETE FROM people WHERE id = 1", "rows-deleted"),
        ("ALTER TABLE keyed DROP PRIMARY KEY", "migration-irreversible"),
    ],
)
def test_lint_finds_a_risk(project: Project, statement: str, kind: str) -> None:
    project.write("0003_change", f"-- up\n{statement};\n")

    result = project.run("lint", "--since", "2", "--severity", f"{kind}=error", status=1)

    assert f"0003_change.sql:{1 if 'irreversible' in kind else 2}:1: error[{kind}]" in result


def test_a_dry_run_changes_nothing(project: Project) -> None:
    up = "ALTER TABLE stock ADD place STRING;\nDELETE FROM people WHERE id = 1;"
    project.write("0003_change", f"-- up\n{up}\n")
    files = project.files()

    output = project.run("upgrade", "--dry-run")

    assert "DELETE FROM people" in output
    assert output.endswith("rolled back\n")
    assert files == project.files()
    assert "pending" in project.run("history").splitlines()[-1]


def test_files_that_change_after_they_were_applied(project: Project) -> None:
    project.write("0003_change", "-- up\nALTER TABLE stock ADD place STRING;\n")
    project.run("upgrade")
    project.write("0003_change", "-- up\nALTER TABLE stock ADD place INT;\n")

    project.run("upgrade", status=1)
    assert "error[migration-changed]" in project.errors
    assert "changed" in project.run("history", status=1)
    project.run("stamp", "3")
    assert "nothing to do\n" == project.run("upgrade")

    (project.root / "migrations" / "0003_change.sql").unlink()
    project.run("upgrade", status=1)
    assert "error[migration-missing]" in project.errors
    project.run("downgrade", "-1", status=1)
    assert "error[migration-irreversible]" in project.errors


def test_branches_are_merged(project: Project) -> None:
    for name, column in (("0003_a", "a"), ("0003_b", "b")):
        text = f"-- parents: 0002_rows\n-- up\nALTER TABLE stock ADD {column} INT;\n"
        project.write(name, f"{text}-- down\nALTER TABLE stock DROP {column};\n")
    project.run("upgrade", status=1)
    assert "error[migration-branches]" in project.errors

    project.run("merge")
    project.run("upgrade")

    assert {"stock": [(1, 10, None, None), (2, 20, None, None)]} == project.read("stock")
    project.run("downgrade", "2")
    assert {"stock": START["stock"]} == project.read("stock")


def test_a_migration_without_its_checksum_is_refused(project: Project) -> None:
    project.run("hash")
    project.write("0003_change", "-- up\nALTER TABLE stock ADD place STRING;\n")

    project.run("upgrade", status=1)
    assert "error[migration-checksum-mismatch]" in project.errors

    project.run("hash")
    project.run("upgrade")


def test_changes_outside_of_migrations_are_drift(project: Project) -> None:
    project.execute("ALTER TABLE stock ADD hotfix INT FIRST")
    assert "hotfix" in project.run("drift", status=1)
    assert {"stock": [(None, 1, 10), (None, 2, 20)]} == project.read("stock")

    changed = wanted(project, (STOCK, "stock (hotfix INT, id INT, qty INT)"))
    project.write("0003_hotfix", "-- up\nALTER TABLE stock ADD hotfix INT FIRST;\n")
    assert "" == project.run("check", "--from", changed)
    project.run("stamp", "3")
    assert "" == project.run("drift")


def test_a_data_step_that_fails_is_corrected_and_continued(project: Project) -> None:
    insert = "-- up\nINSERT INTO adults SELECT id, name FROM people;\n"
    failing = f"{insert}UPDATE people SET id = CAST(age AS INT) WHERE id > 2;\n"
    project.write("0003_change", failing)

    project.run("upgrade", status=1)
    assert "0003_change" in project.errors
    assert "1 step executed; it is continued by: schema-core migrate upgrade" in project.run(
        "history"
    )
    assert PEOPLE == project.read("people")["people"]

    project.write("0003_change", f"{insert}UPDATE people SET age = '0' WHERE age = 'old';\n")
    project.run("upgrade")
    rows = project.read("people", "adults")
    assert [(row[0], row[1]) for row in PEOPLE] == rows["adults"]
    assert ["36", "41", "0"] == [row[2] for row in rows["people"]]


def test_an_undo_that_loses_values_is_refused_before_anything_is_undone(project: Project) -> None:
    up = "ALTER TABLE people ADD note STRING;\nUPDATE people SET note = name WHERE id < 3;"
    down = (
        "INSERT INTO adults SELECT id, name FROM people;\n"
        "-- rewrite: people\nALTER TABLE people DROP note;"
    )
    project.write("0003_change", f"-- up\n{up}\n-- down\n{down}\n")
    project.run("upgrade")
    files = project.files()

    assert "'-- accept: value-dropped' [column-dropped]" in project.run(
        "downgrade", "-1", "--dry-run"
    )
    project.run("downgrade", "-1", status=1)
    assert "0003_change.sql:7:1: error[rows-do-not-fit]" in project.errors
    assert "--validate --accept value-dropped" in project.errors
    output = project.run("downgrade", "-1", "--validate", status=1)
    assert "note: 2 rows: the value is dropped [value-dropped]" in output
    assert files == project.files()
    assert "unfinished" not in project.run("history")

    project.run("downgrade", "-1", "--validate", "--accept", "value-dropped")
    rows = project.read("people", "adults")
    assert [PEOPLE, [row[:2] for row in PEOPLE]] == [rows["people"], rows["adults"]]


def test_a_table_without_rows_is_filled_and_narrowed(project: Project) -> None:
    """The files without rows are older than the column, and are replaced by the UPDATE."""
    project.execute("INSERT INTO adults SELECT id, name FROM people WHERE id > 5")
    up = (
        "ALTER TABLE adults ADD note STRING;\nUPDATE adults SET note = 'x';\n"
        "ALTER TABLE adults MODIFY note STRING NOT NULL;"
    )
    project.write("0003_change", f"-- up\n{up}\n")

    project.run("upgrade")

    assert {"adults": []} == project.read("adults")


def test_rows_that_do_not_fit_are_counted(project: Project) -> None:
    columns = "people (id INT, name STRING, age STRING, city STRING)"
    changed = wanted(project, (columns, columns.replace("age STRING", "age INT")))

    output = project.run("validate", "people", "--from", changed, status=1)

    assert "age: 1 row: it cannot be cast from STRING to INT [cast-failed]" in output
    assert "'old'" in output


def test_a_table_and_its_copy_are_compared(project: Project) -> None:
    project.write(
        "0003_change", "-- up\n-- rewrite: stock\nALTER TABLE stock MODIFY qty DECIMAL(8, 1);\n"
    )
    project.run("upgrade")

    query = "SELECT * FROM (VALUES (1, 10), (2, 21)) AS t(id, qty)"
    output = project.run("table-diff", query, "stock", "--on", "id", status=1)

    assert "21" in output
