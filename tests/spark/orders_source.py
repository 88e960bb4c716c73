"""A data source in Python, which tables of the connector `python` name."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

from pyspark.sql.datasource import (
    DataSource,
    DataSourceReader,
    DataSourceWriter,
    EqualTo,
    WriterCommitMessage,
)
from pyspark.sql.types import StructType


class Reader(DataSourceReader):  # type: ignore[misc, unused-ignore]
    """Five rows; notes the filters that it takes."""

    def __init__(self, options: Any) -> None:
        self.options = options
        self.wanted: list[Any] = []

    def pushFilters(self, filters: list[Any]) -> Iterator[Any]:
        for filter_ in filters:
            if isinstance(filter_, EqualTo):
                self.wanted.append(filter_.value)
            else:
                yield filter_
        Path(self.options["log"]).write_text(json.dumps(self.wanted))

    def read(self, _: Any) -> Iterator[tuple[int, str]]:
        for number in range(5):
            if all(number == item for item in self.wanted):
                yield number, f"n{number}"


class Writer(DataSourceWriter):  # type: ignore[misc, unused-ignore]
    """Appends rows to a file, with the mode of the write."""

    def __init__(self, options: Any, overwrite: bool) -> None:
        self.options, self.overwrite = options, overwrite

    def write(self, iterator: Iterator[Any]) -> WriterCommitMessage:
        lines = (json.dumps([self.overwrite, *row]) + "\n" for row in iterator)
        with Path(self.options["log"]).open("a") as file:
            file.writelines(lines)
        return WriterCommitMessage()


class Orders(DataSource):  # type: ignore[misc, unused-ignore]
    """A data source that reads and writes."""

    def schema(self) -> str:
        return "id INT, name STRING"

    def reader(self, schema: Any) -> Reader:
        return Reader(self.options)

    def writer(self, schema: Any, overwrite: bool) -> Writer:
        return Writer(self.options, overwrite)


class ReadOnly(DataSource):  # type: ignore[misc, unused-ignore]
    """A data source that cannot be written."""

    def schema(self) -> str:
        return "id INT"

    def reader(self, schema: Any) -> Reader:
        return Reader(self.options)


class WriteOnly(DataSource):  # type: ignore[misc, unused-ignore]
    """A data source that cannot be read."""

    def writer(self, schema: Any, overwrite: bool) -> Writer:
        return Writer(self.options, overwrite)


class NestedReader(DataSourceReader):  # type: ignore[misc, unused-ignore]
    """One row, of the columns and fields of a schema, which it notes."""

    STORED: ClassVar[dict[str, Any]] = {"id": 1, "r": {"a": 2, "b": "x", "c": {"x": 3, "y": 4}}}

    def __init__(self, options: Any, schema: Any) -> None:
        self.schema = schema
        Path(options["log"]).write_text(schema.simpleString())

    def read(self, _: Any) -> Iterator[tuple[Any, ...]]:
        yield self.values_of(self.STORED, self.schema)

    def values_of(self, stored: Any, type_: Any) -> Any:
        if not isinstance(type_, StructType):
            return stored
        return tuple(self.values_of(stored[field.name], field.dataType) for field in type_.fields)


class Nested(DataSource):  # type: ignore[misc, unused-ignore]
    """A data source that returns the columns and fields that it is given."""

    def reader(self, schema: Any) -> NestedReader:
        return NestedReader(self.options, schema)


class NoSource:
    """Not a data source."""
