"""Which tables the gate of `upgrade` reads, and by which columns; the rows are not read here."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from schema_core import EnvironmentSettings, TableEnvironment
from schema_core.errors import SchemaCoreError
from schema_core.migration import (
    MigrationDirectory,
    MigrationFile,
    Migrator,
    RowProblem,
    ValidationReport,
)
from schema_core.migration.gates import followed_rows
from schema_core.migration.gates.followed_rows import WRITES_ROWS
from schema_core.migration.gates.row_gate import (
    downgrade_validated,
    require_fitting_rows,
    upgrade_validated,
    validate_migrations,
)

FILES = "('connector' = 'filesystem', 'path' = '/nowhere/{}', 'format' = 'parquet')"
START = (
    f"-- up\nCREATE TABLE t (a INT, b STRING, r ROW<x INT, y INT>) WITH {FILES.format('t')};\n"
    f"CREATE TABLE u (a INT, k INT) WITH {FILES.format('u')};\n"
    "CREATE TABLE p (a INT) WITH ('connector' = 'print');\n"
    f"CREATE DATABASE d;\nCREATE TABLE d.w (a INT) WITH {FILES.format('w')};\n"
)
TABLE_T = "`default_catalog`.`default_database`.`t`"
TABLE_U = "`default_catalog`.`default_database`.`u`"
TABLE_W = "`default_catalog`.`d`.`w`"


class Gate:
    """A catalog with `START`, and a record of the tables whose rows would be read."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.read: list[tuple[str, dict[str, str]]] = []
        self.problems: tuple[RowProblem, ...] = ()
        self.environment = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
        self.migrator(START).upgrade()
        monkeypatch.setattr(followed_rows, "validate_rows", self.validate)

    def validate(self, _: object, path: str, __: object, *, renames: Any) -> ValidationReport:
        self.read.append((path, dict(renames)))
        return ValidationReport(path, 3, 1, self.problems)

    def migrator(self, *texts: str) -> Migrator:
        files = [MigrationFile.parse(f"{n:04}_m", text) for n, text in enumerate(texts, 1)]
        return Migrator(self.environment, MigrationDirectory.of(Path("migrations"), files))

    def upgrade(self, *ups: str, **settings: Any) -> list[str]:
        """Apply migrations after `START` through the gate; return what it yields, as strings."""
        migrator = self.migrator(START, *(f"-- up\n{up}\n" for up in ups))
        return [str(each).partition("\n")[0] for each in upgrade_validated(migrator, **settings)]

    def applied(self) -> list[str]:
        history = self.migrator(START).history()
        return [status.name for status in history if status.applied_at]


@pytest.fixture
def gate(monkeypatch: pytest.MonkeyPatch) -> Gate:
    return Gate(monkeypatch)


@pytest.mark.parametrize(
    ("up", "expected"),
    [
        ("ALTER TABLE t MODIFY a INT NOT NULL;", [(TABLE_T, {})]),
        ("ALTER TABLE t DROP b;", [(TABLE_T, {})]),
        ("ALTER TABLE t MODIFY b VARCHAR(3);", [(TABLE_T, {})]),
        ("ALTER TABLE t ADD PRIMARY KEY (a) NOT ENFORCED;", [(TABLE_T, {})]),
        (("ALTER TABLE t RENAME a TO x; ALTER TABLE t RENAME x TO y;"
         " ALTER TABLE t MODIFY y INT NOT NULL;"), [(TABLE_T, {"a": "y"})]),
        (("ALTER TABLE t RENAME a TO x; ALTER TABLE t RENAME x TO a;"
         " ALTER TABLE t MODIFY a INT NOT NULL;"), [(TABLE_T, {})]),
        (("ALTER TABLE t RENAME TO s; ALTER TABLE u RENAME TO t;"
         " ALTER TABLE t MODIFY k INT NOT NULL;"), [(TABLE_U, {})]),
        ("USE d; ALTER TABLE w MODIFY a INT NOT NULL;", [(TABLE_W, {})]),
        ("ALTER TABLE d.w MODIFY a INT NOT NULL; ALTER TABLE u MODIFY a INT NOT NULL;",
         [(TABLE_U, {}), (TABLE_W, {})]),
        # what cannot affect rows, or has none
        ("ALTER TABLE t ADD c INT; ALTER TABLE t RENAME a TO x;", []),
        ("ALTER TABLE t ADD twice AS a * 2;", []),
        ("ALTER TABLE p MODIFY a INT NOT NULL;", []),
        ("DROP TABLE t; CREATE TABLE t (a INT NOT NULL) WITH ('connector' = 'print');", []),
        ("DROP DATABASE d CASCADE;", []),
        (f"CREATE TABLE n (a INT) WITH {FILES.format('n')}; ALTER TABLE n MODIFY a INT NOT NULL;",
         []),
    ],
)  # fmt: skip
def test_tables_whose_rows_are_read(
    gate: Gate, up: str, expected: list[tuple[str, dict[str, str]]]
) -> None:
    gate.upgrade(up)

    assert expected == sorted(gate.read, reverse=True)
    assert ["0001_m", "0002_m"] == gate.applied()


@pytest.mark.parametrize(
    ("up", "reason"),
    [
        ("ALTER TABLE t RENAME r.x TO z; ALTER TABLE t MODIFY a INT NOT NULL;",
         "a field is renamed"),
        ("ALTER TABLE t DROP b; ALTER TABLE t ADD b INT;", "a column is dropped and added again"),
    ],
)  # fmt: skip
def test_what_cannot_be_compared_is_refused_unless_it_is_accepted(
    gate: Gate, up: str, reason: str
) -> None:
    with pytest.raises(SchemaCoreError) as caught:
        gate.upgrade(up)
    assert "rows-do-not-fit" == caught.value.code
    assert f"default_catalog.default_database.t: not checked: {reason}" in str(caught.value)

    assert "check the rows yourself, then accept them: --accept not-checked" == caught.value.hint

    gate.upgrade(up, accept=["not-checked"])
    assert ["0001_m", "0002_m"] == gate.applied()


def test_data_steps_of_the_migration(gate: Gate) -> None:
    """A rewrite validates its rows; other steps write them before they can be counted."""
    too_long = RowProblem("too-long", ("b",), "longer than VARCHAR(3)", 2, {})
    gate.problems = (too_long, RowProblem("null-value", ("a",), "NULL is not INT NOT NULL", 1, {}))
    rewrite = "-- rewrite: t\n-- accept: too-long\nALTER TABLE t MODIFY b VARCHAR(3) NOT NULL;"
    fill = "UPDATE u SET k = 0 WHERE k IS NULL; ALTER TABLE u MODIFY k INT NOT NULL;"
    migrator = gate.migrator(START, f"-- up\n{rewrite}\n{fill}\n")

    rewritten, filled = validate_migrations(migrator, [migrator.directory.find("0002_m")])
    assert ["null-value"] == [problem.kind for problem in rewritten.problems]
    assert (WRITES_ROWS,) == filled.unchecked
    assert [(TABLE_T, {})] == gate.read
    assert f"{filled.path}: not checked: {WRITES_ROWS}" == str(filled)


def test_an_undo_is_refused_for_rows_that_do_not_fit(gate: Gate) -> None:
    down = "ALTER TABLE t RENAME x TO a;\nALTER TABLE t DROP c;"
    texts = [
        f"-- up\nALTER TABLE {table} ADD c INT;\nALTER TABLE {table} RENAME a TO x;\n"
        f"-- down\n{down.replace(' t ', f' {table} ')}\n"
        for table in ("t", "u")
    ]
    migrator = gate.migrator(START, *texts)
    migrator.upgrade()
    gate.problems = (RowProblem("value-dropped", ("c",), "the value is dropped", 2, {}),)

    with pytest.raises(SchemaCoreError) as caught:
        list(downgrade_validated(migrator, "1"))
    assert "migration 0003_m is not undone, because rows do not fit: " in caught.value.problem
    assert "correct the rows first, or accept the loss: --accept value-dropped" == caught.value.hint
    assert [(TABLE_U, {"x": "a"})] == gate.read
    assert ["0001_m", "0002_m", "0003_m"] == gate.applied()

    accepted = downgrade_validated(migrator, "1", ["value-dropped"], dry_run=True)
    assert 4 == len([*accepted])
    assert ["0001_m", "0002_m", "0003_m"] == gate.applied()
    accepted = downgrade_validated(migrator, "1", ["value-dropped"])
    assert ["downgrade 0003_m: 2 statements", "downgrade 0002_m: 2 statements"] == [
        str(each) for each in accepted if not isinstance(each, ValidationReport)
    ]


def test_a_migration_is_applied_before_the_next_one_is_validated(gate: Gate) -> None:
    gate.problems = (RowProblem("too-long", ("b",), "longer than VARCHAR(3)", 2, {}),)
    harmless, narrowing = "ALTER TABLE t ADD c INT;", "ALTER TABLE t MODIFY b VARCHAR(3);"

    with pytest.raises(SchemaCoreError) as caught:
        gate.upgrade(harmless, narrowing)
    assert ["0001_m", "0002_m"] == gate.applied()
    assert "migration 0003_m is not applied, because rows do not fit: " in str(caught.value)
    assert caught.value.hint == "correct the rows first, or accept the loss: --accept too-long"

    assert [f"{TABLE_T}: 3 rows in 1 file, 1 problem", "upgrade 0003_m: 1 statement"] == (
        gate.upgrade(harmless, narrowing, accept=["too-long"])
    )


def test_a_dry_run_validates_all_migrations_and_applies_none(gate: Gate) -> None:
    ups = ("ALTER TABLE t RENAME a TO x;", "ALTER TABLE t MODIFY x INT NOT NULL;",
           "ALTER TABLE t ADD c INT;")  # fmt: skip
    lines = gate.upgrade(*ups, dry_run=True)

    assert [(TABLE_T, {"a": "x"})] * 2 == gate.read  # the definitions after 0003 and after 0004
    assert "upgrade 0004_m: 1 statement" == lines[-1]
    assert ["0001_m"] == gate.applied()
    assert [] == gate.upgrade(target="1", dry_run=True)


def test_a_migration_that_fails_is_reported_before_rows_are_read(gate: Gate) -> None:
    with pytest.raises(SchemaCoreError) as caught:
        gate.upgrade("ALTER TABLE t MODIFY a INT NOT NULL; ALTER TABLE t DROP nowhere;")

    assert "unknown-column" == caught.value.code
    assert [] == gate.read


def test_every_table_with_problems_is_named() -> None:
    problem = RowProblem("null-value", ("a",), "NULL is not INT NOT NULL", 1, {"f": 1}, ("x",))
    reports = [ValidationReport(path, 3, 1, (problem,)) for path in ("c.d.t", "c.d.u")]

    with pytest.raises(SchemaCoreError) as caught:
        require_fitting_rows("0002_m", reports)
    for path in ("c.d.t", "c.d.u"):
        assert f"{path}: a: 1 row: NULL is not INT NOT NULL [null-value]" in caught.value.problem
    assert "correct the rows first" == caught.value.hint
    with pytest.raises(SchemaCoreError):
        require_fitting_rows("0002_m", [], ["null-value"])
    require_fitting_rows("0002_m", [ValidationReport("t", 3, 1, ())])
