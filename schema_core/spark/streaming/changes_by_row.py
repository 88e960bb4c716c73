"""The changes of a query of bounded tables in streaming mode, as if its rows arrived one by one.

Flink returns a result after each row. Here the changes that an operation reads get the number of
their arrival, and the operation is computed for the rows that are there after each number, in one
query: `_Operation` adds the number to its keys. The differences between the results are its
changes, which the projections and filters above pass on (`row_kinds`) to the next operation.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from math import prod
from typing import TYPE_CHECKING, Final, cast

from schema_core.base.lazy import NamedTuple
from schema_core.environment.options import MINI_BATCH, RUNTIME_MODE
from schema_core.expressions.functions import BUILT_IN
from schema_core.expressions.typed import (
    Constant,
    FunctionCall,
    FunctionKind,
    Over,
    Ref,
    SortedBy,
    Typed,
    is_windowed,
    substitute,
)
from schema_core.expressions.typed import Select as Subquery
from schema_core.query import relation as relational
from schema_core.query.rankings import ROW_NUMBERS, first_numbered, reference
from schema_core.query.relation import (
    Column,
    Columns,
    Item,
    Named,
    Relation,
    Scan,
    Select,
    adds_elements,
    calls_in,
    conjuncts,
    expressions_of,
    joins_in,
    kept_sides,
    leaves_of,
    relations_in,
    result_columns,
    rows_of,
    subexpressions,
    subqueries_in,
    without_common_tables,
)
from schema_core.query.scope import IN_QUERY
from schema_core.query.updates import adds_rows
from schema_core.spark.changelog import (
    ROW_KIND,
    is_added,
    with_updates,
    without_opposites,
)
from schema_core.spark.compiler.query import GROUP_WINDOWS
from schema_core.spark.compiler.translation import PREFIX, has_nanoseconds
from schema_core.spark.compiler.tree import quote
from schema_core.spark.reading.changelog_functions import encode_changes
from schema_core.spark.reading.comparison import comparable
from schema_core.spark.reading.row_kinds import change_query, is_built_in, is_stateless
from schema_core.spark.session.api_mode import functions_of
from schema_core.spark.streaming.derived_tables import (
    PART,
    all_of,
    both,
    row_tests,
    split_groups,
    with_derived_source,
    with_joined_subqueries,
    with_sources,
)
from schema_core.spark.streaming.stage_plans import scan_of
from schema_core.spark.streaming.time_stages import TIMES
from schema_core.sql.syntax import Literal, LiteralKind
from schema_core.types import (
    BigIntType,
    BooleanType,
    MapType,
    MultisetType,
    RowKind,
    VariantType,
)
from schema_core.types.temporal import TimestampKind, timestamp_kind

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyspark.sql import DataFrame

    from schema_core.spark.streaming.stage_runs import FrameOf

#: Maximum number of input rows: the rows that have arrived are computed again for each of them.
MAX_ROWS: Final = 1000
#: Maximum number of rows that a join may return for all numbers of rows that have arrived.
MAX_JOINED_ROWS: Final = 10_000_000
#: The number of changes that have arrived, the last such number with a row, and that of a change.
VERSION: Final = f"{PREFIX}version"
UNTIL: Final = f"{PREFIX}until"
ARRIVAL: Final = f"{PREFIX}arrival"
#: That of the change which removes a row.
REMOVAL: Final = f"{PREFIX}removal"
#: Prefixes of the names of columns that identify an updated row, and of other generated ones.
KEY: Final = f"{PREFIX}key"
SINCE: Final = f"{PREFIX}since"
#: Functions that have one value in a query, which is not that of another query.
CLOCKS: Final = frozenset(
    {"CURRENT_DATE", "CURRENT_TIME", "LOCALTIME", "CURRENT_TIMESTAMP", "LOCALTIMESTAMP", "NOW"}
    | {"CURRENT_ROW_TIMESTAMP", "PROCTIME", "PROCTIME_MATERIALIZE", "UNIX_TIMESTAMP"}
)
#: The alias of the changes below an operation.
_CHANGES: Final = f"{PREFIX}changes"
_NUMBER: Final = BigIntType(nullable=False)
_CONDITION: Final = BooleanType(nullable=False)
#: The kinds of a row of a version: it is removed by the next one, unless that has it, too.
_KINDS: Final = (RowKind.INSERT, RowKind.DELETE)
#: Types whose values are not sorted.
_UNSORTED: Final = (MapType, MultisetType, VariantType)
#: Maximum number of relations of a query whose versions are computed.
_MAX_RELATIONS: Final = 100


def returns_changes(options: Mapping[str, str]) -> bool:
    """Return whether queries of bounded tables return changes: if streaming mode is set.

    In the mode by default they return their final rows, as with mini-batches, which Flink merges.
    """
    is_set = RUNTIME_MODE.key in options and RUNTIME_MODE.of(options) == "STREAMING"
    return is_set and not MINI_BATCH.of(options)


class _Passes(NamedTuple):
    """Which kinds of changes that arrive are those of the changes that they cause.

    Those that add rows if `added`, and those that remove rows of `removed`, the places of inputs,
    or of all inputs if that is None.
    """

    added: bool = False
    removed: frozenset[int] | None = frozenset()


_ALL_PASS: Final = _Passes(added=True, removed=None)


class OperationChanges(NamedTuple):
    """How the changes of an operation are computed.

    Attributes:
        inputs: The changes that it reads, with scans of rows, their `VERSION` and their arrival.
        versions: The rows of the operation after each arrival, with `VERSION` and its keys last.
            TO_CHANGELOG itself.
        keys: The number of keys that identify a row.
        is_updated: Whether the rows of a key are updated: otherwise they are removed and added.
        adjoins: By how many of the first keys changes follow each other; before other changes, rows
            are removed before others are added. None for all keys.
        has_ends: Whether the rows have their first `VERSION`, and `UNTIL` the last one.
        passes: Whether a change has the kind of the one that arrives: if both add a row, and if
            both remove one and the latter is of one of these inputs.
        changes: A scan of the changes.
    """

    inputs: Sequence[tuple[Scan, ChangesByRow]]
    versions: Relation
    keys: int
    is_updated: bool
    adjoins: int | None
    has_ends: bool
    passes: _Passes
    changes: Scan


class ChangesByRow(NamedTuple):
    """The changes of a query.

    Attributes:
        operations: The changes of its operations.
        query: The query of these with their kinds, or, without operations, of the user's tables.
        has_kinds: Whether `KIND` is its last column; otherwise rows are only added.
    """

    operations: Sequence[OperationChanges]
    query: Relation
    has_kinds: bool = True

    def scans_of(self, operation: OperationChanges) -> list[Scan]:
        """Return the scans of the changes of an operation, with their kinds."""
        scans = (part for part in relations_in(self.query) if isinstance(part, Scan))
        return [scan for scan in scans if scan.table is operation.changes.table]

    def plans(self) -> Iterator[ChangesByRow]:
        """Yield the changes of the query, and those that its operations read."""
        rest = [self]
        while rest:
            yield (plan := rest.pop())
            rest += [below for operation in plan.operations for _, below in operation.inputs]

    @property
    def leaves(self) -> list[Relation]:
        """The queries of the user's tables."""
        return [plan.query for plan in self.plans() if not plan.operations]

    @property
    def encodes_changes(self) -> bool:
        """Whether rows are changes, by TO_CHANGELOG: they are only computed row by row."""
        operations = (operation for plan in self.plans() for operation in plan.operations)
        return any(isinstance(each.versions, relational.ProcessTable) for each in operations)


def changes_by_row(query: Relation) -> ChangesByRow | None:
    """Return how the changes of a query of bounded tables, without views, are computed.

    None if no row of the result is updated or removed as rows arrive, or the changes are not
    computed row by row.
    """
    query = without_common_tables(query)
    if _only_adds(query) or sum(1 for _ in relations_in(query)) > _MAX_RELATIONS:
        return None
    query = with_joined_subqueries(query)
    if any(call.function.path and _is_aggregate(call) for call in calls_in(query)):
        return None  # Flink returns the changes of aggregates in Python bundle by bundle
    try:
        plan = _changes_of(query)
    except _NotByRowError:
        return None
    return plan if plan.operations else None  # a test of EXISTS may be true of every row


def _only_adds(relation: Relation) -> bool:
    """Return whether a relation only adds rows, which Spark computes from all rows at once."""
    encoded = (part for part in relations_in(relation) if is_built_in(part, "TO_CHANGELOG"))
    return adds_rows(relation) and all(
        adds_rows(cast("relational.ProcessTable", part).input) for part in encoded
    )


def _keeps_order(relation: Relation) -> bool:
    """Return whether rows are in the order of the tables."""
    return not any(
        (isinstance(part, Select) and not is_stateless(part))
        or (isinstance(part, relational.Join) and not adds_elements(part))
        for part in relations_in(relation)
    )


def _changes_of(relation: Relation) -> ChangesByRow:
    is_simple = _only_adds(relation)
    if is_simple and _keeps_order(relation):
        return ChangesByRow((), relation, has_kinds=False)
    try:
        return _changes_of_operations(relation)
    except _NotByRowError:
        if not is_simple:
            raise
        return ChangesByRow((), relation, has_kinds=False)


def _changes_of_operations(relation: Relation) -> ChangesByRow:
    above: dict[int, Relation] = {}
    operations = []
    for operation in _operations_of(relation):
        above[id(operation)], changes = _changes_of_operation(operation)
        operations.append(changes)
    tables = [operation.changes.table for operation in operations]
    kinds = change_query(
        relational.substitute_parts(relation, lambda part: above.get(id(part))),
        lambda scan: any(scan.table is table for table in tables),
    )
    if kinds is None:
        raise _NotByRowError
    return ChangesByRow(operations, kinds)


def _changes_of_operation(operation: Relation) -> tuple[Relation, OperationChanges]:
    """Return the result of an operation, from the scan of its changes, and its changes."""
    computed, above, scan = _split_groups(operation)
    if any(map(_is_not_compared, scan.columns)):
        raise _NotByRowError
    prefixes = _Operation()
    rows = prefixes.rows(computed)
    keys = len(rows.keys) - rows.compared
    return above, OperationChanges(
        prefixes.inputs, rows.relation, keys, rows.is_updated, rows.adjoins, rows.has_ends,
        rows.passes, scan,
    )  # fmt: skip


def _is_not_compared(column: Column) -> bool:
    is_variant = any(isinstance(part, VariantType) for part in column.type.walk())
    return is_variant or has_nanoseconds(column.type)


class _NotByRowError(Exception):
    """The changes of an operation are not computed row by row."""


def _is_aggregate(call: FunctionCall) -> bool:
    return call.function.kind not in (FunctionKind.SCALAR, FunctionKind.TABLE)


# --- the operation ------------------------------------------------------------------------------


def _operations_of(query: Relation) -> Iterator[Relation]:
    """Yield the highest operations whose results depend on several rows."""
    rest = [query]
    while rest:
        query = rest.pop()
        match query:
            case relational.ProcessTable() if is_built_in(query, "FROM_CHANGELOG"):
                continue
            case Named(input=below):
                rest.append(below)
            case relational.Join(left=left) if adds_elements(query):
                rest.append(left)
            case relational.SetOperation(operator="UNION", all=True):
                sides = (query.right, query.left)
                rest += [side for side in sides if not (_only_adds(side) and _keeps_order(side))]
            case Select(source=Named() as source) if is_stateless(query):
                is_ranking = first_numbered(query) is not None or _numbered(source) is not None
                if is_ranking:
                    yield query
                else:
                    rest.append(source)
            case Select(source=relational.Join() as source) if is_stateless(
                query
            ) and adds_elements(source):
                rest.append(source)
            case Select() | relational.SetOperation() | relational.Sort():
                yield query
            case relational.ProcessTable() if is_built_in(query, "TO_CHANGELOG"):
                yield query
            case _:
                raise _NotByRowError


def _numbered(source: Named) -> tuple[Select, int] | None:
    """Return a block of one number by ROW_NUMBER and the like, and the position of the number."""
    block = source.input
    if not isinstance(block, Select) or block.grouping or block.distinct or block.qualify:
        return None
    places = [
        place
        for place, item in enumerate(block.items)
        if any(map(is_windowed, subexpressions(item.expression)))
    ]
    if len(places) != 1:
        return None
    call = block.items[places[0]].expression
    is_number = isinstance(call, FunctionCall) and call.function.name in ROW_NUMBERS
    return (block, places[0]) if is_number else None


def _split_groups(operation: Relation) -> tuple[Relation, Select, Scan]:
    """Return the operation as keys and aggregates, the query of its result, and the scan it reads.

    So a change of an aggregate is one of the row also if an expression or HAVING over it has the
    same value, as in Flink.
    """
    if not isinstance(operation, Select) or operation.grouping is None or operation.distinct:
        own = result_columns(operation)
        scan = scan_of(own, "changes")
        items = tuple(Item(name, Ref(name, type_, _CHANGES)) for name, type_ in own)
        return operation, Select(items, Named(scan, _CHANGES, own)), scan
    expressions = [typed for typed in expressions_of(operation) if typed is not operation.where]
    if any(is_windowed(part) for typed in expressions for part in subexpressions(typed)):
        raise _NotByRowError
    computed, above = split_groups(operation, _CHANGES)
    scan = scan_of(computed.columns, "changes")
    return computed, replace(above, source=Named(scan, _CHANGES, computed.columns)), scan


# --- versions -----------------------------------------------------------------------------------


class _Versions(NamedTuple):
    """A relation with `VERSION`, with `UNTIL` if it `has_ends`, and the columns of `keys` last.

    Before the keys are `compared` of them that only tell equal rows apart. See `OperationChanges`.
    """

    relation: Relation
    keys: Columns = ()
    is_updated: bool = False
    is_input: bool = False
    adjoins: int | None = None
    compared: int = 0
    has_ends: bool = False
    passes: _Passes = _Passes()


class _Source(NamedTuple):
    """A source of a block with its version, its keys, and the arrival of its rows."""

    relation: Relation
    version: Typed
    keys: tuple[Typed, ...]
    is_updated: bool = False
    arrival: Typed | None = None


class _Operation:
    """Methods return a relation for the rows that are there after each arrival."""

    def __init__(self) -> None:
        self.inputs: list[tuple[Scan, ChangesByRow]] = []

    def rows(self, relation: Relation, *, is_nested: bool = False) -> _Versions:
        match relation:
            case Select():
                return self._block(relation, is_nested=is_nested)
            case relational.SetOperation():
                return self._set_operation(relation)
            case relational.Sort(offset=offset, fetch=int() as fetch, keys=(_, *_)):
                return self._limit(relation, offset or 0, fetch)
            case relational.ProcessTable(input=below):
                self._input(below)
                return _Versions(relation)
            case _:
                raise _NotByRowError

    def _input(self, relation: Relation, *, has_ends: bool = False) -> _Versions:
        columns = result_columns(relation)
        reads_outer = next(relational.outer_columns(relation), None) is not None
        if reads_outer or any(has_nanoseconds(column.type) for column in columns):
            raise _NotByRowError
        changes, number = _changes_of(relation), len(self.inputs)
        ends = (Column(UNTIL, _NUMBER),) if has_ends else ()
        key = Column(f"{KEY}{number}", _NUMBER)
        scan = scan_of((*columns, Column(VERSION, _NUMBER), *ends, key), f"input{number}")
        self.inputs.append((scan, changes))
        return _Versions(scan, (key,), is_input=True, has_ends=has_ends)

    # --- blocks ----------------------------------------------------------------------------------

    def _block(self, block: Select, *, is_nested: bool = False) -> _Versions:
        if block.source is None:
            raise _NotByRowError
        _require_repeatable(expressions_of(block))
        tests = row_tests(block.where)
        conditions = [test.condition for test in tests]
        rest = [part for part in conjuncts(block.where) if part not in conditions]
        if tests and is_stateless(replace(block, where=all_of(rest))):
            return self._semi_joins(block, [test.call for test in tests])
        if isinstance(block.source, relational.Join) and is_stateless(block):
            is_outer = any(kept_sides(block.source))
            return self._outer_join(block, block.source) if is_outer else self._inner_joins(block)
        if tests or not isinstance(block.source, Named):
            block = with_derived_source(block, block.source)
        if any(map(subqueries_in, expressions_of(block))):
            raise _NotByRowError
        return self._block_of_query(block, cast("Named", block.source), is_nested=is_nested)

    def _block_of_query(self, block: Select, named: Named, *, is_nested: bool) -> _Versions:
        ranking = _ranking_of(block)
        if ranking is not None:
            block = ranking.block
            named = cast("Named", block.source)
        elif not (is_nested or block.qualify or block.grouping) and _is_by_arrival(block):
            return self._over(block, named)
        order = _order_of_numbers(block)
        # the rows of GROUP BY that only move up in an order are updated in one step
        moves_up = order is not None and _moves_up(named.input, order.places)
        source = self._source(named, is_nested=moves_up or is_stateless(block))
        if order is not None and source.arrival is None:
            source = _with_arrival(source, order.values)
        block = _with_partitions(replace(block, source=source.relation), source)
        if block.grouping is not None:
            return _groups(block, source.version)
        if block.distinct:
            return _with_hidden(block, source.version)
        if ranking is not None:
            keys = source.keys if ranking.by_row else ranking.keys
            rows = _with_hidden(block, source.version, keys, is_updated=ranking.is_updated)
            return rows._replace(adjoins=0 if ranking.by_row else None)
        return _with_hidden(block, source.version, source.keys, is_updated=source.is_updated)

    def _over(self, block: Select, named: Named) -> _Versions:
        """Return functions over the rows before each row by the processing time."""
        if not adds_rows(named.input):
            raise _NotByRowError
        source, until = self._source_with_end(named)
        block = replace(_with_partitions(block, source, is_versioned=False), source=source.relation)
        return _with_ends(block, [source.version], [until], source.keys)

    # --- sources ---------------------------------------------------------------------------------

    def _source(self, source: Named, *, is_nested: bool = False) -> _Source:
        """Return a source with its versions; if it `is_nested`, without the changes of GROUP BY."""
        if source.lateral or isinstance(source.input, relational.Snapshot):
            raise _NotByRowError
        rows = self.rows(source.input, is_nested=True) if is_nested else self._input(source.input)
        hidden = (Column(VERSION, _NUMBER), *rows.keys)
        version, *keys = (Ref(name, type_, source.alias) for name, type_ in hidden)
        arrival = keys[0] if rows.is_input else None
        named = replace(source, input=rows.relation, columns=(*source.columns, *hidden))
        return _Source(named, version, tuple(keys), rows.is_updated, arrival)

    def _source_with_end(self, source: Named) -> tuple[_Source, Typed]:
        """Return a source whose rows have their first version, and their last one."""
        if source.lateral or isinstance(source.input, relational.Snapshot):
            raise _NotByRowError
        rows = self._input(source.input, has_ends=True)
        hidden = (Column(VERSION, _NUMBER), Column(UNTIL, _NUMBER), *rows.keys)
        version, until, key = (Ref(name, type_, source.alias) for name, type_ in hidden)
        named = replace(source, input=rows.relation, columns=(*source.columns, *hidden))
        return _Source(named, version, (key,), arrival=key), until

    # --- joins -----------------------------------------------------------------------------------

    def _inner_joins(self, block: Select) -> _Versions:
        """Return the rows of inner joins: each is there while all rows that it joins are."""
        while (part := _joined_part(block.source)) is not None:
            block = with_derived_source(block, part)
        sources: dict[int, _Source] = {}
        ends = []
        for leaf in leaves_of(cast("Relation", block.source)):
            sources[id(leaf)], until = self._source_with_end(cast("Named", leaf))
            ends.append(until)
        replaced = with_sources(
            cast("Relation", block.source), {key: each.relation for key, each in sources.items()}
        )
        keys = [key for source in sources.values() for key in source.keys]
        block = replace(block, source=replaced)
        return _with_ends(block, [each.version for each in sources.values()], ends, keys)

    def _outer_join(self, block: Select, join: relational.Join) -> _Versions:
        for side in (join.left, join.right):
            if not isinstance(side, Named):
                block = with_derived_source(block, side)
        join = cast("relational.Join", block.source)
        condition = join.condition
        if condition is not None and subqueries_in(condition):
            raise _NotByRowError
        _require_repeatable([] if condition is None else [condition])
        first = len(self.inputs)
        left, right = (self._source(cast("Named", side)) for side in (join.left, join.right))
        same: Typed = FunctionCall(BUILT_IN["="][0], (left.version, right.version), _CONDITION)
        same = same if condition is None else both(condition, same)
        columns = (*left.relation.columns, *right.relation.columns)
        joined = replace(
            join, left=left.relation, right=right.relation, condition=same, columns=columns
        )
        either = FunctionCall(BUILT_IN["COALESCE"][0], (left.version, right.version), _NUMBER)
        # each row that is kept changes by itself
        kept = kept_sides(join)
        first_side, other = (right, left) if kept == (False, True) else (left, right)
        rows = _with_hidden(replace(block, source=joined), either, (*first_side.keys, *other.keys))
        removed = {first + place for place, keeps in enumerate(kept) if not keeps}
        adjoins = 0 if all(kept) else len(first_side.keys)
        return rows._replace(adjoins=adjoins, passes=_Passes(removed=frozenset(removed)))

    def _semi_joins(self, block: Select, tests: Sequence[FunctionCall]) -> _Versions:
        """Return the rows for which subqueries have rows or values, or have none."""
        if not isinstance(block.source, Named):
            raise _NotByRowError
        source = self._source(block.source)
        changed: dict[int, Typed] = {}
        for test in tests:
            *values, subquery = test.arguments
            tested = rows_of(cast("Subquery", subquery))
            if any(map(subqueries_in, values)) or not (
                isinstance(tested, Select)
                and is_stateless(tested)
                and isinstance(tested.source, Named)
            ):
                raise _NotByRowError
            versions = self._input(tested.source.input).relation
            named = replace(tested.source, input=versions, columns=result_columns(versions))
            version = Ref(VERSION, _NUMBER, named.alias)
            same: Typed = FunctionCall(BUILT_IN["="][0], (version, source.version), _CONDITION)
            same = same if tested.where is None else both(tested.where, same)
            rows = replace(tested, source=named, where=same)
            changed[id(subquery)] = replace(cast("Subquery", subquery), rows=rows)
        where = substitute(cast("Typed", block.where), lambda part: changed.get(id(part)))
        block = replace(block, source=source.relation, where=where)
        kept = _with_hidden(block, source.version, source.keys)
        return kept._replace(adjoins=0, passes=_ALL_PASS)

    # --- operations ------------------------------------------------------------------------------

    def _set_operation(self, operation: relational.SetOperation) -> _Versions:
        if operation.operator == "UNION":
            named = Named(replace(operation, all=True), _CHANGES, operation.columns)
            items = tuple(Item(name, Ref(name, type_, _CHANGES)) for name, type_ in named.columns)
            return self._block(Select(items, named, distinct=True))
        left, right = (
            _with_columns(self._input(side), operation.columns)
            for side in (operation.left, operation.right)
        )
        columns = (*operation.columns, Column(VERSION, _NUMBER))
        return _Versions(replace(operation, left=left, right=right, columns=columns))

    def _limit(self, sort: relational.Sort, offset: int, fetch: int) -> _Versions:
        """Return the first rows of each version, by a number in the order."""
        if not all(relational.is_output(key.expression) for key in sort.keys):
            raise _NotByRowError
        own = result_columns(sort.input)
        named = Named(sort.input, _CHANGES, own)
        names = [column.name for column in sort.input.columns]
        places = [names.index(cast("Ref", key.expression).name) for key in sort.keys]
        values = [Ref(*own[place], _CHANGES) for place in places]
        directions = [(place, key.descending) for place, key in zip(places, sort.keys, strict=True)]
        is_input, moves_up = adds_rows(sort.input), _moves_up(sort.input, directions)
        source = self._source(named, is_nested=moves_up)
        if source.arrival is None:
            source = _with_arrival(source, values)
        order = [
            SortedBy(value, key.descending, key.nulls_last)
            for value, key in zip(values, sort.keys, strict=True)
        ]
        order += [SortedBy(key) for key in (cast("Typed", source.arrival), *source.keys)]
        number = FunctionCall(
            BUILT_IN["ROW_NUMBER"][0], (), _NUMBER, over=Over((source.version,), tuple(order))
        )
        items = [Item(name, Ref(name, type_, _CHANGES)) for name, type_ in own]
        keys = [Item(cast("Ref", key).name, key) for key in source.keys]
        numbered = Select(
            (*items, Item(VERSION, source.version), *keys, Item(PART, number)), source.relation
        )
        place = Ref(PART, _NUMBER, _CHANGES)
        first, last = map(_number_of, (offset, offset + fetch))
        is_kept = FunctionCall(
            BUILT_IN["AND"][0],
            (
                FunctionCall(BUILT_IN[">"][0], (place, first), _CONDITION),
                FunctionCall(BUILT_IN["<="][0], (place, last), _CONDITION),
            ),
            _CONDITION,
        )
        shown = Select(tuple(items), Named(numbered, _CHANGES, numbered.columns), is_kept)
        if not (is_input or moves_up):
            return _with_hidden(shown, Ref(VERSION, _NUMBER, _CHANGES))
        return _updated_limit(shown, source, place, (offset, fetch))


def _updated_limit(
    shown: Select, source: _Source, place: Typed, bounds: tuple[int, int]
) -> _Versions:
    """Return the first rows of rows that are inserted or move up, by what Flink updates them."""
    version, (offset, fetch) = Ref(VERSION, _NUMBER, _CHANGES), bounds
    if offset:  # by their number, also by equal rows
        limited = _with_hidden(shown, version, (*source.keys, place), is_updated=True)
        return limited._replace(compared=len(source.keys))
    if fetch == 1:
        return _with_hidden(shown, version, is_updated=True)
    if not source.is_updated:
        return _with_hidden(shown, version)
    limited = _with_hidden(shown, version, source.keys, is_updated=True)
    return limited._replace(adjoins=0)


class _Ranking(NamedTuple):
    """A block that filters numbers of rows, and the columns that identify its rows."""

    block: Select
    keys: tuple[Typed, ...]
    is_updated: bool
    #: whether the rows are identified by their own keys in place of these
    by_row: bool = False


class _OrderOfNumbers(NamedTuple):
    """The order of ROW_NUMBER, and the places of its columns (`_moves_up`)."""

    values: list[Typed]
    places: list[tuple[int, bool | None]]


def _order_of_numbers(block: Select) -> _OrderOfNumbers | None:
    """Return the order of a block with one ROW_NUMBER over columns of a query."""
    source = block.source
    if (
        not isinstance(source, Named)
        or (numbered := _numbered(replace(source, input=block))) is None
    ):
        return None
    over = cast("FunctionCall", block.items[numbered[1]].expression).over
    names = [column.name for column in source.columns]
    order = () if over is None else over.order_by
    keys: list[tuple[Typed, bool | None]] = [(key.value, key.descending) for key in order]
    keys += [(key, None) for key in (() if over is None else over.partition_by)]
    places = [
        (names.index(key.name) if isinstance(key, Ref) and key.name in names else -1, descending)
        for key, descending in keys
    ]
    return _OrderOfNumbers([key.value for key in order], places)


def _moves_up(relation: Relation, order: Sequence[tuple[int, bool | None]]) -> bool:
    """Return whether the rows of GROUP BY only move up in an order, as more rows arrive.

    Args:
        relation: A query.
        order: Positions of its columns, -1 for another expression, and whether they are descending;
            None for a key of a partition.
    """
    while isinstance(relation, Select) and is_stateless(relation) and relation.where is None:
        if not isinstance(relation.source, Named):
            return False
        names = [column.name for column in relation.source.columns]
        items = [(relation.items[place].expression, kind) for place, kind in order if place >= 0]
        columns = [(names.index(key.name), kind) for key, kind in items if isinstance(key, Ref)]
        if len(columns) < len(order):
            return False
        relation, order = relation.source.input, columns
    if not isinstance(relation, Select) or relation.grouping is None or relation.having is not None:
        return False
    if (
        relation.grouping.sets is not None
        or relation.source is None
        or not adds_rows(relation.source)
    ):
        return False
    return all(
        place >= 0
        and _only_moves_up(relation.items[place].expression, kind, relation.grouping.keys)
        for place, kind in order
    )


def _only_moves_up(value: Typed, descending: bool | None, keys: Sequence[Typed]) -> bool:
    if value in keys:
        return True
    is_call = isinstance(value, FunctionCall) and value.over is None
    name = cast("FunctionCall", value).function.name if is_call else ""
    return (name, descending) in {("COUNT", True), ("MAX", True), ("MIN", False)}


def _with_arrival(source: _Source, order: Sequence[Typed]) -> _Source:
    """Return rows with the arrival since which they have the same values of an order."""
    named = cast("Named", source.relation)
    refs = [Ref(name, type_, named.alias) for name, type_ in named.columns]
    if any(isinstance(part, _UNSORTED) for value in order for part in value.type.walk()):
        raise _NotByRowError
    keys, version = (*source.keys, *order), source.version
    items = [Item(ref.name, ref) for ref in refs]
    since = Ref(SINCE, _NUMBER, named.alias)
    by_version = Over(keys, (SortedBy(version),))
    number = FunctionCall(BUILT_IN["ROW_NUMBER"][0], (), _NUMBER, over=by_version)
    numbered = Select((*items, Item(SINCE, number)), named)
    # versions that follow each other have the same difference to their numbers
    run = FunctionCall(BUILT_IN["-"][0], (version, since), _NUMBER)
    first = FunctionCall(BUILT_IN["MIN"][0], (version,), _NUMBER, over=Over((*keys, run), ()))
    rows = Select((*items, Item(SINCE, first)), Named(numbered, named.alias, numbered.columns))
    return source._replace(relation=Named(rows, named.alias, rows.columns), arrival=since)


def _ranking_of(block: Select) -> _Ranking | None:
    """Return a block over a numbering with the keys of PARTITION BY among its columns."""
    named = block.source
    if not isinstance(named, Named) or block.where is None or not is_stateless(block):
        return None
    if (numbered := _numbered(named)) is None:
        return None
    inner, place = numbered
    over = cast("FunctionCall", inner.items[place].expression).over
    partition = () if over is None else over.partition_by
    items = [Item(f"{PART}{index}", key) for index, key in enumerate(partition)]
    columns = [Column(item.name, item.expression.type) for item in items]
    below = replace(inner, items=(*inner.items, *items))
    source = Named(below, named.alias, (*named.columns, *columns))
    keys = [Ref(column.name, column.type, named.alias) for column in columns]
    number = Ref(*named.columns[place], named.alias)
    is_first = first_numbered(block) is not None
    parts = (part for item in block.items for part in subexpressions(item.expression))
    is_shown = any(reference(part) == reference(number) for part in parts) and not is_first
    if is_shown:
        keys.append(number)
    block, ranked = replace(block, source=source), cast("Named", inner.source)
    if adds_rows(ranked):
        return _Ranking(block, tuple(keys), is_first or is_shown)
    order = _order_of_numbers(inner)
    moves_up = order is not None and _moves_up(ranked.input, order.places)
    by_row = moves_up and not is_first and not is_shown
    return _Ranking(block, tuple(keys), moves_up or is_shown, by_row)


def _groups(block: Select, version: Typed) -> _Versions:
    """Return GROUP BY with the version as a further key, also of each grouping set."""
    written = cast("relational.Grouping", block.grouping)
    keys, sets = written.keys, written.sets
    is_window = any(
        isinstance(key, FunctionCall) and key.function.name in GROUP_WINDOWS for key in keys
    )
    if is_window or any(isinstance(part, _UNSORTED) for key in keys for part in key.type.walk()):
        raise _NotByRowError
    if sets is not None and len(set(map(frozenset, sets))) < len(sets):
        raise _NotByRowError  # the groups of equal sets have the same keys
    with_version = sets and tuple((*places, len(keys)) for places in sets)
    grouping = relational.Grouping((*keys, version), with_version)
    if sets and keys:
        keys = (FunctionCall(IN_QUERY["GROUPING_ID"][0], keys, _NUMBER), *keys)
    return _with_hidden(replace(block, grouping=grouping), version, keys, is_updated=True)


def _with_hidden(
    block: Select, version: Typed, keys: Sequence[Typed] = (), *, is_updated: bool = False
) -> _Versions:
    """Return a block with `VERSION` and its keys as last columns."""
    hidden = [Item(f"{KEY}{place}", key) for place, key in enumerate(keys)]
    items = (*block.items, Item(VERSION, version), *hidden)
    columns = tuple(Column(item.name, item.expression.type) for item in hidden)
    return _Versions(replace(block, items=items), columns, is_updated)


def _with_ends(
    block: Select, versions: Sequence[Typed], ends: Sequence[Typed], keys: Sequence[Typed]
) -> _Versions:
    """Return a block of rows that are there while the rows of all its sources are."""
    version, until, where = versions[0], ends[0], block.where
    if len(versions) > 1:
        version = FunctionCall(BUILT_IN["GREATEST"][0], tuple(versions), _NUMBER)
        until = FunctionCall(BUILT_IN["LEAST"][0], tuple(ends), _NUMBER)
        meets: Typed = FunctionCall(BUILT_IN["<="][0], (version, until), _CONDITION)
        where = meets if where is None else both(where, meets)
    hidden = [Item(f"{KEY}{place}", key) for place, key in enumerate(keys)]
    items = (*block.items, Item(VERSION, version), Item(UNTIL, until), *hidden)
    columns = tuple(Column(item.name, item.expression.type) for item in hidden)
    block = replace(block, items=items, where=where)
    return _Versions(block, columns, adjoins=0, has_ends=True, passes=_ALL_PASS)


def _is_by_arrival(block: Select) -> bool:
    """Return whether all functions with OVER are ordered by the processing time."""
    parts = (part for typed in expressions_of(block) for part in subexpressions(typed))
    orders = [
        part.over.order_by
        for part in parts
        if isinstance(part, FunctionCall) and part.over is not None
    ]
    return bool(orders) and all(
        len(order) == 1 and timestamp_kind(order[0].value.type) is TimestampKind.PROCTIME
        for order in orders
    )


def _with_partitions(block: Select, source: _Source, *, is_versioned: bool = True) -> Select:
    """Return a block whose functions with OVER number the rows of each version by themselves.

    Rows are in the order of their arrival where keys of ORDER BY are equal, or the processing time.
    """

    def change(typed: Typed) -> Typed | None:
        if not isinstance(typed, FunctionCall) or typed.over is None:
            return None
        over, order = typed.over, []
        for key in over.order_by:
            kind = timestamp_kind(key.value.type)
            is_number = typed.function.name in ROW_NUMBERS
            if kind in TIMES and is_versioned and not is_number:
                raise _NotByRowError
            value = source.arrival if kind is TimestampKind.PROCTIME else key.value
            if value is None:
                raise _NotByRowError
            order.append(replace(key, value=value))
        if is_versioned and source.arrival is not None and typed.function.name == "ROW_NUMBER":
            order.append(SortedBy(source.arrival))
        partition = (*over.partition_by, *((source.version,) if is_versioned else ()))
        # a row has a processing time of its own: a range of times has all rows before it
        is_range = not is_versioned and over.frame is not None and over.frame.unit == "RANGE"
        frame = None if is_range else over.frame
        changed = replace(over, partition_by=partition, order_by=tuple(order), frame=frame)
        return replace(typed, over=changed)

    items = (item._replace(expression=substitute(item.expression, change)) for item in block.items)
    qualify = None if block.qualify is None else substitute(block.qualify, change)
    return replace(block, items=tuple(items), qualify=qualify)


# --- parts of versions --------------------------------------------------------------------------


def _joined_part(source: Relation | None) -> relational.Join | None:
    """Return a join of FROM that is not an inner join of sources, if any."""
    joins = (join for join in joins_in(source) if any(kept_sides(join)) or adds_elements(join))
    return next(joins, None)


def _with_columns(rows: _Versions, columns: Columns) -> Relation:
    """Return the rows with `VERSION` and without keys."""
    own = result_columns(rows.relation)[: len(columns) + 1]
    items = tuple(Item(name, Ref(name, type_, _CHANGES)) for name, type_ in own)
    named = Named(rows.relation, _CHANGES, result_columns(rows.relation))
    return Select(items, named)


def _number_of(value: int) -> Constant:
    return Constant(Literal(LiteralKind.EXACT, str(value)), _NUMBER)


def _require_repeatable(expressions: Iterable[Typed]) -> None:
    """Require that expressions have the same values each time they are computed in a query."""
    for part in (part for typed in expressions for part in subexpressions(typed)):
        if isinstance(part, FunctionCall) and not (
            part.function.deterministic or part.function.name in CLOCKS
        ):
            raise _NotByRowError


# --- frames -------------------------------------------------------------------------------------


def frame_of_changes(
    plan: ChangesByRow,
    leaves: Mapping[int, DataFrame],
    frame_of: FrameOf,
    targets: Columns,
) -> DataFrame | None:
    """Return the changes of a query with their kinds.

    None if an operation reads more than `MAX_ROWS` changes, or if a join may return more than
    `MAX_JOINED_ROWS`.

    Args:
        plan: How they are computed.
        leaves: The frames of the queries of the user's tables, by identity.
        frame_of: Returns a query with columns as a frame, from frames for its scans by identity.
        targets: The columns of the query, and that of the kinds.
    """
    try:
        return _Frames(leaves, frame_of).frame(plan, targets)
    except _TooManyRowsError:
        return None


class _TooManyRowsError(Exception):
    """An operation reads too many rows."""


class _Frames:
    def __init__(self, leaves: Mapping[int, DataFrame], frame_of: FrameOf) -> None:
        self._leaves = leaves
        self._frame_of = frame_of

    def frame(self, plan: ChangesByRow, targets: Columns) -> DataFrame:
        """Return the changes of a query, or the rows that it only adds."""
        if not plan.operations:
            return self._leaves[id(plan.query)]
        scans: dict[int, DataFrame] = {}
        for operation in plan.operations:
            changes = self._operation(operation)
            scans |= {id(scan): changes for scan in plan.scans_of(operation)}
        return self._frame_of(plan.query, targets, scans)

    def _operation(self, operation: OperationChanges) -> DataFrame:
        """Return the changes of an operation in their order, with their kinds."""
        inputs = [
            _with_arrivals(self.frame(plan, result_columns(plan.query)), plan)
            for _, plan in operation.inputs
        ]
        if isinstance(operation.versions, relational.ProcessTable):
            ordered = inputs[0].orderBy(quote(ARRIVAL)).drop(ARRIVAL)
            inserted = f"'{RowKind.INSERT}' AS {quote(ROW_KIND)}"
            return encode_changes(ordered, operation.versions).selectExpr("*", inserted)
        counts = [frame.count() for frame in inputs]
        if sum(counts) > MAX_ROWS or _joined_rows(operation, counts) > MAX_JOINED_ROWS:
            raise _TooManyRowsError
        scans = {
            id(scan): _versions_of_rows(frame, counts, place, scan.columns, operation.has_ends)
            for place, ((scan, _), frame) in enumerate(zip(operation.inputs, inputs, strict=True))
        }
        own = result_columns(operation.versions)
        rows = self._frame_of(operation.versions, own, scans)
        keys = [column.name for column in own[len(own) - operation.keys :]]
        changes = _changes_of_versions(rows, operation, sum(counts))
        if operation.is_updated:
            changes = with_updates(changes, [VERSION, *keys])
        passes = operation.passes
        places = range(len(inputs)) if passes.removed is None else sorted(passes.removed)
        if any(operation.inputs[place][1].has_kinds for place in places):
            changes = _with_kinds_of(changes, inputs, counts, passes)
        added, version = is_added(True), quote(VERSION)
        order = [part for key in keys for part in (f"{quote(key)} IS NULL", quote(key))]
        first = len(order) if operation.adjoins is None else 2 * operation.adjoins
        order = [version, *order[:first], added, *order[first:]]
        expr = functions_of(changes).expr
        ordered = changes.repartition(1).sortWithinPartitions(*map(expr, order))
        names = [*(column.name for column in operation.changes.columns), ROW_KIND]
        return ordered.select(*map(quote, names))


def _joined_rows(operation: OperationChanges, counts: Sequence[int]) -> int:
    """Return how many rows the joins of an operation may return, for all numbers of arrived rows.

    Each row may be joined with each other one: the product grows with the power of their number.
    """
    if operation.has_ends:
        return 0
    parts = relations_in(operation.versions)
    if not any(isinstance(part, relational.Join) and not adds_elements(part) for part in parts):
        return 0
    return sum(counts) * prod(counts) // (len(counts) + 1)


def _changes_of_versions(rows: DataFrame, operation: OperationChanges, last: int) -> DataFrame:
    """Return the changes from each version to the next one: rows are added or removed."""
    hidden = {VERSION, UNTIL} if operation.has_ends else {VERSION}
    shown = [quote(name) for name in rows.columns if name not in hidden]
    version = quote(VERSION)
    ends = (version, f"{quote(UNTIL)} + 1" if operation.has_ends else f"{version} + 1")
    parts = (
        f"named_struct('at', {end}, 'kind', '{kind}')"
        for end, kind in zip(ends, _KINDS, strict=True)
    )
    exploded = rows.selectExpr(*shown, f"inline(array({', '.join(parts)}))")
    changes = exploded.selectExpr(*shown, f"at AS {version}", f"kind AS {quote(ROW_KIND)}").where(
        f"{version} <= {last}"
    )
    return changes if operation.has_ends else without_opposites(changes)


def _with_kinds_of(
    changes: DataFrame, inputs: Sequence[DataFrame], counts: Sequence[int], passes: _Passes
) -> DataFrame:
    """Return changes with the kinds of those that arrive, where these pass."""
    events: DataFrame | None = None
    for place, frame in enumerate(inputs):
        version = _version_of(ARRIVAL, counts, place)
        passing = [] if not passes.added else [is_added(True)]
        if passes.removed is None or place in passes.removed:
            passing.append(is_added(False))
        if passing:
            part = frame.where(" OR ".join(passing))
            part = part.selectExpr(f"{version} AS at", f"{quote(ROW_KIND)} AS kind")
            events = part if events is None else events.union(part)
    joined = changes.join(
        functions_of(changes).broadcast(cast("DataFrame", events)),
        functions_of(changes).expr(f"at = {quote(VERSION)}"),
        "left",
    )
    adds, removes = (
        f"('{RowKind.INSERT}', '{RowKind.UPDATE_AFTER}')",
        f"('{RowKind.DELETE}', '{RowKind.UPDATE_BEFORE}')",
    )
    kind = quote(ROW_KIND)
    is_same = (
        f"({kind} IN {adds} AND kind IN {adds}) OR ({kind} IN {removes} AND kind IN {removes})"
    )
    own = [quote(name) for name in changes.columns if name != ROW_KIND]
    return joined.selectExpr(*own, f"if({is_same}, kind, {kind}) AS {kind}")


def _with_arrivals(frame: DataFrame, plan: ChangesByRow) -> DataFrame:
    """Return the first changes of a frame with their numbers, from 1; they are computed once."""
    if not plan.has_kinds:
        frame = frame.selectExpr("*", f"'{RowKind.INSERT}' AS {quote(ROW_KIND)}")
    numbered = frame.selectExpr("*", f"monotonically_increasing_id() AS {quote(ARRIVAL)}")
    first = numbered.orderBy(quote(ARRIVAL)).limit(MAX_ROWS + 1).localCheckpoint()
    own = [quote(name) for name in frame.columns]
    number = f"CAST(row_number() OVER (ORDER BY {quote(ARRIVAL)}) AS BIGINT)"
    return first.selectExpr(*own, f"{number} AS {quote(ARRIVAL)}")


def _with_removals(frame: DataFrame) -> DataFrame:
    """Return the rows that changes add, with the number of the change that removes each, if any."""
    row = ", ".join(
        comparable(quote(field.name), field.dataType)
        for field in frame.schema.fields
        if field.name not in (ROW_KIND, ARRIVAL)
    )
    added, arrival = is_added(True), quote(ARRIVAL)
    equal = frame.selectExpr("*", f"struct({row}) AS row", f"{added} AS added").selectExpr(
        "*", f"row_number() OVER (PARTITION BY row, added ORDER BY {arrival}) AS place"
    )
    removal = f"max(if(added, NULL, {arrival})) OVER (PARTITION BY row, place)"
    return (
        equal.selectExpr("*", f"{removal} AS {quote(REMOVAL)}")
        .where("added")
        .drop("row", "added", "place")
    )


def _version_of(arrival: str, counts: Sequence[int], place: int) -> str:
    """Return the number of changes of all inputs with a change: one of each arrives in turn."""
    before = (
        f"least({count}L, {quote(arrival)}{'' if other <= place else ' - 1'})"
        for other, count in enumerate(counts)
    )
    return f"({' + '.join(before)})"


def _versions_of_rows(
    frame: DataFrame, counts: Sequence[int], place: int, columns: Columns, has_ends: bool
) -> DataFrame:
    """Return the rows of each version, or with their first and last versions if they have ends."""
    own = [quote(name) for name in frame.columns if name not in (ROW_KIND, ARRIVAL)]
    rows, first = _with_removals(frame), _version_of(ARRIVAL, counts, place)
    before = f"{_version_of(REMOVAL, counts, place)} - 1"
    last = f"if({quote(REMOVAL)} > {quote(ARRIVAL)}, {before}, {sum(counts)}L)"
    versions = (first, last) if has_ends else (f"explode(sequence({first}, {last}))",)
    hidden = [f"{version} AS hidden{number}" for number, version in enumerate(versions)]
    rows = rows.selectExpr(*own, *hidden, first)
    return rows.toDF(*(column.name for column in columns)).sortWithinPartitions(
        quote(VERSION), quote(columns[-1].name)
    )
