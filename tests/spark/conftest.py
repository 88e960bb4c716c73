"""The library's own session within the Spark that all tests share."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture(scope="session")
def session(spark: SparkSession) -> SparkSession:
    """A session with the settings that keep Flink's meaning."""
    from schema_core.pipeline.session import spark_session

    assert spark is not None
    return spark_session()
