"""Every gate judges a change by the format of the table, in each format."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from schema_core import EnvironmentSettings, TableEnvironment
from schema_core.catalog import ObjectPath
from schema_core.catalog.managed import ManagedStorage
from schema_core.catalog.objects import CatalogTable, ResolvedCatalogTable
from schema_core.catalog.resolve import resolve_table
from schema_core.errors import ParseError, SchemaCoreError, SchemaError
from schema_core.mappings.stored_types import READINGS, Reading
from schema_core.migration.compatibility import (
    Severity,
    can_read_old_data,
    check_compatibility,
)
from schema_core.migration.differences import diff
from schema_core.migration.plans import MigrationPlan, apply_plan, plan
from schema_core.sql.parser import parse_statement

FORMATS = ("csv", "json", "parquet", "orc", "avro")

#: The columns before the changes.
COLUMNS = "a INT, b STRING, ts TIMESTAMP(3), c AS a + 1"
WATERMARK = "WATERMARK FOR ts AS ts - INTERVAL '1' SECOND"

#: A change -> the finding of each format, "" for none; those of other formats are `*`.
CHANGES: Mapping[tuple[str, str], Mapping[str, str]] = {
    ("a INT", "a BIGINT"): {"*": ""},
    ("a INT", "a STRING"): {"csv": "", "json": "", "*": "type-changed"},
    ("a INT", "a SMALLINT"): {
        "csv": "range-narrowed", "json": "range-narrowed", "avro": "range-narrowed",
        "*": "type-changed",
    },
    ("b STRING", "b INT"): {"csv": "text-parsed", "json": "text-parsed", "*": "type-changed"},
    ("b STRING", "b BYTES"): {"parquet": "", "*": "type-changed"},
    ("ts TIMESTAMP(3)", "ts TIMESTAMP_LTZ(3)"): {
        "parquet": "zone-dependent", "*": "type-changed",
    },
    ("ts TIMESTAMP(3)", "ts STRING"): {"csv": "", "*": "type-changed"},
}  # fmt: skip

#: Option -> its new value, the kind of finding, and the formats that have it.
OPTIONS: tuple[tuple[str, str, str, tuple[str, ...]], ...] = (
    ("path", "/other", "location-changed", FORMATS),
    ("csv.field-delimiter", ";", "syntax-changed", ("csv",)),
    ("csv.quote-character", "|", "syntax-changed", ("csv",)),
    ("csv.header", "true", "syntax-changed", ("csv",)),
    ("csv.null-literal", "-", "syntax-changed", ("csv",)),
    ("json.timestamp-format.standard", "ISO-8601", "syntax-changed", ("json",)),
    ("avro.timestamp_mapping.legacy", "false", "syntax-changed", ("avro",)),
    ("csv.ignore-parse-errors", "true", "errors-changed", ("csv",)),
    ("sink.parallelism", "2", "option-without-effect", FORMATS),
    ("source.monitor-interval", "1 s", "option-without-effect", FORMATS),
)
CASES = [
    pytest.param(form, {key: value}, kind, id=f"{form}-{key}")
    for key, value, kind, forms in OPTIONS
    for form in forms
] + [
    pytest.param(old, {"format": new}, "format-changed", id=f"{old}-{new}")
    for old in FORMATS
    for new in FORMATS
    if old != new
]


@pytest.fixture(scope="module")
def environment() -> TableEnvironment:
    return TableEnvironment.create(EnvironmentSettings.in_streaming_mode())


def define(
    environment: TableEnvironment, columns: str, options: Mapping[str, str], comment: str = ""
) -> ResolvedCatalogTable:
    environment.execute_sql("DROP TABLE IF EXISTS t")
    environment.execute_sql(create(columns, options, comment))
    table = environment.get_catalog("default_catalog").get_table(
        ObjectPath("default_database", "t")
    )
    assert isinstance(table, CatalogTable)
    return resolve_table(table, environment.schema_resolver)


def create(columns: str, options: Mapping[str, str], comment: str = "") -> str:
    clause = ", ".join(f"'{key}' = '{value}'" for key, value in options.items())
    note = f"COMMENT '{comment}' " if comment else ""
    return f"CREATE TABLE t ({columns}) {note}" + (f"WITH ({clause})" if clause else "")


def files(form: str, options: Mapping[str, str] = {}) -> dict[str, str]:
    return {"connector": "filesystem", "path": "/data/t", "format": form, **options}


def compared_kinds(
    old: ResolvedCatalogTable, new: ResolvedCatalogTable, storage: ManagedStorage | None = None
) -> set[str]:
    report = check_compatibility([old], new, storage=storage)
    return {
        finding.kind
        for finding in report.findings
        if finding.kind in READINGS and READINGS[finding.kind][0] is not Reading.EXACT
    }


@pytest.mark.parametrize("is_managed", [False, True], ids=["files", "managed"])
@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("change", CHANGES, ids=" -> ".join)
def test_types_are_judged_by_the_format(
    environment: TableEnvironment, change: tuple[str, str], form: str, is_managed: bool
) -> None:
    options = {} if is_managed else files(form)
    storage = ManagedStorage("/warehouse", form) if is_managed else None
    kind = CHANGES[change].get(form, CHANGES[change]["*"])
    old = define(environment, COLUMNS.replace(", c AS a + 1", ""), options)
    new = define(environment, COLUMNS.replace(", c AS a + 1", "").replace(*change), options)

    assert compared_kinds(old, new, storage) == {kind} - {""}
    planned = plan(old, new, resolver=environment.schema_resolver, storage=storage)
    assert (planned.rewrite is not None) == bool(kind) or change == ("a INT", "a STRING")


#: Database -> a change, and its finding in databases, "" for none.
DATABASES: tuple[tuple[str, str, str, str], ...] = (
    ("postgresql", "a INT", "a BIGINT", ""),
    ("postgresql", "a INT", "a SMALLINT", "range-narrowed"),
    ("postgresql", "a INT", "a DOUBLE", "type-changed"),
    ("postgresql", "a DECIMAL(10, 2)", "a DECIMAL(10, 1)", "range-narrowed"),
    ("postgresql", "a DECIMAL(10, 0)", "a INT", "range-narrowed"),
    ("postgresql", "a DECIMAL(10, 2)", "a BIGINT", "type-changed"),
    ("postgresql", "a ARRAY<INT>", "a ARRAY<BIGINT>", "type-changed"),
    ("postgresql", "a TIMESTAMP(6)", "a TIMESTAMP(9)", "type-changed"),
    ("postgresql", "a INT", "a INT, b STRING", "column-not-stored"),
    ("mysql", "a DECIMAL(10, 2)", "a DECIMAL(10, 1)", "precision-narrowed"),
    ("mysql", "a TIMESTAMP(3)", "a TIMESTAMP_LTZ(3)", "type-changed"),
    ("sqlite", "a INT", "a DOUBLE", ""),
    ("sqlite", "a INT", "a BOOLEAN", "range-narrowed"),
    ("sqlite", "a DOUBLE", "a INT", "type-changed"),
    ("sqlite", "a DATE", "a STRING", ""),
    ("sqlite", "a STRING", "a DATE", "text-parsed"),
)
#: Findings of databases after which no value would be refused in place.
IN_PLACE = ("", "precision-narrowed", "column-not-stored")


@pytest.mark.parametrize(("database", "before", "after", "kind"), DATABASES)
def test_tables_of_databases_are_judged_by_the_rules_of_the_connector(
    environment: TableEnvironment, database: str, before: str, after: str, kind: str
) -> None:
    options = {"connector": "jdbc", "url": f"jdbc:{database}://host/d", "table-name": "t"}
    old, new = (define(environment, columns, options) for columns in (before, after))

    assert compared_kinds(old, new) == {kind} - {""}
    planned = plan(old, new, resolver=environment.schema_resolver)
    assert (planned.rewrite is None) == (kind in IN_PLACE)
    if kind == "column-not-stored":
        assert [kind] == [risk.kind for risk in planned.risks]


@pytest.mark.parametrize(("form", "options", "kind"), CASES)
def test_options_are_judged_by_what_they_do_to_stored_rows(
    environment: TableEnvironment, form: str, options: Mapping[str, str], kind: str
) -> None:
    reading = READINGS[kind][0]
    old = define(environment, COLUMNS, files(form))
    new = define(environment, COLUMNS, files(form, options))

    report = check_compatibility([old], new)
    assert [kind] == [finding.kind for finding in report.findings]
    assert report.is_compatible == (reading is not Reading.NOT)
    assert (report.findings[0].severity is Severity.ALLOW) == (reading is Reading.EXACT)

    planned = plan(old, new, resolver=environment.schema_resolver)
    assert (planned.rewrite is not None) == (reading is Reading.NOT)
    in_place = planned.rewrite is None
    risks = [kind] if reading is Reading.AT_RISK else []
    assert not in_place or risks == [risk.kind for risk in planned.risks]
    assert all(step.undo is not None for step in planned.steps) or not in_place


#: Columns of csv files before and after a change -> whether they have other places.
MOVES = {
    ("a INT, b STRING", "a INT, b STRING, c INT"): False,
    ("a INT, b STRING", "a INT, c INT, b STRING"): True,
    ("a INT, b STRING", "b STRING, a INT"): True,
    ("a INT, b STRING, c INT", "a INT, c INT"): True,
    ("a INT, b STRING, c INT", "a INT, b STRING"): True,
}


@pytest.mark.parametrize(("old", "new"), MOVES)
def test_columns_of_csv_files_that_move_are_at_risk(
    environment: TableEnvironment, old: str, new: str
) -> None:
    kinds = {"columns-moved"} if MOVES[old, new] else set()
    before, after = (define(environment, columns, files("csv")) for columns in (old, new))

    assert compared_kinds(before, after) == kinds
    planned = plan(before, after, resolver=environment.schema_resolver)
    assert planned.rewrite is None
    assert kinds == {risk.kind for risk in planned.risks} - {"field-dropped"}
    # files with a header and other formats find columns by name
    for options in (files("csv", {"csv.header": "true"}), files("json")):
        before, after = (define(environment, columns, options) for columns in (old, new))
        assert not compared_kinds(before, after)
        planned = plan(before, after, resolver=environment.schema_resolver)
        assert planned.rewrite is None
        assert not {risk.kind for risk in planned.risks} - {"field-dropped"}


@pytest.mark.parametrize(
    ("new", "connector"),
    [
        ("a INT, r ROW<x INT, y INT>", "kafka"),
        ("r ROW<x INT>, a INT", "kafka"),
        ("a INT, r ROW<x INT, y INT>", "filesystem"),
        ("a INT, r ROW<y INT>", "filesystem"),
    ],
)
def test_messages_and_rows_within_csv_fields_have_positions_only(
    environment: TableEnvironment, new: str, connector: str
) -> None:
    options = {"connector": connector, "format": "csv", "path": "/data/t"}
    before, after = (
        define(environment, columns, options) for columns in ("a INT, r ROW<x INT>", new)
    )

    assert "position-changed" in compared_kinds(before, after)
    assert plan(before, after, resolver=environment.schema_resolver).rewrite is not None


@pytest.mark.parametrize("options", [{}, {"csv.header": "true"}])
def test_a_renamed_field_within_a_csv_column_keeps_its_position(
    environment: TableEnvironment, options: dict[str, str]
) -> None:
    before, after = (
        define(environment, columns, files("csv", options))
        for columns in ("a INT, r ROW<x INT, y INT>", "a INT, r ROW<z INT, y INT>")
    )
    renames: dict[tuple[str, ...], str] = {("r", "x"): "z"}
    findings = can_read_old_data(before, after, None, renames)

    assert ["field-renamed-by-mapping"] == [finding.kind for finding in findings]
    planned = plan(before, after, renames=renames, resolver=environment.schema_resolver)
    assert planned.rewrite is None
    assert plan(before, after, resolver=environment.schema_resolver).rewrite is not None


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize(
    ("columns", "comment"),
    [
        (f"{COLUMNS}, {WATERMARK}", ""),
        (f"{COLUMNS}, {WATERMARK.replace('1', '5')}", "'a' and \"b\""),
        (COLUMNS, "x"),
        (COLUMNS.replace("a + 1", "CAST(a AS STRING)"), ""),
        (f"{COLUMNS}, d AS b || 'x', {WATERMARK}", ""),
        ("a INT, b STRING, ts TIMESTAMP(3)", ""),
        (COLUMNS.replace("b STRING", "b STRING COMMENT 'note'"), "x"),
        (f"{COLUMNS}, p STRING METADATA FROM 'file.path' VIRTUAL", ""),
        (f"x AS UPPER(b), {COLUMNS}", "y"),
    ],
)
def test_what_rows_do_not_have_changes_in_place(
    environment: TableEnvironment, form: str, columns: str, comment: str
) -> None:
    old = define(environment, COLUMNS, files(form))
    options = files(form, {"sink.parallelism": "2"})
    new = define(environment, columns, options, comment.replace("'", "''"))
    for before, after in ((old, new), (new, old)):
        planned = plan(before, after, resolver=environment.schema_resolver, path="t")

        assert planned.rewrite is None
        assert not planned.risks
        assert not planned.losses
        assert apply_to(environment, before, planned) == after.get_comment()


def apply_to(
    environment: TableEnvironment, table: ResolvedCatalogTable, planned: MigrationPlan
) -> str | None:
    """Apply a plan, and undo it; return the comment that the table had in between."""
    catalog, path = environment.get_catalog("default_catalog"), ObjectPath("default_database", "t")
    environment.execute_sql("DROP TABLE t")
    catalog.create_table(path, table, False)
    before = catalog.get_table(path)
    apply_plan(environment, planned)
    comment = catalog.get_table(path).get_comment()
    for step in reversed(planned.steps):
        for text in step.undo or ():
            execute(environment, text)
    restored = catalog.get_table(path)
    assert isinstance(restored, CatalogTable)
    assert isinstance(before, CatalogTable)
    assert not diff(restored, before)
    return comment


def test_a_removed_comment_of_a_column_keeps_its_type(environment: TableEnvironment) -> None:
    old = define(environment, "a INT COMMENT 'note', b STRING", files("parquet"))
    new = define(environment, "a BIGINT, b STRING", files("parquet"))
    planned = plan(old, new, path="t")

    assert planned.statements == (
        "COMMENT ON COLUMN `t`.`a` IS NULL",
        "ALTER TABLE `t` MODIFY `a` BIGINT",
    )


def execute(environment: TableEnvironment, text: str) -> None:
    """Execute a statement of a migration."""
    environment.execute_statement(parse_statement(text, is_migration=True), text).wait()


def test_statements_of_comments(environment: TableEnvironment) -> None:
    define(environment, COLUMNS, files("csv"))
    for text in (
        "COMMENT ON TABLE t IS 'rows'",
        "COMMENT ON COLUMN t.a IS 'number'",
        "COMMENT ON COLUMN default_catalog.default_database.t.c IS 'computed'",
    ):
        execute(environment, text)
    (row,) = environment.execute_sql("SHOW CREATE TABLE t").collect()
    for part in ("COMMENT 'rows'", "COMMENT 'number'", "COMMENT 'computed'"):
        assert part in row[0]
    execute(environment, "COMMENT ON TABLE t IS NULL")
    execute(environment, "COMMENT ON COLUMN t.a IS NULL")
    (row,) = environment.execute_sql("SHOW CREATE TABLE t").collect()
    assert "rows" not in row[0]
    assert "number" not in row[0]
    with pytest.raises(SchemaError) as caught:
        execute(environment, "COMMENT ON COLUMN t.x IS 'x'")
    assert caught.value.code == "unknown-column"
    environment.execute_sql("CREATE VIEW v AS SELECT * FROM t")
    with pytest.raises(SchemaCoreError, match=r"'default_catalog\.default_database\.v'"):
        execute(environment, "COMMENT ON TABLE v IS 'x'")
    environment.execute_sql("DROP VIEW v")
    for text in ("ON COLUMN a IS NULL", "ON VIEW v IS 'x'", "ON TABLE t IS 1"):
        with pytest.raises(ParseError):
            execute(environment, f"COMMENT {text}")
    with pytest.raises(ParseError, match="expected a statement"):  # as Flink refuses it
        environment.execute_sql("COMMENT ON TABLE t IS 'x'")
