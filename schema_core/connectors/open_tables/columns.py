"""The columns of a table in an open format that the declared columns read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, TypeVar

from schema_core.errors import ExternalError, similar

if TYPE_CHECKING:
    from schema_core.types import DataType

#: A column, as the format describes it.
Field = TypeVar("Field")


def match_fields(
    columns: Mapping[str, DataType],
    fields: Mapping[str, Field],
    difference: Callable[[Field, DataType], tuple[str, DataType] | None],
    format_name: str,
) -> dict[str, Field]:
    """Return the columns of a format that have the names and types of declared ones.

    Args:
        columns: The declared columns.
        fields: The columns of the table, by name.
        difference: Returns the name of a column's type in the format and its nearest type if it
            has not the values of a declared type.
        format_name: The name of the format, in messages.

    Raises:
        ExternalError: with code `schema-mismatch` for a column that the table does not have,
            or has with another type.
    """
    for name, type_ in columns.items():
        if name not in fields:
            raise ExternalError(
                f"the table of {format_name} has no column {name!r}",
                code="schema-mismatch",
                hint=similar(name, fields) or "declare the columns that the table has",
            )
        if (other := difference(fields[name], type_)) is not None:
            stored, near = other
            raise ExternalError(
                f"column {name!r} is {stored} in {format_name}, but "
                f"{type_.as_summary_string()} in the table",
                code="schema-mismatch",
                hint=f"declare it as {near}",
            )
    return {name: fields[name] for name in columns}
