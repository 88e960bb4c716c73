"""Names with dots, backticks and ``=``: each command keeps their tables and columns apart."""

from __future__ import annotations

import json
from pathlib import Path
from urllib.parse import unquote

import pytest
from typer.testing import CliRunner

from schema_core.base.paths import ObjectIdentifier, split_names
from schema_core.cli import script
from schema_core.cli.app import application
from schema_core.errors import SchemaError

DATABASES = "CREATE DATABASE `a`; CREATE DATABASE `a.b`;\n"
OLD = f"""{DATABASES}
CREATE TABLE `a`.`b.c` (x INT, `p.q` STRING, `k=v` INT);
CREATE TABLE `a.b`.`c` (y STRING);
CREATE TABLE `or``ders` (y STRING);
CREATE TABLE `orders` (z INT);
"""
#: One of two tables whose joined names are equal is dropped, and another is renamed.
NEW = f"""{DATABASES}
CREATE TABLE `a`.`b.c` (x BIGINT, `r.s` STRING, `k=v` INT);
CREATE TABLE `or``ders` (y STRING);
CREATE TABLE `former` (z INT);
ALTER TABLE `former` RENAME TO `orders`;
"""
DOTTED, DROPPED = "default_catalog.a.`b.c`", "default_catalog.`a.b`.c"


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    old, new = tmp_path / "old.sql", tmp_path / "new.sql"
    old.write_text(OLD)
    new.write_text(NEW)
    return old, new


def call(*arguments: object) -> tuple[int, str, str]:
    done = CliRunner().invoke(application(), list(map(str, arguments)))
    return done.exit_code, done.stdout, done.stderr


def test_a_snapshot_has_a_file_for_each_table(tmp_path: Path, files: tuple[Path, Path]) -> None:
    code, _, _ = call("snapshot", files[0], "-o", tmp_path / "out")
    texts = {split_names(unquote(path.stem)): path for path in (tmp_path / "out").iterdir()}

    assert 0 == code
    for names in (("a", "b.c"), ("a.b", "c"), ("default_database", "or`ders")):
        path = ".".join("`" + name.replace("`", "``") + "`" for name in names)
        assert texts.pop(names).read_text().startswith(f"CREATE TABLE {path} (")
    assert [("default_database", "orders")] == list(texts)


def test_differences_are_those_of_each_table(files: tuple[Path, Path]) -> None:
    code, output, _ = call("diff", *files)

    assert 1 == code
    assert output.splitlines() == [
        f"{DROPPED}: dropped",
        f"{DOTTED}: changed",
        "  change the type of column `x` from INT to BIGINT",
        "  add column `r.s` STRING after `x`",
        "  drop column `p.q` STRING",
        "  data at risk: `p.q`: the rows have it [field-dropped]",
        "  hint: pass --rename '`b.c`.`p.q`=`r.s`' if it is a rename",
    ]
    document = json.loads(call("diff", *files, "--format", "json")[1])
    assert [DROPPED, DOTTED] == list(document["tables"])


@pytest.mark.parametrize(
    "rename", ["`b.c`.`p.q`=`r.s`", "a.`b.c`.`p.q`=r.s", "default_catalog.a.`b.c`.`p.q`=r.s"]
)
def test_a_rename_names_its_table_and_column(files: tuple[Path, Path], rename: str) -> None:
    assert "  rename column `p.q` to `r.s`" in call("diff", *files, "--rename", rename)[1]
    _, output, errors = call("plan", *files, "--rename", rename, "--format", "sql")
    assert "ALTER TABLE `default_catalog`.`a`.`b.c` RENAME `p.q` TO `r.s`;" in output
    assert f"{DROPPED}: only in the old script\n" == errors


def test_a_dropped_table_is_incompatible(tmp_path: Path, files: tuple[Path, Path]) -> None:
    code, output, _ = call("compat", *files, "--mode", "FORWARD")

    assert 1 == code
    assert f"{DROPPED}: incompatible: the table was removed" in output
    accept = tmp_path / "accept.toml"
    kinds = (("column-gone", "`p.q`"), ("type-changed", "x"))
    accept.write_text(
        "".join(
            f"[[accept]]\nkind = '{kind}'\ntable = '{DOTTED}'\npath = '{path}'\n"
            "reason = 'intended'\nuntil = 2999-01-01\n"
            for kind, path in kinds
        )
    )
    _, output, _ = call("compat", *files, "--mode", "FORWARD", "--accept", accept)
    assert f"{DOTTED}: compatible (FORWARD, flink)" in output


def test_numbers_of_rows_are_those_of_a_table(files: tuple[Path, Path]) -> None:
    _, output, _ = call("plan", *files, "--rows", "`b.c`=7", "--format", "json")
    assert {DOTTED} < json.loads(output)["plans"].keys()
    code, _, errors = call("plan", *files, "--rows", "b.c=7")
    assert 2 == code
    assert "--rows: there is no table 'b'" in errors


@pytest.mark.parametrize(
    ("option", "names", "name"),
    [
        ("t.c=new", ("t", "c"), "new"),
        ("my-table.c=new.name", ("my-table", "c"), "new.name"),
        ("`a.b`.`c=d`=`e=f`", ("a.b", "c=d"), "e=f"),
        ("or`ders.c=x", ("or`ders", "c"), "x"),
        ("`or``ders`.c=`x``y`", ("or`ders", "c"), "x`y"),
        ("t.c", ("t", "c"), ""),
        ("`t=`.c", ("t=", "c"), ""),
    ],
)
def test_options_of_renames(option: str, names: tuple[str, ...], name: str) -> None:
    assert (names, name) == script.rename_of(option)


def test_tables_of_the_same_name_are_named_with_their_database() -> None:
    paths = [ObjectIdentifier("c", database, "t") for database in ("d", "e")]

    assert (paths, 1) == script.tables_named(("t", "a"), paths, "--rename", below=1)
    assert (paths[1:], 2) == script.tables_named(("e", "t", "a"), paths, "--rename", below=1)
    assert ("e", "t") == script.shortest_path(paths[1], paths)
    with pytest.raises(SchemaError) as caught:
        script.tables_named(("e", "t"), paths, "--rename", below=1)
    assert "--rename: there is no table 'e'" == caught.value.problem


def test_the_renames_of_migrations_name_quoted_paths(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'c.db'}"
    directory, wanted = tmp_path / "migrations", tmp_path / "tables.sql"
    directory.mkdir()
    (directory / "setup.sql").write_text(
        f"CREATE CATALOG c WITH ('type' = 'sql', 'url' = '{url}'); USE CATALOG c;"
    )
    wanted.write_text(OLD)
    arguments = ("--from", wanted, "--directory", directory)
    assert 0 == call("migrate", "autogenerate", "first", *arguments)[0]
    assert 0 == call("migrate", "upgrade", "--directory", directory)[0]
    wanted.write_text(OLD.replace("`p.q`", "`r.s`"))
    _, path, errors = call("migrate", "autogenerate", "second", *arguments)
    Path(path.strip()).unlink()
    assert "if it is a rename: --rename 'a.`b.c`.`p.q`=`r.s`'" in errors
    code, path, _ = call(
        "migrate", "autogenerate", "second", *arguments, "--rename", "a.`b.c`.`p.q`=`r.s`"
    )
    assert (0, True) == (code, "RENAME `p.q` TO `r.s`" in Path(path.strip()).read_text())
