"""Casts in Spark's words with Flink's meaning: one row a pair of kinds of types.

Flink is strict where a text holds no value (the job fails, TRY_CAST gives NULL), cuts and pads
strings without a word, wraps numbers, and makes a DECIMAL that overflows NULL.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from schema_core.spark.compiler.functions import datetimes
from schema_core.spark.compiler.functions.strings_of_values import printed
from schema_core.spark.compiler.sql_builder import (
    BYTES,
    CHARACTERS,
    DIGITS,
    ELEMENT,
    FLOATS,
    INTEGERS,
    INTERVALS,
    KEY,
    MAX_PRECISION,
    VALUE,
    bind,
    bind_all,
    computed,
    fail,
    null_or,
    quote,
    sql_type,
    string,
    unsupported,
)
from schema_core.types import (
    MAX_LENGTH,
    AnyTimestampType,
    ArrayType,
    BinaryType,
    BooleanType,
    CharType,
    DataType,
    DateType,
    DayTimeIntervalType,
    DecimalType,
    DistinctType,
    LengthType,
    LocalZonedTimestampType,
    MapType,
    MultisetType,
    NullType,
    RowType,
    StructuredType,
    TimestampType,
    TimeType,
    VarBinaryType,
    VarCharType,
    YearMonthIntervalType,
)


@dataclass(frozen=True, slots=True)
class Cast:
    """A cast that is to be said; a `lenient` one gives NULL for a bad text."""

    source: DataType
    target: DataType
    zone: str
    lenient: bool

    def to(self, target: DataType) -> Cast:
        """The same cast to another type."""
        return Cast(self.source, target, self.zone, self.lenient)


def convert(
    text: str, source: DataType, target: DataType, zone: str = "UTC", *, lenient: bool = False
) -> str:
    """A value of one type as a value of another; `lenient` is TRY_CAST.

    Raises:
        UnsupportedError: with code `not-executable` for a cast that is not in the tables.

    >>> from schema_core.types import parse_type
    >>> convert("a", parse_type("BIGINT"), parse_type("CHAR(3)"))
    "rpad(CAST(a AS STRING), 3, ' ')"
    """
    source, target = _plain(source), _plain(target)
    if source.nullable() == target.nullable():
        return text
    for step in STEPS:
        said = step(text, Cast(source, target, zone, lenient))
        if said is not None:
            return said
    raise unsupported(
        f"no cast from {source.as_summary_string()} to {target.as_summary_string()} in Spark"
    )


def _plain(type_: DataType) -> DataType:
    return type_.source_type if isinstance(type_, DistinctType) else type_


Step: TypeAlias = Callable[[str, Cast], str | None]


def from_null(text: str, cast: Cast) -> str | None:
    """NULL is NULL in every type."""
    if isinstance(cast.source, NullType):
        return f"CAST(NULL AS {sql_type(cast.target)})"
    return None


# --- numbers -----------------------------------------------------------------------------------


def among_numbers(text: str, cast: Cast) -> str | None:
    """Between numbers: wrapped or cut; a DECIMAL rounds half up, or is NULL where it overflows."""
    source, target = cast.source, cast.target
    numbers = (*INTEGERS, *FLOATS, DecimalType)
    if not (isinstance(source, numbers) and isinstance(target, numbers)):
        return None
    if isinstance(source, FLOATS) and isinstance(target, DecimalType):
        return _float_to_decimal(text, target)
    if isinstance(source, DecimalType) and isinstance(target, FLOATS):
        return f"CAST(CAST({text} AS DOUBLE) AS {sql_type(target)})"
    return f"CAST({text} AS {sql_type(target)})"


def _float_to_decimal(text: str, target: DecimalType) -> str:
    """NaN and infinity are no decimals, and end the job."""

    def body(value: str) -> str:
        bad = f"isnan({value}) OR abs({value}) = double('Infinity')"
        cast = f"CAST(CAST({value} AS DOUBLE) AS {sql_type(target)})"
        return f"if({bad}, {fail('NaN and Infinity are no DECIMAL')}, {cast})"

    return bind(text, body)


def with_booleans(text: str, cast: Cast) -> str | None:
    """Numbers are TRUE unless they are 0; TRUE is 1."""
    numbers = (*INTEGERS, *FLOATS, DecimalType)
    if isinstance(cast.source, BooleanType) and isinstance(cast.target, numbers):
        return f"CAST({text} AS {sql_type(cast.target)})"
    if isinstance(cast.target, BooleanType) and isinstance(cast.source, numbers):
        return f"({text} <> 0)"
    return None


# --- texts -------------------------------------------------------------------------------------


def to_text(text: str, cast: Cast) -> str | None:
    """Anything as text, cut to the length of a VARCHAR and padded to that of a CHAR."""
    if not isinstance(cast.target, CHARACTERS):
        return None
    said = printed(text, cast.source, cast.zone)
    if cast.source.children() and cast.target.length < MAX_LENGTH:  # counted in UTF-16 units
        cut = computed("cut", said, str(cast.target.length))
        if isinstance(cast.target, VarCharType):
            return cut
        return computed("rpad", said, str(cast.target.length), "' '")
    return fit(said, cast.source, cast.target)


def fit(text: str, source: DataType, target: LengthType) -> str:
    """A text cut to the length of its type and, for CHAR and BINARY, filled up to it."""
    fixed = isinstance(target, CharType | BinaryType)
    if fixed:
        filler = "' '" if isinstance(target, CharType) else "X'00'"
        return f"rpad({text}, {target.length}, {filler})"
    known = source.length if isinstance(source, LengthType) else MAX_LENGTH
    if target.length >= known or target.length == MAX_LENGTH:
        return text
    return f"left({text}, {target.length})"


def _strict(text: str, cast: Cast, read: Callable[[str], str]) -> str:
    """A text read by `read`, which gives NULL for a bad one; that ends the job unless lenient."""
    if cast.lenient:
        return bind(text, read)
    problem = f"cannot cast to {cast.target.as_summary_string()}: "
    return bind(
        text,
        lambda value: (
            f"coalesce({read(value)}, if({value} IS NULL, NULL, "
            f"raise_error(concat({string(problem)}, {value}))))"
        ),
    )


def from_text(text: str, cast: Cast) -> str | None:
    """A text as a number, a truth value or a moment: strict about what it must look like."""
    if not isinstance(cast.source, CHARACTERS):
        return None
    match cast.target:
        case BooleanType():
            return _strict(text, cast, _truth_of_text)
        case DecimalType():
            decimal = cast.target
            return _strict(text, cast, lambda v: _decimal_of_text(v, decimal))
        case DateType():
            return _strict(text, cast, datetimes.date_of_text)
        case TimeType():
            target = cast.target
            return _strict(text, cast, lambda v: datetimes.time_of_text(v, target))
        case TimestampType():
            target_timestamp = cast.target
            return _strict(text, cast, lambda v: datetimes.timestamp_of_text(v, target_timestamp))
        case LocalZonedTimestampType(precision):
            local = TimestampType(precision)
            read = _strict(text, cast, lambda v: datetimes.timestamp_of_text(v, local))
            return datetimes.instant(read, cast.zone)
        case _ if isinstance(cast.target, (*INTEGERS, *FLOATS)):
            return _strict(text, cast, lambda v: _number_of_text(v, cast.target))
        case _:
            return None


def _truth_of_text(text: str) -> str:
    """The words that Flink knows, in any case, without blanks around them."""
    yes, no = "'t', 'true', 'y', 'yes', '1'", "'f', 'false', 'n', 'no', '0'"
    word = f"lower({text})"
    return f"CASE WHEN {word} IN ({yes}) THEN TRUE WHEN {word} IN ({no}) THEN FALSE END"


def _number_of_text(text: str, target: DataType) -> str:
    """Spark reads more words as numbers than Java does, with which Flink reads them."""
    if isinstance(target, INTEGERS):
        shape = r"^\\s*[+-]?(\\d+(\\.\\d*)?|\\.\\d+)\\s*$"
    else:
        shape = r"^\\s*[+-]?(NaN|Infinity|(\\d+\\.?\\d*|\\.\\d+)([eE][+-]?\\d+)?[fFdD]?)\\s*$"
    return null_or(f"NOT rlike({text}, '{shape}')", f"CAST({text} AS {sql_type(target)})")


_DIGITS = r"[+-]?(?:\\d+\\.?\\d*|\\.\\d+)(?:[eE][+-]?\\d+)?"


def _decimal_of_text(text: str, target: DecimalType) -> str:
    """A text as a decimal; a short one for a short type ends where its last character is none.

    So Flink reads ``1x`` as 1, and ``x`` and ``.`` as 0.
    """
    name = sql_type(target)
    strict = f"if(rlike({{0}}, '^{_DIGITS}$'), CAST({{0}} AS {name}), NULL)"
    if target.precision > SHORT:
        return bind(f"trim(BOTH FROM {text})", strict.format)
    shape = r"^([+-]?)(\\d*)(\\.\\d*)?[^\\d]?$"
    parts = (f"regexp_extract({{0}}, '{shape}', {group})" for group in (1, 2, 3))
    digits = "concat({}, '0', {}, rtrim('.', {}))".format(*parts)
    loose = f"octet_length({{0}}) <= {SHORT} AND length({{0}}) = octet_length({{0}})"
    odd = f"{loose} AND rlike({{0}}, '^[+-]?.') AND rlike({{0}}, '{shape}')"
    said = f"if({odd} AND NOT {{0}} IN ('+', '-'), CAST({digits} AS {name}), {strict})"
    return bind(f"trim(BOTH FROM {text})", said.format)


#: As many digits as a long has for certain: Flink reads shorter texts by hand.
SHORT = 18


# --- bytes -------------------------------------------------------------------------------------


def to_bytes(text: str, cast: Cast) -> str | None:
    """Texts and bytes as bytes, cut or filled up with zeroes."""
    if not (isinstance(cast.target, BYTES) and isinstance(cast.source, (*BYTES, *CHARACTERS))):
        return None
    if isinstance(cast.source, BYTES):
        return fit(text, cast.source, cast.target)
    return fit(f"CAST({text} AS BINARY)", VarBinaryType(MAX_LENGTH), cast.target)


# --- moments -----------------------------------------------------------------------------------


def among_moments(text: str, cast: Cast) -> str | None:
    """Between dates, times and timestamps."""
    source, target = cast.source, cast.target
    if not isinstance(source, DateType | TimeType | AnyTimestampType):
        return None
    match target:
        case DateType() | TimeType() | TimestampType() | LocalZonedTimestampType():
            return datetimes.convert(text, source, target, cast.zone)
        case _:
            return None


def among_intervals(text: str, cast: Cast) -> str | None:
    """Intervals of a kind have the same number; a number is taken for months or milliseconds."""
    source, target = cast.source, cast.target
    if isinstance(source, INTEGERS) and isinstance(target, INTERVALS):
        return f"CAST({text} AS {sql_type(target)})"
    for kind in (YearMonthIntervalType, DayTimeIntervalType):
        if isinstance(source, kind) and isinstance(target, kind):
            return text
        if isinstance(source, kind) and isinstance(target, (*INTEGERS, DecimalType)):
            return f"CAST({text} AS {sql_type(target)})"
    return None


# --- nested ------------------------------------------------------------------------------------


def nested(text: str, cast: Cast) -> str | None:
    """Collections and rows, element by element."""
    source, target = cast.source, cast.target

    def inner(value: str, index: int) -> str:
        pair = source.children()[index], target.children()[index]
        return convert(value, *pair, cast.zone, lenient=cast.lenient)

    if _is_failing(source, target):
        raise unsupported("Flink does not cast texts to bytes within a value")
    if cast.lenient and any(isinstance(part, CHARACTERS) for part in source.walk()):
        return bind(text, lambda v: _attempted(v, source, target, inner))
    match source, target:
        case ArrayType(), ArrayType():
            return f"transform({text}, {ELEMENT} -> {inner(ELEMENT, 0)})"
        case MultisetType(), MultisetType():
            return f"transform_keys({text}, ({KEY}, {VALUE}) -> {inner(KEY, 0)})"
        case MapType(), MapType():
            keys = f"transform_keys({text}, ({KEY}, {VALUE}) -> {inner(KEY, 0)})"
            return f"transform_values({keys}, ({KEY}, {VALUE}) -> {inner(VALUE, 1)})"
        case RowType() | StructuredType(), RowType() | StructuredType():
            if len(source.fields) != len(target.fields):
                return None
            return bind(text, lambda v: _row(v, source, target, inner))
        case _:
            return None


def _is_failing(source: DataType, target: DataType) -> bool:
    """Whether Flink has no code for a cast that it allows: of texts to bytes within a value."""
    pairs = zip(source.children(), target.children(), strict=False)
    return any(isinstance(a, CHARACTERS) and isinstance(b, BYTES) for a, b in pairs)


def _attempted(
    text: str, source: DataType, target: DataType, inner: Callable[[str, int], str]
) -> str:
    """TRY_CAST of a nested value: NULL as soon as a part that is known has no value."""
    match source, target:
        case ArrayType(), ArrayType():
            return bind(f"transform({text}, {ELEMENT} -> {inner(ELEMENT, 0)})", _kept(text))
        case MapType(), MapType():
            keys = f"transform(map_keys({text}), {ELEMENT} -> {inner(ELEMENT, 0)})"
            values = f"transform(map_values({text}), {ELEMENT} -> {inner(ELEMENT, 1)})"

            def mapped(keys: str, values: str) -> str:
                known = _kept(f"map_keys({text})")(keys), _kept(f"map_values({text})")(values)
                whole = f"map_from_arrays({keys}, {values})"
                return null_or(f"{known[0]} IS NULL OR {known[1]} IS NULL", whole)

            return bind_all([keys, values], mapped)
        case RowType(), RowType() if len(source.fields) == len(target.fields):
            fields = [f"{text}.{quote(one.name)}" for one in source.fields]
            casts = [inner(one, place) for place, one in enumerate(fields)]
            lost = [
                f"({one} IS NOT NULL AND {to} IS NULL)"
                for one, to in zip(fields, casts, strict=True)
            ]
            row = null_or(" OR ".join(lost), _row(text, source, target, inner))
            return null_or(f"{text} IS NULL", row)
        case _:
            raise unsupported(f"TRY_CAST of {source.as_summary_string()} is not run on Spark")


def _kept(text: str) -> Callable[[str], str]:
    """An array if no element that was known has been lost, else NULL."""
    count = f"size(filter({{0}}, {ELEMENT} -> {ELEMENT} IS NOT NULL))"
    return lambda found: f"if({count.format(text)} = {count.format(found)}, {found}, NULL)"


def _row(
    text: str,
    source: RowType | StructuredType,
    target: RowType | StructuredType,
    inner: Callable[[str, int], str],
) -> str:
    pairs = (
        f"{string(to.name)}, {inner(f'{text}.{quote(one.name)}', index)}"
        for index, (one, to) in enumerate(zip(source.fields, target.fields, strict=True))
    )
    return null_or(f"{text} IS NULL", f"named_struct({', '.join(pairs)})")


#: Tried in order; the first that knows the pair says the cast.
STEPS: tuple[Step, ...] = (
    from_null,
    among_numbers,
    with_booleans,
    to_text,
    from_text,
    to_bytes,
    among_moments,
    among_intervals,
    nested,
)


def as_decimal(text: str, source: DataType) -> str:
    """A whole number as the DECIMAL that Flink reckons with; other numbers as they are."""
    if digits := DIGITS.get(type(source)):
        return f"CAST({text} AS DECIMAL({digits}, 0))"
    return text


def require_micros(type_: DataType) -> None:
    """Refuse a timestamp of more digits than Spark keeps.

    Raises:
        UnsupportedError: with code `not-executable`.
    """
    for part in type_.walk():
        if isinstance(part, AnyTimestampType) and part.precision > MAX_PRECISION:
            raise unsupported(
                f"Spark keeps microseconds, {part.as_summary_string()} has more digits",
                hint=f"cast it to a precision of {MAX_PRECISION}",
            )
