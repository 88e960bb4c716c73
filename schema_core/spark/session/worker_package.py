"""The library's modules for Python workers of executors without an installed one.

Where the workers are not this process's, a zip of all modules is sent once for each SparkContext or
session of Spark Connect. It precedes an installed version, so driver and workers have the same.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from schema_core.spark.session.api_mode import has_remote_workers, is_connect

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: Modules, stubs that declare public names, and tables that modules read.
_SUFFIXES: Final = (".py", ".pyi", ".tsv")


def send_package(session: SparkSession) -> None:
    """Send the library's modules to a session's workers, unless they have them."""
    if not has_remote_workers(session):
        return
    archive = package_zip()
    if is_connect(session):
        session.addArtifacts(str(archive), pyfile=True)
        return
    context = session.sparkContext
    if not any(file.endswith(f"/{archive.name}") for file in context.listFiles):
        before = list(sys.path)
        context.addPyFile(str(archive))
        sys.path[:] = before  # PySpark also inserts the zip there, for workers of this process


def package_zip() -> Path:
    """Return a zip of the library's modules, named by its content."""
    return next(Path(_directory().name).glob("*.zip"))


@cache
def _directory() -> TemporaryDirectory[str]:
    """Return a directory with the zip, deleted at the end of the process."""
    directory = TemporaryDirectory(prefix="schema_core-")
    digest = hashlib.sha256()
    draft = Path(directory.name, "draft")
    with ZipFile(draft, "w", ZIP_DEFLATED) as archive:
        for name, content in _members(files("schema_core"), "schema_core"):
            digest.update(content)
            archive.writestr(ZipInfo(name), content, ZIP_DEFLATED)
    draft.rename(draft.with_name(f"schema_core-{digest.hexdigest()[:16]}.zip"))
    return directory


def _members(directory: Traversable, path: str) -> Iterator[tuple[str, bytes]]:
    """Yield the name and content of every module in a package and those within."""
    for entry in sorted(directory.iterdir(), key=lambda entry: entry.name):
        if entry.is_dir():
            yield from _members(entry, f"{path}/{entry.name}")
        elif entry.name.endswith(_SUFFIXES):
            yield f"{path}/{entry.name}", entry.read_bytes()
