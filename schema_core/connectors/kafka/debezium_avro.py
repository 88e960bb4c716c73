"""The format `debezium-avro-confluent`: Debezium's changes as Avro data of a schema registry.

A message is a record with the operation and the rows before and after it, as one of
`debezium-json`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from schema_core.base.lazy import dataclass
from schema_core.connectors.change_formats import (
    DEBEZIUM_CODES,
    DEBEZIUM_METADATA,
    PLACE,
    TEXT,
    DecodedChanges,
    EncodedChanges,
    FormatMetadata,
    Operation,
)
from schema_core.connectors.kafka.avro_messages import AvroMessages
from schema_core.connectors.kafka.binary_formats import (
    Decoder,
    UnreadableMessageError,
    column_of_wire,
    encode_rows,
    message_place,
    message_reader,
    wire_row,
    wire_struct,
)
from schema_core.environment.options import ConfigOption
from schema_core.spark.changelog import ROW_KIND
from schema_core.spark.compiler import tree as nodes
from schema_core.spark.compiler.template import inline
from schema_core.spark.compiler.tree import Column as ColumnNode
from schema_core.spark.compiler.tree import quote
from schema_core.spark.jobs import HINT
from schema_core.spark.session.api_mode import functions_of
from schema_core.types import ArrayType, DataType, RowField, RowKind, RowType

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

#: Temporary columns: the decoded message, and the row of a change.
_MESSAGE, _ROW = "$avro_message$", "$avro_row$"
_BEFORE, _AFTER, _OPERATION = "before", "after", "op"


@dataclass(frozen=True, slots=True)
class DebeziumAvro:
    """The format; `messages` is that of the records."""

    messages: AvroMessages

    @property
    def identifier(self) -> str:
        """The name of the format."""
        return self.messages.identifier

    @property
    def options(self) -> tuple[ConfigOption[Any], ...]:
        """The options of a table; their prefix is the name of the format."""
        return self.messages.options

    @property
    def metadata(self) -> Mapping[str, FormatMetadata]:
        """The metadata of messages, by key."""
        return DEBEZIUM_METADATA

    def require(self, columns: Mapping[str, DataType]) -> None:
        """Refuse columns that a message cannot hold (`type-not-supported`)."""
        self.messages.schema(_record(columns), {})

    # --- reading -------------------------------------------------------------------------------

    def decode(self, messages: EncodedChanges) -> DecodedChanges:
        """Return the changes of messages; those that are NULL or empty are skipped."""
        frame, columns, options = messages.frame, messages.columns, messages.options
        items = [self.metadata[name] for name in messages.metadata]
        fields = {item.field: item.stored for item in items if item.field != "schema"}
        if fields:  # the option `schema` is that of the rows only
            self.messages.schema(_record(columns), options)
            options = {name: text for name, text in options.items() if not _is_schema(name)}
        decoder = self.messages.decoder(_record(columns) | fields, options)
        change = RowType((RowField("kind", TEXT), RowField("own", _row(columns))))
        functions = functions_of(frame)
        read = functions.udf(
            message_reader(self.identifier, DebeziumDecoder(decoder)),
            wire_struct(self.messages, {"changes": ArrayType(change), **fields}),
        )
        others = [*map(quote, frame.columns)]
        source = quote(messages.source)
        message = read(functions.col(source), message_place(functions))
        decoded = frame.where(f"octet_length({source}) > 0").select("*", message.alias(_MESSAGE))
        exploded = decoded.selectExpr(
            *others,
            quote(_MESSAGE),
            f"posexplode({quote(_MESSAGE)}.`changes`) AS ({quote(PLACE)}, `change`)",
        ).selectExpr(
            *others,
            *map(quote, (_MESSAGE, PLACE)),
            f"`change`.`kind` AS {quote(ROW_KIND)}",
            f"`change`.`own` AS {quote(_ROW)}",
        )
        values = {
            name: column_of_wire(self.messages, nodes.Field(ColumnNode(_ROW), name), name, type_)
            for name, type_ in columns.items()
        }
        return DecodedChanges(
            exploded, values, {name: self._metadata(name) for name in messages.metadata}
        )

    def _metadata(self, name: str) -> nodes.Node:
        item = self.metadata[name]
        if item.field == "schema":
            return nodes.Cast(nodes.NULL, "STRING")
        return item.read(nodes.Field(ColumnNode(_MESSAGE), item.field))

    # --- writing -------------------------------------------------------------------------------

    def encode(
        self,
        columns: Mapping[str, tuple[nodes.Node, DataType]],
        adds: nodes.Node,
        options: Mapping[str, str],
    ) -> nodes.Node:
        """Return the record of a change, of which `finish` makes a message."""
        self.require({name: type_ for name, (_, type_) in columns.items()})
        row = wire_row(self.messages, columns)
        added, removed = (
            next(code for code, operation in DEBEZIUM_CODES.items() if operation is case)
            for case in (Operation.INSERT, Operation.DELETE)
        )
        return nodes.named_struct(
            [
                (_BEFORE, inline("if({adds}, NULL, {row})", adds=adds, row=row)),
                (_AFTER, inline("if({adds}, {row}, NULL)", adds=adds, row=row)),
                (
                    _OPERATION,
                    inline(
                        "if({adds}, {added}, {removed})", adds=adds, added=added, removed=removed
                    ),
                ),
            ]
        )

    def finish(
        self,
        frame: DataFrame,
        column: str,
        columns: Mapping[str, DataType],
        options: Mapping[str, str],
    ) -> DataFrame:
        """Return a frame whose column of records is one of messages."""
        return encode_rows(self.messages, frame, column, _record(columns), options)


DEBEZIUM_AVRO: Final = DebeziumAvro(
    AvroMessages(
        "debezium-avro-confluent",
        has_registry=True,
        is_nullable=True,
        as_written=frozenset({"source"}),
    )
)


def _is_schema(key: str) -> bool:
    return key.endswith(".schema")


def _row(columns: Mapping[str, DataType]) -> RowType:
    return RowType(tuple(RowField(name, type_) for name, type_ in columns.items()))


def _record(columns: Mapping[str, DataType]) -> dict[str, DataType]:
    """Return the fields of a message, with Flink's names."""
    return {_BEFORE: _row(columns), _AFTER: _row(columns), _OPERATION: TEXT}


class DebeziumDecoder:
    """Reads the changes of a message, and its metadata."""

    def __init__(self, decode: Decoder) -> None:
        self._decode = decode

    def __call__(self, message: bytes) -> tuple[Any, ...]:
        record = self._decode(message)
        if record is None:
            raise UnreadableMessageError("the record is NULL")
        before, after, code, *metadata = record
        operation = DEBEZIUM_CODES.get(code)
        match operation:
            case Operation.INSERT:
                rows = [(RowKind.INSERT, after)]
            case Operation.UPDATE:
                rows = [(RowKind.UPDATE_BEFORE, before), (RowKind.UPDATE_AFTER, after)]
            case Operation.DELETE:
                rows = [(RowKind.DELETE, before)]
            case _:
                raise UnreadableMessageError(f"unknown op value {code!r}")
        for kind, row in rows:
            if row is None:
                is_before = kind in (RowKind.UPDATE_BEFORE, RowKind.DELETE)
                field = _BEFORE if is_before else _AFTER
                problem = f"the field {field} of the {operation.value} is missing"
                hint = f"{HINT}a table of Postgres needs REPLICA IDENTITY FULL" if is_before else ""
                raise UnreadableMessageError(problem + hint)
        return ([(str(kind), row) for kind, row in rows], *metadata)
