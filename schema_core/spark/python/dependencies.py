"""Modules, archives and packages that functions in Python need, sent to the workers of Spark.

They are those of the options `python.files`, `python.archives` and `python.requirements`, which
PyFlink's `add_python_file`, `add_python_archive` and `set_python_requirements` set. Modules are
sent as zips named by their content, so that equal names do not collide.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import zipfile
from collections.abc import Iterator, Mapping
from functools import cache, lru_cache
from pathlib import Path
from shutil import copyfile
from tempfile import TemporaryDirectory, mkdtemp
from typing import TYPE_CHECKING, Any, Final
from weakref import WeakKeyDictionary

from schema_core.base.plugins import load_higher
from schema_core.base.text import show
from schema_core.environment.options import PYTHON_ARCHIVES, PYTHON_FILES, PYTHON_REQUIREMENTS
from schema_core.errors import ExternalError
from schema_core.spark.session.api_mode import is_connect

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: Files of zipped modules.
ZIPS: Final = (".zip", ".egg", ".whl")
#: Archives that Spark extracts.
ARCHIVES: Final = (".zip", ".jar", ".tar.gz", ".tgz", ".tar")
#: Libraries of the operating system, which Python does not load from a zip.
COMPILED: Final = (".so", ".pyd", ".dylib")
#: How long the installation of packages may take, in seconds.
TIMEOUT: Final = 600

#: SparkContext, or session of Spark Connect -> what its workers have.
_SENT: WeakKeyDictionary[Any, set[str]] = WeakKeyDictionary()


def send_dependencies(session: SparkSession, options: Mapping[str, str]) -> bool:
    """Send what the options name, each once, and return whether there are archives.

    Errors: `incompatible-installation` for what is missing, cannot be installed or contains
    compiled modules.
    """
    archives = _items(PYTHON_ARCHIVES.of(options))
    required = PYTHON_REQUIREMENTS.of(options)
    files = _items(PYTHON_FILES.of(options))
    if (package := load_higher("mapped_package")()) is not None:
        files.append(package)  # workers of a Spark that runs already do not inherit it
    if files or archives or required:
        target = session if is_connect(session) else session.sparkContext
        sent = _SENT.setdefault(target, set())
        for file in files:
            _send_modules(session, _module_zip(file), sent)
        if required:
            _send_modules(session, _install_packages(required), sent)
        for archive in archives:
            if archive not in sent:
                _send_archive(session, archive)
                sent.add(archive)
    return bool(archives)


def _failure(problem: str, hint: str | None = None) -> ExternalError:
    return ExternalError(problem, code="incompatible-installation", hint=hint)


def _items(text: str | None) -> list[str]:
    return [item.strip() for item in (text or "").split(",") if item.strip()]


def _existing_path(text: str, kind: str) -> Path:
    path = Path(text.removeprefix("file://"))
    if not path.exists():
        raise _failure(f"there is no {kind} {show(text)}")
    return path.absolute()


def _send_modules(session: SparkSession, modules: Path, sent: set[str]) -> None:
    if modules.name in sent:
        return
    if is_connect(session):
        session.addArtifacts(str(modules), pyfile=True)
    else:
        before = list(sys.path)
        session.sparkContext.addPyFile(str(modules))
        sys.path[:] = before  # the modules are for workers; the program imports its own
    sent.add(modules.name)


def _send_archive(session: SparkSession, text: str) -> None:
    name, _, directory = text.partition("#")
    path = _existing_path(name, "archive")
    if not path.name.lower().endswith(ARCHIVES):
        raise _failure(
            f"Spark does not extract {show(name)}",
            hint=f"use an archive with one of the suffixes {', '.join(ARCHIVES)}",
        )
    named = f"{path}#{directory or path.name}"
    if is_connect(session):
        session.addArtifacts(named, archive=True)
    else:
        session.sparkContext.addArchive(named)


# --- zips of modules -----------------------------------------------------------------------------


@cache
def _directory() -> TemporaryDirectory[str]:
    """Return a directory of the process for zips and installed packages."""
    return TemporaryDirectory(prefix="schema_core-python-")


def _module_zip(text: str) -> Path:
    """Return the zip of a module, of a directory's modules, or of zipped modules."""
    path = _existing_path(text, "Python file")
    files = path.rglob("*") if path.is_dir() else [path]
    states = ((str(file), file.stat()) for file in files)
    version = tuple((name, state.st_ctime_ns, state.st_size) for name, state in states)
    return _zip_of_version(text, path, version)


@lru_cache(maxsize=64)
def _zip_of_version(text: str, path: Path, _: tuple[tuple[str, int, int], ...]) -> Path:
    """Return the zip of modules, which is written once for each version of their files."""
    if path.is_dir():
        return _zip_of(_files_in(path))
    if path.suffix == ".py":
        return _zip_of(iter([(path.name, path.read_bytes())]))
    if path.suffix not in ZIPS or not zipfile.is_zipfile(path):
        raise _failure(
            f"{show(text)} has no modules",
            hint=f"pass a module, a directory or a file with a suffix of {', '.join(ZIPS)}",
        )
    with zipfile.ZipFile(path) as content:
        for name in content.namelist():
            _require_not_compiled(name)
    digest = hashlib.sha256(path.read_bytes()).hexdigest()[:16]
    target = Path(_directory().name, f"modules-{digest}.zip")
    copyfile(path, target)
    return target


def _files_in(directory: Path) -> Iterator[tuple[str, bytes]]:
    for place, directories, names in os.walk(directory):
        directories[:] = sorted(name for name in directories if name != "__pycache__")
        for name in sorted(names):
            file = Path(place, name)
            yield file.relative_to(directory).as_posix(), file.read_bytes()


def _zip_of(members: Iterator[tuple[str, bytes]]) -> Path:
    """Return a zip of files, named by their content."""
    digest = hashlib.sha256()
    draft = Path(_directory().name, "draft")
    with zipfile.ZipFile(draft, "w", zipfile.ZIP_DEFLATED) as content:
        for name, data in members:
            _require_not_compiled(name)
            digest.update(f"{name}\0{len(data)}\0".encode())
            digest.update(data)
            content.writestr(zipfile.ZipInfo(name), data, zipfile.ZIP_DEFLATED)
    return draft.rename(draft.with_name(f"modules-{digest.hexdigest()[:16]}.zip"))


def _require_not_compiled(name: str) -> None:
    if name.endswith(COMPILED):
        raise _failure(
            f"{show(name)} is compiled, and Python does not load it from a zip",
            hint="install the package on every worker, or send an environment with spark.archives "
            "and PYSPARK_PYTHON",
        )


# --- required packages ---------------------------------------------------------------------------


@cache
def _install_packages(required: str) -> Path:
    """Return the zip of the packages of a requirements file, installed by pip once."""
    name, _, cached = required.partition("#")
    file = _existing_path(name, "requirements file")
    target = mkdtemp(prefix="packages-", dir=_directory().name)
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    command += ["--target", target, "--requirement", str(file)]
    settings = dict(os.environ)
    if cached:  # without an index, an isolated build would have no tools
        command.append("--no-build-isolation")
        settings["PIP_NO_INDEX"] = "1"
        settings["PIP_FIND_LINKS"] = str(_existing_path(cached, "directory of packages"))
    try:
        result = subprocess.run(  # noqa: S603 - only a program names the file and the directory
            command, env=settings, capture_output=True, text=True, timeout=TIMEOUT, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise _failure(f"the packages of {show(name)} were not installed in {TIMEOUT} s") from error
    if result.returncode:
        lines = result.stderr.strip().splitlines() or ["pip failed"]
        problem = next((line for line in lines if line.startswith("ERROR")), lines[-1])
        raise _failure(
            f"the packages of {show(name)} cannot be installed: {problem}",
            hint="install them on every worker, or pass a directory with the packages",
        )
    return _zip_of(_files_in(Path(target)))
