"""Local files that Spark would skip, misread or wait for are refused, each by its name."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from schema_core.connectors.files.unreadable_files import (
    WINDOW,
    longest_line,
    require_readable_files,
    require_short_lines,
)
from schema_core.environment.table_environment import TableEnvironment
from schema_core.errors import ExternalError

#: A file of avro without rows: its magic, one entry of metadata, and a marker.
AVRO = b'Obj\x01\x02\x16avro.schema\x0c"long"\x00' + b"m" * 16


def listen(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(path))


#: What is wrong -> the format, the name, and what creates the file.
FILES: dict[str, tuple[str, str, Callable[[Path], object]]] = {
    "is a FIFO": ("csv", "a", os.mkfifo),
    "is a socket": ("json", "a", listen),
    "contains it": ("csv", "a", lambda path: path.symlink_to(path.parent)),
    "symbolic links": ("csv", "a", lambda path: path.symlink_to(path)),
    "a colon": ("csv", "a:b", Path.touch),
    "not UTF-8": ("parquet", "\udcff", Path.touch),
    "compressed": ("csv", "a.csv.gz", Path.touch),
    "even without rows": ("json", "a.json.GZ", Path.touch),
    "a compressed file": ("text", "a.bz2", Path.touch),
    "a file of avro": ("avro", "a", Path.touch),
    "no valid header": ("avro", "a", lambda path: path.write_bytes(b"garbage")),
    "valid header of": ("avro", "a", lambda path: path.write_bytes(AVRO[:-1])),
    "header of avro": ("avro", "a", lambda path: path.write_bytes(AVRO[:9] + b"\xff" * 20)),
    "has no valid": (
        "avro",
        "a",
        lambda path: path.write_bytes(AVRO.replace(b'"long"', b"long{}")),
    ),
}


def problem(root: Path, form: str) -> str:
    with pytest.raises(ExternalError) as caught:
        require_readable_files(str(root), form)
    assert "unreadable-file" == caught.value.code
    assert caught.value.hint
    return caught.value.problem


@pytest.mark.parametrize("where", ["", "p=1"])
@pytest.mark.parametrize("expected", FILES)
def test_a_file_is_refused_by_its_name(tmp_path: Path, expected: str, where: str) -> None:
    form, name, create = FILES[expected]
    (tmp_path / where).mkdir(exist_ok=True)
    create(tmp_path / where / name)
    shown = "\\xff" if name == "\udcff" else name

    assert expected in problem(tmp_path, form)
    assert f"/{shown}'" in problem(tmp_path, form).replace("\\\\", "\\")


@pytest.mark.parametrize(
    ("form", "name", "content"),
    [
        ("csv", "a.csv", b""),
        ("json", "empty", b""),
        ("csv", ".a.csv.gz", b""),
        ("csv", "_a:b", b""),
        ("avro", "a._COPYING_", b"Obj"),
        ("avro", "a", AVRO),
        ("parquet", "a.gz", b""),
    ],
)
def test_other_files_are_left_to_spark(
    tmp_path: Path, form: str, name: str, content: bytes
) -> None:
    (tmp_path / name).write_bytes(content)
    (tmp_path / "nothing").symlink_to(tmp_path / "missing")
    require_readable_files(str(tmp_path), form)
    require_readable_files(str(tmp_path / "missing"), form)


def test_links_that_have_an_end_are_followed(tmp_path: Path) -> None:
    (tmp_path / "t").mkdir()
    (tmp_path / "other").mkdir()
    for name in ("a", "b"):
        (tmp_path / "t" / name).symlink_to(tmp_path / "other")
    require_readable_files(str(tmp_path / "t"), "csv")
    (tmp_path / "other" / "a:b").touch()

    assert "a:b" in problem(tmp_path / "t", "csv")


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"abc\n" * 9, 0),
        (b"a" * 20, 20),
        (b"a" * 17 + b"\n", 17),
        (b"12\n" + b"a" * 21 + b"\nb\n" + b"c" * 5, 21),
        (b"a\n" * 8 + b"b" * 30, 30),
        (b"a" * 16 + b"\n" + b"b" * 40 + b"\n", 40),
    ],
)
def test_the_longest_line(tmp_path: Path, content: bytes, expected: int) -> None:
    (tmp_path / "a").write_bytes(content)

    assert expected == longest_line(str(tmp_path / "a"), window=8)


def test_a_line_that_spark_cannot_hold(tmp_path: Path) -> None:
    with (tmp_path / "a.csv").open("wb") as file:
        file.truncate(2 * WINDOW)
    require_short_lines(str(tmp_path), "csv", lambda: 2 * WINDOW)
    require_short_lines(str(tmp_path), "avro", lambda: WINDOW)
    with pytest.raises(ExternalError) as caught:
        require_short_lines(str(tmp_path), "csv", lambda: WINDOW)

    assert "unreadable-file" == caught.value.code
    assert "67,108,864 bytes" in caught.value.problem


def test_a_query_is_refused(environment: TableEnvironment, tmp_path: Path) -> None:
    (tmp_path / "1.csv").write_text("1\n")
    os.mkfifo(tmp_path / "2.csv")
    environment.execute_sql(
        "CREATE TABLE t (a INT) WITH ('connector' = 'filesystem', 'format' = 'csv',"
        f" 'path' = '{tmp_path}')"
    )
    with pytest.raises(ExternalError) as caught:
        list(environment.execute_sql("SELECT * FROM t").collect())

    assert "unreadable-file" == caught.value.code
