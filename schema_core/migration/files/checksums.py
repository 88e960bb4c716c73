"""The checksum file of a directory of migrations.

The file ``migrations.sum`` has a line for each migration, and before them the checksum of these
lines. Two branches of a repository that add migrations both change the first line, so that they
cannot be merged without a conflict.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from typing import Final

from schema_core.base.lazy import dataclass, regex

#: The name of the file.
CHECKSUMS: Final = "migrations.sum"

_LINE = regex(r"(?P<name>[^\s/]{1,120})\.sql (?P<checksum>sha256:[0-9a-f]{64})")


@dataclass(frozen=True, slots=True)
class ChecksumMismatch:
    """A difference between the checksum file and a migration; `name` is '' for the file itself."""

    name: str
    problem: str

    def __str__(self) -> str:
        return f"{self.name}.sql {self.problem}" if self.name else f"{CHECKSUMS} {self.problem}"


def checksum_of(text: str) -> str:
    r"""Return the SHA-256 of a text, independent of line ends.

    >>> checksum_of("a\r\n") == checksum_of("a\n")
    True
    """
    content = text.replace("\r\n", "\n").encode(errors="surrogatepass")
    return f"sha256:{hashlib.sha256(content).hexdigest()}"


def format_checksums(checksums: Mapping[str, str]) -> str:
    r"""Return the content of the checksum file for migrations by name.

    >>> format_checksums({"0001_a": "sha256:1"}).splitlines()[1:]
    ['0001_a.sql sha256:1']
    """
    lines = "".join(f"{name}.sql {checksum}\n" for name, checksum in sorted(checksums.items()))
    return f"{checksum_of(lines)}\n{lines}"


def find_mismatches(text: str, checksums: Mapping[str, str]) -> Iterator[ChecksumMismatch]:
    """Yield the differences between a checksum file and the migrations of its directory.

    Args:
        text: The content of the file.
        checksums: The checksums of the migrations by name.

    >>> content = format_checksums({"0001_a": checksum_of("-- up")})
    >>> for mismatch in find_mismatches(content, {"0002_b": checksum_of("-- up")}):
    ...     print(mismatch)
    0001_a.sql is listed, but does not exist
    0002_b.sql is not listed
    """
    digest, _, body = text.replace("\r\n", "\n").partition("\n")
    rows = [_LINE.fullmatch(line) for line in body.removesuffix("\n").split("\n") if body]
    listed = {row["name"]: row["checksum"] for row in rows if row is not None}
    if digest.strip() != checksum_of(body) or len(listed) < len(rows):
        yield ChecksumMismatch("", "is malformed or has conflicts of a merge")
    for name in sorted(listed.keys() | checksums.keys()):
        if name not in checksums:
            yield ChecksumMismatch(name, "is listed, but does not exist")
        elif name not in listed:
            yield ChecksumMismatch(name, "is not listed")
        elif listed[name] != checksums[name]:
            yield ChecksumMismatch(name, "was changed since its checksum was written")
