"""A fresh process imports only what it uses; `tests.benchmarks processes` measures its time."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = """\
CREATE TABLE t (id BIGINT NOT NULL, name STRING, label AS UPPER(name) || '!')
WITH ('connector' = 'filesystem', 'path' = 'data', 'format' = 'parquet');
CREATE VIEW v AS SELECT label, COUNT(*) AS n FROM t GROUP BY label;
INSERT INTO t SELECT id, UPPER(name) FROM t WHERE id > 1;
"""

PLAIN = """
from schema_core import DataTypes, Schema, SchemaResolver
built = Schema.new_builder().column("id", DataTypes.BIGINT()).column("name", "STRING").build()
assert 2 == SchemaResolver().resolve(built).get_column_count()
"""

COMPUTED = """
from schema_core import Schema, SchemaResolver
built = Schema.new_builder().column("a", "INT").column_by_expression("b", "ABS(a)").build()
assert 2 == SchemaResolver().resolve(built).get_column_count()
"""

QUERY = """
from schema_core import TableEnvironment
environment = TableEnvironment.create()
environment.execute_sql("CREATE TABLE t (a INT, b AS a + 1) WITH ('connector' = 'datagen')")
assert 1 == environment.sql_query("SELECT b FROM t").get_resolved_schema().get_column_count()
"""

COMMAND = """
import sys
from schema_core.cli.main import main
sys.argv = ["schema-core", *{arguments!r}]
try: main()
except SystemExit as end: assert not end.code, end.code
"""

THIRD_PARTIES = {"numpy", "pandas", "prompt_toolkit", "pyarrow", "pyspark", "sqlalchemy", "sqlglot"}
#: What only a schema that is run, stored or shown needs.
ABOVE_SCHEMAS = {
    "schema_core.catalog",
    "schema_core.environment",
    "schema_core.formats",
    "schema_core.query",
    "schema_core.report",
    "schema_core.spark",
}
#: What only a job needs: connectors declare options, formats and metadata without it.
OF_JOBS = {
    "schema_core.spark.compiler.functions.rules",
    "schema_core.spark.compiler.query",
    "schema_core.spark.compiler.udfs.registry",
    "schema_core.spark.planner",
    "schema_core.spark.session.session",
    "schema_core.spark.python.udf_registration",
}
#: Typer uses them for its pages of help and for values that are not plain.
OF_TYPER = {"pydantic", "typer.rich_utils"}

#: What a process does -> modules that it does not import, with those in them.
NOT_IMPORTED = {
    "plain": (PLAIN, {*ABOVE_SCHEMAS, "rich", "schema_core.expressions.functions", "typer"}),
    "computed": (COMPUTED, {*ABOVE_SCHEMAS, "rich", "typer"}),
    "query": (QUERY, {"schema_core.environment.operations.data", "schema_core.spark"}),
    "--help": (
        COMMAND.format(arguments=["--help"]),
        {*ABOVE_SCHEMAS, "importlib.metadata", "pydantic", "schema_core.sql", "schema_core.types"},
    ),
    "check": (COMMAND.format(arguments=["check", "a.sql"]), OF_JOBS | OF_TYPER),
    "resolve": (COMMAND.format(arguments=["resolve", "a.sql"]), OF_JOBS | OF_TYPER),
}

#: What a process does -> how many modules of the package it imports at most: each costs about a
#: millisecond. A number may become smaller, and not greater without a reason.
MODULES = {"plain": 62, "computed": 73, "query": 146, "--help": 13, "check": 232, "resolve": 232}


@pytest.mark.parametrize("name", NOT_IMPORTED)
def test_a_process_imports_only_what_it_uses(name: str, tmp_path: Path) -> None:
    program, unused = NOT_IMPORTED[name]
    (tmp_path / "a.sql").write_text(SCRIPT)
    program += "\nimport sys\nprint(*sys.modules, file=sys.stderr)"
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=True
    )

    imported = done.stderr.splitlines()[-1].split()
    assert "schema_core.errors" in imported
    own = [item for item in imported if item.partition(".")[0] == "schema_core"]
    assert len(own) <= MODULES[name]
    assert [] == [
        item
        for item in imported
        for unwanted in unused | THIRD_PARTIES
        if f"{item}.".startswith(f"{unwanted}.")
    ]
