"""A REST catalog of Iceberg on loopback: the server of Iceberg's own tests, over SQLite.

Maven fetches its jars; Hadoop's classes are those of the installed Spark. `why_not` returns the
reason if it is not available.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path

import pyspark

from fuzz.server_processes import (
    JAVA,
    classpath,
    free_port,
    is_open,
    missing_programs,
    start,
    stop,
    wait,
)

VERSION = "1.10.0"
ARTIFACTS = (
    f"org.apache.iceberg:iceberg-core:{VERSION}",
    f"org.apache.iceberg:iceberg-core:{VERSION}:tests",
    f"org.apache.iceberg:iceberg-open-api:{VERSION}:test-fixtures",
    "org.eclipse.jetty:jetty-servlet:11.0.24",
    "org.xerial:sqlite-jdbc:3.50.3.0",
)
MAIN = "org.apache.iceberg.rest.RESTCatalogServer"


@lru_cache(maxsize=1)
def why_not() -> str | None:
    """Return why no server can be started here, or None."""
    if (reason := missing_programs()) is not None:
        return reason
    try:
        _jars()
    except (OSError, subprocess.SubprocessError) as error:
        return f"Maven has no jars of Iceberg: {error}"
    return None


@lru_cache(maxsize=1)
def _jars() -> str:
    spark = Path(pyspark.__file__).parent / "jars"
    needed = [path for name in ("hadoop-client-*", "log4j-*") for path in spark.glob(f"{name}.jar")]
    return os.pathsep.join(map(str, (*classpath(*ARTIFACTS), *needed)))


@contextmanager
def server() -> Iterator[str]:
    """Run a server with an empty catalog until the block is left; yield its URL."""
    folder = Path(tempfile.mkdtemp(prefix="schema-core-iceberg-"))
    port = free_port()
    environment = {
        **os.environ,
        "CATALOG_WAREHOUSE": str(folder / "warehouse"),
        "CATALOG_URI": f"jdbc:sqlite:{folder / 'catalog.db'}",
        "CATALOG_REST_PORT": str(port),
    }
    log = folder / "server.log"
    process = start([*JAVA, "-cp", _jars(), MAIN], log, environment)
    try:
        wait(lambda: is_open(port), process, log)
        yield f"http://127.0.0.1:{port}"
    finally:
        stop(process)
        shutil.rmtree(folder, ignore_errors=True)
