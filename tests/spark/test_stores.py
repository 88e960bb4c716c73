"""Every type in every format of files, read as every other one: what the rules say happens."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext, suppress
from itertools import islice, product
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from schema_core import Schema
from schema_core.catalog.objects import CatalogTable
from schema_core.connectors.files.file_schemas import FOOTERS
from schema_core.environment.table_environment import TableEnvironment
from schema_core.errors import ExternalError, SchemaCoreError
from schema_core.mappings.stored_types import DIRECTORIES, FILES, FLINK, REWRITTEN, Reading, RuleSet
from schema_core.migration.differences import diff
from schema_core.migration.plans import plan
from schema_core.types import DataType, parse_type, supports_explicit_cast
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
#: The row after the values has NULL.
ROWS = max(map(len, VALUES.values())) + 1
#: The types in the order in which they begin to be few enough for a cheap test.
FEW = ("BOOLEAN", "SMALLINT", "INT", "BIGINT", "DOUBLE", "DECIMAL(5, 2)", "DECIMAL(9, 0)",
       "VARCHAR(5)", "STRING", "BYTES", "DATE", "TIMESTAMP(3)", "TIMESTAMP_LTZ(3)")  # fmt: skip
#: The types of the cheap test within others.
FEWEST = ("SMALLINT", "INT", "DECIMAL(5, 2)", "STRING", "TIMESTAMP(3)")


class Shape(NamedTuple):
    """Where a column has a value of a type: the column's type, its value, and how it is read."""

    type: str
    value: str = "{value}"
    read: Callable[[Any], Any] = lambda value: value


SHAPES: Mapping[str, Shape] = {
    "nullable": Shape("{type}"),
    "not-null": Shape("{type} NOT NULL", "COALESCE({value}, {first})"),
    "row": Shape("ROW<v {type}>", "ROW({value})", lambda row: row[0]),
    "array": Shape("ARRAY<{type}>", "ARRAY[{value}]", lambda array: array[0]),
    "map": Shape("MAP<STRING, {type}>", "MAP['k', {value}]", lambda pairs: pairs["k"]),
}


class Case(NamedTuple):
    """Values of a type in a column, which is then declared with another type."""

    shape: str
    old: str
    new: str

    def types(self) -> tuple[DataType, DataType]:
        """The types of the column before and after."""
        shape = SHAPES[self.shape].type
        return parse_type(shape.format(type=self.old)), parse_type(shape.format(type=self.new))

    def kinds(self, rules: RuleSet) -> set[str]:
        """The findings of the rules."""
        return {finding.kind for finding in rules.findings(*self.types())}


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
#: How many columns the files have, which are read in one job.
COLUMNS = 170


def batched(cases: Iterable[Case], size: int) -> Iterator[tuple[Case, ...]]:
    """Yield the cases in groups."""
    rest = iter(cases)
    while batch := tuple(islice(rest, size)):
        yield batch


def kinds_of(rules: RuleSet, old: str, new: str) -> set[str]:
    return Case("nullable", old, new).kinds(rules)


def literal(type_: str, row: int) -> str:
    values = (*VALUES[type_], *["NULL"] * ROWS)
    return f"CAST({values[row]} AS {type_})"


def stored_values(types: Sequence[str]) -> str:
    """A relation with a column `t<number>` for each type, in the order of `VALUES`."""
    places = [f"t{number}" for number, type_ in enumerate(VALUES) if type_ in types]
    ordered = [type_ for type_ in VALUES if type_ in types]
    rows = (
        f"({row}, {', '.join(literal(type_, row) for type_ in ordered)})" for row in range(ROWS)
    )
    return f"(VALUES {', '.join(rows)}) AS s (id, {', '.join(places)})"


def place_of(type_: str) -> str:
    return f"t{list(VALUES).index(type_)}"


def select(
    environment: TableEnvironment, expressions: Sequence[str], source: str
) -> list[tuple[Any, ...]]:
    """The values of each expression, by row."""
    result = environment.execute_sql(f"SELECT id, {', '.join(expressions)} FROM {source}")
    rows = sorted((tuple(row) for row in result.collect()), key=lambda row: row[0])
    return list(zip(*rows, strict=True))[1:]


class Casts:
    """The values of CAST from one type to another, which are computed once for all formats."""

    def __init__(self, environment: TableEnvironment) -> None:
        self.environment = environment
        self.values: dict[tuple[str, str], tuple[Any, ...]] = {}

    def compute(self, pairs: Iterable[tuple[str, str]]) -> None:
        """Compute the values of pairs; None where there is no cast."""
        missing = [pair for pair in dict.fromkeys(pairs) if pair not in self.values]
        for first in range(0, len(missing), COLUMNS):
            batch = missing[first : first + COLUMNS]
            texts = [
                f"TRY_CAST({place_of(old)} AS {new})"
                if supports_explicit_cast(parse_type(old), parse_type(new))
                else "CAST(NULL AS STRING)"
                for old, new in batch
            ]
            columns = select(self.environment, texts, stored_values([old for old, _ in batch]))
            self.values |= dict(zip(batch, columns, strict=True))


class Files:
    """The files of one format, with a column of the old type for each case."""

    def __init__(
        self, environment: TableEnvironment, form: str, path: Path, cases: Sequence[Case]
    ) -> None:
        self.environment, self.form, self.path, self.cases = environment, form, path, cases
        self.names = {case: f"c{number}" for number, case in enumerate(cases)}
        self.define("stored_rows", {case: case.types()[0] for case in cases})
        values = ", ".join(
            SHAPES[case.shape].value.format(
                value=place_of(case.old), first=f"CAST({VALUES[case.old][0]} AS {case.old})"
            )
            for case in cases
        )
        source = stored_values([case.old for case in cases])
        environment.execute_sql(f"INSERT INTO stored_rows SELECT id, {values} FROM {source}").wait()

    def define(self, name: str, types: Mapping[Case, DataType], *, lenient: bool = False) -> None:
        columns = "".join(
            f", {self.names[case]} {type_.as_serializable_string()}"
            for case, type_ in types.items()
        )
        options = {"connector": "filesystem", "format": self.form, "path": str(self.path)}
        options |= {**OPTIONS.get(self.form, {}), **(LENIENT[self.form] if lenient else {})}
        clause = ", ".join(f"'{key}' = '{value}'" for key, value in options.items())
        self.environment.execute_sql(f"DROP TABLE IF EXISTS {name}")
        self.environment.execute_sql(f"CREATE TABLE {name} (id INT{columns}) WITH ({clause})")

    def read(self, cases: Sequence[Case], *, lenient: bool = False) -> dict[Case, list[Any]]:
        """The values of columns that are declared by their new types.

        If what is refused is NULL, the columns themselves may be NULL.
        """
        if not cases:
            return {}
        types = {case: case.types()[case in cases] for case in self.cases}
        if lenient:
            types = {case: type_.nullable() for case, type_ in types.items()}
        self.define("read_rows", types, lenient=lenient)
        columns = select(self.environment, [self.names[case] for case in cases], "read_rows")
        return {
            case: [None if value is None else SHAPES[case.shape].read(value) for value in column]
            for case, column in zip(cases, columns, strict=True)
        }


def wide(type_: str) -> str:
    """The type without a limit of length."""
    families = {"CHAR": "STRING", "VARCHAR": "STRING", "BINARY": "BYTES", "VARBINARY": "BYTES"}
    return families.get(type_.partition("(")[0], type_)


def expected_values(casts: Casts, case: Case, kinds: set[str]) -> list[set[str]]:
    """What each row may be read as."""
    exact = casts.values[case.old, case.new]
    allowed = [{repr(value)} for value in exact]
    if kinds & {"length-narrowed", "range-narrowed"}:
        for values, value in zip(allowed, casts.values[case.old, wide(case.new)], strict=True):
            values.add(repr(value))
    for values in allowed if kinds & REFUSED else ():
        values.add("None")
    if case.shape == "not-null":  # the row with NULL has the first value
        allowed = [allowed[0] if literal(case.old, row).startswith("CAST(NULL") else values
                   for row, values in enumerate(allowed)]  # fmt: skip
    return allowed


def differences(
    files: Files, casts: Casts, rules: RuleSet, cases: Sequence[Case]
) -> list[tuple[Case, set[str], Any, set[str]]]:
    """What is read otherwise than the rules say."""
    refused = [case for case in cases if files.form in LENIENT and case.kinds(rules) & REFUSED]
    result = files.read([case for case in cases if case not in refused])
    result |= files.read(refused, lenient=True)
    return mismatches(casts, rules, result)


def mismatches(
    casts: Casts, rules: RuleSet, result: Mapping[Case, Sequence[Any]]
) -> list[tuple[Case, set[str], Any, set[str]]]:
    """The values of cases that the rules do not allow."""
    wrong = []
    for case, column in result.items():
        kinds = case.kinds(rules)
        wrong += [
            (case, kinds, value, values)
            for value, values in zip(column, expected_values(casts, case, kinds), strict=True)
            if repr(value) not in values
        ]
    return wrong


def stored_types_of(form: str, types: Iterable[str]) -> list[str]:
    return [type_ for type_ in types if FILES[form].physical_type(parse_type(type_)) is not None]


def cases_of(form: str, types: Mapping[str, Iterable[str]]) -> Iterator[Case]:
    """The pairs of the types of each shape that the format has."""
    for shape, names in types.items():
        if not (form == "csv" and shape == "map"):
            stored = stored_types_of(form, names)
            yield from (Case(shape, old, new) for old, new in product(stored, stored))


#: Formats with several columns.
FORMS = ("parquet", "orc", "avro", "csv", "json")
#: Shape -> types of the cheap tests.
SAMPLE = {shape: FEW if shape == "nullable" else FEWEST for shape in SHAPES}
#: The cheap test of each format, and those of all pairs of types, which take several minutes.
SWEEPS = [
    *(pytest.param(form, SAMPLE, id=f"few-{form}") for form in FORMS),
    *(
        pytest.param(form, {shape: VALUES}, id=f"every-{shape}-{form}", marks=pytest.mark.slow)
        for form, shape in product(FORMS, SHAPES)
        if (form, shape) != ("csv", "map")
    ),
]


@pytest.fixture(scope="module")
def cached_casts() -> list[Casts]:
    return []


@pytest.mark.parametrize(("form", "types"), SWEEPS)
def test_rows_of_every_type_are_read_as_the_rules_say(
    environment: TableEnvironment,
    cached_casts: list[Casts],
    form: str,
    types: Mapping[str, Iterable[str]],
    tmp_path: Path,
) -> None:
    rules = FILES[form]
    casts = cached_casts[0] if cached_casts else Casts(environment)
    casts.environment = environment
    cached_casts[:] = [casts]
    wrong: list[object] = []
    for number, cases in enumerate(batched(cases_of(form, types), COLUMNS)):
        files = Files(environment, form, tmp_path / f"{number}", cases)
        readings = {case: rules.reading(*case.types()) for case in cases}
        read = [case for case, reading in readings.items() if reading is not Reading.NOT]
        refused = [case for case, reading in readings.items() if reading is Reading.NOT]
        casts.compute((case.old, new) for case in read for new in (case.new, wide(case.new)))
        if form == "avro":
            for case in [case for case in read if case.kinds(rules) == {"range-narrowed"}]:
                read.remove(case)
                with pytest.raises(ExternalError, match="cannot read as"):
                    files.read([case])
        wrong += differences(files, casts, rules, read)
        if form in FOOTERS and refused:
            files.define("refused_rows", {case: case.types()[1] for case in refused})
            with pytest.raises(ExternalError) as caught:
                list(environment.execute_sql("SELECT * FROM refused_rows").collect())
            problems = " ".join(error.problem for error in (caught.value, *caught.value.others))
            named = set(re.findall(r"column '(c\d+)[^']*' is", problems))
            wrong += [case for case in refused if files.names[case] not in named]
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


@pytest.mark.parametrize("form", ["text", pytest.param("raw", marks=pytest.mark.slow)])
def test_files_of_one_column_are_read_as_the_rules_say(
    environment: TableEnvironment, form: str, tmp_path: Path
) -> None:
    rules, casts = FILES[form], Casts(environment)
    wrong: list[object] = []
    for old in stored_types_of(form, VALUES):
        path = tmp_path / old
        cases = [Case("nullable", old, new) for new in stored_types_of(form, VALUES)]
        read = [case for case in cases if rules.reading(*case.types()) is not Reading.NOT]
        casts.compute((old, new) for case in read for new in (case.new, wide(case.new)))
        for number, case in enumerate([Case("nullable", old, old), *read]):
            environment.execute_sql("DROP TABLE IF EXISTS one_column")
            environment.execute_sql(
                f"CREATE TABLE one_column (a {case.new} NOT NULL) WITH ("
                f"'connector' = 'filesystem', 'format' = '{form}', 'path' = '{path}')"
            )
            if number == 0:
                rows = ", ".join(f"({literal(old, row)})" for row in range(len(VALUES[old])))
                environment.execute_sql(f"INSERT INTO one_column VALUES {rows}").wait()
                continue
            result = environment.execute_sql("SELECT a FROM one_column").collect()
            allowed = expected_values(casts, case, case.kinds(rules))[: len(VALUES[old])]
            values_read = {repr(row[0]) for row in result}
            if len(values_read) != len(allowed) or not all(map(values_read.intersection, allowed)):
                wrong.append((case, values_read, allowed))
    assert not wrong


#: The types of partition columns.
KEYS = tuple(type_ for type_ in VALUES if not type_.endswith(("BYTES", "BINARY(3)", "BINARY(5)")))


@pytest.mark.parametrize(
    "types",
    [pytest.param(FEWEST, id="few"), pytest.param(KEYS, id="every", marks=pytest.mark.slow)],
)
def test_names_of_directories_are_read_as_the_rules_say(
    environment: TableEnvironment, types: Sequence[str], tmp_path: Path
) -> None:
    names = {old: f"p{number}" for number, old in enumerate(types)}
    read = [
        Case("nullable", old, new)
        for old, new in product(types, types)
        if DIRECTORIES.reading(parse_type(old), parse_type(new)) is not Reading.NOT
    ]
    casts = Casts(environment)
    casts.compute((case.old, new) for case in read for new in (case.new, wide(case.new)))

    def define(name: str, declared: Mapping[str, str]) -> None:
        columns = ", ".join(f"{names[old]} {type_}" for old, type_ in declared.items())
        environment.execute_sql(f"DROP TABLE IF EXISTS {name}")
        environment.execute_sql(
            f"CREATE TABLE {name} (id INT, {columns}) PARTITIONED BY ({', '.join(names.values())})"
            f" WITH ('connector' = 'filesystem', 'format' = 'parquet', 'path' = '{tmp_path}')"
        )

    define("stored_rows", {old: old for old in types})
    columns = ", ".join(map(place_of, types))
    environment.execute_sql(
        f"INSERT INTO stored_rows SELECT id, {columns} FROM {stored_values(types)}"
    ).wait()
    wrong: list[object] = []
    for new in types:
        cases = [case for case in read if case.new == new]
        exact = [case for case in cases if not case.kinds(DIRECTORIES) & REFUSED]
        parsed = [case for case in cases if case not in exact]
        for group in (exact, parsed[:1]):
            define("read_rows", {old: old for old in types} | {case.old: new for case in group})
            read_columns = ["id", *(names[case.old] for case in group)]
            with nullcontext() if group is exact else suppress(ExternalError):
                values = select(environment, read_columns, "read_rows")[1:]
                wrong += mismatches(casts, DIRECTORIES, dict(zip(group, values, strict=True)))
    assert not wrong


#: The columns of the old rows, and a row of them.
OLD = "a INT, b STRING, r ROW<x INT, y STRING>, l ARRAY<ROW<t TIMESTAMP(6)>>"
ROW = "1, 'x', ROW(2, 'y'), ARRAY[ROW(TIMESTAMP '2020-01-31 12:34:56.123456')]"
TIME_OF_ROW = dt.datetime.fromisoformat("2020-01-31T12:34:56.123456")
LIST = [Row(TIME_OF_ROW)]

#: The new columns, and the old row as it is read if the format reads it.
CHANGES: tuple[tuple[str, tuple[Any, ...]], ...] = (
    (f"{OLD}, c INT", (1, "x", Row(2, "y"), LIST, None)),
    ("a INT, b STRING, r ROW<x INT, y STRING>, c INT", (1, "x", Row(2, "y"), None)),
    ("a INT, b STRING", (1, "x")),
    ("r ROW<x INT, y STRING>, b STRING, a INT", (Row(2, "y"), "x", 1)),
    ("r ROW<x INT>", (Row(2),)),
    ("r ROW<y STRING, x INT>", (Row("y", 2),)),
    ("r ROW<x INT, y STRING, z INT>", (Row(2, "y", None),)),
    ("r ROW<x BIGINT, y STRING>", (Row(2, "y"),)),
    ("r ROW<x STRING, y STRING>", (Row("2", "y"),)),
    ("l ARRAY<ROW<t TIMESTAMP(3)>>", ([Row(TIME_OF_ROW.replace(microsecond=123000))],)),
    ("a INT NOT NULL, b STRING", (1, "x")),
    ("a INT, b STRING, c INT NOT NULL", ()),
)


@pytest.mark.parametrize("form", ["parquet", "orc", "avro", "csv", "json"])
def test_changes_of_columns_and_fields_are_read_as_the_rules_say(
    environment: TableEnvironment, form: str, tmp_path: Path
) -> None:
    rules = FILES[form]
    old = OLD.partition(", l ")[0] if form == "csv" else OLD
    for number, (new, expected) in enumerate(CHANGES):
        if form == "csv" and "l ARRAY" in new:
            continue
        options = {"connector": "filesystem", "format": form, "path": f"{tmp_path}/{number}"}
        options |= OPTIONS.get(form, {})
        clause = ", ".join(f"'{key}' = '{value}'" for key, value in options.items())
        schemas = []
        for name, columns in (("wanted_rows", new), ("stored_rows", old)):
            environment.execute_sql(f"DROP TABLE IF EXISTS {name}")
            environment.execute_sql(f"CREATE TABLE {name} ({columns}) WITH ({clause})")
            schemas.append(environment.from_path(name).get_resolved_schema())
        values = ROW.partition(", ARRAY")[0] if form == "csv" else ROW
        environment.execute_sql(f"INSERT INTO stored_rows SELECT {values}").wait()
        environment.alter_table("stored_rows", diff(schemas[1], schemas[0]))
        types = [parse_type(f"ROW<{columns}>") for columns in (old, new)]
        if rules.reading(*types) is Reading.NOT:
            with pytest.raises(SchemaCoreError):
                list(environment.execute_sql("SELECT * FROM stored_rows").collect())
        else:
            (result,) = environment.execute_sql("SELECT * FROM stored_rows").collect()
            assert expected == tuple(result), (new, rules.reading(*types))
