"""The values of a metastore in the JSON of Thrift, which Hive's client reads and writes.

A record goes over to the JVM of Spark as one text instead of a call for each of its fields. Fields
are named by their numbers, ``{"1": {"str": "orders"}, ...}``: those of ``hive_metastore.thrift``,
where they never change.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from time import time
from typing import Any, TypeAlias

from schema_core.catalogs.hive.metastore import (
    HiveColumn,
    HiveDatabase,
    HiveFunction,
    HivePartition,
    HiveStorage,
    HiveTable,
)

#: A record: number of a field -> its value under the tag of its type.
Record: TypeAlias = dict[str, Any]

#: Kinds of resources, by Thrift's number.
RESOURCES = {1: "JAR", 2: "FILE", 3: "ARCHIVE"}


def written(record: Record) -> str:
    """The text of a record; Thrift reads no white space."""
    return json.dumps(record, separators=(",", ":"))


def parsed(text: str) -> Record:
    """The record of a text that the client wrote."""
    found: Record = json.loads(text)
    return found


# --- fields --------------------------------------------------------------------------------------


def put_text(record: Record, number: str, value: str | None) -> None:
    """Set a text; None leaves the field out."""
    record.pop(number, None)
    if value is not None:
        record[number] = {"str": value}


def put_map(record: Record, number: str, value: Mapping[str, str]) -> None:
    """Set a map of texts."""
    record[number] = {"map": ["str", "str", len(value), dict(value)]}


def put_list(record: Record, number: str, tag: str, values: Iterable[Any]) -> None:
    """Set a list of values of one type."""
    every = list(values)
    record[number] = {"lst": [tag, len(every), *every]}


def text(record: Record, number: str) -> str | None:
    """A text, or None where it is left out."""
    found = record.get(number)
    return None if found is None else found["str"]


def texts(record: Record, number: str) -> dict[str, str]:
    """A map of texts."""
    return dict(record[number]["map"][3]) if number in record else {}


def members(record: Record, number: str) -> list[Any]:
    """The values of a list."""
    return list(record[number]["lst"][2:]) if number in record else []


# --- columns and storage -------------------------------------------------------------------------


def column_of(record: Record) -> HiveColumn:
    """A FieldSchema as a value."""
    return HiveColumn(text(record, "1") or "", text(record, "2") or "", text(record, "3"))


def record_of_column(column: HiveColumn) -> Record:
    """A column as a FieldSchema."""
    record: Record = {}
    put_text(record, "1", column.name)
    put_text(record, "2", column.type)
    put_text(record, "3", column.comment)
    return record


def storage_of(record: Record) -> HiveStorage:
    """A StorageDescriptor without its columns."""
    serde = record["7"]["rec"] if "7" in record else {}
    return HiveStorage(
        text(record, "3"),
        text(record, "4"),
        text(serde, "2"),
        texts(serde, "3"),
        text(record, "2"),
        record["6"]["i32"] if "6" in record else -1,
        tuple(members(record, "8")),
        record,
    )


def record_of_storage(storage: HiveStorage, columns: Iterable[HiveColumn]) -> Record:
    """A StorageDescriptor with its columns."""
    record = {"5": {"tf": 0}, **storage.rest}
    serde = dict(record["7"]["rec"]) if "7" in record else {}
    put_list(record, "1", "rec", map(record_of_column, columns))
    put_text(record, "2", storage.location)
    put_text(record, "3", storage.input_format)
    put_text(record, "4", storage.output_format)
    record["6"] = {"i32": storage.buckets}
    put_text(serde, "2", storage.serde)
    put_map(serde, "3", storage.serde_parameters)
    record["7"] = {"rec": serde}
    put_list(record, "8", "str", storage.bucket_columns)
    record.setdefault("9", {"lst": ["rec", 0]})
    record.setdefault("10", {"map": ["str", "str", 0, {}]})
    return record


# --- records -------------------------------------------------------------------------------------


def table_of(record: Record) -> HiveTable:
    """A Table as a value."""
    storage = record["7"]["rec"] if "7" in record else {}
    return HiveTable(
        text(record, "2") or "",
        text(record, "1") or "",
        text(record, "12") or "",
        tuple(map(column_of, members(storage, "1"))),
        tuple(map(column_of, members(record, "8"))),
        texts(record, "9"),
        storage_of(storage),
        text(record, "10"),
        text(record, "11"),
        record,
    )


def record_of_table(table: HiveTable) -> Record:
    """A value as a Table."""
    record = dict(table.rest)
    put_text(record, "1", table.name)
    put_text(record, "2", table.database)
    record["7"] = {"rec": record_of_storage(table.storage, table.columns)}
    put_list(record, "8", "rec", map(record_of_column, table.partition_columns))
    put_map(record, "9", table.parameters)
    put_text(record, "10", table.original_query)
    put_text(record, "11", table.expanded_query)
    put_text(record, "12", table.kind)
    return record


def database_of(record: Record) -> HiveDatabase:
    """A Database as a value."""
    return HiveDatabase(
        text(record, "1") or "", text(record, "2"), text(record, "3"), texts(record, "4"), record
    )


def record_of_database(database: HiveDatabase) -> Record:
    """A value as a Database."""
    record = dict(database.rest)
    put_text(record, "1", database.name)
    put_text(record, "2", database.comment)
    put_text(record, "3", database.location)
    put_map(record, "4", database.parameters)
    return record


def partition_of(record: Record) -> HivePartition:
    """A Partition as a value."""
    storage = record["6"]["rec"] if "6" in record else {}
    return HivePartition(
        text(record, "2") or "",
        text(record, "3") or "",
        tuple(members(record, "1")),
        texts(record, "7"),
        storage_of(storage),
        tuple(map(column_of, members(storage, "1"))),
        record,
    )


def record_of_partition(partition: HivePartition) -> Record:
    """A value as a Partition."""
    record = dict(partition.rest)
    put_list(record, "1", "str", partition.values)
    put_text(record, "2", partition.database)
    put_text(record, "3", partition.table)
    record["6"] = {"rec": record_of_storage(partition.storage, partition.columns)}
    put_map(record, "7", partition.parameters)
    return record


def function_of(record: Record) -> HiveFunction:
    """A Function as a value."""
    return HiveFunction(
        text(record, "2") or "",
        text(record, "1") or "",
        text(record, "3") or "",
        tuple((RESOURCES[one["1"]["i32"]], one["2"]["str"]) for one in members(record, "8")),
        record,
    )


def record_of_function(function: HiveFunction) -> Record:
    """A value as a Function; its owner is a group and its language Java, as Flink writes them."""
    numbers = {kind: number for number, kind in RESOURCES.items()}
    record = {"5": {"i32": 3}, "6": {"i32": int(time())}, "7": {"i32": 1}, **function.rest}
    put_text(record, "1", function.name)
    put_text(record, "2", function.database)
    put_text(record, "3", function.class_name)
    resources = (
        {"1": {"i32": numbers[kind]}, "2": {"str": uri}} for kind, uri in function.resources
    )
    put_list(record, "8", "rec", resources)
    return record


#: Class of a value -> the name of Thrift's record, and how the one becomes the other.
RECORDS: dict[type, tuple[str, Callable[[Any], Record]]] = {
    HiveDatabase:  ("Database",  record_of_database),
    HiveTable:     ("Table",     record_of_table),
    HivePartition: ("Partition", record_of_partition),
    HiveFunction:  ("Function",  record_of_function),
}  # fmt: skip
