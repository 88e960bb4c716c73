"""Conversions for engines without TRY_CAST: a string is converted if it is the text of the result.

Numbers are compared with the bounds of the new type. An engine describes its texts by a
`CanonicalText`.
"""

from __future__ import annotations

from collections.abc import Mapping

from schema_core import types
from schema_core.mappings import stored_types
from schema_core.migration.targets.conversions import KINDS, Build, Conversion, Operand, ValueCheck
from schema_core.migration.targets.sql_functions import CanonicalText
from schema_core.types.atomic import LengthType
from schema_core.types.families import TypeRoot

R = TypeRoot

#: Root -> digits of decimals that each differ as a floating point number.
FLOAT_DIGITS = {R.FLOAT: 6, R.DOUBLE: 15}
#: Words of BOOLEAN.
TRUE_WORDS, FALSE_WORDS = ("true", "t", "yes", "y", "1"), ("false", "f", "no", "n", "0")
#: Kind -> the length of its text without the fraction of the second.
TEXT_LENGTHS = {"time": 8, "timestamp": 19, "instant": 19}


def _texts(operand: Operand) -> CanonicalText:
    texts = operand.functions.canonical
    if texts is None:
        raise AssertionError(operand.writer.target.name)
    return texts


def _write(operand: Operand, value: str, kind: str) -> str:
    writes = _texts(operand).writes
    return writes.get(kind, writes[""]).format(value=value)


def _read(operand: Operand, kind: str) -> str:
    digits = getattr(operand.new, "scale", getattr(operand.new, "precision", 0))
    template = _texts(operand).reads[kind]
    return template.format(value=operand.value, p=digits, type=operand.new_type)


def _without_zeros(operand: Operand, text: str) -> str:
    """Return a text without zeros at the end of its fraction."""
    trim = _texts(operand).trim_end
    trimmed = trim.format(value=trim.format(value=text, characters="'0'"), characters="'.'")
    return f"CASE WHEN {text} LIKE '%.%' THEN {trimmed} ELSE {text} END"


def _is_text_of(operand: Operand, result: str, kind: str) -> ValueCheck:
    """Check that the string is the text of a result, with zeros after it."""
    before, after = (
        _without_zeros(operand, text)
        for text in (f"TRIM({operand.value})", _write(operand, result, kind))
    )
    return ValueCheck("cast-failed", f"{before} = {after}")


# --- numbers -------------------------------------------------------------------------------------


def _bounds(value: str, old: types.DataType | None, new: types.DataType) -> list[ValueCheck]:
    """Return the checks that an exact number is one of a type."""
    bound, scale = stored_types.exact_numbers(new)
    largest, digits = (None, None) if old is None else stored_types.exact_numbers(old)
    checks = []
    if largest is None or largest > bound:
        least = -bound if new.root in stored_types.INTEGERS else 1 - bound
        fits = f"{value} BETWEEN {least} AND {bound - 1}"
        if digits != 0 and new.root not in stored_types.INTEGERS:
            fits = f"{value} > -{bound} AND {value} < {bound}"
        checks.append(ValueCheck("value-changed", fits))
    if digits is None or digits > scale:
        checks.append(ValueCheck("value-changed", f"ROUND({value}, {scale}) = {value}"))
    return checks


def _exact(operand: Operand) -> Conversion:
    return operand.result(*_bounds(operand.value, operand.old, operand.new))


def _exact_to_float(operand: Operand) -> Conversion | None:
    if isinstance(operand.old, types.DecimalType):
        is_kept = operand.old.precision <= FLOAT_DIGITS[operand.new.root]
        return operand.result() if is_kept else None
    if stored_types.float_narrowing(operand.old, operand.new) is None:
        return operand.result()
    bound = stored_types.FLOATS[operand.new.root]
    return operand.result(
        ValueCheck("value-changed", f"{operand.value} BETWEEN -{bound} AND {bound}")
    )


def _float_to_exact(operand: Operand) -> Conversion | None:
    """Convert to decimals that each differ as a floating point number."""
    if isinstance(operand.new, types.DecimalType) and (
        operand.new.precision > FLOAT_DIGITS[operand.old.root]
    ):
        return None
    bound, scale = stored_types.exact_numbers(operand.new)
    least = ">=" if operand.new.root in stored_types.INTEGERS else ">"
    value = operand.value
    return operand.result(
        ValueCheck("value-changed", f"{value} {least} -{bound} AND {value} < {bound}"),
        ValueCheck("value-changed", f"ROUND({value}, {scale}) = {value}"),
    )


def _floats(operand: Operand) -> Conversion:
    if stored_types.float_narrowing(operand.old, operand.new) is None:
        return operand.result()
    return operand.result(ValueCheck("value-changed", f"{operand.cast} = {operand.value}"))


def _boolean_to_number(operand: Operand) -> Conversion | None:
    if stored_types.is_exact(operand.new) and stored_types.exact_numbers(operand.new)[0] <= 1:
        return None
    number = f"CASE WHEN {operand.value} = TRUE THEN 1 WHEN {operand.value} = FALSE THEN 0 END"
    return operand.result(_is_boolean(operand), expression=number)


def _is_boolean(operand: Operand) -> ValueCheck:
    """Check a BOOLEAN, which some engines store as any number."""
    return ValueCheck("value-changed", f"{operand.value} IN (TRUE, FALSE)")


def _number_to_boolean(operand: Operand) -> Conversion:
    check = ValueCheck("value-changed", f"{operand.value} IN (0, 1)")
    return operand.result(check, expression=f"({operand.value} = 1)")


# --- strings -------------------------------------------------------------------------------------


def _fits(operand: Operand, text: str) -> ValueCheck | None:
    if not isinstance(operand.new, LengthType) or operand.new.length == types.base.MAX_LENGTH:
        return None
    length = operand.functions.length.format(value=text)
    return ValueCheck("too-long", f"{length} <= {operand.new.length}")


def _to_string(operand: Operand) -> Conversion:
    kind = KINDS[operand.old.root]
    text = _write(operand, operand.value, kind)
    check = None
    if kind in {"decimal", "float"}:  # of which an engine may write fewer digits
        number = _texts(operand).reads["float"].format(value=text, p=0, type="")
        check = ValueCheck("value-changed", f"{number} = {operand.value}")
    return operand.result(check, _fits(operand, text), expression=text)


def _boolean_to_string(operand: Operand) -> Conversion:
    value = operand.value
    text = f"CASE WHEN {value} = TRUE THEN 'true' WHEN {value} = FALSE THEN 'false' END"
    return operand.result(_is_boolean(operand), _fits(operand, text), expression=text)


def _string_to_string(operand: Operand) -> Conversion:
    is_wider = (
        isinstance(operand.old, LengthType)
        and isinstance(operand.new, LengthType)
        and (operand.old.length <= operand.new.length)
    )
    return operand.result(None if is_wider else _fits(operand, operand.value))


def _string_to_number(operand: Operand) -> Conversion:
    kind = KINDS[operand.new.root]
    number = _read(operand, kind)
    checks = [_is_text_of(operand, number, kind)]
    if stored_types.is_exact(operand.new):
        checks += _bounds(number, None, operand.new)
    elif operand.new.root is R.FLOAT:
        cast = operand.cast_to(number, operand.new)
        checks.append(ValueCheck("value-changed", f"{cast} = {number}"))
    return operand.result(*checks, expression=operand.cast_to(number, operand.new))


def _string_to_boolean(operand: Operand) -> Conversion:
    word = f"LOWER(TRIM({operand.value}))"
    true, every = (
        ", ".join(map(operand.writer.string, words))
        for words in (TRUE_WORDS, TRUE_WORDS + FALSE_WORDS)
    )
    check = ValueCheck("cast-failed", f"{word} IN ({every})")
    return operand.result(check, expression=f"({word} IN ({true}))")


def _string_to_datetime(operand: Operand) -> Conversion:
    kind = KINDS[operand.new.root]
    result, texts = _read(operand, kind), _texts(operand)
    fraction = None
    if texts.fraction and kind in TEXT_LENGTHS:
        start = TEXT_LENGTHS[kind] + 1
        condition = texts.fraction.format(value=f"TRIM({operand.value})", start=start)
        fraction = ValueCheck("cast-failed", condition)
    return operand.result(
        _is_text_of(operand, result, kind),
        fraction,
        _has_digits(operand, f"TRIM({operand.value})", kind),
        expression=result,
    )


def _has_digits(operand: Operand, text: str, kind: str) -> ValueCheck | None:
    """Check that the new type has the digits of the seconds."""
    if kind not in TEXT_LENGTHS:
        return None
    digits = getattr(operand.new, "precision", 0)
    longest = TEXT_LENGTHS[kind] + (digits + 1 if digits else 0)
    shown = operand.functions.length.format(value=_without_zeros(operand, text))
    return ValueCheck("value-changed", f"{shown} <= {longest}")


# --- datetimes and bytes -------------------------------------------------------------------------


def _datetimes(operand: Operand) -> Conversion | None:
    """Convert between numbers of digits."""
    before, after = (getattr(type_, "precision", 0) for type_ in (operand.old, operand.new))
    kind = KINDS[operand.old.root]
    if after >= before:
        return operand.result(expression=operand.value)
    if kind == "instant" and not _texts(operand).has_instants:
        return None
    text = _write(operand, operand.value, kind)
    return operand.result(_has_digits(operand, text, kind), expression=operand.value)


def _date_to_timestamp(operand: Operand) -> Conversion:
    text = _texts(operand).midnight.format(value=operand.value, type=operand.new_type)
    return operand.result(expression=text)


def _timestamp_to_date(operand: Operand) -> Conversion:
    text = _without_zeros(operand, _write(operand, operand.value, "timestamp"))
    is_midnight = ValueCheck("value-changed", f"SUBSTR({text}, 11) = ' 00:00:00'")
    date = f"SUBSTR({_write(operand, operand.value, 'timestamp')}, 1, 10)"
    return operand.result(is_midnight, expression=operand.cast_to(date, operand.new))


def _to_bytes(operand: Operand) -> Conversion:
    value = operand.value
    if KINDS[operand.old.root] == "string":
        value = operand.functions.encode.format(value=value, type=operand.new_type)
    check = None
    if isinstance(operand.new, LengthType) and operand.new.length != types.base.MAX_LENGTH:
        compare = "=" if operand.new.root is R.BINARY else "<="
        check = ValueCheck("too-long", f"LENGTH({value}) {compare} {operand.new.length}")
    return operand.result(check, expression=value)


CANONICAL_CONVERSIONS: Mapping[tuple[str, str], Build] = {
    **{(old, new): _exact for old in ("integer", "decimal") for new in ("integer", "decimal")},
    **{(old, "float"): _exact_to_float for old in ("integer", "decimal")},
    **{("float", new): _float_to_exact for new in ("integer", "decimal")},
    ("float", "float"): _floats,
    **{("boolean", number): _boolean_to_number for number in ("integer", "decimal", "float")},
    **{(number, "boolean"): _number_to_boolean for number in ("integer", "decimal", "float")},
    **{
        (old, "string"): _to_string
        for old in ("integer", "decimal", "float", "date", "time", "timestamp")
    },
    ("boolean", "string"): _boolean_to_string,
    ("string", "string"): _string_to_string,
    **{("string", number): _string_to_number for number in ("integer", "decimal", "float")},
    ("string", "boolean"): _string_to_boolean,
    **{("string", new): _string_to_datetime for new in ("date", "time", "timestamp")},
    **{(kind, kind): _datetimes for kind in ("time", "timestamp", "instant")},
    ("date", "timestamp"): _date_to_timestamp,
    ("timestamp", "date"): _timestamp_to_date,
    ("string", "bytes"): _to_bytes,
    ("bytes", "bytes"): _to_bytes,
}
