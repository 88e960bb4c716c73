"""Types, times and environments of streams, without a job."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import Any

import pytest

from schema_core.errors import SchemaCoreError, SchemaError, UnsupportedError
from schema_core.pyflink.common import Configuration, Duration, Instant, Row, RowKind, Time, Types
from schema_core.pyflink.common.typeinfo import TypeInformation
from schema_core.pyflink.common.watermark_strategy import WatermarkStrategy
from schema_core.pyflink.datastream import RuntimeExecutionMode, StreamExecutionEnvironment
from schema_core.pyflink.datastream.data_stream import format_value
from schema_core.pyflink.table import EnvironmentSettings, StreamTableEnvironment
from schema_core.pyflink.table.expressions import col

MOMENT = dt.datetime(2020, 1, 2, 3, 4, 5, 678000)  # noqa: DTZ001 - a TIMESTAMP has no zone

#: Type, a value, the type's `repr` and the schema of its stream in Flink 2.3.
TYPES: list[tuple[TypeInformation, Any, str, str]] = [
    (Types.STRING(), "a", "String", "`f0` STRING"),
    (Types.BYTE(), 1, "Byte", "`f0` TINYINT NOT NULL"),
    (Types.BOOLEAN(), True, "Boolean", "`f0` BOOLEAN NOT NULL"),
    (Types.SHORT(), 1, "Short", "`f0` SMALLINT NOT NULL"),
    (Types.INT(), 1, "Integer", "`f0` INT NOT NULL"),
    (Types.LONG(), 1, "Long", "`f0` BIGINT NOT NULL"),
    (Types.FLOAT(), 1.5, "Float", "`f0` FLOAT NOT NULL"),
    (Types.DOUBLE(), 1.5, "Double", "`f0` DOUBLE NOT NULL"),
    (Types.BIG_DEC(), Decimal("1.5"), "BigDecimal", "`f0` DECIMAL(38, 18)"),
    (Types.INSTANT(), Instant(1, 0), "Instant", "`f0` TIMESTAMP_LTZ(9)"),
    (Types.SQL_DATE(), dt.date(2020, 1, 2), "DateTypeInfo", "`f0` DATE"),
    (Types.SQL_TIME(), dt.time(1), "TimeTypeInfo", "`f0` TIME(0)"),
    (Types.SQL_TIMESTAMP(), MOMENT, "TimestampTypeInfo", "`f0` TIMESTAMP(9)"),
    (
        Types.ROW([Types.INT(), Types.STRING()]),
        Row(1, "a"),
        "RowTypeInfo(Integer, String)",
        "`f0` INT, `f1` STRING",
    ),
    (
        Types.ROW_NAMED(["x", "y"], [Types.INT(), Types.ROW([Types.STRING()])]),
        Row(1, Row("a")),
        "RowTypeInfo(x: Integer, y: RowTypeInfo(String))",
        "`x` INT, `y` ROW<`f0` STRING>",
    ),
    (
        Types.TUPLE([Types.INT(), Types.STRING()]),
        (1, "a"),
        "TupleTypeInfo(Integer, String)",
        "`f0` INT NOT NULL, `f1` STRING",
    ),
    (
        Types.PRIMITIVE_ARRAY(Types.INT()),
        [1],
        "PrimitiveArrayTypeInfo<Integer>",
        "`f0` ARRAY<INT NOT NULL> NOT NULL",
    ),
    (
        Types.BASIC_ARRAY(Types.STRING()),
        ["a"],
        "BasicArrayTypeInfo<String>",
        "`f0` ARRAY<STRING> NOT NULL",
    ),
    (
        Types.MAP(Types.STRING(), Types.INT()),
        {"a": 1},
        "MapTypeInfo<String, Integer>",
        "`f0` MAP<STRING, INT> NOT NULL",
    ),
]


@pytest.mark.parametrize(
    ("type_info", "value", "shown", "schema"), TYPES, ids=[each[2] for each in TYPES]
)
def test_types_have_the_schemas_of_flink(
    type_info: TypeInformation, value: Any, shown: str, schema: str
) -> None:
    env = StreamExecutionEnvironment.get_execution_environment()
    stream = env.from_collection([value], type_info)
    table = StreamTableEnvironment.create(env).from_data_stream(stream)

    assert shown == repr(type_info)
    lines = str(table.get_resolved_schema()).splitlines()[1:-1]
    assert schema == " ".join(line.strip() for line in lines)


def test_types_are_equal_by_their_parts() -> None:
    assert Types.ROW([Types.INT()]) == Types.ROW_NAMED(["f0"], [Types.INT()])
    assert Types.LIST(Types.INT()) != Types.LIST(Types.LONG())
    assert Types.INT() != Types.TUPLE([Types.INT()])
    assert 2 == len({Types.INT(), Types.LONG(), Types.INT()})


def test_instants_and_lengths_of_time() -> None:
    assert "Instant<-1, 999000000>" == str(Instant.of_epoch_milli(-1))
    assert 1000 == Instant(1, 5).to_epoch_milli()
    before_1970 = dt.datetime(1969, 12, 31, 23, 59, 59, 1, tzinfo=dt.UTC)
    assert Instant(-1, 1000) == Instant.of_datetime(before_1970)
    assert before_1970 == Instant(-1, 1000).to_datetime()
    assert "5000 ms" == str(Time.seconds(5))
    assert Time.days(1) == Time.hours(24)
    assert dt.timedelta(days=1, minutes=1) == Duration.of_minutes(1441).to_timedelta()


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (Row(1, True, None, 1.0), "+I[1,True,None,1.0]"),
        ((1, True, "a", 1.0), "(1,true,a,1.0)"),
        (True, "true"),
        (1e10, "1.0E10"),
        (float("nan"), "NaN"),
        (MOMENT, "2020-01-02 03:04:05.678"),
        (MOMENT.replace(microsecond=0), "2020-01-02 03:04:05.0"),
        (Instant.of_epoch_milli(1500), "1970-01-01T00:00:01.500Z"),
        ({"a": [1, 2]}, "{a=[1, 2]}"),
    ],
)
def test_values_are_printed_as_by_flink(value: object, expected: str) -> None:
    assert expected == format_value(value)


def test_the_parallelism_is_positive_or_the_default() -> None:
    env = StreamExecutionEnvironment.get_execution_environment()
    for number in (0, -2):
        with pytest.raises(SchemaError) as caught:
            env.set_parallelism(number)
        assert "invalid-argument" == caught.value.code

    assert 3 == env.set_parallelism(3).get_parallelism()
    tables = StreamTableEnvironment.create(env.set_parallelism(-1))
    assert "-1" == tables.get_config().get("parallelism.default", "")
    assert 1 == env.get_parallelism()
    with pytest.raises(SchemaError) as caught:
        tables.get_config().set("parallelism.default", "0")
    assert "invalid-option-value" == caught.value.code


def test_the_mode_and_the_options_are_those_of_the_tables() -> None:
    options = Configuration().set_string("table.local-time-zone", "Asia/Tokyo")
    env = StreamExecutionEnvironment.get_execution_environment(options)
    assert env.set_parallelism(3).set_runtime_mode(RuntimeExecutionMode.BATCH) is env
    tables = StreamTableEnvironment.create(env)

    assert "Asia/Tokyo" == tables.get_config().get_local_timezone()
    assert "BATCH" == tables.get_config().get("execution.runtime-mode", "")
    assert env.table_environment is tables
    assert (3, -1) == (env.get_parallelism(), env.get_max_parallelism())
    streaming = StreamTableEnvironment.create(env, EnvironmentSettings.in_streaming_mode())
    assert "STREAMING" == streaming.get_config().get("execution.runtime-mode", "STREAMING")


def numbers(env: StreamExecutionEnvironment) -> Any:
    return env.from_collection([1, 2], Types.INT())


@pytest.mark.parametrize(
    ("method", "hint"),
    [
        ("process", "Table.process"),
        ("window_all", "Table.window"),
        ("add_sink", "execute_insert"),
        ("partition_custom", "Spark distributes the rows"),
    ],
)
def test_other_methods_name_an_alternative(method: str, hint: str) -> None:
    env = StreamExecutionEnvironment.get_execution_environment()

    with pytest.raises(UnsupportedError, match=hint) as caught:
        getattr(numbers(env), method)

    assert "needs-flink" == caught.value.code
    assert not hasattr(numbers(env), "nothing")


def test_the_environment_refuses_what_needs_flink() -> None:
    with pytest.raises(UnsupportedError, match="JVM"):
        RowKind.INSERT.to_j_row_kind()
    env: Any = StreamExecutionEnvironment.get_execution_environment()
    with pytest.raises(UnsupportedError, match="to_data_stream"):
        env.from_source(None, None, "s")
    with pytest.raises(UnsupportedError, match="jars"):
        env.add_jars("a.jar")
    with pytest.raises(SchemaError, match="no stream is printed") as caught:
        env.execute()
    assert "invalid-state" == caught.value.code
    with pytest.raises(UnsupportedError, match="aligned"):
        WatermarkStrategy.no_watermarks().with_watermark_alignment("g", Duration.of_seconds(1))


@pytest.mark.parametrize(
    ("use", "code"),
    [
        (lambda env: numbers(env).map(3), "invalid-argument"),
        (lambda env: numbers(env).map(abs, "INT"), "invalid-argument"),
        (lambda env: numbers(env).project(0), "invalid-argument"),
        (lambda env: numbers(env).key_by(abs).sum(1), "invalid-argument"),
        (lambda env: numbers(env).union(env.from_collection([])), "invalid-argument"),
        (lambda env: env.from_collection(3), "invalid-argument"),
        (lambda env: table_of(env, env.from_collection([1])), "needs-flink"),
        (lambda env: table_of(env, env.from_collection(["a"], Types.INT())), "invalid-data"),
        (
            lambda env: table_of(env, env.from_collection([(1,)], Types.ROW([]))),
            "invalid-data",
        ),
        (
            lambda env: table_of(env, env.from_collection([Instant(0, 1)], Types.INSTANT())),
            "invalid-data",
        ),
        (lambda env: table_of(env, numbers(env), col("a"), col("b")), "column-count-mismatch"),
        (lambda env: table_of(env, numbers(env), col("a") + 1), "needs-flink"),
        (lambda _: Types.ROW_NAMED(["a"], []), "invalid-argument"),
    ],
)
def test_invalid_uses_have_codes(use: Any, code: str) -> None:
    env = StreamExecutionEnvironment.get_execution_environment()

    with pytest.raises(SchemaCoreError) as caught:
        use(env)

    assert code == caught.value.code


def table_of(env: StreamExecutionEnvironment, stream: Any, *fields: Any) -> object:
    return StreamTableEnvironment.create(env).from_data_stream(stream, *fields)


def test_columns_are_selected_by_name_or_renamed_by_position() -> None:
    env = StreamExecutionEnvironment.get_execution_environment()
    tables = StreamTableEnvironment.create(env)
    pairs = env.from_collection([(1, "a")], Types.ROW([Types.INT(), Types.STRING()]))

    assert ["f1"] == tables.from_data_stream(pairs, col("f1")).column_names()
    renamed = tables.from_data_stream(pairs, col("x"), col("y"), col("p").proctime)
    assert ["x", "y", "p"] == renamed.column_names()
    assert "*PROCTIME*" in str(renamed.get_resolved_schema())
