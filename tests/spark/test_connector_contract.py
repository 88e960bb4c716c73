"""Connectors fulfil the contract; wrong ones fail the test that is meant for them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from schema_core.connectors import Connector
from schema_core.connectors.files.filesystem import FilesystemConnector
from schema_core.testing import ConnectorContract
from schema_core.testing.connector_cases import NAMES, TYPES
from schema_core.testing.connector_contract import RULES
from tests.slow_tests import draw_cases
from tests.spark import wrong_file_connectors
from tests.spark.memory_connector import (
    WRONG,
    CountsNull,
    DropsEmptyStrings,
    FailsForTimes,
    ForgetsPartitionsOfNull,
    GroupsByACollation,
    IgnoresFields,
    IgnoresFilters,
    IgnoresHints,
    IgnoresTheLimit,
    LeavesFiles,
    MemoryConnector,
    MixesUpFields,
    RepeatsMicroBatches,
    SortsNullLast,
    StoresAbortedRows,
    TruncatesTimes,
)
from tests.spark.wrong_file_connectors import WRONG_JOBS
from tests.test_docs import blocks

ROOT = Path(__file__).parents[2]

#: Tests of which `make test` runs one wrong connector each.
DRAWN = {"test_micro_batches_are_written_as_guaranteed", "test_an_aborted_write_leaves_nothing"}

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
    test_a_killed_process_leaves_all_rows_or_none = test_recovery = test_clean_up = None  # type: ignore[assignment]
    test_an_aborted_write_leaves_nothing = test_a_stream_continues_where_it_ended = None  # type: ignore[assignment]
    test_micro_batches_are_written_as_guaranteed = test_changes_leave_their_rows = None  # type: ignore[assignment]
    test_processes_write_at_the_same_time = test_options_of_hints_are_used = None  # type: ignore[assignment]
    test_the_columns_that_insert_names_are_written = None  # type: ignore[assignment]
    test_aggregates_are_those_of_the_rows = None  # type: ignore[assignment]
    test_partitions_that_filters_select_have_all_rows = None  # type: ignore[assignment]
    test_first_rows_are_those_of_the_order = None  # type: ignore[assignment]
    test_buckets = test_accepted_filters_and_limits_are_applied = None  # type: ignore[assignment]


class TestOrc(FormatContract):
    format = "orc"
    types = MICROSECONDS
    names = [name for name in NAMES if "`" not in name]  # orc files cannot hold it


class TestJson(FormatContract):
    format = "json"
    changelog_options = {"format": "debezium-json"}
    test_changes_leave_their_rows = FilesContract.test_changes_leave_their_rows  # type: ignore[assignment]


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
    """A plugin of pytest: the tests that failed, and why."""

    def __init__(self) -> None:
        self.failed: list[str] = []
        self.reason = ""

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self.failed.append(report.nodeid.rpartition("::")[2])
            self.reason = report.longreprtext


KILLED = "test_a_killed_process_leaves_all_rows_or_none"

#: The head of a module of tests of a wrong connector.
HEAD = """
from tests.spark import memory_connector as memory, wrong_file_connectors as files
from tests.spark.test_connector_contract import FilesContract, MemoryContract, pytest

def session(cls):
    from pyspark.sql import SparkSession
    return SparkSession.getActiveSession()
"""

MEMORY = """
class TestWrong(MemoryContract):
    types = {name: MemoryContract.types[name] for name in
             ('int', 'string', 'empty string', 'date', 'timestamp(3)', 'row')}
    spark_session = pytest.fixture(scope='class')(classmethod(session))
    def make_connector(self): return memory.%s()
"""

FILES = """
class TestWrong(FilesContract):
    format = 'csv'
    stream_options = {'source.monitor-interval': '50 ms'}
    stream_timeout = 25.0
    spark_session = pytest.fixture(scope='class')(classmethod(session))
    def make_connector(self): return files.%s()
    def _kills(self, *given):
        return [kill for kill in super()._kills(*given) if 'INSERT INTO' in kill.place]
"""


def failures(wrong: type, tests: str, test: str, directory: Path) -> Noted:
    """Run a test of the contract for a wrong connector, in this process with its Spark."""
    file = directory / "test_wrong.py"
    file.write_text(HEAD + tests % wrong.__name__)
    result = Noted()
    options = ["-q", "-s", "--no-header", "--no-summary", "-p", "no:cacheprovider"]
    place = f"{file}::TestWrong::{test}"
    pytest.main([*options, "-c", str(ROOT / "pyproject.toml"), place], plugins=[result])
    assert [test] == result.failed
    assert f"ability: {RULES[test].ability}" in result.reason
    assert f"page: docs/{RULES[test].page}" in result.reason
    return result


#: Wrong connector -> a part of the message of the test that fails.
REASONS = {
    DropsEmptyStrings: "empty string: STRING, ''",
    TruncatesTimes: "timestamp(3): TIMESTAMP(3), TIMESTAMP '",
    FailsForTimes: "timestamp(3): TIMESTAMP(3): the job failed: ValueError: no times",
    IgnoresFilters: "the accepted filter",
    IgnoresFields: "returned column 'r' of type struct<a:int,b:int,",
    MixesUpFields: "wrong values of fields: r.b; q.a; r.a + q.b; CASE",
    IgnoresTheLimit: "more rows than the limit 1",
    IgnoresHints: "the options of the hint are ignored: ['place']",
    RepeatsMicroBatches: "rows are doubled: [1, 1, 2, 2]",
    StoresAbortedRows: "rows of an aborted job are visible",
    CountsNull: "COUNT(n)",
    GroupsByACollation: "GROUP BY s",
    SortsNullLast: "ORDER BY n LIMIT",
    ForgetsPartitionsOfNull: "p2 IS NULL",
    LeavesFiles: "an aborted job leaves files: ['staged-",
}


@pytest.mark.parametrize("wrong", draw_cases(list(WRONG), lambda wrong: {WRONG[wrong]} & DRAWN))
def test_a_wrong_connector_fails_the_test_that_is_meant_for_it(
    spark: SparkSession, tmp_path: Path, wrong: type[MemoryConnector]
) -> None:
    result = failures(wrong, MEMORY, WRONG[wrong], tmp_path)

    assert REASONS.get(wrong, "") in result.reason
    if wrong in (DropsEmptyStrings, TruncatesTimes, FailsForTimes):
        assert "int: INT" not in result.reason


@pytest.mark.slow
@pytest.mark.parametrize("wrong", WRONG_JOBS, ids=lambda item: item.__name__)
def test_a_wrong_job_is_found(spark: SparkSession, tmp_path: Path, wrong: type) -> None:
    test, reason = WRONG_JOBS[wrong]

    assert reason in failures(wrong, FILES, test, tmp_path).reason


@pytest.mark.slow
@pytest.mark.parametrize("wrong", wrong_file_connectors.WRONG, ids=lambda item: item.__name__)
def test_a_wrong_commit_is_found_when_a_process_is_killed(
    spark: SparkSession, tmp_path: Path, wrong: type
) -> None:
    reason = failures(wrong, FILES, KILLED, tmp_path).reason

    assert wrong_file_connectors.WRONG[wrong] in reason


@pytest.mark.slow
class TestEveryCallOfACommit(FilesContract):
    """A process is killed before each call of a commit that changes files."""

    format = "json"
    commit_kills = 40
    stream_options = {"source.monitor-interval": "50 ms"}


def test_every_test_has_a_rule() -> None:
    tests = {name for name in dir(ConnectorContract) if name.startswith("test_")}
    pages = {rule.page.partition("#") for rule in RULES.values()}

    assert tests == RULES.keys()
    for page, _, anchor in pages:
        headings = re.findall(r"(?m)^#+ (.*)$", (ROOT / "docs" / page).read_text("utf-8"))
        assert anchor in {heading.lower().replace(" ", "-") for heading in headings}
