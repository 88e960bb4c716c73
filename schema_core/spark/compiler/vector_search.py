"""VECTOR_SEARCH as a sorted query: the exact nearest rows by the measure that the call declares."""

from __future__ import annotations

from typing import Protocol

from schema_core.environment.connector import validate_options
from schema_core.environment.model_provider import ASYNC_OPTIONS
from schema_core.environment.options import ConfigOption, choice
from schema_core.expressions.typed import Typed
from schema_core.query import relation as relational
from schema_core.spark.compiler import tree
from schema_core.spark.compiler.functions.casts import convert
from schema_core.spark.compiler.translation import is_orderable
from schema_core.spark.compiler.tree import Node, quote, string

#: How near vectors are. Connectors of Flink decide it; here the config of a call declares it.
METRIC = ConfigOption("metric", choice("COSINE", "DOT_PRODUCT", "EUCLIDEAN"))

_DOT = "aggregate(zip_with({x}, {y}, (a, b) -> double(a) * double(b)), 0D, (s, p) -> s + p)"
_LENGTHS = "sqrt({of_x}) * sqrt({of_y})".format(
    **{
        f"of_{name}": f"aggregate({{{name}}}, 0D, (s, a) -> s + double(a) * double(a))"
        for name in ("x", "y")
    }
)
_DIFFERENCES = "zip_with({x}, {y}, (a, b) -> double(a) - double(b))"

#: Measure -> the score of the vectors `x` and `y`, and whether the nearest have the largest one.
SCORES: dict[str, tuple[str, bool]] = {
    "COSINE": (f"coalesce({_DOT} / nullif({_LENGTHS}, 0D), double('NaN'))", True),
    "DOT_PRODUCT": (_DOT, True),
    "EUCLIDEAN": (f"sqrt(aggregate({_DIFFERENCES}, 0D, (s, d) -> s + d * d))", False),
}

#: Vectors of which a score is computed; other rows have none.
_CHECKED = (
    "CASE WHEN {x} IS NULL OR {y} IS NULL THEN NULL"
    " WHEN size({x}) <> size({y}) THEN double(raise_error(concat({problem},"
    " size({y}), ' and ', size({x}), ' numbers')))"
    " WHEN exists({x}, a -> a IS NULL) OR exists({y}, a -> a IS NULL)"
    " THEN double(raise_error({null}))"
    " ELSE {score} END"
)
_SEARCHED, _SCORE = "the_searched", "the_score"


class SearchCompiler(Protocol):
    """What this module uses of the compiler of queries."""

    @property
    def zone(self) -> str: ...

    def compile(self, expression: Typed) -> Node: ...

    def collection(self, node: Node) -> str:
        """Return the text of a collection."""
        ...

    def write(self, relation: relational.Relation) -> str:
        """Return the text of a query."""
        ...


def write_vector_search(compiler: SearchCompiler, search: relational.VectorSearch) -> str:
    """Return the nearest rows of a table; rows with equal scores are sorted by their columns.

    Raises:
        SchemaError: `invalid-option-value` or `unknown-option` for the config of the call.
        UnsupportedError: `not-executable` for a call that does not declare the measure.
    """
    validate_options((METRIC, *ASYNC_OPTIONS), search.config, ())
    metric = METRIC.of(search.config)
    if metric is None:
        raise tree.unsupported_error(
            "VECTOR_SEARCH requires the measure of nearness on Spark",
            hint="add it to the config of the call: MAP['metric', 'COSINE'], 'DOT_PRODUCT' or"
            " 'EUCLIDEAN'",
        )
    columns = relational.result_columns(search.input)
    names = [quote(column.name) for column in columns]
    own = f"{quote(_SEARCHED)}.{quote(search.searched.name)}"
    node = compiler.compile(search.query)
    vector = compiler.collection(
        convert(node, search.query.type, search.searched.type, compiler.zone)
    )
    score, is_descending = SCORES[metric]
    checked = _CHECKED.format(
        x=own,
        y=vector,
        score=score.format(x=own, y=vector),
        problem=string("VECTOR_SEARCH requires vectors of equal length, got "),
        null=string("VECTOR_SEARCH requires vectors without NULL"),
    )
    rows = (
        f"SELECT *, {checked} AS {_SCORE} FROM ({compiler.write(search.input)})"
        f" AS {quote(_SEARCHED)}({', '.join(names)})"
    )
    ties = (
        name if is_orderable(column.type) else f"CAST({name} AS STRING)"
        for name, column in zip(names, columns, strict=True)
    )
    order = [f"isnan({_SCORE})", f"{_SCORE}{' DESC' if is_descending else ''}", *ties]
    return (
        f"SELECT {', '.join(names)}, {_SCORE} FROM ({rows}) WHERE {_SCORE} IS NOT NULL"
        f" ORDER BY {', '.join(order)} LIMIT {search.limit}"
    )
