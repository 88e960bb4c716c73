"""Fields of rows and structured values, by name or by place."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schema_core.errors import SchemaError, similar
from schema_core.expressions.scope import in_sql
from schema_core.expressions.typed import Access
from schema_core.types import RowType, StructuredType

if TYPE_CHECKING:
    from schema_core.expressions.typed import Typed
    from schema_core.text import Span
    from schema_core.types import DataType


def field(value: Typed, name: str, span: Span) -> Access:
    """``value.name``: nullable where the value or the field is.

    Raises:
        SchemaError: with code `unknown-field`.
    """
    found = field_type(value.type, name)
    if found is None:
        known = [one.name for one in fields(value.type)]
        raise SchemaError(
            f"{value.type.as_summary_string()} has no field {name!r}",
            code="unknown-field",
            hint=similar(name, known),
            span=span,
        )
    nullable = value.type.is_nullable or found.is_nullable
    return Access(value, name, found.with_nullability(nullable), span)


def fields(type_: DataType) -> tuple[RowField, ...]:
    """The fields of a row or structured type; other types have none."""
    return type_.fields if isinstance(type_, RowType | StructuredType) else ()


def field_type(type_: DataType, name: str) -> DataType | None:
    """The type of the field of exactly that name, as SQL has it."""
    return next((in_sql(one.data_type) for one in fields(type_) if one.name == name), None)


if TYPE_CHECKING:
    from schema_core.types import RowField
