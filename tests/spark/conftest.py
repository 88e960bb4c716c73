"""Fixtures: the job session within the Spark that all tests share, and tables of files."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from schema_core.catalog.objects import CatalogTable
from schema_core.catalog.resolve import resolve_table
from schema_core.environment import connector as module
from schema_core.environment.config import EnvironmentSettings
from schema_core.environment.connector import Ability, Connector
from schema_core.environment.options import ConfigOption, integer
from schema_core.environment.planner import BoundTable
from schema_core.environment.table_environment import TableEnvironment
from schema_core.paths import ObjectIdentifier
from schema_core.schema.resolve import SchemaResolver
from schema_core.schema.unresolved import Schema
from schema_core.types import DataType

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from schema_core.spark.connectors import ReadContext, WriteContext
    from schema_core.spark.transactions import Stage


#: Programs that import PyFlink, which `test_pyflink_programs` changes.
collect_ignore = ["pyflink_programs"]


@pytest.fixture(scope="session")
def session(spark: SparkSession) -> SparkSession:
    """A session with the settings for Flink's semantics."""
    from schema_core.spark.session import JobSession

    return JobSession(spark).get()


@pytest.fixture
def table(tmp_path: Path) -> Callable[..., BoundTable]:
    """A filesystem table of a schema; `lines` are put into a file of it."""

    def make(
        schema: Schema,
        form: str = "csv",
        options: Mapping[str, str] | None = None,
        partitions: Sequence[str] = (),
        lines: Sequence[str] = (),
    ) -> BoundTable:
        path = tmp_path / f"a {form} table"
        if lines:
            path.mkdir()
            (path / "rows of it").write_text("\n".join(lines) + "\n", encoding="utf-8")
        every = {"connector": "filesystem", "path": str(path), "format": form, **(options or {})}
        written = CatalogTable(schema, tuple(partitions), options=every)
        resolved = resolve_table(written, SchemaResolver(streaming=False))
        return BoundTable(ObjectIdentifier.of("c", "d", "t"), resolved)

    return make


@pytest.fixture
def environment(session: SparkSession) -> TableEnvironment:
    """A batch environment over the shared Spark, whose statements wait for their jobs."""
    environment = TableEnvironment.create(EnvironmentSettings.in_batch_mode(), spark=session)
    environment.get_config().set("table.dml-sync", "true")
    return environment


@dataclass
class FrameConnector:
    """A connector under test: reads what `frame` makes, and keeps what was written."""

    identifier: str = "frames"
    can_read: bool = True
    can_write: bool = True
    abilities: frozenset[Ability] = frozenset({Ability.OVERWRITE, Ability.PARTITIONS})
    frame: Callable[[SparkSession], object] = lambda session: session.range(0)
    metadata: Mapping[str, DataType] = field(default_factory=dict)
    writable_metadata: frozenset[str] = frozenset()
    options: list[Mapping[str, str]] = field(default_factory=list)
    written: list[list[tuple[object, ...]]] = field(default_factory=list)
    contexts: list[ReadContext | WriteContext] = field(default_factory=list)
    columns: list[str] = field(default_factory=list)
    committed: bool | None = False

    def declared(self, options: Mapping[str, str]) -> Sequence[ConfigOption[Any]]:
        self.options.append(dict(options))
        return (ConfigOption("level", integer, 1), ConfigOption("place", str, None))

    def read(self, context: ReadContext) -> Any:
        self.contexts.append(context)
        return self.frame(context.session)

    def stage(self, context: WriteContext) -> Stage:
        return self

    def write(self, frame: DataFrame, context: WriteContext) -> None:
        self.contexts.append(context)
        self.columns = frame.columns
        self.written.append([tuple(row) for row in frame.collect()])

    def prepare(self) -> None: ...
    def commit(self) -> None:
        self.committed = True

    def abort(self) -> None: ...


@pytest.fixture
def connector(monkeypatch: pytest.MonkeyPatch) -> FrameConnector:
    """The connector of tables with `'connector' = 'frames'`."""
    installed = FrameConnector()
    find = module.find_connector

    def found(options: Mapping[str, str]) -> Connector:
        return installed if options.get("connector") == "frames" else find(options)

    monkeypatch.setattr(module, "find_connector", found)
    return installed
