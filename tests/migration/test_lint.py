"""Linting of migrations: a case for each rule, positions, acceptances, and scratch catalogs."""

from __future__ import annotations

from pathlib import Path

import pytest

from schema_core import EnvironmentSettings, TableEnvironment
from schema_core.errors import SchemaCoreError
from schema_core.mappings.stored_types import READINGS
from schema_core.migration import (
    LintFinding,
    MigrationDirectory,
    Migrator,
    Severity,
    lint_migrations,
)
from schema_core.migration.gates.lint import RULES, lint_history

FILES = "'connector' = 'filesystem', 'path' = '/data/{}', 'format' = '{}'"
PARQUET, CSV = FILES.format("t", "parquet"), FILES.format("c", "csv")
TABLE = (
    "CREATE TABLE t (id BIGINT NOT NULL, name STRING, n INT, code VARCHAR(9), ts TIMESTAMP(3),"
    f" r ROW<a INT, b STRING>, twice AS n * 2, WATERMARK FOR ts AS ts) WITH ({PARQUET});"
)
START = f"""\
-- up
{TABLE}
CREATE TABLE p (a INT, k INT) PARTITIONED BY (k) WITH ({FILES.format("p", "parquet")});
CREATE TABLE c (a INT, b STRING) WITH ({CSV});
CREATE VIEW v AS SELECT id, name FROM t;
CREATE DATABASE d;
-- down
DROP VIEW v; DROP TABLE c; DROP TABLE p; DROP TABLE t; DROP DATABASE d;
"""


def write(folder: Path, **files: str) -> Path:
    for name, text in files.items():
        (folder / f"{name.removeprefix('_')}.sql").write_text(text)
    return folder


def lint(folder: Path, up: str, down: str = "", head: str = "") -> list[LintFinding]:
    """Return the findings of a migration after `START`; a text for `down` is a section."""
    section = f"-- down\n{down}\n" if down else ""
    write(folder, _0001_start=START, _0002_change=f"{head}-- up\n{up}\n{section}")
    findings = lint_migrations(folder, old=["0001_start"])
    return [finding for finding in findings if finding.kind != "migration-irreversible"]


def kinds(findings: list[LintFinding] | tuple[LintFinding, ...]) -> set[str]:
    return {finding.kind for finding in findings}


#: Statements after `START` -> the kinds of findings, of which the first is the rule of the case.
CASES: list[tuple[str, list[str]]] = [
    ("DROP VIEW v; DROP TABLE t;", ["table-dropped", "view-dropped"]),
    ("ALTER TABLE t DROP code;", ["column-dropped"]),
    ("ALTER TABLE t MODIFY r ROW<a INT>;", ["column-dropped"]),
    ("DROP DATABASE d;", ["database-dropped"]),
    ("DROP VIEW v;", ["view-dropped"]),
    ("DROP VIEW v; ALTER TABLE t RENAME TO u;", ["table-renamed", "view-dropped"]),
    ("ALTER TABLE t RENAME code TO label;", ["column-gone", "old-readers-affected"]),
    ("ALTER TABLE t DROP twice;", ["column-gone"]),
    ("ALTER TABLE t MODIFY twice AS n * 2.5;", ["column-type-changed"]),
    ("ALTER TABLE t DROP WATERMARK;", ["watermark-gone"]),
    ("ALTER TABLE t MODIFY code INT;", ["type-changed"]),
    ("ALTER TABLE t MODIFY n BIGINT;", ["old-readers-affected", "column-type-changed"]),
    ("ALTER TABLE t MODIFY code VARCHAR(5);", ["length-narrowed"]),
    ("ALTER TABLE t MODIFY code VARCHAR(9) NOT NULL;", ["nullability-narrowed"]),
    ("ALTER TABLE t ADD x INT NOT NULL;", ["required-field-added"]),
    ("ALTER TABLE t SET ('path' = '/other');", ["location-changed"]),
    ("ALTER TABLE t SET ('format' = 'orc');", ["format-changed"]),
    ("ALTER TABLE p ADD PRIMARY KEY (a) NOT ENFORCED;", ["key-changed", "nullability-narrowed"]),
    ("DROP TABLE p; ALTER TABLE t DROP name;", ["migration-breaks-view", "table-dropped",
                                                "column-dropped"]),
    ("-- rewrite: t\nALTER TABLE t MODIFY code INT;", ["rows-rewritten", "old-readers-affected"]),
    ("UPDATE t SET code = 'x' WHERE id = 1;", ["rows-rewritten"]),
    ("DELETE FROM t WHERE id = 1;", ["rows-deleted"]),
    ("INSERT OVERWRITE c SELECT 1, 'x';", ["rows-deleted"]),
    ("ALTER TABLE t DROP name; ALTER VIEW v AS SELECT id FROM t;", ["column-gone",
                                                                    "column-dropped"]),
]  # fmt: skip

#: Statements after which other names denote what there was -> the kinds of findings.
FOLLOWED: list[tuple[str, list[str]]] = [
    ("DROP VIEW v; ALTER TABLE t RENAME TO u; ALTER TABLE u DROP code;",
     ["table-renamed", "view-dropped", "column-dropped"]),
    ("ALTER TABLE c RENAME TO n; CREATE TABLE c (x INT); ALTER TABLE c DROP x;",
     ["table-renamed"]),
    ("DROP TABLE c; CREATE TABLE c (x INT); DROP TABLE c;", ["table-dropped"]),
    ("ALTER TABLE t ADD x INT; ALTER TABLE t MODIFY x INT NOT NULL;", ["nullability-narrowed"]),
    (("ALTER TABLE t ADD x INT; ALTER TABLE t MODIFY x STRING; ALTER TABLE t RENAME x TO y;"
     " ALTER TABLE t DROP y;"), []),
]  # fmt: skip

#: Statements that put nothing at risk.
HARMLESS = [
    "ALTER TABLE t ADD x INT;",
    "ALTER TABLE t MODIFY r ROW<a INT, b STRING, c INT>;",
    "CREATE TABLE n (a INT); ALTER TABLE n DROP a; ALTER TABLE n ADD b INT NOT NULL;",
    "CREATE TABLE n (a INT); DROP TABLE n;",
    "CREATE VIEW w AS SELECT a FROM c; DROP VIEW w;",
    "CREATE DATABASE e; DROP DATABASE e;",
    "DROP TABLE IF EXISTS nowhere;",
    "ALTER TABLE t ADD y AS n + 1;",
    "INSERT INTO c SELECT CAST(id AS INT), name FROM t;",
    "CREATE TABLE n (a INT) WITH ('connector' = 'blackhole'); INSERT INTO n SELECT 1;",
]


@pytest.mark.parametrize(("up", "expected"), CASES)
def test_every_rule_of_statements(tmp_path: Path, up: str, expected: list[str]) -> None:
    assert set(expected) == kinds(lint(tmp_path, up))


@pytest.mark.parametrize(("up", "expected"), FOLLOWED)
def test_what_the_migration_itself_has_changed_before(
    tmp_path: Path, up: str, expected: list[str]
) -> None:
    assert set(expected) == kinds(lint(tmp_path, up))


@pytest.mark.parametrize("up", HARMLESS)
def test_what_puts_nothing_at_risk_has_no_finding(tmp_path: Path, up: str) -> None:
    assert [] == lint(tmp_path, up)


def test_every_rule_has_a_case() -> None:
    """The kinds of `READINGS` are those of `mappings`, where each has its tests."""
    in_this_file = {kind for _, expected in CASES for kind in expected} | {
        "migration-irreversible", "not-restored", "migration-branches", "duplicate-number",
        "number-order", "no-statements", "not-checked", "invalid-acceptance", "unused-acceptance",
        "migration-checksum-mismatch", "migration-changed", "migration-missing",
        "partitions-changed",  # ALTER TABLE does not change partition keys
    }  # fmt: skip

    assert set() == set(RULES) - in_this_file - set(READINGS)
    assert set() == in_this_file - set(RULES)


def test_a_finding_has_its_place(tmp_path: Path) -> None:
    (finding,) = lint(tmp_path, "USE d; USE default_database;\n  ALTER TABLE t\n    DROP code;")

    assert (3, 3, "default_database.t", ("code",)) == (
        finding.line, finding.column, finding.subject, finding.path,
    )  # fmt: skip
    assert ("  ALTER TABLE t", "  ^^^^^^^^^^^^^") == finding.excerpt
    assert str(finding) == (
        f"{tmp_path}/0002_change.sql:3:3: error: default_database.t: its values cannot be read any "
        "more [column-dropped]"
    )


def test_variables_do_not_need_values_and_do_not_move_findings(tmp_path: Path) -> None:
    up = "ALTER TABLE t SET ('csv.null-literal' = '${null}'); ALTER TABLE t DROP code;"
    write(tmp_path, _0001_start=START, _0002_change=f"-- up\n{up}\n")
    for variables in ({}, {"null": "a longer value"}):
        findings = lint_migrations(tmp_path, variables=variables, old=["0001_start"])
        (place,) = [
            (finding.line, finding.column)
            for finding in findings
            if finding.kind == "column-dropped"
        ]
        assert (2, 53) == place


@pytest.mark.parametrize(
    ("up", "down", "missing"),
    [
        ("ALTER TABLE t ADD x INT;", "ALTER TABLE t DROP x;", []),
        ("ALTER TABLE t ADD x INT;", "USE d;", ["drop column `x` INT"]),
        ("ALTER TABLE t DROP twice; ALTER TABLE t DROP n;", "ALTER TABLE t ADD n INT;",
         ["add column `twice`", "move column `n`"]),
        ("CREATE TABLE n (a INT);", "DROP TABLE n; DROP TABLE c;",
         ["create table `default_database`.`c`"]),
        ("CREATE DATABASE e;", "USE d;", ["drop database `e`"]),
    ],
)  # fmt: skip
def test_down_restores_what_up_changes(
    tmp_path: Path, up: str, down: str, missing: list[str]
) -> None:
    findings = [one for one in lint(tmp_path, up, down) if one.kind == "not-restored"]

    assert len(missing) == len(findings)
    for text in missing:
        assert any(f"'-- down' does not {text}" in finding.message for finding in findings)
    assert {3} >= {finding.line for finding in findings}


def test_an_error_of_down_is_found_and_later_migrations_are_linted(tmp_path: Path) -> None:
    write(tmp_path, _0003_more="-- up\nALTER TABLE t DROP code;\n-- down\nSELECT;\n")
    findings = lint(tmp_path, "ALTER TABLE t ADD x INT;", "ALTER TABLE t\n  DROP y;")

    places = {(Path(one.file).stem, one.kind, one.line, one.column) for one in findings}
    assert ("0002_change", "unknown-column", 5, 8) in places
    assert ("0003_more", "column-dropped", 2, 1) in places
    assert ("0003_more", "syntax", 4, 7) in places


def test_up_is_applied_again_after_down(tmp_path: Path) -> None:
    """What down restores of the definitions may still prevent that up is applied again."""
    up = "CREATE FUNCTION f AS 'a.b' LANGUAGE PYTHON; CREATE TABLE n (a INT);"

    (finding,) = lint(tmp_path, up, "DROP TABLE n;")
    assert "function-exists" == finding.kind
    assert [] == lint(tmp_path, up, "DROP TABLE n; DROP FUNCTION f;")


def test_migrations_after_an_error_are_not_checked(tmp_path: Path) -> None:
    write(tmp_path, _0003_a="-- up\nDROP TABLE t;\n", _0004_b="-- up\nDROP TABLE c;\n")
    findings = lint(tmp_path, "ALTER TABLE t ADD x INT;\nALTER TABLE nowhere ADD x INT;")

    assert ["table-not-found", "not-checked"] == [finding.kind for finding in findings]
    assert (3, 13) == (findings[0].line, findings[0].column)
    assert "2 migrations were not checked" == findings[1].message


def test_every_file_that_cannot_be_read_is_reported(tmp_path: Path) -> None:
    write(tmp_path, _0001_a="SELECT 1;\n", _0002_b="-- up\n-- up\n", _0003_c="-- up\n")
    (tmp_path / "notes.txt").write_text("x")
    (tmp_path / "0004_d.sql").write_bytes(b"-- up\n\xff")

    found = {
        (Path(one.file).name, one.kind, one.line, one.column) for one in lint_migrations(tmp_path)
    }
    assert {
        ("0001_a.sql", "invalid-migration-file", 1, 1),
        ("0002_b.sql", "invalid-migration-file", 2, 1),
        ("notes.txt", "invalid-migration-file", 0, 0),
        ("0004_d.sql", "file-system-failed", 0, 0),
    } == found


def test_parents_numbers_and_empty_files(tmp_path: Path) -> None:
    up = "-- up\nCREATE DATABASE {};\n"
    write(
        tmp_path,
        _0001_a="-- up\n",
        _0002_b=up.format("b"),
        _0002_c=f"-- parents: 0001_a\n{up.format('c')}",
        _0003_d=f"-- parents: 0004_e\n{up.format('d')}",
        _0004_e=f"-- parents: 0002_b\n{up.format('e')}",
    )
    found = lint_migrations(tmp_path)

    assert {
        ("0001_a", "no-statements"), ("0002_b", "duplicate-number"), ("0002_c", "duplicate-number"),
        ("0003_d", "number-order"), (tmp_path.name, "migration-branches"),
    } == {
        (Path(one.file).stem, one.kind) for one in found if one.kind != "migration-irreversible"
    }  # fmt: skip
    write(tmp_path, _0005_f="-- parents: 0002_b, nowhere\n-- up\n")
    assert {"invalid-migration-file"} == kinds(lint_migrations(tmp_path))


def test_checksums(tmp_path: Path) -> None:
    write(tmp_path, _0001_start=START)
    MigrationDirectory.read(tmp_path).write_checksums()
    assert () == lint_migrations(tmp_path)
    write(tmp_path, _0001_start=f"{START}\n", _0002_b="-- up\nCREATE DATABASE b;\n")

    mismatches = [
        Path(one.file).stem
        for one in lint_migrations(tmp_path)
        if one.kind == "migration-checksum-mismatch"
    ]
    assert ["0001_start", "0002_b"] == mismatches


def test_files_that_were_changed_after_they_had_been_applied(tmp_path: Path) -> None:
    environment = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    write(tmp_path, _0001_a="-- up\nCREATE TABLE a (a INT);\n", _0002_b="-- up\nDROP TABLE a;\n")
    Migrator(environment, tmp_path).upgrade()
    assert () == lint_history(Migrator(environment, tmp_path))

    (tmp_path / "0002_b.sql").unlink()
    write(tmp_path, _0001_a="-- up\nCREATE TABLE a (b INT);\n")
    assert [("0001_a", "migration-changed"), ("0002_b", "migration-missing")] == [
        (Path(one.file).stem, one.kind) for one in lint_history(Migrator(environment, tmp_path))
    ]


# --- acceptances ---------------------------------------------------------------------------------

DROPS = "ALTER TABLE t DROP code;\n{}ALTER TABLE c DROP b;"
ACCEPT = "-- lint: accept column-dropped, columns-moved: nobody reads it\n"


def reasons(findings: list[LintFinding]) -> dict[str, set[str | None]]:
    """Return the reasons of each table's findings of columns."""
    result: dict[str, set[str | None]] = {}
    for finding in findings:
        if finding.kind in ("column-dropped", "columns-moved"):
            result.setdefault(finding.subject, set()).add(finding.accepted)
    return result


def test_a_comment_accepts_findings_of_the_file_or_of_the_next_statement(tmp_path: Path) -> None:
    reason = "nobody reads it"
    everywhere = lint(tmp_path, DROPS.format(""), head=ACCEPT)
    assert {"default_database.t": {reason}, "default_database.c": {reason}} == reasons(everywhere)

    next_one = lint(tmp_path, DROPS.format(ACCEPT))
    assert {"default_database.t": {None}, "default_database.c": {reason}} == reasons(next_one)


@pytest.mark.parametrize(
    ("comment", "kind"),
    [
        ("-- lint: accept column-dropped: no reader", None),
        ("-- lint: accept column-dropped", "invalid-acceptance"),
        ("-- lint: accept column-dropped:", "invalid-acceptance"),
        ("-- lint: accept column-droped: typo", "invalid-acceptance"),
        ("-- lint: ignore column-dropped: other word", "invalid-acceptance"),
        ("-- lint: accept table-dropped: no such finding", "unused-acceptance"),
        ("-- note: accept column-dropped: not for lint", None),
    ],
)
def test_comments_are_checked(tmp_path: Path, comment: str, kind: str | None) -> None:
    findings = lint(tmp_path, f"USE d; USE default_database;\n{comment}\nALTER TABLE t DROP code;")

    problems = [one for one in findings if "acceptance" in one.kind]
    expected = [] if kind is None else [(kind, 3)]
    assert expected == [(one.kind, one.line) for one in problems]
    accepted = kind is None and comment.startswith("-- lint:")
    assert {"default_database.t": {"no reader" if accepted else None}} == reasons(findings)


def test_what_a_rewrite_accepts_is_accepted(tmp_path: Path) -> None:
    up = "-- rewrite: t\n{}ALTER TABLE t DROP code;"
    for accept, reason in (("", None), ("-- accept: value-dropped\n",
                                        "'-- accept: value-dropped'")):  # fmt: skip
        findings = lint(tmp_path, up.format(accept))
        assert {"default_database.t": {reason}} == reasons(findings)


def test_settings_accept_and_change_severities(tmp_path: Path) -> None:
    write(tmp_path, _0001_start=START, _0002_a="-- up\nALTER TABLE t DROP code;\n")
    key = "0002_a:column-dropped"
    for accepted in ({"column-dropped": "x"}, {key: "x"}, {key: "x", "column-dropped": "y"}):
        (finding,) = [
            one
            for one in lint_migrations(tmp_path, accepted=accepted)
            if one.kind == "column-dropped"
        ]
        assert "x" == finding.accepted
    (finding,) = [
        one
        for one in lint_migrations(tmp_path, accepted={"0001_start:column-dropped": "x"})
        if one.kind == "column-dropped"
    ]
    assert finding.accepted is None

    levels = {"column-dropped": Severity.ALLOW, "migration-irreversible": Severity.ERROR}
    (finding,) = lint_migrations(tmp_path, severities=levels)
    assert ("migration-irreversible", Severity.ERROR) == (finding.kind, finding.severity)
    for wrong in ({"severities": {"nope": Severity.WARN}}, {"accepted": {"nope": "x"}},
                  {"accepted": {"0001_a:nope": "x"}}):  # fmt: skip
        with pytest.raises(SchemaCoreError) as caught:
            lint_migrations(tmp_path, **wrong)
        assert "invalid-argument" == caught.value.code


# --- the scratch catalog -------------------------------------------------------------------------


def test_the_setup_opens_no_store(tmp_path: Path) -> None:
    setup = (
        "CREATE CATALOG shop WITH ('type' = 'sql', 'url' = 'postgresql://nowhere.invalid/x',"
        " 'password' = '${password}', 'default-database' = 'main', 'warehouse' = '${lake}',"
        " 'warehouse.format' = 'avro');"
        " USE CATALOG shop; CREATE DATABASE IF NOT EXISTS d; SET 'a' = 'b';"
    )
    write(
        tmp_path,
        _0001_a="-- up\nCREATE TABLE main.m (a INT); CREATE TABLE d.x (a INT);\n",
        _0002_b="-- up\nALTER TABLE m MODIFY a STRING;\n",
    )
    (finding,) = [
        one for one in lint_migrations(tmp_path, setup=setup) if one.kind == "type-changed"
    ]

    assert "avro-file does not read INT as STRING (int to string)" == finding.message
    assert not Path("/scratch").exists()


def test_statements_that_a_migration_cannot_contain(tmp_path: Path) -> None:
    (finding,) = lint(tmp_path, "SET 'a' = 'b';")

    assert ("invalid-migration-file", 2, 1) == (
        finding.kind, finding.line, finding.column,
    )  # fmt: skip
