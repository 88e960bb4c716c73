"""The wheel and the sdist of a commit, built twice and compared: what `make release` runs.

    python -m tests.release.distributions [DIRECTORY]

Builds HEAD into DIRECTORY (default: dist). Nothing is downloaded: the build backend is that of this
environment. Two builds that have nothing in common but the commit give the same bytes, so anyone
can check that a published file is the build of its commit.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
#: The checksums of the built files, in the format of sha256sum.
SUMS = "SHA256SUMS"

#: What differs between the two builds: the directory, the mask and times of files, the environment.
CONDITIONS: tuple[tuple[str, int, int, Mapping[str, str]], ...] = (
    ("first", 0o022, 1_000_000_000, {"TZ": "UTC", "LC_ALL": "C", "PYTHONHASHSEED": "1"}),
    ("another folder/deeper", 0o077, 1_500_000_000,
     {"TZ": "Asia/Kathmandu", "LC_ALL": "C.UTF-8", "PYTHONHASHSEED": "2"}),
)  # fmt: skip


def git(*arguments: str, folder: Path = ROOT) -> str:
    """Return the output of a command of git."""
    done = subprocess.run(
        ["git", *arguments], cwd=folder, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def commit_time(folder: Path = ROOT) -> int:
    """Return the time of the commit, which is that of every file in the distributions."""
    return int(git("log", "-1", "--format=%ct", folder=folder))


def build(source: Path, target: Path, epoch: int, **environment: str) -> None:
    """Build the wheel and the sdist of a source tree with the installed backend."""
    done = subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "--directory", str(target)],
        cwd=source,
        env={**os.environ, **environment, "SOURCE_DATE_EPOCH": str(epoch)},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        sys.exit(f"{done.stdout}{done.stderr}")


def checksums(folder: Path) -> dict[str, str]:
    """Return the SHA-256 of each distribution in a directory, by its name."""
    files = (file for file in sorted(folder.iterdir()) if file.name != SUMS)
    return {file.name: sha256(file.read_bytes()).hexdigest() for file in files}


def clone_and_build(folder: Path, condition: int, epoch: int) -> dict[str, str]:
    """Build HEAD from a new clone; return the checksums of what is in `folder`/built.

    Args:
        folder: A directory for the clone and the distributions.
        condition: The row of `CONDITIONS`.
        epoch: The time of the files in the distributions.
    """
    name, mask, time, environment = CONDITIONS[condition]
    source, target = folder / name / "clone", folder / name / "built"
    source.parent.mkdir(parents=True)
    former = os.umask(mask)
    try:
        git("clone", "--quiet", "--no-local", str(ROOT), str(source))
        for file in source.rglob("*"):
            if ".git" not in file.parts:
                os.utime(file, (time, time), follow_symlinks=False)
        build(source, target, epoch, **environment)
    finally:
        os.umask(former)
    return checksums(target)


def wheel_of_sdist(folder: Path, sdist: Path, epoch: int) -> dict[str, str]:
    """Build the wheel from the unpacked sdist, as installers do; return its checksum."""
    with tarfile.open(sdist) as archive:
        archive.extractall(folder, filter="data")
    (source,) = folder.iterdir()
    build(source, folder / "built", epoch)
    return {
        name: sum_ for name, sum_ in checksums(folder / "built").items() if name.endswith(".whl")
    }


def main() -> None:
    """Build HEAD, compare, and write the distributions with their checksums."""
    target = Path(*sys.argv[1:2]) if sys.argv[1:] else ROOT / "dist"
    if changed := git("status", "--porcelain", "--untracked-files=no"):
        sys.exit(f"a release is built from a commit; these changes are not committed:\n{changed}")
    epoch = commit_time()
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        first, second = (clone_and_build(folder, index, epoch) for index in range(2))
        built = folder / CONDITIONS[0][0] / "built"
        (folder / "unpacked").mkdir()
        (sdist,) = built.glob("*.tar.gz")
        again = wheel_of_sdist(folder / "unpacked", sdist, epoch)
        if first != second or again.items() - first.items():
            sys.exit(f"the builds differ:\n{first}\n{second}\nfrom the sdist: {again}")
        shutil.rmtree(target, ignore_errors=True)
        shutil.copytree(built, target)
    lines = [f"{sum_}  {name}\n" for name, sum_ in first.items()]
    (target / SUMS).write_text("".join(lines), encoding="utf-8")
    print("".join(lines), end="")
    print(f"built twice from {git('rev-parse', 'HEAD')}, with equal bytes")


if __name__ == "__main__":
    main()
