"""Builds of a commit have the same bytes, and have the files of the repository and no others."""

from __future__ import annotations

import re
import subprocess
import tarfile
import zipfile
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.release.distributions import (
    CONDITIONS,
    clone_and_build,
    commit_time,
    git,
    wheel_of_sdist,
)

#: What the sdist has beside the package.
BESIDE = {"CHANGELOG.md", "LICENSE", "README.md", "SECURITY.md", "pyproject.toml", ".gitignore"}


@pytest.fixture(scope="module")
def epoch() -> int:
    try:
        return commit_time()
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("not a repository of git")


def test_builds_of_a_commit_have_the_same_bytes(tmp_path: Path, epoch: int) -> None:
    first, second = (clone_and_build(tmp_path, index, epoch) for index in range(2))
    built = tmp_path / CONDITIONS[0][0] / "built"
    (wheel,), (sdist,) = built.glob("*.whl"), built.glob("*.tar.gz")
    (tmp_path / "unpacked").mkdir()
    tracked = set(git("ls-tree", "-r", "--name-only", "HEAD").splitlines())
    package = {name for name in tracked if name.startswith("schema_core/")}

    assert {wheel.name, sdist.name} == set(first)
    assert first == second
    assert {wheel.name: first[wheel.name]} == wheel_of_sdist(tmp_path / "unpacked", sdist, epoch)
    with zipfile.ZipFile(wheel) as archive:
        # The time in a zip file has a resolution of two seconds.
        written = datetime.fromtimestamp(epoch - epoch % 2, UTC).timetuple()[:6]
        assert {written} == {file.date_time for file in archive.infolist()}
        names = set(archive.namelist())
        (metadata,) = (name for name in names if name.endswith(".dist-info/METADATA"))
        description = archive.read(metadata).decode()
        assert "# schema_core" in description
        assert not re.findall(r"\]\((?!https?:)[^)]*\)", description), "an index has no such pages"
        assert package == {name for name in names if ".dist-info/" not in name}
    with tarfile.open(sdist) as packed:
        assert {epoch} == {int(file.mtime) for file in packed}
        assert {0o644} == {file.mode for file in packed}
        names = {name.partition("/")[2] for name in packed.getnames()}
        assert package | (BESIDE & tracked) == names - {"PKG-INFO"}
