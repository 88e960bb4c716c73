"""States of local files and directories, which show whether files changed since they were listed.

A state is the names of all entries, and the length, times and inode of every file that readers do
not skip. A file that is written again within one tick of its file system's clock may look the
same, so states with files that changed shortly before are not compared (git's index does the same).
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from stat import S_ISDIR
from typing import Final, TypeAlias
from urllib.parse import unquote

from schema_core.spark.commit.file_systems import is_hidden

#: The coarsest clock of a file system, in nanoseconds.
TICK: Final = 2_000_000_000

#: The length, times and inode of a file; no program can set the time of the last status change.
FileState: TypeAlias = "tuple[int, ...]"
#: A name, with the state of a file; empty for directories and what readers skip.
Part: TypeAlias = "tuple[str, FileState]"
State: TypeAlias = frozenset[Part]


def state_of(root: str) -> State | None:
    """Return the state of a file or directory; None if there is none that can be listed."""
    try:
        found = os.stat(root)  # noqa: PTH116 - paths are strings here
        if not S_ISDIR(found.st_mode):
            return frozenset({("", _state(found))})
        return frozenset(_entries(root))
    except OSError:
        return None


def is_settled(state: State) -> bool:
    """Return whether a later change of the files would be seen in their state."""
    return all(not found or is_file_settled(found) for _, found in state)


def file_state_of(path: str) -> FileState:
    """Return the state of a file; raise `OSError` if there is none."""
    return _state(os.stat(path))  # noqa: PTH116 - paths are strings here


def is_file_settled(state: FileState) -> bool:
    """Return whether a later change of a file would be seen in its state."""
    _, modified, changed, _ = state
    return max(modified, changed) < time.time_ns() - TICK


def path_of(uri: str) -> str | None:
    """Return the path of a local file; None for other file systems.

    >>> path_of("file:///data/a%20b"), path_of("file:/data/c"), path_of("hdfs://host/d")
    ('/data/a b', '/data/c', None)
    """
    if not uri.startswith("file:"):
        return None
    return unquote(uri.removeprefix("file:").removeprefix("//"))


def _state(found: os.stat_result) -> FileState:
    return found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino


def _entries(root: str) -> Iterator[Part]:
    pending = [""]
    while pending:
        parent = pending.pop()
        with os.scandir(f"{root}/{parent}") as entries:
            for entry in entries:
                path = f"{parent}/{entry.name}" if parent else entry.name
                is_directory = entry.is_dir()
                if is_hidden(entry.name, is_directory=is_directory):
                    yield path, ()
                elif is_directory:
                    pending.append(path)
                    yield path, ()
                else:
                    yield path, _state(entry.stat())
