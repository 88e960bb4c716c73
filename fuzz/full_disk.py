"""Fill the disk while a catalog or a catalog store writes: an error is raised and nothing is lost.

    python -m fuzz.full_disk

The disk is a small one of our own in memory, where we may mount one; else the files of the process
may grow only so far, which is reported alike.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from fuzz.catalog_load import DATABASE, Address, is_whole, proven
from schema_core.base.paths import ObjectPath
from schema_core.catalog.stores.catalog_store import CatalogDescriptor, FileCatalogStore
from schema_core.errors import SchemaCoreError

#: How large the disk is, or how far a file may grow.
SIZE = 400_000


@contextmanager
def small_disk() -> Iterator[tuple[Path, str]]:
    """A directory that is soon full, and what makes it so."""
    with tempfile.TemporaryDirectory() as folder:
        mount = ["mount", "-t", "tmpfs", "-o", f"size={SIZE}", "tmpfs", folder]
        if os.geteuid() == 0 and _works(mount):
            try:
                yield Path(folder), "disk"
            finally:
                subprocess.run(["umount", "-l", folder], check=True)
        else:
            yield Path(folder), "limit"


def _works(command: list[str]) -> bool:
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def fill_catalog(folder: Path) -> dict[str, object]:
    """Create tables until that fails."""
    catalog, made = Address(f"sqlite:///{folder}/catalog.db").opened(), 0
    try:
        for number in range(10_000):
            path = ObjectPath(DATABASE, f"t{number}")
            catalog.create_table(path, proven("m", number), ignore_if_exists=False)
            made += 1
    except SchemaCoreError as error:
        return {"made": made, "code": error.code, "problem": error.problem}
    return {"made": made}


def fill_store(folder: Path) -> dict[str, object]:
    """Store descriptors until that fails."""
    store, made = FileCatalogStore(folder / "catalogs"), 0
    store.open()
    try:
        for number in range(1_000):
            options = {"type": "sql", "comment": "x" * 3_000 * (number + 1)}
            store.store_catalog(f"c{number}", CatalogDescriptor.of(f"c{number}", options))
            made += 1
    except SchemaCoreError as error:
        return {"made": made, "code": error.code, "problem": error.problem}
    return {"made": made}


FILL = {"catalog": fill_catalog, "store": fill_store}


def filled(what: str, folder: Path, means: str) -> dict[str, object]:
    """Return the report of a process that writes until the disk is full."""
    command = [sys.executable, "-m", "fuzz.full_disk", what, str(folder), means]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    report: dict[str, object] = json.loads(done.stdout)
    return report


def left_by(what: str, folder: Path) -> tuple[int, int]:
    """How much there is afterwards, and how much of it is whole."""
    if what == "catalog":
        catalog = Address(f"sqlite:///{folder}/catalog.db").opened()
        paths = [ObjectPath(DATABASE, name) for name in catalog.list_tables(DATABASE)]
        return len(paths), sum(is_whole(catalog.get_table(path)) for path in paths)
    store = FileCatalogStore(folder / "catalogs")
    names = store.list_catalogs()
    files = [path for path in (folder / "catalogs").iterdir() if path.suffix != ".yaml"]
    return len(names) + len(files), sum(store.get_catalog(name) is not None for name in names)


def after_filling(what: str) -> tuple[dict[str, object], tuple[int, int]]:
    """Return the writer's report, and what it left once there is room again."""
    with small_disk() as (folder, means):
        report = filled(what, folder, means)
        if means == "disk":
            enlarge = ["mount", "-o", f"remount,size={SIZE * 4}", str(folder)]
            subprocess.run(enlarge, check=True)
        return report, left_by(what, folder)


def main() -> None:
    if len(sys.argv) > 1:
        what, folder, means = sys.argv[1:]
        if means == "limit":
            resource.setrlimit(resource.RLIMIT_FSIZE, (SIZE, SIZE))
        print(json.dumps(FILL[what](Path(folder))))
        return
    for what in FILL:
        report, left = after_filling(what)
        print(f"{what}: {report}, left {left[0]}, whole {left[1]}")


if __name__ == "__main__":
    main()
