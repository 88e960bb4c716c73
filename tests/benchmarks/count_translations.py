"""How Spark computes the recorded expressions that Flink accepts: natively, rewritten, by Python.

    python tests/benchmarks/count_translations.py [FILE ...]

An expression counts as `udf` if its Spark nodes call a Python UDF, as `native` if each of its
functions is Spark's own, as `rewritten` otherwise, and as `refused` if it is not compiled. FILE is
a recorded file of the operations `expr` and `evaluate`; `expr`, `values` and `values-new-york`
unless given. No Spark is started.
"""

from __future__ import annotations

import sys
from collections import Counter

from properties import recorded
from properties.answers.schema import NoTables
from properties.recorded import Question
from schema_core.base.text import Span
from schema_core.errors import SchemaCoreError
from schema_core.expressions.scope import ColumnScope
from schema_core.expressions.type_checker import infer
from schema_core.query.relation import Relation
from schema_core.query.resolve import resolve_query
from schema_core.spark.compiler.expression import TranslationContext, compile_expression
from schema_core.spark.compiler.functions.rules import RULES
from schema_core.spark.compiler.query import calls_of
from schema_core.spark.compiler.translation import Translation
from schema_core.spark.compiler.tree import Fact
from schema_core.sql.parser import parse_expression
from schema_core.sql.syntax import Query
from schema_core.types import DataTypes

TABLES = recorded.document("tables")


def main() -> None:
    """Print the shares of each file, and the reasons of refusals with their number."""
    names = sys.argv[1:] or ["expr", "values", "values-new-york"]
    print(f"{'file':<18}{'cases':>7}" + "".join(f"{item.value:>11}" for item in Translation))
    reasons: Counter[str] = Counter()
    for name in names:
        count: Counter[Translation] = Counter()
        for question, answer in recorded.records(name):
            if answer["ok"]:
                kind, reason = translation(question)
                count[kind] += 1
                reasons.update([reason] if reason else [])
        cases = count.total()
        shares = (f"{100 * count[item] / cases:>10.1f}%" for item in Translation)
        print(f"{name:<18}{cases:>7}" + "".join(shares))
    for reason, times in reasons.most_common():
        print(f"{times:>5} refused: {reason}")


def translation(question: Question) -> tuple[Translation, str]:
    """Return how an expression is computed, and why not if it is refused."""
    streaming = question.get("mode", "batch") != "batch"
    columns = question.get("columns") or TABLES[question["table"]]["columns"]

    def rows(query: Query, span: Span) -> Relation:
        return resolve_query(query, NoTables(), streaming=streaming)

    types = {name: DataTypes.of(text) for name, text in columns.items()}
    scope = ColumnScope(types, streaming=streaming, subqueries=rows)
    try:
        typed = infer(scope, parse_expression(question["expr"]))
        node = compile_expression(typed, TranslationContext(question.get("zone", "UTC")))
    except SchemaCoreError as error:
        return Translation.REFUSED, error.problem
    if node.facts & Fact.UDF:
        return Translation.UDF, ""
    kinds = {
        RULES[item.function.name].kind for item in calls_of([typed]) if item.function.name in RULES
    }
    return Translation.NATIVE if kinds <= {Translation.NATIVE} else Translation.REWRITTEN, ""


if __name__ == "__main__":
    main()
