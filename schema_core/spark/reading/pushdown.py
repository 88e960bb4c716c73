"""What a query needs of each scanned table: the columns, and the filters and limit to push.

The analysis only widens: what might be read counts as read, and only what is surely safe is pushed.
The query evaluates pushed filters and limits as well.

Filters move down from WHERE and ON, through joins (not into the side whose rows may be missing),
derived tables and views (not through grouping, windows, LIMIT or OFFSET) and UNION ALL. A limit
moves down if nothing below it selects, merges, adds or orders rows, except filters offered with it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field, replace
from typing import TypeAlias, cast

from schema_core.base.lazy import NamedTuple, dataclass
from schema_core.expressions.field_paths import (
    ENTIRE,
    ColumnPath,
    FieldPath,
    Fields,
    column_path,
    merge_fields,
    values_read,
)
from schema_core.expressions.typed import Constant, FunctionCall, Ref, Typed, operands, walk
from schema_core.expressions.typed import Select as Subquery
from schema_core.query import relation as relational
from schema_core.query.relation import columns_of, conjuncts, expressions_of, rows_of
from schema_core.query.temporal_joins import find_versions, is_lookup, snapshot_of
from schema_core.schema.columns import PhysicalColumn
from schema_core.spark.compiler.translation import is_fine
from schema_core.sql.syntax import JoinKind
from schema_core.types import (
    BigIntType,
    BooleanType,
    CharType,
    DataType,
    DateType,
    DecimalType,
    DoubleType,
    FloatType,
    IntType,
    LocalZonedTimestampType,
    SmallIntType,
    TimestampType,
    TimeType,
    TinyIntType,
    VarCharType,
)


@dataclass(frozen=True, slots=True)
class ScanDemand:
    """What a query needs of one scan.

    Attributes:
        columns: The table's columns that it reads, and which fields of them.
        filters: Predicates over physical columns; the query drops rows for which one is not TRUE.
        limit: How many rows that pass all filters it needs at most; None for all.
        order: The keys, physical columns, by which these are the first rows; none for any rows.
    """

    columns: Mapping[str, Fields]
    filters: tuple[Typed, ...] = ()
    limit: int | None = None
    order: tuple[relational.Key, ...] = ()

    @classmethod
    def of_columns(cls, names: Iterable[str]) -> ScanDemand:
        """Return the demand of a scan of which columns are read entirely."""
        return cls(dict.fromkeys(names, ENTIRE))

    def with_columns(self, names: Iterable[str]) -> ScanDemand:
        """Return a demand that also reads columns entirely."""
        return replace(self, columns={**self.columns, **dict.fromkeys(names, ENTIRE)})

    def merge_demands(self, other: ScanDemand) -> ScanDemand:
        """Return the demand of a scan that is read twice."""
        columns = merge_fields(self.columns, other.columns)
        if self.filters != other.filters:
            return ScanDemand(columns)
        if self.limit is None or other.limit is None or self.order != other.order:
            return ScanDemand(columns, self.filters)
        return ScanDemand(columns, self.filters, max(self.limit, other.limit), self.order)


def scan_demands(query: relational.Relation) -> dict[int, ScanDemand]:
    """Return what a query needs of its scans, by the identity of each `Scan`.

    A scan that is missing needs all its columns.
    """
    analysis = _DemandAnalysis()
    analysis.relation(query, EVERYTHING)
    return analysis.found


# --- predicates that can be pushed ---------------------------------------------------------------

#: Deterministic functions that cannot fail on operands of one type family.
_PREDICATES = frozenset({
    "=", "<>", "<", "<=", ">", ">=", "IN", "NOT IN", "BETWEEN", "NOT BETWEEN", "LIKE", "NOT LIKE",
    "IS NULL", "IS NOT NULL", "IS TRUE", "IS NOT TRUE", "IS FALSE", "IS NOT FALSE",
    "IS DISTINCT FROM", "IS NOT DISTINCT FROM", "AND", "OR", "NOT",
})  # fmt: skip

#: Types whose values compare without a conversion that can fail.
_FAMILIES: dict[type[DataType], str] = {
    **dict.fromkeys((TinyIntType, SmallIntType, IntType, BigIntType), "number"),
    **dict.fromkeys((DecimalType, FloatType, DoubleType), "number"),
    **dict.fromkeys((CharType, VarCharType), "string"),
    BooleanType: "boolean",
    DateType: "date",
    TimeType: "time",
    TimestampType: "timestamp",
    LocalZonedTimestampType: "instant",
}

#: Calls in one predicate: translating more is not worth it.
MAX_CALLS = 64


def is_pushable(predicate: Typed) -> bool:
    """Return whether a predicate is deterministic, cannot fail, and reads columns."""
    return obstacle(predicate) is None


def obstacle(predicate: Typed) -> str | None:
    """Return why a predicate is not pushable; None if it is."""
    calls = 0
    reads = False
    for one in walk(predicate):
        match one:
            case FunctionCall():
                calls += 1
                if not _is_total(one):
                    return f"{one.function.name} may fail, or does not compare values of one kind"
            case Ref():
                reads = True
            case Constant():
                continue
            case Subquery():
                return "it has a subquery"
            case _:
                return "it has more than columns, constants and functions"
    if not reads:
        return "it reads no column"
    if calls > MAX_CALLS:
        return f"it has more than {MAX_CALLS} functions"
    return None if isinstance(predicate.type, BooleanType) else "its type is not BOOLEAN"


def _is_total(call: FunctionCall) -> bool:
    """Return whether a call is deterministic, with a value for all operands."""
    name, types = call.function.name, [argument.type for argument in call.arguments]
    if name in {"IS NULL", "IS NOT NULL"}:
        return True
    if name in {"LIKE", "NOT LIKE"} and len(call.arguments) > 2:  # the escape may be invalid
        return False
    # Spark lacks literals of fine types
    families = {None if is_fine(type_) else _FAMILIES.get(type(type_)) for type_ in types}
    return name in _PREDICATES and None not in families and len(families) == 1


def _substitute_columns(predicate: Typed, column: Callable[[Ref], Ref | None]) -> Typed | None:
    """Return a pushable predicate over other columns; None where one has no counterpart."""
    match predicate:
        case Ref():
            return column(predicate)
        case FunctionCall(arguments=arguments):
            replaced = [_substitute_columns(argument, column) for argument in arguments]
            given = tuple(operand for operand in replaced if operand is not None)
            return replace(predicate, arguments=given) if len(given) == len(replaced) else None
        case _:
            return predicate


def move_predicates(
    predicates: Iterable[Typed], column: Callable[[Ref], Ref | None]
) -> list[Typed]:
    """Return predicates over other columns, without those of which one has no counterpart."""
    moved = (_substitute_columns(predicate, column) for predicate in predicates)
    return [predicate for predicate in moved if predicate is not None]


# --- the analysis --------------------------------------------------------------------------------

#: The fields that are read of a relation's columns, by their positions; None for all columns.
Positions: TypeAlias = "Mapping[int, Fields] | None"


class Limit(NamedTuple):
    """A number of rows: the first ones by some keys, or any rows without keys.

    The columns of keys are positions of a relation, or columns of its sources with a qualifier.
    """

    rows: int
    order: tuple[relational.Key, ...] = ()

    def move(self, column: Callable[[Ref], Ref | None]) -> Limit | None:
        """Return the limit by other columns; None where one has no counterpart."""
        keys = [(key, column(cast("Ref", key.expression))) for key in self.order]
        order = tuple(key._replace(expression=ref) for key, ref in keys if ref is not None)
        return Limit(self.rows, order) if len(order) == len(keys) else None


class Demand(NamedTuple):
    """What is needed of a relation.

    Columns of `filters` are positions, unqualified. `limit` counts rows that pass them all.
    """

    positions: Positions = None
    filters: tuple[Typed, ...] = ()
    limit: Limit | None = None


EVERYTHING = Demand()


def _position(ref: Ref) -> int:
    return int(ref.name)


@dataclass(slots=True)
class _DemandAnalysis:
    """The columns that a block's expressions read, and the demand of each scan.

    All readers of a source are visited before it: expressions and subqueries before their block's
    sources, and sources from right to left.
    """

    found: dict[int, ScanDemand] = field(default_factory=dict)
    #: qualifier and name of a column -> its fields that are read
    read: dict[tuple[str, str], set[FieldPath]] = field(default_factory=dict)
    #: common tables in scope, with what the visited relations need of each
    common: dict[str, list[Positions]] = field(default_factory=dict)

    def relation(self, relation: relational.Relation, demand: Demand) -> None:
        while isinstance(relation, relational.SetOperation):  # chains are long
            if (relation.operator, relation.all) != ("UNION", True):  # others do not keep all rows
                demand = EVERYTHING
            self.relation(relation.right, _of_side(relation.right, relation, demand))
            demand = _of_side(relation.left, relation, demand)
            relation = relation.left
        match relation:
            case relational.Scan():
                self.scan(relation, demand)
            case relational.CommonScan(name):
                self.common.get(name, []).append(demand.positions)
            case relational.Select():
                self.block(relation, demand)
            case relational.Sort():
                self.sort(relation, demand)
            case relational.With():
                self.with_tables(relation, demand)
            case relational.Named() | relational.Join():
                self.require_all_columns(relation)
            case relational.Values(rows=rows):
                self.expressions(value for row in rows for value in row)
            case relational.Snapshot():
                self.snapshot(relation, demand)
            case relational.Unnest(collection=collection):
                self.expressions([collection])
            case relational.FunctionTable(call=call):
                self.expressions([call])
            case relational.VectorSearch(query=vector):
                self.expressions([vector])
                self.relation(relation.input, EVERYTHING)
            case (
                relational.WindowTable()
                | relational.ProcessTable()
                | relational.Match()
                | relational.Sample()
            ):
                self.relation(relation.input, EVERYTHING)

    def scan(self, scan: relational.Scan, demand: Demand) -> None:
        columns = scan.columns
        positions = demand.positions
        if positions is None:
            positions = dict.fromkeys(range(len(columns)), ENTIRE)
        physical = {
            column.name
            for column in scan.table.schema.columns
            if isinstance(column, PhysicalColumn)
        }

        def column(ref: Ref) -> Ref | None:
            one = columns[_position(ref)]
            return Ref(one.name, one.type) if one.name in physical else None

        filters = move_predicates(demand.filters, column)
        limit = _move_limit(demand.limit, column, len(filters) == len(demand.filters))
        read = {columns[place].name: fields for place, fields in positions.items()}
        needed = ScanDemand(read, tuple(filters), *(limit or ()))
        known = self.found.get(id(scan))
        self.found[id(scan)] = needed if known is None else known.merge_demands(needed)

    def snapshot(self, snapshot: relational.Snapshot, demand: Demand) -> None:
        """Visit a source as of a time: a filter of versions would show older ones."""
        if is_lookup(snapshot):
            self.relation(snapshot.input, demand)
            return
        time = find_versions(snapshot.input).time
        positions = demand.positions
        if positions is not None and time is not None:
            positions = {**positions, time: ENTIRE}
        self.relation(snapshot.input, Demand(positions))

    # --- expressions ---------------------------------------------------------------------------

    def expressions(self, expressions: Iterable[Typed]) -> None:
        """Record the columns and fields that expressions read, and visit their subqueries."""
        for value in values_read(expressions):
            if isinstance(value, ColumnPath):
                self.require(value, ENTIRE)
            else:
                self.relation(rows_of(value), EVERYTHING)

    def require(self, path: ColumnPath, fields: Fields) -> None:
        """Record the fields that are read of a column, or of a field within one."""
        key = (path.column.relation or "", path.column.name)
        self.read.setdefault(key, set()).update((*path.fields, *inner) for inner in fields)

    # --- blocks --------------------------------------------------------------------------------

    def block(
        self, block: relational.Select, demand: Demand, sorted_by: Sequence[Typed] = ()
    ) -> None:
        """Visit a SELECT block; `sorted_by` has further expressions over its sources."""
        outer, self.read = self.read, {}
        positions = demand.positions
        if positions is None or block.distinct:
            positions = dict.fromkeys(range(len(block.items)), ENTIRE)
        for place, fields in positions.items():
            self.item(block.items[place].expression, fields)
        self.expressions([*expressions_of(replace(block, items=())), *sorted_by])
        if block.source is not None:
            self.block_sources(block, block.source, demand)
        own = columns_of(block.source)
        for key, paths in self.read.items():
            if key not in own:
                outer.setdefault(key, set()).update(paths)
        self.read = outer

    def item(self, expression: Typed, fields: Fields) -> None:
        """Record what an item reads of which some fields are needed."""
        path = column_path(expression)
        if path is None:
            self.expressions([expression])
        else:
            self.require(path, fields)

    def block_sources(
        self, block: relational.Select, source: relational.Relation, demand: Demand
    ) -> None:
        """Visit the sources of a block whose expressions are visited."""
        every = conjuncts(block.where)
        filters = [predicate for predicate in every if is_pushable(predicate)]
        keeps_rows = _keeps_rows(block)
        limit = demand.limit if keeps_rows and not block.distinct else None
        if len(filters) < len(every):
            limit = None
        if keeps_rows:

            def column(ref: Ref) -> Ref | None:
                return ref if ref.relation else _plain_item(block, _position(ref))

            moved = move_predicates(demand.filters, column)
            filters += moved
            limit = _move_limit(limit, column, len(moved) == len(demand.filters))
        self.sources(source, filters, limit)

    def sources(
        self, source: relational.Relation, filters: Sequence[Typed], limit: Limit | None
    ) -> None:
        """Visit a block's sources, from right to left.

        `filters` are predicates that a row of `source`, a join or a single source, must pass.
        `limit` is how many rows of a single source are needed that pass them all.
        """
        chain: list[tuple[relational.Relation, Sequence[Typed]]] = [(source, filters)]
        while chain:
            one, above = chain.pop()
            if isinstance(one, relational.Join):
                if one.condition is not None:
                    self.expressions([one.condition])
                if (snapshot := snapshot_of(one)) is not None:
                    self.expressions([snapshot.period])
                limit = None
                on = [part for part in conjuncts(one.condition) if is_pushable(part)]
                left = [*(above if one.kind in _KEEPS_LEFT else ()),
                        *(on if one.kind in _ON_LEFT else ())]  # fmt: skip
                right = [*(above if one.kind in _KEEPS_RIGHT else ()),
                         *(on if one.kind in _ON_RIGHT else ())]  # fmt: skip
                chain += [(one.left, left), (one.right, right)]
            elif isinstance(one, relational.Named):
                self.visit_named(one, above, limit)
            else:
                self.relation(one, EVERYTHING)

    def visit_named(
        self, source: relational.Named, filters: Sequence[Typed], limit: Limit | None
    ) -> None:
        """Visit a source with the columns read by its alias."""
        places = {column.name: place for place, column in enumerate(source.columns)}
        positions = {
            place: frozenset(fields)
            for name, place in places.items()
            if (fields := self.read.get((source.alias, name))) is not None
        }
        if source.lateral or len(places) < len(source.columns):
            self.relation(source.input, EVERYTHING)
            return

        def column(ref: Ref) -> Ref | None:
            if ref.relation != source.alias or ref.name not in places:
                return None
            return Ref(str(places[ref.name]), ref.type)

        moved = tuple(move_predicates(filters, column))
        limit = _move_limit(limit, column, len(moved) == len(filters))
        self.relation(source.input, Demand(positions, moved, limit))

    def require_all_columns(self, source: relational.Relation) -> None:
        rest = [source]
        while rest:
            match rest.pop():
                case relational.Join(left=left, right=right, condition=condition):
                    self.expressions([] if condition is None else [condition])
                    rest += [left, right]
                case relational.Named(input=below) | below:
                    self.relation(below, EVERYTHING)

    # --- queries around blocks -----------------------------------------------------------------

    def sort(self, sort: relational.Sort, demand: Demand) -> None:
        keys = [key.expression for key in sort.keys if not isinstance(key.expression, Constant)]
        hidden = [key for key in keys if not relational.is_output(key)]
        positions = demand.positions
        if positions is not None:
            places = _output_places(sort)
            used = [
                places.get(key.name)
                for key in keys
                if isinstance(key, Ref) and relational.is_output(key)
            ]
            known = {option for option in used if option is not None}
            positions = None if None in used else {**positions, **dict.fromkeys(known, ENTIRE)}
        filters, limit = demand.filters, None if keys else demand.limit
        if sort.fetch is not None or sort.offset is not None:
            filters, limit = (), _limit_of_sort(sort)
        below = Demand(positions, filters, limit)
        if isinstance(sort.input, relational.Select):
            self.block(sort.input, below, hidden)
            return
        self.expressions(hidden)
        self.relation(sort.input, below._replace(positions=None) if hidden else below)

    def with_tables(self, query: relational.With, demand: Demand) -> None:
        """Visit common tables after their readers: the query, then later tables."""
        outer = self.common
        if query.recursive:
            self.common = {**outer, **{table.name: [] for table in query.tables}}
            self.relation(query.input, demand)
            for table in reversed(query.tables):
                self.relation(table.relation, EVERYTHING)
            self.common = outer
            return
        own: dict[str, list[Positions]] = {table.name: [] for table in query.tables}
        self.common = {**outer, **own}
        self.relation(query.input, demand)
        for number in reversed(range(len(query.tables))):
            table = query.tables[number]
            earlier = {table.name: own[table.name] for table in query.tables[:number]}
            self.common = {**outer, **earlier}
            needs = [need for need in own[table.name] if need is not None]
            needs_all = len(needs) < len(own[table.name])
            self.relation(table.relation, Demand(None if needs_all else merge_fields(*needs)))
        self.common = outer


#: Joins whose rows all have a row of the left (right) side, so that a filter over the joined rows
#: applies to it; and joins whose ON condition selects rows of that side.
_BOTH = {JoinKind.INNER, JoinKind.COMMA, JoinKind.CROSS}
_KEEPS_LEFT = _BOTH | {JoinKind.LEFT}
_KEEPS_RIGHT = _BOTH | {JoinKind.RIGHT}
_ON_LEFT = _BOTH | {JoinKind.RIGHT}
_ON_RIGHT = _BOTH | {JoinKind.LEFT}


def _keeps_rows(block: relational.Select) -> bool:
    """Return whether a block has one row for each source row that passes WHERE."""
    if block.grouping is not None or block.having is not None or block.qualify is not None:
        return False
    pending = [item.expression for item in block.items]
    while pending:
        expression = pending.pop()
        if isinstance(expression, FunctionCall) and expression.over is not None:
            return False
        pending += operands(expression)
    return True


def _plain_item(block: relational.Select, place: int) -> Ref | None:
    """Return the source's column that an item selects, if it is one."""
    expression = block.items[place].expression
    return expression if isinstance(expression, Ref) and expression.relation else None


def _of_side(
    side: relational.Relation, operation: relational.SetOperation, demand: Demand
) -> Demand:
    """Return what is needed of an operand, whose columns may be cast to the operation's."""
    given, wanted = side.columns, operation.columns

    def column(ref: Ref) -> Ref | None:
        place = _position(ref)
        same = given[place].type.nullable() == wanted[place].type.nullable()
        return ref if same else None

    filters = tuple(move_predicates(demand.filters, column))
    limit = _move_limit(demand.limit, column, len(filters) == len(demand.filters))
    positions = demand.positions
    if positions is not None:
        same = {place for place in positions if given[place].type == wanted[place].type}
        positions = {place: positions[place] if place in same else ENTIRE for place in positions}
    return Demand(positions, filters, limit)


def _move_limit(
    limit: Limit | None, column: Callable[[Ref], Ref | None], has_all_filters: bool
) -> Limit | None:
    """Return a limit below a relation, all of whose filters must be there as well."""
    return limit.move(column) if limit is not None and has_all_filters else None


def _output_places(sort: relational.Sort) -> dict[str, int]:
    """Return the positions of the result's columns by the names that keys have for them."""
    names = relational.unique_names(column.name for column in sort.columns)
    return {name: place for place, name in enumerate(names)}


def _limit_of_sort(sort: relational.Sort) -> Limit | None:
    """Return the first rows that a query needs; None without FETCH, or for keys of expressions.

    Without a block below, keys are columns of the result.
    """
    if sort.fetch is None:
        return None
    places, order = _output_places(sort), []
    for key in sort.keys:
        ref = key.expression
        if isinstance(ref, Constant):
            continue
        if not isinstance(ref, Ref):
            return None
        if relational.is_output(ref):
            if ref.name not in places:
                return None
            ref = Ref(str(places[ref.name]), ref.type)
        elif not isinstance(sort.input, relational.Select):
            return None
        order.append(key._replace(expression=ref))
    return Limit(sort.fetch + (sort.offset or 0), tuple(order))
