"""The Spark session that tests share, and which tests use it."""

from __future__ import annotations

import gc
import os
import shutil
import sys
from collections.abc import Generator, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from tests.separate_streams import separate_streams
from tests.slow_tests import DRAWN, slow_tests
from tests.support import load_profile

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

load_profile()
separate_streams()

# A disk takes milliseconds for each commit of a database or a journal; memory none.
MEMORY = Path("/dev/shm")
if os.access(MEMORY, os.W_OK) and shutil.disk_usage(MEMORY).free > 4 * 1024**3:
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(MEMORY))

#: The JDBC drivers of Debian, where they are installed.
DRIVERS = {
    name: Path(f"/usr/share/java/{name}.jar")
    for name in ("postgresql", "sqlite-jdbc")
    if Path(f"/usr/share/java/{name}.jar").exists()
}

#: The name of the shared session.
NAME = "schema_core tests"
#: Minimal: two threads, no web UI, a JVM tuned for fast startup.
SPARK = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.shuffle.partitions": "2",
    "spark.default.parallelism": "2",
    "spark.sql.session.timeZone": "UTC",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.memory": "2g",
    "spark.driver.extraJavaOptions": (
        # without its own size, the code cache of the first compiler is full after some files
        "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=240m -XX:+UseSerialGC -Xmn1g"
        " -Dderby.stream.error.file=/dev/null -Dderby.locks.deadlockTimeout=1"
        # Hadoop starts a process for the permissions of each file; this way one, not two
        " -Djdk.lang.Process.launchMechanism=VFORK"
    ),
    "spark.sql.timeType.enabled": "true",
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
    "spark.sql.execution.arrow.pyspark.validateSchema.enabled": "true",
    # Tables are in a Hive metastore, which starts with the first one and ends with its JVM.
    "spark.sql.catalogImplementation": "hive",
    "spark.hadoop.javax.jdo.option.ConnectionURL": "jdbc:derby:memory:metastore;create=true",
    "spark.jars": ",".join(map(str, DRIVERS.values())),
}


def pytest_addoption(parser: pytest.Parser) -> None:
    """Register the option to run the tests of jobs over Spark Connect (`tests/spark`)."""
    parser.addoption("--connect", action="store_true", help="run jobs over Spark Connect")


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Collect without garbage collection, and exclude the collected tests from later ones.

    Every test is an object that lives until the end: each pass would visit half a million of them.
    Later passes are rarer than by default, which takes a tenth off the time of tests without Spark.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.freeze()
        gc.set_threshold(50_000, 20, 50)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark tests that use the session as `spark`, and run their files first; mark slow tests.

    Workers take files in this order. The files with Spark take longest: at the end, one worker
    would wait for the other.
    """
    listed = slow_tests()
    for item in items:
        if "spark" in getattr(item, "fixturenames", ()):
            item.add_marker("spark")
        limit = DRAWN if item.get_closest_marker("drawn") else 0.0
        if listed.get(item.nodeid, 0.0) > limit:
            item.add_marker("slow")
    first = {item.path for item in items if item.get_closest_marker("spark")}
    items.sort(key=lambda item: item.path not in first)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    """Fail a test that starts Spark without the fixture `spark`, and stop it.

    Later tests would get its session, which has none of the settings above, and fail instead of it.
    """
    running = _spark_context()
    try:
        return (yield)
    finally:
        started = _spark_context()
        if started is not None and running is None and started.appName != NAME:
            started.stop()
            pytest.fail("starts Spark: use the fixture `spark`")


def _spark_context() -> Any:
    """Return the SparkContext of this process, if there is one."""
    module = sys.modules.get("pyspark.core.context")
    return None if module is None else module.SparkContext._active_spark_context


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """Return the session shared by all tests of a worker: a JVM takes seconds to start."""
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    builder = SparkSession.builder.master("local[2]").appName(NAME)
    for key, value in SPARK.items():
        builder = builder.config(key, value)
    warehouse = tmp_path_factory.mktemp("warehouse")
    session = builder.config("spark.sql.warehouse.dir", str(warehouse)).getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    # PySpark looks this class up fourteen times for each Java exception, by packages of which py4j
    # asks the JVM, which searches all jars of Spark each time
    jvm: Any = session._jvm
    types = SimpleNamespace(TypeUtil=jvm.py4j.reflection.TypeUtil)
    jvm.py4j = SimpleNamespace(reflection=types)
    yield session
    session.stop()
