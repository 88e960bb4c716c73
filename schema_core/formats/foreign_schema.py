"""The result of reading a foreign schema: its columns, refused columns and losses."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from schema_core.errors import Diagnostic, SchemaCoreError, UnsupportedError, raise_all
from schema_core.formats.loss import Loss
from schema_core.schema.unresolved import Schema
from schema_core.types import RowField


class ForeignSchema(NamedTuple):
    """A foreign schema as read: the columns, errors of refused columns, and losses."""

    schema: Schema
    refused: tuple[Diagnostic, ...]
    losses: tuple[Loss, ...]


def read_fields(
    fields: Iterable[Any], read: Callable[[Any], tuple[RowField, tuple[Loss, ...]]]
) -> ForeignSchema:
    """Read every field; an error of one does not affect the others."""
    builder = Schema.new_builder()
    refused: list[Diagnostic] = []
    lost: list[Loss] = []
    for field in fields:
        try:
            found, losses = read(field)
        except SchemaCoreError as error:
            refused += error.diagnostics
            continue
        builder.column(found.name, found.data_type)
        if found.description is not None:
            builder.with_comment(found.description)
        lost += losses
    return ForeignSchema(builder.build(), tuple(refused), tuple(lost))


def raise_refused(refused: Iterable[Diagnostic]) -> None:
    """Raise the errors of refused columns as one error; do nothing if there are none."""
    raise_all(
        UnsupportedError(one.message, code=one.code, hint=one.hint, path=one.path)
        for one in refused
    )
