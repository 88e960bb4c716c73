"""ML_PREDICT calls the provider of a model for the rows of a batch."""

from __future__ import annotations

import datetime as dt
import threading
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest

from schema_core import TableEnvironment
from schema_core.base import plugins
from schema_core.environment.model_provider import ModelContext, Predictor
from schema_core.environment.options import ConfigOption, boolean, integer
from schema_core.errors import ExternalError, NotFoundError, SchemaCoreError
from schema_core.spark.python.async_functions import AsyncCalls
from schema_core.spark.python.model_prediction import predict_concurrently
from tests.spark.test_query_results import environment_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FACTOR = ConfigOption("factor", integer, required=True)
MANY = ConfigOption("many", boolean, False)
BROKEN = ConfigOption("broken", boolean, False)


class Scaling:
    """Multiplies numbers; returns none of the rows with NULL, and two of others with `many`."""

    identifier = "scaling"

    def declared(self, options: Mapping[str, str]) -> Sequence[ConfigOption[Any]]:
        return (FACTOR, MANY, BROKEN)

    def create_predictor(self, context: ModelContext) -> Predictor:
        factor, is_many = FACTOR.of(context.options) or 1, MANY.of(context.options)

        def predict(rows: Sequence[tuple[Any, ...]]) -> list[Any]:
            if BROKEN.of(context.options):
                return [(1,)]
            if not is_many:
                return [(row[0] * factor,) for row in rows]
            return [[] if row[0] is None else [(row[0],), (row[0] * factor,)] for row in rows]

        return predict


class Describing:
    """Returns the values of all columns as a string, and some typed ones."""

    identifier = "describing"

    def declared(self, options: Mapping[str, str]) -> Sequence[ConfigOption[Any]]:
        return ()

    def create_predictor(self, context: ModelContext) -> Predictor:
        names = [column.name for column in context.inputs]

        def predict(rows: Sequence[tuple[Any, ...]]) -> list[Any]:
            return [
                (str(dict(zip(names, row, strict=True))), Decimal("1.5"), row[1]) for row in rows
            ]

        return predict


@pytest.fixture(scope="module")
def env(session: SparkSession) -> TableEnvironment:
    env = environment_of(session)
    env.execute_sql("SET 'table.local-time-zone' = 'Europe/Paris'")
    env.execute_sql(
        "CREATE TEMPORARY VIEW t AS SELECT * FROM (VALUES (1, 'a'), (2, 'b')) AS t (n, y)"
    )
    env.execute_sql("CREATE TEMPORARY VIEW nulls AS SELECT NULLIF(n, 1) AS n FROM t")
    models = {
        "scaled": "'provider' = 'scaling', 'factor' = '3'",
        "doubled": "'provider' = 'scaling', 'factor' = '2', 'many' = 'true'",
        "broken": "'provider' = 'scaling', 'factor' = '2', 'broken' = 'true'",
        "incomplete": "'provider' = 'scaling'",
        "wrong": "'provider' = 'scaling', 'factor' = 'x'",
        "surplus": "'provider' = 'scaling', 'factor' = '1', 'nothing' = 'x'",
        "absent": "'provider' = 'nothing'",
    }
    for name, options in models.items():
        env.execute_sql(f"CREATE MODEL {name} INPUT (x BIGINT) OUTPUT (y BIGINT) WITH ({options})")
    env.execute_sql(
        "CREATE MODEL described INPUT (d DECIMAL(5, 2), z TIMESTAMP_LTZ(3))"
        " OUTPUT (s STRING, d DECIMAL(4, 2), z TIMESTAMP_LTZ(3)) WITH ('provider' = 'describing')"
    )
    return env


@pytest.fixture(autouse=True)
def providers(monkeypatch: pytest.MonkeyPatch) -> None:
    own = {one.identifier: f"{__name__}:{one.__name__}" for one in (Scaling, Describing)}
    monkeypatch.setitem(plugins.OWN, plugins.MODEL_PROVIDERS, own)


def rows_of(env: TableEnvironment, sql: str) -> list[tuple[Any, ...]]:
    with env.execute_sql(f"SELECT * FROM {sql}").collect() as rows:
        return sorted((tuple(row) for row in rows), key=repr)


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("ML_PREDICT(TABLE t, MODEL scaled, DESCRIPTOR(n))", [(1, "a", 3), (2, "b", 6)]),
        (
            "ML_PREDICT(INPUT => TABLE t, MODEL => MODEL doubled, ARGS => DESCRIPTOR(n))",
            [(1, "a", 1), (1, "a", 2), (2, "b", 2), (2, "b", 4)],
        ),
        ("ML_PREDICT(TABLE nulls, MODEL doubled, DESCRIPTOR(n))", [(2, 2), (2, 4)]),
        (
            (
                "ML_PREDICT(TABLE t, MODEL scaled, DESCRIPTOR(n), MAP['async', 'false', 'timeout',"
                " '1 min', 'output-mode', 'ordered']) WHERE y0 > 3"
            ),
            [(2, "b", 6)],
        ),
        ("ML_PREDICT((SELECT * FROM t WHERE n > 9), MODEL scaled, DESCRIPTOR(n))", []),
        (
            "ML_PREDICT(TABLE nulls, MODEL doubled, DESCRIPTOR(n), MAP['async', 'true'])",
            [(2, 2), (2, 4)],
        ),
    ],
)
def test_columns_of_the_model_follow_those_of_the_table(
    env: TableEnvironment, sql: str, expected: list[tuple[Any, ...]]
) -> None:
    assert expected == rows_of(env, sql)


def test_a_provider_receives_the_types_of_the_model(env: TableEnvironment) -> None:
    table = "(SELECT n, CAST(TIMESTAMP '2024-07-01 12:00:00' AS TIMESTAMP_LTZ(3)) AS ts FROM t)"
    sql = f"ML_PREDICT({table}, MODEL described, DESCRIPTOR(n, ts)) WHERE n = 1"

    ((number, instant, text, decimal, same),) = rows_of(env, sql)

    assert (1, "{'d': Decimal('1.00'), 'z': datetime.datetime(2024, 7, 1, 12, 0)}") == (
        number,
        text,
    )
    assert "1.50" == str(decimal)
    assert dt.datetime(2024, 7, 1, 10, tzinfo=dt.UTC) == instant == same


@pytest.mark.parametrize(
    ("model", "config", "code"),
    [
        ("incomplete", "", "missing-option"),
        ("wrong", "", "invalid-option-value"),
        ("surplus", "", "unknown-option"),
        ("scaled", ", MAP['nothing', 'x']", "unknown-option"),
        ("scaled", ", MAP['async', 'perhaps']", "invalid-option-value"),
        ("scaled", ", MAP['max-concurrent-operations', '0']", "invalid-option-value"),
    ],
)
def test_invalid_options_are_refused(
    env: TableEnvironment, model: str, config: str, code: str
) -> None:
    with pytest.raises(SchemaCoreError) as caught:
        env.execute_sql(f"SELECT * FROM ML_PREDICT(TABLE t, MODEL {model}, DESCRIPTOR(n){config})")

    assert code == caught.value.code


def test_asynchronous_calls_predict_single_rows_at_once() -> None:
    """Each call waits until another one has begun, so they overlap; results keep their order."""
    barrier = threading.Barrier(2)

    def predict(rows: Sequence[tuple[Any, ...]]) -> list[Any]:
        barrier.wait(10)
        ((number,),) = rows
        return [(number * 2,)]

    predict_all = predict_concurrently(predict, AsyncCalls(2, 20.0, retries=0), "m")

    assert [(2,), (4,), (6,), (8,)] == list(predict_all([(1,), (2,), (3,), (4,)]))


def test_a_call_that_takes_too_long_fails() -> None:
    released = threading.Event()

    def predict(rows: Sequence[tuple[Any, ...]]) -> list[Any]:
        released.wait(10)
        return list(rows)

    with pytest.raises(
        TimeoutError, match=r"function of the model m took longer than 0\.05 s for \(1,\)"
    ):
        predict_concurrently(predict, AsyncCalls(2, 0.05, retries=0), "m")([(1,)])
    released.set()


def test_an_unknown_provider_is_refused(env: TableEnvironment) -> None:
    with pytest.raises(NotFoundError, match="nothing"):
        env.execute_sql("SELECT * FROM ML_PREDICT(TABLE t, MODEL absent, DESCRIPTOR(n))")


def test_a_result_for_another_number_of_rows_fails_the_job(env: TableEnvironment) -> None:
    two = "(SELECT /*+ BROADCAST(b) */ a.n FROM t AS a, t AS b)"
    with pytest.raises(ExternalError, match="results for") as caught:
        rows_of(env, f"ML_PREDICT({two}, MODEL broken, DESCRIPTOR(n))")

    assert caught.value.code == "job-failed"
