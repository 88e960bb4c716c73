"""Dumps in files and streams of any length, also compressed, without their rows."""

from __future__ import annotations

import gzip
import io
import zlib
from contextlib import contextmanager
from functools import partial
from itertools import chain
from os import PathLike
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, TypeAlias, cast

from schema_core.base.arguments import require_instance
from schema_core.base.text import MAX_TEXT
from schema_core.errors import ExternalError
from schema_core.mappings.dialects.condensation import condense
from schema_core.mappings.dialects.engines import engine
from schema_core.mappings.dialects.flink import FLINK

if TYPE_CHECKING:
    from collections.abc import Iterator

#: A path, or a stream of bytes or strings.
DumpSource: TypeAlias = "str | PathLike[str] | IO[bytes] | IO[str]"

#: The first bytes of a compressed file, and of UTF-16.
GZIP = b"\x1f\x8b"
UTF_16 = (b"\xff\xfe", b"\xfe\xff")


def read_definitions(source: DumpSource, dialect: str, encoding: str | None = None) -> str:
    """Return a dump; one of more than `MAX_TEXT` characters without its rows.

    Scripts of Flink have no rows: of a longer one, the start is returned.

    Raises:
        ExternalError: with code `unreadable-file`.
        NotFoundError: with code `unknown-dialect`.
    """
    name = None if dialect.lower() == FLINK else engine(dialect).name
    with _open_text(source, encoding) as stream:
        chunks = iter(partial(stream.read, MAX_TEXT + 1), "")
        start = ""
        while len(start) <= MAX_TEXT and (chunk := next(chunks, "")):
            start += chunk
        if len(start) <= MAX_TEXT or name is None:
            return start
        return condense(chain((start,), chunks), name)


@contextmanager
def _open_text(source: DumpSource, encoding: str | None) -> Iterator[IO[str]]:
    require_instance(source, (str, PathLike, io.IOBase), "source", "a path or a stream")
    require_instance(encoding, (str, type(None)), "encoding")
    try:
        if isinstance(source, (str, PathLike)):
            with _open(source) as file:
                yield _decode(file, encoding)
        elif isinstance(source, io.TextIOBase):
            yield cast("IO[str]", source)
        else:
            stream = io.BufferedReader(cast("Any", source))
            try:
                yield _decode(stream, encoding)
            finally:
                stream.detach()  # otherwise it would be closed
    except (UnicodeDecodeError, LookupError) as error:
        raise ExternalError(
            f"the dump cannot be decoded: {error}",
            code="unreadable-file",
            hint="set `encoding`, or convert the dump to UTF-8",
        ) from None
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise ExternalError(
            f"the dump cannot be decompressed: {error}", code="unreadable-file"
        ) from None
    except OSError as error:
        raise _unreadable(error) from None


def _open(path: str | PathLike[str]) -> io.BufferedReader:
    try:
        return Path(path).open("rb")
    except (OSError, ValueError) as error:  # a path may have characters that no name has
        raise _unreadable(error) from None


def _unreadable(error: Exception) -> ExternalError:
    reason = getattr(error, "strerror", None) or error
    return ExternalError(f"the dump cannot be read: {reason}", code="unreadable-file")


def _decode(stream: io.BufferedReader, encoding: str | None) -> IO[str]:
    content: Any = stream
    if stream.peek(len(GZIP)).startswith(GZIP):
        content = io.BufferedReader(cast("Any", gzip.GzipFile(fileobj=stream)))
    if encoding is None:
        is_utf_16 = content.peek(2).startswith(UTF_16)
        encoding = "utf-16" if is_utf_16 else "utf-8-sig"
    return io.TextIOWrapper(content, encoding=encoding)
