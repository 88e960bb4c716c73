"""Writes a resolved query as Spark SQL over named inputs, every column in its exact type.

Each relation becomes a query in parentheses; Spark's optimizer flattens them. What Spark would
run with another meaning is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from functools import partial
from typing import TypeAlias, TypeGuard, assert_never, cast

from schema_core import types
from schema_core.base.lazy import dataclass
from schema_core.errors import UnsupportedError
from schema_core.expressions import typed
from schema_core.expressions.typed import Constant, FunctionCall, Ref, Typed
from schema_core.query import relation as relational
from schema_core.query.from_clause import OPTIONS, hinted_sources
from schema_core.query.lookup_joins import at_processing_time
from schema_core.query.relation import Relation, Select
from schema_core.query.scope import OF_GROUPING
from schema_core.query.temporal_joins import invalid_join, require_uncorrelated, temporal_join
from schema_core.spark.compiler import tree, windows
from schema_core.spark.compiler.absent_items import (
    Absent,
    absent_columns,
    inlined_query,
    item_keys,
    item_type,
    stored_value,
)
from schema_core.spark.compiler.expression import (
    TranslationContext,
    compile_expression,
    compile_stored,
    from_physical,
    has_stored_form,
    sort_key,
    to_physical,
    user_call,
)
from schema_core.spark.compiler.functions.aggregates import (
    UNDEFINED,
    as_returned,
    grouping,
    set_number,
)
from schema_core.spark.compiler.functions.casts import convert
from schema_core.spark.compiler.functions.datetimes import clock_millis
from schema_core.spark.compiler.template import inline
from schema_core.spark.compiler.temporal_joins import write_temporal_join
from schema_core.spark.compiler.translation import (
    Bounds,
    TranslatedCall,
    is_orderable,
    require_orderable,
    sql_type,
)
from schema_core.spark.compiler.tree import Lifting, Node, Projection, call, quote, to_sql
from schema_core.spark.compiler.vector_search import write_vector_search
from schema_core.sql.syntax import JoinKind

#: Hints of several errors.
GROUP_IN_DERIVED_TABLE = "group in a derived table, and use the subquery over that"
QUALIFY_DERIVED_TABLE = "use QUALIFY over a derived table"
USE_ANOTHER_ENGINE = "run the query on an engine that supports it"

#: Compiles a call of a user's function.
UserCall: TypeAlias = "Callable[[TranslatedCall], Node]"

#: The column of UNNEST and of windows.
ELEMENT = "the_element"
#: The column of a collection that is computed before its elements.
COLLECTION = "the_collection"
#: The suffix of Spark's functions that return a row of NULL for an empty collection.
OUTER = "_outer"
#: Columns of the rows of SESSION: time, whether a session begins, and its number.
TIME, BEGINS, NUMBER = "`the_time`", "`the_beginning`", "`the_session`"

#: Returns the query of a relation that Spark SQL lacks; None if it is not supported.
WriteOperator: TypeAlias = "Callable[[QueryCompiler, Relation], str | None]"

#: Typed sources that Spark SQL lacks -> their syntax.
NOT_RUN: dict[type, str] = {
    relational.ProcessTable: "a process table function",
    relational.Match: "MATCH_RECOGNIZE",
}

#: Hints of Flink that mean the same to Spark.
JOIN_HINTS = frozenset({"BROADCAST", "SHUFFLE_HASH", "SHUFFLE_MERGE"})

#: A comma is an inner join: only for these Spark prunes partitions and adds runtime filters.
JOINS: dict[JoinKind, str] = {
    JoinKind.COMMA: "INNER JOIN",
    JoinKind.CROSS: "CROSS JOIN",
    JoinKind.INNER: "INNER JOIN",
    JoinKind.LEFT: "LEFT JOIN",
    JoinKind.RIGHT: "RIGHT JOIN",
    JoinKind.FULL: "FULL JOIN",
}


def query_text(  # noqa: PLR0913 - one argument for each part that the caller replaces
    relation: Relation,
    source: Callable[[relational.Scan], str],
    zone: str = "UTC",
    *,
    targets: Sequence[relational.Column] | None = None,
    user: UserCall = user_call,
    rows: UserCall | None = None,
    database: str | None = None,
    staged: Callable[[Relation, str], str] | None = None,
    operator: WriteOperator | None = None,
    nanoseconds: bool = False,
) -> str:
    """Return the Spark SQL of a query whose columns have the types and names of the result.

    `source` returns the input of a scan, a view or a query in parentheses, with all columns of the
    table in order. `targets` are the columns of a sink or result, in order. `user` writes a call of
    a user's function, `rows` the array of the rows of a table function; `staged` replaces the text
    of a relation; `operator` writes relations that Spark SQL lacks. With `nanoseconds` timestamps
    that Spark does not store are structs of microseconds and nanoseconds; otherwise a value with
    nanoseconds fails the job.

    Raises:
        UnsupportedError: `not-executable` for what Spark cannot run as Flink does.
    """
    compiler = QueryCompiler(
        source, zone, user, rows, database=database, staged=staged, operator=operator
    )
    compiler = replace(compiler, result=result_items(relation))
    results = relational.result_columns(relation)
    nodes: list[Node] = [tree.Column(column.name) for column in results]
    if any(call.function.name in UNDEFINED for call in relational.calls_in(relation)):
        nodes = [
            as_returned(node, column.type, column.name)
            for node, column in zip(nodes, results, strict=True)
        ]

    def stored(node: Node, column: relational.Column) -> Node:
        return to_physical(node, column.type, column.name, nanoseconds=nanoseconds)

    columns = [
        (stored(convert(node, column.type, target.type, zone), target), target.name)
        for node, column, target in zip(nodes, results, targets or results, strict=True)
    ]
    text = compiler.write(relation)
    is_stored = all(isinstance(node, tree.Column) and node.name == name for node, name in columns)
    if is_stored and names_in_text(relation) == [column.name for column in results]:
        return text
    return compiler.projection(columns, f"({text}) AS {_alias_of(relation, 'result', results)}")


def result_items(relation: Relation) -> tuple[relational.Item, ...] | None:
    """Return the items of a query that are computed of each row; None if it groups rows."""
    while isinstance(relation, relational.With | relational.Sort):
        relation = relation.input
    if not isinstance(relation, Select) or relation.grouping or relation.qualify is not None:
        return None
    parts = (part for item in relation.items for part in relational.subexpressions(item.expression))
    return None if any(map(typed.is_windowed, parts)) else relation.items


#: Characters of one query; Spark would plan a longer one for minutes.
MAX_QUERY = 2_000_000


def _require_length(text: str) -> str:
    if len(text) > MAX_QUERY:
        raise tree.unsupported_error(
            "the query is too large to run, its views included",
            hint="write a part of it into a table, and read that",
        )
    return text


def has_maps(column_types: Iterable[types.DataType]) -> bool:
    """Return whether rows that are compared have maps; refuse those with VARIANTs."""
    checked = list(column_types)
    for type_ in checked:
        if any(isinstance(part, types.VariantType) for part in type_.walk()):
            require_orderable(type_, "DISTINCT")
    return not all(map(is_orderable, checked))


def _precedence(relation: Relation) -> bool | None:
    """Return whether a set operation is INTERSECT, which Spark evaluates before others."""
    if isinstance(relation, relational.SetOperation):
        return relation.operator == "INTERSECT"
    return None


def _is_plain(scan: relational.Scan) -> bool:
    return not any(has_stored_form(column.type) for column in scan.columns)


def _alias_all(columns: relational.Columns, alias: str = "result") -> str:
    return _alias(alias, [column.name for column in columns])


def names_in_text(relation: Relation) -> list[str] | None:
    """Return the column names of a relation as written; None if uncertain.

    Spark resolves fewer projections where an alias has no list of names.
    """
    while isinstance(relation, relational.With):
        relation = relation.input
    match relation:
        case relational.Scan() | relational.CommonScan() | Select():
            names = [column.name for column in relation.columns]
        case relational.Sort():
            names = relational.unique_names(column.name for column in relation.columns)
        case _:
            return None
    return names if len({name.lower() for name in names}) == len(names) else None


def _alias_of(relation: Relation, alias: str, columns: relational.Columns) -> str:
    """Return an alias for a relation, with column names if its own differ."""
    names = [column.name for column in columns]
    return quote(alias) if names_in_text(relation) == names else _alias(alias, names)


def _alias(alias: str, names: Iterable[str]) -> str:
    return f"{quote(alias)}({', '.join(map(quote, names))})"


@dataclass(frozen=True, slots=True)
class QueryCompiler:
    """Compiles relations to SQL: `source` names the input of a scan, `zone` is the session's.

    `correlated` is set within subqueries and lateral sources, whose expressions may read columns of
    the `depth`-th enclosing query; `around` are its usable projections. `absent` are the columns
    that are items, `inlined` is the query whose items keep their NULLs; see `absent_items`.
    """

    source: Callable[[relational.Scan], str]
    zone: str = "UTC"
    user: UserCall = user_call
    rows: UserCall | None = None
    correlated: bool = False
    depth: int = 0
    around: tuple[Projection, ...] = ()
    #: expressions that a query below has computed
    computed: Mapping[Typed, Node] = field(default_factory=dict)
    #: identities of the subqueries computed from the rows of a group
    in_group: frozenset[int] = frozenset()
    #: identities of the calls whose NULL has the effect of FALSE
    conditions: frozenset[int] = frozenset()
    #: the current database
    database: str | None = None
    #: how many digits decimals have
    bounds: Bounds = field(default_factory=Bounds)
    absent: Absent = field(default_factory=dict)
    is_result: bool = False
    inlined: Select | None = None
    #: the items of the block that returns the rows of the query, one for each row of its source
    result: tuple[relational.Item, ...] | None = None
    #: replaces the text of a relation, for steps that only frames have
    staged: Callable[[Relation, str], str] | None = None
    #: writes relations that Spark SQL lacks
    operator: WriteOperator | None = None
    #: the WITH clauses around this query, the outermost first
    clauses: tuple[str, ...] = ()

    def compile(self, expression: Typed) -> Node:
        return compile_expression(expression, self.context())

    def compile_stored(self, expression: Typed) -> Node:
        """Compile an expression whose value Flink stores in a row."""
        return compile_stored(expression, self.context())

    def context(self) -> TranslationContext:
        return TranslationContext(
            self.zone,
            subquery=self.subquery,
            user=self.user,
            computed=self.computed,
            conditions=self.conditions,
            database=self.database,
            bounds=self.bounds,
            absent=self.absent,
            is_result=self.is_result,
        )

    def sql(self, expression: Typed) -> str:
        return to_sql(self.compile(expression))

    def subquery(self, select: typed.Select) -> Node:
        query = tree.Subquery(f"({self.inner().write(relational.rows_of(select))})")
        return call("any_value", query) if id(select) in self.in_group else query

    def joining(self, join: relational.Join) -> QueryCompiler:
        """Return the compiler of the expressions of a join."""
        return replace(self, around=(), bounds=self.bounds.over(join))

    def inner(self) -> QueryCompiler:
        bounds = self.bounds.over(None)
        inner = replace(self, correlated=True, depth=self.depth + 1, computed={}, bounds=bounds)
        return replace(inner, absent={}, inlined=None, is_result=False)

    def projection(self, columns: Iterable[tuple[Node, str]], source: str) -> str:
        """Return a projection of a source in which no name is ambiguous."""
        own = Projection()
        lifting = Lifting(own=(own,))
        items = []
        for node, name in columns:
            if node.facts & tree.Fact.SUBQUERY_IN_LAMBDA:
                raise tree.unsupported_error(
                    "Spark does not support a subquery inside a collection conversion"
                )
            items.append(f"{to_sql(node, lifting)} AS {quote(name)}")
        return f"SELECT {', '.join(items)} FROM {source}{own.laterals()}"

    # --- queries -------------------------------------------------------------------------------

    def write(self, relation: Relation) -> str:
        """Return a relation as a query.

        Raises:
            UnsupportedError: `not-executable` beyond `MAX_QUERY` characters.
        """
        text = self.write_unchecked(relation)
        return _require_length(text if self.staged is None else self.staged(relation, text))

    def write_unchecked(self, relation: Relation) -> str:
        match relation:
            case relational.Scan():
                return self.scan(relation)
            case relational.CommonScan(name):
                return f"SELECT * FROM {quote(name)}"
            case relational.Named() | relational.Join():
                scope = tree.FromProjections(self.depth)
                text = self.source_of(relation, scope)
                lifted = ", ".join(scope.lifted())
                return f"SELECT *{lifted and f' EXCEPT ({lifted})'} FROM {text}"
            case Select():
                return self.select(relation)
            case relational.Values():
                return self.values(relation)
            case relational.SetOperation():
                return self.set_operation(relation)
            case relational.Sort():
                return self.sort(relation)
            case relational.With():
                return self.with_tables(relation)
            case relational.Unnest():
                return self.unnest(relation)
            case relational.WindowTable():
                return self.window_table(relation)
            case relational.Sample():
                percentage = self.sql(relation.percentage)
                rows = f"SELECT * FROM ({self.write(relation.input)})"
                return f"{rows} WHERE rand() * 100 < {percentage}"
            case relational.FunctionTable():
                return self.function_table(relation)
            case relational.Snapshot():
                raise invalid_join(
                    "FOR SYSTEM_TIME AS OF a column requires a join with the table",
                    "write JOIN or LEFT JOIN with the keys in ON",
                    relation,
                )
            case relational.VectorSearch():
                return write_vector_search(self, relation)
            case relational.ProcessTable() | relational.Match():
                return self.write_operator(relation)
            case _:
                assert_never(relation)

    def write_operator(self, relation: Relation) -> str:
        """Return a relation that Spark SQL lacks, as `operator` writes it."""
        text = None if self.operator is None else self.operator(self, relation)
        if text is None:
            raise tree.unsupported_error(
                f"{NOT_RUN[type(relation)]} is not supported on Spark",
                hint=USE_ANOTHER_ENGINE,
            )
        return text

    def standalone(self, relation: Relation) -> str:
        """Return a relation as a query outside of this one, with the common tables that it reads.

        Raises:
            UnsupportedError: `not-executable` if it reads columns of an enclosing query.
        """
        for column in relational.outer_columns(relation):
            raise _unsupported_column(
                column,
                f"the column {column.name!r} of an enclosing query cannot be read here on Spark",
                "compute the rows in a common table or a view without the column",
            )
        columns = relational.result_columns(relation)
        text = f"SELECT * FROM ({self.write(relation)}) AS {_alias_all(columns)}"
        for clause in reversed(self.clauses):
            text = f"{clause} SELECT * FROM ({text})"
        return text

    def table(self, relation: Relation) -> str:
        match relation:
            case relational.Scan() if _is_plain(relation):
                return self.source(relation)
            case relational.CommonScan(name):
                return quote(name)
            case _:
                return f"({self.write(relation)})"

    def scan(self, scan: relational.Scan) -> str:
        if _is_plain(scan):
            return f"SELECT * FROM {self.source(scan)}"
        columns = [
            (from_physical(tree.Column(column.name), column.type), column.name)
            for column in scan.columns
        ]
        return self.projection(columns, self.source(scan))

    def select(self, block: Select, hidden: Sequence[Typed] = ()) -> str:
        block = with_near_columns(block, hidden)
        require_near_columns(block, hidden)
        return Block(self, block, hidden, self.hints(block)).write()

    def hints(self, block: Select) -> str:
        """Return the hints of a block that Spark has; others cannot change a result."""
        if any(hint.name.upper() == OPTIONS for hint in block.hints):
            raise tree.unsupported_error(
                "OPTIONS after SELECT has no effect in Flink",
                hint="write the hint after the name of the table",
            )
        if not isinstance(block.source, relational.Join):
            return ""
        hints = [
            f"{hint.name.upper()}({', '.join(map(quote, hinted_sources(hint)))})"
            for hint in block.hints
            if hint.name.upper() in JOIN_HINTS
        ]
        return f"/*+ {', '.join(hints)} */ " if hints else ""

    def values(self, values: relational.Values) -> str:
        """Return rows of expressions, each in the type of its column.

        Constants become Spark's VALUES, evaluated at once. VALUES takes neither lambdas nor what
        may fail, so others are elements of an array.
        """
        nodes = [
            [
                convert(self.compile_stored(value), value.type, column.type.nullable(), self.zone)
                for value, column in zip(row, values.columns, strict=True)
            ]
            for row in values.rows
        ]
        if all(tree.is_constant(cell) for row in nodes for cell in row):
            tuples = (f"({', '.join(map(to_sql, row))})" for row in nodes)
            return f"SELECT * FROM VALUES {', '.join(tuples)} AS {_alias_all(values.columns, 'v')}"
        rows = [
            tree.named_struct((str(place), cell) for place, cell in enumerate(row)) for row in nodes
        ]
        own = Projection()
        lifting = Lifting(own=self.around if self.correlated else (own,))
        listed = f"SELECT {to_sql(call('inline', call('array', *rows)), lifting)}"
        if own.columns:
            listed = f"{listed} FROM (SELECT 1){own.laterals()}"
        return f"SELECT * FROM ({listed}) AS {_alias_all(values.columns, 'v')}"

    def set_operation(self, operation: relational.SetOperation) -> str:
        """Return both sides in the types of the result; a chain is written without recursion."""
        chain = [operation]
        while isinstance(chain[-1].left, relational.SetOperation):
            chain.append(chain[-1].left)
        inner = chain[-1].left
        text = f"({self.align_columns(inner, self.write(inner), chain[-1].columns)})"
        for step in reversed(chain):
            if step.left is not inner:
                aligned = self.align_columns(step.left, text, step.columns)
                continues = aligned is text and _precedence(step) == _precedence(step.left)
                text = aligned if continues else f"({aligned})"
            right = self.align_columns(step.right, self.write(step.right), step.columns)
            if not step.all and has_maps(column.type for column in step.columns):
                text = self.distinct_maps(step, text, right)
                continue
            if not (step.operator == "UNION" and step.all):
                for column in step.columns:
                    require_orderable(column.type, step.operator)
            word = f"{step.operator}{' ALL' if step.all else ''}"
            text = _require_length(f"{text} {word} ({right})")
        return text

    @staticmethod
    def distinct_maps(step: relational.SetOperation, left: str, right: str) -> str:
        """Return UNION of rows with maps, which Spark groups, but does not compare otherwise."""
        if step.operator != "UNION":
            for column in step.columns:
                require_orderable(column.type, step.operator)
        return _require_length(f"SELECT * FROM ({left} UNION ALL ({right})) GROUP BY ALL")

    def align_columns(self, relation: Relation, text: str, columns: relational.Columns) -> str:
        """Return a relation with its columns in other types, by position."""
        sides = zip(relation.columns, columns, strict=True)
        if all(first.type.nullable() == other.type.nullable() for first, other in sides):
            return text
        sources = relational.result_columns(relation)
        pairs = zip(sources, columns, strict=True)
        converted = [
            (
                convert(tree.Column(source.name), source.type, to.type.nullable(), self.zone),
                source.name,
            )
            for source, to in pairs
        ]
        return self.projection(converted, f"({text}) AS {_alias_all(sources, 'side')}")

    def sort(self, sort: relational.Sort) -> str:
        """Return ORDER BY, LIMIT and OFFSET over their query.

        A constant sorts nothing. A key that is not an output column becomes a hidden one below,
        because Spark finds only some of such keys.
        """
        keys = [key for key in sort.keys if not isinstance(key.expression, Constant)]
        for key in keys:
            require_orderable(key.expression.type, "ORDER BY")
        names = relational.unique_names(column.name for column in sort.columns)
        hidden = [key.expression for key in keys if not relational.is_output(key.expression)]
        hidden_names = [f"{SORT_KEY}{index}" for index in range(len(hidden))]
        distinct = isinstance(sort.input, Select) and sort.input.distinct and bool(hidden)
        inner = self.with_hidden(sort.input, names, hidden)
        shown = ", ".join(map(quote, names))
        alias = _alias("sorted", [*names, *hidden_names])
        if isinstance(sort.input, Select) and names_in_text(sort.input) == names:
            alias = quote("sorted")
        parts = [f"SELECT {shown} FROM ({inner}) AS {alias}"]
        if distinct:
            parts.append(f"GROUP BY {shown}")
        if keys:
            # Rows that DISTINCT merges have equal keys.
            hidden_keys: Iterator[Node] = (
                call("any_value", tree.Column(name)) if distinct else tree.Column(name)
                for name in hidden_names
            )
            nodes = [
                self.compile(key.expression)
                if relational.is_output(key.expression)
                else next(hidden_keys)
                for key in keys
            ]
            ordered = (to_sql(sort_key(node, key)) for node, key in zip(nodes, keys, strict=True))
            parts.append(f"ORDER BY {', '.join(ordered)}")
        if sort.fetch is not None:
            parts.append(f"LIMIT {sort.fetch}")
        if sort.offset is not None:
            parts.append(f"OFFSET {sort.offset}")
        return " ".join(parts)

    def with_hidden(self, query: Relation, names: Sequence[str], hidden: Sequence[Typed]) -> str:
        """Return a query with hidden columns, by which its rows are sorted.

        A block lists them itself, where they can read its sources, and leaves DISTINCT to the
        caller; any other query is wrapped.
        """
        if not hidden:
            return self.write(query)
        if isinstance(query, Select):
            return self.select(replace(query, distinct=False), hidden)
        columns = [
            *((tree.Column(name), name) for name in names),
            *((self.compile(key), f"{SORT_KEY}{place}") for place, key in enumerate(hidden)),
        ]
        return self.projection(columns, f"({self.write(query)}) AS {_alias('sorted', names)}")

    def with_tables(self, query: relational.With) -> str:
        if query.recursive:
            raise tree.unsupported_error(
                "WITH RECURSIVE is not supported on Spark",
                hint="write the levels as joins, or compute them in a program",
            )
        compiler, clause = self, "WITH"
        for table in query.tables:
            text = compiler.write(table.relation)
            separator = " " if clause == "WITH" else ", "
            clause += f"{separator}{_alias_all(table.columns, table.name)} AS ({text})"
            bounds = compiler.bounds.with_table(table)
            compiler = replace(compiler, bounds=bounds, clauses=(*self.clauses, clause))
        return f"{clause} {compiler.write(query.input)}"

    # --- sources -------------------------------------------------------------------------------

    def source_of(self, relation: Relation, scope: tree.FromProjections) -> str:
        """Return a source of FROM; values of ON are lifted to the inputs of the join."""
        match relation:
            case relational.Named(input, alias, columns, lateral):
                if lateral:
                    text = self.inner().write(input)
                    return f"LATERAL ({text}) AS {_alias_of(input, alias, columns)}"
                return f"{self.table(input)} AS {_alias_of(input, alias, columns)}"
            case relational.Join():
                return self.join(relation, scope)
            case _:
                return f"({self.write(relation)})"

    def join(self, join: relational.Join, scope: tree.FromProjections) -> str:
        if (temporal := temporal_join(join)) is not None:
            return write_temporal_join(self, join, temporal, scope)
        join = at_processing_time(join)
        is_lateral = isinstance(join.right, relational.Named) and join.right.lateral
        left, right = (
            scope.projection(frozenset(aliases_of(side))) for side in (join.left, join.right)
        )
        left.offered = frozenset(aliases_of(join.left))
        on = ""
        write_explode = relational.adds_elements(join)
        if join.condition is not None and not write_explode:
            own = (left,) if is_lateral else (left, right)
            hiding = frozenset(aliases_of(join))
            lifting = Lifting(own=own, outer=self.around, hiding=hiding)
            compiler = replace(
                self,
                around=(),
                conditions=conditions_of([join.condition], []),
                bounds=self.bounds.over(join),
            )
            items = item_keys(join.condition, {})
            computed = {item: compiler.compile_stored(item) for item in items}
            compiler = replace(compiler, computed=computed)
            on = f" ON {to_sql(compiler.compile(join.condition), lifting)}"
        compiler = replace(self, around=(left,)) if is_lateral else self
        if write_explode and isinstance(join.right, relational.Named):
            kind = "CROSS JOIN"
            other = compiler.elements(join.right, OUTER if join.kind is JoinKind.LEFT else "")
        else:
            kind = JOINS[join.kind]
            other = compiler.source_of(join.right, scope)
        other += right.laterals()
        if isinstance(join.right, relational.Join) or right.columns:
            other = f"({other})"
        word = "INNER JOIN" if on and kind == "CROSS JOIN" else kind
        return f"{self.source_of(join.left, scope)}{left.laterals()} {word} {other}{on}"

    def elements(self, named: relational.Named, suffix: str) -> str:
        """Return the rows of `adds_elements`; with `OUTER` one of NULL if there are none."""
        compiler, rows = self.inner(), named.input
        match rows:
            case relational.Unnest():
                text = compiler.unnest(rows, suffix)
            case relational.Values():
                text = compiler.values(rows)
            case _:
                text = compiler.function_table(cast("relational.FunctionTable", rows), suffix)
        return f"LATERAL ({text}) AS {_alias_of(rows, named.alias, named.columns)}"

    def unnest(self, unnest: relational.Unnest, suffix: str = "") -> str:
        type_ = unnest.collection.type
        for subquery in relational.subqueries_in(unnest.collection):
            if any(relational.outer_columns(relational.rows_of(subquery))):
                raise tree.unsupported_error(
                    "a subquery within UNNEST that reads columns of other tables is not supported "
                    "on Spark",
                    hint="compute the collection in a derived table",
                )
        collection, source = self.computed_first(self.compile(unnest.collection))
        element: Node = tree.Column(ELEMENT)
        fields = [element]
        match type_:
            case types.ArrayType():
                row = type_.element_type
                if isinstance(row, types.RowType):
                    fields = [tree.Field(element, part.name) for part in row.fields]
                    if row.is_nullable and not unnest.ordinality:
                        collection = inline("filter({v}, e -> e IS NOT NULL)", v=collection)
            case types.MapType():
                collection = call("map_entries", collection)
                fields = [tree.Field(element, "key"), tree.Field(element, "value")]
            case types.MultisetType():
                collection = inline(
                    "flatten(transform(map_entries({v}), e -> array_repeat(e.key, e.value)))",
                    v=collection,
                )
                if isinstance(type_.element_type, types.RowType):
                    fields = [tree.Field(element, part.name) for part in type_.element_type.fields]
            case _:
                raise tree.unsupported_error(
                    f"UNNEST of {type_.as_summary_string()} is not supported on Spark"
                )
        columns = list(map(to_sql, fields))
        if unnest.ordinality:
            columns.append("`the_place` + 1")
            names = f"`the_place`, {quote(ELEMENT)}"
            rows = self.write_explode(f"posexplode{suffix}", collection, names, source)
        else:
            rows = self.write_explode(f"explode{suffix}", collection, quote(ELEMENT), source)
        return f"SELECT {', '.join(columns)} FROM {rows}"

    def computed_first(self, collection: Node) -> tuple[Node, str]:
        """Return a column in place of a collection with a subquery, and the source that has it.

        Spark computes subqueries in a projection, but not in arguments of generators and of
        functions with lambdas. The source of other collections is empty.
        """
        if not collection.facts & tree.Fact.SUBQUERY:
            return collection, ""
        source = f"SELECT {self.collection(collection)} AS {quote(COLLECTION)}"
        return tree.Column(COLLECTION), source

    def write_explode(self, generator: str, collection: Node, names: str, source: str) -> str:
        if source:
            text = f"{generator}({to_sql(collection)})"
            return f"(SELECT {text} AS ({names}) FROM ({source})) AS e"
        return f"{generator}({self.collection(collection)}) AS e({names})"

    def function_table(self, table: relational.FunctionTable, suffix: str = "") -> str:
        apply = table.call
        if self.rows is None or not isinstance(apply, FunctionCall):
            raise tree.unsupported_error(
                "table functions are not supported here",
                hint=USE_ANOTHER_ENGINE,
            )
        arguments = tuple(self.compile(argument) for argument in apply.arguments)
        rows = self.rows(TranslatedCall(apply, arguments, self.zone))
        element = tree.Column(ELEMENT)
        fields: list[Node] = [element]
        if isinstance(apply.type, types.RowType):
            fields = [tree.Field(element, part.name) for part in apply.type.fields]
        columns = ", ".join(map(to_sql, fields))
        collection, source = self.computed_first(rows)
        write_explode = self.write_explode(f"explode{suffix}", collection, quote(ELEMENT), source)
        return f"SELECT {columns} FROM {write_explode}"

    def collection(self, collection: Node) -> str:
        """Return the argument of UNNEST, computed in the source that it reads.

        Spark passes plain columns to a lateral source, but not all expressions.
        """
        lifting = Lifting(own=self.around)
        text = to_sql(collection, lifting)
        if tree.is_simple(collection) or collection.facts & tree.Fact.SUBQUERY:
            return text
        place = lifting.place_of(collection, collection.facts, lifting.mode, {})
        return text if place is None else quote(place.column(text))

    # --- windows -------------------------------------------------------------------------------

    def window_table(self, table: relational.WindowTable) -> str:
        lengths = windows.lengths_of(table.function, table.sizes)
        time, type_ = tree.Column(table.time.name), table.time.type
        own = Projection()
        source = partial(self.window_rows, table, own)
        if table.function == "SESSION":
            millis = to_sql(clock_millis(time, type_, self.zone), Lifting(own=(own,)))
            rows = self.sessions(table, lengths[0], source(f"{millis} AS {TIME}"))
        else:
            arguments = (table.function, time, type_, lengths, self.zone)
            window = windows.spark_window(*arguments) or call(
                "explode", windows.windows_of(*arguments)
            )
            rows = source(f"{to_sql(window, Lifting(own=(own,)))} AS {quote(ELEMENT)}")
        bounds = [
            windows.bound_of(part, tree.Column(ELEMENT), type_, self.zone)
            for part in windows.BOUNDS
        ]
        names = [quote(column.name) for column in table.columns[-3:]]
        added = ", ".join(
            f"{to_sql(bound)} AS {name}" for bound, name in zip(bounds, names, strict=True)
        )
        dropped = ", ".join(map(quote, (ELEMENT, *own.columns.values())))
        return f"SELECT * EXCEPT ({dropped}), {added} FROM ({rows})"

    def window_rows(self, table: relational.WindowTable, own: Projection, item: str) -> str:
        return f"SELECT *, {item} FROM ({self.write(table.input)}){own.laterals()}"

    def sessions(self, table: relational.WindowTable, gap: int, rows: str) -> str:
        """Return rows with their sessions, which begin after a gap; `TIME` is in milliseconds."""
        keys = [quote(key.name) for key in table.partition_by]
        by = f"PARTITION BY {', '.join(keys)} " if keys else ""
        previous = f"lag({TIME}) OVER ({by}ORDER BY {TIME})"
        rows = (
            f"SELECT *, if({TIME} - {previous} <= {gap}, 0, 1) AS {BEGINS} FROM ({rows})"
            f" WHERE {TIME} IS NOT NULL"
        )
        rows = f"SELECT *, sum({BEGINS}) OVER ({by}ORDER BY {TIME}) AS {NUMBER} FROM ({rows})"
        over = f"OVER (PARTITION BY {', '.join([*keys, NUMBER])})"
        bounds = f"min({TIME}) {over}", f"max({TIME}) {over} + {gap}"
        start, end = (f"CAST(timestamp_millis({bound}) AS TIMESTAMP_NTZ)" for bound in bounds)
        window = f"named_struct('{windows.START}', {start}, '{windows.END}', {end})"
        dropped = f"{TIME}, {BEGINS}, {NUMBER}"
        return f"SELECT * EXCEPT ({dropped}), {window} AS {quote(ELEMENT)} FROM ({rows})"


# --- correlated subqueries ----------------------------------------------------------------------
# Flink's validator accepts a subquery that reads a column that is not grouped; planning it fails.


def with_near_columns(block: Select, hidden: Sequence[Typed]) -> Select:
    """Return a block that reads the columns of enclosing queries which its subqueries read.

    Spark reads only columns directly around a subquery. The block gets them from a further source
    of one row, which has the alias of the enclosing query's source.
    """
    own = relational.columns_of(block.source)
    expressions = (*relational.expressions_of(block), *hidden)
    subqueries = [
        relational.rows_of(query)
        for expression in expressions
        for query in relational.subqueries_in(expression)
    ]
    far = {
        column.relation
        for query in subqueries
        for column in _foreign(relational.outer_columns(query), own)
    } - {alias for alias, _ in own}
    columns = dict.fromkeys(
        column
        for expression in expressions
        for column in _foreign(relational.columns_read(expression), own)
        if column.relation in far
    )
    source = block.source
    for alias in sorted(filter(None, far)):
        items = [
            relational.Item(column.name, column) for column in columns if column.relation == alias
        ]
        row = Select(tuple(items))
        named = relational.Named(row, alias, row.columns)
        source = (
            named
            if source is None
            else relational.Join(
                source, named, JoinKind.CROSS, None, (*source.columns, *row.columns)
            )
        )
    return block if source is block.source else replace(block, source=source)


def require_near_columns(block: Select, hidden: Sequence[Typed]) -> None:
    """Refuse columns of enclosing queries where Spark cannot read them.

    Spark reads them only directly around a subquery, and in a grouped block only outside of its
    keys, items and aggregates.
    """
    own = relational.columns_of(block.source)
    expressions = (*relational.expressions_of(block), *hidden)
    inner = [
        relational.rows_of(query)
        for expression in expressions
        for query in relational.subqueries_in(expression)
    ]
    for query in (*inner, *_lateral(block.source)):
        for column in _foreign(relational.outer_columns(query), own):
            raise _unsupported_column(
                column,
                f"a subquery reads the column {column.name!r} of a query two levels above it",
                "join the inner tables in a derived table, or select the column in between",
            )
    for expression in _grouped_parts(block, hidden):
        for column in _foreign(relational.columns_read(expression), own):
            raise _unsupported_column(
                column,
                f"a subquery with groups or windows reads the column {column.name!r} of the"
                " enclosing query outside of WHERE",
                "use groups and windows in a derived table without the column",
            )


def _foreign(columns: Iterable[Ref], own: relational.Names) -> Iterator[Ref]:
    return (column for column in columns if not relational.is_own(column, own))


def _grouped_parts(block: Select, hidden: Sequence[Typed]) -> Iterator[Typed]:
    """Yield the expressions in which Spark reads only columns of own sources."""
    items = [*(item.expression for item in block.items), *hidden]
    conditions = [condition for condition in (block.having, block.qualify) if condition is not None]
    if block.grouping is not None:
        yield from (*items, *block.grouping.keys)
    for expression in (*items, *conditions):
        yield from (
            part
            for part in relational.subexpressions(expression)
            if relational.is_aggregate(part) or typed.is_windowed(part)
        )


def _lateral(source: Relation | None) -> Iterator[Relation]:
    rest = [source.left, source.right] if isinstance(source, relational.Join) else []
    while rest:
        match rest.pop():
            case relational.Join(left=left, right=right):
                rest += [left, right]
            case relational.Named(input=below, lateral=True):
                yield below
            case _:
                continue


def conditions_of(filters: Sequence[Typed], values: Sequence[Typed]) -> frozenset[int]:
    """Return the identities of the calls whose NULL has the effect of FALSE.

    They are conditions of clauses and CASE, and operands of AND, OR and NOT in these.
    """
    rest = list(filters)
    for expression in (*filters, *values):
        for part in relational.subexpressions(expression):
            if isinstance(part, FunctionCall) and part.function.name == "CASE":
                rest.extend(part.arguments[:-1:2])
    conditions = set()
    while rest:
        one = rest.pop()
        conditions.add(id(one))
        if isinstance(one, FunctionCall) and one.function.name in ("AND", "OR", "NOT"):
            rest.extend(one.arguments)
    return frozenset(conditions)


def grouped_subqueries(block: Select, hidden: Sequence[Typed]) -> frozenset[int]:
    """Return the identities of the subqueries that are computed from any row of a group.

    They read the keys only. Spark computes a subquery over groups only if it is not a value and
    reads no more than columns that are keys. Others are refused, as are columns that are neither
    grouped nor aggregated.
    """
    grouping = block.grouping
    if grouping is None:
        return frozenset()
    own, keys = relational.columns_of(block.source), frozenset(grouping.keys)
    plain = frozenset(key for key in keys if isinstance(key, Ref))
    subqueries = set()
    over_groups = [item.expression for item in block.items]
    over_groups += [*hidden, *([block.having] if block.having is not None else [])]
    for expression in over_groups:
        for query, is_value in relational.subqueries_of_group(expression, keys):
            if not _reads(query, own):
                continue
            if grouping.sets is not None:
                raise tree.unsupported_error(
                    "a correlated subquery over several grouping sets is not supported on Spark",
                    hint=GROUP_IN_DERIVED_TABLE,
                )
            _require_grouped(query, own, keys)
            if is_value:
                subqueries.add(id(query))
            elif _reads(query, own, plain):
                raise tree.unsupported_error(
                    "a subquery over groups reads an expression of GROUP BY that is not a column",
                    hint=GROUP_IN_DERIVED_TABLE,
                )
    if block.qualify is not None:
        for query, _ in relational.subqueries_of_group(block.qualify, keys):
            if _reads(query, own):
                problem = "a correlated subquery in QUALIFY over groups is not supported on Spark"
                raise tree.unsupported_error(problem, hint=QUALIFY_DERIVED_TABLE)
    return frozenset(subqueries)


def _reads(query: typed.Select, own: relational.Names, keys: Collection[Typed] = ()) -> list[Ref]:
    return [
        column for column in relational.columns_read(query, keys) if relational.is_own(column, own)
    ]


def _require_grouped(query: typed.Select, own: relational.Names, keys: Collection[Typed]) -> None:
    for column in _reads(query, own, keys):
        raise _unsupported_column(
            column,
            f"a subquery over groups reads the column {column.name!r}, which is neither grouped"
            " nor aggregated",
            "add the column to GROUP BY",
        )


def _unsupported_column(column: Ref, problem: str, hint: str) -> UnsupportedError:
    error = tree.unsupported_error(problem, hint=hint)
    error.span = column.span
    return error


# --- SELECT -------------------------------------------------------------------------------------
# A block is one query, with the values of `Let` in lateral projections, or several nested ones: a
# value that may fail is computed after WHERE, a value over aggregates after GROUP BY or OVER.


#: Prefixes of columns: keys that only ORDER BY reads, keys of a GROUP BY below.
SORT_KEY, GROUP_KEY = "the_sort_key_", "the_key_"
#: Function -> the group window that Spark computes.
GROUP_WINDOWS = {"$TUMBLE": "TUMBLE", "$HOP": "HOP", "$SESSION": "SESSION"}
#: The column of Spark's sessions.
SESSION = "session_window"
#: Prefix of the results of window functions that a query below computes.
WINDOWED = "the_window_"


def aliases_of(source: Relation | None) -> tuple[str, ...]:
    """Return the aliases of a FROM clause, in order."""
    match source:
        case relational.Join(left=left, right=right):
            return (*aliases_of(left), *aliases_of(right))
        case relational.Named(alias=alias):
            return (alias,)
        case _:
            return ()


class Block:
    """One SELECT block while it is written; `hidden` columns sort its rows."""

    def __init__(
        self, query_compiler: QueryCompiler, block: Select, hidden: Sequence[Typed], hints: str
    ) -> None:
        require_uncorrelated(block)
        self.query_compiler: QueryCompiler = query_compiler
        self.block: Select = block
        self.hidden: Sequence[Typed] = hidden
        self.hints: str = hints
        self.grouping_keys: tuple[Typed, ...] = block.grouping.keys if block.grouping else ()
        #: the grouping sets, as positions of keys; None without GROUPING SETS
        self.sets = block.grouping.sets if block.grouping else None
        self.expressions: tuple[Typed, ...] = (*relational.expressions_of(block), *hidden)
        self.scope: tree.FromProjections = tree.FromProjections(query_compiler.depth)
        self.aliases: tuple[str, ...] = aliases_of(block.source)
        self.absent: Absent = absent_columns(block.source)
        self.source: str = ""
        if block.source is not None:
            compiler = replace(query_compiler, inlined=inlined_query(block.source))
            self.source = compiler.source_of(block.source, self.scope)
        own = frozenset(alias for alias, _ in relational.columns_of(block.source))
        self.relations: frozenset[str | None] | None = (
            frozenset({None, *own}) if query_compiler.correlated else None
        )
        self.rows: Projection = self.scope.projection(self.relations)
        self.rows.offered = own
        self.has_subqueries: bool = False
        self.lifting: Lifting = Lifting(own=(self.rows,), outer=query_compiler.around, hiding=own)
        compiled = self.compiler((self.rows,))
        if items := item_keys(block.where, self.absent):
            keys = {item: stored_value(compiled(item), item, self.absent) for item in items}
            compiled = self.compiler((self.rows,), keys)
        self.where: str = self.condition(block.where, compiled, self.lifting)
        self.start()

    def start(self) -> None:
        """Separate the values that are lifted from here on, computed after WHERE."""
        self.mark: int = len(self.rows.columns)
        self.rows.raises = False

    # --- expressions ---------------------------------------------------------------------------

    def compiler(
        self,
        around: tuple[Projection, ...],
        computed: Mapping[Typed, Node] | None = None,
        *,
        is_result: bool = False,
    ) -> Callable[[Typed], Node]:
        block = self.block
        conditions = conditions_of(
            [
                condition
                for condition in (block.where, block.having, block.qualify)
                if condition is not None
            ],
            [*(item.expression for item in block.items), *self.hidden],
        )
        query_compiler = replace(
            self.query_compiler,
            around=around,
            computed=computed or {},
            conditions=conditions,
            bounds=self.query_compiler.bounds.over(block.source),
            absent=self.absent,
            is_result=is_result,
        )
        if self.block.grouping is not None:
            subqueries = grouped_subqueries(self.block, self.hidden)
            query_compiler = replace(query_compiler, in_group=query_compiler.in_group | subqueries)
        if self.query_compiler.inlined is block:
            return query_compiler.compile
        return query_compiler.compile_stored

    def condition(
        self, condition: Typed | None, compiled: Callable[[Typed], Node], lifting: Lifting
    ) -> str:
        if condition is None:
            return ""
        node = compiled(condition)
        self.has_subqueries |= bool(node.facts & tree.Fact.SUBQUERY)
        return to_sql(node, lifting)

    def columns(self, compiled: Callable[[Typed], Node]) -> list[tuple[Node, str]]:
        items = [(compiled(item.expression), item.name) for item in self.block.items]
        keys = enumerate(self.hidden)
        return [*items, *((compiled(key), f"{SORT_KEY}{index}") for index, key in keys)]

    # --- queries -------------------------------------------------------------------------------

    def write(self) -> str:
        of_maps = self.block.distinct and has_maps(
            item.expression.type for item in self.block.items
        )
        if of_maps:
            self.block = replace(self.block, distinct=False)
        text = self.ungrouped() if self.block.grouping is None else self.grouped()
        return f"SELECT * FROM ({text}) GROUP BY ALL" if of_maps else text

    def query(self, columns: Sequence[str], rows: str, tail: str = "", hints: str = "") -> str:
        distinct = "DISTINCT " if self.block.distinct else ""
        start = f"SELECT {hints}{distinct}{', '.join(columns)}"
        return f"{start}{rows and ' FROM ' + rows}{tail}"

    def from_rows(self) -> tuple[str, str, str]:
        """Return the FROM and WHERE clauses, and the hints to write before the items.

        Values that may fail are computed in a projection of the rows that WHERE keeps.
        """
        where = f" WHERE {self.where}" if self.where else ""
        source = self.source or ("(SELECT 1)" if self.rows.columns else "")
        if not (where and self.rows.raises):
            return f"{source}{self.rows.laterals()}", where, self.hints
        lifted = [name for name in self.scope.lifted() if name not in self.rows.quoted(self.mark)]
        rows = f"{source}{self.rows.laterals(0, self.mark)}{where}"
        below = self.nested(rows, self.hints, lifted)
        return f"{below}{self.rows.laterals(self.mark)}", "", ""

    def nested(self, rows: str, hints: str, lifted: Sequence[str], more: Sequence[str] = ()) -> str:
        """Return rows as a query in FROM that keeps the aliases of the block in scope.

        Each of several aliases becomes a column of rows, so ``alias.name`` is a field of it.
        `lifted` columns are passed on.
        """
        if len(self.aliases) < 2:
            alias = "".join(f" AS {quote(alias)}" for alias in self.aliases)
            return f"(SELECT {', '.join([f'{hints}*', *more])} FROM {rows}){alias}"
        aliases = map(quote, self.aliases)
        structs = [f"struct({alias}.*) AS {alias}" for alias in aliases]
        return f"(SELECT {hints}{', '.join([*structs, *lifted, *more])} FROM {rows})"

    def ungrouped(self) -> str:
        is_result = self.block.items is self.query_compiler.result
        compiled = self.compiler((self.rows,), is_result=is_result)
        columns = self.columns(compiled)
        self.start()
        items = [tree.with_alias(node, name, self.lifting) for node, name in columns]
        qualify = self.condition(self.block.qualify, compiled, self.lifting)
        if self.lifting.missed:
            return self.over_windows(columns, compiled)
        rows, where, hints = self.from_rows()
        return self.query(items, rows, f"{where}{qualify and ' QUALIFY ' + qualify}", hints)

    def over_windows(
        self, columns: Sequence[tuple[Node, str]], compiled: Callable[[Typed], Node]
    ) -> str:
        """Return a block whose items repeat results of window functions."""
        self.rows.forget(self.mark)
        windowed, above = Projection(prefix=WINDOWED), Projection(self.relations, self.scope.names)
        lifting = Lifting(
            tree.ALWAYS,
            tree.ALWAYS,
            (above,),
            aggregates=windowed,
            windows=True,
            below=self.lifting,
        )
        items = [tree.with_alias(node, name, lifting) for node, name in columns]
        qualify = self.condition(self.block.qualify, compiled, lifting)
        rows, where, hints = self.from_rows()
        rows = self.nested(f"{rows}{where}", hints, self.scope.lifted(), _aliases(windowed))
        return self.after(items, rows, above, qualify)

    def after(self, items: Sequence[str], rows: str, above: Projection, condition: str) -> str:
        where = f" WHERE {condition}" if condition else ""
        return self.query(items, f"{rows}{above.laterals()}", where)

    # --- groups --------------------------------------------------------------------------------

    def grouped(self) -> str:
        for key in self.grouping_keys:
            if any(isinstance(part, types.VariantType) for part in key.type.walk()):
                require_orderable(key.type, "GROUP BY")  # Spark groups by maps
        keys, computed = self.keys(self.compiler(()))
        self.start()
        compiled = self.compiler((), computed)
        columns = self.columns(compiled)
        lifting = replace(self.lifting, mode=tree.REPEATED)
        self.has_subqueries = any(node.facts & tree.Fact.SUBQUERY for node, _ in columns)
        items = [tree.with_alias(node, name, lifting) for node, name in columns]
        having = self.condition(self.block.having, compiled, lifting)
        qualify = self.condition(self.block.qualify, compiled, lifting)
        is_filtered = bool(qualify) or self.filters_sets()
        if qualify and self.has_subqueries:
            problem = "QUALIFY over groups together with a subquery is not supported on Spark"
            raise tree.unsupported_error(problem, hint=QUALIFY_DERIVED_TABLE)
        if (lifting.missed or is_filtered) and not self.has_subqueries:
            return self.over_groups(keys, computed)
        rows, where, hints = self.from_rows()
        tail = f" HAVING {having}" if having else ""
        is_aggregate = bool(having) or any(
            aggregate.window is None for node, _ in columns for aggregate in _aggregates(node)
        )
        groups = self.group_by(keys, is_aggregate=is_aggregate)
        return self.query(items, rows, f"{where}{groups}{tail}", hints)

    def keys(self, compiled: Callable[[Typed], Node]) -> tuple[list[str], dict[Typed, Node]]:
        """Return the keys of GROUP BY, and the columns to which some are lifted.

        Spark would take a plain number for a position of the list. Calls of GROUPING become calls
        over the keys as grouped.
        """
        keys: list[str] = []
        nodes: dict[Typed, Node] = {}
        computed: dict[Typed, Node] = {}
        for key in self.grouping_keys:
            if _is_group_window(key):
                text, window = self.window(key, compiled)
                computed |= self.bounds(key, window)
                keys.append(text)
                continue
            node = compiled(key)
            if isinstance(key, Constant):
                node = tree.Cast(node, sql_type(key.type))
            probe = Lifting(tree.REPEATED, tree.REPEATED, (), ())
            text = to_sql(node, probe)
            if probe.missed and not node.facts & tree.Fact.RANDOM:
                text = to_sql(node, self.lifting)
                name = self.rows.column(text, raises=bool(node.facts & tree.Fact.RAISES))
                node, text = tree.Column(name), quote(name)
                computed |= dict.fromkeys(self.seen(key), node)
            nodes |= dict.fromkeys(self.seen(key), node)
            if item_type(key, self.absent) is not None:
                computed |= dict.fromkeys(self.seen(key), node)
            keys.append(text)
        return keys, {**computed, **self.groupings(nodes)}

    def window(
        self, key: FunctionCall, compiled: Callable[[Typed], Node]
    ) -> tuple[str, tree.Column]:
        """Return a window such as TUMBLE as a key of GROUP BY, and the column that it becomes.

        A row is repeated for each of its windows; Spark finds sessions as it groups.
        """
        time, *sizes = key.arguments
        name, zone = GROUP_WINDOWS[key.function.name], self.query_compiler.zone
        lengths, datetime = windows.lengths_of(name, sizes), compiled(time)
        if name == "SESSION":
            self.require_one_session()
            millis = to_sql(clock_millis(datetime, time.type, zone), self.lifting)
            millis = self.rows.column(millis, raises=bool(datetime.facts & tree.Fact.RAISES))
            return to_sql(windows.session_key(tree.Column(millis), *lengths)), tree.Column(SESSION)
        array = to_sql(windows.windows_of(name, datetime, time.type, lengths, zone))
        column = self.rows.column(f"explode({array})")
        return quote(column), tree.Column(column)

    def require_one_session(self) -> None:
        if self.sets is not None or sum(map(_is_group_window, self.grouping_keys)) > 1:
            raise tree.unsupported_error(
                "SESSION beside another window, or within grouping sets, is not supported on Spark"
            )

    def bounds(self, key: FunctionCall, window: tree.Column) -> dict[Typed, Node]:
        name = GROUP_WINDOWS[key.function.name]
        return {
            function_call: windows.bound_of(part, window, key.type, self.query_compiler.zone)
            for function_call in calls_of(self.expressions)
            if function_call.arguments == key.arguments
            for part in windows.BOUNDS
            if function_call.function.name == f"{name}_{part}"
        }

    def seen(self, key: Typed) -> tuple[Typed, ...]:
        """Return a key, and as items see it if some grouping set lacks it: nullable."""
        if self.sets is None:
            return (key,)
        return key, replace(key, type=key.type.with_nullability(True))

    def filters_sets(self) -> bool:
        """Return whether HAVING or QUALIFY follows sets: Spark does not resolve their keys."""
        conditions = (self.block.having, self.block.qualify)
        return self.sets is not None and any(condition is not None for condition in conditions)

    def groupings(self, keys: Mapping[Typed, Node]) -> dict[Typed, Node]:
        values: dict[Typed, Node] = {}
        for function_call in groupings_of(self.expressions):
            if function_call.function.name == "GROUP_ID":
                values[function_call] = set_number(
                    _marks(max(_repetitions(self.sets or ()), default=0))
                )
                continue
            nodes = [keys[key] for key in function_call.arguments if key in keys]
            values[function_call] = grouping(nodes if self.sets is not None else ())
        return values

    def group_by(self, keys: Sequence[str], *, is_aggregate: bool) -> str:
        """Return GROUP BY; without keys Spark returns one row only with an aggregate or HAVING."""
        sets = self.sets
        if not keys and len(sets or ()) < 2:
            return "" if is_aggregate else " HAVING TRUE"
        if sets is None:
            return f" GROUP BY {', '.join(keys)}"
        listed = []
        reads_number = any(
            call.function.name == "GROUP_ID" for call in groupings_of(self.expressions)
        )
        numbers = _repetitions(sets) if reads_number else [0] * len(sets)
        for positions, number in zip(sets, numbers, strict=True):
            marks = [
                to_sql(mark) for place, mark in enumerate(_marks(number)) if number >> place & 1
            ]
            listed.append(f"({', '.join([*(keys[position] for position in positions), *marks])})")
        return f" GROUP BY GROUPING SETS ({', '.join(listed)})"

    def over_groups(self, keys: Sequence[str], groupings: Mapping[Typed, Node]) -> str:
        """Return a block whose items repeat values of aggregates, over a query of these."""
        self.rows.forget(self.mark)
        names = [f"{GROUP_KEY}{index + 1}" for index in range(len(keys))]
        computed = {
            **groupings,
            **{
                seen: tree.Column(name)
                for key, name in zip(self.grouping_keys, names, strict=True)
                for seen in self.seen(key)
                if not isinstance(key, Constant)
            },
        }
        for key, name in zip(self.grouping_keys, names, strict=True):
            if _is_group_window(key):
                computed |= self.bounds(key, tree.Column(name))
        compiled = self.compiler((), computed)
        columns = self.columns(compiled)
        groups, above = Projection(prefix=tree.AGGREGATED), Projection(names=self.scope.names)
        lifting = Lifting(own=(above,), aggregates=groups, below=self.lifting)
        having = self.condition(self.block.having, compiled, lifting)
        mark, above.raises = len(above.columns), False
        top, windowed, last = lifting, Projection(prefix=WINDOWED), above
        has_windows = any(
            aggregate.window is not None for node, _ in columns for aggregate in _aggregates(node)
        )
        if self.block.qualify is not None or has_windows:
            last = Projection(names=self.scope.names)
            top = Lifting(own=(last,), aggregates=windowed, windows=True, below=lifting)
        items = [tree.with_alias(node, name, top) for node, name in columns]
        qualify = self.condition(self.block.qualify, compiled, top)
        rows, where, hints = self.from_rows()
        shown = [f"{key} AS {quote(name)}" for key, name in zip(keys, names, strict=True)]
        shown = [*shown, *_aliases(groups)] or ["1"]
        by = self.group_by(keys, is_aggregate=bool(groups.columns))
        rows = f"(SELECT {hints}{', '.join(shown)} FROM {rows}{where}{by})"
        where = f" WHERE {having}" if having else ""
        if last is above and not (where and above.raises):
            return self.after(items, rows, above, having)
        rows = f"(SELECT * FROM {rows}{above.laterals(0, mark)}{where}){above.laterals(mark)}"
        if last is not above:
            rows = f"(SELECT {', '.join(['*', *_aliases(windowed)])} FROM {rows}){last.laterals()}"
        return self.query(items, rows, f" WHERE {qualify}" if qualify else "")


def _repetitions(sets: Sequence[tuple[int, ...]]) -> list[int]:
    """Return how many equal grouping sets precede each."""
    keys = [frozenset(set_) for set_ in sets]
    return [keys[:place].count(key) for place, key in enumerate(keys)]


def _marks(most: int) -> list[Node]:
    """Return constants that number equal grouping sets: a set has those of its number's bits."""
    return [call("array", place) for place in range(most.bit_length())]


def _is_group_window(key: Typed) -> TypeGuard[FunctionCall]:
    return isinstance(key, FunctionCall) and key.function.name in GROUP_WINDOWS


def groupings_of(expressions: Iterable[Typed]) -> Iterator[FunctionCall]:
    """Yield the calls that describe a grouping set."""
    return (
        function_call
        for function_call in calls_of(expressions)
        if function_call.function.name in OF_GROUPING
    )


def calls_of(expressions: Iterable[Typed]) -> Iterator[FunctionCall]:
    """Yield the function calls in expressions."""
    rest = list(expressions)
    while rest:
        one = rest.pop()
        if isinstance(one, FunctionCall):
            yield one
        rest += typed.operands(one)


def _aliases(projection: Projection) -> list[str]:
    return [f"{value} AS {quote(name)}" for value, name in projection.columns.items()]


def _aggregates(node: Node) -> Iterator[tree.Aggregate]:
    rest = [node]
    while rest:
        one = rest.pop()
        if isinstance(one, tree.Aggregate):
            yield one
        if one.facts & tree.Fact.AGGREGATE:
            rest += tree.children(one)
