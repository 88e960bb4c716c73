"""Bitmaps: sets of integers, and the bytes that Flink 2.3 wrote for them."""

from __future__ import annotations

import pickle
import time
from operator import and_, or_, sub, xor

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schema_core.errors import SchemaError
from schema_core.types import Bitmap

INTEGERS = st.integers(-(1 << 31), (1 << 31) - 1)
SIZES = st.integers(0, 9000)
RANGES = st.builds(
    lambda first, size: set(range(first, min(first + size, 1 << 31))),
    INTEGERS,
    st.integers(0, 9000),
)
SETS = st.builds(lambda one, more: one | more, st.sets(INTEGERS, max_size=20), RANGES)


@pytest.mark.parametrize(
    ("values", "recorded"),
    [
        ([], "3a30000000000000"),
        ([1], "3a3000000100000000000000100000000100"),
        ([0, 1, 2], "3a300000010000000000020010000000000001000200"),
        ([0, 1, 2, 3], "3b3000000100000300010000000300"),
        (
            [*range(1, 11), 100000, -5, -4, -3],
            "3b300200010000090001000000ffff0200010001000900a086fbfffcfffdff",
        ),
        (
            [65536, 131072, 196608, 262144, 262145, 262146, 262147, 262148],
            "3b300300080100000002000000030000000400040025000000270000002900000"  # noqa: ISC004
            "02b000000000000000000010000000400",
        ),
    ],
)  # fmt: skip
def test_bytes_are_those_of_flink(values: list[int], recorded: str) -> None:
    assert recorded == bytes(Bitmap(values)).hex()
    assert Bitmap(values) == Bitmap.from_bytes(bytes.fromhex(recorded))


@settings(max_examples=15, database=None, deadline=None)
@given(SETS, SETS)
def test_bitmaps_are_sets(one: set[int], two: set[int]) -> None:
    for operation in (and_, or_, xor, sub):
        expected = operation(one, two)
        result = operation(Bitmap(one), Bitmap(two))
        assert (expected, len(expected)) == (set(result), len(result))
        assert (Bitmap(expected), bytes(Bitmap(expected))) == (result, bytes(result))
        assert result == Bitmap.from_bytes(bytes(result)) == pickle.loads(pickle.dumps(result))
    bitmap = Bitmap(one)
    assert sorted(one, key=lambda value: value & 0xFFFFFFFF) == list(bitmap)
    assert all(value in bitmap for value in one)


@settings(max_examples=50, database=None, deadline=None)
@given(SETS, st.integers(0, 60), st.binary(min_size=1, max_size=4))
def test_changed_bytes_are_refused_or_another_bitmap(
    values: set[int], place: int, noise: bytes
) -> None:
    data = bytes(Bitmap(values))
    codes: set[str | None] = set()
    changed = data[:place] + noise + data[place + len(noise) :]
    for candidate in (changed, data[: place + 1]):
        try:
            bitmap = Bitmap.from_bytes(candidate)
        except SchemaError as error:
            codes.add(error.code)
        else:
            assert bitmap == Bitmap(bitmap)
    assert codes <= {"invalid-data"}


def test_few_bytes_of_many_values_are_copied_fast() -> None:
    count = 2000
    heads = b"".join(key.to_bytes(2, "little") + b"\xfe\xff" for key in range(count))
    first = 4 + (count + 7) // 8 + 8 * count
    places = b"".join((first + 6 * key).to_bytes(4, "little") for key in range(count))
    start = (12347).to_bytes(2, "little") + (count - 1).to_bytes(2, "little")
    data = start + b"\xff" * (count // 8) + heads + places + b"\1\0\1\0\xfe\xff" * count
    started = time.process_time()

    bitmap = Bitmap.from_bytes(data)

    assert (count * 65535, data) == (len(bitmap), bytes(bitmap))
    assert time.process_time() - started < 5


@pytest.mark.parametrize("value", [1 << 31, "1", True, None])
def test_values_are_32_bit_integers(value: object) -> None:
    with pytest.raises(SchemaError, match="32-bit integers") as caught:
        Bitmap([value])  # type: ignore[list-item]
    assert "invalid-function-call" == caught.value.code
