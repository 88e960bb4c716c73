"""Functions that exist only in queries: over sub-queries, groups, and matches of a row pattern."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from schema_core.errors import SchemaError
from schema_core.expressions.functions.collections import multiset
from schema_core.expressions.signature_dsl import ANY, exactly, never
from schema_core.expressions.signatures import ArgumentTypes, Function, Kind, Parameter
from schema_core.expressions.typed import FunctionCall, Select, Typed, walk
from schema_core.types import DataType, RowType, TimestampKind
from schema_core.types import DataTypes as T
from schema_core.types.common import least_restrictive

over_rows = partial(Function, nullability=never, many_rows=True)
of_group = partial(Function, nullability=never, kind=Kind.AGGREGATE)
of_match = partial(Function, nullability=never)

COUNT_TYPE = exactly(T.BIGINT())


def array_of_rows(args: ArgumentTypes) -> DataType:
    """Return the type of ARRAY over a query; several columns form a row."""
    return T.ARRAY(args.types[0])


def multiset_of_rows(args: ArgumentTypes) -> DataType:
    """Return the type of MULTISET over a query."""
    return T.MULTISET(args.types[0])


def map_of_rows(args: ArgumentTypes) -> DataType:
    """Return the type of MAP over a query, whose first column holds the keys.

    Raises:
        SchemaError: with code `subquery-column-count` unless there are two columns.
    """
    match args.types[0]:
        case RowType(fields=(key, value)):
            return T.MAP(key.data_type, value.data_type)
        case _:
            raise SchemaError("MAP requires a query with two columns", code="subquery-column-count")


def _without_rows(args: ArgumentTypes) -> DataType | None:
    """Return the least restrictive type of arguments without rows, aggregates and sub-queries."""
    parts = (part for tree in args.trees for part in walk(tree))
    if any(map(_reads_rows, parts)):
        return None
    found = least_restrictive(args.types)
    return None if isinstance(found, RowType) else found


def _reads_rows(part: Typed) -> bool:
    if isinstance(part, FunctionCall):
        return part.function.kind is Kind.AGGREGATE and part.over is None
    return isinstance(part, Select)


#: An element of a MULTISET, which Flink plans as a table; in a schema it reads no columns either.
ELEMENT = Parameter("<ANY> except rows", lambda args, _: args.memoized(_without_rows))


def match_rowtime(args: ArgumentTypes) -> DataType:
    """Return the event time of a match, with the kind of the named column, if there is one."""
    if args.types:
        return args.types[0].not_null()
    return T.TIMESTAMP(3).with_kind(TimestampKind.ROWTIME)


FUNCTIONS = (
    over_rows("EXISTS",         (ANY,), exactly(T.BOOLEAN())),
    over_rows("ARRAY QUERY",    (ANY,), array_of_rows),
    over_rows("MULTISET QUERY", (ANY,), multiset_of_rows),
    over_rows("MAP QUERY",      (ANY,), map_of_rows),
    Function("MULTISET",        (ELEMENT,), multiset, repeats=1, nullability=never),
    of_group("GROUPING",        (ANY,), COUNT_TYPE, repeats=1),
    of_group("GROUPING_ID",     (ANY,), COUNT_TYPE, repeats=1),
    of_group("GROUP_ID",        (),     COUNT_TYPE),
)  # fmt: skip

#: Functions that describe the grouping set of a group.
OF_GROUPING = frozenset({"GROUPING", "GROUPING_ID", "GROUP_ID"})

IN_MATCH = (
    of_match("MATCH_ROWTIME",  (ANY,), match_rowtime, optional=1),
    of_match("MATCH_PROCTIME", (),
             exactly(T.TIMESTAMP_LTZ(3).with_kind(TimestampKind.PROCTIME))),
)  # fmt: skip

#: Name -> functions that exist in any query.
IN_QUERY: Mapping[str, tuple[Function, ...]] = {one.name: (one,) for one in FUNCTIONS}

#: Name -> functions that exist in the measures and definitions of a row pattern.
IN_PATTERN: Mapping[str, tuple[Function, ...]] = {
    **IN_QUERY,
    **{one.name: (one,) for one in IN_MATCH},
}
