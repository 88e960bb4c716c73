"""Joins as of a rowtime in Spark SQL: a window over the rows of both sides.

The rows of both sides are sorted by the keys and the rowtime, and each row of the left side gets
the last version before it: decision 44 compares this with other forms.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import count
from typing import Protocol

from schema_core import types
from schema_core.expressions.typed import Ref, Typed
from schema_core.query import relation as relational
from schema_core.query.temporal_joins import Retained, TemporalJoin, named_sources
from schema_core.spark.compiler import tree
from schema_core.spark.compiler.functions import datetimes
from schema_core.spark.compiler.functions.casts import convert
from schema_core.spark.compiler.template import inline, sql
from schema_core.spark.compiler.translation import PREFIX, require_orderable
from schema_core.spark.compiler.tree import (
    FromProjections,
    Lifting,
    Node,
    Projection,
    quote,
    to_sql,
)
from schema_core.sql.syntax import JoinKind
from schema_core.types import RowKind
from schema_core.types.common import common_type

#: Columns of the rows of both sides: rowtime, order of arrival, whether of the left side, version.
TIME, ARRIVAL, IS_LEFT, VERSION = (
    f"`{PREFIX}{name}`" for name in ("time", "arrival", "is_left", "version")
)
#: Later than each version that arrives.
AFTER_VERSIONS = "9223372036854775807L"


class SourceCompiler(Protocol):
    """What this module uses of the compiler of queries."""

    @property
    def zone(self) -> str: ...
    @property
    def depth(self) -> int: ...
    @property
    def around(self) -> tuple[Projection, ...]: ...

    def compile(self, expression: Typed) -> Node: ...

    def source_of(self, relation: relational.Relation, scope: FromProjections) -> str:
        """Return a source of FROM."""
        ...

    def joining(self, join: relational.Join) -> SourceCompiler:
        """Return the compiler of the expressions of a join."""
        ...


def write_temporal_join(
    compiler: SourceCompiler, join: relational.Join, temporal: TemporalJoin, scope: FromProjections
) -> str:
    """Return a join as of a rowtime as a source of FROM, with the aliases of both sides."""
    return _Writer(compiler, join, temporal, scope).write()


class _Writer:
    def __init__(
        self,
        compiler: SourceCompiler,
        join: relational.Join,
        temporal: TemporalJoin,
        scope: FromProjections,
    ) -> None:
        self.compiler = compiler
        self.join = join
        self.temporal = temporal
        self.scope = scope
        self.left = list(named_sources(join.left))
        self.keys = [f"`{PREFIX}key{place}`" for place in range(len(temporal.keys))]
        numbers = count()
        #: the columns of the left side's sources in the rows of both sides
        self.names = [
            [f"`{PREFIX}left{next(numbers)}`" for _ in named.columns] for named in self.left
        ]

    def write(self) -> str:
        keys = [self._common_keys(left, right) for left, right in self.temporal.keys]
        left = self._left_rows([operand for operand, _ in keys])
        rows = f"{left} UNION ALL {self._versions([operand for _, operand in keys])}"
        order = f"PARTITION BY {', '.join(self.keys)} ORDER BY {TIME}, {ARRIVAL}"
        kept = [IS_LEFT, *(name for names in self.names for name in names)]
        version = (
            f"last_value({VERSION}, TRUE) OVER ({order} ROWS BETWEEN UNBOUNDED PRECEDING AND"
            f" CURRENT ROW) AS {VERSION}"
        )
        is_inner = self.join.kind is JoinKind.INNER
        where = f" WHERE {IS_LEFT}{f' AND {VERSION} IS NOT NULL' if is_inner else ''}"
        joined = f"(SELECT {', '.join([*kept, version])} FROM ({rows}))"
        if self.temporal.retained is Retained.CHANGES:
            left_after = f"if({self._kind} = '{RowKind.DELETE}', NULL, {VERSION}) AS {VERSION}"
            joined = f"(SELECT {', '.join([*kept, left_after])} FROM {joined})"
        elif self._ends_versions:
            left_after = f"if({VERSION}.is_last, {VERSION}.version, NULL) AS {VERSION}"
            joined = f"(SELECT {', '.join([*kept, left_after])} FROM {joined})"
        joined = f"(SELECT * FROM {joined}{where})"
        if self.temporal.conditions:
            joined = self._select_versions(joined, kept)
        return self._with_aliases(joined)

    # --- both sides ----------------------------------------------------------------------------

    def _common_keys(self, left: Typed, right: Typed) -> tuple[tuple[Typed, types.DataType], ...]:
        """Return both operands of an equation with the type in which they are compared."""
        common = common_type([left.type.nullable(), right.type.nullable()])
        if common is None or _family(left.type) != _family(right.type):
            raise tree.unsupported_error(
                "a join FOR SYSTEM_TIME AS OF of keys with the types "
                f"{left.type.as_summary_string()} and {right.type.as_summary_string()} is not "
                "supported on Spark",
                hint="cast one of the keys to the type of the other",
            )
        require_orderable(common, "FOR SYSTEM_TIME AS OF")
        return (left, common), (right, common)

    def _left_rows(self, keys: Sequence[tuple[Typed, types.DataType]]) -> str:
        scope = FromProjections(self.compiler.depth)
        aliases = frozenset(named.alias for named in self.left)
        own = scope.projection(frozenset(aliases))
        lifting = Lifting(own=(own,), outer=self.compiler.around, hiding=aliases)
        columns = [
            *self._key_columns(keys, lifting, self.join),
            f"{self._time(self.temporal.time, lifting, fails=self.temporal.is_present)} AS {TIME}",
            f"{AFTER_VERSIONS} AS {ARRIVAL}",
            f"TRUE AS {IS_LEFT}",
            f"NULL AS {VERSION}",
        ]
        for named, names in zip(self.left, self.names, strict=True):
            columns += [
                f"{quote(named.alias)}.{quote(column.name)} AS {name}"
                for column, name in zip(named.columns, names, strict=True)
            ]
        source = self.compiler.source_of(self.join.left, scope)
        return f"SELECT {', '.join(columns)} FROM {source}{own.laterals()}"

    def _versions(self, keys: Sequence[tuple[Typed, types.DataType]]) -> str:
        """Return the versions in a struct of their columns, in the columns of `_left_rows`."""
        right = self.temporal.versions
        scope = FromProjections(self.compiler.depth)
        own = scope.projection(frozenset({right.alias}))
        lifting = Lifting(own=(own,), outer=self.compiler.around, hiding=frozenset({right.alias}))
        column = right.columns[self.temporal.rowtime]
        time = Ref(column.name, column.type, right.alias)
        is_grouped = self.temporal.retained is Retained.GROUPED
        fields = ", ".join(
            f"'{place}', {quote(right.alias)}.{quote(column.name)}"
            for place, column in enumerate(right.columns)
        )
        columns = [
            *self._key_columns(keys, lifting, replace(self.join, right=right)),
            f"{self._time(time, lifting, fails=not is_grouped)} AS {TIME}",
            f"monotonically_increasing_id() AS {ARRIVAL}",
            f"FALSE AS {IS_LEFT}",
            f"named_struct({fields}) AS {VERSION}",
        ]
        source = self.compiler.source_of(right, scope)
        rows = f"SELECT {', '.join(columns)} FROM {source}{own.laterals()}"
        if self.temporal.retained is Retained.CHANGES:  # Flink drops rows before updates
            kind = f"{quote(right.alias)}.{quote(right.columns[-1].name)}"
            rows += f" WHERE {kind} <> '{RowKind.UPDATE_BEFORE}'"
        rows = self._retained(rows)
        nulls = ", ".join(f"NULL AS {name}" for names in self.names for name in names)
        shown = [*self.keys, TIME, ARRIVAL, IS_LEFT, VERSION]
        return f"SELECT {', '.join(shown)}, {nulls} FROM ({rows})"

    @property
    def _ends_versions(self) -> bool:
        """Whether a version ends when the next row of its key arrives, whatever its rowtime."""
        is_derived = self.temporal.retained in (Retained.GROUPED, Retained.RANKED)
        return is_derived and self.temporal.filters > 0

    @property
    def _kind(self) -> str:
        """The kind of the change that a version is."""
        return f"{VERSION}.`{len(self.temporal.versions.columns) - 1}`"

    def _retained(self, rows: str) -> str:
        """Return the rows that are versions of a query which deduplicates its input."""
        by = ", ".join(f"{VERSION}.`{place}`" for place in self.temporal.key)
        width = len(self.temporal.versions.columns)
        filters = "".join(
            f" AND {VERSION}.`{place}`" for place in range(width - self.temporal.filters, width)
        )
        match self.temporal.retained:
            case Retained.ALL | Retained.CHANGES:
                return rows
            case Retained.GROUPED | Retained.RANKED:
                if not self._ends_versions:
                    return rows
                number = f"row_number() OVER (PARTITION BY {by} ORDER BY {ARRIVAL} DESC) = 1"
                shown = ", ".join([*self.keys, TIME, ARRIVAL, IS_LEFT])
                version = f"named_struct('version', {VERSION}, 'is_last', `{PREFIX}last`)"
                return (
                    f"SELECT {shown}, {version} AS {VERSION} FROM"
                    f" (SELECT *, {number} AS `{PREFIX}last` FROM ({rows})) WHERE TRUE{filters}"
                )
            case Retained.FIRST:
                number = f"row_number() OVER (PARTITION BY {by} ORDER BY {TIME}, {ARRIVAL})"
                return f"SELECT * FROM ({rows}) QUALIFY {number} = 1{filters}"
            case Retained.CURRENT:
                last = f"{TIME} DESC, {ARRIVAL} DESC"
                number = f"row_number() OVER (PARTITION BY {by} ORDER BY {last})"
                return f"SELECT * FROM ({rows}) QUALIFY {number} = 1{filters}"
            case Retained.LAST:
                before = (
                    f"max({TIME}) OVER (PARTITION BY {by} ORDER BY {ARRIVAL}"
                    " ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)"
                )
                return f"SELECT * FROM ({rows}) QUALIFY {TIME} >= {before}"

    def _key_columns(
        self,
        keys: Sequence[tuple[Typed, types.DataType]],
        lifting: Lifting,
        join: relational.Join,
    ) -> list[str]:
        compiler = self.compiler.joining(join)
        zone = self.compiler.zone
        nodes = (convert(compiler.compile(key), key.type, type_, zone) for key, type_ in keys)
        return [
            f"{to_sql(node, lifting)} AS {name}"
            for node, name in zip(nodes, self.keys, strict=True)
        ]

    def _time(self, time: Typed, lifting: Lifting, *, fails: bool) -> str:
        """Return a rowtime, which is not NULL in the rows of a table: Flink's watermark `fails`.

        It may be NULL if it is the result of an aggregate, or of an outer join.
        """
        node: Node = self.compiler.compile(time)
        if time.type.is_nullable and not fails:  # Flink reads 0 in place of NULL
            first = datetimes.of_millis(sql("0L"), time.type)
            node = inline("coalesce({v}, {first})", v=node, first=first)
        elif time.type.is_nullable:
            name = getattr(time, "name", "")
            problem = f"the rowtime {name!r} of a join FOR SYSTEM_TIME AS OF is NULL"
            node = inline("coalesce({v}, raise_error({problem}))", v=node, problem=problem)
        return to_sql(node, lifting)

    # --- the joined rows -----------------------------------------------------------------------

    def _select_versions(self, found: str, kept: Sequence[str]) -> str:
        """Return the rows with the versions that the other conditions select."""
        scope = FromProjections(self.compiler.depth)
        own = scope.projection()
        compiler = self.compiler.joining(self.join)
        lifting = Lifting(own=(own,), outer=self.compiler.around)
        condition = " AND ".join(
            f"({to_sql(compiler.compile(part), lifting)})" for part in self.temporal.conditions
        )
        source = f"{self._with_aliases(found)}{own.laterals()}"
        if self.join.kind is JoinKind.INNER:
            return f"(SELECT {', '.join([*kept, VERSION])} FROM {source} WHERE {condition})"
        selected = f"if({condition}, {VERSION}, NULL) AS {VERSION}"
        return f"(SELECT {', '.join([*kept, selected])} FROM {source})"

    def _with_aliases(self, found: str) -> str:
        """Return the rows as a source with the columns of each alias."""
        alias = quote(f"{PREFIX}as_of{next(self.scope.names)}")
        right = self.temporal.versions
        sources = [
            *((named, [f"{alias}.{name}" for name in names])
              for named, names in zip(self.left, self.names, strict=True)),
            (right, [f"{alias}.{VERSION}.`{place}`" for place in range(len(right.columns))]),
        ]  # fmt: skip
        laterals = []
        for named, values in sources:
            items = ", ".join(
                f"{value} AS {quote(column.name)}"
                for value, column in zip(values, named.columns, strict=True)
            )
            laterals.append(f" JOIN LATERAL (SELECT {items}) AS {quote(named.alias)}")
        return f"{found} AS {alias}{''.join(laterals)}"


def _family(type_: types.DataType) -> object:
    """Return what types have in common whose values compare without a cast that can fail."""
    match type_:
        case types.CharType() | types.VarCharType():
            return "string"
        case (
            types.TinyIntType() | types.SmallIntType() | types.IntType() | types.BigIntType()
            | types.DecimalType() | types.FloatType() | types.DoubleType()
        ):  # fmt: skip
            return "number"
        case _:
            return type(type_)
