"""Records of csv files, compared with those of Flink's filesystem connector."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any
from unittest.mock import patch

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from schema_core.connectors.files import csv_files
from schema_core.connectors.files.csv_files import (
    FILE,
    LINE,
    CsvDialect,
    FileReader,
    UnreadableRecordError,
    parse_batches,
    split_plain,
)

A, AB = ("a",), ("a", "b")


def read(content: str, columns: tuple[str, ...] = AB, **options: Any) -> list[list[str | None]]:
    lines = content.encode().split(b"\n")
    return read_lines(lines[:-1] if not lines[-1] else lines, columns, **options)


def read_lines(
    lines: Iterable[bytes], columns: tuple[str, ...], **options: Any
) -> list[list[str | None]]:
    reader = FileReader(CsvDialect(columns, **options))
    result = [record for line in lines for record in reader.read("f", line)]
    reader.finish()
    return result


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("1,x\n2,y", [["1", "x"], ["2", "y"]]),
        (",x\n2,\n", [["", "x"], ["2", ""]]),
        ('1,"abc\ndef"\n3,x\n', [["1", "abc\ndef"], ["3", "x"]]),
        (
            '1,"abc\r\ndef"\r\n3,x\r\n4,y\r5,z\r',
            [["1", "abc\r\ndef"], ["3", "x"], ["4", "y"], ["5", "z"]],
        ),
        ('1,"a\rb"\n', [["1", "a\rb"]]),
        ('1,"a\n\n\nb"\n', [["1", "a\n\n\nb"]]),
        (
            '1,a"b\n2,"a" \n3, "q"\n4, x \n',
            [["1", 'a"b'], ["2", "a"], ["3", ' "q"'], ["4", " x "]],
        ),
        ('1,a\\"b\n2,"a\\nb"\n', [["1", 'a\\"b'], ["2", "a\\nb"]]),
        ('1,a\0b\n2,\0\n3,"\0"\n', [["1", "a\0b"], ["2", "\0"], ["3", "\0"]]),
        ("\ufeff1,a\n", [["1", "a"]]),
        ('"1""2",""""\n', [['1"2', '"']]),
    ],
)
def test_records(content: str, expected: list[list[str | None]]) -> None:
    assert expected == read(content)


def test_an_empty_line_is_a_record_of_one_field() -> None:
    assert [["a"], [""], ["b"]] == read("a\n\nb\n", A)
    assert [["a"], [""], ["b"]] == read('a\n""\nb\n', A)


@pytest.mark.parametrize(
    ("options", "content", "expected"),
    [
        ({"escape": "\\"}, '1,a\\,b\n2,"a\\"b"\n3,a\\\\b\n', ["a,b", 'a"b', "a\\b"]),
        ({"comments": True}, "#c\n1,a\n # d,x\n2,#x\n", ["a", "#x"]),
        ({"quote": ""}, '1,"a\n2,b"\n', ['"a', 'b"']),
        ({"quote": "'"}, "1,'a''b'\n", ["a'b"]),
        ({"delimiter": "\x01"}, "1\x01x\n", ["x"]),
        ({"header": True}, "a,b\n1,x\n", ["x"]),
    ],
)
def test_options(options: dict[str, Any], content: str, expected: list[str]) -> None:
    assert expected == [record[1] for record in read(content, **options)]


UNREADABLE = [
    ("1,x\n\n2,y\n", 2, "expected 2 fields, found 1"),
    ("1\n2,3\n", 1, "expected 2 fields, found 1"),
    ("4,5,6\n2,3\n", 1, "expected 2 fields, found 3"),
    ('0,z\n1,"abc\n2,"def"\n3,x\n', 2, "expected ',' or the end of the line"),
    ('1,x\n2,"a"b\n', 2, "expected ',' or the end of the line"),
    ('0,z\n1,"abc\n2,def\n3,x\n', 2, "unclosed quote"),
]


@pytest.mark.parametrize(("content", "line", "problem"), UNREADABLE)
def test_an_unreadable_record_names_file_and_line(content: str, line: int, problem: str) -> None:
    with pytest.raises(UnreadableRecordError) as caught:
        read(content)

    assert str(caught.value).startswith(f"file 'f', line {line}: {problem}")


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("1,x\n\n2,y\n", [["1", "x"], ["", None], ["2", "y"]]),
        ("1\n2,3\n4,5,6\n", [["1", None], ["2", "3"]]),
        ('1,"abc\n2,"def"\n3,x\n4,y\n', [["3", "x"], ["4", "y"]]),
        ('0,z\n1,"abc\n2,def\n3,x\n', [["0", "z"]]),
    ],
)
def test_unreadable_records_are_skipped_on_request(
    content: str, expected: list[list[str | None]]
) -> None:
    assert expected == read(content, skip_errors=True)


@pytest.mark.parametrize(
    ("header", "record", "expected"),
    [
        ("b,a", "1", [None, "1", None]),
        ("b,a", "1,2", ["2", "1", None]),
        ("old,c,b,a", "0,1,2", [None, "2", "1"]),
    ],
)
def test_a_short_record_has_the_columns_of_its_header(
    header: str, record: str, expected: list[str | None]
) -> None:
    ages = {"optional": frozenset({"c"}), "ignored": frozenset({"old"})}
    content = f"{header}\n{record}\n"

    assert [expected] == read(content, ("a", "b", "c"), header=True, skip_errors=True, **ages)


def test_every_file_starts_a_new_record() -> None:
    reader = FileReader(CsvDialect(AB, header=True, skip_errors=True))
    lines = [("f", b"a,b"), ("f", b'1,"open'), ("g", b"\xef\xbb\xbfa,b"), ("g", b"2,x")]

    assert [["2", "x"]] == [record for line in lines for record in reader.read(*line)]
    assert (2, "g") == (reader.line, reader.file)


def test_another_header_is_refused_even_if_bad_lines_are_skipped() -> None:
    with pytest.raises(UnreadableRecordError, match="expected the header"):
        read("a,c\n1,x\n", header=True, skip_errors=True)


@pytest.mark.parametrize(
    ("header", "problem"),
    [
        (
            "a;b",
            "found ['a;b'] with the delimiter ','; set the option 'csv.field-delimiter' to ';'",
        ),
        ("a\tb", "['a\\tb'] with the delimiter ','; set the option 'csv.field-delimiter' to '\\t'"),
        ("a", "found ['a'] with the delimiter ','; set the option 'csv.field-delimiter'"),
        ("a,c", "expected the header ['a', 'b'], found ['a', 'c'] with the delimiter ','"),
    ],
)
def test_another_header_is_reported_with_the_delimiter(header: str, problem: str) -> None:
    with pytest.raises(UnreadableRecordError) as caught:
        read(f"{header}\n1,x\n", header=True)

    assert str(caught.value).endswith(problem)


def batches(files: list[tuple[str, list[bytes]]], size: int) -> list[pa.RecordBatch]:
    """The lines of files, and a number for each, in batches of this size."""
    lines = [(content, name) for name, contents in files for content in contents]
    columns = [
        pa.array([content for content, _ in lines], pa.binary()),
        pa.array([name for _, name in lines], pa.string()),
        pa.array(range(len(lines)), pa.int64()),
    ]
    whole = pa.RecordBatch.from_arrays(columns, names=["content", "file", "number"])
    return [whole.slice(first, size) for first in range(0, len(lines), size)]


@given(
    contents=st.lists(
        st.lists(st.text('a,é"#\r\\\0', max_size=6).map(str.encode), max_size=9), max_size=4
    ),
    size=st.integers(1, 5),
    chunk=st.integers(1, 4),
    header=st.booleans(),
    comments=st.booleans(),
    escape=st.sampled_from(["", "\\"]),
)
def test_batches_equal_the_records_read_line_by_line(
    contents: list[list[bytes]], size: int, chunk: int, **options: Any
) -> None:
    """Splitting many lines without quotes at once gives the same records."""
    dialect = CsvDialect(AB, skip_errors=True, **options)
    files = [(f"f{place}", lines) for place, lines in enumerate(contents)]

    expected = outcome(lambda: one_by_one(files, dialect))
    with patch.object(csv_files, "CHUNK", chunk):
        actual = outcome(lambda: list(parse_batches(batches(files, size), dialect, ["number"])))

    assert expected == actual


def one_by_one(files: list[tuple[str, list[bytes]]], dialect: CsvDialect) -> list[pa.RecordBatch]:
    """The result of `parse_batches`, computed line by line."""
    reader = FileReader(dialect)
    records: list[list[Any]] = []
    lines = ((name, line) for name, contents in files for line in contents)
    for number, (name, line) in enumerate(lines):
        for record in reader.read(name, line):
            records += [[name, reader.start, *record, number]]
    names = [FILE, LINE, *dialect.columns, "number"]
    columns = zip(*records, strict=True) if records else [()] * len(names)
    return [pa.RecordBatch.from_arrays([pa.array(column) for column in columns], names=names)]


def outcome(parse: Callable[[], list[pa.RecordBatch]]) -> list[dict[str, Any]] | str:
    """The rows of batches, or the message of the error."""
    try:
        return [row for batch in parse() for row in batch.to_pylist()]
    except UnreadableRecordError as error:
        return str(error)


def test_plain_lines_are_split_without_the_scanner() -> None:
    lines = pa.array([b"1,x", b"2,"], pa.binary())

    columns = split_plain(lines, CsvDialect(AB))

    assert columns is not None
    assert [["1", "2"], ["x", ""]] == [column.to_pylist() for column in columns]
    assert split_plain(pa.array([b'1,"x"'], pa.binary()), CsvDialect(AB)) is None
    assert split_plain(pa.array([b"1,x", b"1,x,y"], pa.binary()), CsvDialect(AB)) is None
    reader = FileReader(CsvDialect(AB), width=2, places=(0, 1))
    assert reader.split_plain(pa.array([b"1,x,y"], pa.binary())) is None
    assert split_plain(pa.array([b"1,\xff"], pa.binary()), CsvDialect(AB)) is None
