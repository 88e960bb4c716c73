"""Type strings of Hive, Spark and older Flink versions: they parse or raise, and round-trip."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

from fuzz import driver
from schema_core.catalogs.hive.columns import from_hive, to_hive
from schema_core.errors import SchemaCoreError
from schema_core.mappings.arrow.types import from_layout, read_layout
from schema_core.mappings.exact_types import parse_exact_type
from schema_core.mappings.spark import schemas
from schema_core.mappings.spark.ddl import parse_ddl, parse_spark_type
from schema_core.mappings.spark.types import from_tree
from schema_core.types import DataTypes
from schema_core.types.legacy import current_type, read_information


def hive(text: str) -> None:
    """What is read from Hive and can be written for Hive reads back the same."""
    type_ = from_hive(text)
    with suppress(SchemaCoreError):
        written = to_hive(type_)
        assert from_hive(written) == type_, written


def layout(text: str) -> None:
    """A layout of Arrow's that is read builds a type or is refused."""
    from_layout(read_layout(text))


READERS: tuple[Callable[[str], object], ...] = (
    hive,
    layout,
    parse_ddl,
    lambda text: from_tree(parse_spark_type(text)),
    schemas.from_ddl,
    schemas.from_json,
    DataTypes.of,
    lambda text: current_type(read_information(text)),
    parse_exact_type,
    lambda text: parse_exact_type("ROW<a INT>", text),
)


def target(text: str) -> None:
    """Give the text to every reader of types."""
    for read in READERS:
        with suppress(SchemaCoreError):
            read(text)


if __name__ == "__main__":
    driver.main("foreign_types", target)
