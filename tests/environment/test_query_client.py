"""`QueryClient`: the job client of a query is done when its rows are read."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from schema_core import DataTypes
from schema_core.environment.jobs.query_client import QueryClient
from schema_core.environment.result import TableResult
from schema_core.errors import ExternalError
from schema_core.pyflink.common import JobClient, JobStatus
from schema_core.schema.resolved import ResolvedSchema


def result_of(rows: Iterator[tuple[int]]) -> tuple[TableResult, QueryClient]:
    client = QueryClient()
    schema = ResolvedSchema.physical(["a"], [DataTypes.INT()])
    return TableResult(schema, client.follow(rows), query=client), client


def test_a_query_has_finished_when_its_rows_are_read() -> None:
    result, client = result_of(iter([(1,), (2,)]))
    execution = client.get_job_execution_result()

    assert result.get_job_client() is client
    assert isinstance(client, JobClient)
    result.wait()
    assert (JobStatus.RUNNING, False) == (client.get_job_status().result(), execution.done())
    assert [1, 2] == [row[0] for row in result.collect()]
    assert JobStatus.FINISHED is client.get_job_status().result()
    assert client.get_job_id() == execution.result().get_job_id()
    client.cancel().result()
    assert JobStatus.FINISHED is client.get_job_status().result()


def test_a_query_is_cancelled_or_fails() -> None:
    result, client = result_of(iter([(1,), (2,)]))
    rows = result.collect()
    next(rows)
    client.cancel().result()
    assert [] == list(rows)
    assert JobStatus.CANCELED is client.get_job_status().result()
    with pytest.raises(ExternalError) as caught:
        client.get_job_execution_result().result()
    assert "job-canceled" == caught.value.code

    def failing() -> Iterator[tuple[int]]:
        yield (1,)
        raise ValueError("x")

    result, client = result_of(failing())
    with pytest.raises(ValueError, match="x"):
        list(result.collect())
    assert JobStatus.FAILED is client.get_job_status().result()
    assert (None, None) == (client.get_progress(), client.get_metrics())
    assert "collect" == client.get_job_name()
