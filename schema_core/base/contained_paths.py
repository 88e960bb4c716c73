"""The rules for paths that are read from a file or a catalog, and for entries that readers skip.

A path that is then deleted, renamed or written stays in its directory: it is relative, has no
``..``, and no directory on the way is a symbolic link. ``docs/security.md`` lists these paths.
"""

from __future__ import annotations

import os
import posixpath
from collections.abc import Callable, Iterable
from urllib.parse import unquote

from schema_core.base.lazy import regex

__all__ = ["decode_uri", "find_link", "is_hidden", "is_plain", "normalize_path"]

#: NUL, and surrogates that do not stand for a byte of a file name.
_NOT_IN_PATHS = regex("[\0\ud800-\udc7f\udd00-\udfff]")
#: No file system permits longer paths.
_MAX_PATH = 8192
_FILE_SCHEME = regex("^file:(//)?(?=/(?!/))")
_URI = regex("([A-Za-z][A-Za-z0-9+.-]*://[^/]*)(/.*)")


def is_plain(path: object) -> bool:
    """Return whether the text of a value is a path below a directory.

    >>> [is_plain(path) for path in ("p=1/part-0", "..", "/etc", "a//b", "a/../../b", "", None)]
    [True, False, False, False, False, False, False]
    """
    if not isinstance(path, str) or len(path) > _MAX_PATH or _NOT_IN_PATHS.search(path):
        return False
    return not {"", ".", ".."} & {*path.replace(os.sep, "/").split("/")}


def is_hidden(name: str, *, is_directory: bool) -> bool:
    """Return whether Spark's and Hadoop's readers skip an entry of a directory of files.

    A directory ``_p=1``, a partition of a column ``_p``, is not hidden.
    """
    return name.startswith(("_", ".")) and not (is_directory and "=" in name)


def normalize_path(path: str) -> str:
    """Return an absolute path or URI as Hadoop and Flink resolve it; others are unchanged.

    ``.``, ``..`` and repeated slashes are resolved before symbolic links. A URI of a local file
    loses its scheme, and no escapes.

    >>> [normalize_path(path) for path in ("file:/a%20b", "file:///a/b/..//c/", "//a", "a//b")]
    ['/a%20b', '/a/c', '/a', 'a//b']
    >>> normalize_path("s3a://bucket/a/../t//"), normalize_path("file://host/a")
    ('s3a://bucket/t', 'file://host/a')
    """
    local = _FILE_SCHEME.sub("", path)
    scheme, rest = "", local
    if match := _URI.fullmatch(local):
        scheme, rest = match[1], match[2]
    if not rest.startswith("/"):
        return local
    return f"{scheme}/{posixpath.normpath(rest).lstrip('/')}"


def decode_uri(uri: str) -> str:
    """Return the local path of a URI, or another URI, without escapes.

    >>> decode_uri("file:///a%20b"), decode_uri("hdfs://host/a%20b")
    ('/a b', 'hdfs://host/a b')
    """
    return normalize_path(unquote(uri))


def find_link(paths: Iterable[str], is_link: Callable[[str], bool]) -> str | None:
    """Return the first directory on the way to plain paths for which `is_link` is true, or None.

    A path that ends with a slash is a directory, which is checked as well.

    >>> find_link(["a/b", "a/link/c"], lambda path: path == "a/link")
    'a/link'
    """
    checked = {""}
    for path in paths:
        parent, unchecked = path.rpartition("/")[0], list[str]()
        while parent not in checked:
            checked.add(parent)
            unchecked.append(parent)
            parent = parent.rpartition("/")[0]
        for directory in reversed(unchecked):
            if is_link(directory):
                return directory
    return None
