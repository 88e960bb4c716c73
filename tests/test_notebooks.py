"""HTML of tables, results, changes and plans in notebooks: escaped, masked, and without a job."""

from __future__ import annotations

import datetime as dt
import pickle
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import nbformat
import pytest

from docs.run_notebook import NOTEBOOK, executed
from schema_core import (
    EnvironmentSettings,
    ResolvedSchema,
    Schema,
    TableDescriptor,
    TableEnvironment,
)
from schema_core.catalog.objects import CatalogTable
from schema_core.environment.jobs import progress
from schema_core.environment.plans.dry_run import DryRunPlanner
from schema_core.environment.plans.plan_text import PlanText
from schema_core.environment.result import OK, PrintStyle, TableResult, string_result
from schema_core.migration import TableChanges, apply, diff, invert, plan
from schema_core.migration.compatibility import Acceptance, check_compatibility
from schema_core.report.markup import MAX_ROWS
from schema_core.types import DataTypes
from tests.html_reading import read

HOSTILE = ("<script>alert(1)</script>", "\"quoted\" & 'single'", "two\nlines", "a`b</table>")


def hostile_schema() -> Schema:
    builder = Schema.new_builder()
    for name in HOSTILE:
        builder.column(name, DataTypes.INT()).with_comment(name)
    return builder.build()


def environment() -> TableEnvironment:
    return TableEnvironment.create(EnvironmentSettings.in_batch_mode())


def fetched(row: tuple[Any, ...]) -> tuple[Any, ...]:
    raise AssertionError(f"row {row} is fetched")


def no_rows() -> Iterator[tuple[Any, ...]]:
    """Return rows that must not be read."""
    return map(fetched, [()])


def unread(**arguments: Any) -> TableResult:
    return TableResult(ResolvedSchema.physical(["<b>"], [DataTypes.INT()]), no_rows(), **arguments)


def test_a_table_shows_its_schema() -> None:
    result = read(environment().from_elements([(1,)], ["<b>"])._repr_html_())

    assert ["column", "type", "<b>", "BIGINT"] == result.cells[:4]


def test_rows_that_are_held_are_shown() -> None:
    result = string_result(["<b>", "b"], [("<i>", None), ("two\nlines", "x")])
    results = read(result._repr_html_())

    assert ["<b>", "b", "<i>", "NULL", r"two\nlines", "x"] == results.cells
    assert 1 == results.tags.count("i")
    assert ["result", "OK"] == read(OK._repr_html_()).cells
    assert ["<b>"] == read(string_result(["<b>"], [])._repr_html_()).cells
    many = string_result(["n"], [(str(number),) for number in range(MAX_ROWS + 5)])
    assert "<li>5 more rows</li>" in many._repr_html_()


def test_a_job_is_not_awaited() -> None:
    planner = DryRunPlanner()
    env = TableEnvironment.create(EnvironmentSettings.in_batch_mode(), planner=planner)
    env.execute_sql("CREATE TABLE t (id INT) WITH ('connector' = 'blackhole')")
    result = env.execute_sql("INSERT INTO t VALUES (1)")
    result.wait()
    results = read(replace(result, rows=no_rows())._repr_html_())

    assert "default_catalog.default_database.t" in results.cells
    assert result.job is not None
    job = read(result.job._repr_html_())
    assert "dry-run: FINISHED" in job.text
    assert f"job {result.job.get_job_id()}" in job.text
    assert ": FINISHED" in results.text


def test_long_results_and_long_cells_are_cut() -> None:
    rows = [("x" * 50,)] * 103
    result = TableResult(string_result(["a"], []).schema, rows, max_column_width=10)
    results = read(result._repr_html_())

    assert ["a", *["xxxxxxx..."] * 100] == results.cells
    assert "3 more rows" in results.text


def test_rows_of_a_query_are_not_fetched() -> None:
    def formatted() -> Iterator[tuple[str | None, ...]]:
        raise AssertionError("the rows are fetched")

    result = read(unread(row_formatter=formatted)._repr_html_())

    assert "<b>" in result.cells
    assert "not fetched" in result.text
    assert "job" not in result.text


@pytest.mark.parametrize("name", HOSTILE)
def test_changes_are_escaped(name: str) -> None:
    old = Schema.new_builder().column(name, DataTypes.INT()).build()
    result = read(diff(old, hostile_schema())._repr_html_())

    assert {"table", "caption", "thead", "tbody", "tr", "th", "td", "code"} == set(result.tags)
    assert ["#", "change", "what it does", "1"] == result.cells[:4]


def test_secrets_of_changes_and_plans_are_masked() -> None:
    options = {"connector": "jdbc", "password": "hunter2", "url": "http://ann:letmein@host"}
    old = CatalogTable(Schema.new_builder().column("id", DataTypes.INT()).build())
    wider = Schema.new_builder().column("id", DataTypes.BIGINT()).build()
    new = CatalogTable(wider, options=options)

    for html in (diff(old, new)._repr_html_(), plan(old, new)._repr_html_()):
        assert "connector" in read(html).text
        assert "hunter2" not in html
        assert "letmein" not in html


def test_changes_are_a_tuple() -> None:
    new = hostile_schema()
    changes = diff(Schema(), new)

    assert isinstance(changes, TableChanges)
    assert isinstance(invert(changes, Schema()), TableChanges)
    assert tuple(changes) == changes == pickle.loads(pickle.dumps(changes))
    assert new.get_columns() == apply(changes, Schema()).get_columns()
    assert "No changes" in read(diff(new, new)._repr_html_()).text


def test_a_plan_shows_its_steps() -> None:
    old = (
        Schema.new_builder()
        .column("id", "BIGINT")
        .column("name", "STRING")
        .column("note", "STRING")
        .build()
    )
    new = (
        Schema.new_builder()
        .column("id", "BIGINT")
        .column("label", "VARCHAR(20)")
        .column_by_metadata("offset", "BIGINT")
        .build()
    )
    result = read(plan(old, new, "postgres", renames={"name": "label"}, path="<b>")._repr_html_())

    assert "<b> (PostgreSQL): 4 steps, in place" in result.text
    assert ["#", "statements", "changes", "at risk", "undo", "rewrites"] == result.cells[:6]
    assert "cannot be undone" in result.cells
    assert "all rows" in result.cells
    assert "name: a value of STRING may not be one of VARCHAR(20) [length-narrowed]" in result.cells
    assert "unsupported: " in result.text
    assert "script" not in result.tags


@pytest.mark.parametrize("target", ["flink", "spark", "iceberg", "postgres"])
def test_plans_are_escaped(target: str) -> None:
    old = Schema.new_builder().column("id", DataTypes.INT()).build()
    builder = Schema.new_builder().column("id", DataTypes.INT())
    for name in (item for item in HOSTILE if "\n" not in item):
        builder.column(name, DataTypes.INT())
    result = read(plan(old, builder.build(), target)._repr_html_())

    assert "script" not in result.tags
    assert "alert(1)" in result.text


OPTIONS = {"connector": "jdbc", "password": "hunter2", "url": "http://ann:letmein@host"}


def test_a_descriptor_shows_its_schema_and_options() -> None:
    builder = TableDescriptor.for_connector("<b>").schema(hostile_schema()).comment("<i>")
    for key, value in OPTIONS.items():
        builder.option(key, value)
    html = builder.partitioned_by(HOSTILE[0]).build()._repr_html_()
    result = read(html)

    assert {HOSTILE[0], "connector"} < {*result.cells}
    assert "script" not in result.tags
    assert "comment: <i>" in result.text
    assert "partitioned by: <script>" in result.text
    assert "hunter2" not in html
    assert "letmein" not in html


def test_compatibility_shows_errors_first() -> None:
    names = ["id", "<b>"]
    old = ResolvedSchema.physical(names, [DataTypes.INT(), DataTypes.STRING()])
    new = ResolvedSchema.physical(names, [DataTypes.BIGINT(), DataTypes.STRING(False)])
    unused = Acceptance("length-narrowed", (), "<script>", dt.date(9999, 1, 1))
    report = check_compatibility([old], new, rules="avro", accepted=[unused])
    result = read(report._repr_html_())

    assert ["error", "reading old data", "0", "<b>"] == result.cells[6:10]
    assert "incompatible (BACKWARD, avro)" in result.text
    assert "not needed: acceptance of length-narrowed" in result.text
    assert not {"b", "script"} & {*result.tags}


def test_lineage_is_a_picture() -> None:
    env = environment()
    columns = ", ".join(f"c{number} INT" for number in range(150))
    for name in ("u", "`<script>`"):
        env.execute_sql(f"CREATE TABLE {name} ({columns}) WITH ('connector' = 'datagen')")
    env.execute_sql("CREATE VIEW v AS SELECT c0 FROM `<script>`")
    result = read(env.lineage("v")._repr_html_())
    assert ["div", "svg", "style"] == result.tags[:3]
    assert 2 == result.tags.count("table")
    assert "50 more rows" in result.text
    assert "<script>.c0 INT" in result.text.replace(": ", ".")
    assert "script" not in result.tags

    env.execute_sql("CREATE VIEW w AS SELECT * FROM u, `<script>`")
    large = read(env.lineage("w")._repr_html_())
    assert 3 == large.tags.count("rect"), "without columns"
    assert "600 columns" in large.text


def test_plans_keep_their_lines() -> None:
    result = replace(string_result(["result"], [("a <b>\n  +- c\n" * 60,)]), style=PrintStyle.RAW)
    html = read(result._repr_html_())
    assert ["pre", "ul", "li"] == html.tags
    assert "a <b>\n  +- c\n" in html.text
    assert "20 more lines" in html.text


def test_sections_of_plans_are_folded() -> None:
    plan = PlanText("== Tree ==\nJoin(kind=[<b>])\n+- Values(rows=[a, b])\n\n== SQL ==\nSELECT\n1")
    html = read(replace(string_result(["result"], [(plan,)]), style=PrintStyle.RAW)._repr_html_())
    assert 2 == html.tags.count("details")
    assert "Tree" in html.text
    assert "Join\n│ kind: <b>\n└─ Values\n     rows: a, b" in html.text
    assert "SQL: SELECT..." in html.text
    assert read(plan._repr_html_()).text == html.text


class Publisher:
    """Collects what a cell of a notebook would show."""

    def __init__(self) -> None:
        self.outputs: list[tuple[str, bool]] = []

    def publish(self, data: dict[str, str], *, transient: dict[str, str], update: bool) -> None:
        assert {"display_id"} == {*transient}
        self.outputs.append((data["text/html"], update))


def test_a_waiting_cell_shows_the_progress(monkeypatch: pytest.MonkeyPatch) -> None:
    publisher = Publisher()
    shell = SimpleNamespace(display_pub=publisher, kernel=None)
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))
    monkeypatch.setattr(progress, "DELAY", 0.01)
    monkeypatch.setattr(progress, "UPDATE", 0.01)
    with progress.show_progress("<j>", lambda: (1, 4)):
        time.sleep(0.1)

    (first, was_update), *_, (last, _) = publisher.outputs
    assert not was_update
    assert "&lt;j&gt;" in first
    assert "1/4 tasks" in first
    assert "" == last
    assert all(update for _, update in publisher.outputs[1:])
    publisher.outputs.clear()
    monkeypatch.setattr(progress, "DELAY", 60)
    assert [1, 2] == list(progress.show_until_first("rows", iter([1, 2])))
    assert [] == publisher.outputs, "it has ended before"


def test_tables_of_notebooks_are_bounded() -> None:
    new = ResolvedSchema.physical([f"c{n}" for n in range(103)], [DataTypes.INT()] * 103)
    changes = diff(ResolvedSchema.physical(["c0"], [DataTypes.INT()]), new)
    for shown in (new, new.explain(), Schema.new_builder().from_resolved_schema(new).build()):
        result = read(shown._repr_html_())
        assert 101 == result.tags.count("tr")
        assert "3 more rows" in result.text
    assert "2 more rows" in read(changes._repr_html_()).text
    assert "more rows" not in read(changes.to_html()).text


# --- a notebook -----------------------------------------------------------------------------------


def shown(notebook: nbformat.NotebookNode) -> list[str]:
    """Return the HTML of every cell of code; a cell with any other output fails."""
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    return [output.data["text/html"] for cell in cells for output in cell.outputs]


def test_the_notebook_of_the_documentation_shows_what_it_stores() -> None:
    stored = nbformat.read(NOTEBOOK, as_version=4)
    result = shown(executed(NOTEBOOK))

    assert shown(stored) == result
    assert 7 == len(result)
    assert all("table" in read(html).tags for html in result)


def test_text_of_cells_is_short_and_repeatable() -> None:
    """It is stored in notebooks beside HTML; a repr has addresses of objects."""
    shown: list[str] = []
    printer = SimpleNamespace(text=shown.append)
    for item in (unread(), unread().schema, Schema.new_builder().column("a", "INT").build()):
        item._repr_pretty_(printer, False)
    assert all("`" in text and len(text) < 200 for text in shown), shown
