"""Answers about expressions over columns: their type, and how Flink prints them."""

from __future__ import annotations

from properties.answers.attempt import Operation
from properties.answers.schema import NoTables
from properties.recorded import Answer, Question
from schema_core.base.text import Span
from schema_core.errors import SchemaCoreError, UnsupportedError
from schema_core.expressions.scope import ColumnScope
from schema_core.expressions.to_sql import flink_sql
from schema_core.expressions.type_checker import infer
from schema_core.query.relation import Relation
from schema_core.query.resolve import resolve_query
from schema_core.sql.parser import parse_expression
from schema_core.sql.syntax import Query
from schema_core.types import AnyTimestampType, DataType, DataTypes, TimestampKind


def expression(question: Question) -> Answer:
    """The type of an expression and its text."""
    columns = {name: DataTypes.of(text) for name, text in question["columns"].items()}
    streaming = question.get("mode") != "batch"

    def rows(query: Query, span: Span) -> Relation:
        return resolve_query(query, NoTables(), streaming=streaming)

    scope = ColumnScope(columns, streaming=streaming, subqueries=rows)
    typed = infer(scope, parse_expression(question["expr"]))
    answer: Answer = {
        "type": shown(typed.type),
        "time_attribute": "proctime" if is_proctime(typed.type) else None,
    }
    try:
        return {**answer, "sql": flink_sql(typed)}
    except SchemaCoreError as error:
        return {**answer, "sql_error": error.problem}


def shown(type_: DataType) -> str:
    """Return the exact text of a type, or an exclamation mark and its summary if it has none."""
    try:
        return type_.as_serializable_string()
    except UnsupportedError:
        return f"!{type_.as_summary_string()}"


def is_proctime(type_: DataType) -> bool:
    """Whether the type is that of a processing time attribute."""
    return isinstance(type_, AnyTimestampType) and type_.kind is TimestampKind.PROCTIME


OPS: dict[str, Operation] = {"expr": expression}
