"""Files of change data: each line is a message of one of the formats of `change_formats`.

The lines are read and written as those of the format `text`, so that partitions, metadata and
commits are those of all files.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from schema_core.catalog.changes.column_history import KEY as COLUMN_HISTORY
from schema_core.catalog.changes.column_history import ColumnHistory, file_paths
from schema_core.connectors.change_formats import (
    CHANGE_FORMATS,
    PLACE,
    ChangeFormat,
    EncodedChanges,
    require_writable,
)
from schema_core.connectors.files.csv_files import CONTENT
from schema_core.connectors.files.file_ages import FileAges
from schema_core.connectors.files.file_formats import Format, why_not_json
from schema_core.connectors.files.file_layout import AGE, FORMAT
from schema_core.connectors.files.stored_names import REWRITE
from schema_core.connectors.files.text_files import TEXT_FILES
from schema_core.errors import ExternalError
from schema_core.schema.resolved import ResolvedSchema
from schema_core.spark.changelog import CHANGE_ORDER, ROW_KIND, Changelog, adds_row
from schema_core.spark.compiler import tree as nodes
from schema_core.spark.compiler.tree import Column as ColumnNode
from schema_core.spark.compiler.tree import NamedNode, quote
from schema_core.spark.connector import (
    ReadContext,
    TableContext,
    WriteContext,
    metadata_column,
)
from schema_core.spark.session.frames import select
from schema_core.types import MAX_LENGTH, DataType, VarCharType
from schema_core.types.row_value import REMOVALS

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from schema_core.catalog.objects import ResolvedCatalogTable

#: The number of a line in Spark's order, which is that of the lines of a file.
_NUMBER: Final = "$line_number$"

DEBEZIUM, CANAL, MAXWELL, OGG = (
    Format(name, form.options, is_text=True, source="text", why_not=why_not_json)
    for name, form in CHANGE_FORMATS.items()
)


def change_format(options: Mapping[str, str]) -> ChangeFormat | None:
    """Return the format of the changes of a table; None for a table of rows."""
    return CHANGE_FORMATS.get(options.get(FORMAT.key, ""))


def _inner(context: TableContext) -> dict[str, DataType]:
    partitions = context.table.partition_keys
    return {
        name: type_ for name, type_ in context.physical_columns.items() if name not in partitions
    }


def _lines_table(context: TableContext) -> ResolvedCatalogTable:
    """Return a table of the lines of files, with the partitions of the table."""
    table = context.table
    types = {CONTENT: VarCharType(MAX_LENGTH)} | {
        name: context.physical_columns[name] for name in table.partition_keys
    }
    form = f"{table.options[FORMAT.key]}."
    options = {
        key: value
        for key, value in table.options.items()
        if key != COLUMN_HISTORY and not key.startswith(form)
    }
    schema = ResolvedSchema.physical(list(types), list(types.values()))
    options[FORMAT.key] = TEXT_FILES.identifier
    return replace(table, options=options, resolved_schema=schema)


def lines_to_read(context: ReadContext) -> ReadContext:
    """Return the context of a read of the lines of files, with what orders them.

    Raises:
        ExternalError: with code `schema-mismatch` if older files may have other names of
            columns.
    """
    ages = FileAges(ColumnHistory.of(context.options), file_paths(context.table))
    if ages.has_renamed or ages.reused:
        raise ExternalError(
            f"the messages of {context.identifier.as_summary_string()} that are older than a "
            "change of a column's name have it by the former name",
            code="schema-mismatch",
            hint=REWRITE,
        )
    metadata = {**context.metadata, **AGE}
    return replace(context, table=_lines_table(context), metadata=metadata, projection=None)


def decode_lines(lines: DataFrame, context: ReadContext) -> DataFrame:
    """Return the changes of the lines of files, a frame of `lines_to_read`."""
    form = CHANGE_FORMATS[context.options[FORMAT.key]]
    columns = _inner(context)
    key = context.change_key if set(context.change_key) <= columns.keys() else ()
    numbered = lines.selectExpr("*", f"monotonically_increasing_id() AS {quote(_NUMBER)}")
    decoded = form.decode(EncodedChanges(numbered, CONTENT, columns, context.options, key=key))
    values = {
        **decoded.columns,
        **{name: ColumnNode(name) for name in context.table.partition_keys},
    }
    selected: list[NamedNode] = [(values[name], name) for name in context.physical_columns]
    metadata = {name: ColumnNode(metadata_column(name)) for name in context.metadata}
    selected += ((node, node.name) for node in metadata.values())
    places = {name: ColumnNode(metadata_column(name)) for name in AGE}
    places |= {name: ColumnNode(name) for name in (_NUMBER, PLACE)}
    selected.append((ColumnNode(ROW_KIND), ROW_KIND))
    selected.append((nodes.named_struct(places.items()), CHANGE_ORDER))
    return select(decoded.frame, selected)


def encode_lines(frame: DataFrame, context: WriteContext) -> tuple[DataFrame, WriteContext]:
    """Return changes as lines of files, and the context of their write.

    Rows without `ROW_KIND` are insertions.
    """
    form = CHANGE_FORMATS[context.options[FORMAT.key]]
    require_writable(form, context.options)
    columns = {name: (ColumnNode(name), type_) for name, type_ in _inner(context).items()}
    adds = nodes.TRUE if ROW_KIND not in frame.columns else adds_row(ColumnNode(ROW_KIND))
    line = form.encode(columns, adds, context.options)
    partitions = [(ColumnNode(name), name) for name in context.table.partition_keys]
    return select(frame, [(line, CONTENT), *partitions]), replace(
        context, table=_lines_table(context)
    )


def encode_updates(
    frame: DataFrame, context: WriteContext, key: Sequence[str], changelog: Changelog
) -> tuple[DataFrame, WriteContext]:
    """Return the changes that updated rows make as lines of files, and the context of their write.

    `changelog` compares the messages of rows, so that values are not converted to Python.
    """
    form = CHANGE_FORMATS[context.options[FORMAT.key]]
    require_writable(form, context.options)
    columns = {name: (ColumnNode(name), type_) for name, type_ in _inner(context).items()}
    added, removed = (
        nodes.Cast(form.encode(columns, adds, context.options), "STRING")
        for adds in (nodes.TRUE, nodes.FALSE)
    )
    own = [(ColumnNode(name), f"$key{place}$") for place, name in enumerate(key)]
    names = list(context.table.partition_keys)
    partitions = [(ColumnNode(name), name) for name in names]
    rows = select(frame, [*own, (added, "$added$"), (removed, "$removed$"), *partitions])
    lines = [
        (change[len(key) + (change.kind in REMOVALS)], *change[len(key) + 2 :])
        for change in changelog.changes(map(tuple, rows.toLocalIterator()))
    ]
    schema = rows.select("$added$", *map(quote, names)).toDF(CONTENT, *names).schema
    made = context.session.createDataFrame(lines, schema)
    return made, replace(context, table=_lines_table(context))
