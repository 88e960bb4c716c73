"""New virtual environments with the built package, in which programs see nothing else."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.release.distributions import ROOT, build, commit_time

LOCK = ROOT / "requirements.lock"
#: What would lead a program to packages or a Java outside of its environment.
INHERITED = ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "JAVA_HOME", "SPARK_HOME")


def distributions(folder: Path) -> tuple[Path, Path]:
    """Build the checkout, with its uncommitted changes; return the wheel and the sdist."""
    build(ROOT, folder, commit_time())
    (wheel,), (sdist,) = folder.glob("*.whl"), folder.glob("*.tar.gz")
    return wheel, sdist


@dataclass(frozen=True)
class Environment:
    """A virtual environment, and the directory in which its programs run."""

    folder: Path
    #: The directories of the programs beside those of the environment.
    programs: tuple[Path, ...]
    #: The versions of packages that are installed, as pip's constraints.
    versions: Path = LOCK

    @property
    def python(self) -> Path:
        return self.folder / "venv" / "bin" / "python"

    def install(self, *requirements: str) -> None:
        """Install packages in the versions of the environment."""
        pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--python"]
        command = [*pip, str(self.python), "install", "--quiet", "--no-warn-script-location"]
        constraint = ["--constraint", str(self.versions)]
        done = subprocess.run(
            [*command, *constraint, *requirements], capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise RuntimeError(f"{' '.join(requirements)}: {done.stderr}")

    def run(
        self, command: Sequence[str], folder: Path | None = None, **variables: str
    ) -> subprocess.CompletedProcess[str]:
        """Run a program of the environment, in its directory or another one; return its output."""
        path = os.pathsep.join(map(str, (self.python.parent, *self.programs)))
        inherited = {name: value for name, value in os.environ.items() if name not in INHERITED}
        home = {"HOME": str(self.folder), "XDG_CACHE_HOME": str(self.folder / "cache")}
        return subprocess.run(
            command,
            cwd=folder or self.folder,
            env={**inherited, **home, "PATH": path, **variables},
            capture_output=True,
            text=True,
            check=False,
        )

    def run_program(self, text: str, **variables: str) -> subprocess.CompletedProcess[str]:
        """Run a program in Python."""
        return self.run([str(self.python), "-c", text], None, **variables)


def programs_without_java(folder: Path) -> Path:
    """Return a directory with links to the programs of this machine, except Java's."""
    folder.mkdir(parents=True)
    for directory in ("/bin", "/usr/bin"):
        for program in Path(directory).iterdir():
            link = folder / program.name
            if not program.name.startswith("java") and not os.path.lexists(link):
                link.symlink_to(program)
    return folder


@contextmanager
def new_environment(
    folder: Path, *requirements: str, python: str = sys.executable, versions: Path = LOCK
) -> Iterator[Environment]:
    """Make a virtual environment, and remove it at the end.

    Args:
        folder: A directory that does not exist.
        requirements: The packages to install.
        python: The interpreter.
        versions: The versions of the packages, as pip's constraints.
    """
    programs = programs_without_java(folder / "programs")
    made = Environment(folder, (programs,), versions)
    try:
        create = [python, "-m", "venv", "--without-pip", str(folder / "venv")]
        subprocess.run(create, check=True, env=_without(os.environ, INHERITED))
        made.install(*requirements)
        yield made
    finally:
        shutil.rmtree(folder)


def _without(variables: Mapping[str, str], names: Sequence[str]) -> dict[str, str]:
    return {name: value for name, value in variables.items() if name not in names}
