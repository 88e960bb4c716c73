"""The Spark session that jobs run in: one a process, apart from any session of the user's own.

ANSI mode is off, since Flink wraps integers around, cuts casts between numbers, and gives NULL
for a DECIMAL that overflows, as Spark does without it; where Flink is strict (a text that is no
number, a whole number divided by zero) the generated SQL raises the error itself. Names count with
their case, the time zone is always set, and TIME is a type.
"""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from schema_core.errors import ExternalError, NotFoundError
from schema_core.pipeline.computed import register_computed
from schema_core.pipeline.java import find_java

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: What a session of ours says whatever the process says: it decides the meaning of expressions.
MEANING: Mapping[str, str] = {
    "spark.sql.ansi.enabled": "false",
    "spark.sql.caseSensitive": "true",
    "spark.sql.timestampType": "TIMESTAMP_LTZ",
    "spark.sql.timeType.enabled": "true",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
    "spark.sql.decimalOperations.allowPrecisionLoss": "true",
    "spark.sql.legacy.timeParserPolicy": "CORRECTED",
    "spark.sql.mapKeyDedupPolicy": "LAST_WIN",
    "spark.sql.execution.arrow.pyspark.validateSchema.enabled": "true",
}

#: How Spark is started where nobody has started it: quiet, local, without a web page.
START: Mapping[str, str] = {
    "spark.master": "local[*]",
    "spark.app.name": "schema_core",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.sql.shuffle.partitions": "8",
    "spark.driver.extraJavaOptions": (
        f"-Dlog4j2.configurationFile={Path(__file__).with_name('quiet.properties')}"
    ),
}


@cache
def spark_session() -> SparkSession:
    """The session of this process; Spark is started if it does not run yet.

    A session that the user has made is left as it is: ours shares its Spark, not its settings.

    Raises:
        NotFoundError: with code `no-spark` or `no-java` where one of the two is missing.
        ExternalError: with code `spark-start` where Spark does not start.
    """
    try:
        from pyspark.sql import SparkSession
    except ImportError as error:
        raise NotFoundError(
            f"pyspark cannot be loaded: {error}",
            code="no-spark",
            hint="pip install 'schema-core[spark]'",
        ) from error
    running = SparkSession.getActiveSession()
    session = (running or start({})).newSession()
    for key, value in MEANING.items():
        session.conf.set(key, value)
    register_computed(session)
    return session


def start(settings: Mapping[str, str]) -> SparkSession:
    """Start Spark with these settings besides our own.

    Raises:
        NotFoundError: with code `no-java`.
        ExternalError: with code `spark-start` where Spark does not start.
    """
    from pyspark.sql import SparkSession

    os.environ["JAVA_HOME"] = str(find_java().home)
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    logging.getLogger("SQLQueryContextLogger").setLevel(logging.CRITICAL)
    builder = SparkSession.builder
    for key, value in {**START, **settings, **_given(), **MEANING}.items():
        builder = builder.config(key, value)
    try:
        session = builder.getOrCreate()
    except Exception as error:
        raise ExternalError(f"Spark does not start: {error}", code="spark-start") from error
    return session


def _given() -> dict[str, str]:
    """Settings of the user's: ``SCHEMA_CORE_SPARK="spark.master=local[2] ..."``."""
    words = os.environ.get("SCHEMA_CORE_SPARK", "").split()
    return dict(word.split("=", 1) for word in words if "=" in word)
