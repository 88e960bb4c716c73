"""How fast tables become property maps and back, beside Flink's JVM; and that width costs no more.

    python tests/benchmarks/bench_property_map.py [FOLDER OF FLINK'S JVM]

All figures come from one run on one machine, so their ratios hold where the figures do not. Flink
is timed within its JVM, warm, with the same columns. "resolve" looks at all columns, as Flink does;
"resolve again" finds the schema among those that were resolved lately. FOLDER is what
fuzz/oracle/setup.sh filled (default: .oracle); without it the comparison is left out.
"""

from __future__ import annotations

import gc
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from schema_core.catalog.objects import CatalogTable
from schema_core.catalog.resolve import resolve_table
from schema_core.expressions.typed import Rows
from schema_core.formats.properties.limits import STORES
from schema_core.formats.properties.parts import pack, unpack
from schema_core.formats.properties.property_map import decode_table, encode_table
from schema_core.formats.properties.stored import upgrade
from schema_core.formats.properties.verify import verify
from schema_core.schema.resolve import SchemaResolver
from schema_core.schema.unresolved import Schema
from schema_core.sql.syntax import Query
from schema_core.text import Span

HERE = Path(__file__).parent
TYPES = (
    "INT", "BIGINT NOT NULL", "STRING", "DECIMAL(10, 2)", "TIMESTAMP(3)", "BOOLEAN", "DOUBLE",
    "ARRAY<INT>", "ROW<a INT, b STRING>", "MAP<STRING, INT>",
)  # fmt: skip
RESOLVER = SchemaResolver()

#: So wide are the schemas by which it is seen that width costs no more.
WIDTHS = (1_000, 10_000, 100_000)


def no_rows(query: Query, span: Span) -> Rows:
    """There are no queries in these schemas; but what may ask for their rows is not remembered."""
    raise AssertionError


ANEW = SchemaResolver(subqueries=no_rows)


def schema(columns: int) -> Schema:
    builder = Schema.new_builder()
    for number in range(columns):
        builder.column(f"column_{number}", TYPES[number % len(TYPES)])
    return builder.build()


def best(work: Callable[[], object], *, seconds: float = 3.0) -> float:
    """The shortest of many runs, in microseconds of processor time: others may be busy as well.

    What was made before is none of the garbage collector's business.
    """
    gc.collect()
    gc.freeze()
    shortest, until = float("inf"), time.process_time() + seconds
    while time.process_time() < until:
        started = time.process_time()
        work()
        shortest = min(shortest, time.process_time() - started)
    return shortest * 1e6


def tasks(columns: int) -> dict[str, Callable[[], object]]:
    """What is measured, by the names that PropertyMaps.java prints."""
    written = schema(columns)
    table = resolve_table(CatalogTable(written, options={"connector": "kafka"}), RESOLVER)
    properties = encode_table(table)
    hive = STORES["hive"]
    stored = pack(properties | {"long": "x" * 20_000}, hive)
    return {
        "encode": lambda: encode_table(table),
        "decode": lambda: decode_table(properties),
        "resolve": lambda: ANEW.resolve(written),
        "resolve again": lambda: RESOLVER.resolve(written),
        "pack for Hive": lambda: pack(properties | {"long": "x" * 20_000}, hive),
        "unpack": lambda: unpack(stored, hive),
        "verify": lambda: verify(properties),
        "upgrade": lambda: upgrade(properties),
    }


def flink(folder: Path, columns: int) -> dict[str, float]:
    """Microseconds of Flink by task; nothing where there is no Flink."""
    jars = sorted((folder / "flink" / "deps" / "lib").glob("*.jar"))
    if not jars:
        print(f"Flink: left out (there is no {folder}, see fuzz/oracle/setup.sh)")
        return {}
    with tempfile.TemporaryDirectory() as classes:
        path = ":".join([*map(str, jars), classes])
        source = str(HERE / "PropertyMaps.java")
        subprocess.run(["javac", "-nowarn", "-d", classes, "-cp", path, source], check=True)
        command = ["java", "-Xmx1g", "-Dlog4j2.level=OFF", "-cp", path, "PropertyMaps"]
        printed = subprocess.run(
            [*command, str(columns), *TYPES], capture_output=True, text=True, check=True
        ).stdout
    return {name: float(figure) for name, figure in map(str.split, printed.splitlines())}


def main() -> None:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(".oracle")
    theirs = flink(folder, 100)
    print(f"\n100 columns{'':20}schema_core       Flink       ratio")
    for name, work in tasks(100).items():
        ours = best(work)
        ratio = f"{theirs[name]:10.1f} us{ours / theirs[name]:10.2f} x" if name in theirs else ""
        print(f"{name:28}{ours:12.1f} us{ratio}")
    print("\nmicroseconds a column, by width (linear: the figure stays)")
    print(f"{'':18}" + "".join(f"{width:>12,}" for width in WIDTHS))
    measured = [tasks(width) for width in WIDTHS]
    for name in ("encode", "decode", "resolve", "verify"):
        figures = (
            best(work[name], seconds=2) / width
            for work, width in zip(measured, WIDTHS, strict=True)
        )
        print(f"{name:18}" + "".join(f"{figure:12.2f}" for figure in figures))


if __name__ == "__main__":
    main()
