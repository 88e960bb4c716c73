"""Files of Iceberg of each age: `python -m fuzz.iceberg_ages 200`.

A table with columns of all types, alone and in rows, arrays and maps, is changed at any depth: a
field is added, dropped, renamed, added again by a former name, widened or moved. Between the
changes tasks write rows into a new file. In the end all files are read by the functions that tasks
call, by pyiceberg and, where its extension is installed, by DuckDB. Each must read the values by
the ids of fields, as a model in Python holds them.
"""

from __future__ import annotations

import datetime as dt
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from decimal import Context, Decimal
from importlib.util import find_spec
from pathlib import Path
from random import Random
from typing import Any, TypeAlias

import pyarrow as pa
from pyiceberg import types
from pyiceberg.io.pyarrow import schema_to_pyarrow
from pyiceberg.schema import Schema
from pyiceberg.table import Table
from pyiceberg.types import IcebergType, NestedField

from fuzz.iceberg_tables import create_catalog
from schema_core.connectors.iceberg.tasks import read_file, write_file

#: Types without parts -> values.
VALUES: Mapping[IcebergType, tuple[Any, ...]] = {
    types.BooleanType(): (True, False),
    types.IntegerType(): (7, -(2**31), 2**31 - 1),
    types.LongType(): (7, -(2**63), 2**63 - 1),
    types.FloatType(): (1.5, -0.25),
    types.DoubleType(): (1.5, 1e300),
    types.DecimalType(4, 2): (Decimal("1.25"), Decimal("-99.99")),
    types.DecimalType(18, 2): (Decimal("1.25"), Decimal("-9999999999999999.99")),
    types.DecimalType(38, 9): (
        Decimal("1.000000001"),
        Decimal("-12345678901234567890123456789.123456789"),
    ),
    types.StringType(): ("", "ab ", "é"),
    types.BinaryType(): (b"", b"\x00\xff"),
    types.FixedType(3): (b"abc", b"\x00\x01\x02"),
    types.DateType(): (dt.date(2020, 1, 2), dt.date(1969, 12, 31)),
    types.TimeType(): (dt.time(0), dt.time(23, 59, 59, 999999)),
    types.TimestampType(): (dt.datetime(2020, 1, 2, 3, 4, 5, 6),),  # noqa: DTZ001
    types.TimestamptzType(): (dt.datetime(1969, 1, 2, tzinfo=dt.UTC),),
}
#: Types -> wider ones.
WIDER: Mapping[IcebergType, IcebergType] = {
    types.IntegerType(): types.LongType(),
    types.FloatType(): types.DoubleType(),
    types.DecimalType(4, 2): types.DecimalType(18, 2),
}
#: The places of a type within a column; a part of a map is its value.
PLACES = ("alone", "row", "row of rows", "array", "array of rows", "map", "map of rows")
#: How many changes are tried between two files, and how many files there are.
CHANGES, AGES = 6, 4

#: A value by the model: rows hold the values of fields by their ids.
Value: TypeAlias = Any


# --- the table -----------------------------------------------------------------------------------


def nested(place: str, type_: IcebergType) -> IcebergType:
    """Return a type in a place of a column; `create_table` assigns the ids."""
    row = types.StructType(
        NestedField(0, "f", type_, required=False),
        NestedField(0, "g", types.IntegerType(), required=False),
    )
    outer = types.StructType(NestedField(0, "in", row, required=False))
    return {
        "alone": type_,
        "row": row,
        "row of rows": outer,
        "array": types.ListType(0, type_, element_required=False),
        "array of rows": types.ListType(0, row, element_required=False),
        "map": types.MapType(0, types.StringType(), 0, type_, value_required=False),
        "map of rows": types.MapType(0, types.StringType(), 0, row, value_required=False),
    }[place]


def rows_within(type_: IcebergType, path: tuple[str, ...]) -> Iterator[tuple[Any, tuple[str, ...]]]:
    """Yield the rows in a type, with their paths."""
    match type_:
        case types.StructType():
            yield type_, path
            for field in type_.fields:
                yield from rows_within(field.field_type, (*path, field.name))
        case types.ListType():
            yield from rows_within(type_.element_type, (*path, "element"))
        case types.MapType():
            yield from rows_within(type_.value_type, (*path, "value"))


def change_field(table: Table, random: Random, former: list[str]) -> None:
    """Change a field at any depth; a change that the specification refuses is left out."""
    row, path = random.choice(list(rows_within(table.schema().as_struct(), ())))
    field = random.choice([each for each in row.fields if each.name != "key"])
    name = random.choice([*former, f"n{random.randrange(10**6)}"])
    actions: dict[str, Callable[[Any], object]] = {
        "add": lambda update: update.add_column((*path, name), random.choice(list(VALUES))),
        "rename": lambda update: update.rename_column((*path, field.name), name),
        "move first": lambda update: update.move_first((*path, field.name)),
        "move after": lambda update: update.move_after(
            (*path, field.name), (*path, random.choice(row.fields).name)
        ),
    }
    if len(row.fields) > 2:
        actions["drop"] = lambda update: update.delete_column((*path, field.name))
    if field.field_type in WIDER:
        wider = WIDER[field.field_type]
        actions["widen"] = lambda update: update.update_column(
            (*path, field.name), field_type=wider
        )
    action = random.choice(list(actions))
    try:
        with table.update_schema() as update:
            actions[action](update)
    except ValueError:  # of a name that the row has, or a field moved after itself
        return
    if action in ("rename", "drop"):
        former.append(field.name)


def draw_value(type_: IcebergType, random: Random) -> Value:
    """Return a value of the model; one in eight is NULL."""
    if not random.randrange(8):
        return None
    match type_:
        case types.StructType():
            return {each.field_id: draw_value(each.field_type, random) for each in type_.fields}
        case types.ListType():
            return [draw_value(type_.element_type, random) for _ in range(random.randrange(3))]
        case types.MapType():
            keys = random.sample("abc", random.randrange(3))
            return [(key, draw_value(type_.value_type, random)) for key in keys]
    return random.choice(VALUES[type_])


def to_python(value: Value, type_: IcebergType) -> Any:
    """Return a value of the model by the fields that a type has now."""
    if value is None:
        return None
    match type_:
        case types.StructType():
            return {
                each.name: to_python(value.get(each.field_id), each.field_type)
                for each in type_.fields
            }
        case types.ListType():
            return [to_python(each, type_.element_type) for each in value]
        case types.MapType():
            return [(key, to_python(each, type_.value_type)) for key, each in value]
        case types.DecimalType(scale=scale):
            return value.quantize(Decimal(1).scaleb(-scale), context=Context(prec=77))
    return value


def append(table: Table, rows: Iterable[Value]) -> None:
    """Write rows as tasks do, and commit their file."""
    schema = table.schema()
    arrow = schema_to_pyarrow(schema, include_field_ids=False)
    written = pa.Table.from_pylist([to_python(row, schema.as_struct()) for row in rows], arrow)
    file = write_file(table.metadata, table.io, written, f"{len(table.snapshots())}.parquet", None)
    file.spec_id = table.spec().spec_id
    with (
        table.transaction() as transaction,
        transaction.update_snapshot().fast_append() as update,
    ):
        update.append_data_file(file)


# --- readers -------------------------------------------------------------------------------------


def read_in_tasks(table: Table) -> list[Any]:
    """Return the rows as tasks read them."""
    fields = list(table.schema().fields)
    names = [field.name for field in fields]
    batches = [
        pa.RecordBatch.from_arrays(columns, names)
        for task in table.scan().plan_files()
        for columns, _ in read_file(table.metadata, table.io, task, fields)
    ]
    return [row for batch in batches for row in batch.to_pylist()]


def read_by_pyiceberg(table: Table) -> list[Any]:
    """Return the rows as pyiceberg reads them."""
    return list(table.scan().to_arrow().to_pylist())


def read_by_duckdb(table: Table) -> list[Any]:
    """Return the rows as DuckDB reads them."""
    import duckdb

    connection = duckdb.connect(config={"threads": 1, "allow_unsigned_extensions": "true"})
    for name in ("avro", "iceberg"):
        package = find_spec(f"duckdb_extension_{name}")
        assert package is not None
        assert package.origin is not None
        extension = next(Path(package.origin).parent.rglob("*.duckdb_extension"))
        connection.execute(f"LOAD '{extension}'")
    connection.execute("SET TimeZone = 'UTC'")
    path = table.metadata_location.removeprefix("file://")
    result: pa.Table = connection.sql(f"SELECT * FROM iceberg_scan('{path}')").to_arrow_table()
    return list(result.to_pylist())


def comparable(value: Any) -> Any:
    """Return a value with all times in UTC, whose zones have several classes."""
    match value:
        case Mapping():
            return {key: comparable(each) for key, each in value.items()}
        case list() | tuple():
            return type(value)(map(comparable, value))
        case dt.datetime(tzinfo=dt.tzinfo()):
            return value.astimezone(dt.UTC)
    return value


def null_as_empty(value: Any, type_: IcebergType) -> Any:
    """Return a value with empty arrays and maps for NULL, as which pyiceberg reads some."""
    match type_:
        case types.StructType() if value is not None:
            return {
                each.name: null_as_empty(value[each.name], each.field_type) for each in type_.fields
            }
        case types.ListType():
            return [null_as_empty(each, type_.element_type) for each in value or ()]
        case types.MapType():
            return [(key, null_as_empty(each, type_.value_type)) for key, each in value or ()]
    return value


# --- checks --------------------------------------------------------------------------------------


def check_table(catalog: Any, seed: int) -> Counter[str]:
    """Check a drawn table; return how many rows each reader has read.

    Raises:
        AssertionError: if a reader has other rows than the model.
    """
    random, name = Random(seed), f"db.t{seed}"
    pairs = random.sample([(place, type_) for place in PLACES for type_ in VALUES], 8)
    fields = [
        NestedField(number + 1, f"c{number}", nested(place, type_), required=False)
        for number, (place, type_) in enumerate(pairs)
    ]
    key = NestedField(100, "key", types.LongType(), required=False)
    table = catalog.create_table(name, Schema(key, *fields))
    (key_id,) = (field.field_id for field in table.schema().fields if field.name == "key")
    rows: list[Value] = []
    former: list[str] = ["f", "g"]
    for age in range(AGES):
        struct = table.schema().as_struct()
        added = [
            {each.field_id: draw_value(each.field_type, random) for each in struct.fields}
            | {key_id: 10 * age + number}
            for number in range(3)
        ]
        append(table, added)
        rows += added
        for _ in range(CHANGES if age + 1 < AGES else 0):
            change_field(table, random, former)
    struct = table.schema().as_struct()
    expected = [comparable(to_python(row, struct)) for row in rows]
    counts: Counter[str] = Counter()
    for reader, read in READERS.items():
        if not all(map(find_spec, REQUIRED.get(reader, ()))):
            continue
        result = sorted(map(comparable, read(table)), key=lambda row: row["key"])
        wanted = expected
        if reader == "pyiceberg":
            result, wanted = (
                [null_as_empty(row, struct) for row in rows] for rows in (result, expected)
            )
        assert wanted == result, f"seed {seed}, {reader}: expected\n{wanted}\ngot\n{result}"
        counts[reader] += 1
    return counts


READERS: Mapping[str, Callable[[Table], list[Any]]] = {
    "tasks": read_in_tasks, "pyiceberg": read_by_pyiceberg, "duckdb": read_by_duckdb,
}  # fmt: skip
#: Reader -> the packages that it requires.
REQUIRED = {"duckdb": ("duckdb", "duckdb_extension_iceberg", "duckdb_extension_avro")}


def checks(seeds: Iterable[int]) -> Counter[str]:
    """Check drawn tables; return how many each reader has read equally."""
    counts: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as directory:
        catalog = create_catalog(directory)
        for seed in seeds:
            counts += check_table(catalog, seed)
    return counts


def main() -> None:
    """Print how many tables each reader has read equally."""
    first = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    print(dict(checks(range(first, first + int(sys.argv[1])))))


if __name__ == "__main__":
    main()
