"""Functions of bitmaps; a BITMAP is stored as the bytes of `types.bitmap_value.Bitmap`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import reduce
from operator import and_, or_, sub, xor
from typing import Any

from schema_core.errors import SchemaError
from schema_core.spark.compiler.udfs import UdfError
from schema_core.types.bitmap_value import Bitmap


def bitmap_build(values: Iterable[int | None] | None) -> bytes | None:
    """Return the bitmap of the values that are not NULL.

    >>> list(Bitmap.from_bytes(bitmap_build([2, None, 1])))
    [1, 2]
    """
    return None if values is None else bytes(Bitmap(value for value in values if value is not None))


def bitmap_from_bytes(data: bytes | None) -> bytes | None:
    """Return the bitmap that bytes contain, in the form that is written here."""
    if data is None:
        return None
    try:
        return bytes(Bitmap.from_bytes(data))
    except SchemaError as error:
        raise UdfError(str(error)) from None


def bitmap_cardinality(bitmap: bytes | None) -> int | None:
    """Return the number of values."""
    return None if bitmap is None else len(Bitmap.from_bytes(bitmap))


def bitmap_to_array(bitmap: bytes | None) -> list[int] | None:
    """Return the values in the order of the unsigned integers."""
    return None if bitmap is None else list(Bitmap.from_bytes(bitmap))


def bitmap_to_string(bitmap: bytes | None) -> str | None:
    """Return the values as unsigned integers in braces."""
    return None if bitmap is None else str(Bitmap.from_bytes(bitmap))


def combine(operation: Callable[[Any, Any], Any]) -> Callable[[bytes | None, bytes | None], Any]:
    """Return a function that combines two bitmaps.

    >>> both = combine(and_)(bitmap_build([1, 2]), bitmap_build([2, 3]))
    >>> bitmap_to_string(both)
    '{2}'
    """

    def function(one: bytes | None, other: bytes | None) -> bytes | None:
        if one is None or other is None:
            return None
        return bytes(operation(Bitmap.from_bytes(one), Bitmap.from_bytes(other)))

    return function


def combine_all(operation: Callable[[Any, Any], Any]) -> Callable[[list[bytes] | None], Any]:
    """Return a function that combines an array of bitmaps; NULL for no bitmaps."""

    def function(bitmaps: list[bytes] | None) -> bytes | None:
        if not bitmaps:
            return None
        return bytes(reduce(operation, map(Bitmap.from_bytes, bitmaps)))

    return function


#: Name of a function of two bitmaps, and of the aggregate -> operation.
OPERATIONS: dict[str, Callable[[Any, Any], Any]] = {
    "AND": and_,
    "OR": or_,
    "XOR": xor,
    "ANDNOT": sub,
}
