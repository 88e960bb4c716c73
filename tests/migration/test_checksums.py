"""The checksum file of a directory: what it lists, what it notices, and merges of branches."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from schema_core.errors import SchemaCoreError
from schema_core.migration import MigrationDirectory
from schema_core.migration.files.checksums import CHECKSUMS

UP = "-- up\n-- down\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A directory with two migrations and their checksums."""
    for name in ("0001_a", "0002_b"):
        (tmp_path / f"{name}.sql").write_text(UP)
    MigrationDirectory.read(tmp_path).write_checksums()
    return tmp_path


def problems(folder: Path) -> list[str]:
    return [str(mismatch) for mismatch in MigrationDirectory.read(folder).mismatches]


def test_the_file_lists_the_migrations(folder: Path) -> None:
    digest, first, second = (folder / CHECKSUMS).read_text().splitlines()

    assert digest.startswith("sha256:")
    assert first.startswith("0001_a.sql sha256:")
    assert second.startswith("0002_b.sql sha256:")
    assert [] == problems(folder)
    assert {CHECKSUMS, "0001_a.sql", "0002_b.sql"} == {path.name for path in folder.iterdir()}


def test_line_ends_do_not_matter(folder: Path) -> None:
    for path in folder.iterdir():
        path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))

    assert [] == problems(folder)


def test_every_difference_is_found(folder: Path) -> None:
    (folder / "0001_a.sql").write_text(f"{UP}-- edited\n")
    (folder / "0002_b.sql").unlink()
    (folder / "0003_c.sql").write_text(UP)

    assert [
        "0001_a.sql was changed since its checksum was written",
        "0002_b.sql is listed, but does not exist",
        "0003_c.sql is not listed",
    ] == problems(folder)
    with pytest.raises(SchemaCoreError) as caught:
        MigrationDirectory.read(folder).require_checksums()
    assert "migration-checksum-mismatch" == caught.value.code
    assert "0001_a.sql was changed since its checksum was written, and 2 more" in str(caught.value)


@pytest.mark.parametrize("position", range(0, 238, 7))
def test_an_edit_of_the_file_is_found(folder: Path, position: int) -> None:
    content = (folder / CHECKSUMS).read_text()
    character = "0" if content[position] != "0" else "1"
    (folder / CHECKSUMS).write_text(content[:position] + character + content[position + 1 :])

    assert f"{CHECKSUMS} is malformed or has conflicts of a merge" == problems(folder)[0]


def test_a_new_migration_is_added_only_to_a_file_that_is_right(folder: Path) -> None:
    MigrationDirectory.read(folder).create("c", UP)
    assert "0003_c.sql sha256:" in (folder / CHECKSUMS).read_text()
    assert [] == problems(folder)

    (folder / "0003_c.sql").write_text(f"{UP}-- edited\n")
    with pytest.raises(SchemaCoreError) as caught:
        MigrationDirectory.read(folder).create("d", UP)
    assert "migration-checksum-mismatch" == caught.value.code
    assert not (folder / "0004_d.sql").exists()


def test_a_directory_without_the_file_is_not_checked(tmp_path: Path) -> None:
    MigrationDirectory.of(tmp_path, ()).create("a", UP)
    (tmp_path / "0001_a.sql").write_text(f"{UP}-- edited\n")

    assert not (tmp_path / CHECKSUMS).exists()
    MigrationDirectory.read(tmp_path).require_checksums()


def git(folder: Path, *arguments: str, status: int = 0) -> str:
    identity = ("-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false")
    done = subprocess.run(
        ["git", *identity, *arguments], cwd=folder, capture_output=True, text=True, check=False,
        env={**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"},
    )  # fmt: skip
    assert status == done.returncode, done.stdout + done.stderr
    return done.stdout


def test_branches_that_add_migrations_conflict_in_git(folder: Path) -> None:
    git(folder, "init", "--quiet", "--initial-branch", "main")
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "-m", "start")
    for branch in ("left", "right"):
        git(folder, "checkout", "--quiet", "-b", branch, "main")
        MigrationDirectory.read(folder).create(branch, UP)
        git(folder, "add", ".")
        git(folder, "commit", "--quiet", "-m", branch)
    git(folder, "merge", "left", status=1)

    assert f"UU {CHECKSUMS}\n" in git(folder, "status", "--porcelain")
    with pytest.raises(SchemaCoreError):
        MigrationDirectory.read(folder).require_checksums()

    # the remedy that the hint names: review, hash, merge
    MigrationDirectory.read(folder).write_checksums()
    directory = MigrationDirectory.read(folder)
    assert ("0003_left", "0003_right") == directory.heads
    directory.create("merge", UP, parents=directory.heads)
    assert "0004_merge" == MigrationDirectory.read(folder).require_single_head()
    assert [] == problems(folder)
