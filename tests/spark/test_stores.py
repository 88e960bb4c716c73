"""Every type in every format of files, read as every other one: what the rules say happens."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice, product
from pathlib import Path
from typing import Any

import pytest

from schema_core import Schema
from schema_core.catalog.objects import CatalogTable
from schema_core.connectors.files.file_schemas import FOOTERS
from schema_core.environment.result import TableResult
from schema_core.environment.table_environment import TableEnvironment
from schema_core.errors import ExternalError, SchemaCoreError
from schema_core.mappings.stored_types import FILES, FLINK, REWRITTEN, Reading, RuleSet
from schema_core.migration.plans import plan
from schema_core.types import parse_type, supports_explicit_cast
from schema_core.types.row_value import Row

#: Type -> the values that are written, with those at its limits.
VALUES: Mapping[str, tuple[str, ...]] = {
    "BOOLEAN": ("TRUE", "FALSE"),
    "TINYINT": ("1", "-128"),
    "SMALLINT": ("1", "32767"),
    "INT": ("1", "-2147483648"),
    "BIGINT": ("1", "9007199254740993"),
    "FLOAT": ("1.5", "16777216"),
    "DOUBLE": ("1.5", "'1.1E300'"),
    "DECIMAL(5, 2)": ("1.25", "-999.99"),
    "DECIMAL(9, 0)": ("1", "999999999"),
    "DECIMAL(20, 3)": ("1.125", "'12345678901234567.891'"),
    "CHAR(3)": ("'abc'", "'1  '"),
    "VARCHAR(5)": ("'abcde'", "'12'"),
    "STRING": ("'a longer string'", "'12.5'", "'2020-01-31'", "'true'"),
    "BINARY(3)": ("X'616263'", "X'313233'"),
    "VARBINARY(5)": ("X'6162636465'", "X'31'"),
    "BYTES": ("X'61626364656667'", "X'31'"),
    "DATE": ("'2020-01-31'", "'1500-03-01'"),
    "TIME(0)": ("'12:34:56'", "'00:00:00'"),
    "TIME(3)": ("'12:34:56.123'", "'00:00:00'"),
    "TIMESTAMP(3)": ("'2020-01-31 12:34:56.123'", "'1500-03-01 00:00:00'"),
    "TIMESTAMP(6)": ("'2020-01-31 12:34:56.123456'", "'1500-03-01 00:00:00.000001'"),
    "TIMESTAMP_LTZ(3)": ("'2020-01-31 12:34:56.123'", "'1969-12-31 12:34:56.123'"),
    "TIMESTAMP_LTZ(6)": ("'2020-01-31 12:34:56.123456'", "'1969-12-31 12:34:56.123456'"),
}
ROWS = max(map(len, VALUES.values()))
#: The types in the order in which they begin to be few enough for a cheap test.
FEW = ("BOOLEAN", "SMALLINT", "INT", "BIGINT", "DOUBLE", "DECIMAL(5, 2)", "DECIMAL(9, 0)",
       "VARCHAR(5)", "STRING", "BYTES", "DATE", "TIMESTAMP(3)", "TIMESTAMP_LTZ(3)")  # fmt: skip

Pair = tuple[str, str]

OPTIONS: Mapping[str, Mapping[str, str]] = {
    "avro": {"avro.timestamp_mapping.legacy": "false"},
    "csv": {"csv.null-literal": "NULL"},
}
#: The options by which a value that is refused is NULL.
LENIENT: Mapping[str, Mapping[str, str]] = {
    "csv": {"csv.ignore-parse-errors": "true"},
    "json": {"json.ignore-parse-errors": "true"},
}
#: Findings with which a value may be refused.
REFUSED = frozenset({"range-narrowed", "text-parsed"})


def batched(pairs: Iterable[Pair], size: int) -> Iterator[tuple[Pair, ...]]:
    """Yield the pairs in groups."""
    rest = iter(pairs)
    while batch := tuple(islice(rest, size)):
        yield batch


def kinds_of(rules: RuleSet, old: str, new: str) -> set[str]:
    return {finding.kind for finding in rules.findings(parse_type(old), parse_type(new))}


def literal(type_: str, row: int) -> str:
    values = VALUES[type_]
    return f"CAST({values[min(row, len(values) - 1)]} AS {type_})"


class Files:
    """The files of one format, with a column of the old type for each pair."""

    def __init__(
        self, environment: TableEnvironment, form: str, path: Path, pairs: Sequence[Pair]
    ) -> None:
        self.environment, self.form, self.path, self.pairs = environment, form, path, pairs
        self.names = {pair: f"c{number}" for number, pair in enumerate(pairs)}
        self.places = {old: f"t{number}" for number, old in enumerate(dict(pairs))}
        rows = (
            f"({row}, {', '.join(literal(type_, row) for type_ in self.places)})"
            for row in range(ROWS)
        )
        self.source = f"(VALUES {', '.join(rows)}) AS s (id, {', '.join(self.places.values())})"
        self.define("stored_rows", {pair: pair[0] for pair in pairs})
        values = ", ".join(self.places[old] for old, _ in pairs)
        self.execute(f"INSERT INTO stored_rows SELECT id, {values} FROM {self.source}").wait()

    def execute(self, text: str) -> TableResult:
        return self.environment.execute_sql(text)

    def define(self, name: str, types: Mapping[Pair, str], *, lenient: bool = False) -> None:
        columns = ", ".join(f"{self.names[pair]} {type_}" for pair, type_ in types.items())
        options = {"connector": "filesystem", "format": self.form, "path": str(self.path)}
        options |= {**OPTIONS.get(self.form, {}), **(LENIENT[self.form] if lenient else {})}
        clause = ", ".join(f"'{key}' = '{value}'" for key, value in options.items())
        self.execute(f"DROP TABLE IF EXISTS {name}")
        self.execute(f"CREATE TABLE {name} (id INT, {columns}) WITH ({clause})")

    def columns(self, expressions: Mapping[Pair, str], source: str) -> dict[Pair, list[Any]]:
        """The values of an expression for each pair, by row."""
        query = f"SELECT id, {', '.join(expressions.values())} FROM {source}"
        rows = sorted((tuple(row) for row in self.execute(query).collect()), key=lambda row: row[0])
        return {pair: [row[place] for row in rows] for place, pair in enumerate(expressions, 1)}

    def casts(self, pairs: Sequence[Pair]) -> dict[Pair, list[Any]]:
        """The values of CAST to the new type, and None where there is no cast."""
        texts = {
            (old, new): f"TRY_CAST({self.places[old]} AS {new})"
            if supports_explicit_cast(parse_type(old), parse_type(new))
            else "NULL"
            for old, new in pairs
        }
        return self.columns(texts, self.source)

    def read(self, pairs: Sequence[Pair], *, lenient: bool = False) -> dict[Pair, list[Any]]:
        """The values of columns that are declared by their new types."""
        types = {pair: pair[pair in pairs] for pair in self.pairs}
        self.define("read_rows", types, lenient=lenient)
        return self.columns({pair: self.names[pair] for pair in pairs}, "read_rows")


def wide(type_: str) -> str:
    """The type without a limit of length."""
    families = {"CHAR": "STRING", "VARCHAR": "STRING", "BINARY": "BYTES", "VARBINARY": "BYTES"}
    return families.get(type_.partition("(")[0], type_)


def differences(
    files: Files, rules: RuleSet, pairs: Sequence[Pair]
) -> list[tuple[str, str, set[str], Any, list[Any]]]:
    """What is read otherwise than the rules say."""
    refused = [pair for pair in pairs if files.form in LENIENT and kinds_of(rules, *pair) & REFUSED]
    result = files.read([pair for pair in pairs if pair not in refused])
    if refused:
        result |= files.read(refused, lenient=True)
    casts = files.casts(pairs)
    unlimited = files.casts([(old, wide(new)) for old, new in pairs])
    wrong = []
    for old, new in pairs:
        kinds = kinds_of(rules, old, new)
        for row, value in enumerate(result[old, new]):
            expected = [casts[old, new][row]]
            if kinds & {"length-narrowed", "range-narrowed"}:
                expected.append(unlimited[old, wide(new)][row])
            if kinds & REFUSED:
                expected.append(None)
            if repr(value) not in map(repr, expected):
                wrong.append((old, new, kinds, value, expected))
    return wrong


#: How many columns the files have, which are read in one job.
COLUMNS = 170


@pytest.mark.parametrize("form", ["parquet", "orc", "avro", "csv", "json"])
@pytest.mark.parametrize("types", [FEW, tuple(VALUES)], ids=["few", "every"])
def test_rows_of_every_type_are_read_as_the_rules_say(
    environment: TableEnvironment, form: str, types: tuple[str, ...], tmp_path: Path
) -> None:
    rules = FILES[form]
    stored = [
        data_type for data_type in types if rules.physical_type(parse_type(data_type)) is not None
    ]
    wrong: list[object] = []
    for number, pairs in enumerate(batched(product(stored, stored), COLUMNS)):
        files = Files(environment, form, tmp_path / f"{number}", pairs)
        readings = {(old, new): rules.reading(*map(parse_type, (old, new))) for old, new in pairs}
        read = [pair for pair, reading in readings.items() if reading is not Reading.NOT]
        refused = [pair for pair, reading in readings.items() if reading is Reading.NOT]
        if form == "avro":
            for pair in [pair for pair in read if kinds_of(rules, *pair) == {"range-narrowed"}]:
                read.remove(pair)
                with pytest.raises(ExternalError, match="cannot read as"):
                    files.read([pair])
        wrong += differences(files, rules, read)
        if form in FOOTERS and refused:
            files.define("refused_rows", {pair: pair[1] for pair in refused})
            with pytest.raises(ExternalError) as caught:
                list(files.execute("SELECT * FROM refused_rows").collect())
            problems = " ".join(error.problem for error in (caught.value, *caught.value.others))
            wrong += [
                pair for pair in refused if f"column {files.names[pair]!r} is" not in problems
            ]
    assert not wrong


@pytest.mark.parametrize("form", FILES)
def test_a_change_that_files_do_not_follow_is_planned_as_a_rewrite(form: str) -> None:
    options = {
        "connector": "filesystem",
        "format": form,
        "path": "/data/t",
        **OPTIONS.get(form, {}),
    }
    rules = FILES[form]
    stored = [item for item in FEW if rules.physical_type(parse_type(item)) is not None]
    for old, new in product(stored, stored):
        before, after = (
            CatalogTable(Schema.new_builder().column("a", type_).build(), options=options)
            for type_ in (old, new)
        )
        is_at_risk = rules.reading(parse_type(old), parse_type(new)) is Reading.AT_RISK
        is_cast = "type-changed" in kinds_of(FLINK, old, new)
        is_rewritten = bool(kinds_of(rules, old, new) & REWRITTEN) or (is_at_risk and is_cast)
        assert is_rewritten == (plan(before, after).rewrite is not None), (old, new)


#: The columns of the old rows, and a row of them.
OLD = "a INT, b STRING, r ROW<x INT, y STRING>, l ARRAY<ROW<t TIMESTAMP(6)>>"
ROW = "1, 'x', ROW(2, 'y'), ARRAY[ROW(TIMESTAMP '2020-01-31 12:34:56.123456')]"
TIME_OF_ROW = dt.datetime.fromisoformat("2020-01-31T12:34:56.123456")
LIST = [Row(TIME_OF_ROW)]

#: The new columns, a row of them, and the old row as it is read by formats that find names.
CHANGES: tuple[tuple[str, str, tuple[Any, ...]], ...] = (
    (f"{OLD}, c INT", f"{ROW}, 5", (1, "x", Row(2, "y"), LIST, None)),
    ("a INT, b STRING", "1, 'x'", (1, "x")),
    (
        "r ROW<x INT, y STRING>, b STRING, a INT",
        "ROW(2, 'y'), 'x', 1",
        (Row(2, "y"), "x", 1),
    ),
    ("r ROW<x INT>", "ROW(2)", (Row(2),)),
    ("r ROW<y STRING, x INT>", "ROW('y', 2)", (Row("y", 2),)),
    ("r ROW<x INT, y STRING, z INT>", "ROW(2, 'y', 5)", (Row(2, "y", None),)),
    ("r ROW<x BIGINT, y STRING>", "ROW(CAST(2 AS BIGINT), 'y')", (Row(2, "y"),)),
    ("r ROW<x STRING, y STRING>", "ROW('2', 'y')", (Row("2", "y"),)),
    (
        "l ARRAY<ROW<t TIMESTAMP(3)>>",
        "ARRAY[ROW(TIMESTAMP '2020-01-31 12:34:56.123')]",
        ([Row(TIME_OF_ROW.replace(microsecond=123000))],),
    ),
    ("a INT NOT NULL, b STRING", "1, 'x'", (1, "x")),
    ("a INT, b STRING, c INT NOT NULL", "1, 'x', 5", ()),
)


@pytest.mark.parametrize("form", ["parquet", "orc", "avro", "csv", "json"])
def test_changes_of_columns_and_fields_are_read_as_the_rules_say(
    environment: TableEnvironment, form: str, tmp_path: Path
) -> None:
    rules = FILES[form]
    old = OLD.partition(", l ")[0] if form == "csv" else OLD
    for number, (new, row, expected) in enumerate(CHANGES):
        if form == "csv" and "l ARRAY" in new:
            continue
        options = {"connector": "filesystem", "format": form, "path": f"{tmp_path}/{number}"}
        options |= OPTIONS.get(form, {})
        clause = ", ".join(f"'{key}' = '{value}'" for key, value in options.items())
        for name, columns in (("stored_rows", old), ("read_rows", new)):
            environment.execute_sql(f"DROP TABLE IF EXISTS {name}")
            environment.execute_sql(f"CREATE TABLE {name} ({columns}) WITH ({clause})")
        values = ROW.partition(", ARRAY")[0] if form == "csv" else ROW
        environment.execute_sql(f"INSERT INTO stored_rows SELECT {values}").wait()
        if "c INT" in new or "z INT" in new:
            environment.execute_sql(f"INSERT INTO read_rows SELECT {row}").wait()
        types = [parse_type(f"ROW<{columns}>") for columns in (old, new)]
        if rules.reading(*types) is Reading.NOT:
            with pytest.raises(SchemaCoreError):
                list(environment.execute_sql("SELECT * FROM read_rows").collect())
        else:
            rows = environment.execute_sql("SELECT * FROM read_rows").collect()
            assert expected in [tuple(row) for row in rows], (new, rules.reading(*types))
