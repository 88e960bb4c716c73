"""The numbers of `java.util.Random`, for RAND and RAND_INTEGER with a seed."""

from __future__ import annotations

from schema_core.spark.compiler.udfs import UdfError

#: A state of 48 bits is followed by its product with the multiplier, plus the increment.
_MULTIPLIER, _INCREMENT, _MASK = 0x5DEECE66D, 0xB, 2**48 - 1


class _Random:
    """A generator whose first `steps` states are skipped."""

    def __init__(self, seed: int, steps: int) -> None:
        self.state = (seed ^ _MULTIPLIER) & _MASK
        multiplier, increment = _MULTIPLIER, _INCREMENT
        while steps:
            if steps & 1:
                self.state = (self.state * multiplier + increment) & _MASK
            increment = (multiplier * increment + increment) & _MASK
            multiplier = multiplier * multiplier & _MASK
            steps >>= 1

    def next(self, bits: int) -> int:
        self.state = (self.state * _MULTIPLIER + _INCREMENT) & _MASK
        return self.state >> (48 - bits)


def random_double(seed: int | None, place: int) -> float | None:
    """Return the double at a place of the numbers of a seed.

    >>> random_double(1, 0), random_double(7, 2)
    (0.7308781907032909, 0.34830970303125697)
    """
    if seed is None:
        return None
    random = _Random(seed, 2 * place)
    return float(((random.next(26) << 27) + random.next(27)) * 2**-53)


def random_integer(seed: int | None, bound: int | None, place: int) -> int | None:
    """Return the integer below a bound at a place of the numbers of a seed.

    Java draws again where a number would prefer small results, once in billions of draws; the
    places after it are not shifted.

    >>> [random_integer(7, 1000, place) for place in range(3)]
    [236, 164, 485]
    """
    if seed is None or bound is None:
        return None
    if bound <= 0:
        raise UdfError("RAND_INTEGER: the bound must be positive")
    random = _Random(seed, place)
    if bound & -bound == bound:
        return bound * random.next(31) >> 31
    while (drawn := random.next(31)) - drawn % bound + bound - 1 >= 2**31:
        pass
    return drawn % bound
