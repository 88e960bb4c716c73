"""Resolution of schemas: every rule of the resolver, and reporting of all errors at once."""

from __future__ import annotations

import pickle
from collections.abc import Callable

import pytest

from schema_core.base.text import Span
from schema_core.errors import SchemaCoreError, SchemaError
from schema_core.expressions import col
from schema_core.expressions.functions import BUILT_IN
from schema_core.expressions.scope import Functions
from schema_core.expressions.typed import Function
from schema_core.schema.resolve import SchemaResolver
from schema_core.schema.resolved import ComputedColumn, ResolvedSchema
from schema_core.schema.unresolved import (
    Schema,
    SchemaBuilder,
    SqlExpression,
    UnresolvedComputedColumn,
    UnresolvedPhysicalColumn,
    UnresolvedPrimaryKey,
)
from schema_core.sql.parser import parse_expression
from schema_core.types import DataType, DataTypes, TimestampKind, TimestampType, UnresolvedType

Write = Callable[[SchemaBuilder], SchemaBuilder]


def resolve(write: Write, streaming: bool = True) -> ResolvedSchema:
    return SchemaResolver(streaming).resolve(write(Schema.new_builder()).build())


def summaries(schema: ResolvedSchema) -> dict[str, str]:
    return {column.name: column.data_type.as_summary_string() for column in schema.columns}


def on(type_: str, watermark: str) -> Write:
    """A watermark on a column `ts` of a type."""
    return lambda b: b.column("ts", type_).watermark("ts", watermark)


# --- columns -------------------------------------------------------------------------------------


def test_computed_columns_can_refer_to_later_stored_columns() -> None:
    schema = resolve(
        lambda b: (
            b.column_by_expression("b", "a + m")
            .column("a", "INT")
            .column_by_metadata("m", "BIGINT NOT NULL")
        )
    )

    assert {"b": "BIGINT", "a": "INT", "m": "BIGINT NOT NULL"} == summaries(schema)


def test_computed_columns_can_access_nested_fields() -> None:
    schema = resolve(
        lambda b: b.column("a", "ROW<x INT, y ROW<z BIGINT NOT NULL>>").column_by_expression(
            "b", "a.y.z"
        )
    )

    assert "BIGINT" == summaries(schema)["b"]


def test_expression_has_original_and_serializable_sql() -> None:
    schema = resolve(lambda b: b.column("a", "INT").column_by_expression("b", "a  +  1"))
    column = schema.get_column("b")

    assert isinstance(column, ComputedColumn)
    assert "a  +  1" == column.expression.as_summary_string()
    assert "`a` + 1" == column.expression.as_serializable_string()


def test_expressions_may_be_built_in_python() -> None:
    schema = resolve(
        lambda b: b.column("a b", "INT").column_by_expression("c", (col("a b") + 1) * 2)
    )

    assert "`c` INT AS (`a b` + 1) * 2" in str(schema)


def test_names_are_case_sensitive() -> None:
    schema = resolve(lambda b: b.column("a", "INT").column("A", "STRING"))

    assert {"a": "INT", "A": "STRING"} == summaries(schema)


def test_user_defined_types_are_resolved() -> None:
    money = DataTypes.DECIMAL(12, 2)

    def types(name: UnresolvedType) -> object:
        assert ("Money",) == name.path
        return money

    schema = Schema.new_builder().column("m", "ARRAY<Money NOT NULL>").build()
    resolved = SchemaResolver(types=types).resolve(schema)  # type: ignore[arg-type]

    assert {"m": "ARRAY<DECIMAL(12, 2) NOT NULL>"} == summaries(resolved)


# --- watermarks ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("type_", "watermark", "streaming", "batch"),
    [
        ("TIMESTAMP(3) NOT NULL", "ts", "TIMESTAMP(3) NOT NULL *ROWTIME*", "TIMESTAMP(3) NOT NULL"),
        ("TIMESTAMP(0)", "ts - INTERVAL '1' DAY", "TIMESTAMP(0) *ROWTIME*", "TIMESTAMP(0)"),
        ("TIMESTAMP_LTZ(3)", "ts", "TIMESTAMP_LTZ(3) *ROWTIME*", "TIMESTAMP_LTZ(3)"),
        ("TIMESTAMP(2)", "CAST(NULL AS TIMESTAMP(3))", "TIMESTAMP(2) *ROWTIME*", "TIMESTAMP(2)"),
    ],
)
def test_watermark_creates_a_time_attribute_in_streaming_mode(
    type_: str, watermark: str, streaming: str, batch: str
) -> None:
    assert {"ts": streaming} == summaries(resolve(on(type_, watermark)))
    assert {"ts": batch} == summaries(resolve(on(type_, watermark), streaming=False))


@pytest.mark.parametrize("type_", ["TIMESTAMP(2) NOT NULL", "TIMESTAMP_LTZ(3)"])
def test_watermark_of_the_source_has_the_type_of_its_column(type_: str) -> None:
    (watermark,) = resolve(on(type_, "SOURCE_WATERMARK()")).watermark_specs

    assert type_ == watermark.watermark_expression.type.as_summary_string()


def test_watermark_sees_computed_columns() -> None:
    schema = resolve(
        lambda b: (
            b.column("text", "STRING")
            .column_by_expression("ts", "TO_TIMESTAMP(text)")
            .watermark("ts", "ts - INTERVAL '5' SECOND")
        )
    )

    assert "TIMESTAMP(3) *ROWTIME*" == summaries(schema)["ts"]


def test_proctime_is_a_time_attribute_in_both_modes() -> None:
    def write(b: SchemaBuilder) -> SchemaBuilder:
        return b.column_by_expression("p", "PROCTIME()")

    for streaming in (True, False):
        schema = resolve(write, streaming)
        assert {"p": "TIMESTAMP_LTZ(3) NOT NULL *PROCTIME*"} == summaries(schema)


def test_batch_mode_keeps_time_attributes_of_declared_types() -> None:
    rowtime = DataTypes.TIMESTAMP(3).with_kind(TimestampKind.ROWTIME)

    assert {"ts": "TIMESTAMP(3) *ROWTIME*"} == summaries(
        resolve(lambda b: b.column("ts", rowtime), streaming=False)
    )


# --- refusals ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("code", "place", "write"),
    [
        ("duplicate-column", None, lambda b: b.column("a", "INT").column("a", "INT")),
        (
            "duplicate-column",
            None,
            lambda b: b.column_by_metadata("k", "INT").column_by_metadata("m", "INT", "k"),
        ),
        ("syntax", "column 'a'", lambda b: b.column("a", "FOO BAR")),
        ("type-not-found", "column 'a'", lambda b: b.column("a", "INTT")),
        (
            "unknown-column",
            "column 'c'",
            lambda b: (
                b.column("a", "INT")
                .column_by_expression("b", "a + 1")
                .column_by_expression("c", "b + 1")
            ),
        ),
        ("unknown-column", "column 'b'", lambda b: b.column_by_expression("b", "b")),
        ("function-not-found", "column 'b'", lambda b: b.column_by_expression("b", "NOPE(1)")),
        (
            "already-declared",
            None,
            lambda b: b.column("t", "TIMESTAMP(3)").watermark("t", "t").watermark("x", "y"),
        ),
        (
            "unknown-column",
            "watermark of 'a.ts'",
            lambda b: b.column("a", "ROW<ts TIMESTAMP(3)>").watermark("a.ts", "a.ts"),
        ),
        ("invalid-watermark", "watermark of 'ts'", on("INT", "ts")),
        ("invalid-watermark", "watermark of 'ts'", on("TIMESTAMP(6)", "ts")),
        ("invalid-watermark", "watermark of 'ts'", on("TIMESTAMP(3) WITH TIME ZONE", "ts")),
        (
            "invalid-watermark",
            "watermark of 'ts'",
            on("TIMESTAMP(3)", "CAST(ts AS TIMESTAMP(6))"),
        ),
        ("invalid-watermark", "watermark of 'ts'", on("TIMESTAMP(3)", "1")),
        (
            "invalid-watermark",
            "watermark of 'ts'",
            on("TIMESTAMP(3)", "CAST(ts AS TIMESTAMP_LTZ(3))"),
        ),
        (
            "invalid-watermark",
            "watermark of 'p'",
            lambda b: b.column_by_expression("p", "PROCTIME()").watermark("p", "p"),
        ),
        (
            "duplicate-column",
            "primary key 'PK_a_a'",
            lambda b: b.column("a", "INT NOT NULL").primary_key("a", "a"),
        ),
        ("unknown-column", "primary key 'PK_a'", lambda b: b.primary_key("a")),
        (
            "feature-not-supported",
            "primary key 'PK_m'",
            lambda b: b.column_by_metadata("m", "INT NOT NULL").primary_key("m"),
        ),
        (
            "invalid-constraint",
            "primary key 'PK_a'",
            lambda b: b.column("a", "INT").primary_key("a"),
        ),
        ("unknown-column", "index 'INDEX_a'", lambda b: b.index("a")),
        (
            "feature-not-supported",
            "index 'INDEX_c'",
            lambda b: b.column_by_expression("c", "1").index("c"),
        ),
        (
            "already-declared",
            "index 'other'",
            lambda b: b.column("a", "INT").index("a").index_named("other", "a"),
        ),
        (
            "invalid-constraint",
            "immutable columns 'IMMUTABLE_COLUMNS_a'",
            lambda b: b.column("a", "INT").immutable_columns("a"),
        ),
        (
            "feature-not-supported",
            "immutable columns 'IMMUTABLE_COLUMNS_m'",
            lambda b: (
                b.column("a", "INT NOT NULL")
                .column_by_metadata("m", "INT")
                .primary_key("a")
                .immutable_columns("m")
            ),
        ),
    ],
)
def test_refused_schemas(code: str, place: str | None, write: Write) -> None:
    with pytest.raises(SchemaCoreError) as caught:
        resolve(write)

    assert code == caught.value.code
    assert () == caught.value.others
    assert place == (caught.value.path[0] if caught.value.path else None)


def test_metadata_columns_can_be_unsupported() -> None:
    resolver = SchemaResolver(supports_metadata=False)
    schema = Schema.new_builder().column_by_metadata("m", "INT").build()

    assert not resolver.supports_metadata()
    assert ["invalid-metadata-column"] == [diagnostic.code for diagnostic in resolver.check(schema)]


def test_all_errors_are_reported_in_resolution_order() -> None:
    schema = (
        Schema.new_builder()
        .column_by_expression("c", "nowhere + 1")
        .column("a", "INT")
        .column("a", "STRING")
        .column_by_metadata("m", "NOPE")
        .column_by_metadata("n", "INT", "m")
        .watermark("later", "later")
        .primary_key("a", "missing")
        .index("c")
        .build()
    )

    result = SchemaResolver().check(schema)

    assert [
        "duplicate-column",
        "duplicate-column",
        "type-not-found",
        "unknown-column",
        "unknown-column",
        "invalid-constraint",
        "unknown-column",
    ] == [diagnostic.code for diagnostic in result]


def test_consequential_errors_are_not_reported() -> None:
    schema = (
        Schema.new_builder()
        .column("a", "NOPE")
        .column_by_expression("b", "a + 1")
        .column_by_expression("ts", "CAST(b AS TIMESTAMP(3))")
        .watermark("a", "a")
        .primary_key("a")
        .index("b")
        .build()
    )

    result = SchemaResolver().check(schema)

    assert [("column 'a'",), ("column 'ts'",)] == [item.path for item in result]


def test_expression_error_has_its_position() -> None:
    with pytest.raises(SchemaError) as caught:
        resolve(lambda b: b.column("amount", "INT").column_by_expression("b", "1 + amuont"))

    (result,) = caught.value.diagnostics
    assert ("1 + amuont", 1, 5) == (result.text, result.line, result.column)
    assert "did you mean 'amount'?" == result.hint


def test_statement_error_has_its_position() -> None:
    statement = "CREATE TABLE t (a INT, b AS a + nope)"
    start = statement.index("a + nope")
    tree = parse_expression(" " * start + "a + nope")
    schema = Schema(
        (
            UnresolvedPhysicalColumn("a", DataTypes.INT(), span=Span(16, 21)),
            UnresolvedComputedColumn("b", SqlExpression("`a` + `nope`", tree, statement)),
        ),
        primary_key=UnresolvedPrimaryKey("pk", ("a",), span=Span(16, 17)),
    )

    expression, key = SchemaResolver().check(schema)

    assert (statement, statement.index("nope") + 1) == (expression.text, expression.column)
    assert (None, Span(16, 17)) == (key.text, key.span)


def test_serialized_schema_resolves_to_an_equal_schema() -> None:
    schema = resolve(
        lambda b: (
            b.column("id", "INT NOT NULL")
            .with_comment("who")
            .column_by_expression("up", "UPPER(CAST(id AS STRING))")
            .column_by_metadata("ts", "TIMESTAMP(3)", "timestamp")
            .watermark("ts", "ts - INTERVAL '5' SECOND")
            .primary_key("id")
            .index("ts")
            .immutable_columns("id")
        )
    )
    again = Schema.new_builder().from_resolved_schema(schema).build()

    assert schema == again.resolve(SchemaResolver())
    assert "`up` AS UPPER(CAST(id AS STRING))" in str(again)


# --- what is remembered --------------------------------------------------------------------------


def two_columns(type_: str | DataType = "TIMESTAMP(3)") -> Schema:
    return Schema.new_builder().column("ts", type_).column_by_expression("b", "ts").build()


def test_resolution_of_equal_schemas_is_cached() -> None:
    resolver = SchemaResolver()

    assert resolver.resolve(two_columns()) is resolver.resolve(two_columns())
    assert resolver.resolve(two_columns()) is SchemaResolver().resolve(two_columns())
    batch = SchemaResolver(streaming=False)
    assert resolver.resolve(two_columns()) is not batch.resolve(two_columns())


def test_cache_distinguishes_time_attributes() -> None:
    rowtime = TimestampType(3, kind=TimestampKind.ROWTIME)
    SchemaResolver().resolve(two_columns(DataTypes.TIMESTAMP(3)))
    column = SchemaResolver().resolve(two_columns(rowtime)).get_column("ts")

    assert column is not None
    assert isinstance(column.data_type, TimestampType)
    assert TimestampKind.ROWTIME is column.data_type.kind


def test_errors_are_raised_at_each_resolution() -> None:
    wrong = Schema.new_builder().column_by_expression("b", "nothing").build()
    for _ in range(2):
        with pytest.raises(SchemaError) as caught:
            SchemaResolver().resolve(wrong)
        assert "unknown-column" == caught.value.code
        assert ("column 'b'",) == caught.value.path


def test_context_dependent_schemas_are_not_cached() -> None:
    first = SchemaResolver(functions=lambda path, span: None)

    assert first.resolve(two_columns()) is not first.resolve(two_columns())


# --- caches --------------------------------------------------------------------------------------


def test_an_expression_is_resolved_by_the_types_of_its_columns() -> None:
    """Equal expressions of different tables share nothing but their text."""

    def computed(type_: str) -> str:
        resolved = resolve(lambda b: b.column("a", type_).column_by_expression("c", "a + 1"))
        return resolved.columns[1].data_type.as_summary_string()

    types = ("INT", "BIGINT NOT NULL", "DOUBLE", "INT")

    assert list(types) == [computed(data_type) for data_type in types]


def test_a_user_defined_function_replaces_the_built_in_one_of_a_cached_expression() -> None:
    """Expressions whose functions are all built-in are cached for every resolver."""
    (own,) = BUILT_IN["CHAR_LENGTH"]
    written = Schema.new_builder().column("a", "STRING").column_by_expression("c", "UPPER(a)")

    def computed(functions: Functions | None) -> str:
        resolved = SchemaResolver(functions=functions).resolve(written.build())
        return resolved.columns[1].data_type.as_summary_string()

    def nothing(path: tuple[str, ...], span: Span) -> None:
        """Define no function."""

    def upper(path: tuple[str, ...], span: Span) -> tuple[Function, ...] | None:
        return (own,) if path == ("UPPER",) else None

    assert ["STRING", "STRING", "INT", "STRING"] == [
        computed(item) for item in (None, nothing, upper, nothing)
    ]


def test_a_cached_expression_over_a_time_attribute_keeps_it() -> None:
    """Equality of types ignores time attributes, so they must not come from another table."""
    regular = resolve(
        lambda b: b.column("t", "TIMESTAMP_LTZ(3)").column_by_expression("u", "t")
    ).get_column("u")
    proctime = resolve(
        lambda b: b.column("a", "INT").column_by_expression("t", "PROCTIME()")
    ).get_column("t")

    assert regular is not None
    assert proctime is not None
    assert TimestampKind.REGULAR is getattr(regular.data_type, "kind", None)
    assert TimestampKind.PROCTIME is getattr(proctime.data_type, "kind", None)


def test_a_cached_expression_does_not_hide_the_errors_of_its_schema() -> None:
    resolve(lambda b: b.column("a", "INT").column_by_expression("c", "a + 1"))

    with pytest.raises(SchemaError) as caught:
        resolve(
            lambda b: (
                b.column("a", "INT")
                .column_by_expression("a", "1")
                .column_by_expression("c", "a + 1")
            )
        )
    assert ["duplicate-column", "unknown-column"] == [
        diagnostic.code for diagnostic in caught.value.diagnostics
    ]


def test_equal_schemas_are_equal_after_they_were_hashed() -> None:
    schemas = [Schema.new_builder().column("a", "INT").build() for _ in range(2)]
    before = hash(schemas[0])
    copied = pickle.loads(pickle.dumps(schemas[0]))

    assert before == hash(schemas[1]) == hash(copied)
    assert schemas[0] == schemas[1] == copied
