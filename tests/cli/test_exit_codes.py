"""Every command ends with 0, 1 or 2 as the table of exit codes says."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from typer.core import TyperGroup
from typer.testing import CliRunner

from schema_core.cli import GOOD, UNREADABLE, WRONG
from schema_core.cli.app import application, load_command
from schema_core.cli.commands import COMMANDS, EXIT_CODES

FILES = {
    "good.sql": "CREATE TABLE t (a BIGINT) WITH ('connector' = 'blackhole');",
    "new.sql": "CREATE TABLE t (a INT, b INT METADATA VIRTUAL) WITH ('connector' = 'x');",
    "bad.sql": "SELECT nope FROM nowhere;",
    "query.sql": "SELECT 1 AS a",
    "insert.sql": "CREATE TABLE t (a INT) WITH ('connector' = 'blackhole'); INSERT INTO t SELECT 1",
    "lossy.sql": "CREATE TABLE t (a TIMESTAMP(9))",
    "plan.json": "{}",
    "migrations/setup.sql": (
        "CREATE CATALOG c WITH ('type' = 'sql', 'url' = 'sqlite:///${folder}/c.db',"
        " 'warehouse' = '${folder}/w'); USE CATALOG c;"
    ),
    "migrations/0001_a.sql": "-- up\nCREATE TABLE t (a INT);\n-- down\nDROP TABLE t;\n",
    "fails/0001_a.sql": "-- up\nCREATE TABLE t (a NOPE);\n-- down\nSELECT 1;\n",
    "broken/0001_a.sql": "SELECT 1",
    "narrow.sql": "CREATE TABLE t (a INT);",
    "wide.sql": "CREATE TABLE t (a BIGINT);",
    "ill.sql": "CREATE TABLE t (a NOPE);",
    "good.json": '{"schema.0.name": "a", "schema.0.data-type": "BIGINT"}',
    "ill.json": '{"schema.0.name": "a", "schema.0.data-type": "NOPE"}',
}
DIRECTORY = "--directory migrations --define folder={folder}"
FAILS = f"{DIRECTORY.replace('migrations', 'fails')} --setup migrations/setup.sql"
BROKEN = DIRECTORY.replace("migrations", "broken")
UPGRADED = (f"migrate upgrade {DIRECTORY}",)
FILLED = (*UPGRADED, "run rows.sql --define folder={folder}")

#: Command, exit code, arguments, commands before it.
CASES: list[tuple[str, int, str, tuple[str, ...]]] = [
    ("run", GOOD, "good.sql", ()),
    ("run", WRONG, "bad.sql", ()),
    ("run", UNREADABLE, "absent.sql", ()),
    ("sql", GOOD, "", ()),
    ("sql", WRONG, "--setup good.sql < bad.sql", ()),
    ("sql", UNREADABLE, "--setup absent.sql", ()),
    ("compile-plan", GOOD, "insert.sql -o out.json", ()),
    ("compile-plan", WRONG, "bad.sql -o out.json", ()),
    ("compile-plan", UNREADABLE, "absent.sql -o out.json", ()),
    ("run-plan", WRONG, "plan.json", ()),
    ("run-plan", UNREADABLE, "absent.json", ()),
    ("ctas", GOOD, "t query.sql -o connector=blackhole --dry-run", ()),
    ("ctas", WRONG, "t bad.sql -o connector=blackhole", ()),
    ("ctas", UNREADABLE, "t query.sql -o connector", ()),
    ("recover", GOOD, "good.sql", ()),
    ("recover", WRONG, "good.sql --table nowhere", ()),
    ("recover", UNREADABLE, "absent.sql", ()),
    ("refresh", GOOD, "good.sql --list", ()),
    ("refresh", WRONG, "good.sql --table nowhere", ()),
    ("refresh", UNREADABLE, "good.sql --partition x", ()),
    ("resolve", GOOD, "good.sql", ()),
    ("resolve", WRONG, "bad.sql", ()),
    ("resolve", UNREADABLE, "absent.sql", ()),
    ("check", GOOD, "good.sql query.sql", ()),
    ("check", WRONG, "good.sql bad.sql", ()),
    ("check", UNREADABLE, "bad.sql absent.sql", ()),
    ("show", GOOD, "good.sql", ()),
    ("show", WRONG, "bad.sql", ()),
    ("show", UNREADABLE, "absent.sql", ()),
    ("snapshot", GOOD, "good.sql -o out", ()),
    ("snapshot", WRONG, "bad.sql -o out", ()),
    ("snapshot", UNREADABLE, "good.sql -o .", ()),
    ("diagram", GOOD, "good.sql", ()),
    ("diagram", WRONG, "bad.sql", ()),
    ("diagram", UNREADABLE, "absent.sql", ()),
    ("convert", GOOD, "lossy.sql --from flink", ()),
    ("convert", WRONG, "lossy.sql --from flink --to postgres", ()),
    ("convert", UNREADABLE, "lossy.sql --from nowhere", ()),
    ("compat", GOOD, "good.sql good.sql", ()),
    ("compat", WRONG, "good.sql new.sql", ()),
    ("compat", UNREADABLE, "good.sql ill.sql", ()),
    ("diff", GOOD, "good.sql good.sql", ()),
    ("diff", WRONG, "good.sql new.sql", ()),
    ("diff", UNREADABLE, "good.sql ill.sql", ()),
    ("plan", GOOD, "good.sql good.sql", ()),
    ("plan", WRONG, "good.sql new.sql --target postgres", ()),
    ("plan", UNREADABLE, "good.sql ill.sql", ()),
    ("validate", UNREADABLE, f"t --from wide.sql {DIRECTORY} --setup absent.sql", ()),
    ("validate", WRONG, f"t --from bad.sql {DIRECTORY}", UPGRADED),
    ("drift", GOOD, DIRECTORY, UPGRADED),
    ("drift", WRONG, f"{DIRECTORY} --setup drop.sql", UPGRADED),
    ("drift", UNREADABLE, BROKEN, ()),
    ("sweep", UNREADABLE, "nowhere.db", ()),
    ("explain", GOOD, "syntax", ()),
    ("explain", UNREADABLE, "sintax", ()),
    ("doctor", GOOD, "", ()),
    ("doctor", UNREADABLE, "--nope", ()),
    ("init", GOOD, "project", ()),
    ("init", UNREADABLE, "project", ("init project",)),
    ("new", GOOD, "catalog shop", ()),
    ("new", UNREADABLE, "catalog json", ()),
    ("migrate upgrade", GOOD, DIRECTORY, ()),
    ("migrate upgrade", WRONG, FAILS, ()),
    ("migrate upgrade", UNREADABLE, BROKEN, ()),
    ("migrate downgrade", GOOD, f"{DIRECTORY} base", UPGRADED),
    ("migrate downgrade", WRONG, f"{DIRECTORY} 9", UPGRADED),
    ("migrate downgrade", UNREADABLE, f"{BROKEN} base", ()),
    ("migrate history", GOOD, DIRECTORY, ()),
    ("migrate history", WRONG, f"{FAILS}", UPGRADED),
    ("migrate history", UNREADABLE, BROKEN, ()),
    ("migrate stamp", GOOD, f"{DIRECTORY} 1", ()),
    ("migrate stamp", WRONG, f"{DIRECTORY} 9", ()),
    ("migrate stamp", UNREADABLE, f"{BROKEN} 1", ()),
    ("migrate drift", GOOD, DIRECTORY, UPGRADED),
    ("migrate drift", WRONG, f"{DIRECTORY} --setup drop.sql", UPGRADED),
    ("migrate drift", UNREADABLE, BROKEN, ()),
    ("migrate new", GOOD, "b --directory migrations", ()),
    ("migrate new", WRONG, "No --directory migrations", ()),
    ("migrate new", UNREADABLE, "b --directory broken", ()),
    ("migrate merge", GOOD, "--directory migrations", ()),
    ("migrate merge", UNREADABLE, "--directory broken", ()),
    ("migrate lint", GOOD, DIRECTORY, ()),
    ("migrate lint", WRONG, FAILS, ()),
    ("migrate lint", UNREADABLE, f"{DIRECTORY} --severity nope", ()),
    ("migrate check", GOOD, f"--from narrow.sql {DIRECTORY}", ()),
    ("migrate check", WRONG, f"--from wide.sql {DIRECTORY}", ()),
    ("migrate check", UNREADABLE, f"--from wide.sql {BROKEN}", ()),
    ("migrate hash", GOOD, "--directory migrations", ()),
    ("migrate hash", UNREADABLE, "--directory broken", ()),
    ("migrate baseline", GOOD, "--directory empty", ()),
    ("migrate baseline", WRONG, DIRECTORY, ()),
    ("migrate baseline", UNREADABLE, f"--tables good.sql {DIRECTORY}", ()),
    ("migrate autogenerate", GOOD, f"b --from wide.sql {DIRECTORY}", UPGRADED),
    ("migrate autogenerate", WRONG, f"b --from ill.sql {DIRECTORY}", UPGRADED),
    ("migrate autogenerate", UNREADABLE, f"b {DIRECTORY}", ()),
    ("migrate validate", WRONG, f"t --from bad.sql {DIRECTORY}", UPGRADED),
    ("migrate validate", UNREADABLE, f"t --from wide.sql {DIRECTORY} --setup absent.sql", ()),
    ("table-diff", UNREADABLE, f"t t --setup absent.sql {DIRECTORY}", ()),
    ("migrate try", GOOD, DIRECTORY, ()),
    ("migrate try", WRONG, FAILS, ()),
    ("migrate try", UNREADABLE, BROKEN, ()),
    ("migrate table-diff", UNREADABLE, f"t t --samples 101 {DIRECTORY}", UPGRADED),
    ("migrate rewrite", WRONG, f"t --from bad.sql {DIRECTORY}", UPGRADED),
    ("migrate rewrite", UNREADABLE, f"t --from wide.sql {DIRECTORY} --setup absent.sql", ()),
]
#: Those that start Spark.
ON_SPARK: list[tuple[str, int, str, tuple[str, ...]]] = [
    ("run-plan", GOOD, "out.json", ("compile-plan insert.sql -o out.json",)),
    ("validate", GOOD, f"t --from wide.sql {DIRECTORY}", FILLED),
    ("sweep", GOOD, "{folder}/good.json", ()),
    ("sweep", WRONG, "{folder}/ill.json", ()),
    ("migrate validate", GOOD, f"t --from wide.sql {DIRECTORY}", FILLED),
    ("table-diff", GOOD, f"t t {DIRECTORY}", FILLED),
    ("table-diff", WRONG, f"t no_rows {DIRECTORY} --setup no_rows.sql", FILLED),
    ("migrate table-diff", GOOD, f"t t {DIRECTORY}", FILLED),
    ("migrate table-diff", WRONG, f"t no_rows {DIRECTORY} --setup no_rows.sql", FILLED),
    ("migrate rewrite", GOOD, f"t --from wide.sql {DIRECTORY}", FILLED),
]
#: A branch merge fails only where its name is invalid, which needs branches.
BRANCHED = ("migrate merge", WRONG, "No --directory migrations", ())


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    setup = FILES["migrations/setup.sql"]
    (tmp_path / "drop.sql").write_text(f"{setup} DROP TABLE t;")
    no_rows = "CREATE TEMPORARY VIEW no_rows AS SELECT * FROM t WHERE a < 0;"
    (tmp_path / "no_rows.sql").write_text(f"{setup} {no_rows}")
    (tmp_path / "rows.sql").write_text(f"{setup} INSERT INTO t SELECT 1;")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def invoke(folder: Path, line: str) -> Any:
    line, _, given = line.partition(" < ")
    text = (folder / given).read_text() if given else "SHOW TABLES;"
    arguments = line.replace("{folder}", str(folder)).split()
    return CliRunner().invoke(application(), arguments, input=text)


def checked(folder: Path, command: str, code: int, arguments: str, before: tuple[str, ...]) -> None:
    for line in before:
        assert GOOD == invoke(folder, line).exit_code
    done = invoke(folder, f"{command} {arguments}")

    assert code == done.exit_code, (done.output, done.exception)
    if code == UNREADABLE:
        assert "" == done.stdout
        assert done.stderr


@pytest.mark.parametrize(("command", "code", "arguments", "before"), CASES)
def test_exit_codes(
    folder: Path, command: str, code: int, arguments: str, before: tuple[str, ...]
) -> None:
    checked(folder, command, code, arguments, before)


@pytest.mark.usefixtures("spark")
@pytest.mark.parametrize(("command", "code", "arguments", "before"), ON_SPARK)
def test_exit_codes_on_spark(
    folder: Path, command: str, code: int, arguments: str, before: tuple[str, ...]
) -> None:
    checked(folder, command, code, arguments, before)


def test_a_merge_with_an_invalid_name(folder: Path) -> None:
    for name in ("b", "c"):
        text = f"-- parents: 0001_a\n-- up\n-- down\n-- {name}\n"
        (folder / "migrations" / f"0002_{name}.sql").write_text(text)

    checked(folder, *BRANCHED)


def test_every_command_has_its_exit_codes() -> None:
    names = set()
    for name in COMMANDS:
        command = load_command(name)
        below = command.commands if isinstance(command, TyperGroup) else {}
        names |= {f"{name} {item}" for item in below} or {name}

    assert names == set(EXIT_CODES)


def test_every_exit_code_has_a_case() -> None:
    cases = {(command, code) for command, code, _, _ in [*CASES, *ON_SPARK, BRANCHED]}

    assert cases == {
        (name, code)
        for name, meaning in EXIT_CODES.items()
        for code, text in zip((GOOD, WRONG, UNREADABLE), meaning, strict=True)
        if text
    }
