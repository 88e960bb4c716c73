"""The changes of queries in the form in which those of Flink are recorded."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from properties.answers.values import canonical
from schema_core import Row
from schema_core.errors import ExternalError

if TYPE_CHECKING:
    from schema_core import TableResult


def changes_until_stopped(result: TableResult) -> list[list[Any]]:
    """Return the changes of a query, each with its kind first.

    One of unbounded tables has ended when it fails, as after the last micro-batch of the trigger
    `availableNow`.
    """
    types = [column.data_type for column in result.get_resolved_schema().columns]
    changes = []
    with result.collect() as rows:
        try:
            for row in rows:
                values = map(canonical, map(plain, row), types)
                changes.append([str(row.get_row_kind()), *values])
        except ExternalError as error:
            if "the streaming query was stopped" not in error.problem:
                raise
    return changes


def plain(value: Any) -> Any:
    """Return nested rows as mappings, as `canonical` takes them."""
    match value:
        case Row():
            return dict(enumerate(map(plain, value)))
        case list():
            return [plain(item) for item in value]
        case dict():
            return {key: plain(item) for key, item in value.items()}
        case _:
            return value
