"""Nodes of trees that lean to the left: compared, hashed and pickled without recursion.

``a OR b OR c ...`` may have thousands of operands, each the first argument of the next.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from itertools import zip_longest
from typing import Any, ClassVar


class Chain:
    """A node of a tree whose first argument may be such a node again.

    For dataclasses with a field `arguments` and no equality of their own. Nodes are equal that are
    equal in all fields that are compared.
    """

    __slots__ = ()
    __dataclass_fields__: ClassVar[dict[str, Any]]

    arguments: tuple[Any, ...]

    def links(self) -> Iterator[Chain]:
        """This node, the one that is its first argument, and so on."""
        node: object = self
        while isinstance(node, Chain):
            yield node
            node = node.arguments[0] if node.arguments else None

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Chain):
            return NotImplemented
        pairs = zip_longest(map(compared, self.links()), map(compared, other.links()))
        return all(one == two for one, two in pairs)

    def __hash__(self) -> int:
        return hash(tuple(map(compared, self.links())))

    def __reduce__(self) -> tuple[Any, ...]:
        return linked, ([parts(one) for one in self.links()],)


#: A class, the values of its fields without the chain, and whether there is one.
Parts = tuple[type[Any], dict[str, Any], bool]


def parts(node: Chain) -> Parts:
    """What a node is made of, apart from the chain below it."""
    goes_on = bool(node.arguments) and isinstance(node.arguments[0], Chain)
    values = {one.name: getattr(node, one.name) for one in fields(node)}
    return type(node), {**values, "arguments": node.arguments[goes_on:]}, goes_on


def compared(node: Chain) -> tuple[object, ...]:
    """What distinguishes a node, apart from the chain below it."""
    kind, values, goes_on = parts(node)
    return kind, goes_on, *(values[one.name] for one in fields(node) if one.compare)


def linked(links: list[Parts]) -> object:
    """The node of these links, from the outermost to the innermost."""
    node: object = None
    for kind, values, goes_on in reversed(links):
        first = (node,) if goes_on else ()
        node = kind(**{**values, "arguments": (*first, *values["arguments"])})
    return node
