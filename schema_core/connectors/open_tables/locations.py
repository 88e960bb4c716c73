"""Locations of tables: local paths and URLs."""

from __future__ import annotations

import re
from pathlib import Path

from schema_core.base.lazy import regex
from schema_core.errors import SchemaError

_LOCAL_URL = regex(r"file:(?://)?(/(?!/).*)", re.IGNORECASE | re.DOTALL)
#: Characters of patterns of files, and names that Spark's readers of files leave out.
_NOT_LISTED = regex(r"[*?\[\]{}\\^]|(?:^|/)[_.][^/]*$")
_URL = regex(r"[a-z][\w+.-]*:/", re.IGNORECASE)


def resolve_location(text: str, option: str) -> tuple[str, Path | None]:
    """Return a location without a relative path, and its directory; None for a remote one.

    Raises:
        SchemaError: with code `invalid-option-value` for a path in a home directory.
    """
    location = text.rstrip("/") or "/"
    if location.startswith("~"):
        raise SchemaError(
            f"option {option!r} must be a path or a URL, got {text!r}",
            code="invalid-option-value",
            hint="write the home directory itself: '~' is not expanded",
        )
    if _LOCAL_URL.match(location) is not None:
        return location, local_path(location)
    if _URL.match(location) is not None:
        return location, None
    directory = Path(location).absolute()
    return str(directory), directory


def local_path(location: str) -> Path | None:
    """Return the absolute path of a location on the local file system, None for others."""
    match = _LOCAL_URL.match(location)
    path = match[1] if match is not None else location
    return Path(path) if path.startswith("/") else None


def is_listed(path: str) -> bool:
    """Return whether Spark's readers of files read a path as it is: no pattern, no hidden name.

    >>> is_listed("/t/part-0.parquet"), is_listed("/t/_part.parquet"), is_listed("/[t]/part")
    (True, False, False)
    """
    return _NOT_LISTED.search(path) is None
