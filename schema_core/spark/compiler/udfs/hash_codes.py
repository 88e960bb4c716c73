"""The `hashCode` of Java's values, for `functions.hash_codes`."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Mapping
from decimal import Decimal

_WORD = 0xFFFFFFFF


def hash_code(text: str | None, kind: str) -> int | None:
    """Return the hash code of a printed value of a kind, as a signed integer of 32 bits.

    >>> hash_code("abc", "string"), hash_code("1.5", "decimal"), hash_code("-0.0", "double")
    (96354, 466, -2147483648)
    """
    if text is None:
        return None
    code = KINDS[kind](text) & _WORD
    return code - 2**32 if code >> 31 else code


def _string(text: str) -> int:
    code = 0
    data = text.encode("utf-16-be")
    for high, low in zip(data[::2], data[1::2], strict=True):
        code = (code * 31 + (high << 8) + low) & _WORD
    return code


def _long(text: str) -> int:
    return _of_bits(int(text))


def _of_bits(bits: int) -> int:
    return bits ^ ((bits >> 32) & _WORD)


def _double(text: str) -> int:
    number = float(text)
    data = struct.pack(">d", abs(number) if math.isnan(number) else number)
    return _of_bits(int.from_bytes(data, "big"))


def _float(text: str) -> int:
    number = float(text)
    return int.from_bytes(struct.pack(">f", abs(number) if math.isnan(number) else number), "big")


def _decimal(text: str) -> int:
    sign, digits, exponent = Decimal(text).as_tuple()
    unscaled = int("".join(map(str, digits)))
    code = 0
    for place in (96, 64, 32, 0):
        code = code * 31 + (unscaled >> place & _WORD)
    return 31 * (-code if sign else code) - int(exponent)


def _timestamp(text: str) -> int:
    millis, micros = divmod(int(text), 1000)
    return 31 * _of_bits(millis) + micros * 1000


#: Kind of a value -> its code, of which the lower 32 bits count.
KINDS: Mapping[str, Callable[[str], int]] = {
    "string": _string,
    "long": _long,
    "double": _double,
    "float": _float,
    "decimal": _decimal,
    "timestamp": _timestamp,
}
