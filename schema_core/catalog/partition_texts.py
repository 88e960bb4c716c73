"""Values of partition columns as text, in specifications and in names of directories."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from decimal import ROUND_HALF_UP, Context, Decimal
from typing import Any, Final

from schema_core import types
from schema_core.expressions.comparisons import INTEGER_BITS, MICROSECONDS

#: The option of a table with the value of a partition key that is NULL, and its default.
NULL_NAME_OPTION, NULL_NAME = "partition.default-name", "__DEFAULT_PARTITION__"
#: The value of a partition key that is NULL, as Hive, Spark and Delta Lake name it.
HIVE_NULL_NAME: Final = "__HIVE_DEFAULT_PARTITION__"

_DAY = r"[0-9]{4}-[0-9]{2}-[0-9]{2}"
_MINUTES = r"[0-9]{2}:[0-9]{2}"
_CLOCK = rf"{_MINUTES}:[0-9]{{2}}"

#: Type -> strings that Spark and Flink cast to the same value, as most partition names are.
_PLAIN: Mapping[type[types.DataType], str] = {
    types.BooleanType: "true|false|TRUE|FALSE",
    types.TinyIntType: "[0-9]{1,2}",
    types.SmallIntType: "[0-9]{1,4}",
    types.IntType: "[0-9]{1,9}",
    types.BigIntType: "[0-9]{1,18}",
    types.DateType: _DAY,
    types.TimeType: _CLOCK,
    types.TimestampType: f"{_DAY}[T ]{_CLOCK}",
    types.FloatType: r"-?[0-9]{1,7}\.[0-9]{1,7}",
    types.DoubleType: r"-?[0-9]{1,15}\.[0-9]{1,15}",
}


def is_plain(text: str, type_: types.DataType) -> bool:
    """Return whether Spark reads a string as the same value as Flink.

    >>> is_plain("7", types.IntType()), is_plain("2024-02-30", types.DateType())
    (True, False)
    """
    digits = 0
    match type_:
        case types.CharType() | types.VarCharType():
            return True
        case types.TimestampType() if len(text) == len("2024-02-29T10:00"):
            pattern = f"{_DAY}T{_MINUTES}"
        case types.DecimalType():
            pattern = f"-?[0-9]{{1,{type_.precision - type_.scale}}}"
            digits = type_.scale
            if type_.precision == type_.scale:
                return False
        case types.TimeType() | types.TimestampType():
            pattern, digits = _PLAIN[type(type_)], min(type_.precision, MICROSECONDS)
        case _:
            pattern = _PLAIN.get(type(type_), "(?!)")
    fraction = rf"(\.[0-9]{{1,{digits}}})?" if digits else ""
    if re.fullmatch(pattern + fraction, text) is None:
        return False
    with suppress(ValueError):
        match type_:
            case types.DateType():
                dt.date.fromisoformat(text)
            case types.TimeType():
                dt.time.fromisoformat(text.partition(".")[0])
            case types.TimestampType():
                dt.datetime.fromisoformat(text.partition(".")[0])
        return True
    return False


#: Type -> pattern of the strings that have a value, and its parser.
_VALUES: Mapping[type[types.DataType], tuple[str, Callable[[str], Any]]] = {
    types.BooleanType: ("(?i)true|false", lambda text: text.lower() == "true"),
    **dict.fromkeys(INTEGER_BITS, (r"[+-]?[0-9]{1,19}", int)),
    types.DecimalType: (r"[+-]?[0-9]{1,38}(\.[0-9]{1,38})?", Decimal),
    types.VarCharType: (r"(?s).*", str),
    types.DateType: (_DAY, dt.date.fromisoformat),
    types.TimestampType: (
        rf"{_DAY}[T ]{_MINUTES}(:[0-9]{{2}}(\.[0-9]{{1,{MICROSECONDS}}})?)?",
        dt.datetime.fromisoformat,
    ),
}
#: Types whose values `parse_partition_text` returns.
PARSED: Final = frozenset(_VALUES)


def parse_partition_text(text: str, type_: types.DataType) -> Any:
    """Return the value of a partition key of a type in `PARSED`; None if it is not of the type.

    >>> parse_partition_text("-7", types.IntType()), parse_partition_text("1_0", types.IntType())
    (-7, None)
    """
    pattern, parse = _VALUES[type(type_)]
    value = None
    if re.fullmatch(pattern, text) is not None:
        with suppress(ValueError, OverflowError):
            value = parse(text)
    match type_:
        case types.DecimalType() if value is not None:
            unit = Decimal(1).scaleb(-type_.scale)
            value = value.quantize(unit, ROUND_HALF_UP, Context(prec=77))
            return value if abs(value) < 10 ** (type_.precision - type_.scale) else None
        case _ if value is not None and (bits := INTEGER_BITS.get(type(type_))):
            return value if -(2 ** (bits - 1)) <= value < 2 ** (bits - 1) else None
    return value
