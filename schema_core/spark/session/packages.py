"""Packages with data sources of Spark, and whether a Spark started here has them."""

from __future__ import annotations

import os
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path

#: Data source -> its package; ``{spark}`` is Spark's version.
PACKAGES: Mapping[str, str] = {
    "avro": "org.apache.spark:spark-avro_2.13:{spark}",
    "bigquery": "com.google.cloud.spark:spark-bigquery-with-dependencies_2.13",
    "delta": "io.delta:delta-spark_2.13",
    "hudi": "org.apache.hudi:hudi-spark-bundle_2.13",
    "iceberg": "org.apache.iceberg:iceberg-spark-runtime_2.13",
    "kafka": "org.apache.spark:spark-sql-kafka-0-10_2.13:{spark}",
    "mongodb": "org.mongodb.spark:mongo-spark-connector_2.13",
    "snowflake": "net.snowflake:spark-snowflake_2.13",
}

#: Environment variables with settings of a started Spark.
SETTINGS = ("PYSPARK_SUBMIT_ARGS", "SCHEMA_CORE_SPARK")


def package_of(source: str) -> str:
    """Return the coordinates of a data source's package, for the installed pyspark.

    >>> package_of("delta")
    'io.delta:delta-spark_2.13'
    """
    try:
        spark = version("pyspark")
    except PackageNotFoundError:
        spark = "<version of pyspark>"
    return PACKAGES[source].format(spark=spark)


def has_package(source: str, environment: Mapping[str, str] | None = None) -> bool:
    """Return whether jars or settings of a Spark started here name a `PACKAGES` source's package.

    `environment` replaces the process's variables.
    """
    variables = os.environ if environment is None else environment
    artifact = PACKAGES[source].split(":")[1]
    homes = [Path(home)] if (home := variables.get("SPARK_HOME")) else []
    pyspark = find_spec("pyspark")
    if pyspark is not None and pyspark.origin is not None:
        homes.append(Path(pyspark.origin).parent)
    if any(jar for home in homes for jar in (home / "jars").glob(f"{artifact}-*.jar")):
        return True
    directories = [Path(variables.get("SPARK_CONF_DIR") or ""), *(home / "conf" for home in homes)]
    files = [directory / "spark-defaults.conf" for directory in directories]
    texts = [variables.get(name, "") for name in SETTINGS]
    texts += [file.read_text(errors="replace") for file in files if file.is_file()]
    return any(artifact in text for text in texts)
