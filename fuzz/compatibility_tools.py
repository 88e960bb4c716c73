"""Record whether Avro, Iceberg and Spark read rows of one type by another.

    pip install avro pyiceberg
    python -m fuzz.compatibility_tools avro iceberg spark --pairs 400

Writes ``tests/cases/compatibility.jsonl``. Each line has the tool, the old and the new row type,
whether the tool reads rows of the old type by the new one, and its reason where it does not. `avro`
is the checker of the package `avro`; `iceberg` updates a schema by pyiceberg's `UpdateSchema`;
`spark` writes a parquet file of the old type and reads it by the new one.
"""

from __future__ import annotations

import argparse
import io
import json
import random
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, date, datetime, time
from decimal import Decimal
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from schema_core.types import (
    ArrayType,
    DataType,
    MapType,
    RowField,
    RowType,
    parse_type,
)
from schema_core.types import (
    DataTypes as T,
)

TARGET = Path(__file__).parent.parent / "tests/cases/compatibility.jsonl"

#: Types without children, each of which is compared with each.
LEAVES = tuple(
    parse_type(text)
    for text in (
        "BOOLEAN", "TINYINT", "SMALLINT", "INT", "BIGINT", "FLOAT", "DOUBLE",
        "DECIMAL(5, 0)", "DECIMAL(5, 2)", "DECIMAL(7, 2)", "DECIMAL(7, 4)", "DECIMAL(9, 4)",
        "DECIMAL(10, 0)", "DECIMAL(18, 0)", "DECIMAL(19, 0)", "DECIMAL(20, 0)", "DECIMAL(38, 10)",
        "CHAR(3)", "CHAR(5)", "VARCHAR(3)", "VARCHAR(5)", "STRING",
        "BINARY(3)", "BINARY(5)", "VARBINARY(3)", "BYTES",
        "DATE", "TIME(0)", "TIME(3)", "TIMESTAMP(0)", "TIMESTAMP(3)", "TIMESTAMP(6)",
        "TIMESTAMP_LTZ(3)", "TIMESTAMP_LTZ(6)",
    )
)  # fmt: skip

Verdict = tuple[bool, str]


# --- pairs ---------------------------------------------------------------------------------------


def drawn_type(draw: random.Random, depth: int = 2) -> DataType:
    """Return a type, of up to `depth` levels of children."""
    kind = draw.randrange(10) if depth else 9
    if kind == 0:
        return T.ARRAY(drawn_type(draw, depth - 1))
    if kind == 1:
        return T.MAP(T.STRING(nullable=False), drawn_type(draw, depth - 1))
    if kind in {2, 3}:
        return drawn_row(draw, depth - 1)
    return draw.choice(LEAVES).with_nullability(draw.random() < 0.7)


def drawn_row(draw: random.Random, depth: int = 2) -> RowType:
    """Return a row type of one to four fields."""
    names = draw.sample("abcdef", draw.randint(1, 4))
    return RowType(tuple(RowField(name, drawn_type(draw, depth)) for name in names))


def changed_type(draw: random.Random, type_: DataType) -> DataType:
    """Return a type with one change, at any depth."""
    match type_:
        case RowType() if draw.random() < 0.8:
            return changed_row(draw, type_)
        case ArrayType() if draw.random() < 0.8:
            return T.ARRAY(changed_type(draw, type_.element_type)).with_nullability(
                type_.is_nullable
            )
        case MapType() if draw.random() < 0.8:
            value = changed_type(draw, type_.value_type)
            return T.MAP(type_.key_type, value).with_nullability(type_.is_nullable)
    if draw.random() < 0.4:
        return type_.with_nullability(not type_.is_nullable)
    near = [leaf for leaf in LEAVES if leaf.root is type_.root] if draw.random() < 0.4 else LEAVES
    return draw.choice(near or LEAVES).with_nullability(type_.is_nullable)


def changed_row(draw: random.Random, row: RowType) -> RowType:
    """Return a row type with one change: of a type, or a field added, dropped or moved."""
    fields = list(row.fields)
    place = draw.randrange(len(fields))
    match draw.randrange(6):
        case 0:
            free = sorted(set("abcdefgh") - {field.name for field in fields})
            fields.insert(place, RowField(draw.choice(free), drawn_type(draw, 1)))
        case 1 if len(fields) > 1:
            del fields[place]
        case 2:
            draw.shuffle(fields)
        case _:
            field = fields[place]
            fields[place] = RowField(field.name, changed_type(draw, field.data_type))
    return RowType(tuple(fields), row.is_nullable)


def pairs(count: int) -> Iterator[tuple[RowType, RowType]]:
    """Yield all pairs of types without children, then drawn rows with one to three changes."""
    for old in LEAVES:
        for new in LEAVES:
            if old != new:
                yield T.ROW([T.FIELD("a", old)]), T.ROW([T.FIELD("a", new)])
    draw = random.Random(2026)
    result = 0
    while result < count:
        drawn = changed = drawn_row(draw)
        for _ in range(draw.randint(1, 3)):
            changed = changed_row(draw, changed)
        if changed != drawn:
            result += 1
            yield drawn, changed


# --- Avro ----------------------------------------------------------------------------------------


def avro_leaf(type_: DataType) -> Any:
    """Return the Avro type of Flink's format `avro`, with its mapping of timestamps since 1.19."""
    name, digits = type_.root.name, getattr(type_, "precision", 0)
    unit = "millis" if digits <= 3 else "micros"
    logical = {
        "DATE": ("int", "date"),
        "TIME_WITHOUT_TIME_ZONE": ("int", "time-millis"),
        "TIMESTAMP_WITHOUT_TIME_ZONE": ("long", f"local-timestamp-{unit}"),
        "TIMESTAMP_WITH_LOCAL_TIME_ZONE": ("long", f"timestamp-{unit}"),
    }
    if name in logical:
        plain, kind = logical[name]
        return {"type": plain, "logicalType": kind}
    if name == "DECIMAL":
        scale = getattr(type_, "scale", 0)
        return {"type": "bytes", "logicalType": "decimal", "precision": digits, "scale": scale}
    plain_names = {"BOOLEAN": "boolean", "BIGINT": "long", "FLOAT": "float", "DOUBLE": "double"}
    if "CHAR" in name:
        return "string"
    return "bytes" if "BINARY" in name else plain_names.get(name, "int")


def avro_schema(type_: DataType, name: str = "record") -> Any:
    """Return the Avro schema of a type: a union with null if it is nullable."""
    match type_:
        case RowType():
            fields: list[Any] = [
                {"name": field.name, "type": avro_schema(field.data_type, f"{name}_{field.name}")}
                | ({"default": None} if field.data_type.is_nullable else {})
                for field in type_.fields
            ]
            result: Any = {"type": "record", "name": name, "fields": fields}
        case ArrayType():
            result = {"type": "array", "items": avro_schema(type_.element_type, name)}
        case MapType():
            result = {"type": "map", "values": avro_schema(type_.value_type, name)}
        case _:
            result = avro_leaf(type_)
    return ["null", result] if type_.is_nullable and name != "record" else result


def avro(old: RowType, new: RowType) -> Verdict:
    """Return whether the checker of Avro's Python package accepts a reader."""
    compatibility, schema = import_module("avro.compatibility"), import_module("avro.schema")
    written, read = (
        schema.parse(json.dumps(avro_schema(table.not_null()))) for table in (old, new)
    )
    checker = compatibility.ReaderWriterCompatibilityChecker()
    result = checker.get_compatibility(read, written)
    accepts = result.compatibility is compatibility.SchemaCompatibilityType.compatible
    return accepts, "; ".join(sorted(result.messages))


# --- Iceberg -------------------------------------------------------------------------------------


def iceberg_type(type_: DataType, number: Callable[[], int]) -> Any:
    """Return the Iceberg type that Iceberg's integration with Flink has for a type."""
    i = import_module("pyiceberg.types")
    match type_:
        case RowType():
            return i.StructType(*iceberg_fields(type_, number))
        case ArrayType(element_type=element):
            return i.ListType(number(), iceberg_type(element, number), not element.is_nullable)
        case MapType(key_type=key, value_type=value):
            return i.MapType(
                number(), iceberg_type(key, number), number(), iceberg_type(value, number),
                not value.is_nullable,
            )  # fmt: skip
    name = type_.root.name
    if name == "DECIMAL":
        return i.DecimalType(type_.precision, type_.scale)  # type: ignore[attr-defined]
    if name == "BINARY":
        return i.FixedType(type_.length)  # type: ignore[attr-defined]
    kinds: Mapping[str, Any] = {
        "BOOLEAN": i.BooleanType, "BIGINT": i.LongType, "FLOAT": i.FloatType,
        "DOUBLE": i.DoubleType, "CHAR": i.StringType, "VARCHAR": i.StringType,
        "VARBINARY": i.BinaryType, "DATE": i.DateType, "TIME_WITHOUT_TIME_ZONE": i.TimeType,
        "TIMESTAMP_WITHOUT_TIME_ZONE": i.TimestampType,
        "TIMESTAMP_WITH_LOCAL_TIME_ZONE": i.TimestamptzType,
    }  # fmt: skip
    return kinds.get(name, i.IntegerType)()


def iceberg_fields(row: RowType, number: Callable[[], int]) -> list[Any]:
    """Return the numbered fields of a row."""
    return [
        import_module("pyiceberg.types").NestedField(
            number(),
            field.name,
            iceberg_type(field.data_type, number),
            required=not field.data_type.is_nullable,
        )
        for field in row.fields
    ]


def counter() -> Callable[[], int]:
    """Return a function that counts from 1."""
    numbers = iter(range(1, 10_000))
    return lambda: next(numbers)


def update(changes: Any, old: DataType, new: DataType, path: tuple[str, ...]) -> None:
    """Tell Iceberg the changes that lead from a type to another, below a path."""
    match old, new:
        case RowType(), RowType():
            update_row(changes, old, new, path)
        case ArrayType(), ArrayType():
            update(changes, old.element_type, new.element_type, (*path, "element"))
        case MapType(), MapType():
            update(changes, old.value_type, new.value_type, (*path, "value"))
        case _:
            if old.not_null() != new.not_null():
                changes.update_column(path, iceberg_type(new, counter()))
    if path and old.is_nullable != new.is_nullable:
        changes.update_column(path, required=not new.is_nullable)


def update_row(changes: Any, old: RowType, new: RowType, path: tuple[str, ...]) -> None:
    """Tell Iceberg the fields that are dropped, added and changed, and the new order."""
    was = {field.name: field.data_type for field in old.fields}
    become = {field.name: field.data_type for field in new.fields}
    for name in was.keys() - become.keys():
        changes.delete_column((*path, name))
    for name, type_ in become.items():
        if name in was:
            update(changes, was[name], type_, (*path, name))
        else:
            changes.add_column(
                (*path, name),
                iceberg_type(type_, counter()),
                required=not type_.is_nullable,
            )


def iceberg(old: RowType, new: RowType) -> Verdict:
    """Return whether pyiceberg changes the old schema to the new one."""
    partitioning, schemas, metadata, sorting, updates = (
        import_module(f"pyiceberg.{name}")
        for name in (
            "partitioning",
            "schema",
            "table.metadata",
            "table.sorting",
            "table.update.schema",
        )
    )
    table = metadata.new_table_metadata(
        schemas.Schema(*iceberg_fields(old, counter())),
        partitioning.UNPARTITIONED_PARTITION_SPEC,
        sorting.UNSORTED_SORT_ORDER,
        "file:///none",
        {},
    )
    changes = updates.UpdateSchema(SimpleNamespace(table_metadata=table))
    try:
        update(changes, old.not_null(), new.not_null(), ())
        changes._apply()
    except Exception as error:  # noqa: BLE001 - each error is a refusal
        return False, str(error).partition("\n")[0]
    return True, ""


# --- Spark ---------------------------------------------------------------------------------------


def sample(type_: DataType) -> Any:
    """Return a value of a type for PySpark."""
    match type_:
        case RowType():
            return tuple(sample(field.data_type) for field in type_.fields)
        case ArrayType():
            return [sample(type_.element_type)]
        case MapType():
            return {"k": sample(type_.value_type)}
    name = type_.root.name
    values: Mapping[str, Any] = {
        "BOOLEAN": True, "FLOAT": 1.5, "DOUBLE": 2.5, "DECIMAL": Decimal(1),
        "DATE": date(2026, 11, 2), "TIME_WITHOUT_TIME_ZONE": time(1, 2, 3),
        "TIMESTAMP_WITHOUT_TIME_ZONE": datetime(2026, 11, 2, 3, 4, 5),  # noqa: DTZ001
        "TIMESTAMP_WITH_LOCAL_TIME_ZONE": datetime(2026, 11, 2, 3, 4, 5, tzinfo=UTC),
    }  # fmt: skip
    if "CHAR" in name:
        return "abc"
    return b"abc" if "BINARY" in name else values.get(name, 100)


def is_kept(value: Any, read: Any, old: DataType, new: DataType) -> bool:
    """Return whether a value that was read is the one that was written, where both have it."""
    if read is None or value is None:
        return read is value
    match old, new:
        case RowType(), RowType():
            was = dict(zip((field.name for field in old.fields), value, strict=True))
            types = {field.name: field.data_type for field in old.fields}
            return all(
                is_kept(was[field.name], part, types[field.name], field.data_type)
                if field.name in was
                else part is None
                for field, part in zip(new.fields, read, strict=True)
            )
        case ArrayType(), ArrayType():
            return is_kept(value[0], read[0], old.element_type, new.element_type)
        case MapType(), MapType():
            return is_kept(value["k"], read["k"], old.value_type, new.value_type)
    if isinstance(value, date) and not isinstance(value, datetime) and isinstance(read, datetime):
        return (read.date(), read.time()) == (value, time())
    if isinstance(value, datetime):  # PySpark returns instants in the time zone of the process
        return bool(value.replace(tzinfo=None) == read)
    return bool(value == read)


def spark() -> Callable[[RowType, RowType], Verdict]:
    """Return a function that writes a parquet file and reads it by another schema."""
    from pyspark.sql import SparkSession
    from pyspark.sql.types import StructType

    from schema_core import Schema, SchemaResolver
    from schema_core.spark import to_struct_type

    session = (
        SparkSession.builder.master("local[1]")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.shuffle.partitions", "1")
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.sql.timeType.enabled", "true")
        .config("spark.sql.parquet.inferTimestampNTZ.enabled", "true")
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("OFF")
    folder = Path(tempfile.mkdtemp())
    written: dict[RowType, Path] = {}

    def struct(row: RowType) -> StructType:
        builder = Schema.new_builder()
        for field in row.fields:
            builder.column(field.name, field.data_type)
        return to_struct_type(SchemaResolver().resolve(builder.build()), on_loss="accept")

    def reads(old: RowType, new: RowType) -> Verdict:
        if old not in written:
            written[old] = folder / str(len(written))
            frame = session.createDataFrame([sample(old)], struct(old))
            frame.write.parquet(str(written[old]))
        try:
            (row,) = session.read.schema(struct(new)).parquet(str(written[old])).collect()
        except Exception as error:  # noqa: BLE001 - each error is a refusal
            return False, str(error).partition("\n")[0][:160]
        if is_kept(sample(old), row, old, new):
            return True, ""
        return False, f"another value: {row}"[:160]

    return reads


# --- the program ---------------------------------------------------------------------------------


def main() -> None:
    """Record the answers of the tools that are named, beside those of the others."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("tools", nargs="+", choices=["avro", "iceberg", "spark"])
    parser.add_argument("--pairs", type=int, default=400, help="drawn pairs of rows")
    options = parser.parse_args()
    kept = []
    if TARGET.exists():
        lines = TARGET.read_text(encoding="utf-8").splitlines()
        kept = [line for line in lines if json.loads(line)["tool"] not in options.tools]
    buffer = io.StringIO()
    for tool in options.tools:
        ask = {"avro": avro, "iceberg": iceberg}.get(tool) or spark()
        counted = [0, 0]
        for old, new in pairs(options.pairs):
            accepts, why = ask(old, new)
            counted[accepts] += 1
            line = {"tool": tool, "old": str(old), "new": str(new), "reads": accepts, "why": why}
            print(json.dumps(line), file=buffer)
        print(f"{tool}: {counted[1]} read, {counted[0]} refused", file=sys.stderr)
    TARGET.write_text("".join(f"{line}\n" for line in kept) + buffer.getvalue(), encoding="utf-8")


if __name__ == "__main__":
    main()
