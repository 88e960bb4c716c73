"""Types, names and predicates that the contract of connectors tries."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from schema_core.base.lazy import NamedTuple


class TypeSample(NamedTuple):
    """Values of a type in SQL: each, and NULL, is written and read back."""

    type: str
    values: tuple[str, ...]


#: Name -> a type with extreme values, values that formats confuse, and common ones.
TYPES: Mapping[str, TypeSample] = {
    "boolean": TypeSample("BOOLEAN", ("TRUE", "FALSE")),
    "tinyint": TypeSample("TINYINT", ("-128", "127", "0")),
    "smallint": TypeSample("SMALLINT", ("-32768", "32767")),
    "int": TypeSample("INT", ("-2147483648", "2147483647")),
    "bigint": TypeSample("BIGINT", ("-9223372036854775807", "9223372036854775807")),
    "float": TypeSample("FLOAT", ("-0.5", "'3.4028235E38'", "'1.4E-45'")),
    "double": TypeSample("DOUBLE", ("'1.7976931348623157E308'", "'4.9E-324'", "0.1")),
    "decimal": TypeSample("DECIMAL(10, 2)", ("99999999.99", "-0.01", "1.50")),
    "long decimal": TypeSample(
        "DECIMAL(38, 18)", ("'99999999999999999999.999999999999999999'", "0")
    ),
    "char": TypeSample("CHAR(3)", ("'abc'", "'x  '")),
    "varchar": TypeSample("VARCHAR(6)", ("'a\"b,c'", "'null'")),
    "string": TypeSample(
        "STRING",
        ("'NULL'", "' x '", "'注文 😀 é'", "'a''b\\c'", "'1'", "'true'", "U&'tab\\0009\"end'"),
    ),
    "empty string": TypeSample("STRING", ("''", "'not empty'")),
    "line break": TypeSample("STRING", ("U&'one\\000Atwo\\000D\\000Athree'", "'one'")),
    "binary": TypeSample("BINARY(2)", ("x'00ff'", "x'4142'")),
    "bytes": TypeSample("BYTES", ("x'00'", "x'ff0a2c22'")),
    "date": TypeSample("DATE", ("DATE '0001-01-01'", "DATE '9999-12-31'", "DATE '1970-01-01'")),
    "time": TypeSample("TIME(0)", ("TIME '00:00:00'", "TIME '23:59:59'")),
    "timestamp(0)": TypeSample("TIMESTAMP(0)", ("TIMESTAMP '1969-12-31 23:59:59'",)),
    "timestamp(3)": TypeSample(
        "TIMESTAMP(3)",
        ("TIMESTAMP '2024-03-31 02:30:00.001'", "TIMESTAMP '9999-12-31 23:59:59.999'"),
    ),
    "timestamp(6)": TypeSample("TIMESTAMP(6)", ("TIMESTAMP '2024-02-29 12:00:00.123456'",)),
    "timestamp(9)": TypeSample("TIMESTAMP(9)", ("TIMESTAMP '2024-02-29 12:00:00.654321'",)),
    "timestamp_ltz(3)": TypeSample(
        "TIMESTAMP_LTZ(3)",
        ("TIMESTAMP '2024-02-29 12:00:00.123'", "TIMESTAMP '1960-01-01 00:00:00'"),
    ),
    "timestamp_ltz(6)": TypeSample("TIMESTAMP_LTZ(6)", ("TIMESTAMP '2024-02-29 12:00:00.123456'",)),
    "array": TypeSample("ARRAY<INT>", ("ARRAY[1, CAST(NULL AS INT), 3]", "ARRAY[7]")),
    "array of rows": TypeSample(
        "ARRAY<ROW<a INT, b STRING>>",
        ("ARRAY[ROW(1, 'x'), ROW(CAST(NULL AS INT), 'y,z')]",),
    ),
    "map": TypeSample("MAP<STRING, INT>", ("MAP['a', 1, 'b', CAST(NULL AS INT)]",)),
    "row": TypeSample(
        "ROW<a INT, b ROW<c STRING, d DECIMAL(4, 1)>>",
        ("ROW(1, ROW('x', 1.5))", "ROW(CAST(NULL AS INT), ROW('', CAST(NULL AS DECIMAL(4, 1))))"),
    ),
}  # fmt: skip

#: Column names that careless code quotes wrongly or normalizes.
NAMES: tuple[str, ...] = (
    "a b",
    "a.b",
    "a`b",
    "a,b",
    "Select",
    "naïve",
    "注文",
    "$x",
    "a'b\"c",
    "x=y",
)


class PredicateColumn(NamedTuple):
    """A column of the table of predicates: the sample of a similar type, its type, its rows."""

    sample: str
    type: str
    values: tuple[str | None, ...]


PREDICATE_COLUMNS: Mapping[str, PredicateColumn] = {
    "n": PredicateColumn("int", "INT", ("1", "2", "3", None, "5", "-1")),
    "s": PredicateColumn("string", "STRING", ("'a'", "'b'", None, "'A'", "'a b'", "'c%'")),
    "b": PredicateColumn("boolean", "BOOLEAN", ("TRUE", "FALSE", None, "TRUE", "FALSE", "TRUE")),
    "d": PredicateColumn(
        "decimal", "DECIMAL(6, 2)", ("1.50", "2.00", "-3.25", None, "0.01", "1.5")
    ),
    "dt": PredicateColumn("date", "DATE", (
        "DATE '2024-01-01'", "DATE '2024-01-02'", None, "DATE '1969-12-31'", "DATE '2024-01-01'",
        "DATE '2025-06-30'",
    )),
    "t": PredicateColumn("timestamp(3)", "TIMESTAMP(3)", (
        "TIMESTAMP '2024-01-01 00:00:00'", None, "TIMESTAMP '2024-01-01 00:00:00.001'",
        "TIMESTAMP '2023-12-31 23:59:59.999'", "TIMESTAMP '2024-01-01 00:00:00'", None,
    )),
    "f": PredicateColumn("double", "DOUBLE", ("1.5", "0.1", None, "-2", "1e10", "3")),
}  # fmt: skip

#: Column -> constants to compare it with.
CONSTANTS: Mapping[str, tuple[str, str]] = {
    "n": ("2", "3"),
    "s": ("'a'", "'b'"),
    "d": ("1.5", "2"),
    "dt": ("DATE '2024-01-01'", "DATE '2024-01-02'"),
    "t": ("TIMESTAMP '2024-01-01 00:00:00'", "TIMESTAMP '2024-01-01 00:00:00.001'"),
    "f": ("1.5", "3"),
}


def predicates(columns: Collection[str]) -> list[str]:
    """Return predicates over these columns of `PREDICATE_COLUMNS`."""
    conditions: list[str] = []
    for name in columns:
        if name == "b":
            conditions += ["b", "NOT b", "b IS NOT TRUE", "b = FALSE"]
            continue
        one, two = CONSTANTS[name]
        conditions += [f"{name} = {one}", f"{name} >= {one}"]
        if name in ("n", "s"):
            conditions += [f"{name} {operator} {one}" for operator in ("<>", "<", "<=", ">")]
            conditions += [
                f"{name} IS NULL",
                f"{name} IS NOT NULL",
                f"{two} > {name}",
                f"{name} IN ({one}, {two})",
                f"{name} NOT IN ({one}, {two})",
                f"{name} BETWEEN {one} AND {two}",
                f"NOT ({name} = {one})",
                f"{name} IS DISTINCT FROM {one}",
            ]
    if {"n", "s"} <= set(columns):
        conditions += [
            "n > 1 AND s = 'a'",
            "n > 2 OR s = 'a'",
            "NOT (n > 2 OR s IS NULL)",
            "s LIKE 'a%'",
            "s LIKE 'c\\%' OR n = -1",
            "(n = 1 OR n = 5) AND n < 4",
        ]
    return conditions
