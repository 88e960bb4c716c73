"""Scripts of statements, with what Flink returned for each: see `fuzz.oracle.statements`."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fuzz.oracle.statements import FOLDER, hide_job
from schema_core.environment.config import EnvironmentSettings
from schema_core.environment.table_environment import TableEnvironment
from schema_core.errors import SchemaCoreError
from schema_core.types import (
    ArrayType,
    BinaryType,
    DataType,
    MapType,
    MultisetType,
    Row,
    RowType,
    VarBinaryType,
)
from tests.spark.test_query_results import value
from tests.support import CASES


def read_scripts(name: str) -> list[dict[str, Any]]:
    """Return the scripts of a file of cases."""
    lines = (CASES / name).read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def environment_of_script(session: Any, case: dict[str, Any]) -> TableEnvironment:
    """Return an environment in the mode and the time zone of a script."""
    is_streaming = case["q"].get("mode") == "streaming"
    settings = EnvironmentSettings.new_instance()
    settings = settings.in_streaming_mode() if is_streaming else settings.in_batch_mode()
    environment = TableEnvironment.create(settings.build(), spark=session)
    environment.get_config().set_local_timezone(case["q"].get("zone", "UTC"))
    return environment


def run(environment: TableEnvironment, statement: Any) -> Any:
    """Execute a recorded statement, and return its rows, or names or lines of files, sorted."""
    if isinstance(statement, dict):
        return _run_step(environment, statement)
    result = environment.execute_sql(statement)
    if result.job is not None:
        result.wait()
    if not statement.startswith("SELECT"):
        return None
    with result.collect() as rows:
        return sorted(map(tuple, rows), key=repr)


def _run_step(environment: TableEnvironment, step: dict[str, Any]) -> Any:
    match step:
        case {"set": options}:
            for key, option in options.items():
                environment.get_config().set(key, option)
            return None
        case {"write": name, "text": text}:
            Path(name).parent.mkdir(parents=True, exist_ok=True)
            Path(name).write_text(text, encoding="utf-8", newline="")
            return None
        case {"list": name} | {"cat": name}:
            files = [path for path in Path(name).rglob("*") if path.is_file()]
            shown = [path for path in files if not path.name.startswith(".")]
            if "list" in step:
                return sorted(hide_job(str(path.relative_to(name))) for path in shown)
            lines = [line for path in shown for line in path.read_text("utf-8").split("\n")]
            return sorted(filter(None, lines))
    raise AssertionError(step)


def expected_rows(environment: TableEnvironment, statement: str, rows: list[Any]) -> Any:
    """Return the recorded rows of a query as Python's values, sorted."""
    schema = environment.sql_query(statement).get_resolved_schema()
    types = [column.data_type for column in schema.columns]
    return sorted((tuple(map(recorded_value, row, types)) for row in rows), key=repr)


def recorded_value(recorded: Any, type_: DataType) -> Any:
    """Return a recorded value as Python's."""
    match type_:
        case _ if recorded is None:
            return None
        case BinaryType() | VarBinaryType():
            return bytes.fromhex(recorded.removeprefix("0x"))
        case ArrayType(element_type=element):
            return [recorded_value(item, element) for item in recorded]
        case MapType(key_type=key, value_type=item_type):
            return {recorded_value(k, key): recorded_value(v, item_type) for k, v in recorded}
        case MultisetType(element_type=element):
            return {recorded_value(item, element): count for item, count in recorded}
        case RowType():
            pairs = zip(recorded, type_.fields, strict=True)
            return Row(*(recorded_value(item, field.data_type) for item, field in pairs))
        case _:
            return value(recorded, type_)


def play(
    environment: TableEnvironment,
    case: dict[str, Any],
    folder: Path,
    rewrite: Callable[[str], str] = str,
) -> None:
    """Run a script in a folder, and compare what each statement returns with what Flink did.

    Args:
        environment: Where the script runs.
        case: The script and the answers.
        folder: The directory of its files.
        rewrite: Changes the SQL before it runs.
    """
    for step, recorded in zip(case["q"]["statements"], case["a"], strict=True):
        statement = json.loads(json.dumps(step).replace(FOLDER, str(folder)))
        if isinstance(statement, str):
            statement = rewrite(statement)
        if "error" in recorded:
            with pytest.raises(SchemaCoreError):
                run(environment, statement)
            continue
        result = run(environment, statement)
        if "lines" in recorded:
            assert [line for line in recorded["lines"] if line] == result, step
        elif isinstance(statement, str) and statement.startswith("SELECT"):
            rows = json.loads(json.dumps(recorded["rows"]).replace(FOLDER, str(folder)))
            assert expected_rows(environment, statement, rows) == result, step
