"""The frame that a connector's `read` returns is checked before and during the job."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from schema_core.errors import ExternalError, SchemaError
from schema_core.spark.compiler.tree import Column, UserSql, call, to_sql, with_alias
from schema_core.spark.writing.row_checks import require_not_null
from schema_core.types import DataTypes, parse_type

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from schema_core.environment.table_environment import TableEnvironment
    from tests.spark.conftest import FrameConnector

CREATE = "CREATE TABLE t ({columns}) WITH ('connector' = 'frames')"


def rows(environment: TableEnvironment, query: str) -> list[tuple[object, ...]]:
    return [tuple(row) for row in environment.execute_sql(query).collect()]


def reading(connector: FrameConnector, query: str) -> None:
    connector.frame = lambda session: session.sql(query)


def test_columns_are_matched_by_name(
    environment: TableEnvironment, connector: FrameConnector
) -> None:
    reading(connector, "SELECT 'x' AS `b.c`, 1 AS a")
    environment.execute_sql(CREATE.format(columns="a INT, `b.c` STRING"))

    assert [(1, "x")] == rows(environment, "SELECT * FROM t")


@pytest.mark.parametrize(
    ("columns", "query", "problems"),
    [
        (
            "a INT",
            "SELECT CAST(1 AS BIGINT) AS a",
            ["column 'a' of type bigint, expected int"],
        ),
        ("a INT", "SELECT 1 AS A", [
            "no column 'a', expected one of type int", "column 'A', which the table does not have",
        ]),
        ("a INT, b STRING", "SELECT 1 AS a", ["no column 'b', expected one of type string"]),
        ("a INT", "SELECT 1 AS a, 2 AS b", ["column 'b', which the table does not have"]),
        ("a INT", "SELECT 1 AS a, 2 AS a", ["column 'a' 2 times"]),
        ("a DECIMAL(4, 2)", "SELECT 1.5BD AS a", [
            "column 'a' of type decimal(2,1), expected decimal(4,2)",
        ]),
        ("a TIMESTAMP(3)", "SELECT current_timestamp() AS a", [
            "column 'a' of type timestamp, expected timestamp_ntz",
        ]),
        ("a STRING", "SELECT 'x' COLLATE UTF8_LCASE AS a", [
            "column 'a' of type string collate UTF8_LCASE, expected string",
        ]),
        ("a ROW<b ARRAY<INT>>", "SELECT named_struct('b', array(1L)) AS a", [
            "column 'a' of type struct<b:array<bigint>>, expected struct<b:array<int>>",
        ]),
        ("a MAP<STRING, INT>", "SELECT map('x', 1S) AS a", [
            "column 'a' of type map<string,smallint>, expected map<string,int>",
        ]),
        ("a INT, b AS a + 1", "SELECT 1 AS a, 2 AS b", [
            "column 'b', which the table does not have",
        ]),
    ],
)  # fmt: skip
def test_other_columns_or_types_are_refused(
    environment: TableEnvironment,
    connector: FrameConnector,
    columns: str,
    query: str,
    problems: list[str],
) -> None:
    reading(connector, query)
    environment.execute_sql(CREATE.format(columns=columns))
    with pytest.raises(ExternalError) as caught:
        environment.execute_sql("SELECT 1 FROM t").collect()

    expected = [
        ("schema-mismatch", f"connector 'frames' returned {problem}") for problem in problems
    ]
    assert expected == [
        (diagnostic.code, diagnostic.message) for diagnostic in caught.value.diagnostics
    ]
    assert ("read table default_catalog.default_database.t",) == caught.value.path


def test_the_planner_adds_metadata_and_computed_columns(
    environment: TableEnvironment, connector: FrameConnector
) -> None:
    connector.metadata = {"at": DataTypes.TIMESTAMP(3), "other": DataTypes.INT()}
    reading(
        connector,
        "SELECT 7 AS n, TIMESTAMP_NTZ'2020-01-01 00:00:00.5' AS `$metadata$at`, 'x' AS a,"
        " 3 AS `$metadata$other`",
    )
    environment.execute_sql(
        CREATE.format(
            columns="a STRING, t STRING METADATA FROM 'at', later AS t || '!',"
            " other BIGINT METADATA VIRTUAL, n INT NOT NULL, m AS n + 1"
        )
    )

    at = "2020-01-01 00:00:00.500"
    assert [("x", at, at + "!", 3, 7, 8)] == rows(environment, "SELECT * FROM t")
    assert [["at", "other"]] == [list(context.metadata) for context in connector.contexts]


def test_a_column_with_the_name_of_metadata_in_frames_is_refused(
    environment: TableEnvironment, connector: FrameConnector
) -> None:
    connector.metadata = {"k": DataTypes.INT()}
    environment.execute_sql(CREATE.format(columns="`$metadata$k` INT, m INT METADATA FROM 'k'"))
    with pytest.raises(SchemaError) as caught:
        rows(environment, "SELECT * FROM t")

    assert "duplicate-column" == caught.value.code


def test_metadata_is_checked_for_null(
    environment: TableEnvironment, connector: FrameConnector
) -> None:
    connector.metadata = {"k": DataTypes.INT()}
    reading(connector, "SELECT 1 AS a, CAST(NULL AS INT) AS `$metadata$k`")
    environment.execute_sql(CREATE.format(columns="a INT, k INT NOT NULL METADATA"))
    with pytest.raises(ExternalError) as caught:
        rows(environment, "SELECT * FROM t")

    assert "the job failed: column 'k' is NOT NULL but received NULL" == caught.value.problem


def test_written_metadata_has_the_type_of_the_connector(
    environment: TableEnvironment, connector: FrameConnector
) -> None:
    connector.metadata = {"k": DataTypes.BIGINT(), "v": DataTypes.STRING()}
    connector.writable_metadata = frozenset({"k"})
    environment.execute_sql(
        CREATE.format(
            columns="k STRING METADATA, a INT, c AS a + 1, v STRING METADATA VIRTUAL, b STRING"
        )
    )
    environment.execute_sql("INSERT INTO t VALUES ('12', 1, 'x')").wait()

    assert ["a", "b", "$metadata$k"] == connector.columns
    assert [[(1, "x", 12)]] == connector.written


def test_the_context_describes_the_table_as_the_statement_uses_it(
    environment: TableEnvironment, connector: FrameConnector
) -> None:
    reading(connector, "SELECT 1 AS a")
    environment.execute_sql("CREATE TEMPORARY TABLE s (a INT) WITH ('connector' = 'frames')")
    environment.execute_sql(CREATE.format(columns="a INT"))
    rows(environment, "SELECT * FROM t /*+ OPTIONS('level' = '2') */")
    environment.execute_sql("INSERT OVERWRITE s SELECT * FROM t").wait()

    read, also_read, written = connector.contexts
    assert ("2", None) == (read.options.get("level"), also_read.options.get("level"))
    assert (False, True) == (read.is_temporary(), written.is_temporary())
    assert "s" == written.get_object_identifier().object_name
    assert getattr(written, "overwrite", None) is True


def test_a_frame_of_another_session_is_refused(
    environment: TableEnvironment, connector: FrameConnector
) -> None:
    connector.frame = lambda session: session.newSession().sql("SELECT 1 AS a")
    environment.execute_sql(CREATE.format(columns="a INT"))
    with pytest.raises(ExternalError) as caught:
        environment.execute_sql("SELECT * FROM t").collect()

    assert "connector 'frames' returned a DataFrame of another Spark session" == (
        caught.value.problem
    )


def test_what_is_not_a_frame_is_refused(
    environment: TableEnvironment, connector: FrameConnector
) -> None:
    connector.frame = lambda _: None
    environment.execute_sql(CREATE.format(columns="a INT"))
    with pytest.raises(ExternalError) as caught:
        environment.execute_sql("SELECT * FROM t").collect()

    assert "schema-mismatch" == caught.value.code


#: Type, a Spark SQL value with a forbidden NULL in it, how the place is described.
FORBIDDEN = [
    ("INT NOT NULL", "CAST(NULL AS INT)", ""),
    ("ROW<b INT NOT NULL>", "named_struct('b', CAST(NULL AS INT))", "field 'b'"),
    ("ROW<b INT> NOT NULL", "CAST(NULL AS STRUCT<b: INT>)", ""),
    ("ARRAY<INT NOT NULL>", "array(1, NULL)", "an array element"),
    ("MAP<STRING, INT NOT NULL>", "map('x', 1, 'y', CAST(NULL AS INT))", "a map value"),
    (
        "MAP<ROW<b INT NOT NULL>, INT>",
        "map(named_struct('b', CAST(NULL AS INT)), 1)",
        "field 'b' of a map key",
    ),
    (
        "MULTISET<ROW<b INT NOT NULL>>",
        "map(named_struct('b', CAST(NULL AS INT)), 1)",
        "field 'b' of a multiset element",
    ),
    (
        "ARRAY<ROW<b ARRAY<ROW<c INT NOT NULL> NOT NULL>>>",
        "array(NULL, named_struct('b', array(named_struct('c', CAST(NULL AS INT)))))",
        "field 'c' of an array element of field 'b' of an array element",
    ),
    (
        "ARRAY<ROW<b ARRAY<ROW<c INT NOT NULL> NOT NULL>>>",
        "array(named_struct('b', array(CAST(NULL AS STRUCT<c: INT>))))",
        "an array element of field 'b' of an array element",
    ),
    ("MAP<STRING, MAP<STRING, INT NOT NULL>>", "map('x', map('y', CAST(NULL AS INT)))",
     "a map value of a map value"),
]  # fmt: skip

#: Type, a Spark SQL value without one: a NULL parent of a NOT NULL field is allowed.
ALLOWED = [
    ("ROW<b INT NOT NULL>", "CAST(NULL AS STRUCT<b: INT>)"),
    ("ROW<b ROW<c INT NOT NULL>>", "named_struct('b', CAST(NULL AS STRUCT<c: INT>))"),
    ("ARRAY<INT NOT NULL>", "CAST(NULL AS ARRAY<INT>)"),
    ("ARRAY<INT NOT NULL>", "CAST(array() AS ARRAY<INT>)"),
    ("ARRAY<ROW<b INT NOT NULL>>", "array(CAST(NULL AS STRUCT<b: INT>))"),
    ("MAP<STRING, ARRAY<INT NOT NULL>>", "map('x', CAST(NULL AS ARRAY<INT>), 'y', array(1))"),
    ("MAP<STRING, INT NOT NULL>", "CAST(NULL AS MAP<STRING, INT>)"),
    ("MULTISET<INT NOT NULL>", "map(1, 2)"),
]


@pytest.mark.parametrize(("type_", "value", "place"), FORBIDDEN)
def test_a_forbidden_null_that_is_read_fails_the_job(
    environment: TableEnvironment, connector: FrameConnector, type_: str, value: str, place: str
) -> None:
    reading(connector, f"SELECT {value} AS a")
    environment.execute_sql(CREATE.format(columns=f"a {type_}"))
    with pytest.raises(ExternalError) as caught:
        rows(environment, "SELECT * FROM t")

    column = f"column 'a': {place}" if place else "column 'a'"
    assert f"the job failed: {column} is NOT NULL but received NULL" == caught.value.problem


@pytest.mark.parametrize(("type_", "value"), ALLOWED)
def test_an_allowed_null_is_read(session: SparkSession, type_: str, value: str) -> None:
    frame = session.sql(f"SELECT {value} AS a")
    checked = frame.selectExpr(
        with_alias(require_not_null(Column("a"), parse_type(type_), "a"), "a")
    )

    assert frame.collect() == checked.collect()


@pytest.mark.parametrize(("type_", "value", "place"), FORBIDDEN)
def test_nulls_are_checked_for_any_expression(
    session: SparkSession, type_: str, value: str, place: str
) -> None:
    either = UserSql((f"if(id = 0, {value}, {value})",))
    frame = session.range(1).selectExpr(
        with_alias(require_not_null(either, parse_type(type_), "a"), "a")
    )
    with pytest.raises(Exception, match="is NOT NULL but received NULL"):
        frame.collect()


def test_types_without_not_null_are_not_checked() -> None:
    column = Column("a")

    assert column is require_not_null(
        column, DataTypes.ROW([DataTypes.FIELD("b", DataTypes.INT())]), "a"
    )


def test_a_wide_value_is_computed_once() -> None:
    type_ = parse_type("ROW<a INT NOT NULL, b INT NOT NULL>")

    value = call("named_struct", "a", call("char_length", "a long string" * 5), "b", 2)

    assert 1 == to_sql(require_not_null(value, type_, "a")).count("named_struct")
