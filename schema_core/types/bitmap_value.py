"""`Bitmap`, the value of a BITMAP: a set of 32-bit integers in the portable format of Roaring.

The format is that of https://github.com/RoaringBitmap/RoaringFormatSpec: a container for each value
of the upper 16 bits, which stores the lower 16 bits as a sorted array, a bitmap or runs. Flink
serializes bitmaps in it after `runOptimize`. Equal sets are equal bytes here; Flink also keeps a
run of 3 values, which is no shorter than an array, if the bytes that it has read contain one.
"""

from __future__ import annotations

import sys
from array import array
from collections.abc import Callable, Iterable, Iterator
from collections.abc import Set as AbstractSet
from itertools import pairwise
from operator import and_, or_, sub, xor
from struct import Struct, calcsize, error, unpack, unpack_from
from typing import Any, TypeAlias

from schema_core.base.text import show
from schema_core.errors import SchemaError

#: The lower 16 bits of the values: sorted, or the bits of an integer where that is shorter.
Container: TypeAlias = "array[int] | int"

#: The most values of a sorted array, and the bytes of a bitmap.
MAX_ARRAY = 4096
BITMAP_BYTES = 8192
_WORDS = f"<{BITMAP_BYTES // 8}Q"

#: The first number of the bytes: without runs, and with runs in its lower half.
WITHOUT_RUNS, WITH_RUNS = 12346, 12347

#: With runs, fewer containers have no offsets.
MIN_OFFSETS = 4

LOW, HIGH = -(1 << 31), (1 << 31) - 1

#: The length of a string after which Flink prints ``...`` for the rest of a bitmap.
MAX_PRINTED = 0x80000

_HEADER = Struct("<HH")


class Bitmap(AbstractSet[int]):
    """An immutable set of 32-bit integers, in the order of the unsigned integers.

    Args:
        values: integers from -2147483648 to 2147483647, in any order.

    Raises:
        SchemaError: with code `invalid-function-call` for another integer.

    >>> bitmap = Bitmap([3, -1, 1])
    >>> str(bitmap), list(bitmap), len(bitmap), 3 in bitmap
    ('{1,3,4294967295}', [1, 3, -1], 3, True)
    >>> bitmap & Bitmap([1, 2]), Bitmap.from_bytes(bytes(bitmap)) == bitmap
    (Bitmap([1]), True)
    """

    __slots__ = ("_containers",)

    #: Upper 16 bits -> container, which is never empty.
    _containers: dict[int, Container]

    def __init__(self, values: Iterable[int] = ()) -> None:
        parts: dict[int, set[int]] = {}
        for value in values:
            if type(value) is not int or not LOW <= value <= HIGH:
                raise SchemaError(
                    f"a bitmap has 32-bit integers, got {show(value)}",
                    code="invalid-function-call",
                )
            parts.setdefault(value >> 16 & 0xFFFF, set()).add(value & 0xFFFF)
        self._containers = {key: _container_of(part) for key, part in sorted(parts.items())}

    @classmethod
    def from_bytes(cls, data: bytes) -> Bitmap:
        """Return the bitmap that bytes in the portable format contain; what follows is ignored.

        Raises:
            SchemaError: with code `invalid-data` for other bytes.
        """
        try:
            return cls._of(_read(data))
        except error:
            raise _invalid("it ends too early") from None

    @classmethod
    def _of(cls, containers: dict[int, Container]) -> Bitmap:
        bitmap = cls()
        bitmap._containers = containers
        return bitmap

    def __bytes__(self) -> bytes:
        return _write(self._containers)

    def __len__(self) -> int:
        return sum(map(_size, self._containers.values()))

    def __iter__(self) -> Iterator[int]:
        for value in self._unsigned():
            yield value if value <= HIGH else value - (1 << 32)

    def __contains__(self, value: object) -> bool:
        if not isinstance(value, int) or not LOW <= value <= HIGH:
            return False
        container = self._containers.get(value >> 16 & 0xFFFF, 0)
        low = value & 0xFFFF
        return bool(container >> low & 1) if isinstance(container, int) else low in container

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Bitmap):
            return self._containers == other._containers
        return super().__eq__(other)

    def __hash__(self) -> int:
        return self._hash()

    def __and__(self, other: Any) -> Bitmap:
        return self._combine(other, and_)

    def __or__(self, other: Any) -> Bitmap:
        return self._combine(other, or_)

    def __xor__(self, other: Any) -> Bitmap:
        return self._combine(other, xor)

    def __sub__(self, other: Any) -> Bitmap:
        return self._combine(other, sub)

    def __repr__(self) -> str:
        return f"Bitmap({list(self)})"

    def __str__(self) -> str:
        return "{" + ",".join(self._printed()) + "}"

    def __reduce__(self) -> tuple[Callable[[bytes], Bitmap], tuple[bytes]]:
        return Bitmap.from_bytes, (bytes(self),)

    def _unsigned(self) -> Iterator[int]:
        for key, container in self._containers.items():
            yield from (key << 16 | low for low in _members(container))

    def _printed(self) -> Iterator[str]:
        size = 1
        for value in self._unsigned():
            if size > MAX_PRINTED:
                yield "..."
                return
            text = str(value)
            size += len(text) + 1
            yield text

    def _combine(self, other: Any, operation: Callable[[Any, Any], Any]) -> Bitmap:
        if not isinstance(other, Bitmap):
            return NotImplemented  # type: ignore[no-any-return]
        left, right = self._containers, other._containers  # noqa: SLF001
        combined: dict[int, Container] = {}
        for key in sorted(left.keys() | right.keys()):
            result = _combine(left.get(key, 0), right.get(key, 0), operation)
            if _size(result):
                combined[key] = result
        return Bitmap._of(combined)


# --- containers ----------------------------------------------------------------------------------


def _container_of(members: set[int]) -> Container:
    if len(members) <= MAX_ARRAY:
        return array("H", sorted(members))
    return _bits(members)


def _bits(members: Iterable[int]) -> int:
    data = bytearray(BITMAP_BYTES)
    for low in members:
        data[low >> 3] |= 1 << (low & 7)
    return int.from_bytes(data, "little")


def _size(container: Container) -> int:
    return container.bit_count() if isinstance(container, int) else len(container)


def _members(container: Container) -> Iterable[int]:
    """Return the members in order."""
    if not isinstance(container, int):
        return container
    return _places(container)


def _places(bits: int) -> Iterator[int]:
    """Yield the positions of the bits, by words, of which those without bits cost little."""
    for place, word in enumerate(unpack(_WORDS, bits.to_bytes(BITMAP_BYTES, "little"))):
        rest = word
        while rest:
            lowest = rest & -rest
            yield place << 6 | lowest.bit_length() - 1
            rest ^= lowest


def _combine(left: Container, right: Container, operation: Callable[[Any, Any], Any]) -> Container:
    if isinstance(left, int) and isinstance(right, int):
        result = left & ~right if operation is sub else operation(left, right)
        return result if result.bit_count() > MAX_ARRAY else array("H", _members(result))
    return _container_of(operation(set(_members(left)), set(_members(right))))


def _runs(container: Container) -> list[tuple[int, int]]:
    """Return the first member of each run, and how many follow it."""
    bits = container if isinstance(container, int) else _bits(container)
    firsts, lasts = bits & ~(bits << 1), bits & ~(bits >> 1)
    return [
        (first, last - first) for first, last in zip(_places(firsts), _places(lasts), strict=True)
    ]


def _count_runs(container: Container) -> int:
    if isinstance(container, int):
        return (container & ~(container << 1)).bit_count()
    return 1 + sum(b != a + 1 for a, b in pairwise(container))


# --- bytes ---------------------------------------------------------------------------------------


def _write(containers: dict[int, Container]) -> bytes:
    bodies = []
    flags = bytearray((len(containers) + 7) // 8)
    for place, container in enumerate(containers.values()):
        size = min(2 * _size(container), BITMAP_BYTES)
        if 2 + 4 * _count_runs(container) < size:
            flags[place >> 3] |= 1 << (place & 7)
            runs = _runs(container)
            bodies.append(_shorts((len(runs), *(part for run in runs for part in run))))
        elif isinstance(container, int):
            bodies.append(container.to_bytes(BITMAP_BYTES, "little"))
        else:
            bodies.append(_shorts(container))
    count = len(containers)
    are_runs = any(flags)
    if are_runs:
        head = bytearray(_HEADER.pack(WITH_RUNS, count - 1))
        head += flags
    else:
        head = bytearray(_HEADER.pack(WITHOUT_RUNS, 0) + count.to_bytes(4, "little"))
    for key, container in containers.items():
        head += _HEADER.pack(key, _size(container) - 1)
    if not are_runs or count >= MIN_OFFSETS:
        place = len(head) + 4 * count
        for body in bodies:
            head += place.to_bytes(4, "little")
            place += len(body)
    return bytes(head) + b"".join(bodies)


def _shorts(numbers: Iterable[int]) -> bytes:
    data = array("H", numbers)
    if sys.byteorder == "big":
        data.byteswap()
    return data.tobytes()


def _read(data: bytes) -> dict[int, Container]:
    cookie, more = _HEADER.unpack_from(data, 0)
    place, flags = 4, b""
    if cookie == WITH_RUNS:
        count = more + 1
        size = (count + 7) // 8
        flags = data[place : place + size]
        place += size
    elif cookie == WITHOUT_RUNS and more == 0:
        (count,) = unpack_from("<I", data, place)
        place += 4
    else:
        raise _invalid(f"it starts with {cookie}")
    if count > 1 << 16:
        raise _invalid(f"it has {count} containers")
    heads = unpack_from(f"<{2 * count}H", data, place)
    place += calcsize(f"<{2 * count}H")
    if not flags or count >= MIN_OFFSETS:
        place += 4 * count
    containers: dict[int, Container] = {}
    last = -1
    for index, (key, extra) in enumerate(zip(heads[::2], heads[1::2], strict=True)):
        if key <= last:
            raise _invalid("its containers are not sorted")
        is_run = bool(flags) and bool(flags[index >> 3] >> (index & 7) & 1)
        containers[key], place = _read_container(data, place, extra + 1, is_run=is_run)
        last = key
    return containers


def _read_container(data: bytes, place: int, size: int, *, is_run: bool) -> tuple[Container, int]:
    if is_run:
        (count,) = unpack_from("<H", data, place)
        numbers = unpack_from(f"<{2 * count}H", data, place + 2)
        bits = 0
        for first, more in zip(numbers[::2], numbers[1::2], strict=True):
            bits |= ((2 << more) - 1) << first
        end = place + 2 + 4 * count
    elif size > MAX_ARRAY:
        end = place + BITMAP_BYTES
        if end > len(data):
            raise _invalid("it ends too early")
        bits = int.from_bytes(data[place:end], "little")
    else:
        members = array("H", unpack_from(f"<{size}H", data, place))
        if any(b <= a for a, b in pairwise(members)):
            raise _invalid("a container is not sorted")
        return members, place + 2 * size
    found = bits.bit_count()
    if not found or bits >> (1 << 16) or (found != size and not is_run):  # as in Flink
        raise _invalid(f"a container has {found} values instead of {size}")
    return (bits if found > MAX_ARRAY else array("H", _members(bits))), end


def _invalid(problem: str) -> SchemaError:
    return SchemaError(
        f"the bytes are not a bitmap in the portable format of Roaring: {problem}",
        code="invalid-data",
    )
