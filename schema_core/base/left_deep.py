"""Nodes of left-deep trees: compared, hashed, printed and pickled without recursion.

In ``a OR b OR c ...`` each of thousands of operands is the first argument of the next. The methods
of ``dataclasses`` recurse, and fail at 250 operands.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from functools import cache
from itertools import zip_longest
from typing import Any, ClassVar

from schema_core.base.lazy import NamedTuple


class LeftDeepNode:
    """Base class of nodes whose first argument may be such a node.

    Subclasses are dataclasses with a field `arguments`, declared with ``eq=False`` and
    ``repr=False``.
    """

    __slots__ = ()
    __dataclass_fields__: ClassVar[dict[str, Any]]

    arguments: tuple[Any, ...]

    def left_spine(self) -> Iterator[LeftDeepNode]:
        """Yield this node, its first argument, the first argument of that, and so on."""
        node: object = self
        while isinstance(node, LeftDeepNode):
            yield node
            node = node.arguments[0] if node.arguments else None

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, LeftDeepNode):
            return NotImplemented
        for first, two in zip_longest(self.left_spine(), other.left_spine()):
            if first is two:
                return True
            if first is None or two is None or compared_values(first) != compared_values(two):
                return False
        return True

    def __hash__(self) -> int:
        return hash(tuple(map(compared_values, self.left_spine())))

    def __repr__(self) -> str:
        spine = list(self.left_spine())
        before, after = zip(*map(_split_repr, spine[:-1]), strict=True) if spine[1:] else ((), ())
        kind: Any = type(spine[-1])
        values = (f"{name}={getattr(spine[-1], name)!r}" for name in _names_of(kind).printed)
        leaf = f"{kind.__qualname__}({', '.join(values)})"
        return "".join([*before, leaf, *reversed(after)])

    def __reduce__(self) -> tuple[Any, ...]:
        return from_left_spine, ([parts(node) for node in self.left_spine()],)


#: A class, the values of its fields, and whether the spine continues.
Parts = tuple[type[Any], dict[str, Any], bool]


class FieldNames(NamedTuple):
    """The field names of a constructor, of equality (without `arguments`), and of `repr`."""

    every: tuple[str, ...]
    compared: tuple[str, ...]
    printed: tuple[str, ...]


@cache
def _names_of(kind: Any) -> FieldNames:
    every = fields(kind)
    return FieldNames(
        tuple(field.name for field in every if field.init),
        tuple(field.name for field in every if field.compare and field.name != "arguments"),
        tuple(field.name for field in every if field.repr),
    )


def _continues(node: LeftDeepNode) -> bool:
    return bool(node.arguments) and isinstance(node.arguments[0], LeftDeepNode)


def parts(node: LeftDeepNode) -> Parts:
    """Return the fields of a node, apart from the left spine below it."""
    continues = _continues(node)
    kind: Any = type(node)
    values = {name: getattr(node, name) for name in _names_of(kind).every}
    return kind, {**values, "arguments": node.arguments[continues:]}, continues


def compared_values(node: LeftDeepNode) -> tuple[object, ...]:
    """Return the compared values of a node, apart from the left spine below it."""
    kind: Any = type(node)
    continues = _continues(node)
    values = [getattr(node, name) for name in _names_of(kind).compared]
    return kind, continues, node.arguments[continues:], *values


def _split_repr(node: LeftDeepNode) -> tuple[str, str]:
    kind: Any = type(node)
    names = _names_of(kind).printed
    place = names.index("arguments")
    first, last = (
        [f"{name}={getattr(node, name)!r}" for name in some]
        for some in (names[:place], names[place + 1 :])
    )
    rest = "".join(f", {argument!r}" for argument in node.arguments[1:]) or ","
    before = ", ".join([*first, "arguments=("])
    return f"{type(node).__qualname__}({before}", f"{', '.join([f'{rest})', *last])})"


def from_left_spine(spine: list[Parts]) -> object:
    """Build a node from the nodes of its left spine, outermost first."""
    node: object = None
    for kind, values, continues in reversed(spine):
        first = (node,) if continues else ()
        node = kind(**{**values, "arguments": (*first, *values["arguments"])})
    return node
