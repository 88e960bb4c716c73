"""The changes of a query of bounded tables in streaming mode, as if its rows arrived one by one.

Flink returns a result after each row. Here the rows get the number of their arrival, and the lowest
operation that updates its result is computed for the rows that have arrived until each number, in
one query: `_Prefixes` adds the number to the keys of each operation. The differences between the
results are its changes, which the projections and filters above pass on (`row_kinds`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from math import prod
from typing import TYPE_CHECKING, Final, NamedTuple, cast

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
    expressions_of,
    is_aggregate,
    kept_sides,
    relations_in,
    result_columns,
    subexpressions,
    subqueries_in,
    without_common_tables,
)
from schema_core.query.scope import IN_QUERY
from schema_core.query.updates import find_update
from schema_core.spark.changelog import ROW_KIND, is_added, with_updates, without_opposites
from schema_core.spark.compiler.query import GROUP_WINDOWS
from schema_core.spark.compiler.translation import PREFIX, has_nanoseconds
from schema_core.spark.compiler.tree import quote
from schema_core.spark.reading.row_kinds import change_query, inserts
from schema_core.spark.session.api_mode import functions_of
from schema_core.spark.streaming.stage_plans import scan_of
from schema_core.spark.streaming.time_stages import TIMES
from schema_core.sql.syntax import JoinKind, Literal, LiteralKind
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
#: The number of rows that have arrived, and that of a row.
VERSION: Final = f"{PREFIX}version"
ARRIVAL: Final = f"{PREFIX}arrival"
#: Prefixes of the names of columns that identify an updated row, and of other generated ones.
KEY: Final = f"{PREFIX}key"
PART: Final = f"{PREFIX}part"
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
#: Kinds of joins whose versions are those of one side.
_JOINS: Final = frozenset(JoinKind) - {JoinKind.FULL}
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


def adds_rows(relation: Relation) -> bool:
    """Return whether a relation of bounded tables, without views, only adds rows, as in Flink.

    The groups of a window are returned once.
    """
    is_grouped = isinstance(relation, Select) and relation.grouping is not None
    return inserts(relation) or (is_grouped and _never_updates(relation))


def _never_updates(relation: Relation) -> bool:
    return find_update(relation, lambda _: False) is None


class OperationChanges(NamedTuple):
    """How the changes of an operation are computed.

    Attributes:
        inputs: Relations whose rows arrive, with scans of these rows, their `VERSION` and their
            `ARRIVAL`.
        versions: The rows of the operation after each arrival, with `VERSION` and its keys last.
        keys: The number of keys that identify a row.
        is_updated: Whether the rows of a key are updated: otherwise they are removed and added.
        adjoins: Whether the rows of a key follow each other, also those removed and added.
        changes: A scan of the changes.
    """

    inputs: Sequence[tuple[Scan, Relation]]
    versions: Relation
    keys: int
    is_updated: bool
    adjoins: bool
    changes: Scan


class ChangesByRow(NamedTuple):
    """The changes of a query: those of its operations, and the query of these with their kinds."""

    operations: Sequence[OperationChanges]
    query: Relation

    def scans_of(self, operation: OperationChanges) -> list[Scan]:
        """Return the scans of the changes of an operation, with their kinds."""
        scans = (part for part in relations_in(self.query) if isinstance(part, Scan))
        return [scan for scan in scans if scan.table is operation.changes.table]


def changes_by_row(query: Relation) -> ChangesByRow | None:
    """Return how the changes of a query of bounded tables, without views, are computed.

    None if no row of the result is updated or removed as rows arrive, or the changes are not
    computed row by row.
    """
    query = without_common_tables(query)
    if inserts(query) or _never_updates(query):
        return None
    if sum(1 for _ in relations_in(query)) > _MAX_RELATIONS:
        return None
    if any(call.function.path and _is_aggregate(call) for call in calls_in(query)):
        return None  # Flink returns the changes of aggregates in Python bundle by bundle
    above: dict[int, Relation] = {}
    operations = []
    try:
        for operation in _operations_of(query):
            above[id(operation)], changes = _changes_of(operation)
            operations.append(changes)
    except _NotByRowError:
        return None
    tables = [operation.changes.table for operation in operations]
    kinds = change_query(
        relational.substitute_parts(query, lambda part: above.get(id(part))),
        lambda scan: any(scan.table is table for table in tables),
    )
    return None if kinds is None else ChangesByRow(operations, kinds)


def _changes_of(operation: Relation) -> tuple[Relation, OperationChanges]:
    """Return the result of an operation, from the scan of its changes, and its changes."""
    computed, above, scan = _split_groups(operation)
    if any(map(_is_not_compared, scan.columns)):
        raise _NotByRowError
    prefixes = _Prefixes()
    rows = prefixes.rows(computed)
    is_join = isinstance(computed, Select) and isinstance(computed.source, relational.Join)
    adjoins = not is_join or cast("Select", computed).grouping is not None
    keys = len(rows.keys) - rows.compared
    return above, OperationChanges(
        prefixes.inputs, rows.relation, keys, rows.is_updated, adjoins and rows.adjoins, scan
    )


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
            case Named(input=below):
                rest.append(below)
            case relational.Join(left=left) if adds_elements(query):
                rest.append(left)
            case relational.SetOperation(operator="UNION", all=True):
                sides = (query.right, query.left)
                rest += [side for side in sides if not adds_rows(side)]
            case Select(source=Named() as source) if _is_by_row(query):
                is_ranking = first_numbered(query) is not None or _numbered(source) is not None
                if is_ranking:
                    yield query
                else:
                    rest.append(source)
            case Select(source=relational.Join() as source) if _is_by_row(query) and adds_elements(
                source
            ):
                rest.append(source)
            case Select() | relational.SetOperation() | relational.Sort():
                yield query
            case _:
                raise _NotByRowError


def _is_by_row(block: Select) -> bool:
    expressions = list(expressions_of(block))
    return (
        block.grouping is None
        and not block.distinct
        and block.qualify is None
        and not any(is_windowed(part) for typed in expressions for part in subexpressions(typed))
    )


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
    keys, parts = operation.grouping.keys, dict[Typed, Ref]()

    def change(typed: Typed) -> Typed | None:
        is_grouping = isinstance(typed, FunctionCall) and typed.function.name.startswith("GROUPING")
        if typed in keys or is_aggregate(typed) or is_grouping:
            return parts.setdefault(typed, Ref(f"{PART}{len(parts)}", typed.type, _CHANGES))
        return None

    items = tuple(
        item._replace(expression=substitute(item.expression, change)) for item in operation.items
    )
    having = None if operation.having is None else substitute(operation.having, change)
    below = [Item(ref.name, typed) for typed, ref in parts.items()]
    computed = replace(operation, items=tuple(below) or operation.items, having=None)
    scan = scan_of(computed.columns, "changes")
    return computed, Select(items, Named(scan, _CHANGES, computed.columns), having), scan


# --- versions -----------------------------------------------------------------------------------


class _Versions(NamedTuple):
    """A relation with `VERSION` and the columns of `keys` last.

    Before the keys are `compared` of them that only tell equal rows apart. See `OperationChanges`.
    """

    relation: Relation
    keys: Columns
    is_updated: bool = False
    is_input: bool = False
    adjoins: bool = True
    compared: int = 0


class _Source(NamedTuple):
    """A source of a block with its version, its keys, and the arrival of its rows."""

    relation: Relation
    version: Typed
    keys: tuple[Typed, ...]
    is_updated: bool
    arrival: Typed | None = None


class _Prefixes:
    """Methods return a relation for the rows that have arrived until each number."""

    def __init__(self) -> None:
        self.inputs: list[tuple[Scan, Relation]] = []

    def rows(self, relation: Relation) -> _Versions:
        if adds_rows(relation):
            return self._input(relation)
        match relation:
            case Select():
                return self._block(relation)
            case relational.SetOperation():
                return self._set_operation(relation)
            case relational.Sort(offset=offset, fetch=int() as fetch, keys=(_, *_)):
                return self._limit(relation, offset or 0, fetch)
            case _:
                raise _NotByRowError

    def _input(self, relation: Relation) -> _Versions:
        columns = result_columns(relation)
        reads_outer = next(relational.outer_columns(relation), None) is not None
        if reads_outer or any(has_nanoseconds(column.type) for column in columns):
            raise _NotByRowError
        number = len(self.inputs)
        key = Column(f"{KEY}0", _NUMBER)
        scan = scan_of((*columns, Column(VERSION, _NUMBER), key), f"input{number}")
        self.inputs.append((scan, relation))
        return _Versions(scan, (key,), is_input=True)

    # --- blocks ----------------------------------------------------------------------------------

    def _block(self, block: Select) -> _Versions:
        expressions = list(expressions_of(block))
        if block.source is None or any(map(subqueries_in, expressions)):
            raise _NotByRowError
        _require_repeatable(expressions)
        ranking = _ranking_of(block)
        if ranking is not None:
            block = ranking.block
        source = self._source(cast("Relation", block.source))
        if (order := _order_of_numbers(block)) is not None and source.arrival is None:
            is_fixed = _moves_up(cast("Named", block.source).input, order.places)
            source = _with_arrival(source, order.values if is_fixed else None)
        block = _with_partitions(replace(block, source=source.relation), source)
        if block.grouping is not None:
            return _groups(block, source.version)
        if block.distinct:
            return _with_hidden(block, source.version)
        if ranking is not None:
            keys = source.keys if ranking.by_row else ranking.keys
            rows = _with_hidden(block, source.version, keys, is_updated=ranking.is_updated)
            return rows._replace(adjoins=not ranking.by_row)
        return _with_hidden(block, source.version, source.keys, is_updated=source.is_updated)

    # --- sources ---------------------------------------------------------------------------------

    def _source(self, source: Relation) -> _Source:
        match source:
            case Named(lateral=False):
                rows = self.rows(source.input)
                hidden = (Column(VERSION, _NUMBER), *rows.keys)
                columns = (*source.columns, *hidden)
                version, *keys = (Ref(name, type_, source.alias) for name, type_ in hidden)
                arrival = keys[0] if rows.is_input else None
                named = replace(source, input=rows.relation, columns=columns)
                return _Source(named, version, tuple(keys), rows.is_updated, arrival)
            case relational.Join():
                return self._join(source)
            case _:
                raise _NotByRowError

    def _join(self, join: relational.Join) -> _Source:
        left = self._source(join.left)
        if adds_elements(join):
            columns = (*left.relation.columns, *join.right.columns)
            added = replace(join, left=left.relation, columns=columns)
            # the elements of a row have its key, so they do not differ
            return left._replace(relation=added, is_updated=False, arrival=None)
        if join.kind not in _JOINS or (
            join.condition is not None and (subqueries_in(join.condition))
        ):
            raise _NotByRowError
        _require_repeatable([] if join.condition is None else [join.condition])
        right = self._source(join.right)
        same: Typed = FunctionCall(BUILT_IN["="][0], (left.version, right.version), _CONDITION)
        if join.condition is not None:
            same = FunctionCall(BUILT_IN["AND"][0], (join.condition, same), BooleanType())
        kind = join.kind if any(kept_sides(join)) else JoinKind.INNER
        columns = (*left.relation.columns, *right.relation.columns)
        joined = replace(
            join,
            left=left.relation,
            right=right.relation,
            kind=kind,
            condition=same,
            columns=columns,
        )
        is_outer = any(kept_sides(join))
        version = right.version if join.kind is JoinKind.RIGHT else left.version
        return _Source(joined, version, (*left.keys, *right.keys), not is_outer)

    # --- operations ------------------------------------------------------------------------------

    def _set_operation(self, operation: relational.SetOperation) -> _Versions:
        left, right = (
            _with_columns(self.rows(side), operation.columns)
            for side in (operation.left, operation.right)
        )
        columns = (*operation.columns, Column(VERSION, _NUMBER))
        return _Versions(replace(operation, left=left, right=right, columns=columns), ())

    def _limit(self, sort: relational.Sort, offset: int, fetch: int) -> _Versions:
        """Return the first rows of each version, by a number in the order."""
        if not all(relational.is_output(key.expression) for key in sort.keys):
            raise _NotByRowError
        own = result_columns(sort.input)
        source = self._source(Named(sort.input, _CHANGES, own))
        names = [column.name for column in sort.input.columns]
        places = [names.index(cast("Ref", key.expression).name) for key in sort.keys]
        values = [Ref(*own[place], _CHANGES) for place in places]
        directions = [(place, key.descending) for place, key in zip(places, sort.keys, strict=True)]
        is_input, moves_up = source.arrival is not None, _moves_up(sort.input, directions)
        if not is_input:
            source = _with_arrival(source, values if moves_up else None)
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
    return limited._replace(adjoins=False)


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
    while isinstance(relation, Select) and _is_by_row(relation) and relation.where is None:
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


def _with_arrival(source: _Source, order: Sequence[Typed] | None) -> _Source:
    """Return rows with the arrival since which they have the same values, or the same order."""
    named = source.relation
    if not isinstance(named, Named):
        return source
    refs = [Ref(name, type_, named.alias) for name, type_ in named.columns]
    same = refs[: -1 - len(source.keys)] if order is None else order
    if any(isinstance(part, _UNSORTED) for value in same for part in value.type.walk()):
        raise _NotByRowError
    keys, version = (*source.keys, *same), source.version
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
    if not isinstance(named, Named) or block.where is None or not _is_by_row(block):
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


def _with_partitions(block: Select, source: _Source) -> Select:
    """Return a block whose functions with OVER number the rows of each version by themselves.

    Rows are in the order of their arrival where keys of ORDER BY are equal, or the processing time.
    """

    def change(typed: Typed) -> Typed | None:
        if not isinstance(typed, FunctionCall) or typed.over is None:
            return None
        over, order = typed.over, []
        for key in over.order_by:
            kind = timestamp_kind(key.value.type)
            if kind in TIMES and typed.function.name not in ROW_NUMBERS:
                raise _NotByRowError
            value = source.arrival if kind is TimestampKind.PROCTIME else key.value
            if value is None:
                raise _NotByRowError
            order.append(replace(key, value=value))
        if source.arrival is not None and typed.function.name == "ROW_NUMBER":
            order.append(SortedBy(source.arrival))
        partition = (*over.partition_by, source.version)
        return replace(typed, over=replace(over, partition_by=partition, order_by=tuple(order)))

    items = (item._replace(expression=substitute(item.expression, change)) for item in block.items)
    qualify = None if block.qualify is None else substitute(block.qualify, change)
    return replace(block, items=tuple(items), qualify=qualify)


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
    inputs: Sequence[Sequence[DataFrame]],
    frame_of: FrameOf,
    targets: Columns,
) -> DataFrame | None:
    """Return the changes of a query with their kinds.

    None if it reads more than `MAX_ROWS` rows, or if a join may return more than `MAX_JOINED_ROWS`.

    Args:
        plan: How they are computed.
        inputs: The rows of the inputs of each operation.
        frame_of: Returns a query with columns as a frame, from frames for its scans by identity.
        targets: The columns of the query, and that of the kinds.
    """
    numbered = [list(map(_with_arrivals, frames)) for frames in inputs]
    counts = [[frame.count() for frame in frames] for frames in numbered]
    if sum(map(sum, counts)) > MAX_ROWS or any(
        _joined_rows(operation, numbers) > MAX_JOINED_ROWS
        for operation, numbers in zip(plan.operations, counts, strict=True)
    ):
        return None
    scans: dict[int, DataFrame] = {}
    for operation, frames, numbers in zip(plan.operations, numbered, counts, strict=True):
        changes = _frame_of_operation(operation, frames, numbers, frame_of)
        scans |= {id(scan): changes for scan in plan.scans_of(operation)}
    return frame_of(plan.query, targets, scans)


def _joined_rows(operation: OperationChanges, counts: Sequence[int]) -> int:
    """Return how many rows the joins of an operation may return, for all numbers of arrived rows.

    Each row may be joined with each other one: the product grows with the power of their number.
    """
    parts = relations_in(operation.versions)
    if not any(isinstance(part, relational.Join) and not adds_elements(part) for part in parts):
        return 0
    return sum(counts) * prod(counts) // (len(counts) + 1)


def _frame_of_operation(
    operation: OperationChanges,
    inputs: Sequence[DataFrame],
    counts: Sequence[int],
    frame_of: FrameOf,
) -> DataFrame:
    """Return the changes of an operation in their order, with their kinds."""
    scans = {
        id(scan): _versions_of_rows(frame, counts, place, scan.columns)
        for place, ((scan, _), frame) in enumerate(zip(operation.inputs, inputs, strict=True))
    }
    own = result_columns(operation.versions)
    rows = frame_of(operation.versions, own, scans)
    version, keys = quote(VERSION), [column.name for column in own[len(own) - operation.keys :]]
    shown = [quote(name) for name, _ in own if name != VERSION]
    parts = (f"struct({later}, '{kind}')" for later, kind in enumerate(_KINDS))
    exploded = rows.selectExpr("*", f"inline(array({', '.join(parts)})) AS (later, kind)")
    changes = exploded.selectExpr(
        *shown, f"{version} + later AS {version}", f"kind AS {quote(ROW_KIND)}"
    ).where(f"{version} <= {sum(counts)}")
    changes = without_opposites(changes)
    if operation.is_updated:
        changes = with_updates(changes, [VERSION, *keys])
    added = is_added(True)
    order = [part for key in keys for part in (f"{quote(key)} IS NULL", quote(key))]
    order = [version, *((*order, added) if operation.adjoins else (added, *order))]
    expr = functions_of(changes).expr
    ordered = changes.repartition(1).sortWithinPartitions(*map(expr, order))
    names = [*(column.name for column in operation.changes.columns), ROW_KIND]
    return ordered.select(*map(quote, names))


def _with_arrivals(frame: DataFrame) -> DataFrame:
    """Return the first rows of a frame with their numbers, from 1; they are computed once."""
    numbered = frame.selectExpr("*", f"monotonically_increasing_id() AS {quote(ARRIVAL)}")
    first = numbered.orderBy(quote(ARRIVAL)).limit(MAX_ROWS + 1).localCheckpoint()
    own = [quote(name) for name in frame.columns]
    number = f"CAST(row_number() OVER (ORDER BY {quote(ARRIVAL)}) AS BIGINT)"
    return first.selectExpr(*own, f"{number} AS {quote(ARRIVAL)}")


def _versions_of_rows(
    frame: DataFrame, counts: Sequence[int], place: int, columns: Columns
) -> DataFrame:
    """Return the rows of each version: a row of each input arrives in turn."""
    arrival = quote(ARRIVAL)
    before = (
        f"least({count}L, {arrival}{'' if other <= place else ' - 1'})"
        for other, count in enumerate(counts)
    )
    versions = f"sequence({' + '.join(before)}, {sum(counts)}L)"
    own = [quote(name) for name in frame.columns if name != ARRIVAL]
    rows = frame.selectExpr(*own, f"explode({versions}) AS {quote(VERSION)}", arrival)
    return rows.toDF(*(column.name for column in columns)).sortWithinPartitions(
        quote(VERSION), quote(columns[-1].name)
    )
