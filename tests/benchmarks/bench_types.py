"""How fast types are read, printed and handed to others, beside others that do the same.

    python tests/benchmarks/bench_types.py [FOLDER OF FLINK'S JVM]

All figures come from one run on one machine, so their ratios hold where the figures do not. FOLDER
is what fuzz/oracle/setup.sh filled (default: .oracle); what is not installed is left out, by name.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import pyarrow as pa

from schema_core.formats.arrow.schemas import to_schema
from schema_core.formats.exact_types import TYPE_KEY
from schema_core.formats.spark.pyspark_types import to_struct_type
from schema_core.schema.resolved import ResolvedSchema
from schema_core.types import parse_type
from schema_core.types.syntax import parse

TEN = (
    "CHAR(3) NOT NULL", "VARCHAR(9)", "BIGINT NOT NULL", "DECIMAL(12, 2)", "TIMESTAMP(3)",
    "TIMESTAMP(3) WITH LOCAL TIME ZONE", "ARRAY<INT NOT NULL>",
    "MAP<VARCHAR(2147483647) NOT NULL, INT>",
    "ROW<`a` INT NOT NULL, `b` VARCHAR(2147483647)>", "DATE",
)  # fmt: skip
#: The same ten in the words of ibis, as near as it has them, and of Iceberg.
IBIS = (
    "!string", "string", "!int64", "decimal(12, 2)", "timestamp(3)", "timestamp('UTC', 3)",
    "array<!int32>", "map<!string, int32>", "struct<a: !int32, b: string>", "date",
)  # fmt: skip
ICEBERG = ("string", "string", "long", "decimal(12, 2)", "timestamp", "timestamptz", "date",
           "binary", "fixed[3]", "uuid")  # fmt: skip
NOTE_KEY = TYPE_KEY.encode()


def best(work: Callable[[], object], *, seconds: float = 1.0) -> float:
    """The shortest of many runs, in microseconds."""
    shortest, until = float("inf"), time.perf_counter() + seconds
    while time.perf_counter() < until:
        started = time.perf_counter()
        work()
        shortest = min(shortest, time.perf_counter() - started)
    return shortest * 1e6


def line(what: str, microseconds: float, base: float | None = None) -> None:
    ratio = "" if base is None else f"{microseconds / base:10.2f} x"
    print(f"{what:58}{microseconds:12.1f} us{ratio}")


def heading(text: str) -> None:
    print(f"\n{text}\n{'-' * len(text)}")


# --- a hundred columns ---------------------------------------------------------------------------


def noted(name: str, arrow: pa.DataType, text: str) -> pa.Field:
    return pa.field(name, arrow, not text.endswith("NOT NULL"), {NOTE_KEY: text.encode()})


def arrow_by_hand() -> pa.Schema:
    """A hundred columns as somebody would write them who knows all of it beforehand."""
    string, fields = "VARCHAR(2147483647)", []
    for index in range(0, 100, 10):
        number = noted("a", pa.int32(), "INT NOT NULL")
        entries = pa.map_(
            noted("key", pa.string(), f"{string} NOT NULL"), noted("value", pa.int32(), "INT")
        )
        types = (
            pa.string(), pa.string(), pa.int64(), pa.decimal128(12, 2), pa.timestamp("us"),
            pa.timestamp("us", "UTC"), pa.list_(noted("element", pa.int32(), "INT NOT NULL")),
            entries, pa.struct([number, noted("b", pa.string(), string)]), pa.date32(),
        )  # fmt: skip
        fields += [
            noted(f"c{index + offset}", arrow, text)
            for offset, (arrow, text) in enumerate(zip(types, TEN, strict=True))
        ]
    return pa.schema(fields)


def spark_by_hand() -> object:
    """The same in PySpark's own classes."""
    from pyspark.sql import types as spark

    def field(name: str, type_: Any, text: str) -> Any:
        return spark.StructField(name, type_, not text.endswith("NOT NULL"), {TYPE_KEY: text})

    fields = []
    for index in range(0, 100, 10):
        inner = [
            field("a", spark.IntegerType(), "INT NOT NULL"),
            field("b", spark.StringType(), "VARCHAR(2147483647)"),
        ]
        types = (
            spark.StringType(), spark.StringType(), spark.LongType(), spark.DecimalType(12, 2),
            spark.TimestampNTZType(), spark.TimestampType(),
            spark.ArrayType(spark.IntegerType(), False),
            spark.MapType(spark.StringType(), spark.IntegerType()), spark.StructType(inner),
            spark.DateType(),
        )  # fmt: skip
        fields += [
            field(f"c{index + offset}", one, text)
            for offset, (one, text) in enumerate(zip(types, TEN, strict=True))
        ]
    return spark.StructType(fields)


def hundred_columns() -> None:
    schema = ResolvedSchema.physical(
        [f"c{index}" for index in range(100)], [parse_type(TEN[index % 10]) for index in range(100)]
    )
    assert arrow_by_hand().equals(to_schema(schema), check_metadata=True)
    assert spark_by_hand() == to_struct_type(schema)
    heading("100 columns to Arrow")
    base = best(arrow_by_hand)
    line("that Arrow schema built by hand", base)
    line("schema_core", best(lambda: to_schema(schema)), base)
    heading("100 columns to Spark")
    base = best(spark_by_hand)
    line("that StructType built by hand", base)
    line("schema_core", best(lambda: to_struct_type(schema)), base)
    arrow_through_pyspark(schema)


def arrow_through_pyspark(schema: ResolvedSchema) -> None:
    """PySpark's own mapper is internal; it is here for its speed alone."""
    try:
        theirs = import_module("pyspark.sql.pandas.types").to_arrow_schema
    except (ImportError, AttributeError) as error:
        print(f"PySpark's mapper: left out ({error})")
        return
    from schema_core.formats.arrow.spark import to_schema as ours

    struct = to_struct_type(schema)
    heading("100 columns from Spark to Arrow")
    base = best(lambda: theirs(struct, timezone="UTC"))
    line("PySpark's internal function", base)
    line("schema_core", best(lambda: ours(struct)), base)


# --- ten types -----------------------------------------------------------------------------------


def cold() -> None:
    parse.cache_clear()
    for text in TEN:
        str(parse_type(text))


def warm() -> None:
    for text in TEN:
        str(parse_type(text))


def flink(folder: Path, base: float) -> None:
    """Flink is timed within its own JVM, which keeps nothing that it has parsed."""
    jars = sorted((folder / "flink" / "deps" / "lib").glob("*.jar"))
    if not jars:
        print(f"Flink: left out (there is no {folder}, see fuzz/oracle/setup.sh)")
        return
    with tempfile.TemporaryDirectory() as classes:
        path = ":".join([*map(str, jars), classes])
        source = str(Path(__file__).with_name("Types.java"))
        subprocess.run(["javac", "-nowarn", "-d", classes, "-cp", path, source], check=True)
        command = ["java", "-Xmx1g", "-Dlog4j2.level=OFF", "-cp", path, "Types", *TEN]
        printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    kinds = ("the first time", "the thousandth time", "the shortest of 5 seconds")
    for kind, figure in zip(kinds, printed.split(), strict=True):
        line(f"Flink's JVM, {kind}", float(figure), base)


def others(name: str, strings: tuple[str, ...], forget: str | None = None) -> float | None:
    """Microseconds for ten types in another library, whose cache may be cleared before."""
    try:
        found, clear = named(name), named(forget) if forget else lambda: None
    except ImportError as error:
        print(f"{name}: left out ({error})")
        return None

    def work() -> None:
        clear()
        for text in strings:
            str(found(text))

    return best(work)


def named(name: str) -> Any:
    """What ``module:attribute.attribute`` names."""
    module, _, attributes = name.partition(":")
    found: Any = import_module(module)
    for part in attributes.split("."):
        found = getattr(found, part)
    return found


def ten_types(folder: Path) -> None:
    heading("10 types parsed and printed")
    base = best(warm)
    line("schema_core, seen before", base)
    line("schema_core, first sight", best(cold), base)
    flink(folder, base)
    parse, clear = "ibis.expr.datatypes:dtype", "ibis.expr.datatypes.parse:parse.cache_clear"
    for what, found in (
        ("ibis, seen before", others(parse, IBIS)),
        ("ibis, first sight", others(parse, IBIS, clear)),
        ("pyiceberg", others("pyiceberg.types:IcebergType.model_validate", ICEBERG)),
    ):
        if found is not None:
            line(what, found, base)


if __name__ == "__main__":
    ten_types(Path(sys.argv[1] if len(sys.argv) > 1 else ".oracle"))
    hundred_columns()
