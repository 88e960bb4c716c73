"""``schema-core migrate lint`` and ``check`` as an author of migrations runs them in CI."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.test_migrate import SETUP, Shell
from tests.migration.test_checksums import git

TABLE = "CREATE TABLE t (a INT, b STRING) WITH ('connector' = 'filesystem', 'path' = '${folder}/t',"
START = f"-- up\n{TABLE} 'format' = 'parquet');\n-- down\nDROP TABLE t;\n"
DROP = "-- up\nALTER TABLE t DROP b;\n-- down\nALTER TABLE t ADD b STRING;\n"
ADD = "-- up\nALTER TABLE t ADD c INT;\n-- down\nALTER TABLE t DROP c;\n"


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    """A shell with a migration in a directory of git, committed on the branch ``main``."""
    shell = Shell(tmp_path)
    shell.write("0001_start", START)
    git(tmp_path, "init", "--quiet", "--initial-branch", "main")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "--quiet", "-m", "start")
    return shell


def codes(shell: Shell, *options: str, status: int = 1) -> list[tuple[str, str]]:
    """Return the files and codes of the findings of `lint`."""
    findings = json.loads(shell.run("lint", "--format", "json", *options, status=status))
    return [(Path(one["file"]).stem, one["code"]) for one in findings["findings"]]


def test_a_migration_without_risks_passes(shell: Shell) -> None:
    shell.write("0002_add", ADD)

    assert "" == shell.run("lint")
    assert not (shell.folder / "shop.db").exists()


def test_findings_have_file_line_and_column(shell: Shell) -> None:
    shell.write("0002_drop", DROP)
    file = shell.folder / "migrations" / "0002_drop.sql"

    text = shell.run("lint", status=1)
    assert f"{file}:2:1: error[column-dropped]: default.t: its values" in text
    assert "    ALTER TABLE t DROP b;\n    ^^^" in text
    annotation = shell.run("lint", "--format", "github", status=1)
    assert f"::error file={file},line=2,col=1,title=column-dropped::default.t: its" in annotation
    assert "| error |" in shell.run("lint", "--format", "markdown", status=1)
    assert 'failures="1"' in shell.run("lint", "--format", "junit", status=1)


def test_only_migrations_after_another_one_are_linted(shell: Shell) -> None:
    shell.write("0002_drop", DROP)
    shell.write("0003_add", ADD)

    assert [("0002_drop", "column-dropped")] == codes(shell)
    assert [("0002_drop", "column-dropped")] == codes(shell, "--since", "1")
    assert [] == codes(shell, "--since", "2", status=0)
    assert [] == codes(shell, "--since", "0002_drop", status=0)


def test_only_migrations_that_a_branch_adds_are_linted(shell: Shell) -> None:
    shell.write("0002_drop", DROP)
    git(shell.folder, "add", ".")
    git(shell.folder, "commit", "--quiet", "-m", "drop")
    git(shell.folder, "checkout", "--quiet", "-b", "feature")
    shell.write("0003_add", ADD)
    assert [] == codes(shell, "--since", "main", status=0)
    assert [("0002_drop", "column-dropped")] == codes(shell, "--since", "main~1")

    # the branch main has gone on; a file of it is edited here, and another one removed
    git(shell.folder, "checkout", "--quiet", "main")
    shell.write("0003_other", ADD)
    git(shell.folder, "add", "migrations/0003_other.sql")
    git(shell.folder, "commit", "--quiet", "-m", "other")
    git(shell.folder, "checkout", "--quiet", "feature")
    assert [] == codes(shell, "--since", "main", status=0)
    shell.write("0002_drop", f"{DROP}-- edited\n")
    assert ("0002_drop", "migration-changed") == codes(shell, "--since", "main")[0]
    (shell.folder / "migrations" / "0002_drop.sql").unlink()
    assert ("0002_drop", "migration-missing") == codes(shell, "--since", "main")[0]


@pytest.mark.parametrize("revision", ["nowhere", "--help", "9", "main:migrations"])
def test_an_unknown_revision_is_refused(shell: Shell, revision: str) -> None:
    shell.run("lint", f"--since={revision}", status=1)

    assert "not-found" in shell.errors


def test_findings_are_accepted_by_options_and_by_the_configuration(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    shell.write("0002_drop", DROP)
    text = shell.run("lint", "--accept", "column-dropped=nobody reads it")
    assert "note[column-dropped]" in text
    assert "(accepted: nobody reads it)" in text
    shell.run("lint", "--accept", "0001_start:column-dropped=no", status=1)
    shell.run("lint", "--accept", "0002_drop:column-dropped=yes")
    assert "" == shell.run("lint", "--severity", "column-dropped=allow")
    for wrong in (("--accept", "column-dropped"), ("--severity", "column-dropped=high")):
        shell.run("lint", *wrong, status=2)
    shell.run("lint", "--accept", "column-droped=typo", status=2)
    assert "did you mean 'column-dropped'?" in shell.errors

    settings = '[migrate.lint.accept]\n"0002_drop:column-dropped" = "nobody reads it"\n'
    (shell.folder / "schema-core.toml").write_text(settings)
    monkeypatch.chdir(shell.folder)
    assert "(accepted: nobody reads it)" in shell.run("lint")


def test_the_history_of_the_catalog_is_compared_where_asked(shell: Shell) -> None:
    shell.run("upgrade")
    shell.write("0001_start", START.replace("b STRING", "b STRING, c INT"))

    assert [] == codes(shell, status=0)
    assert [("0001_start", "migration-changed")] == codes(shell, "--live")


def test_a_file_that_is_not_a_migration_is_a_finding(shell: Shell) -> None:
    shell.write("0002_b", "SELECT 1;\n")
    shell.write("0003_c", "-- up\n-- up\n")

    assert [("0002_b", "invalid-migration-file"), ("0003_c", "invalid-migration-file")] == codes(
        shell
    )


# --- check ---------------------------------------------------------------------------------------


def test_check_compares_the_definitions_with_the_migrations(shell: Shell) -> None:
    wanted = shell.tables(f"{TABLE} 'format' = 'parquet');".replace("${folder}", str(shell.folder)))
    assert "" == shell.run("check", "--from", wanted)
    assert not (shell.folder / "shop.db").exists()

    shell.write("0002_add", ADD)
    text = shell.run("check", "--from", wanted, status=1)
    assert "error[definition-not-migrated]: default.t: the migrations do not: drop column `c`" in (
        text
    )
    shell.write("0003_drop", "-- up\nALTER TABLE t DROP c;\n")
    shell.run("check", "--from", wanted)


def test_check_compares_the_catalog_where_asked(shell: Shell) -> None:
    wanted = shell.tables(f"{TABLE} 'format' = 'parquet');".replace("${folder}", str(shell.folder)))
    text = shell.run("check", "--from", wanted, "--live", status=1)
    assert "error[catalog-differs]: the catalog does not: create table `default`.`t`" in text
    shell.run("upgrade")
    assert "" == shell.run("check", "--from", wanted, "--live")

    setup = shell.folder / "migrations" / "setup.sql"
    setup.write_text(f"{SETUP}ALTER TABLE t ADD hotfix INT;\n")
    shell.run("history")
    setup.write_text(SETUP)
    findings = json.loads(
        shell.run("check", "--from", wanted, "--live", "--format", "json", status=1)
    )["findings"]
    assert [("catalog-differs", "default.t")] == [(one["code"], one["subject"]) for one in findings]


def test_secrets_of_migrations_need_no_values(shell: Shell) -> None:
    create = "CREATE TABLE s (a INT) WITH ('connector' = 'x', 'password' = '{}');\n"
    shell.write("0002_s", f"-- up\nDROP TABLE t; {create.format('${word}')}")

    assert "" == shell.run("check", "--from", shell.tables(create.format("hunter2")))


def test_check_refuses_what_it_cannot_compare(shell: Shell) -> None:
    wanted = shell.tables("CREATE TABLE t (a INT);")
    shell.run("check", status=2)
    shell.write("0002_b", "-- up\nDROP TABLE nowhere;\n")
    shell.run("check", "--from", wanted, status=1)
    assert "0002_b.sql:2:12: error[table-not-found]" in shell.errors
    shell.write("0002_b", "SELECT 1;\n")
    shell.run("check", "--from", wanted, status=2)
    (shell.folder / "migrations" / "0002_b.sql").unlink()
    shell.run("hash")
    shell.write("0001_start", f"{START}\n")
    shell.run("check", "--from", wanted, status=1)
    assert "migration-checksum-mismatch" in shell.errors


def test_check_neither_writes_rows_nor_looks_at_files(shell: Shell) -> None:
    shell.write("0002_rows", "-- up\nINSERT INTO t VALUES (1, 'x');\n")
    shell.write("0003_rewrite", "-- up\n-- rewrite: t\nALTER TABLE t MODIFY a STRING;\n")
    shell.write("0004_type", "-- up\nALTER TABLE t MODIFY a INT;\nUPDATE t SET b = 'y';\n")
    (shell.folder / "t").mkdir()
    (shell.folder / "t" / "part-0").touch()
    wanted = shell.tables(f"{TABLE} 'format' = 'parquet');")

    assert "" == shell.run("check", "--from", wanted)
    assert ["part-0"] == [file.name for file in (shell.folder / "t").iterdir()]


def test_values_of_options_are_not_shown(shell: Shell) -> None:
    create = "CREATE TABLE u (a STRING) WITH ('connector' = 'filesystem', {});"
    options = "'path' = '/x/${{{}}}', 'format' = 'csv'"
    shell.write("0002_a", f"-- up\n{create.format(options.format('p'))}\n-- down\nDROP TABLE u;\n")
    alter = "-- up\nALTER TABLE u SET ('path' = '/x/${q}', 'csv.null-literal' = '${q}');\n"
    shell.write("0003_b", f"{alter}-- down\nALTER TABLE u SET ('path' = '/x/${{p}}');\n")
    values = [f"--define={name}" for name in ("p=hunter2", "q=letmein", "r=swordfish")]
    shell.run("upgrade", *values)
    wanted = shell.tables(create.format(options.format("r")))
    outputs = [
        shell.run("lint", *values, "--format", form, status=1) for form in ("text", "json", "html")
    ]
    outputs += [shell.run("check", *values, "--live", "--from", wanted, status=1)]
    outputs += [shell.run("autogenerate", "c", *values, "--from", wanted, status=1) + shell.errors]
    (shell.folder / "migrations" / "0004_c.sql").unlink()
    outputs += [shell.run("autogenerate", "c", *values, "--rewrite", "--from", wanted)]
    outputs += [shell.errors, (shell.folder / "migrations" / "0004_c.sql").read_text()]
    outputs += [shell.run("upgrade", *values, "--dry-run")]
    outputs += [shell.run("history", "--format", "json")]

    for value in ("hunter2", "letmein", "swordfish"):
        assert [] == [output for output in outputs if value in output]
    assert "'/x/${p}' becomes '/x/${q}'" in outputs[0]
