"""CALL: runs a procedure of a catalog."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from schema_core.catalog.api import Capability
from schema_core.catalog.procedures import Procedure
from schema_core.environment.operations.data import run_query
from schema_core.environment.result import TableResult
from schema_core.environment.session import Session, at_span
from schema_core.environment.table_api.elements import values_of
from schema_core.errors import SchemaError, UnsupportedError, similar
from schema_core.query.relation import result_columns
from schema_core.schema.resolved import ResolvedSchema
from schema_core.sql.statement_syntax import CallProcedure
from schema_core.sql.syntax import Call, Expression, Named, Select, SelectItem
from schema_core.sql.tokens import cursor_over
from schema_core.sql.type_name import cast_target
from schema_core.types import DataType, RowType
from schema_core.types.casts import supports_implicit_cast


def call(session: Session, statement: CallProcedure, text: str) -> TableResult:
    """Run a procedure; the engine computes its arguments and casts them to the declared types.

    Codes: `procedure-not-found` (`UnsupportedError` if the catalog has no procedures),
    `invalid-function-call`.
    """
    procedure = _procedure(session, statement)
    arguments = _positional(procedure, statement)
    values: Sequence[Any] = ()
    if arguments:
        _require_types(session, procedure, arguments, text)
        values = _evaluate_arguments(session, procedure, arguments, text)
    results = procedure.call(*values)
    match procedure.result_type:
        case RowType(fields=fields) as row:
            columns = [(field.name, field.data_type) for field in fields]
            rows = [tuple(values_of(result, row)) for result in results]
        case type_:
            columns, rows = [("result", type_)], [(result,) for result in results]
    schema = ResolvedSchema.physical(
        [name for name, _ in columns], [column for _, column in columns]
    )
    return TableResult(schema, rows)


def _procedure(session: Session, statement: CallProcedure) -> Procedure:
    identifier = session.identifier(statement.path)
    with at_span(statement.path.span):
        catalog = session.registry.get(identifier.catalog_name)
        if Capability.PROCEDURES not in catalog.capabilities:
            raise UnsupportedError(
                f"there is no procedure {'.'.join(statement.path.parts)!r}",
                code="procedure-not-found",
            )
        return catalog.get_procedure(identifier.to_object_path())


def _positional(procedure: Procedure, statement: CallProcedure) -> list[Expression]:
    """Return the arguments in declared order."""
    given = statement.arguments
    if len(given) != len(procedure.input_types):
        raise SchemaError(
            f"the procedure has {len(procedure.input_types)} arguments, not {len(given)}",
            code="invalid-function-call",
            span=statement.span,
        )
    named = {item.name: item.value for item in given if isinstance(item, Named)}
    if not named:
        return list(given)
    if len(named) != len(given):
        raise SchemaError(
            "the arguments of a procedure must be all positional, or each be named once",
            code="invalid-function-call",
            span=statement.span,
        )
    for name in named:
        if name not in procedure.argument_names:
            raise SchemaError(
                f"the procedure has no argument {name!r}",
                code="invalid-function-call",
                hint=similar(name, procedure.argument_names),
                span=statement.span,
            )
    return [named[name] for name in procedure.argument_names]


def _require_types(
    session: Session, procedure: Procedure, arguments: list[Expression], text: str
) -> None:
    columns = result_columns(session.query(_select(arguments), text))
    for place, (column, type_) in enumerate(zip(columns, procedure.input_types, strict=True), 1):
        if not supports_implicit_cast(column.type.nullable(), type_.nullable()):
            raise SchemaError(
                f"argument {place} must be {type_.as_summary_string()}, got "
                f"{column.type.as_summary_string()}",
                code="invalid-function-call",
            )


def _evaluate_arguments(
    session: Session, procedure: Procedure, arguments: list[Expression], text: str
) -> Sequence[Any]:
    pairs = zip(arguments, procedure.input_types, strict=True)
    query = _select([_cast(item, type_) for item, type_ in pairs])
    with run_query(session, session.query(query, text)).collect() as rows:
        for row in rows:
            return tuple(row)
    raise UnsupportedError("the planner does not support CALL", code="unsupported-ability")


def _select(expressions: Sequence[Expression]) -> Select:
    return Select(
        tuple(SelectItem(expression, f"a{place}") for place, expression in enumerate(expressions))
    )


def _cast(expression: Expression, type_: DataType) -> Expression:
    text = type_.nullable().as_serializable_string()
    return Call("CAST", (expression, cast_target(cursor_over(text))))
