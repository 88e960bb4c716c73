"""Answers about queries: the names and types of the columns that a SELECT returns."""

from __future__ import annotations

from functools import lru_cache

from properties.answers.attempt import Operation
from properties.answers.identifier import HOME
from properties.answers.schema import text, time_attribute
from properties.recorded import Answer, Question
from schema_core.base.paths import ObjectIdentifier
from schema_core.base.text import Span
from schema_core.errors import NotFoundError
from schema_core.mappings.dialects.definitions import schema_of, with_key_not_null
from schema_core.query.relation import Column, SourceTable, result_columns
from schema_core.query.resolve import resolve_query
from schema_core.schema.resolve import SchemaResolver
from schema_core.schema.resolved import ResolvedSchema
from schema_core.schema.unresolved import Schema
from schema_core.sql.parser import parse_query, parse_statement
from schema_core.sql.statement_syntax import CreateTable


@lru_cache(maxsize=256)
def schema(elements: str, *, streaming: bool) -> ResolvedSchema:
    """The schema of a table from what stands between its parentheses."""
    statement_text = f"CREATE TABLE t ({elements})"
    statement = parse_statement(statement_text)
    assert isinstance(statement, CreateTable)
    written = schema_of(statement.elements, statement_text)
    key = written.primary_key.column_names if written.primary_key else ()
    columns = with_key_not_null(written.columns, key)
    result = Schema(columns, written.watermark_specs, written.primary_key)
    return SchemaResolver(streaming=streaming).resolve(result)


class QuestionTables:
    """Return the tables of a question, all in the home database."""

    def __init__(self, question: Question, *, streaming: bool) -> None:
        self.tables = question["tables"]
        self.streaming = streaming

    def table(self, path: tuple[str, ...], span: Span) -> SourceTable:
        *home, name = path
        if len(path) > 3 or tuple(home) != HOME[len(HOME) - len(home) :] or name not in self.tables:
            raise NotFoundError(f"there is no table {'.'.join(path)!r}", span=span)
        result = schema(self.tables[name], streaming=self.streaming)
        return SourceTable(ObjectIdentifier.of(*HOME, name), result)


def column_answer(column: Column) -> Answer:
    return {
        "name": column.name,
        "type": text(column.type),
        "time_attribute": time_attribute(column.type),
    }


def answer(question: Question) -> Answer:
    streaming = question.get("mode", "streaming") == "streaming"
    query = parse_query(question["sql"])
    relation = resolve_query(
        query, QuestionTables(question, streaming=streaming), streaming=streaming
    )
    return {"columns": [column_answer(column) for column in result_columns(relation)]}


OPS: dict[str, Operation] = {"query": answer}
