"""Explanations of schemas: origins of types and lineage, as text, Mermaid and HTML."""

from __future__ import annotations

import pytest

from schema_core.environment.config import EnvironmentSettings
from schema_core.environment.operations.dispatch import run
from schema_core.environment.plans.dry_run import DryRunPlanner
from schema_core.environment.session import Session
from schema_core.mappings.dialects.api import from_ddl
from schema_core.schema.explanation import Cause, ColumnExplanation, Explanation, Read
from schema_core.schema.resolve import SchemaResolver
from schema_core.schema.resolved import Column, ResolvedSchema
from schema_core.schema.unresolved import Schema, SchemaBuilder
from schema_core.sql.parser import parse_statements
from schema_core.sql.syntax import Name
from schema_core.types import DataTypes


def explained(builder: SchemaBuilder, streaming: bool = True) -> Explanation:
    return SchemaResolver(streaming).resolve(builder.build()).explain()


def of_statement(text: str) -> Explanation:
    """Return the explanation of the table `t` that a script creates."""
    session = Session(EnvironmentSettings.in_streaming_mode(), DryRunPlanner())
    for statement in parse_statements(text):
        run(session, statement, text)
    return session.look_up(Name(("t",))).table.resolved_schema.explain()


def reasons(column: ColumnExplanation | None) -> list[str]:
    assert column is not None
    return [str(reason) for reason in column.reasons]


ORDERS = (
    Schema.new_builder()
    .column("r", "ROW<x INT, y ROW<z BIGINT NOT NULL>>")
    .column("price", "DECIMAL(10, 2) NOT NULL")
    .column("ts", "TIMESTAMP(3)")
    .column_by_metadata("m", "BIGINT", "offset", True)
    .column_by_expression("total", "price * CAST(m AS INT)")
    .column_by_expression("z", "r.y.z")
    .column_by_expression("same", "ts")
    .column_by_expression("now", "PROCTIME()")
    .column_by_expression("one", "1")
    .watermark("ts", "same - INTERVAL '5' SECOND")
)


ARITHMETIC = (
    "the datetime or interval type, the decimal by its formula, or the wider type; "
    "NULL if any argument is nullable"
)


@pytest.mark.parametrize(
    ("column", "expected"),
    [
        ("r", ["declared: ROW<x INT, y ROW<z BIGINT NOT NULL>>"]),
        ("ts", ["declared: TIMESTAMP(3)", "marked: as event time, by its watermark"]),
        ("m", ["declared: BIGINT"]),
        (
            "total",
            [f"inferred: * of DECIMAL(10, 2) NOT NULL, INT gives {ARITHMETIC}"],
        ),
        (
            "z",
            ["inferred: the field `z` of ROW<`z` BIGINT NOT NULL>, NULL where the row may be"],
        ),
        ("same", ["inferred: the type of `ts`"]),
        ("now", ["inferred: PROCTIME gives TIMESTAMP_LTZ(3) *PROCTIME*; NULL never"]),
        ("one", ["inferred: the literal 1"]),
    ],
)
def test_origins_of_types(column: str, expected: list[str]) -> None:
    assert expected == reasons(explained(ORDERS).column(column))


def test_lineage_of_columns() -> None:
    result = explained(ORDERS)
    total, z, now = (result.column(name) for name in ("total", "z", "now"))
    (watermark,) = result.watermarks

    assert total is not None
    assert z is not None
    assert now is not None
    assert ((Read("price"), Read("m")), ("price", "m")) == (total.reads, total.leaves)
    assert ((Read("r", ("y", "z")),), ("r",)) == (z.reads, z.leaves)
    assert ((), ()) == (now.reads, now.leaves)
    assert ((Read("same"),), ("ts",)) == (watermark.reads, watermark.leaves)


def test_every_call_and_implicit_cast_is_a_step() -> None:
    builder = Schema.new_builder().column("a", "INT").column("s", "STRING")
    builder.column_by_expression("n", "COALESCE(a, CAST(s AS DOUBLE)) + CHAR_LENGTH(TRIM(s))")
    result = explained(builder).column("n")

    assert result is not None
    assert [
        ("a", "CAST", "DOUBLE", True),
        ("CAST(s AS DOUBLE)", "CAST", "DOUBLE", False),
        ("COALESCE(a, CAST(s AS DOUBLE))", "COALESCE", "DOUBLE", False),
        ("TRIM(s)", "TRIM", "STRING", False),
        ("CHAR_LENGTH(TRIM(s))", "CHAR_LENGTH", "INT", False),
    ] == [
        (step.text, step.function, step.gives.as_summary_string(), step.implicit)
        for step in result.steps[:-1]
    ]


def test_long_expressions_are_explained_in_part() -> None:
    builder = Schema.new_builder().column("a", "INT")
    builder.column_by_expression("n", " + ".join(["a"] * 3_000))
    text = str(explained(builder))

    assert "and 2988 more" in text
    assert len(text.splitlines()) < 30


def test_columns_in_filter_and_over_are_in_the_lineage() -> None:
    builder = Schema.new_builder()
    for name in ("a", "b", "c", "d"):
        builder.column(name, "INT")
    builder.column_by_expression("s", "SUM(a) FILTER (WHERE b > 1)")
    builder.column_by_expression("w", "SUM(a) OVER (PARTITION BY c ORDER BY d)")
    result = explained(builder)
    s, w = result.column("s"), result.column("w")

    assert s is not None
    assert w is not None
    assert ("a", "b") == s.leaves
    assert ("a", "c", "d") == w.leaves


def test_primary_key_makes_columns_not_null() -> None:
    result = of_statement(
        "CREATE TABLE t (id INT, d DATE NOT NULL, CONSTRAINT k PRIMARY KEY (id, d) NOT ENFORCED)"
    )

    assert ["declared: INT", "promoted: to NOT NULL, by the primary key `k`"] == reasons(
        result.column("id")
    )
    assert ["declared: DATE NOT NULL"] == reasons(result.column("d"))
    assert ("id", "d") == result.primary_key
    assert "key -.-> c0" in result.to_mermaid()
    assert "key -.-> c1" not in result.to_mermaid()


def test_modified_key_column_remains_not_null() -> None:
    result = of_statement(
        "CREATE TABLE t (id INT, PRIMARY KEY (id) NOT ENFORCED); ALTER TABLE t MODIFY id BIGINT"
    )

    assert ["declared: BIGINT", "promoted: to NOT NULL, by the primary key `PK_id`"] == reasons(
        result.column("id")
    )


def test_primary_key_of_foreign_ddl_makes_columns_not_null() -> None:
    pytest.importorskip("sqlglot")
    schema = SchemaResolver().resolve(from_ddl("CREATE TABLE t (id int PRIMARY KEY)", "postgres"))

    assert ["declared: INT", "promoted: to NOT NULL, by the primary key `PK_id`"] == reasons(
        schema.explain().column("id")
    )


def test_not_null_by_key_is_explained_for_its_schema_only() -> None:
    """Equal resolved schemas are cached; they must keep their own explanations."""
    declared = Schema.new_builder().column("id", DataTypes.INT(False)).primary_key("id")
    for _ in range(2):
        assert ["declared: INT NOT NULL"] == reasons(explained(declared).column("id"))
        of_statement("CREATE TABLE t (id INT, PRIMARY KEY (id) NOT ENFORCED)")


def test_batch_mode_has_no_time_attributes() -> None:
    assert ["declared: TIMESTAMP(3)"] == reasons(explained(ORDERS, streaming=False).column("ts"))


def test_origin_of_a_user_defined_type() -> None:
    resolver = SchemaResolver(types=lambda path: DataTypes.DECIMAL(10, 2))
    schema = Schema.new_builder().column("price", "ARRAY<money>").build()

    assert [
        "declared: ARRAY<money>", "looked up: `money`, a user-defined type",
    ] == reasons(resolver.resolve(schema).explain().column("price"))  # fmt: skip


def test_origin_of_a_replaced_type() -> None:
    schema = SchemaResolver().resolve(Schema.new_builder().column("a", "INT").build())
    changed = ResolvedSchema([schema.columns[0].copy(DataTypes.BIGINT())])

    assert ["declared: INT", "declared: BIGINT, given later"] == reasons(
        changed.explain().column("a")
    )
    assert ["declared: INT, as it was given"] == reasons(
        ResolvedSchema([Column.physical("a", DataTypes.INT())]).explain().column("a")
    )


def test_explanation_as_string() -> None:
    builder = (
        Schema.new_builder()
        .column("ts", "TIMESTAMP_LTZ(3)")
        .column_by_metadata("m", "BIGINT", "offset")
        .column_by_expression("same", "ts")
        .watermark("ts", "same")
    )

    assert """\
`ts` TIMESTAMP_LTZ(3) *ROWTIME*
  physical
  declared: TIMESTAMP_LTZ(3)
  marked: as event time, by its watermark
`m` BIGINT
  metadata FROM 'offset'
  declared: BIGINT
`same` TIMESTAMP_LTZ(3)
  computed AS ts
  inferred: the type of `ts`
  reads: `ts`
  comes from: `ts`
watermark of `ts` TIMESTAMP_LTZ(3)
  AS same
  reads: `same`
  comes from: `ts`""" == str(explained(builder))


def test_explanation_as_mermaid() -> None:
    builder = (
        Schema.new_builder()
        .column("ts", "TIMESTAMP(3)")
        .column_by_metadata("m", "INT", "offset")
        .column_by_expression('x"] --> c0', "m + 1")
        .watermark("ts", "ts")
    )

    assert """\
flowchart LR
    c0["ts TIMESTAMP#40;3#41; #42;ROWTIME#42;"]
    c1[/"m INT"/]
    c2("x#34;#93; #45;#45;#62; c0 INT AS m + 1")
    w0{{"watermark AS ts"}}
    c1 --> c2
    c0 --> w0
    w0 -.-> c0""" == explained(builder).to_mermaid()


def test_html_representation() -> None:
    builder = (
        Schema.new_builder()
        .column("<b>", "INT NOT NULL")
        .with_comment("<script>alert('x')</script>")
        .primary_key_named("</table>", "<b>")
    )
    resolved = SchemaResolver().resolve(builder.build())

    for html in (builder.build()._repr_html_(), resolved._repr_html_()):
        assert "&lt;script&gt;alert(&#x27;x&#x27;)&lt;/script&gt;" in html
        assert "<code>&lt;b&gt;</code>" in html
        assert "<script" not in html
        assert "CONSTRAINT `&lt;/table&gt;` PRIMARY KEY" in html
    assert "<b>" not in resolved.explain()._repr_html_()


def test_html_of_nested_fields() -> None:
    row = DataTypes.ROW([DataTypes.FIELD("<b>", DataTypes.INT(), "<script>")])

    assert "<td><code>&lt;b&gt;</code></td>" in row._repr_html_()
    assert "<script>" not in row._repr_html_()


def test_every_cause_is_covered() -> None:
    result = explained(ORDERS)
    met = {reason.cause for column in result.columns for reason in column.reasons}

    assert {Cause.LOOKED_UP, Cause.PROMOTED} == set(Cause) - met
