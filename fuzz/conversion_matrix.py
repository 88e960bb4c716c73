"""Conversions of migration plans between all pairs of types, executed on each target's engine.

    python -m fuzz.conversion_matrix postgres
    python -m fuzz.conversion_matrix spark 5  # each fifth case
    python -m fuzz.conversion_matrix flink 5 ORACLE

A conversion keeps the value or fails. What an engine returns is read here as a value of Python and
compared with the value before, by rules of its own: a number is the same number, a string is the
text of the value. Everything else is a silent change.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from decimal import Decimal, InvalidOperation
from typing import Any, TypeAlias
from zoneinfo import ZoneInfo

from fuzz.oracle.asking import ask
from fuzz.postgres_server import server
from schema_core import SchemaCoreError
from schema_core.migration.targets.conversions import convert
from schema_core.migration.targets.statement_writer import StatementWriter
from schema_core.migration.targets.target_statements import TARGETS
from schema_core.schema.resolve import SchemaResolver
from schema_core.types import DataType, parse_type
from schema_core.types.families import MEMBERS, TypeFamily, TypeRoot

#: The time zone of the sessions, in which some local times do not exist.
ZONE = "Europe/Berlin"

TEXTS = (
    "", " ", "0", "1", "-1", "5", "12 ", " 12", "+7", "1.", ".5", "1.5", "1.50", "1.55", "1e2",
    "1E400", "1e-400", "300", "70000", "5000000000", "99999999999999999999", "0.1",
    "0.30000000000000004", "0.1234567890123456789", "16777217", "9007199254740993", "NaN",
    "Infinity", "-Infinity", "inf", "infinity", "0x1F", "1_000", "1d", "x", "ab", "ab ", "abc",
    "abcdef", "abc  ", "true", "FALSE", "t", "yes", "on", "2", "now", "today", "tomorrow",
    "yesterday", "epoch", "allballs", "-infinity", "2020-01-02", "2020-1-2", "2020-02-30",
    "2021-02-29", "20200102", "2020", "99-01-02", "01/02/2020", "January 8, 1999",
    "2020-01-02 00:00:00", "2020-01-02 03:04:05", "2020-01-02T03:04:05", "2020-01-02 03:04:05.5",
    "2020-01-02 03:04:05.123456", "2020-01-02 03:04:05.123456789", "2020-01-02 03:04:05Z",
    "2020-01-02 03:04:05+02:00", "2020-01-02 03:04:05 Europe/Paris", "2020-01-02 24:00:00",
    "2020-01-02 23:59:60", "2021-03-28 02:30:00", "2021-10-31 02:30:00", "2020-01-02 03:04",
    "03:04:05", "03:04", "03:04:05.123", "03:04:05.1234567", "24:00:00", "23:59:60", "3:4:5",
    "03:04:05 PM", "\\x41", "\\101", "é", '{"a": 1}', "1 day", "-", "12\n", "\t12", "2020-01-02\n",
    "true\n", "\N{NO-BREAK SPACE}12", "\N{FULLWIDTH DIGIT ONE}2", "\N{ARABIC-INDIC DIGIT THREE}",
    "+-1", "1,5", "1e-1", "+Infinity", "-128", "-129", "-9223372036854775808",
    "-9223372036854775809", "340282346638528859811704183484516925440", "1e39", "-0", "-0.0",
    "1.0000000000000000000000000000000000000000", "0002-01-01", "1582-10-10",
    "9999-12-31", "10000-01-01", "2020-01-02 03:04:05.1234567890", "2021-10-31 02:30:00+01:00",
    "2020-01-02T03:04:05Z", "1893-04-01 00:00:00", "0002-01-01 00:00:00", "2020-01-02 03:04:05+1",
)  # fmt: skip

#: Types -> values as text that the engine's CAST reads.
VALUES: dict[str, tuple[str, ...]] = {
    "BOOLEAN": ("true", "false"),
    "TINYINT": ("0", "1", "5", "127", "-128"),
    "SMALLINT": ("0", "1", "1000", "-32768"),
    "INT": ("0", "1", "5", "20200102", "16777217", "2147483647", "-2147483648"),
    "BIGINT": ("0", "1", "5000000000", "9007199254740993", "4611686018427387904",
               "9223372036854775807", "-9223372036854775808", "-1"),
    "FLOAT": ("0.1", "1.5", "1", "0", "16777216", "3e9", "2147483648", "NaN", "Infinity", "1e-40",
              "3.4028235e38", "-128", "-129", "0.01", "123.45"),
    "DOUBLE": ("0.1", "1.5", "2", "1", "-0.0", "1e10", "1e300", "9223372036854775808", "NaN",
               "Infinity", "-9223372036854775808", "5e-324", "1.7976931348623157e308", "999.995",
               "127.5", "0.01"),
    "DECIMAL(2, 2)": ("0.99", "-0.01", "0"),
    "DECIMAL(5, 2)": ("0", "1", "1.50", "123.45", "-999.99"),
    "DECIMAL(20, 0)": ("1", "5000000000", "99999999999999999999", "9007199254740993"),
    "DECIMAL(38, 0)": ("99999999999999999999999999999999999999", "7"),
    "DECIMAL(38, 18)": ("1.5", "0.000000000000000001", "12345678901234567890.123456789012345678"),
    "STRING": TEXTS,
    "VARCHAR(3)": ("", "ab", "abc", "1", "now"),
    "CHAR(3)": ("abc", "123"),
    "BYTES": ("", "41", "616263646566", "ff", "5c78"),
    "VARBINARY(2)": ("41", "4142"),
    "DATE": ("2020-01-02", "1970-01-01", "2021-03-28", "0002-01-01", "9999-12-31", "1582-10-10",
             "1893-04-01"),
    "TIME(0)": ("03:04:05", "00:00:00"),
    "TIME(3)": ("03:04:05.678", "03:04:05"),
    "TIMESTAMP(0)": ("2020-01-02 03:04:05", "2020-01-02 00:00:00"),
    "TIMESTAMP(3)": ("2020-01-02 03:04:05.999", "9999-12-31 23:59:59.999"),
    "TIMESTAMP(6)": ("2020-01-02 03:04:05.123456", "2020-01-02 00:00:00", "2021-03-28 02:30:00",
                     "2021-10-31 02:30:00", "0002-01-01 00:00:00", "1969-12-31 23:59:59.999999",
                     "1893-04-01 00:00:00"),
    "TIMESTAMP_LTZ(3)": ("2020-01-02 03:04:05.123",),
    "TIMESTAMP_LTZ(6)": ("2020-01-02 03:04:05.123456", "2020-01-02 00:00:00",
                         "2021-10-31 01:30:00+00:00", "2021-10-31 00:30:00+00:00"),
}  # fmt: skip
#: Values of arrays, as the texts of their elements.
ARRAYS: dict[str, tuple[tuple[str, ...], ...]] = {
    "ARRAY<INT>": (("1", "2"), ("70000",)),
    "ARRAY<BIGINT>": (("1",), ("5000000000",)),
    "ARRAY<DECIMAL(5, 2)>": (("1.50",), ("1",)),
    "ARRAY<STRING>": (("1", "2"), ("x",), ("abcdef",), ("now",), ("2020-01-02",)),
    "ARRAY<VARCHAR(3)>": (("1",), ("abc",)),
    "ARRAY<DATE>": (("2020-01-02",),),
    "ARRAY<BYTES>": (("41",),),
}

R = TypeRoot
INSTANT = R.TIMESTAMP_WITH_LOCAL_TIME_ZONE
Value: TypeAlias = Any


@dataclass(frozen=True)
class Case:
    """A value of a type, and the type to which it is converted."""

    old: DataType
    new: DataType
    text: Any

    def __str__(self) -> str:
        return f"{self.old.as_summary_string()} {self.text!r} -> {self.new.as_summary_string()}"


def cases() -> Iterator[Case]:
    """Yield all values of all types with all other types."""
    every = {**VALUES, **ARRAYS}
    for old, values in every.items():
        for new in every:
            if old != new and (old in ARRAYS) == (new in ARRAYS):
                for text in values:
                    yield Case(parse_type(old), parse_type(new), text)


def expression(target: str, old: DataType, new: DataType, value: str = "c") -> str:
    """Return the expression of a plan."""
    writer = StatementWriter(TARGETS[target], ("t",), SchemaResolver())
    return convert(writer, value, old, new)


# --- values --------------------------------------------------------------------------------------


def parsed(root: TypeRoot, text: str) -> Value:
    """Return the value of a text that is printed by an engine, or None if it is not one."""
    text = text.strip(" ") if root not in MEMBERS[TypeFamily.CHARACTER_STRING] else text
    try:
        if root in MEMBERS[TypeFamily.CHARACTER_STRING]:
            return text
        if root is R.BOOLEAN:
            known = {"t": True, "true": True, "f": False, "false": False}
            return known[text.lower()]
        if root in MEMBERS[TypeFamily.NUMERIC]:
            return Decimal(text)
        if root in MEMBERS[TypeFamily.BINARY_STRING]:
            return bytes.fromhex(text.removeprefix("\\x"))
        if root is R.DATE:
            return date.fromisoformat(text)
        if root is R.TIME_WITHOUT_TIME_ZONE:
            return time.fromisoformat(_six_digits(text))
        return _moment(text, root)
    except (ValueError, KeyError, InvalidOperation, OverflowError):
        return None


def _six_digits(text: str) -> str:
    match = re.fullmatch(r"([^.]*)[.](\d+)(.*)", text)
    if match is None:
        return text
    if match[2][6:].strip("0"):
        raise ValueError(text)
    return f"{match[1]}.{match[2][:6]:<06}{match[3]}"


def _moment(text: str, root: TypeRoot) -> datetime:
    text = re.sub(r"([+-]\d\d)$", r"\1:00", _six_digits(text.replace("Z", "+00:00")))
    result = datetime.fromisoformat(text)
    if root is INSTANT:
        if result.tzinfo is None:
            result = result.replace(tzinfo=ZoneInfo(ZONE))
            if result.astimezone(UTC).astimezone(ZoneInfo(ZONE)).replace(fold=0) != result:
                raise ValueError(text)
        return result.astimezone(UTC)
    if result.tzinfo is not None:
        raise ValueError(text)
    return result


def _floats(value: Decimal, root: TypeRoot) -> Decimal:
    """Return the exact number that a type of floating point stores."""
    import numpy as np

    with np.errstate(over="ignore"):
        number = np.float32(str(value)) if root is R.FLOAT else np.float64(str(value))
    return Decimal(float(number))


def is_kept(case: Case, result: Value) -> bool:
    """Return whether a result of the engine is the value of before."""
    if isinstance(case.text, tuple):
        old, new = case.old.element_type, case.new.element_type  # type: ignore[attr-defined]
        if len(result) != len(case.text):
            return False
        pairs = zip(case.text, result, strict=True)
        return all(is_kept(Case(old, new, first), other) for first, other in pairs)
    old, new = case.old.root, case.new.root
    before = _value(old, case.text, is_input=True)
    after = _value(new, result)
    if after is None:
        return False
    characters = MEMBERS[TypeFamily.CHARACTER_STRING]
    if old in characters and new in characters:
        return before == after or (new is R.CHAR and before.ljust(3) == after)
    if new is R.CHAR:
        after = after.rstrip(" ")
    if old in characters:
        return _is_text_of(before, new, after)
    if new in characters:
        return _is_text_of(after, old, before)
    return _is_same(before, after, old, new)


def _value(root: TypeRoot, text: str, *, is_input: bool = False) -> Value:
    result = parsed(root, text)
    if root in {R.FLOAT, R.DOUBLE} and isinstance(result, Decimal) and result.is_finite():
        return _floats(result, root)
    return result


def _is_text_of(text: str, root: TypeRoot, value: Value) -> bool:
    """Return whether a string is a text of a value."""
    if root in MEMBERS[TypeFamily.BINARY_STRING]:
        return bool(text.encode() == value or text.lower().removeprefix("\\x") == value.hex())
    if root is R.BOOLEAN:
        words = (
            {"true", "t", "yes", "y", "1", "on"} if value else {"false", "f", "no", "n", "0", "off"}
        )
        return text.strip(" ").lower() in words
    if root in {R.FLOAT, R.DOUBLE}:
        number = parsed(root, text)
        if number is None or not number.is_finite():
            return number is not None and str(number).lower() == str(value).lower()
        if not value.is_finite():
            return False
        # the digits of the text are those of the shortest text of the number, or the exact number
        import numpy as np

        kind = np.float32 if root is R.FLOAT else np.float64
        shortest = Decimal(np.format_float_positional(kind(float(value)), unique=True, trim="0"))
        return number in {shortest, value} and _floats(number, root) == value
    if root is R.DATE and "00:00:00" in text:
        text = text.split(" ", maxsplit=1)[0].split("T", maxsplit=1)[0]
    if root in {R.DATE, R.TIME_WITHOUT_TIME_ZONE, R.TIMESTAMP_WITHOUT_TIME_ZONE, INSTANT}:
        text = re.sub(r"(?<![\d.])(\d)(?!\d)", r"0\1", text.strip(" "))  # 2020-1-2
        text = re.sub(r"^(\d\d:\d\d)$|(?<=[ T])(\d\d:\d\d)$", r"\g<0>:00", text)
        if root in {R.TIMESTAMP_WITHOUT_TIME_ZONE, INSTANT} and len(text) == 10:
            text += " 00:00:00"
    read = parsed(root, text)
    if root is INSTANT and read is not None:
        return _local(read) == _local(value)
    return read is not None and read == value


def _is_same(before: Value, after: Value, old: TypeRoot, new: TypeRoot) -> bool:
    numbers = MEMBERS[TypeFamily.NUMERIC]
    if isinstance(before, Decimal) and not before.is_finite():
        return isinstance(after, Decimal) and str(before) == str(after)
    if new in {R.FLOAT, R.DOUBLE} and old not in {R.FLOAT, R.DOUBLE} and old in numbers:
        # a decimal number is kept if it is the shortest text of the float
        return _is_text_of(str(before), new, after)
    if old in {R.FLOAT, R.DOUBLE} and new in numbers - {R.FLOAT, R.DOUBLE}:
        return _is_text_of(str(after), old, before)
    if {old, new} <= numbers | {R.BOOLEAN}:
        return Decimal(before) == Decimal(after)
    if type(before) is date and isinstance(after, datetime):
        before = datetime.combine(before, time())
    if type(after) is date and isinstance(before, datetime):
        after = datetime.combine(after, time())
    if isinstance(before, datetime) and isinstance(after, datetime):
        if INSTANT in {old, new} and old is not new:
            return _local(before) == _local(after) and _exists(before) and _exists(after)
        return before == after
    return type(before) is type(after) and bool(before == after)


def _local(value: datetime) -> datetime:
    """Return the local time in the time zone of the session."""
    return (
        value
        if value.tzinfo is None
        else value.astimezone(ZoneInfo(ZONE)).replace(tzinfo=None, fold=0)
    )


def _exists(value: datetime) -> bool:
    aware = value if value.tzinfo else value.replace(tzinfo=ZoneInfo(ZONE))
    return _local(aware.astimezone(UTC)) == _local(value)


# --- engines -------------------------------------------------------------------------------------

#: Returns what the engine makes of a case: a text, or None for an error.
Run: TypeAlias = Callable[[Case], Any]


def _literal(engine: str, type_: DataType, name: str, text: Any) -> str:
    if isinstance(text, tuple):
        inner = ", ".join(_literal(engine, type_.element_type, "", character) for character in text)  # type: ignore[attr-defined]
        return f"ARRAY[{inner}]" if engine != "spark" else f"array({inner})"
    if type_.root in MEMBERS[TypeFamily.BINARY_STRING]:
        return f"decode('{text}', 'hex')" if engine == "postgres" else f"X'{text}'"
    quoted = "'" + text.replace("'", "''") + "'"
    if engine == "spark":
        quoted = "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
    writer = StatementWriter(TARGETS[engine], ("t",), SchemaResolver())
    return f"CAST({quoted} AS {writer.type(type_)})"


def run_postgres(connection: Any) -> Run:
    """Return what evaluates the expression of ALTER COLUMN ... USING."""
    import psycopg

    def run(case: Case) -> Any:
        value = _literal("postgres", case.old, "", case.text)
        using = expression("postgres", case.old, case.new)
        type_ = StatementWriter(TARGETS["postgres"], ("t",), SchemaResolver()).type(case.new)
        inner = f"SELECT CAST({using} AS {type_}) AS d FROM (SELECT {value} AS c OFFSET 0) q"
        shown = (
            "d::text"
            if not isinstance(case.text, tuple)
            else "(SELECT array_agg(e::text) FROM unnest(d) e)"
        )
        if case.new.root is R.CHAR:
            shown = "rpad(d::text, 3)"
        try:
            result = connection.execute(f"SELECT {shown} FROM ({inner}) r".encode()).fetchone()[0]
            return "NULL" if result is None else result
        except psycopg.Error:
            return None

    return run


def run_spark(session: Any, *, ansi: bool) -> Run:
    """Return what evaluates the expression of a rewrite."""

    def run(case: Case) -> Any:
        session.conf.set("spark.sql.ansi.enabled", str(ansi).lower())
        value = _literal("spark", case.old, "", case.text)
        text = expression("spark", case.old, case.new)
        shown = _spark_text(case.new, "d")
        query = f"SELECT {shown} AS s FROM (SELECT {text} AS d FROM (SELECT {value} AS c))"
        try:
            rows = session.sql(query).collect()[0][0]
        except Exception:  # noqa: BLE001 - any failure is one of the conversion
            return None
        return rows if rows is not None else "NULL"

    return run


def _spark_text(type_: DataType, value: str) -> str:
    if type_.root is R.ARRAY:
        return f"transform({value}, e -> {_spark_text(type_.element_type, 'e')})"  # type: ignore[attr-defined]
    return (
        f"hex({value})"
        if type_.root in MEMBERS[TypeFamily.BINARY_STRING]
        else f"CAST({value} AS string)"
    )


def report(name: str, run: Run, every: Iterable[Case], show: int) -> Counter[str]:
    """Print how many conversions keep the value, fail, or change it; and some that change it."""
    counts: Counter[str] = Counter()
    shown = 0
    for case in every:
        try:
            result = run(case)
        except SchemaCoreError as error:
            counts[f"refused: {error.code}"] += 1
            continue
        outcome = "fails" if result is None else "kept" if is_kept(case, result) else "changed"
        counts[outcome] += 1
        if outcome == "changed":
            shown += 1
            if shown <= show:
                print(f"  {case}: {result!r}")
    print(name, dict(counts))
    return counts


def run_flink(oracle: str, every: Iterable[Case]) -> Run:
    """Ask the real Flink for all cases; return what looks up the answers."""
    asked = list(every)
    questions = []
    for case in asked:
        value = _literal("flink", case.old, "", case.text)
        text = expression("flink", case.old, case.new)
        query = f"SELECT d FROM (SELECT {text} AS d FROM (VALUES ({value})) AS q (c))"
        questions.append({"op": "sql", "zone": ZONE, "sql": query})
    answers = ask(oracle, questions, "Values")
    result = {str(case): item for case, item in zip(asked, answers, strict=True)}

    def run(case: Case) -> Any:
        answer = result[str(case)]
        if not answer["ok"]:
            return None
        (row,) = answer["rows"]
        return _flink_value(case.new, row.removeprefix("+I[").removesuffix("]"))

    return run


def _flink_value(type_: DataType, text: str) -> Any:
    """Return the text of a value that Flink prints."""
    if text == "null":
        return "NULL"
    if type_.root is R.ARRAY:
        inner = text[1:-1]
        if type_.element_type.root in MEMBERS[TypeFamily.BINARY_STRING]:  # type: ignore[attr-defined]
            return [bytes(int(part) % 256 for part in inner.strip("[]").split(", ")).hex()]
        return inner.split(", ")
    if type_.root in MEMBERS[TypeFamily.BINARY_STRING]:
        numbers = text.strip("[]")
        return bytes(int(part) % 256 for part in numbers.split(", ")).hex() if numbers else ""
    return text


def main() -> None:
    """Print the matrix of a target, of all cases or of each n-th one."""
    target = sys.argv[1]
    every = list(cases())[:: int(sys.argv[2]) if len(sys.argv) > 2 else 1]
    show = 40
    if target == "postgres":
        import psycopg

        with server() as reached, psycopg.connect(
            reached.url.replace("+psycopg", ""), user=reached.username, password=reached.password,
            autocommit=True,
        ) as connection:  # fmt: skip
            connection.execute(f"SET TIME ZONE '{ZONE}'".encode())
            report("postgres", run_postgres(connection), every, show)
    elif target == "spark":
        from pyspark.sql import SparkSession

        session = (
            SparkSession.builder.master("local[1]")
            .config("spark.ui.enabled", "false")
            .getOrCreate()
        )
        session.sparkContext.setLogLevel("OFF")
        session.conf.set("spark.sql.session.timeZone", ZONE)
        for ansi in (True, False):
            report(f"spark, ANSI {ansi}", run_spark(session, ansi=ansi), every, show)
        session.stop()
    else:
        report("flink", run_flink(sys.argv[3], every), every, show)


if __name__ == "__main__":
    main()
