"""Connectors fulfil the contract; wrong ones fail the test that is meant for them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from schema_core.connectors import Connector
from schema_core.connectors.files.filesystem import FilesystemConnector
from schema_core.testing import ConnectorContract
from schema_core.testing.connector_cases import NAMES, TYPES
from tests.spark import wrong_file_connectors
from tests.spark.memory_connector import (
    WRONG,
    DropsEmptyStrings,
    FailsForTimes,
    MemoryConnector,
    TruncatesTimes,
)
from tests.test_docs import blocks

ROOT = Path(__file__).parents[2]

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class MemoryContract(ConnectorContract):
    metadata_values = {"writer": "'me'"}
    secret_options = {"pin": "canary-5519"}
    in_process_only = "the rows are in the memory of this process"

    @pytest.fixture(scope="class")
    @classmethod
    def spark_session(cls, root: SparkSession) -> SparkSession:
        return root

    def make_connector(self) -> Connector:
        return MemoryConnector()

    def options(self, directory: Path) -> Mapping[str, str]:
        return {"place": str(directory), "batch": "5"}


class TestMemoryConnector(MemoryContract):
    pass


class FilesContract(MemoryContract):
    """The filesystem connector with a format."""

    metadata_values = {}
    secret_options = {}
    in_process_only = ""
    exists_empty = False  # there is no directory before anything is written
    format = ""

    def make_connector(self) -> Connector:
        return FilesystemConnector()

    def options(self, directory: Path) -> Mapping[str, str]:
        return {"path": str(directory), "format": self.format}


#: Without a type that parquet and orc files are refused for when they are read.
MICROSECONDS = {name: value for name, value in TYPES.items() if value.type != "TIMESTAMP(9)"}


class TestParquet(FilesContract):
    format = "parquet"
    types = MICROSECONDS


class FormatContract(FilesContract):
    """The tests on which the format of files has an influence."""

    test_inserts_append = test_overwriting_replaces_all_rows = test_create_table_as = None  # type: ignore[assignment]
    test_temporary_tables = test_partitions = test_options_are_validated = None  # type: ignore[assignment]
    test_a_failed_job_leaves_no_rows = test_a_killed_job_leaves_no_rows = None  # type: ignore[assignment]
    test_a_killed_process_leaves_all_rows_or_none = None  # type: ignore[assignment]


class TestOrc(FormatContract):
    format = "orc"
    types = MICROSECONDS
    names = [name for name in NAMES if "`" not in name]  # orc files cannot hold it


class TestJson(FormatContract):
    format = "json"


class TestCsv(FormatContract):
    format = "csv"
    stores_names = False
    types = {
        name: value
        for name, value in TYPES.items()
        if value.type[:4] not in ("ARRA", "MAP<", "ROW<")
    }

    def options(self, directory: Path) -> Mapping[str, str]:
        return {**super().options(directory), "csv.null-literal": "\\N"}


def documented(page: str) -> dict[str, Any]:
    """Return what the examples of a page define."""
    names: dict[str, Any] = {"__name__": "__example__"}
    for _, code in blocks(ROOT / "docs" / page):
        if ">>>" not in code:
            exec(code, names)
    return names


class TestTutorial(documented("tutorials/connector.md")["TestJsonLines"]):  # type: ignore[misc]
    """The connector of the tutorial."""

    @pytest.fixture(scope="class")
    @classmethod
    def spark_session(cls, root: SparkSession) -> SparkSession:
        return root


class TestDocumentedConnector(documented("connectors.md")["TestSqlite"]):  # type: ignore[misc]
    """The connector with push-down and upserts."""

    @pytest.fixture(scope="class")
    @classmethod
    def spark_session(cls, root: SparkSession) -> SparkSession:
        return root


class Noted:
    """A plugin of pytest: the tests that failed, by class, and why."""

    def __init__(self) -> None:
        self.failed: dict[str, list[str]] = {}
        self.reasons: dict[str, str] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            _, name, test = report.nodeid.split("::")
            self.failed.setdefault(name.removeprefix("Test"), []).append(test)
            self.reasons[name.removeprefix("Test")] = report.longreprtext


KILLED = "test_a_killed_process_leaves_all_rows_or_none"


@pytest.fixture(scope="module")
def noted(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Noted:
    """Run for each wrong connector the test that is meant for it.

    The tests run in this process, whose Spark they share.
    """
    file = tmp_path_factory.mktemp("wrong") / "test_wrong.py"
    lines = [
        "from tests.spark import memory_connector as wrong, wrong_file_connectors as files",
        "from tests.spark.test_connector_contract import FilesContract, MemoryContract, pytest",
        "class Wrong(MemoryContract):",
        "    kept = ('int', 'empty string', 'timestamp(3)')",
        "    types = {name: MemoryContract.types[name] for name in kept}",
        "    @pytest.fixture(scope='class')",
        "    @classmethod",
        "    def spark_session(cls):",
        "        from pyspark.sql import SparkSession",
        "        return SparkSession.getActiveSession()",
    ]
    for item in WRONG:
        lines += [
            f"class Test{item.__name__}(Wrong):",
            f"    def make_connector(self): return wrong.{item.__name__}()",
        ]
    for other in wrong_file_connectors.WRONG:
        lines += [
            f"class Test{other.__name__}(FilesContract):",
            "    format = 'csv'",
            "    spark_session = Wrong.spark_session",
            f"    def make_connector(self): return files.{other.__name__}()",
            "    def _kills(self, *given):",
            "        return [one for one in super()._kills(*given) if 'INSERT INTO' in one.place]",
        ]
    file.write_text("\n".join(lines))
    result = Noted()
    tests = [f"{file}::Test{value.__name__}::{test}" for value, test in WRONG.items()]
    tests += [f"{file}::Test{item.__name__}::{KILLED}" for item in wrong_file_connectors.WRONG]
    options = ["-q", "-s", "--no-header", "--no-summary", "-p", "no:cacheprovider"]
    pytest.main([*options, "-c", str(ROOT / "pyproject.toml"), *tests], plugins=[result])
    return result


@pytest.mark.slow
@pytest.mark.parametrize("wrong", WRONG, ids=lambda item: item.__name__)
def test_a_wrong_connector_fails_the_test_that_is_meant_for_it(
    noted: Noted, wrong: type[MemoryConnector]
) -> None:
    assert noted.failed.get(wrong.__name__) == [WRONG[wrong]]


#: Wrong connector -> a part of the message of the test that fails.
REASONS = {
    DropsEmptyStrings: "empty string: STRING, ''",
    TruncatesTimes: "timestamp(3): TIMESTAMP(3), TIMESTAMP '",
    FailsForTimes: "timestamp(3): TIMESTAMP(3): the job failed: ValueError: no times",
}


@pytest.mark.slow
@pytest.mark.parametrize("wrong", REASONS, ids=lambda item: item.__name__)
def test_a_failure_names_the_types_and_values(noted: Noted, wrong: type[MemoryConnector]) -> None:
    reason = noted.reasons[wrong.__name__]

    assert REASONS[wrong] in reason
    assert "int: INT" not in reason


@pytest.mark.slow
@pytest.mark.parametrize("wrong", wrong_file_connectors.WRONG, ids=lambda item: item.__name__)
def test_a_wrong_commit_is_found_when_a_process_is_killed(noted: Noted, wrong: type) -> None:
    assert noted.failed.get(wrong.__name__) == [KILLED]
    assert wrong_file_connectors.WRONG[wrong] in noted.reasons[wrong.__name__]
