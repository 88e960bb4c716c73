"""Whether Spark's analyser accepts the SQL for everything that resolves and is not refused.

    python -m properties.analysis [--files query,expr,values] [--every N] [--show N]

Every recorded query and expression is resolved as for a batch job, written in Spark SQL over empty
tables, and analysed but not run. What we refuse ourselves counts as refused; any error of Spark's
is a failure.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING

from properties import recorded
from properties.answers.query import QuestionTables
from properties.answers.schema import NoTables
from properties.recorded import Question
from schema_core.base.text import Span
from schema_core.errors import SchemaCoreError, UnsupportedError
from schema_core.expressions.scope import ColumnScope
from schema_core.expressions.type_checker import infer, scalar
from schema_core.expressions.typed import Select
from schema_core.mappings.spark.pyspark_types import to_spark_sql
from schema_core.query.relation import Column, Columns, Relation, Scan
from schema_core.query.resolve import resolve_query
from schema_core.spark.compiler.expression import (
    TranslationContext,
    compile_expression,
    from_physical,
    to_physical,
)
from schema_core.spark.compiler.query import QueryCompiler, query_text
from schema_core.spark.compiler.tree import Column as ColumnNode
from schema_core.spark.compiler.tree import quote, to_sql, with_alias
from schema_core.sql.parser import parse_expression, parse_query
from schema_core.sql.syntax import Query
from schema_core.types import DataTypes

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: The table that recorded expressions read.
SOURCE = "t"


@dataclass(slots=True)
class Report:
    """How many cases were analysed, how many we refused, and Spark's errors for the rest."""

    analysed: int = 0
    refused: int = 0
    failures: list[tuple[str, str]] = field(default_factory=list)


def empty_table(columns: Columns) -> str:
    """A query of no rows with these columns in the types in which connectors hand them over.

    Raises:
        UnsupportedError: for a type that Spark has no values of.
    """
    nulls = (
        f"CAST(NULL AS {to_spark_sql(column.type)}) AS {quote(column.name)}" for column in columns
    )
    return f"(SELECT {', '.join(nulls)} LIMIT 0)"


def scan_of_nothing(scan: Scan) -> str:
    """The empty table that a scan reads."""
    return empty_table(scan.columns)


def query_sql(question: Question) -> str:
    """The Spark SQL of a recorded query.

    Raises:
        SchemaCoreError: for a query that does not resolve or is refused.
    """
    tables = QuestionTables(question, streaming=False)
    relation = resolve_query(parse_query(question["sql"]), tables, streaming=False)
    return query_text(relation, scan_of_nothing)


def expression_sql(question: Question) -> str:
    """The Spark SQL of a recorded expression, as a column of a query.

    Raises:
        SchemaCoreError: for an expression that does not resolve or is refused.
    """
    types = {name: DataTypes.of(text) for name, text in columns_of(question).items()}

    def rows(query: Query, span: Span) -> Relation:
        return resolve_query(query, NoTables(), streaming=False)

    scope = ColumnScope(types, streaming=False, subqueries=rows)
    typed = infer(scope, parse_expression(question["expr"]))
    if isinstance(typed, Select):
        typed = scalar(typed)
    writer = QueryCompiler(scan_of_nothing)
    context = TranslationContext(subquery=writer.subquery)
    node = to_physical(compile_expression(typed, context), typed.type)
    sql = to_sql(node)
    used = tuple(Column(name, type_) for name, type_ in types.items() if quote(name) in sql)
    if not used:
        return f"SELECT {sql} AS `value`"
    values = ", ".join(
        with_alias(from_physical(ColumnNode(name), type_), name) for name, type_ in used
    )
    return writer.projection([(node, "value")], f"(SELECT {values} FROM {empty_table(used)})")


def columns_of(question: Question) -> Mapping[str, str]:
    """The names and types of the columns that an expression reads."""
    if "columns" in question:
        result: dict[str, str] = question["columns"]
        return result
    of_table: dict[str, str] = recorded.document("tables")[question["table"]]["columns"]
    return of_table


#: Op of a question -> what writes its SQL.
WRITERS: dict[str, Callable[[Question], str]] = {
    "query": query_sql,
    "expr": expression_sql,
    "evaluate": expression_sql,
}


def questions(files: Iterable[str]) -> Iterator[Question]:
    """The recorded questions of these files that are queries or expressions."""
    for name in files:
        yield from (question for question, _ in recorded.records(name) if question["op"] in WRITERS)


def analyse(session: SparkSession, questions: Iterable[Question]) -> Report:
    """Have Spark analyse the SQL of each question."""
    report = Report()
    for question in questions:
        text = question.get("sql") or question["expr"]
        try:
            sql = WRITERS[question["op"]](question)
        except SchemaCoreError as error:
            report.refused += isinstance(error, UnsupportedError)
            continue
        try:
            session.sql(sql)
        except Exception as error:  # noqa: BLE001 - whatever Spark raises is what is looked for
            report.failures.append((text, str(error).strip().partition("\n")[0]))
        else:
            report.analysed += 1
    return report


def main() -> None:
    """Analyse recorded files and print what fails; exit with 1 if anything does."""
    from schema_core.spark.session.session import JobSession

    parser = argparse.ArgumentParser(description="Analyse all recorded SQL on Spark.")
    parser.add_argument("--files", default="query,expr,expr_batch,values")
    parser.add_argument("--every", type=int, default=1, help="take one of so many cases")
    parser.add_argument("--show", type=int, default=20, help="how many failures to print")
    options = parser.parse_args()
    failed = False
    session = JobSession()
    for name in options.files.split(","):
        begun = time.monotonic()
        report = analyse(session.get(), islice(questions([name]), 0, None, options.every))
        seconds = time.monotonic() - begun
        print(
            f"{name}: {report.analysed} analysed, {report.refused} refused,"
            f" {len(report.failures)} failed in {seconds:.0f} s"
        )
        for text, problem in report.failures[: options.show]:
            print(f"  {json.dumps(text)}\n    {problem}")
        failed = failed or bool(report.failures)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
