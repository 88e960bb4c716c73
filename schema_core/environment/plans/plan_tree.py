"""The typed plan of a query as a tree, for EXPLAIN: as text, and as JSON like Flink's."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from typing import TypeAlias, assert_never

from schema_core.base.lazy import NamedTuple
from schema_core.base.secrets import mask_query
from schema_core.base.text import quote_identifier
from schema_core.environment.plans.changelog_mode import ChangelogMode
from schema_core.errors import UnsupportedError
from schema_core.expressions.to_sql import to_sql
from schema_core.expressions.typed import Select as Subquery
from schema_core.expressions.typed import Typed
from schema_core.query import relation as relational
from schema_core.sql.printer import print_expression
from schema_core.sql.statement_syntax import format_value
from schema_core.sql.syntax import JoinKind
from schema_core.types import RowKind

#: Returns the changes of a relation's rows, None if it is only computed within another.
ChangesOf: TypeAlias = Callable[[relational.Relation], ChangelogMode | None]

#: Kind of a change -> its name in Flink's plans.
_KINDS_OF_CHANGES = {
    RowKind.INSERT: "I",
    RowKind.UPDATE_BEFORE: "UB",
    RowKind.UPDATE_AFTER: "UA",
    RowKind.DELETE: "D",
}


class PlanNode(NamedTuple):
    """One node of a plan: its kind, attributes as text, and the nodes that it reads.

    `changes` are the changes of its rows, if they are to be shown and known.
    """

    kind: str
    attributes: tuple[tuple[str, str], ...]
    inputs: tuple[PlanNode, ...] = ()
    changes: ChangelogMode | None = None

    def text(self) -> str:
        """Return the node without its inputs: ``Scan(table=[c.d.t], fields=[a INT])``."""
        changes: tuple[tuple[str, str], ...] = ()
        if (mode := self.changes) is not None:
            kinds = (name for kind, name in _KINDS_OF_CHANGES.items() if mode.contains(kind))
            changes = (("changelogMode", ",".join(kinds)),)
        shown = ", ".join(f"{name}=[{value}]" for name, value in (*self.attributes, *changes))
        return f"{self.kind}({shown})"


def sink_node(
    path: str, columns: Iterable[str], query: PlanNode, *more: tuple[str, str]
) -> PlanNode:
    """Return the node of a table that a query is written into."""
    fields = ", ".join(map(quote_identifier, columns))
    return PlanNode("Sink", (("table", path), ("fields", fields), *more), (query,), query.changes)


def tree_text(root: PlanNode) -> str:
    """Return a plan as an indented tree.

    >>> values = PlanNode("Values", (("rows", "1"),))
    >>> print(tree_text(PlanNode("Union", (("all", "true"),), (values, values))))
    Union(all=[true])
    :- Values(rows=[1])
    +- Values(rows=[1])
    """
    lines: list[str] = []
    waiting: list[tuple[PlanNode, str, str]] = [(root, "", "")]
    while waiting:
        node, first, rest = waiting.pop()
        lines.append(f"{first}{node.text()}")
        last = len(node.inputs) - 1
        for place, item in reversed(list(enumerate(node.inputs))):
            mark, bar = ("+- ", "   ") if place == last else (":- ", ":  ")
            waiting.append((item, f"{rest}{mark}", f"{rest}{bar}"))
    return "\n".join(lines)


def tree_json(root: PlanNode) -> str:
    """Return a plan as JSON: a list of nodes, each after the nodes that it reads.

    >>> json.loads(tree_json(PlanNode("Values", (("rows", "1"),))))["nodes"][0]["contents"]
    'Values(rows=[1])'
    """
    nodes: list[dict[str, object]] = []
    numbers: dict[int, int] = {}
    for node in _inputs_first(root):
        numbers[id(node)] = len(nodes) + 1
        nodes.append({
            "id": len(nodes) + 1,
            "type": node.kind,
            "pact": "Data Sink" if node.kind == "Sink" else "Operator" if node.inputs
            else "Data Source",
            "contents": node.text(),
            "predecessors": [{"id": numbers[id(input_)]} for input_ in node.inputs],
        })  # fmt: skip
    return json.dumps({"nodes": nodes}, indent=2)


def _inputs_first(root: PlanNode) -> list[PlanNode]:
    nodes, waiting = list[PlanNode](), [root]
    while waiting:
        nodes.append(waiting.pop())
        waiting += nodes[-1].inputs
    return nodes[::-1]


# --- relations ------------------------------------------------------------------------------------


def plan_node(relation: relational.Relation, changes_of: ChangesOf | None = None) -> PlanNode:
    """Return the plan of a resolved query; with `changes_of`, it shows the changes of each part."""
    finished: list[PlanNode] = []
    waiting: list[tuple[relational.Relation, bool]] = [(relation, False)]
    while waiting:
        one, is_done = waiting.pop()
        inputs = _inputs(one)
        if not is_done:
            waiting.append((one, True))
            waiting += [(each, False) for each in reversed(inputs)]
            continue
        start = len(finished) - len(inputs)
        read = tuple(finished[start:])
        del finished[start:]
        node = _node(one, read)
        finished.append(node if changes_of is None else node._replace(changes=changes_of(one)))
    return finished[0]


def _inputs(relation: relational.Relation) -> tuple[relational.Relation, ...]:
    """Return what a relation reads; a chain of one set operator reads all its operands."""
    match relation:
        case (
            relational.Scan()
            | relational.CommonScan()
            | relational.Unnest()
            | relational.FunctionTable()
            | relational.Values()
        ):
            return ()
        case relational.Select(source=source):
            return () if source is None else (source,)
        case relational.Join(left, right):
            return (left, right)
        case relational.SetOperation():
            return tuple(_operands(relation))
        case relational.With(tables, inner):
            return (*(table.relation for table in tables), inner)
        case (
            relational.Named()
            | relational.Snapshot()
            | relational.WindowTable()
            | relational.ProcessTable()
            | relational.VectorSearch()
            | relational.Sample()
            | relational.Match()
            | relational.Sort()
        ):
            return (relation.input,)
        case _:
            assert_never(relation)


def _operands(operation: relational.SetOperation) -> Iterator[relational.Relation]:
    """Yield the operands of a chain of one set operator from left to right."""
    rights: list[relational.Relation] = []
    left: relational.Relation = operation
    same = (operation.operator, operation.all)
    while isinstance(left, relational.SetOperation) and (left.operator, left.all) == same:
        rights.append(left.right)
        left = left.left
    yield left
    yield from reversed(rights)


def _node(relation: relational.Relation, inputs: tuple[PlanNode, ...]) -> PlanNode:
    if isinstance(relation, relational.Named):
        return _alias_node(relation, inputs[0])
    attributes = [(name, text) for name, text in _attributes(relation) if text]
    return PlanNode(KINDS[type(relation)], tuple(attributes), inputs)


def _alias_node(named: relational.Named, input_: PlanNode) -> PlanNode:
    """Return the node of a source with its alias, unless that is the name of its table."""
    table = dict(input_.attributes).get("table", "")
    is_name = input_.kind in (KINDS[relational.Scan], KINDS[relational.CommonScan]) and (
        table == named.alias or table.endswith(f".{named.alias}")
    )
    alias = () if is_name else (("alias", named.alias),)
    lateral = (("lateral", "true"),) if named.lateral else ()
    return input_._replace(attributes=(*input_.attributes, *alias, *lateral))


KINDS: dict[type, str] = {
    relational.Scan: "Scan",
    relational.Snapshot: "Snapshot",
    relational.CommonScan: "CommonTableScan",
    relational.Join: "Join",
    relational.Unnest: "Unnest",
    relational.WindowTable: "WindowTable",
    relational.FunctionTable: "TableFunction",
    relational.ProcessTable: "ProcessTableFunction",
    relational.Sample: "Sample",
    relational.VectorSearch: "VectorSearch",
    relational.Match: "Match",
    relational.Select: "Select",
    relational.Values: "Values",
    relational.SetOperation: "SetOperation",
    relational.Sort: "Sort",
    relational.With: "With",
}


def _attributes(relation: relational.Relation) -> Iterator[tuple[str, str]]:
    """Yield the attributes of a relation, also those without text."""
    match relation:
        case relational.Select():
            yield from _of_select(relation)
        case relational.Scan(table, columns, hints, timestamp):
            yield "table", table.identifier.as_summary_string()
            yield "fields", _fields(columns)
            yield "hints", ", ".join(map(format_value, hints))
            yield "timestamp", "" if timestamp is None else str(timestamp)
        case relational.Snapshot(period=period):
            yield "period", _sql(period)
        case relational.CommonScan(name, columns):
            yield "table", name
            yield "fields", _fields(columns)
        case relational.Join(kind=kind, condition=condition):
            yield "kind", "CROSS JOIN" if kind is JoinKind.COMMA else kind.value
            yield "condition", "" if condition is None else _sql(condition)
        case relational.Sort(keys=keys, offset=offset, fetch=fetch):
            yield "orderBy", ", ".join(map(_key, keys))
            yield "offset", "" if offset is None else str(offset)
            yield "fetch", "" if fetch is None else str(fetch)
        case relational.SetOperation(operator=operator, all=is_all):
            yield "operator", f"{operator}{' ALL' if is_all else ''}"
            yield "fields", _fields(relation.columns)
        case relational.Values(rows, columns):
            yield "rows", str(len(rows))
            yield "fields", _fields(columns)
        case relational.With(tables=tables, recursive=recursive):
            yield "tables", ", ".join(table.name for table in tables)
            yield "recursive", "true" if recursive else ""
        case _:
            yield from _of_source(relation)


def _of_select(select: relational.Select) -> Iterator[tuple[str, str]]:
    yield "distinct", "true" if select.distinct else ""
    yield "items", ", ".join(map(_item, select.items))
    for name in ("where", "having", "qualify"):
        condition: Typed | None = getattr(select, name)
        yield name, "" if condition is None else _sql(condition)
    yield "groupBy", "" if select.grouping is None else _grouping(select.grouping)
    yield "hints", ", ".join(map(format_value, select.hints))


def _of_source(relation: relational.Relation) -> Iterator[tuple[str, str]]:
    match relation:
        case relational.Unnest(collection, ordinality):
            yield "collection", _sql(collection)
            yield "ordinality", "true" if ordinality else ""
        case relational.WindowTable(function, _, time, sizes, partition_by):
            yield "window", f"{function}({', '.join(map(_sql, (time, *sizes)))})"
            yield "partitionBy", ", ".join(map(_sql, partition_by))
        case relational.FunctionTable(call):
            yield "call", _sql(call)
        case relational.ProcessTable(call=call):
            yield "call", print_expression(call)
        case relational.VectorSearch(searched=searched, query=vector, limit=limit):
            yield "search", f"{_sql(searched)} near {_sql(vector)}"
            yield "limit", str(limit)
        case relational.Sample(method=method, percentage=percentage):
            yield "method", method
            yield "percentage", _sql(percentage)
        case relational.Match(measures=measures):
            yield "measures", ", ".join(map(_item, measures))
    yield "fields", _fields(relation.columns)


# --- parts ----------------------------------------------------------------------------------------


def _sql(typed: Typed) -> str:
    """Return an expression as SQL, or a placeholder for one without SQL syntax."""
    try:
        text = to_sql(typed)
    except UnsupportedError:
        return f"<{type(typed).__name__.lower()} of type {typed.type.as_summary_string()}>"
    shown = (mask_query(text) if "/*+" in text else text).replace("\n", " ")
    return f"({shown})" if isinstance(typed, Subquery) else shown


def _fields(columns: relational.Columns) -> str:
    return ", ".join(
        f"{quote_identifier(name)} {type_.as_summary_string()}" for name, type_ in columns
    )


def _item(item: relational.Item) -> str:
    text, type_ = _sql(item.expression), item.expression.type.as_summary_string()
    name = quote_identifier(item.name)
    is_column = text == name or text.endswith(f".{name}")
    return f"{text} {type_}" if is_column else f"{text} AS {name} {type_}"


def _key(key: relational.Key) -> str:
    direction = " DESC" if key.descending else ""
    nulls = {None: "", True: " NULLS LAST", False: " NULLS FIRST"}[key.nulls_last]
    return f"{_sql(key.expression)}{direction}{nulls}"


def _grouping(grouping: relational.Grouping) -> str:
    keys = [_sql(key) for key in grouping.keys]
    if grouping.sets is None:
        return ", ".join(keys) or "()"
    sets = (f"({', '.join(keys[place] for place in set_)})" for set_ in grouping.sets)
    return f"GROUPING SETS ({', '.join(sets)})"
