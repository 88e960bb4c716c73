"""Lifting: columns of lateral projections that compute the values of `Let` once a row.

A value is computed below the expressions that use it, ``FROM t AS t JOIN LATERAL (SELECT value AS
the_let_1) AS the_let_1_of``. Spark's optimizer makes a plain projection of it, and the aliases of
FROM stay in scope. A `Projection` is one place in a FROM clause; a `Lifting` holds the projections
that the expressions of one clause may use.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field
from itertools import count, islice

from schema_core.base.lazy_dataclass import dataclass
from schema_core.spark.compiler.tree import Aggregate, Column, Fact, Node, UserSql, children

#: Which values may be lifted from a place: none, and what is used twice becomes a lambda (within
#: lambdas); none, and it is repeated (above an aggregation); those that cannot fail (in a branch
#: of a conditional); or all.
NEVER, REPEATED, IF_TOTAL, ALWAYS = 0, 1, 2, 3

#: Prefixes of generated names, which no alias is likely to have: values of `Let`, and aggregates
#: that a query below computes.
LIFTED, AGGREGATED = "the_let_", "the_aggregate_"

#: At most so many columns are lifted to one place.
MAX_LIFTED = 200


@dataclass(slots=True)
class Projection:
    """Values that are computed at one place of a FROM clause; equal ones share a column.

    `relations` are the aliases that can be read there (None is one: of the query itself); if it
    is None, expressions read no others. `offered` are those that subqueries can read there.
    `names` numbers the columns of all projections of a FROM clause.
    """

    relations: frozenset[str | None] | None = None
    names: Iterator[int] = field(default_factory=lambda: count(1))
    prefix: str = LIFTED
    columns: dict[str, str] = field(default_factory=dict)
    raises: bool = False
    offered: frozenset[str] = frozenset()

    def column(self, value: str, *, raises: bool = False) -> str:
        """Return the name of the column that computes a value."""
        name = self.columns.get(value)
        if name is None:
            name = self.columns[value] = f"{self.prefix}{next(self.names)}"
            self.raises = self.raises or raises
        return name

    def forget(self, start: int) -> None:
        """Remove the columns from a position on."""
        for value in list(self.columns)[start:]:
            del self.columns[value]
        self.raises = False

    def quoted(self, start: int = 0) -> list[str]:
        """Return the names of the columns from a position on, quoted."""
        return [f"`{name}`" for name in islice(self.columns.values(), start, None)]

    def laterals(self, start: int = 0, stop: int | None = None) -> str:
        """Return the joins to add to a FROM clause; each value can read those before it."""
        return "".join(
            f" JOIN LATERAL (SELECT {value} AS `{name}`) AS `{name}_of`"
            for value, name in islice(self.columns.items(), start, stop)
        )


@dataclass(slots=True)
class Lifting:
    """What may be lifted from the expressions of a clause, and to which projections.

    `mode` applies to the expressions, `in_aggregates` to the arguments of their aggregates, which
    are computed below GROUP BY. `outer` are projections of the enclosing query, which are computed
    for rows that the query itself does not have, and which cannot read the aliases of the query
    itself, `hiding` those of the enclosing one. With `aggregates` a query `below` computes the
    aggregates, those with OVER if `windows`, else those without. `missed` is set if a value that
    is used twice could not be lifted above an aggregation.
    """

    mode: int = ALWAYS
    in_aggregates: int = ALWAYS
    own: tuple[Projection, ...] = field(default_factory=lambda: (Projection(),))
    outer: tuple[Projection, ...] = ()
    aggregates: Projection | None = None
    windows: bool = False
    below: Lifting | None = None
    missed: bool = False
    hiding: frozenset[str] = frozenset()

    def place_of(
        self, value: Node, facts: int, mode: int, values: Mapping[Node, Node]
    ) -> Projection | None:
        """Return the projection to which a value may be lifted.

        `facts` include those of the variables that the value reads, and `values` are their values.
        """
        if mode < IF_TOTAL or facts & Fact.RANDOM:
            return None
        if facts & Fact.AGGREGATE and self.aggregates is None:
            return None
        is_total = not facts & Fact.RAISES
        for place in self.own if mode == ALWAYS or is_total else ():
            if self._covers(place, value, values):
                return place
        if self.outer and is_total:
            read = relations_read(value, values)
            for place in self.outer:
                is_free = len(place.columns) < MAX_LIFTED
                if is_free and read and read <= place.offered - self.hiding:
                    return place
        return None

    def _covers(self, place: Projection, value: Node, values: Mapping[Node, Node]) -> bool:
        if len(place.columns) >= MAX_LIFTED:
            return False
        if place.relations is None:
            return True
        read = relations_read(value, values)
        # A constant could be lifted to any place, also to one that others do not see.
        return bool(read) and read <= place.relations

    def capturing(self, *, windowed: bool) -> Lifting | None:
        """Return the lifting whose query below computes an aggregate, with or without OVER."""
        one: Lifting | None = self
        while one is not None and (one.aggregates is None or one.windows != windowed):
            one = one.below
        return one


def relations_read(value: Node, values: Mapping[Node, Node]) -> frozenset[str | None]:
    """Return the aliases of the columns that a value reads.

    An aggregate is a column of the query below, without an alias; an empty alias is not known.
    """
    found: set[str | None] = set()
    rest = [value]
    while rest:
        node = rest.pop()
        if isinstance(node, Column):
            found.add(node.relation)
        elif isinstance(node, UserSql) and not children(node):
            found.add("")  # SQL of a user's function, its arguments included
        elif isinstance(node, Aggregate):
            found.add(None)
        elif node in values:
            rest.append(values[node])
        else:
            rest += children(node)
    return frozenset(found)
