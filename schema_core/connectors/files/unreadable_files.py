"""Local files that Spark would skip, misread or wait for: the read is refused."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Callable, Iterator
from mmap import ACCESS_READ, mmap
from typing import BinaryIO, Final

from schema_core.base.contained_paths import is_hidden
from schema_core.errors import ExternalError
from schema_core.spark.commit.file_systems import COPYING

#: Suffixes of compressed files, which have content even without rows.
COMPRESSED: Final = (".gz", ".gzip", ".bz2", ".zst", ".lz4", ".snappy", ".deflate", ".xz")
#: Formats of lines: uncompressed files may be empty.
LINES: Final = frozenset({"csv", "json", "text"})
#: The first bytes of an avro file, and the size of its block marker.
MAGIC: Final = b"Obj\x01"
MARKER: Final = 16
#: The size of a line that is compared with the memory of Spark.
WINDOW: Final = 1 << 25
#: Type of a file -> what it is called.
_KINDS: Final = (
    (stat.S_ISFIFO, "a FIFO"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)


def require_readable_files(root: str, form: str) -> None:
    """Require that Spark reads every visible file of a local directory, or a single file.

    Args:
        root: The directory or file of the table.
        form: The format of the table.

    Raises:
        ExternalError: with code `unreadable-file` for a name that is not UTF-8 or contains a colon,
            a file that is not regular, a link to a directory that contains it, and a file that is
            empty although its format or compression does not permit that.
    """
    for path, status in _visible(root):
        for is_kind, kind in _KINDS:
            if is_kind(status.st_mode):
                raise _unreadable(path, f"is {kind}", "move it out of the directory of the table")
        problem = _damage(path, status, form)
        if problem is not None:
            raise _unreadable(path, problem, "restore the file, or delete it")


def require_short_lines(root: str, form: str, limit: Callable[[], int]) -> None:
    """Require that no line of an uncompressed local file exhausts the memory of Spark.

    Args:
        root: The directory or file of the table.
        form: The format of the table.
        limit: Returns the bytes that a line may have; called only for lines of `WINDOW` bytes.

    Raises:
        ExternalError: with code `unreadable-file`.
    """
    if form not in LINES:
        return
    for path, status in _visible(root):
        if status.st_size < WINDOW or path.lower().endswith(COMPRESSED):
            continue
        try:
            length = longest_line(path)
        except OSError:  # removed meanwhile, or Spark reports why it cannot be opened
            continue
        if length >= WINDOW and length > (most := limit()):
            problem = f"has a line of {length:,} bytes, more than the {most:,} that Spark can hold"
            raise _unreadable(path, problem, "split the line, or set 'spark.driver.memory'")


def longest_line(path: str, window: int = WINDOW) -> int:
    """Return the length of the longest line, or less than two windows if that is shorter.

    Only the first line break of each window is searched: a line of two windows contains a whole
    one.
    """
    longest = 0
    with open(path, "rb") as file, mmap(file.fileno(), 0, access=ACCESS_READ) as content:  # noqa: PTH123
        start, size = 0, len(content)
        while start < size:
            if content.find(b"\n", start, start + window) == -1:
                first = content.rfind(b"\n", 0, start) + 1
                end = content.find(b"\n", start)
                end = size if end == -1 else end
                longest = max(longest, end - first)
                start = end - end % window
            start += window
    return longest


def _visible(root: str) -> Iterator[tuple[str, os.stat_result]]:
    """Yield the visible files below a directory, with the status of what links refer to."""
    try:
        status = os.stat(root)  # noqa: PTH116 - paths are strings here
    except OSError:
        return
    if not stat.S_ISDIR(status.st_mode):
        yield root, status
        return
    pending: list[tuple[str, tuple[tuple[int, int], ...]]] = []
    pending.append((root, ((status.st_dev, status.st_ino),)))
    while pending:
        parent, above = pending.pop()
        for path, name, status in _entries(parent):
            is_directory = stat.S_ISDIR(status.st_mode)
            if name.endswith(COPYING) or is_hidden(name, is_directory=is_directory):
                continue
            _require_name(path, name)
            if not is_directory:
                yield path, status
                continue
            place = status.st_dev, status.st_ino
            if place in above:
                problem = "links to a directory that contains it"
                raise _unreadable(path, problem, "delete the link")
            pending.append((path, (*above, place)))


def _entries(directory: str) -> Iterator[tuple[str, str, os.stat_result]]:
    try:
        with os.scandir(directory) as listing:
            entries = sorted(listing, key=lambda entry: entry.name)
    except FileNotFoundError:  # removed meanwhile
        return
    except OSError as error:
        raise _unreadable(
            directory, f"cannot be listed: {error.strerror}", "permit this user to read it"
        ) from error
    for entry in entries:
        try:
            status = entry.stat()
        except FileNotFoundError:  # removed meanwhile, or a link to nothing
            continue
        except OSError as error:  # a link to itself
            problem = f"cannot be read: {error.strerror}"
            raise _unreadable(entry.path, problem, "delete it, or move it away") from error
        yield entry.path, entry.name, status


def _require_name(path: str, name: str) -> None:
    try:
        name.encode()
    except UnicodeEncodeError:
        problem = "has a name that is not UTF-8, which Spark skips"
        raise _unreadable(path, problem, "rename the file") from None
    if ":" in name:
        problem = "has a name with a colon, which Hadoop takes for the end of a scheme"
        raise _unreadable(path, problem, "rename the file")


def _damage(path: str, status: os.stat_result, form: str) -> str | None:
    """Return what is wrong with the content of a file, None if nothing is known."""
    if status.st_size == 0:
        if form in LINES and path.lower().endswith(COMPRESSED):
            return "is empty, which a compressed file is not even without rows"
        return "is empty, which a file of avro is not even without rows" if form == "avro" else None
    if form != "avro":
        return None
    try:
        with open(path, "rb") as file:  # noqa: PTH123
            json.loads(read_avro_schema(file))
            return None if len(file.read(MARKER)) == MARKER else "has no valid header of avro"
    except FileNotFoundError:  # removed meanwhile
        return None
    except (ValueError, RecursionError):
        return "has no valid header of avro"
    except OSError as error:
        return f"cannot be opened: {error.strerror}"


def read_avro_schema(file: BinaryIO) -> str:
    """Read the header of an avro file up to its marker, and return its schema.

    Raises:
        ValueError: without magic, or without metadata that has a schema.
    """
    if file.read(len(MAGIC)) != MAGIC:
        raise ValueError("it is not an avro file")
    metadata: dict[bytes, bytes] = {}
    while count := _read_long(file):
        if count < 0:
            _read_long(file)  # the bytes of the block
        for _ in range(abs(count)):
            key = _read_bytes(file)
            metadata[key] = _read_bytes(file)
    if b"avro.schema" not in metadata:
        raise ValueError("it has no schema")
    return metadata[b"avro.schema"].decode()


def _read_long(file: BinaryIO) -> int:
    """Return an avro integer: seven bits a byte, the lowest first, the sign in the last bit."""
    value = 0
    for shift in range(0, 70, 7):
        byte = file.read(1)
        if not byte:
            break
        value |= (byte[0] & 0x7F) << shift
        if byte[0] < 0x80:
            return (value >> 1) ^ -(value & 1)
    raise ValueError("expected an integer")


def _read_bytes(file: BinaryIO) -> bytes:
    length = _read_long(file)
    if not 0 <= length <= os.fstat(file.fileno()).st_size:
        raise ValueError("expected a length")
    content = file.read(length)
    if len(content) < length:
        raise ValueError("expected further bytes")
    return content


def _unreadable(path: str, problem: str, hint: str) -> ExternalError:
    shown = os.fsencode(path).decode("utf-8", "backslashreplace")
    return ExternalError(f"the file {shown!r} {problem}", code="unreadable-file", hint=hint)
