"""The library's own session within the Spark that all tests share, and tables in a few words."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from schema_core.catalog.objects import CatalogTable
from schema_core.catalog.resolve import resolve_table
from schema_core.environment.planner import BoundTable
from schema_core.environment.settings import EnvironmentSettings
from schema_core.environment.table_environment import TableEnvironment
from schema_core.paths import ObjectIdentifier
from schema_core.schema.resolve import SchemaResolver
from schema_core.schema.unresolved import Schema

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture(scope="session")
def session(spark: SparkSession) -> SparkSession:
    """A session with the settings that keep Flink's meaning."""
    from schema_core.pipeline.session import spark_session

    assert spark is not None
    return spark_session()


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
    """A batch environment over the shared Spark."""
    assert session is not None
    return TableEnvironment.create(EnvironmentSettings.in_batch_mode())
