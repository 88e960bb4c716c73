"""Invariants of dialects: a round trip restores the schema except for losses; quoting is safe."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from hypothesis import example, given
from hypothesis import strategies as st

from schema_core.catalog.objects import CatalogTable
from schema_core.errors import SchemaCoreError, UnsupportedError
from schema_core.mappings.dialects.api import DIALECTS, ddl_losses, read_table, read_tables, to_ddl
from schema_core.mappings.dialects.engines import ENGINES, Engine
from schema_core.mappings.dialects.expressions import OPERATORS
from schema_core.schema.resolve import SchemaResolver
from schema_core.schema.resolved import ComputedColumn, ResolvedSchema
from schema_core.schema.unresolved import Schema, SqlExpression, UnresolvedComputedColumn
from schema_core.sql.parser import parse_expression
from schema_core.testing.strategies import comments, names, schemas, tables, types
from schema_core.types import DataType

dialects = st.sampled_from(DIALECTS)

#: Error codes of schemas that cannot be written.
REFUSALS = {
    "type-not-supported",
    "name-not-supported",
    "not-representable",
    "missing-columns",
}

#: Dialects that support comments of columns, and so exact types.
KEEPERS = [
    name for name, value in ENGINES.items() if value.comment is not None or value.comment_statement
]


#: Stands for Flink, which stores names as they are.
KEEPS_NAMES = Engine("flink", (), stores_empty_comments=False)


def written(schema: Schema, dialect: str, *, notes: bool = False) -> str | None:
    """The statements, or None if the engine does not support such a table."""
    return refused(lambda: to_ddl(schema, dialect, on_loss="note" if notes else "accept"))


def refused(write: Callable[[], str]) -> str | None:
    """The result, or None for an error with an expected code."""
    try:
        return write()
    except UnsupportedError as error:
        if error.code in REFUSALS:
            return None
        raise


def one_column(type_: DataType, name: str = "c", comment: str | None = None) -> Schema:
    return Schema.new_builder().column(name, type_).with_comment(comment).build()


def resolved(schema: Schema) -> ResolvedSchema:
    return SchemaResolver().resolve(schema)


@given(types(max_leaves=5), dialects)
def test_a_type_without_losses_is_restored(type_: DataType, dialect: str) -> None:
    schema = one_column(type_)
    text = written(schema, dialect)
    if text is not None and not ddl_losses(schema, dialect):
        assert schema.columns[0].name == "c"
        assert [type_] == resolved(read_table(text, dialect).schema).get_column_data_types()


@given(types(max_leaves=5), comments(), st.sampled_from(KEEPERS))
def test_exact_types_in_comments_restore_every_type(
    type_: DataType, comment: str | None, dialect: str
) -> None:
    schema = one_column(type_, comment=comment)
    text = written(schema, dialect, notes=True)
    if text is not None:
        (column,) = resolved(read_table(text, dialect).schema).columns
        assert type_ == column.data_type
        assert comment == column.comment or (
            comment == ""
            and "the empty comment" in [loss.source for loss in ddl_losses(schema, dialect)]
        )


@given(types(max_leaves=5), dialects)
def test_a_second_round_trip_changes_nothing(type_: DataType, dialect: str) -> None:
    """After the first conversion, another round trip changes nothing."""
    text = written(one_column(type_), dialect)
    if text is not None:
        first = read_table(text, dialect).schema
        again = written(first, dialect)
        assert again is not None
        assert first == read_table(again, dialect).schema


@given(schemas(), dialects)
def test_a_schema_is_restored_except_for_its_losses(schema: Schema, dialect: str) -> None:
    text = written(schema, dialect)
    if text is None:
        return
    losses, back = ddl_losses(schema, dialect), read_table(text, dialect)
    # Reading reports its own losses: Flink computes nothing from a row with a field of type NULL.
    lossy = {loss.path[0] for loss in (*losses, *back.losses)}
    left_out = {loss.path[0] for loss in losses if loss.kind.word == "refused"}
    given_, result = resolved(schema), back.schema
    kept = [column for column in given_.columns if column.name not in left_out]

    assert len(kept) == len(result.columns)
    for column, again in zip(kept, result.columns, strict=True):
        if column.name in lossy:
            continue
        assert (column.name, column.comment) == (again.name, again.comment)
        if isinstance(column, ComputedColumn):
            assert isinstance(again, UnresolvedComputedColumn)
            assert isinstance(again.expression, SqlExpression)
            before = parse_expression(column.expression.written.text)
            assert before == parse_expression(again.expression.text)
        else:
            assert column.data_type == getattr(again, "data_type", None)
    if "primary key" not in lossy and not lossy & set(key_columns(given_)):
        assert key_columns(given_) == key_columns(resolved(result))


def key_columns(schema: ResolvedSchema) -> tuple[str, ...]:
    return () if schema.primary_key is None else schema.primary_key.columns


@given(names(), comments(), names(), dialects)
def test_names_and_comments_are_preserved(
    name: str, comment: str | None, table: str, dialect: str
) -> None:
    builder = Schema.new_builder().column(name, "BOOLEAN NOT NULL").with_comment(comment)
    schema = builder.column(name + "2", "ROW<`x` DATE>").build()
    text = refused(lambda: to_ddl(schema, dialect, table, on_loss="accept"))
    if text is None:
        return
    result = read_table(text, dialect)
    engine = ENGINES.get(dialect, KEEPS_NAMES)

    assert (engine.fold_case(table),) == result.path
    assert [engine.fold_case(name), engine.fold_case(name + "2")] == [
        column.name for column in result.schema.columns
    ]
    if engine.comment is not None or engine.comment_statement:
        kept = comment if comment or engine.stores_empty_comments else None
        assert kept == result.schema.columns[0].comment


@given(comments(), names(), dialects)
def test_a_comment_of_a_table_is_restored_or_lost(
    comment: str | None, path: str, dialect: str
) -> None:
    table = CatalogTable(Schema.new_builder().column("a", "DATE").build(), comment=comment)
    text = refused(lambda: to_ddl(table, dialect, path))
    if text is None:
        return
    (result,) = read_tables(text, dialect).tables
    is_lost = ("table",) in [loss.path for loss in ddl_losses(table, dialect)]

    assert result.comment == (None if is_lost else comment)
    assert not is_lost or not comment or dialect in {"sqlite", "tsql"}


@given(tables(), st.lists(names(), min_size=1, max_size=3))
def test_a_table_of_flink_is_restored_except_for_its_losses(
    table: CatalogTable, path: list[str]
) -> None:
    text = refused(lambda: to_ddl(table, "flink", tuple(path)))
    if text is None:
        return
    (result,) = read_tables(text, "flink").tables
    again, lossy = result.table, {loss.path[0] for loss in ddl_losses(table, "flink")}

    assert tuple(path) == result.path
    assert () == result.losses
    assert (table.partition_keys, table.options) == (again.partition_keys, again.options)
    assert (table.comment or None) == again.comment
    assert table.distribution == again.distribution or "distribution" in lossy
    assert flink_members(table.schema) == flink_members(again.schema)
    assert text == to_ddl(again, "flink", tuple(path))


def flink_members(schema: Schema) -> list[str]:
    """The resolved members of a schema that Flink's SQL can express, without empty comments."""
    declared = resolved(schema)
    specs = declared.watermark_specs
    key = [] if declared.primary_key is None else [str(declared.primary_key)]
    columns = [
        f"{column.name} {column.data_type} {column.explain_extras()} {column.comment or None}"
        for column in declared.columns
    ]
    # Flink's SQL has the names of functions of the Table API in backticks, their strings have not.
    watermarks = [str(spec).replace("`SOURCE_WATERMARK`", "SOURCE_WATERMARK") for spec in specs]
    return [*columns, *watermarks, *key]


PIECES = (
    *"()<>[],;.:'\"`=-", "CREATE TABLE t (", "a int", "b", "NOT NULL", "PRIMARY KEY", "COMMENT",
    "'x'", "array<", "struct<", "map(", "row(", "GENERATED ALWAYS AS (", "AS (", "a + 1", "CASE",
    "DEFAULT", "numeric(10, 2)", "timestamp", "with time zone", "COMMENT ON COLUMN t.a IS",
    "ALTER TABLE t ADD", "CHECK (", "PARTITIONED BY (", "--", "/*", "$$", "\\", "ENGINE =", "{{",
    "DROP TABLE", "RENAME TABLE", "USE", "SET search_path =", "/*!50001", "*/", "t", "TO", ";",
    "OWNER TO", "SELECT", "INTO", "DELIMITER ;;", "COPY t FROM stdin;", "\\.", "SET SCHEMA",
)  # fmt: skip

strings = st.text(max_size=40) | st.lists(st.sampled_from(PIECES), max_size=25).map(" ".join)


def survives(text: str, dialect: str) -> None:
    """Require that any string is read as a table or raises an error of this library."""
    shown = "a table"
    try:
        read_table(text, dialect)
    except SchemaCoreError as error:
        shown = str(error)
    assert shown


@given(strings, dialects)
def test_any_string_is_a_table_or_an_error(text: str, dialect: str) -> None:
    survives(text, dialect)


@given(strings, dialects)
@example("MAP(0)", "spark")
@example("0?0", "clickhouse")
@example("a > 0 ? 1 : 2", "clickhouse")
def test_any_expression_is_read_or_becomes_a_physical_column(text: str, dialect: str) -> None:
    survives(f"CREATE TABLE t (a int, b int GENERATED ALWAYS AS ({text}))", dialect)


@given(schemas(), dialects, st.randoms())
def test_a_truncated_statement_is_a_table_or_an_error(
    schema: Schema, dialect: str, random: Random
) -> None:
    text = written(schema, dialect)
    if text is not None:
        cut = random.randrange(len(text))
        survives(text[:cut] + text[cut + 1 :], dialect)
        survives(text[:cut], dialect)


def test_an_operator_is_written_as_it_is_read() -> None:
    for operator in OPERATORS.values():
        builder = Schema.new_builder().column("a", "BOOLEAN" if operator in "AND OR" else "DOUBLE")
        if operator == "||":
            builder = Schema.new_builder().column("a", "STRING")
        schema = builder.column_by_expression("b", f"a {operator} a").build()
        for dialect, engine in ENGINES.items():
            if engine.generated and not (operator == "||" and engine.concat):
                again = read_table(to_ddl(schema, dialect), dialect).schema
                assert f"`b` AS [`a` {operator} `a`]" == str(again.columns[1])
