"""Laws of what implementors draw from: all of it is what it claims to be."""

from __future__ import annotations

from hypothesis import given

from schema_core.expressions.functions import BUILT_IN
from schema_core.expressions.scope import ColumnScope
from schema_core.expressions.type_checker import infer
from schema_core.schema.resolve import SchemaResolver
from schema_core.schema.unresolved import Schema
from schema_core.sql.parser import parse_expression
from schema_core.testing import COLUMNS, expressions, schemas
from schema_core.testing.expression_trees import NAMES, fitting
from schema_core.types import DataTypes, SymbolType

NARROW = {"only": DataTypes.BIGINT(nullable=False)}

#: What no draw of columns, literals and a few words makes: they want a literal of one kind, a word
#: or a clause of their own.
NEVER = {
    "(-)", "CURRENT_WATERMARK", "DEFAULT ON EMPTY", "DEFAULT ON ERROR",
    "DESCRIPTOR", "INTERVAL", "JSON_OBJECT", "JSON_QUERY", "OBJECT_UPDATE", "OVERLAPS",
    "TRANSLATE USING",
}  # fmt: skip


@given(expressions())
def test_an_expression_has_a_type(text: str) -> None:
    result = infer(ColumnScope(COLUMNS), parse_expression(text)).type

    assert not isinstance(result, SymbolType)


@given(expressions(NARROW))
def test_an_expression_uses_only_the_given_columns(text: str) -> None:
    infer(ColumnScope(NARROW), parse_expression(text))


def test_nearly_all_functions_are_generated() -> None:
    columns = tuple(COLUMNS.items())
    missing = {name for name in NAMES if not fitting(name, columns)}

    assert set(NAMES) <= set(BUILT_IN)
    assert NEVER == missing


@given(schemas())
def test_a_schema_can_be_resolved(schema: Schema) -> None:
    assert len(schema.columns) == len(SchemaResolver().resolve(schema).get_columns())
