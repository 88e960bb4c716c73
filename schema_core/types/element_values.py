"""Values of `from_elements` as PyFlink's JVM converts them.

It rounds decimals to the scale of their type, and takes any value for a string, as Java prints it.
"""

from __future__ import annotations

from array import array
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

from schema_core.types.atomic import CharType, DecimalType, VarCharType
from schema_core.types.base import DataType
from schema_core.types.nested import ArrayType, MapType, RowType
from schema_core.types.row_value import Row
from schema_core.types.values import round_decimal


def convert_element(type_: DataType, value: Any) -> Any:
    """Return a value with rounded decimals, and with strings for other values of strings.

    Values of other classes are returned unchanged, and refused where they are checked.

    >>> from schema_core.types import DataTypes as T
    >>> convert_element(T.ARRAY(T.DECIMAL(3, 1)), [Decimal("1.25")])
    [Decimal('1.3')]
    >>> convert_element(T.STRING(), [1, True, None, 1e10])
    '[1, true, null, 1.0E10]'
    """
    match type_:
        case DecimalType() if isinstance(value, Decimal):
            return round_decimal(type_, value, ROUND_HALF_UP)
        case CharType() | VarCharType() if value is not None and not isinstance(value, str):
            text = _java_text(value)
            return value if text is None else text
        case ArrayType(element_type=element) if isinstance(value, list | tuple | array):
            return [convert_element(element, part) for part in value]
        case MapType(key_type=key, value_type=entry) if isinstance(value, dict):
            return {
                convert_element(key, at): convert_element(entry, part) for at, part in value.items()
            }
        case RowType():
            return _convert_row(type_, value)
        case _:
            return value


def _convert_row(type_: RowType, value: Any) -> Any:
    types = {field.name: field.data_type for field in type_.fields}
    if isinstance(value, dict):
        return {
            name: convert_element(types[name], part) if name in types else part
            for name, part in value.items()
        }
    if type(value) not in (tuple, list, Row) or len(value) != len(types):
        return value
    is_named = isinstance(value, Row) and value.is_named
    names = list(value.as_dict()) if is_named else list(types)
    if not types.keys() >= set(names):
        return value
    parts = [convert_element(types[name], part) for name, part in zip(names, value, strict=True)]
    if not isinstance(value, Row):
        return type(value)(parts)
    converted = Row(**dict(zip(names, parts, strict=True))) if is_named else Row(*parts)
    converted.set_row_kind(value.get_row_kind())
    return converted


def _java_text(value: Any) -> str | None:
    """Return a value as Java's `toString` prints it; None for classes that it prints otherwise."""
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case str():
            return value
        case int():
            return str(value)
        case float():
            return _java_double(value)
        case list():
            parts = [_java_text(part) for part in value]
            return None if None in parts else f"[{', '.join(map(str, parts))}]"
        case dict():
            entries = [(_java_text(key), _java_text(entry)) for key, entry in value.items()]
            if any(None in entry for entry in entries):
                return None
            return f"{{{', '.join(f'{key}={entry}' for key, entry in entries)}}}"
        case _:
            return None


def _java_double(value: float) -> str:
    if value != value:  # noqa: PLR0124 - NaN
        return "NaN"
    if value - value != 0:
        return "Infinity" if value > 0 else "-Infinity"
    if value == 0 or 1e-3 <= abs(value) < 1e7:
        return f"{Decimal(repr(value)):f}"
    sign, digits, exponent = Decimal(repr(value)).as_tuple()
    mantissa = "".join(map(str, digits)).rstrip("0") or "0"
    power = len(digits) - 1 + int(exponent)
    return f"{'-' if sign else ''}{mantissa[0]}.{mantissa[1:] or '0'}E{power}"
