"""Dumps of any length: rows are left out before parsing, and change no result or position."""

from __future__ import annotations

import gzip
import io
import random
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from fuzz.dump_damage import dumps
from schema_core.base.text import position
from schema_core.errors import ExternalError, SchemaError
from schema_core.mappings.dialects.api import ForeignScript, read_dump, read_tables
from schema_core.mappings.dialects.condensation import Condenser, WindowSizes, condense
from schema_core.mappings.dialects.dumps import (
    SectionKind,
    Splitter,
    is_rows,
    with_version_comments,
)

#: Windows of which each dump needs several.
SMALL = WindowSizes(window=8_000, lookahead=300, definition=4_000, longest=5_000, literal=50_000)

DUMPS = {
    **{(dialect, "seed"): text for dialect, text in dumps().items()},
    **{
        (dialect, name): (Path(__file__).parent / "dumps" / f"{name}.sql").read_text("utf-8")
        for dialect, name in [
            ("postgres", "pg_dump"), ("postgres", "pg_dump_features"), ("mysql", "mariadb_dump"),
        ]
    },
}  # fmt: skip


def with_more_rows(text: str, dialect: str, times: int) -> str:
    """Repeat the rows of a dump: statements, values of a statement, and data of COPY."""
    source = with_version_comments(text, dialect)
    splitter, pieces, done = Splitter(source, dialect), [], 0
    while (section := splitter.next()) is not None:
        pieces.append(text[done : section.start])
        body = text[section.start : splitter.position]
        if is_rows(source, section):
            values = re.search(r"VALUES\s*(\(.*\))", body, re.DOTALL | re.IGNORECASE)
            pieces.append((body.rstrip("\n") + "\n") * times)
            if values is not None and dialect != "oracle":
                pieces += [body[: values.end()], f",\n{values[1]}" * times, body[values.end() :]]
        elif section.kind is SectionKind.DATA:
            last = body.rstrip("\n").rfind("\n") + 1
            pieces.append(body[:last] * times + body[last:])
        else:
            pieces.append(body)
        done = splitter.position
    return "".join([*pieces, text[done:]])


def chunks(text: str, seed: int = 1) -> Iterator[str]:
    draw, start = random.Random(seed), 0
    while start < len(text):
        stop = start + draw.choice((1, 50, 300, 2_000))
        yield text[start:stop]
        start = stop


def results(script: ForeignScript) -> list[object]:
    """All that is read, with the positions of losses and errors."""
    losses = [*script.losses, *(loss for table in script.tables for loss in table.losses)]
    return [
        *((table.path, table.schema, table.comment) for table in script.tables),
        *((loss.source, loss.line, loss.column) for loss in losses),
        *((error.code, error.message, error.line, error.column) for error in script.errors),
    ]


@pytest.mark.parametrize(("dialect", "name"), DUMPS)
def test_rows_change_no_result(dialect: str, name: str) -> None:
    text = with_more_rows(DUMPS[dialect, name], dialect, 40)

    condensed = condense(chunks(text), dialect, SMALL)

    assert len(condensed) <= len(DUMPS[dialect, name]) + 1
    assert results(read_tables(condensed, dialect)) == results(read_tables(text, dialect))


@pytest.mark.parametrize(
    ("dialect", "row"),
    [
        ("mysql", "(1, 'it\\'s; (', \"a -- b\", -2.5, x'00'),"),
        ("mysql", "(1, ST_PointFromText('POINT(1 2)'), b'1', /* c */ 0x41),\n"),
        ("postgres", "(1, E'it\\'s; (', $$a'b$$, '{\"a\": [1, 2]}'::jsonb), -- it's a row\n"),
        ("tsql", "(1, N'it''s; [', CAST(N'2024-01-01' AS DateTime), [dbo].[f](2)),"),
        ("sqlite", "(1, 'it''s; [', X'00', replace('a','b',char(10))),"),
        ("clickhouse", "(1, 'it\\'s', [1, 2], {'a': 1}),\n"),
    ],
)
def test_a_long_statement_of_rows_is_never_in_memory(dialect: str, row: str) -> None:
    values = row * (400_000 // len(row)) + "(0)"
    text = f"CREATE TABLE t (a int);\nINSERT INTO t VALUES {values};\nCREATE TABLE u (b int,,)"
    lengths = [0]

    def stream() -> Iterator[str]:
        for chunk in chunks(text):
            lengths.append(len(condenser.window))
            yield chunk

    condenser = Condenser(dialect, stream(), SMALL)
    condenser.read()

    script = read_tables(condense(chunks(text), dialect, SMALL), dialect)
    assert max(lengths) < 3 * SMALL.longest
    assert sum(map(len, condenser.pieces)) < 100
    assert [table.path for table in script.tables] == [("t",)]
    (error,) = script.errors
    assert (error.line, error.column) == (2 + text.count("\n", 24), 23)


ROWS = "(1, 'a'), " * 2_000


#: Rows with a line that starts a CREATE TABLE, within a literal.
QUOTED = "(1, 'as in\nCREATE TABLE x (a int);'), " * 300


@pytest.mark.parametrize(
    ("rows", "report"),
    [
        (f"{ROWS} TABLE u (b int), {ROWS}(2)", "TABLE u (b int)"),
        (f"{ROWS}(1, 'it's'), {ROWS}(2, 'a');\nCREATE TABLE w (a int, b text DEFAULT 'x'",
         "unterminated"),
        (f"(1, '{'x' * 60_000}'), {ROWS}(2)", ""),
        (f"(1, '{'x' * 90_000}", "unterminated"),
        (f"{QUOTED}(2)", "INSERT INTO t VALUES"),
        (f"{QUOTED * 8}(2)", "INSERT INTO t VALUES"),
        (f"{ROWS}(1, `a), {QUOTED}", "unterminated"),
        (f"{ROWS}(1, 'it);\nALTER TABLE t ADD b int;\nCREATE TABLE w (a int DEFAULT 'x'", "unterm"),
    ],
)  # fmt: skip
def test_rows_that_may_hide_a_table_are_reported(rows: str, report: str) -> None:
    text = f"CREATE TABLE t (a int);\nINSERT INTO t VALUES {rows});\nCREATE TABLE v (c int);\n"

    script = read_tables(condense(chunks(text), "mysql", SMALL), "mysql")

    reports = [loss.source for loss in script.losses] + [error.message for error in script.errors]
    assert {("t",), ("v",)} <= {table.path for table in script.tables}
    assert any(entry.startswith(report) for entry in reports) if report else not reports


def test_a_definition_that_is_too_long_does_not_lose_the_others() -> None:
    text = "".join(
        f"CREATE TABLE {name} (a int, b varchar(3) DEFAULT '{default}');\n"
        for name, default in (("t", "x"), ("u", "x" * 200_000), ("v", "y"))
    )

    script = read_tables(condense(chunks(text), "postgres", SMALL))

    assert [table.path for table in script.tables] == [("t",), ("v",)]
    (error,) = script.errors
    assert error.path[0].startswith("statement 'CREATE TABLE u")


def test_copy_data_that_hides_a_table_is_a_loss() -> None:
    data = "1\tx\n" * 5_000
    text = (
        f"CREATE TABLE t (a int);\nCOPY t FROM stdin;\n{data}CREATE TABLE u (a int);\n{data}\\.\n"
        f"CREATE TABLE v (a int);\nCOPY v FROM stdin;\n{data}"
    )

    script = read_tables(condense(chunks(text), "postgres", SMALL))

    assert [table.path for table in script.tables] == [("t",), ("v",)]
    assert [(loss.source[:14], loss.line) for loss in script.losses] == [("CREATE TABLE u", 5_003)]
    assert [(error.message, error.line) for error in script.errors] == [
        ("unterminated COPY data", 10_006)
    ]


# --- files ----------------------------------------------------------------------------------------

TEXT = (
    "CREATE TABLE `ä` (a int COMMENT 'é');\n"
    + f"INSERT INTO `ä` VALUES {'(1),' * 400}(1);\n" * 1_000
    + "CREATE TABLE b (a int, c nope);\n"
)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "latin-1", "gzip"])
def test_files_of_several_encodings(encoding: str, tmp_path: Path) -> None:
    file = tmp_path / "dump"
    compressed = encoding == "gzip"
    content = TEXT.encode("utf-8" if compressed else encoding)
    file.write_bytes(gzip.compress(content, 1) if compressed else content)

    script = read_dump(file, "mysql", encoding="latin-1" if encoding == "latin-1" else None)

    assert [table.path for table in script.tables] == [("ä",), ("b",)]
    assert script.tables[0].schema.columns[0].comment == "é"
    assert [(error.line, error.column) for error in script.errors] == [(1_002, 24)]


def test_streams_stay_open() -> None:
    binary, text = io.BytesIO(TEXT.encode()), io.StringIO(TEXT)

    assert results(read_dump(binary, "mysql")) == results(read_dump(text, "mysql"))
    assert not binary.closed
    assert not text.closed


def test_a_long_script_is_read_as_a_dump() -> None:
    assert results(read_tables(TEXT, "mysql")) == results(read_dump(io.StringIO(TEXT), "mysql"))
    with pytest.raises(SchemaError, match="maximum of 1,000,000"):
        read_dump(io.StringIO(TEXT), "flink", strict=True)


@pytest.mark.parametrize(
    ("content", "problem"),
    [(b"CREATE TABLE t (a int); -- \xe4", "cannot be decoded"),
     (gzip.compress(TEXT.encode(), 1)[:-20], "cannot be decompressed"),
     (b"\x1f\x8b\x00\x00", "cannot be decompressed")],
)  # fmt: skip
def test_a_file_that_cannot_be_read_is_refused(
    content: bytes, problem: str, tmp_path: Path
) -> None:
    file = tmp_path / "dump"
    file.write_bytes(content)

    with pytest.raises(ExternalError, match=problem) as caught:
        read_dump(file, "mysql")
    assert caught.value.code == "unreadable-file"
    with pytest.raises(ExternalError, match="cannot be read: No such file or directory"):
        read_dump(tmp_path / "absent")
    with pytest.raises(SchemaError, match="source must be a path or a stream"):
        read_dump(1)  # type: ignore[arg-type]


def test_positions_of_parts() -> None:
    text = condense(["\n\nSET a;\nINSERT INTO t VALUES (1);  DROP TABLE x;"], "mysql")

    assert text == "\n\nSET a;\n  DROP TABLE x;"
    assert [position(text, offset) for offset in (0, 2, 9, 11)] == [
        (1, 1),
        (3, 1),
        (4, 26),
        (4, 28),
    ]
