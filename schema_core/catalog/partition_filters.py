"""Filters of partitions by the values of their keys, as Flink's ``listPartitionsByFilter``."""

from __future__ import annotations

import datetime as dt
import operator
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal, InvalidOperation
from typing import Any

from schema_core.base.arguments import require_sequence
from schema_core.base.lazy import regex
from schema_core.base.text import show
from schema_core.catalog.objects import CatalogPartitionSpec, CatalogTable, ResolvedCatalogTable
from schema_core.catalog.resolve import resolve_table
from schema_core.errors import SchemaError, UnsupportedError
from schema_core.expressions.comparisons import Comparison, comparison_of
from schema_core.expressions.fluent import Expression
from schema_core.expressions.scope import ColumnScope
from schema_core.expressions.type_checker import check
from schema_core.expressions.typed import FunctionCall, Ref, Typed, walk
from schema_core.schema.resolve import SchemaResolver
from schema_core.sql.parser import parse_expression
from schema_core.types import (
    BigIntType,
    BooleanType,
    DataType,
    DateType,
    DecimalType,
    IntType,
    SmallIntType,
    TimestampType,
    TinyIntType,
    VarCharType,
)

#: The option of a table with the value of a partition key that is NULL, and its default.
NULL_NAME_OPTION, NULL_NAME = "partition.default-name", "__DEFAULT_PARTITION__"


def _boolean(text: str) -> bool:
    return {"true": True, "false": False}[text.lower()]


def _strict(pattern: str, read: Callable[[str], Any]) -> Callable[[str], Any]:
    """Return a reader of strings of one form: Python's readers accept others, too."""
    compiled = regex(pattern)

    def read_strictly(text: str) -> Any:
        if compiled.fullmatch(text) is None:
            raise ValueError(text)
        return read(text)

    return read_strictly


_INTEGER = _strict(r"[+-]?[0-9]{1,40}", int)

#: Type of a partition key -> its value from the string of a specification.
VALUES: Mapping[type[DataType], Callable[[str], Any]] = {
    BooleanType: _boolean,
    TinyIntType: _INTEGER,
    SmallIntType: _INTEGER,
    IntType: _INTEGER,
    BigIntType: _INTEGER,
    DecimalType: _strict(r"[+-]?[0-9]{1,40}(?:\.[0-9]{1,40})?", Decimal),
    VarCharType: str,
    DateType: _strict("[0-9]{4}-[0-9]{2}-[0-9]{2}", dt.date.fromisoformat),
    TimestampType: _strict(
        r"[0-9]{4}-[0-9]{2}-[0-9]{2}[ T][0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.(?:[0-9]{3}|[0-9]{6}))?",
        dt.datetime.fromisoformat,
    ),
}

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


def select_partitions(
    table: object,
    partitions: Sequence[CatalogPartitionSpec],
    filters: Sequence[Expression | str],
) -> list[CatalogPartitionSpec]:
    """Return the partitions of a table for which all filters are TRUE.

    The values are strings, which are read as the types of the partition keys; one that is not of
    its type is NULL, as `NULL_NAME` is.

    Errors: those of expressions, such as `unknown-column` for a column that is not a partition key;
    `wrong-type` for a filter that is not BOOLEAN; `unsupported-partition-filter` for a filter that
    is not composed, by AND, OR and NOT, of comparisons of one key with constants.
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
                code="unsupported-partition-filter",
                hint="compare the key with a literal of its type; combine comparisons by AND, OR "
                "and NOT",
            )
    null_name = table.options.get(NULL_NAME_OPTION, NULL_NAME)

    def is_selected(spec: CatalogPartitionSpec) -> bool:
        texts = spec.get_partition_spec()
        values = {key: _value(texts.get(key), type_, null_name) for key, type_ in keys.items()}
        return all(_evaluate(predicate, values) is True for predicate in predicates)

    return [spec for spec in partitions if is_selected(spec)]


def _syntax(filter_: object) -> Any:
    if isinstance(filter_, str):
        return parse_expression(filter_)
    if isinstance(filter_, Expression):
        return filter_.syntax
    raise SchemaError(
        f"a filter must be an expression or a string, got {show(filter_)}", code="wrong-argument"
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
    null_name = table.options.get(NULL_NAME_OPTION, NULL_NAME)

    def may_have_rows(spec: CatalogPartitionSpec) -> bool:
        texts = spec.get_partition_spec()
        values = {key: _value(texts.get(key), type_, null_name) for key, type_ in keys.items()}
        unread = {
            key for key, value in values.items() if value is None and texts.get(key) != null_name
        }
        return all(
            names & unread or _evaluate(predicate, values) is True for predicate, names in usable
        )

    return [spec for spec in partitions if may_have_rows(spec)]


def _is_supported(predicate: Typed, keys: Mapping[str, DataType]) -> bool:
    """Return whether a predicate is composed of comparisons of keys with constants."""
    comparison = comparison_of(predicate)
    if comparison is not None:
        return comparison.column in keys and type(keys[comparison.column]) in VALUES
    if not isinstance(predicate, FunctionCall):
        return False
    is_composed = predicate.function.name in ("AND", "OR", "NOT")
    return is_composed and all(_is_supported(argument, keys) for argument in predicate.arguments)


def _value(text: str | None, type_: DataType, null_name: str) -> Any:
    if text is None or text == null_name:
        return None
    try:
        return VALUES[type(type_)](text)
    except (KeyError, ValueError, InvalidOperation):
        return None


def _evaluate(predicate: Typed, values: Mapping[str, Any]) -> bool | None:
    """Return the value of a predicate; None for UNKNOWN."""
    if (comparison := comparison_of(predicate)) is not None:
        return _compare(comparison, values[comparison.column])
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
