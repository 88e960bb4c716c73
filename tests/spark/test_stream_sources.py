"""The connectors `rate` and `socket`, which streaming jobs read."""

from __future__ import annotations

import socket
import threading
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from schema_core import EnvironmentSettings, TableEnvironment
from schema_core.connectors.rate import RateConnector
from schema_core.connectors.socket_lines import SocketConnector
from schema_core.environment import connector as module
from schema_core.environment.connector import Connector
from schema_core.errors import SchemaCoreError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture
def env(session: SparkSession, monkeypatch: pytest.MonkeyPatch) -> TableEnvironment:
    """A streaming environment with both connectors, also before they are installed."""
    result = {"rate": RateConnector, "socket": SocketConnector}
    find = module.find_connector

    def find_one(options: Mapping[str, str]) -> Connector:
        made = result.get(options.get("connector", ""))
        return find(options) if made is None else made()

    monkeypatch.setattr(module, "find_connector", find_one)
    env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode(), spark=session)
    env.execute_sql("SET 'table.local-time-zone' = 'Asia/Tokyo'")
    return env


def refused(env: TableEnvironment, columns: str, options: str, query: str = "") -> tuple[str, str]:
    """Return code and problem of the error of a query of a table."""
    env.execute_sql(f"CREATE TEMPORARY TABLE wrong ({columns}) WITH ({options})")
    try:
        with pytest.raises(SchemaCoreError) as caught:
            env.execute_sql(query or "SELECT * FROM wrong")
    finally:
        env.execute_sql("DROP TEMPORARY TABLE wrong")
    return caught.value.code or "", str(caught.value)


def test_numbered_rows(env: TableEnvironment) -> None:
    env.execute_sql(
        "CREATE TABLE r (`timestamp` TIMESTAMP(3), `value` BIGINT, twice AS `value` * 2)"
        " WITH ('connector' = 'rate', 'rows-per-second' = '100', 'scan.parallelism' = '2')"
    )
    query = (
        "SELECT `value`, twice, TIMESTAMPDIFF(HOUR, `timestamp`, LOCALTIMESTAMP) AS hours,"
        " EXTRACT(MILLISECOND FROM `timestamp`) >= 0 AS is_time FROM r WHERE `value` <> 3"
    )
    with closing(env.execute_sql(query).collect()) as result:
        rows = {tuple(next(result)) for _ in range(40)}

    assert {(n, 2 * n, 0, True) for n, *_ in rows} == rows
    assert 40 == len(rows)
    assert 3 not in {n for n, *_ in rows}


def test_rate_refuses_other_columns_options_and_batch_jobs(env: TableEnvironment) -> None:
    rate = "'connector' = 'rate'"
    code, shown = refused(env, "`value` INT, v BIGINT, `timestamp` TIMESTAMP(9)", rate)

    assert "type-not-supported" == code
    assert "the type must be BIGINT, got INT" in shown
    assert "generates the columns 'timestamp' and 'value' only" in shown
    assert "of up to 6 digits, got TIMESTAMP(9)" in shown
    assert "unknown-option" == refused(env, "`value` BIGINT", f"{rate}, 'rows' = '1'")[0]
    options = f"{rate}, 'rows-per-second' = '0'"
    assert "invalid-option-value" == refused(env, "`value` BIGINT", options)[0]
    insert = "INSERT INTO wrong VALUES (1)"
    assert "unsupported-ability" == refused(env, "`value` BIGINT", rate, insert)[0]
    env.execute_sql("SET 'execution.runtime-mode' = 'batch'")
    assert "unbounded-table" == refused(env, "`value` BIGINT", rate)[0]


def test_lines_of_a_server(env: TableEnvironment) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        env.execute_sql(
            "CREATE TABLE w (line STRING, at_ TIMESTAMP_LTZ(3) METADATA FROM 'timestamp' VIRTUAL)"
            f" WITH ('connector' = 'socket', 'hostname' = '127.0.0.1', 'port' = '{port}')"
        )
        seen = threading.Semaphore(0)

        def serve() -> None:
            client, _ = server.accept()
            with client:
                client.sendall("ä b\n\nc".encode())
                seen.acquire(timeout=60)
                client.sendall(b"d\r\n")
                seen.acquire(timeout=60)

        threading.Thread(target=serve, daemon=True).start()
        query = "SELECT UPPER(line), TIMESTAMPDIFF(HOUR, at_, CURRENT_TIMESTAMP) FROM w"
        with closing(env.execute_sql(query).collect()) as result:
            rows = [tuple(next(result)) for _ in range(2)]
            seen.release()
            rows.append(tuple(next(result)))
        seen.release()

    assert [("Ä B", 0), ("", 0), ("CD", 0)] == rows


def test_socket_refuses_other_columns_options_and_checkpoints(
    env: TableEnvironment, tmp_path: Path
) -> None:
    options = "'connector' = 'socket', 'hostname' = '127.0.0.1', 'port' = '9'"

    for columns in ("a INT", "a STRING, b STRING", "a VARCHAR(3)"):
        assert "type-not-supported" == refused(env, columns, options)[0]
    assert "missing-option" == refused(env, "a STRING", "'connector' = 'socket', 'port' = '1'")[0]
    for more in ("'port' = '65536'", "'port' = '0'", "'port' = 'x'"):
        wrong = f"'connector' = 'socket', 'hostname' = 'x', {more}"
        assert "invalid-option-value" == refused(env, "a STRING", wrong)[0]
    env.execute_sql(f"SET 'execution.checkpointing.dir' = '{tmp_path / 'checkpoints'}'")
    env.execute_sql("CREATE TABLE p (a STRING) WITH ('connector' = 'blackhole')")
    code, shown = refused(env, "a STRING", options, "INSERT INTO p SELECT a FROM wrong")
    assert "streaming-not-supported" == code
    assert "the connector 'socket' cannot repeat rows" in shown
    assert not (tmp_path / "checkpoints").exists()
