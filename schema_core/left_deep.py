"""Nodes of left-deep trees: compared, hashed, printed and pickled without recursion.

``a OR b OR c ...`` may have thousands of operands, each the first argument of the next
(left-deep tree).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from functools import cache
from itertools import zip_longest
from typing import Any, ClassVar, NamedTuple


class Chain:
    """Base class of nodes whose first argument may be such a node.

    Subclasses are dataclasses with a field `arguments` and without equality or representation of
    their own. Nodes are equal if all compared fields are equal.
    """

    __slots__ = ()
    __dataclass_fields__: ClassVar[dict[str, Any]]

    arguments: tuple[Any, ...]

    def links(self) -> Iterator[Chain]:
        """Yield this node, its first argument, the first argument of that, and so on."""
        node: object = self
        while isinstance(node, Chain):
            yield node
            node = node.arguments[0] if node.arguments else None

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Chain):
            return NotImplemented
        for one, two in zip_longest(self.links(), other.links()):
            if one is two:
                return True
            if one is None or two is None or compared(one) != compared(two):
                return False
        return True

    def __hash__(self) -> int:
        return hash(tuple(map(compared, self.links())))

    def __repr__(self) -> str:
        links = list(self.links())
        before, after = zip(*map(_around, links[:-1]), strict=True) if links[1:] else ((), ())
        return "".join([*before, _whole(links[-1]), *reversed(after)])

    def __reduce__(self) -> tuple[Any, ...]:
        return linked, ([parts(one) for one in self.links()],)


#: A class, the values of its fields without the chain, and whether the chain continues.
Parts = tuple[type[Any], dict[str, Any], bool]


class Names(NamedTuple):
    """The field names of a constructor, of equality (without the arguments), and of `repr`."""

    every: tuple[str, ...]
    compared: tuple[str, ...]
    printed: tuple[str, ...]


@cache
def _names_of(kind: Any) -> Names:
    every = fields(kind)
    return Names(
        tuple(one.name for one in every if one.init),
        tuple(one.name for one in every if one.compare and one.name != "arguments"),
        tuple(one.name for one in every if one.repr),
    )


def _goes_on(node: Chain) -> bool:
    return bool(node.arguments) and isinstance(node.arguments[0], Chain)


def parts(node: Chain) -> Parts:
    """Return the fields of a node, apart from the chain below it."""
    goes_on = _goes_on(node)
    kind: Any = type(node)
    values = {name: getattr(node, name) for name in _names_of(kind).every}
    return kind, {**values, "arguments": node.arguments[goes_on:]}, goes_on


def compared(node: Chain) -> tuple[object, ...]:
    """Return the compared values of a node, apart from the chain below it."""
    kind: Any = type(node)
    goes_on = _goes_on(node)
    values = [getattr(node, name) for name in _names_of(kind).compared]
    return kind, goes_on, node.arguments[goes_on:], *values


def _whole(node: Chain) -> str:
    """Return the `repr` of a node whose first argument is not a chain."""
    kind: Any = type(node)
    values = (f"{name}={getattr(node, name)!r}" for name in _names_of(kind).printed)
    return f"{type(node).__qualname__}({', '.join(values)})"


def _around(node: Chain) -> tuple[str, str]:
    """Return the parts of the `repr` of a node before and after its first argument."""
    kind: Any = type(node)
    names = _names_of(kind).printed
    place = names.index("arguments")
    first, last = (
        [f"{name}={getattr(node, name)!r}" for name in some]
        for some in (names[:place], names[place + 1 :])
    )
    rest = "".join(f", {one!r}" for one in node.arguments[1:]) or ","
    before = ", ".join([*first, "arguments=("])
    return f"{type(node).__qualname__}({before}", f"{', '.join([f'{rest})', *last])})"


def linked(links: list[Parts]) -> object:
    """Build a node from its links, outermost first."""
    node: object = None
    for kind, values, goes_on in reversed(links):
        first = (node,) if goes_on else ()
        node = kind(**{**values, "arguments": (*first, *values["arguments"])})
    return node
