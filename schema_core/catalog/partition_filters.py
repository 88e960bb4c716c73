"""Filters of partitions by the values of their keys, as Flink's ``listPartitionsByFilter``."""

from __future__ import annotations

import operator
from collections.abc import Callable, Container, Mapping, Sequence
from typing import Any

from schema_core.base.arguments import require_sequence
from schema_core.base.text import show
from schema_core.catalog.objects import CatalogPartitionSpec, CatalogTable, ResolvedCatalogTable
from schema_core.catalog.partition_texts import (
    HIVE_NULL_NAME,
    NULL_NAME,
    NULL_NAME_OPTION,
    PARSED,
    parse_partition_text,
)
from schema_core.catalog.resolve import resolve_table
from schema_core.errors import SchemaError, UnsupportedError
from schema_core.expressions.comparisons import Comparison, comparison_of
from schema_core.expressions.fluent import Expression
from schema_core.expressions.scope import ColumnScope
from schema_core.expressions.type_checker import check
from schema_core.expressions.typed import FunctionCall, Ref, Typed, walk
from schema_core.schema.resolve import SchemaResolver
from schema_core.sql.parser import parse_expression
from schema_core.types import BooleanType, DataType

#: Operator of a comparison -> its result for a value and the constant.
OPERATORS: Mapping[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq,
    "<>": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "IN": lambda value, members: value in members,
    "NOT IN": lambda value, members: value not in members,
    "BETWEEN": lambda value, bounds: bounds[0] <= value <= bounds[1],
}
#: Tests of a value that are not UNKNOWN.
TRUTH_TESTS = ("IS TRUE", "IS FALSE")


def select_partitions(
    table: object,
    partitions: Sequence[CatalogPartitionSpec],
    filters: Sequence[Expression | str],
) -> list[CatalogPartitionSpec]:
    """Return the partitions of a table for which all filters are TRUE.

    The values are strings, which are read as the types of the partition keys; one that is not of
    its type is NULL, as `NULL_NAME` and `HIVE_NULL_NAME` are.

    Errors: those of expressions, such as `unknown-column` for a column that is not a partition key;
    `type-mismatch` for a filter that is not BOOLEAN; `feature-not-supported` for a filter
    that is not composed, by AND, OR and NOT, of comparisons of one key with constants.
    """
    written = require_sequence(filters, "filters")
    if not isinstance(table, CatalogTable):
        return [*partitions]
    resolved = (
        table if isinstance(table, ResolvedCatalogTable) else resolve_table(table, SchemaResolver())
    )
    columns = {column.name: column.data_type for column in resolved.resolved_schema.columns}
    keys = {key: columns[key] for key in table.get_partition_keys()}
    scope = ColumnScope(keys)
    predicates = [check(scope, _syntax(filter_), BooleanType()) for filter_ in written]
    for predicate in predicates:
        if not _is_supported(predicate, keys):
            raise UnsupportedError(
                "partitions can only be filtered by comparisons of one partition key with "
                "constants",
                code="feature-not-supported",
                hint="compare the key with a literal of its type; combine comparisons by AND, OR "
                "and NOT",
            )
    null_names = (table.options.get(NULL_NAME_OPTION, NULL_NAME), HIVE_NULL_NAME)

    def is_selected(spec: CatalogPartitionSpec) -> bool:
        texts = spec.get_partition_spec()
        values = {key: _value(texts.get(key), type_, null_names) for key, type_ in keys.items()}
        return all(_evaluate(predicate, values) is True for predicate in predicates)

    return [spec for spec in partitions if is_selected(spec)]


def _syntax(filter_: object) -> Any:
    if isinstance(filter_, str):
        return parse_expression(filter_)
    if isinstance(filter_, Expression):
        return filter_.syntax
    raise SchemaError(
        f"a filter must be an expression or a string, got {show(filter_)}", code="invalid-argument"
    )


def prune_partitions(
    table: ResolvedCatalogTable,
    partitions: Sequence[CatalogPartitionSpec],
    predicates: Sequence[Typed],
) -> list[CatalogPartitionSpec]:
    """Return the partitions that may have rows for which all predicates are TRUE.

    A predicate of other columns or forms, or of a value that is not of its type, prunes nothing.
    """
    columns = {column.name: column.data_type for column in table.resolved_schema.columns}
    keys = {key: columns[key] for key in table.partition_keys}
    usable = [
        (predicate, {node.name for node in walk(predicate) if isinstance(node, Ref)})
        for predicate in predicates
        if _is_supported(predicate, keys)
    ]
    null_names = (table.options.get(NULL_NAME_OPTION, NULL_NAME), HIVE_NULL_NAME)

    def may_have_rows(spec: CatalogPartitionSpec) -> bool:
        texts = spec.get_partition_spec()
        values = {key: _value(texts.get(key), type_, null_names) for key, type_ in keys.items()}
        unread = {
            key
            for key, value in values.items()
            if value is None and texts.get(key) not in null_names
        }
        return all(
            names & unread or _evaluate(predicate, values) is True for predicate, names in usable
        )

    return [spec for spec in partitions if may_have_rows(spec)]


def _is_supported(predicate: Typed, keys: Mapping[str, DataType]) -> bool:
    """Return whether a predicate is composed of comparisons of keys with constants."""
    comparison = comparison_of(predicate)
    if comparison is not None:
        return comparison.column in keys and type(keys[comparison.column]) in PARSED
    if not isinstance(predicate, FunctionCall):
        return False
    is_composed = predicate.function.name in ("AND", "OR", "NOT")
    return is_composed and all(_is_supported(argument, keys) for argument in predicate.arguments)


def _value(text: str | None, type_: DataType, null_names: Container[str]) -> Any:
    if text is None or text in null_names or type(type_) not in PARSED:
        return None
    return parse_partition_text(text, type_)


def _evaluate(predicate: Typed, values: Mapping[str, Any]) -> bool | None:
    """Return the value of a predicate; None for UNKNOWN."""
    if (comparison := comparison_of(predicate)) is not None:
        value = _compare(comparison, values[comparison.column])
        is_test = isinstance(predicate, FunctionCall) and predicate.function.name in TRUTH_TESTS
        return value is True if is_test else value
    call: Any = predicate
    operands = [_evaluate(argument, values) for argument in call.arguments]
    if call.function.name == "NOT":
        return None if operands[0] is None else not operands[0]
    decisive: bool = call.function.name == "OR"
    if decisive in operands:
        return decisive
    return None if None in operands else not decisive


def _compare(comparison: Comparison, value: Any) -> bool | None:
    match comparison.operator:
        case "IS NULL":
            return value is None
        case "IS NOT NULL":
            return value is not None
        case name:
            return None if value is None else OPERATORS[name](value, comparison.value)
