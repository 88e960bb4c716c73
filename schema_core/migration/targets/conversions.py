"""Conversions of values between types in the SQL of a target: they keep the value, or fail.

An engine's CAST may round, truncate, wrap, return NULL, or read `now` as the clock. A conversion
therefore has checks: conditions that hold for the values that its expression keeps. `convert`
combines both; `validate_rows` counts the rows for which a check does not hold.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, TypeAlias

from schema_core import types
from schema_core.base.lazy import dataclass
from schema_core.errors import SchemaCoreError
from schema_core.mappings import stored_types
from schema_core.types.atomic import DecimalType, LengthType
from schema_core.types.base import MAX_LENGTH
from schema_core.types.families import MEMBERS, TypeFamily, TypeRoot

if TYPE_CHECKING:
    from schema_core.migration.targets.sql_functions import Functions
    from schema_core.migration.targets.statement_writer import StatementWriter

R = TypeRoot

#: Root -> the kind of its values, by which conversions are found.
KINDS: Mapping[TypeRoot, str] = {
    R.BOOLEAN: "boolean",
    **dict.fromkeys(stored_types.INTEGERS, "integer"),
    R.DECIMAL: "decimal",
    R.FLOAT: "float",
    R.DOUBLE: "float",
    **dict.fromkeys(MEMBERS[TypeFamily.CHARACTER_STRING], "string"),
    **dict.fromkeys(MEMBERS[TypeFamily.BINARY_STRING], "bytes"),
    R.DATE: "date",
    R.TIME_WITHOUT_TIME_ZONE: "time",
    R.TIMESTAMP_WITHOUT_TIME_ZONE: "timestamp",
    R.TIMESTAMP_WITH_LOCAL_TIME_ZONE: "instant",
    R.INTERVAL_YEAR_MONTH: "months",
    R.INTERVAL_DAY_TIME: "duration",
    R.VARIANT: "variant",
}


@dataclass(frozen=True, slots=True)
class ValueCheck:
    """A condition for the values that a conversion keeps; `kind` is the problem of others."""

    kind: str
    condition: str


@dataclass(frozen=True, slots=True)
class Conversion:
    """An expression that converts a value, and checks of the value before."""

    expression: str
    checks: tuple[ValueCheck, ...] = ()


def convert(
    writer: StatementWriter,
    value: str,
    old: types.DataType,
    new: types.DataType,
    path: stored_types.Path = (),
) -> str:
    """Return the expression that converts a value, or fails if it cannot keep it.

    `path` is that of the value, for fields that `writer.renames` renames. `writer.accepts` lists
    what is not checked: `value-changed`, `too-long`, or `value-dropped`, by which values that
    cannot be converted are NULL.
    """
    converted = conversion(writer, value, old, new, path)
    drops = "value-dropped" in writer.accepts
    null = writer.null(new)
    nulls = [(f"{value} IS NULL", null)] if writer.target.functions.fails_for_null else []
    if converted is None:
        return null if drops else _case(writer, nulls, _failure(writer, value, old, new), null)
    valid = [check.condition for check in converted.checks if check.kind == "cast-failed"]
    unchanged = [
        check.condition
        for check in converted.checks
        if check.kind != "cast-failed" and check.kind not in writer.accepts
    ]
    if not valid and not unchanged:
        return converted.expression
    if drops and valid:
        nulls = [(f"({' AND '.join(valid)}) IS NOT TRUE", null)]
        valid = []
    if not valid and not unchanged:
        ((condition, _),) = nulls
        return f"CASE WHEN {condition} THEN {null} ELSE {converted.expression} END"
    branches = [*nulls, (" AND ".join((*valid, *unchanged)), converted.expression)]
    text = _case(writer, branches, _failure(writer, value, old, new), null)
    if old.is_nullable or new.is_nullable or writer.target.functions.cast_fails:
        return text
    return f"COALESCE({text}, {converted.expression})"  # which no engine takes for nullable


def _case(writer: StatementWriter, branches: list[tuple[str, str]], failure: str, null: str) -> str:
    cases = [f"WHEN {condition} THEN {result}" for condition, result in branches]
    if not writer.target.functions.fails_as_value:
        cases.append(f"WHEN {failure} THEN {null}")
    elif branches:
        cases.append(f"ELSE {failure}")
    else:
        return failure
    return f"CASE {' '.join(cases)} END"


def _failure(writer: StatementWriter, value: str, old: types.DataType, new: types.DataType) -> str:
    """Return what fails with a message.

    The message depends on the value, so that no engine evaluates it beforehand.
    """
    text = f"cannot convert {old.as_summary_string()} to {new.as_summary_string()}: "
    shown = value
    if KINDS.get(old.root) != "string":
        shown = f"CAST({value} AS {writer.cast_type(STRING)})"
    functions = writer.target.functions
    message = functions.concat.format(text=writer.string(text), value=shown)
    return functions.fail.format(message=message, type=writer.type(new))


def conversion(
    writer: StatementWriter,
    value: str,
    old: types.DataType,
    new: types.DataType,
    path: stored_types.Path = (),
) -> Conversion | None:
    """Return the conversion of a value, or None if no value can be kept."""
    if writer.type(old) == writer.type(new) and not _is_text_of_another_type(old, new):
        return Conversion(value)
    if old.children() or new.children():
        return _convert_nested(writer, value, old, new, path)
    kinds = KINDS.get(old.root), KINDS.get(new.root)
    build: Build | None = writer.target.conversions.get(kinds)  # type: ignore[arg-type]
    if build is None or not _has_cast(writer, old, new):
        return None
    return build(Operand(writer, value, old, new))


def _is_text_of_another_type(old: types.DataType, new: types.DataType) -> bool:
    """Return whether an engine that stores both types as strings would not check the string."""
    return KINDS.get(old.root) == "string" != KINDS.get(new.root)


def _has_cast(writer: StatementWriter, old: types.DataType, new: types.DataType) -> bool:
    try:
        return writer.target.has_cast(old, new)
    except SchemaCoreError:
        return False


# --- scalars -------------------------------------------------------------------------------------

STRING, BIGINT, DOUBLE, BYTES = (
    types.DataTypes.STRING(), types.DataTypes.BIGINT(),
    types.DataTypes.DOUBLE(), types.DataTypes.BYTES(),
)  # fmt: skip
TIMESTAMP = types.DataTypes.TIMESTAMP(6)


@dataclass(frozen=True, slots=True)
class Operand:
    """A value of a type that is converted to another one, in the SQL of a writer's target."""

    writer: StatementWriter
    value: str
    old: types.DataType
    new: types.DataType

    @property
    def functions(self) -> Functions:
        """What the engine calls."""
        return self.writer.target.functions

    @property
    def new_type(self) -> str:
        """The new type in a CAST."""
        return self.writer.cast_type(self.new)

    @property
    def cast(self) -> str:
        """The value as the engine's CAST returns it."""
        return self.cast_to(self.value, self.new)

    def cast_to(self, value: str, type_: types.DataType) -> str:
        """Return a value as the engine's CAST returns it."""
        return self.functions.cast.format(value=value, type=self.writer.cast_type(type_))

    def safely(self, value: str, type_: types.DataType) -> str:
        """Return the cast of a value, or NULL if the engine can cast without failing."""
        return self.functions.safe_cast.format(value=value, type=self.writer.cast_type(type_))

    @property
    def as_new(self) -> str:
        """The value as the new type, or NULL."""
        return self.safely(self.value, self.new)

    def matches(self, pattern: str) -> str:
        """Return the condition that the whole string matches a regular expression."""
        quoted = self.writer.string(f"^{pattern}{self.functions.end}")
        return self.functions.matches.format(value=self.value, pattern=quoted)

    def result(self, *checks: ValueCheck | None, expression: str | None = None) -> Conversion:
        """Return a conversion by an expression, or by the engine's CAST."""
        return Conversion(
            self.cast if expression is None else expression, tuple(filter(None, checks))
        )

    def castable(self) -> ValueCheck | None:
        """Check that the engine can cast the value; some engines fail themselves."""
        if self.functions.cast_fails:
            return None
        return ValueCheck("cast-failed", f"{self.as_new} IS NOT NULL")

    def returns(self, through: types.DataType | None = None) -> ValueCheck:
        """Check that the value is the same when it is cast back."""
        back = self.safely(self.as_new, through or self.old)
        return ValueCheck("value-changed", f"{back} = {self.value}")

    def fits(self) -> ValueCheck | None:
        """Check the length of the value as a string."""
        if not isinstance(self.new, LengthType) or self.new.length == MAX_LENGTH:
            return None
        text = self.value
        if KINDS.get(self.old.root) != "string":
            text = self.cast_to(self.value, STRING)
        return ValueCheck(
            "too-long", f"{self.functions.length.format(value=text)} <= {self.new.length}"
        )


def _round_trip(operand: Operand) -> Conversion:
    return operand.result(operand.returns())


def _integers(operand: Operand) -> Conversion:
    """Convert exact numbers; PostgreSQL fails for an integer out of range."""
    is_refused = operand.functions.cast_fails and operand.old.root in stored_types.INTEGERS
    if stored_types.exact_narrowing(operand.old, operand.new) is None or (
        is_refused and operand.new.root in stored_types.INTEGERS
    ):
        return operand.result()
    return operand.result(operand.returns())


def _exact_to_float(operand: Operand) -> Conversion:
    if stored_types.float_narrowing(operand.old, operand.new) is None:
        return operand.result()
    if isinstance(operand.old, DecimalType):
        back = operand.safely(operand.cast_to(operand.as_new, STRING), operand.old)
        is_equal = ValueCheck("value-changed", f"{back} = {operand.value}")
        return operand.result(
            is_equal, _is_exact_float(operand, operand.value, operand.as_new, operand.new)
        )
    # Casts of floats saturate, so one above the range of integers could seem to be the largest.
    checks = [operand.returns(BIGINT)]
    if operand.old.root is R.BIGINT:
        largest = stored_types.INTEGERS[R.BIGINT] - 1
        checks.append(ValueCheck("value-changed", f"{operand.value} <> {largest}"))
    return operand.result(*checks)


def _is_exact_float(
    operand: Operand, decimal: str, number: str, type_: types.DataType
) -> ValueCheck:
    """Check that a float is the decimal of its shortest text.

    Above a bound they are integers, of which not all are floats.
    """
    condition = f"ABS({decimal}) < {stored_types.FLOATS[type_.root]}"
    if type_.root is R.FLOAT:
        both = (operand.cast_to(text, DOUBLE) for text in (number, decimal))
        condition = f"({condition} OR {' = '.join(both)})"
    return ValueCheck("value-changed", condition)


def _float_to_exact(operand: Operand) -> Conversion:
    number = operand.cast_to(operand.value, DOUBLE)
    if isinstance(operand.new, DecimalType):
        nan = operand.cast_to(operand.writer.string("NaN"), DOUBLE)
        is_number = ValueCheck("cast-failed", f"{number} <> {nan}")
        text = operand.cast_to(operand.value, STRING)
        decimal = operand.safely(text, operand.new)
        castable = ValueCheck("cast-failed", f"{decimal} IS NOT NULL")
        is_equal = ValueCheck(
            "value-changed", f"{operand.safely(decimal, operand.old)} = {operand.value}"
        )
        is_exact_float = _is_exact_float(operand, decimal, operand.value, operand.old)
        cast = operand.cast_to(text, operand.new)
        return operand.result(is_number, castable, is_equal, is_exact_float, expression=cast)
    bound = operand.cast_to(
        operand.writer.string(str(stored_types.INTEGERS[operand.new.root])), DOUBLE
    )
    in_range = f"{number} >= -{bound} AND {number} < {bound}"
    back = operand.safely(operand.safely(number, operand.new), DOUBLE)
    return operand.result(
        ValueCheck("value-changed", in_range), ValueCheck("value-changed", f"{back} = {number}")
    )


def _floats(operand: Operand) -> Conversion:
    if stored_types.float_narrowing(operand.old, operand.new) is None:
        return operand.result()
    return operand.result(operand.returns())


def _boolean_to_number(operand: Operand) -> Conversion:
    """Convert to 0 or 1; in PostgreSQL through an integer."""
    integer = operand.value
    if operand.functions.cast_fails:
        integer = operand.cast_to(operand.value, types.DataTypes.INT())
    has_digit = operand.new.root not in stored_types.INTEGERS and stored_types.is_exact(operand.new)
    fits = (
        operand.castable()
        if has_digit and stored_types.exact_numbers(operand.new)[0] <= 1
        else None
    )
    return operand.result(fits, expression=operand.cast_to(integer, operand.new))


def _number_to_boolean(operand: Operand) -> Conversion:
    check = ValueCheck("value-changed", f"{operand.value} IN (0, 1)")
    return operand.result(check, expression=f"({operand.value} <> 0)")


def _to_string(operand: Operand) -> Conversion:
    if isinstance(operand.old, LengthType) and isinstance(operand.new, LengthType):
        return operand.result(None if operand.new.length >= operand.old.length else operand.fits())
    return operand.result(operand.fits())


def _string_to_integer(operand: Operand) -> Conversion:
    digits = ValueCheck("cast-failed", operand.matches(" *[+-]?[0-9]+ *"))
    return operand.result(digits, operand.castable())


def _string_to_decimal(operand: Operand) -> Conversion:
    """Convert a number without an exponent, whose further digits are zeros."""
    number = ValueCheck("cast-failed", operand.matches(" *[+-]?([0-9]+([.][0-9]*)?|[.][0-9]+) *"))
    scale = operand.new.scale if isinstance(operand.new, DecimalType) else 0
    most = f"[0-9]{{0,{scale}}}" if scale else ""
    digits = ValueCheck("value-changed", operand.matches(f"[^.]*([.]{most}0* *)?"))
    return operand.result(number, digits, operand.castable())


#: What is not a significant digit in the text of a number.
INSIGNIFICANT = ("[eE][-+]?[0-9]+ *$", "[-+. ]", "^0+", "0+$")


def _string_to_float(operand: Operand) -> Conversion:
    """Convert a number whose digits are those of the shortest text of the result."""
    digits = "[+-]?([0-9]+([.][0-9]*)?|[.][0-9]+)([eE][+-]?[0-9]+)?|NaN|-?Infinity"
    number = ValueCheck("cast-failed", operand.matches(f" *({digits}) *"))
    before, after = operand.value, operand.cast_to(operand.as_new, STRING)
    for pattern in map(operand.writer.string, INSIGNIFICANT):
        before, after = (
            operand.functions.remove.format(value=text, pattern=pattern) for text in (before, after)
        )
    return operand.result(
        number, operand.castable(), ValueCheck("value-changed", f"{before} = {after}")
    )


def _string_to_boolean(operand: Operand) -> Conversion:
    words = "true|false|t|f|yes|no|y|n|1|0"
    lower = f"LOWER({operand.value})"
    pattern = operand.writer.string(f"^ *({words}) *{operand.functions.end}")
    known = ValueCheck(
        "cast-failed", operand.functions.matches.format(value=lower, pattern=pattern)
    )
    return operand.result(known, operand.castable())


#: Dates and times whose meaning no setting changes.
DATE_PATTERN = "[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}"
TIME_PATTERN = "([01]?[0-9]|2[0-3]):[0-5]?[0-9](:[0-5]?[0-9]([.][0-9]+)?)?"
ZONE_PATTERN = "(Z|[+-][0-9]{2}:?[0-9]{2}|[+-][0-9]{2})"


def _string_to_date(operand: Operand) -> Conversion:
    form = ValueCheck("cast-failed", operand.matches(DATE_PATTERN))
    return operand.result(form, operand.castable(), _is_on_calendar(operand))


def _is_on_calendar(operand: Operand) -> ValueCheck | None:
    if operand.functions.checks_days:
        return None
    day, of_date = (
        f"REGEXP_EXTRACT({operand.value}, {operand.writer.string(pattern)}, 1)"
        for pattern in ("^[0-9]+-[0-9]+-([0-9]+)", "^([0-9]+-[0-9]+-[0-9]+)")
    )
    day_of_date = f"EXTRACT(DAY FROM {operand.safely(of_date, types.DataTypes.DATE())})"
    return ValueCheck("cast-failed", f"{day_of_date} = {operand.safely(day, BIGINT)}")


def _fraction(operand: Operand) -> ValueCheck:
    """Check that digits which the new type does not have are zeros."""
    digits = min(getattr(operand.new, "precision", 0), operand.functions.fraction_digits)
    most = f"[0-9]{{0,{digits}}}" if digits else ""
    return ValueCheck("value-changed", operand.matches(f"[^.]*([.]{most}0*([^0-9].*)?)?"))


def _string_to_time(operand: Operand) -> Conversion:
    form = ValueCheck("cast-failed", operand.matches(TIME_PATTERN))
    return operand.result(form, _fraction(operand), operand.castable())


def _string_to_timestamp(operand: Operand) -> Conversion:
    form = ValueCheck("cast-failed", operand.matches(f"{DATE_PATTERN}([ T]{TIME_PATTERN})?"))
    return operand.result(form, _fraction(operand), operand.castable(), _is_on_calendar(operand))


def _string_to_instant(operand: Operand) -> Conversion:
    """Convert a timestamp with a time zone, or a local one that exists in the session's."""
    zoned = f"{DATE_PATTERN}[ T]{TIME_PATTERN} ?{ZONE_PATTERN}"
    local = f"{DATE_PATTERN}([ T]{TIME_PATTERN})?"
    form = ValueCheck("cast-failed", operand.matches(f"({zoned}|{local})"))
    shown, text = (
        operand.safely(operand.as_new, TIMESTAMP),
        operand.safely(operand.value, TIMESTAMP),
    )
    exists = f"CASE WHEN {operand.matches(zoned)} THEN TRUE ELSE {shown} = {text} END"
    return operand.result(
        form,
        _fraction(operand),
        operand.castable(),
        _is_on_calendar(operand),
        ValueCheck("value-changed", exists),
    )


def _string_to_bytes(operand: Operand) -> Conversion:
    text = operand.functions.encode.format(
        value=operand.value, type=operand.writer.type(operand.new)
    )
    if operand.functions.cast_fails or _holds_bytes(operand):
        return operand.result(expression=text)
    return operand.result(operand.returns(), expression=text)


def _holds_bytes(operand: Operand) -> bool:
    """Return whether all values fit; a character has at most four bytes."""
    if not isinstance(operand.old, LengthType) or not isinstance(operand.new, LengthType):
        return False
    longest = operand.old.length * (4 if KINDS[operand.old.root] == "string" else 1)
    return operand.new.root is R.VARBINARY and operand.new.length >= min(longest, MAX_LENGTH)


def _bytes_to_string(operand: Operand) -> Conversion:
    """Convert UTF-8; PostgreSQL fails for other bytes."""
    text = operand.functions.decode.format(
        value=operand.value, type=operand.writer.type(operand.new)
    )
    whole = operand.functions.decode.format(value=operand.value, type=operand.writer.type(STRING))
    fits = None
    if isinstance(operand.new, LengthType) and operand.new.length != MAX_LENGTH:
        length = operand.functions.length.format(value=whole)
        fits = ValueCheck("too-long", f"{length} <= {operand.new.length}")
    valid = None
    if operand.functions.is_text:
        valid = ValueCheck("cast-failed", operand.functions.is_text.format(value=operand.value))
    elif not operand.functions.cast_fails:
        back = operand.cast_to(whole, BYTES)
        valid = ValueCheck("cast-failed", f"{back} = {operand.cast_to(operand.value, BYTES)}")
    return operand.result(valid, fits, expression=text)


def _times(operand: Operand) -> Conversion:
    before, after = (getattr(type_, "precision", 0) for type_ in (operand.old, operand.new))
    return operand.result() if after >= before else _round_trip(operand)


NUMBERS = ("integer", "decimal", "float")
Build: TypeAlias = Callable[[Operand], Conversion | None]

#: Kinds of both types -> the conversion; other pairs keep no value.
CONVERSIONS: Mapping[tuple[str, str], Build] = {
    ("integer", "integer"): _integers,
    ("integer", "decimal"): _integers,
    ("decimal", "integer"): _integers,
    ("decimal", "decimal"): _integers,
    ("integer", "float"): _exact_to_float,
    ("decimal", "float"): _exact_to_float,
    ("float", "integer"): _float_to_exact,
    ("float", "decimal"): _float_to_exact,
    ("float", "float"): _floats,
    **{("boolean", kind): _boolean_to_number for kind in NUMBERS},
    **{(kind, "boolean"): _number_to_boolean for kind in NUMBERS},
    **{(kind, "string"): _to_string for kind in set(KINDS.values())},
    ("string", "integer"): _string_to_integer,
    ("string", "decimal"): _string_to_decimal,
    ("string", "float"): _string_to_float,
    ("string", "boolean"): _string_to_boolean,
    ("string", "date"): _string_to_date,
    ("string", "time"): _string_to_time,
    ("string", "timestamp"): _string_to_timestamp,
    ("string", "instant"): _string_to_instant,
    ("string", "bytes"): _string_to_bytes,
    ("bytes", "string"): _bytes_to_string,
    ("bytes", "bytes"): lambda value: value.result() if _holds_bytes(value) else _round_trip(value),
    ("time", "time"): _times,
    ("timestamp", "timestamp"): _times,
    ("instant", "instant"): _times,
    ("date", "timestamp"): lambda value: value.result(),
    # midnight, if it exists in the session's time zone
    ("date", "instant"): lambda value: value.result(value.returns(TIMESTAMP)),
    ("timestamp", "date"): _round_trip,
    ("timestamp", "instant"): _round_trip,
    ("instant", "date"): _round_trip,
    ("instant", "timestamp"): _round_trip,
    ("months", "months"): _round_trip,
    ("duration", "duration"): _round_trip,
}


# --- rows and collections ------------------------------------------------------------------------


def _convert_nested(
    writer: StatementWriter,
    value: str,
    old: types.DataType,
    new: types.DataType,
    path: stored_types.Path,
) -> Conversion | None:
    if writer.target.functions.canonical is not None:  # of which no function converts elements
        return None
    engine = writer.target.engine
    is_document = (
        engine is not None and engine.struct is None and not isinstance(old, types.ArrayType)
    )
    if is_document:  # kept as JSON, which has a text
        is_text = KINDS.get(new.root) == "string"
        return _to_string(Operand(writer, value, old, new)) if is_text else None
    if isinstance(old, types.RowType) and isinstance(new, types.RowType):
        return _rows(writer, value, old, new, path)
    if type(old) is not type(new):
        castable = _has_cast(writer, old, new) and KINDS.get(new.root) == "string"
        return _to_string(Operand(writer, value, old, new)) if castable else None
    operand = Operand(writer, value, old, new)
    steps = ("key", "value") if isinstance(old, types.MapType) else ("element",)
    parts = zip(old.children(), new.children(), steps, strict=True)
    inner = [conversion(writer, "e", before, after, (*path, step)) for before, after, step in parts]
    is_cast = all(_is_cast(writer, *part) for part in zip(inner, new.children(), strict=True))
    if is_cast and not any(part.checks for part in inner if part is not None):
        return operand.result()
    if writer.target.functions.has_lambdas:
        return Conversion(_collection(writer, value, old, new, path))
    return _round_trip(operand) if is_cast else None


def _is_cast(writer: StatementWriter, part: Conversion | None, new: types.DataType) -> bool:
    """Return whether `e` is converted by a cast of its collection, or not at all."""
    cast = writer.target.functions.cast.format(value="e", type=writer.cast_type(new))
    return part is not None and part.expression in {"e", cast}


def _collection(
    writer: StatementWriter,
    value: str,
    old: types.DataType,
    new: types.DataType,
    path: stored_types.Path,
) -> str:
    match old, new:
        case types.ArrayType(), types.ArrayType():
            parts = [("transform", "e", old.element_type, new.element_type, "element")]
        case types.MapType(), types.MapType():
            parts = [
                ("transform_keys", "(e, f)", old.key_type, new.key_type, "key"),
                ("transform_values", "(f, e)", old.value_type, new.value_type, "value"),
            ]
        case types.MultisetType(), types.MultisetType():
            parts = [("transform_keys", "(e, f)", old.element_type, new.element_type, "element")]
        case _:
            raise AssertionError(old)
    for function, names, before, after, step in parts:
        part = convert(writer, "e", before, after, (*path, step))
        if part != "e":
            value = f"{function}({value}, {names} -> {part})"
    return value


def _rows(
    writer: StatementWriter,
    value: str,
    old: types.RowType,
    new: types.RowType,
    path: stored_types.Path,
) -> Conversion:
    sources = {writer.renames.get((*path, column.name), column.name): column for column in old}
    if old.field_names() == new.field_names() == list(sources):
        parts = zip(old, new, strict=True)
        inner = [
            conversion(writer, "e", before.data_type, after.data_type, (*path, before.name))
            for before, after in parts
        ]
        casts = zip(inner, new.children(), strict=True)
        if all(_is_cast(writer, part, type_) for part, type_ in casts) and not any(
            part.checks for part in inner if part is not None
        ):
            return Operand(writer, value, old, new).result()
    fields = []
    for field in new:
        if (source := sources.get(field.name)) is not None:
            part, where = f"{value}.{writer.name(source.name)}", (*path, source.name)
            fields.append(convert(writer, part, source.data_type, field.data_type, where))
        else:
            fields.append(writer.null(field.data_type))
    names = (writer.string(field.name) for field in new)
    pairs = (f"{name}, {part}" for name, part in zip(names, fields, strict=True))
    built = writer.target.functions.row.format(fields=", ".join(fields), pairs=", ".join(pairs))
    row = Operand(writer, built, old, new).cast
    return Conversion(f"CASE WHEN {value} IS NULL THEN {writer.null(new)} ELSE {row} END")
