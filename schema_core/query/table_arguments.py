"""What table functions are given: tables, columns of theirs, and values, by place or by name."""

from __future__ import annotations

from collections.abc import Sequence

from schema_core.errors import SchemaError, similar
from schema_core.expressions.typed import Ref
from schema_core.query import relation as rel
from schema_core.query.relation import Relation
from schema_core.query.scope import Place, SelectScope
from schema_core.query.sources import resolve_source
from schema_core.sql import query_syntax as written
from schema_core.sql.syntax import Call, Expression, Literal, LiteralKind, Name, Named, Subquery


def by_name(call: Call, parameters: Sequence[str], required: int) -> dict[str, Expression]:
    """Parameter -> argument, given all by place or all by name; DEFAULT and NULL give none.

    Raises:
        SchemaError: with code `wrong-argument-count`, `argument-name` or `named-arguments`.
    """
    pairs = [(one.name, one.value) for one in call.arguments if isinstance(one, Named)]
    if pairs and len(pairs) < len(call.arguments):
        raise SchemaError(
            "arguments are given all by name or all by position",
            code="named-arguments",
            span=call.span,
        )
    for name, value in pairs:
        if name not in parameters:
            raise SchemaError(
                f"it has no parameter {name!r}",
                code="named-arguments",
                hint=similar(name, parameters) or f"it takes {', '.join(parameters)}",
                span=value.span,
            )
    given = dict(pairs) if pairs else dict(zip(parameters, call.arguments, strict=False))
    found = {name: value for name, value in given.items() if not _says_nothing(value)}
    missing = [name for name in parameters[:required] if name not in found]
    if missing or len(call.arguments) > len(parameters) or len(given) < len(pairs):
        problem = f"it takes {', '.join(parameters)}"
        raise SchemaError(problem, code="wrong-argument-count", span=call.span)
    return found


def _says_nothing(value: Expression) -> bool:
    match value:
        case Call(name="DEFAULT") | Literal(kind=LiteralKind.NULL):
            return True
        case _:
            return False


def table_of(argument: Expression, place: Place) -> tuple[Relation, tuple[Expression, ...]]:
    """The table that a function reads, and the keys it is partitioned by.

    Raises:
        SchemaError: with code `wrong-argument-type` for anything but a table, or as its query.
    """
    from schema_core.query.resolve import resolve

    match argument:
        case Subquery(query=written.TableArgument(query=inner, partition_by=keys)):
            return table_of(Subquery(inner, argument.span), place)[0], keys
        case Subquery(query=written.ExplicitTable(name=name)):
            rows = resolve_source(written.TableName(name, span=name.span), place, ())
            return _bare(rows.relation), ()
        case Subquery(query=query):
            return resolve(query, place), ()
        case _:
            raise SchemaError(
                "expected a table",
                code="wrong-argument-type",
                hint="write TABLE name or a query in parentheses",
                span=argument.span,
            )


def _bare(relation: Relation) -> Relation:
    """A table without the alias that only a FROM clause needs."""
    return relation.input if isinstance(relation, rel.Named) else relation


def column_of(key: Expression, scope: SelectScope) -> Ref:
    """A column of the input; it needs no alias.

    Raises:
        SchemaError: with code `wrong-argument-type` or `unknown-column`.
    """
    if not isinstance(key, Name):
        raise SchemaError("expected a column", code="wrong-argument-type", span=key.span)
    ref, fields = scope.lookup(key.parts, key.span)
    if fields:
        raise SchemaError(
            "expected a column, not a field", code="wrong-argument-type", span=key.span
        )
    return Ref(ref.name, ref.type, None, key.span)


def described(argument: Expression) -> tuple[Name, ...]:
    """The names in a DESCRIPTOR.

    Raises:
        SchemaError: with code `wrong-argument-type` for anything else.
    """
    match argument:
        case Call(name="DESCRIPTOR", arguments=names) if all(
            isinstance(one, Name) and len(one.parts) == 1 for one in names
        ):
            return tuple(one for one in names if isinstance(one, Name))
        case _:
            raise SchemaError(
                "expected a DESCRIPTOR of columns",
                code="wrong-argument-type",
                hint="write DESCRIPTOR(column)",
                span=argument.span,
            )
