"""Surveys of csv files, and that Spark's reader returns what the exact parser does."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from schema_core.connectors.files import csv_survey
from schema_core.connectors.files.csv_files import CsvDialect, FileReader
from schema_core.connectors.files.csv_survey import NativeCsv, Survey, SurveyOptions, survey_chunks
from schema_core.connectors.files.file_layout import FileLayout
from schema_core.environment.table_environment import TableEnvironment
from schema_core.errors import ExternalError
from schema_core.types import VarCharType

TWO = CsvDialect(("a", "b"))


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("1,x\n2,y", Survey()),
        ("1,x\r\n2,y\r\n", Survey()),
        ("1,\n", Survey(empty=frozenset({1}))),
        (",x\n", Survey(empty=frozenset({0}))),
        ('1,""\n', Survey(empty=frozenset({1}), commas=True)),
        ("1, x\n", Survey(padded=True)),
        ("1 ,x\n", Survey(padded=True)),
        ('1,"x "\n', Survey(padded=True, commas=True)),
        ('1,"x, y"\n', Survey(commas=True)),
        ('1,"x ""y"""\n', Survey(empty=frozenset({1}), padded=True, commas=True)),
        ("1,NA\n", Survey(null=frozenset({1}))),
        ("NA,NAN\n1,NA\nNA,x", Survey(null=frozenset({0, 1}), words=True)),
        ("NA,NANA\nNB,aNA", Survey(null=frozenset({0}), words=True)),
        ('NA,"x"\n', Survey(null=frozenset({0, 1}), commas=True)),
        (",x\n1,\n2,\n", Survey(empty=frozenset({0, 1}))),
        ("1,Infinity\n", Survey(words=True)),
        ("NaN,x\n", Survey(words=True)),
        ("1,x\n\n2,y\n", None),
        ("1,x\n \n", None),
        (" 1,x\n", None),
        ("1,x\n2\n", None),
        ("1,x,2\n3\n", None),
        ("1,x\r2,y\n", None),
        ('1,"x\ny"\n', None),
        ('1,"x" y\n', None),
        ('1,x"y\n', None),
        ('1,"x\n', None),
        ("1,x\0\n", None),
        ("1,\1\n", None),
        ("\ufeff1,x\n", None),
        ("1,\udcff\n", None),
    ],
)
def test_a_survey_finds_what_spark_reads_otherwise(content: str, expected: Survey | None) -> None:
    result = survey_chunks(
        [content.encode("utf-8", "surrogateescape")], SurveyOptions(TWO, "NA", words=True)
    )

    assert (expected or Survey(is_regular=False)) == result


def test_the_header_escapes_and_comments_are_surveyed() -> None:
    assert survey_chunks(
        [b"a,b\n1,x\n"], SurveyOptions(CsvDialect(("a", "b"), header=True))
    ).is_regular
    assert not survey_chunks(
        [b"a,c\n1,x\n"], SurveyOptions(CsvDialect(("a", "b"), header=True))
    ).is_regular
    assert not survey_chunks(
        [b"1,\\n\n"], SurveyOptions(CsvDialect(("a", "b"), escape="\\"))
    ).is_regular
    assert not survey_chunks(
        [b"1,#\n"], SurveyOptions(CsvDialect(("a", "b"), comments=True))
    ).is_regular
    assert survey_chunks([b"1;x,y\n"], SurveyOptions(CsvDialect(("a", "b"), ";"))).commas


@pytest.mark.parametrize(
    ("content", "is_regular"),
    [
        (b"1\tx\n\ty\n2\t\n", True),
        (b"1\tx\n\t\n2\ty\n", False),
        (b"\t\n1\tx", False),
        (b"1\tx\n\t", False),
        (b"1\tx\n\t \n", False),
    ],
)
def test_lines_of_delimiters_that_are_blanks_are_not_regular(
    content: bytes, is_regular: bool
) -> None:
    """Spark's reader drops them."""
    result = survey_chunks([content], SurveyOptions(CsvDialect(("a", "b"), "\t")))

    assert result.is_regular == is_regular


def test_a_null_literal_with_a_quote_may_be_in_any_column() -> None:
    content = b'1,"a""b"\n'
    result = survey_chunks([content], SurveyOptions(TWO, 'a"b'))
    native = NativeCsv(result, TWO, 'a"b')

    assert result.null
    assert not native.columns_without_null({"a": VarCharType(5), "b": VarCharType(5)})
    assert not survey_chunks([b"1,x\n"], SurveyOptions(CsvDialect(("a", "b"), quote=""), "y")).null


def test_the_corrupt_record_is_not_a_column() -> None:
    names = ("a", "Schema_Core_Corrupt", "schema_core_corrupt_")
    options = NativeCsv(Survey(), CsvDialect(names), None).options

    assert options["columnNameOfCorruptRecord"] == "schema_core_corrupt__"


def test_each_line_of_a_regular_file_is_a_record() -> None:
    drawn, regular = random.Random(7), 0
    for _ in range(8000):
        quote = drawn.choice(['"', '"', ""])
        letters = [",", ",", "\n", "\n", '"', '"', "a", "1", " ", "\r", "\t", "é"]
        content = "".join(drawn.choice(letters) for _ in range(drawn.randint(1, 12))).encode()
        dialect = CsvDialect(("a", "b")[: drawn.randint(1, 2)], quote=quote)
        result = survey_chunks([content], SurveyOptions(dialect, "a1"))
        if not result.is_regular:
            continue
        regular += 1
        reader, lines = FileReader(dialect), content.removesuffix(b"\n").split(b"\n")
        records = [list(reader.read("file", line)) for line in lines]
        reader.finish()
        assert {1} == {len(record) for record in records}
        fields = [field or "" for record in records for field in record[0]]
        width = len(dialect.columns)
        assert result.empty >= {place % width for place, field in enumerate(fields) if not field}
        assert result.null >= {place % width for place, field in enumerate(fields) if field == "a1"}
        if b'"' not in content:
            assert result.empty == {
                place % width for place, field in enumerate(fields) if not field
            }
            assert result.null == {
                place % width for place, field in enumerate(fields) if field == "a1"
            }
        assert result.padded or all(field == field.strip(" \t") for field in fields)
    assert regular > 200


def test_chunks_are_complete_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(csv_survey, "CHUNK", 7)
    path = tmp_path / "file"
    path.write_bytes(b"1,a very long line\n2,b\n3,c")
    with path.open("rb") as file:
        assert [b"1,a very long line\n", b"2,b\n", b"3,c"] == [
            chunk for chunk in csv_survey._chunks(file) if chunk
        ]


# --- Spark's reader ------------------------------------------------------------------------------

COLUMNS = (
    "i INT, n BIGINT NOT NULL, d DECIMAL(5, 2), f DOUBLE, s STRING, c CHAR(2), b BOOLEAN, "
    "`day` DATE, t TIMESTAMP(3), x BYTES"
)
LINE = "1,-7,1.255,1e3,a b,xy,true,2024-02-29,2024-02-29 10:00:00.1239,YWJj\n"
CONTENTS = {
    "quoted": LINE + '2,8,3,"2.5","a, ""b""",é,FALSE,,,\n',
    "empty": LINE + ",8,,,,,,,,\n",
    "not a number": LINE + ",8,,,,,,,,\n",
    "padded": LINE + "2, 8,3 , 4,' ,xy,true,2024-02-29,2024-02-29 10:00:00,YWJj\n",
    "words": LINE + "2,8,3,NaN,inf,NA,true,2024-02-29,2024-02-29 10:00:00,YWJj\n",
    "null": LINE + "NA,8,NA,NA,NA,NA,NA,NA,NA,NA\n",
    "invalid": LINE + "2,x,3,4,s,xy,true,2024-02-29,2024-02-29 10:00:00,YWJj\n",
    "invalid date": LINE + "2,8,3,4,s,xy,true,2024-13-01,2024-02-29 10:00:00,YWJj\n",
}
NULLS = {"empty": "", "null": "NA", "words": "NA", "quoted": ""}


def outcome(environment: TableEnvironment, query: str) -> object:
    try:
        return sorted(repr(tuple(row)) for row in environment.execute_sql(query).collect())
    except ExternalError as error:
        return error.problem


def test_spark_reads_the_values_of_the_exact_parser(
    environment: TableEnvironment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both readers agree on rows and on errors, which name the file and the line."""
    native: dict[str, object] = {}
    for is_exact in (False, True):
        if is_exact:
            monkeypatch.setattr(FileLayout, "_native", lambda *_: None)
        for name, content in CONTENTS.items():
            folder = tmp_path / name
            folder.mkdir(exist_ok=True)
            (folder / "a file").write_text(content, encoding="utf-8")
            null = NULLS.get(name)
            option = "" if null is None else f", 'csv.null-literal' = '{null}'"
            table = f"`{name} {is_exact}`"
            environment.execute_sql(
                f"CREATE TABLE {table} ({COLUMNS}) WITH ('connector' = 'filesystem', "
                f"'path' = '{folder}', 'format' = 'csv'{option})"
            )
            query = f"SELECT * FROM {table}"
            if not is_exact:
                assert "FileScan csv" in environment.explain_sql(query)
                native[name] = outcome(environment, query)
            else:
                assert outcome(environment, query) == native[name], name
    assert "cannot read as BIGINT NOT NULL: x in file:" in str(native["invalid"])
    assert str(native["invalid"]).endswith(", line 2")
    assert "cannot read as INT: an empty field in file:" in str(native["not a number"])
    assert str(native["invalid date"]).endswith(", line 2")
    assert isinstance(native["null"], list)


def test_arrow_and_pandas_report_the_line_of_an_invalid_value(
    environment: TableEnvironment, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("1,x\nzz,y\n")
    environment.execute_sql(
        "CREATE TABLE invalid (a INT, s STRING) WITH ('connector' = 'filesystem', "
        f"'path' = '{tmp_path}', 'format' = 'csv')"
    )
    table = environment.from_path("invalid")

    for run in (table.to_pandas, lambda: table.to_arrow().read_all()):
        with pytest.raises(ExternalError, match=r"column 'a': cannot read as INT: zz .*, line 2"):
            run()
