"""The format `avro`: container files with the schemas that Flink's format writes.

Spark's class `AvroFileFormat` reads and writes them. Schema, types and options follow Flink's
``AvroSchemaConverter`` and ``AvroFileFormatFactory``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from schema_core import types
from schema_core.connectors.files.file_formats import PLACES, Format, truncate_to_precision
from schema_core.environment.options import ConfigOption, boolean, choice
from schema_core.errors import SchemaError, at
from schema_core.spark.compiler import tree as nodes
from schema_core.spark.compiler.template import inline
from schema_core.spark.compiler.translation import sql_type

if TYPE_CHECKING:
    from schema_core.connectors.files.csv_files import Options

#: Spark's data source; its short name requires the otherwise empty package ``spark-avro``.
SOURCE = "org.apache.spark.sql.avro.AvroFileFormat"
#: Flink's name of the record.
NAMESPACE, RECORD = "org.apache.flink.avro.generated", "record"

#: Codec of Flink -> codec of Spark.
_CODECS = {
    "null": "uncompressed", "deflate": "deflate", "snappy": "snappy", "bzip2": "bzip2",
    "xz": "xz", "zstandard": "zstandard",
}  # fmt: skip

CODEC = ConfigOption("avro.codec", choice(*_CODECS), "snappy", "how blocks are compressed")
LEGACY = ConfigOption(
    "avro.timestamp_mapping.legacy",
    boolean,
    True,
    "whether TIMESTAMP is Avro's `timestamp`; if not, TIMESTAMP_LTZ is, and TIMESTAMP is "
    "`local-timestamp`",
)

_STRINGS = (types.CharType, types.VarCharType)

#: Type -> its Avro type.
_PLAIN: Mapping[type[types.DataType], Any] = {
    types.BooleanType: "boolean",
    **dict.fromkeys((types.TinyIntType, types.SmallIntType, types.IntType), "int"),
    types.BigIntType: "long", types.FloatType: "float", types.DoubleType: "double",
    **dict.fromkeys((types.CharType, types.VarCharType), "string"),
    **dict.fromkeys((types.BinaryType, types.VarBinaryType), "bytes"),
    types.DateType: {"type": "int", "logicalType": "date"},
    types.TimeType: {"type": "int", "logicalType": "time-millis"},
}  # fmt: skip


class Avro:
    """The columns of avro files as Spark stores them."""

    def require(self, fields: Sequence[types.RowField], options: Options) -> None:
        """Refuse names and types that Flink's format does not have.

        Raises:
            SchemaError: with code `type-not-supported` or `name-not-supported`.
        """
        avro_schema(fields, options)

    def reading(self, options: Options) -> dict[str, str]:
        return {}

    def writing(self, fields: Sequence[types.RowField], options: Options) -> dict[str, str]:
        schema = json.dumps(avro_schema(fields, options))
        return {"avroSchema": schema, "compression": _CODECS[CODEC.of(options) or "snappy"]}

    def physical_type(self, type_: types.DataType, options: Options) -> types.DataType:
        """Return the type that Spark reads: Avro has fewer integers, and TIME as an integer."""
        match type_:
            case types.TinyIntType() | types.SmallIntType() | types.TimeType():
                return types.IntType(nullable=type_.is_nullable)
            case types.TimestampType(precision=precision) if LEGACY.of(options):
                return types.LocalZonedTimestampType(precision, nullable=type_.is_nullable)
            case _:
                return type_.rebuild(
                    tuple(self.physical_type(child, options) for child in type_.children())
                )

    def decode(
        self, node: nodes.Node, name: str, type_: types.DataType, options: Options
    ) -> nodes.Node:
        """Return the value of a column; a number that its type cannot hold fails the job."""
        return self._map_parts(node, type_, lambda one, kind: decode_value(one, name, kind))

    def encode(
        self, node: nodes.Node, name: str, type_: types.DataType, options: Options
    ) -> nodes.Node:
        """Return what Spark writes: milliseconds as instants of UTC or as integers."""
        legacy = bool(LEGACY.of(options))
        return self._map_parts(
            node, type_, lambda one, kind: encode_value(one, kind, legacy=legacy)
        )

    def _map_parts(
        self,
        node: nodes.Node,
        type_: types.DataType,
        leaf: Callable[[nodes.Node, types.DataType], nodes.Node],
    ) -> nodes.Node:
        match type_:
            case types.RowType():
                parts = [
                    (field, self._map_parts(nodes.Field(node, field.name), field.data_type, leaf))
                    for field in type_.fields
                ]
                if all(isinstance(part, nodes.Field) for _, part in parts):
                    return node
                row = nodes.call(
                    "named_struct", *(x for item, part in parts for x in (item.name, part))
                )
                return inline("if({v} IS NULL, NULL, {row})", v=node, row=row)
            case types.ArrayType():
                return self._elements(
                    "transform", (nodes.Variable(),), node, type_.element_type, leaf
                )
            case types.MapType():
                names = (nodes.Variable(), nodes.Variable())
                return self._elements("transform_values", names, node, type_.value_type, leaf)
            case types.MultisetType():
                return node
            case _:
                return leaf(node, type_)

    def _elements(
        self,
        function: str,
        names: tuple[nodes.Variable, ...],
        node: nodes.Node,
        type_: types.DataType,
        leaf: Callable[[nodes.Node, types.DataType], nodes.Node],
    ) -> nodes.Node:
        body = self._map_parts(names[-1], type_, leaf)
        return node if body is names[-1] else nodes.call(function, node, nodes.Lambda(names, body))


def with_instants(type_: types.DataType) -> types.DataType:
    """Return a type as the legacy mapping stores it: TIMESTAMP as an instant."""
    if isinstance(type_, types.TimestampType):
        return types.LocalZonedTimestampType(type_.precision, nullable=type_.is_nullable)
    return type_.rebuild(tuple(map(with_instants, type_.children())))


def encode_value(node: nodes.Node, type_: types.DataType, *, legacy: bool) -> nodes.Node:
    """Return what Spark writes for a value without parts; instants have the type's precision."""
    match type_:
        case types.TimeType():
            return nodes.Cast(nodes.call("time_to_millis", node), "INT")
        case types.TimestampType() if legacy:
            return nodes.Cast(truncate_to_precision(node, type_), "TIMESTAMP")
        case types.TimestampType() | types.LocalZonedTimestampType():
            return truncate_to_precision(node, type_)
        case types.TinyIntType() | types.SmallIntType():
            return nodes.Cast(node, "INT")
        case _:
            return node


def decode_value(
    node: nodes.Node, name: str, type_: types.DataType, place: nodes.Node = PLACES["avro"]
) -> nodes.Node:
    """Return the value of a type without parts that Spark has read; errors name its `place`."""
    match type_:
        case types.TimeType():
            return nodes.Cast(nodes.call("time_from_millis", node), sql_type(type_))
        case types.TimestampType():
            return truncate_to_precision(nodes.Cast(node, "TIMESTAMP_NTZ"), type_)
        case types.LocalZonedTimestampType():
            return truncate_to_precision(node, type_)
        case types.TinyIntType() | types.SmallIntType():
            return nodes.let(node, lambda value: _narrow(value, name, sql_type(type_), place))
        case _:
            return node


def _narrow(value: nodes.Node, name: str, narrow: str, place: nodes.Node) -> nodes.Node:
    cast = nodes.Cast(value, narrow)
    problem = inline(
        "raise_error(concat({problem}, CAST({v} AS STRING), coalesce({place}, '')))",
        v=value,
        problem=f"column {name!r}: cannot read as {narrow}: ",
        place=place,
    )
    return nodes.Case(((inline("CAST({cast} AS INT) <> {v}", cast=cast, v=value), problem),), cast)


# --- schemas -------------------------------------------------------------------------------


def avro_schema(fields: Sequence[types.RowField], options: Options) -> dict[str, Any]:
    """Return the Avro schema that Flink derives from a table.

    Raises:
        SchemaError: with code `type-not-supported` or `name-not-supported`.

    >>> column = types.RowField("a", types.parse_type("INT NOT NULL"))
    >>> avro_schema([column], {})["fields"]
    [{'name': 'a', 'type': 'int'}]
    """
    record = _record(fields, RECORD, legacy=bool(LEGACY.of(options)))
    return {**record, "namespace": NAMESPACE}


def _record(fields: Sequence[types.RowField], name: str, *, legacy: bool) -> dict[str, Any]:
    return {"type": "record", "name": name, "fields": [*_fields(fields, name, legacy=legacy)]}


def _fields(
    fields: Sequence[types.RowField], record: str, *, legacy: bool
) -> Iterator[dict[str, Any]]:
    for field in fields:
        if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", field.name):
            raise SchemaError(
                f"avro files cannot hold the name {field.name!r}",
                code="name-not-supported",
                hint="rename it: ASCII letters, digits and '_', and no digit first",
            )
        with at(f"column {field.name!r}"):
            schema = _nullable(field.data_type, f"{record}_{field.name}", legacy=legacy)
        default = {"default": None} if field.data_type.is_nullable else {}
        yield {"name": field.name, "type": schema, **default}


def _nullable(type_: types.DataType, name: str, *, legacy: bool) -> Any:
    schema = _schema(type_, name, legacy=legacy)
    return ["null", schema] if type_.is_nullable else schema


def _schema(type_: types.DataType, name: str, *, legacy: bool) -> Any:
    match type_:
        case types.TimeType(precision=precision) if precision > 3:
            raise _type_error(type_, "declare TIME(3)")
        case types.DecimalType():
            return {"type": "bytes", "logicalType": "decimal", "precision": type_.precision,
                    "scale": type_.scale}  # fmt: skip
        case types.TimestampType() | types.LocalZonedTimestampType():
            return {"type": "long", "logicalType": _timestamp(type_, legacy=legacy)}
        case types.RowType():
            return _record(type_.fields, name, legacy=legacy)
        case types.ArrayType(element_type=element):
            return {"type": "array", "items": _nullable(element, name, legacy=legacy)}
        case types.MapType(key_type=key, value_type=value) if isinstance(key, _STRINGS):
            return {"type": "map", "values": _nullable(value, name, legacy=legacy)}
        case types.MultisetType(element_type=element) if isinstance(element, _STRINGS):
            return {"type": "map", "values": "int"}
        case _ if type(type_) in _PLAIN:
            return _PLAIN[type(type_)]
        case _:
            raise _type_error(type_, "use the format 'parquet' or 'json'")


def _timestamp(type_: types.TimestampType | types.LocalZonedTimestampType, *, legacy: bool) -> str:
    is_local = isinstance(type_, types.TimestampType)
    if legacy and (not is_local or type_.precision > 3):
        raise _type_error(type_, f"set '{LEGACY.key}' = 'false', or declare TIMESTAMP(3)")
    if type_.precision > 6:
        raise _type_error(type_, "declare a precision of at most 6: Spark has no nanoseconds")
    unit = "millis" if type_.precision <= 3 else "micros"
    return f"{'local-' if is_local and not legacy else ''}timestamp-{unit}"


def _type_error(type_: types.DataType, hint: str) -> SchemaError:
    return SchemaError(
        f"avro files cannot hold the type {type_.as_summary_string()}",
        code="type-not-supported",
        hint=hint,
    )


AVRO = Format("avro", (CODEC, LEGACY), source=SOURCE, codec=Avro())
