"""What a table is made into, by PyFlink's method names: columns, rows, groups, joins, orders."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Generic, Self, TypeVar, cast

from schema_core.arguments import require_instance
from schema_core.environment import relational
from schema_core.environment.relational import Column, columns_of, expression_of
from schema_core.errors import SchemaError, similar
from schema_core.expressions.fluent import Expression
from schema_core.expressions.fluent_functions import col, selected_columns
from schema_core.sql.query_syntax import JoinKind, Query, Source
from schema_core.sql.syntax import Name

if TYPE_CHECKING:
    from typing import TypeAlias

    from schema_core.expressions.fluent import AliasedExpression, SortedExpression
    from schema_core.expressions.fluent_functions import ColumnRange, ColumnSelection

    #: What a list of columns is made of.
    Item: TypeAlias = Expression | AliasedExpression | ColumnSelection | ColumnRange


class TableMethods(ABC):
    """The operations of a `Table` that give tables. None changes the table it is called on.

    Expressions are those of `schema_core.expressions.fluent`; they are typed by SQL's rules, and
    every mistake is a `SchemaCoreError` when the table is made, not when it is run.
    """

    @property
    @abstractmethod
    def query(self) -> Query:
        """The query as it is written, every table by its full path."""

    @abstractmethod
    def column_names(self) -> list[str]:
        """The names of the columns."""

    @abstractmethod
    def of_query(self, query: Query) -> Self:
        """The table of another query, in the same environment.

        Raises:
            SchemaCoreError: for a query that is not valid.
        """

    def __getattr__(self, name: str) -> Expression:
        """``table.a`` is the column ``a``, as in PyFlink."""
        if name.startswith("__") or "_schema" not in self.__dict__:
            raise AttributeError(name)
        if name not in self.column_names():
            hint = similar(name, self.column_names())
            raise AttributeError(
                f"the table has no column {name!r}" + (f"; {hint}" if hint else "")
            )
        return col(name)

    # --- columns -------------------------------------------------------------------------------

    def select(self, *fields: Item) -> Self:
        """These columns, which may be computed; of aggregates alone one row.

        What has no name is called as Flink calls it: ``_c0``, ``EXPR$0`` for an aggregate,
        ``r$x`` for a field.

        Raises:
            SchemaError: with code `duplicate-column`, `unknown-column`, `not-an-expression`.
        """
        return self.of_query(relational.select(self.query, columns_of(fields, self.column_names())))

    def alias(self, field: str, *fields: str) -> Self:
        """The columns under other names, from the first on.

        Raises:
            SchemaError: with code `alias-count-mismatch` for more names than columns.
        """
        known, new = self.column_names(), [field, *fields]
        for name in new:
            require_instance(name, str, "an alias")
        if len(new) > len(known):
            raise SchemaError(
                f"{len(new)} names for {len(known)} columns", code="alias-count-mismatch"
            )
        found = [*new, *known[len(new) :]]
        relational.require_different(found)
        columns = [Column(name, Name((old,))) for name, old in zip(found, known, strict=True)]
        return self.of_query(relational.select(self.query, columns))

    def add_columns(self, *fields: Item) -> Self:
        """All columns, and these behind them.

        Raises:
            SchemaError: with code `duplicate-column` for one that is there already.
        """
        every = relational.placed(self.column_names(), ())
        listed = [*(col(one.name) for one in every), *fields]
        return self.of_query(relational.select(self.query, columns_of(listed, self.column_names())))

    def add_or_replace_columns(self, *fields: Item) -> Self:
        """All columns, and these: in place of those of their names, else behind them."""
        known = self.column_names()
        listed = [*map(col, known), *fields]
        added: list[Column] = []
        for place, one in enumerate(listed[len(known) :]):
            tree = expression_of(one)
            names = getattr(one, "names", None)
            name = names[0] if names else relational.name_of(tree, len(known) + place, ())
            added.append(Column(name, tree))
        return self.of_query(relational.select(self.query, relational.placed(known, added)))

    def rename_columns(self, *fields: AliasedExpression) -> Self:
        """Columns under new names: ``col("old").alias("new")``.

        Raises:
            SchemaError: with code `unknown-column`, `duplicate-column`, `not-an-expression`.
        """
        return self.of_query(
            relational.select(self.query, relational.renamed(self.column_names(), fields))
        )

    def drop_columns(self, *fields: Item) -> Self:
        """All columns but these.

        Raises:
            SchemaError: with code `unknown-column`, or `missing-columns` where none is left.
        """
        known = self.column_names()
        dropped = {name for one in fields for name in selected_columns(one, known)}
        kept = [name for name in known if name not in dropped]
        relational.require_different(kept)
        columns = [Column(name, Name((name,))) for name in kept]
        return self.of_query(relational.select(self.query, columns))

    # --- rows ----------------------------------------------------------------------------------

    def filter(self, predicate: Expression) -> Self:
        """The rows for which the predicate is true.

        Raises:
            SchemaError: with code `not-a-condition` for a predicate that is no BOOLEAN.
        """
        return self.of_query(relational.where(self.query, expression_of(predicate)))

    def where(self, predicate: Expression) -> Self:
        """As `filter`."""
        return self.filter(predicate)

    def distinct(self) -> Self:
        """The rows, each once."""
        return self.of_query(relational.distinct(self.query))

    def group_by(self, *fields: Item) -> GroupedTable[Self]:
        """The groups of rows that are equal in these columns."""
        return GroupedTable(self, *relational.grouped(self.query, fields, self.column_names()))

    # --- several tables ------------------------------------------------------------------------

    def join(self, right: TableMethods, join_predicate: Expression | None = None) -> Self:
        """The pairs of rows for which the predicate is true; without one all pairs.

        Raises:
            SchemaError: with code `ambiguous-column` where both have a column of one name.
        """
        return self._join(right, JoinKind.INNER, join_predicate)

    def left_outer_join(
        self, right: TableMethods, join_predicate: Expression | None = None
    ) -> Self:
        """As `join`, and the rows of this table that have no partner, with NULL beside them."""
        return self._join(right, JoinKind.LEFT, join_predicate)

    def right_outer_join(self, right: TableMethods, join_predicate: Expression) -> Self:
        """As `join`, and the rows of the other table that have no partner."""
        return self._join(right, JoinKind.RIGHT, join_predicate)

    def full_outer_join(self, right: TableMethods, join_predicate: Expression) -> Self:
        """As `join`, and the rows of both tables that have no partner."""
        return self._join(right, JoinKind.FULL, join_predicate)

    def _join(self, right: TableMethods, kind: JoinKind, predicate: Expression | None) -> Self:
        other = _table(right)
        if both := sorted({*self.column_names()} & {*other.column_names()}):
            raise SchemaError(
                f"both tables have the columns {', '.join(both)}",
                code="ambiguous-column",
                hint="name those of one table otherwise: rename_columns(...)",
            )
        condition = None if predicate is None else expression_of(predicate)
        source = relational.source_of(other.query)
        return self.of_query(relational.joined(self.query, source, kind, condition))

    def join_lateral(
        self,
        table_function_call: Expression | AliasedExpression,
        join_predicate: Expression | None = None,
    ) -> Self:
        """Each row beside those that a table function gives for it."""
        return self._lateral(table_function_call, JoinKind.INNER, join_predicate)

    def left_outer_join_lateral(
        self,
        table_function_call: Expression | AliasedExpression,
        join_predicate: Expression | None = None,
    ) -> Self:
        """As `join_lateral`, and the rows for which the function gives none."""
        return self._lateral(table_function_call, JoinKind.LEFT, join_predicate)

    def _lateral(
        self, call: Expression | AliasedExpression, kind: JoinKind, predicate: Expression | None
    ) -> Self:
        condition = None if predicate is None else expression_of(predicate)
        source: Source = relational.called(call)
        return self.of_query(relational.joined(self.query, source, kind, condition))

    def union(self, right: TableMethods) -> Self:
        """The rows of both, each once; columns belong together by their places."""
        return self._combined("UNION", False, right)

    def union_all(self, right: TableMethods) -> Self:
        """The rows of both."""
        return self._combined("UNION", True, right)

    def intersect(self, right: TableMethods) -> Self:
        """The rows that are in both, each once."""
        return self._combined("INTERSECT", False, right)

    def intersect_all(self, right: TableMethods) -> Self:
        """The rows that are in both, as often as in both."""
        return self._combined("INTERSECT", True, right)

    def minus(self, right: TableMethods) -> Self:
        """The rows that are not in the other, each once."""
        return self._combined("EXCEPT", False, right)

    def minus_all(self, right: TableMethods) -> Self:
        """The rows, each as much less often as it is in the other."""
        return self._combined("EXCEPT", True, right)

    def _combined(self, operator: str, every: bool, right: TableMethods) -> Self:
        other = _table(right)
        return self.of_query(relational.combined(operator, every, self.query, other.query))

    # --- order ---------------------------------------------------------------------------------

    def order_by(self, *fields: Expression | SortedExpression) -> Self:
        """The rows in an order: ``col("a").desc``."""
        return self.of_query(relational.ordered(self.query, fields))

    def offset(self, offset: int) -> Self:
        """The rows without the first ones.

        Raises:
            SchemaError: with code `invalid-row-count` for a number below 0, or behind `fetch`.
        """
        return self.of_query(relational.limited(self.query, offset=offset))

    def fetch(self, fetch: int) -> Self:
        """Only so many rows, the first ones.

        Raises:
            SchemaError: with code `invalid-row-count` for a number below 0, or behind another
                `fetch`.
        """
        return self.of_query(relational.limited(self.query, fetch=fetch))

    def limit(self, fetch: int, offset: int = 0) -> Self:
        """Only so many rows, without the first ones."""
        require_instance(fetch, int, "fetch")
        require_instance(offset, int, "offset")
        limited = relational.limited(self.query, offset=offset or None, fetch=fetch)
        return self.of_query(limited)


Made = TypeVar("Made", bound=TableMethods)


class GroupedTable(Generic[Made]):
    """A table in groups: `select` says what is wanted of each."""

    def __init__(self, table: Made, query: Query, keys: Sequence[Column]) -> None:
        self._table = table
        self._query = query
        self._keys = keys

    def select(self, *fields: Item) -> Made:
        """A row for each group: its keys, and aggregates of its rows.

        Raises:
            SchemaError: with code `not-grouped` for what differs within a group.
        """
        columns = columns_of(fields, [one.name for one in self._keys])
        return self._table.of_query(relational.group(self._query, self._keys, columns))


def _table(given: object) -> TableMethods:
    require_instance(given, TableMethods, "right", "a Table")
    return cast("TableMethods", given)
