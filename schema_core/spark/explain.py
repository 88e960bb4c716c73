"""The text of EXPLAIN: types, functions, scans and what is pushed down, Spark SQL and plan."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import field
from typing import TYPE_CHECKING

from schema_core.base.lazy import dataclass
from schema_core.expressions.to_sql import to_sql
from schema_core.expressions.typed import FunctionCall, Typed
from schema_core.query.relation import (
    Columns,
    Relation,
    Select,
    calls_in,
    conjuncts,
    relations_in,
    subexpressions,
)
from schema_core.schema.columns import ComputedColumn
from schema_core.schema.explanation import format_name
from schema_core.spark.compiler.functions.rules import RULES
from schema_core.spark.compiler.translation import Translation
from schema_core.spark.connector import SupportsFilterExplanation
from schema_core.spark.filters import Filter
from schema_core.spark.reading.pushdown import obstacle
from schema_core.spark.session.api_mode import is_connect

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from schema_core.spark.connector import ReadContext, SparkConnector
    from schema_core.spark.reading.pushdown import ScanDemand


#: Partitions that EXPLAIN lists by name.
MAX_PARTITIONS = 3


@dataclass(slots=True)
class ExplainRecorder:
    """Records a query's scans and expressions for EXPLAIN."""

    scans: list[str] = field(default_factory=list)
    computed: list[Typed] = field(default_factory=list)
    #: what a streaming query keeps between micro-batches; None of other queries
    state: list[str] | None = None
    text: str = ""

    def scan(
        self,
        connector: SparkConnector,
        context: ReadContext,
        demand: ScanDemand,
        frame: DataFrame | None,
    ) -> None:
        """Record what a connector gets of a query's columns, filters and limit.

        `frame` is what it returned; None if an earlier query used that.
        """
        physical = context.physical_columns
        lines = [f"{context.identifier.as_summary_string()} by connector {connector.identifier!r}"]
        used = [name for name in physical if name in demand.columns]
        lines.append(f"  columns: {', '.join(used) or 'none'} ({len(used)} of {len(physical)})")
        if nested := [path for path in context.projected_fields or () if len(path) > 1]:
            lines.append(
                f"  fields: {', '.join('.'.join(map(format_name, path)) for path in nested)}"
            )
        accepted = {str(filter_) for filter_ in context.filters}
        offered = [Filter(each, context.zone) for each in demand.filters]
        if context.aggregation is not None:
            lines[1:] = [f"  aggregates: {context.aggregation}"]
            offered = list(context.aggregation.filters)
            accepted = {*map(str, offered)}
        if context.top_n is not None:
            accepted |= set(map(str, context.top_n.filters))
        for item in offered:
            by = "Spark (see its plan)"
            if str(item) in accepted:
                by = "the connector"
            elif frame is not None and isinstance(connector, SupportsFilterExplanation):
                by = connector.explain_filter(item, frame, context)
            lines.append(f"  filter for {by}: {item}")
        if context.partitions is not None:
            shown = ", ".join(map(str, context.partitions[:MAX_PARTITIONS])) or "none"
            more = ", ..." if len(context.partitions) > MAX_PARTITIONS else ""
            lines.append(f"  partitions: {len(context.partitions)} ({shown}{more})")
        if context.limit is not None:
            lines.append(f"  limit: {context.limit}")
        if context.top_n is not None:
            lines.append(f"  first rows: {context.top_n}")
        self.computed += [
            column.expression.typed
            for column in context.table.resolved_schema.columns
            if isinstance(column, ComputedColumn) and column.name in demand.columns
        ]
        self.scans.append("\n".join(lines))


def explain_query(query: Relation, columns: Columns, recorder: ExplainRecorder, plan: str) -> str:
    """Return a query's explanation as text in sections."""
    sections = {
        "Result": [f"{column.name} {column.type.as_summary_string()}" for column in columns],
        "Functions": _functions([*calls_in(query), *_calls_within(recorder.computed)]),
        "Scans": [*recorder.scans, *_filters_not_pushed(query)],
        **({} if recorder.state is None else {"State": recorder.state}),
        "Spark SQL": [recorder.text],
        "Spark's plan": [plan],
    }
    return "\n\n".join(
        f"== {title} ==\n" + "\n".join(lines or ["none"]) for title, lines in sections.items()
    )


def plan_of(frame: DataFrame, text: str) -> str:
    """Return Spark's plans of the frame of a query in Spark SQL."""
    if is_connect(frame):
        return str(frame.sparkSession.sql(f"EXPLAIN EXTENDED {text}").collect()[0][0])
    return str(frame._jdf.queryExecution().toString())  # noqa: SLF001


_TAGS = {
    Translation.NATIVE: "native, Spark's own",
    Translation.REWRITTEN: "rewritten in functions of Spark",
    Translation.UDF: "Python, for some arguments at least",
}


def _functions(calls: Iterable[FunctionCall]) -> list[str]:
    """Return a line for each way of computing functions, with their names."""
    names = {call.function.name: call for call in calls}
    found: dict[str, list[str]] = {}
    for name, call in sorted(names.items()):
        rule = None if call.function.declared is not None else RULES.get(name)
        tag = "declared by users" if rule is None else _TAGS[rule.kind]
        found.setdefault(tag, []).append(name)
    return [f"{tag}: {', '.join(names)}" for tag, names in sorted(found.items())]


def _filters_not_pushed(query: Relation) -> list[str]:
    """Return a line for each condition of WHERE that is not pushed down, with the reason."""
    return [
        f"not pushed down: {to_sql(conjunct)}: {why}"
        for block in relations_in(query)
        if isinstance(block, Select)
        for conjunct in conjuncts(block.where)
        if (why := obstacle(conjunct)) is not None
    ]


def _calls_within(expressions: Iterable[Typed]) -> Iterator[FunctionCall]:
    for expression in expressions:
        yield from (
            subexpression
            for subexpression in subexpressions(expression)
            if isinstance(subexpression, FunctionCall)
        )
