"""A broker of Kafka and a schema registry of our own, on loopback at free ports.

The jars come from the local repository of Maven, which fetches them once: Apache Kafka, the package
of Spark for Kafka, and Apicurio Registry, whose paths below `REGISTRY_PATH` are Confluent's.
`why_not` returns the reason if they are not available.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tarfile
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from importlib.metadata import version
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

from fuzz.server_processes import (
    JAVA,
    classpath,
    fetch,
    free_port,
    is_open,
    missing_programs,
    start,
    stop,
    wait,
)

KAFKA = "org.apache.kafka:kafka_2.13:3.9.1"
REGISTRY = "io.apicurio:apicurio-registry-app:2.6.13.Final"
REGISTRY_PATH = "/apis/ccompat/v7"
#: The package of Spark for Kafka and what it needs besides Spark, and the versions of the package
#: that are tried: the latest may be older than the installed Spark.
SPARK = (
    "org.apache.spark:spark-sql-kafka-0-10_2.13:{spark}",
    "org.apache.spark:spark-token-provider-kafka-0-10_2.13:{spark}",
    "org.apache.kafka:kafka-clients:3.9.1",
    "org.apache.commons:commons-pool2:2.12.0",
)
SPARK_VERSIONS = (version("pyspark"), "4.2.0")


@dataclass(frozen=True, slots=True)
class Servers:
    """How the servers are reached."""

    brokers: str
    registry: str


@lru_cache(maxsize=1)
def why_not() -> str | None:
    """Return why no broker and registry can be started here, or None."""
    if (reason := missing_programs()) is not None:
        return reason
    try:
        _kafka_jars(), _registry_archive(), spark_jars()
    except (OSError, subprocess.SubprocessError) as error:
        return f"Maven has no jars of Kafka: {error}"
    return None


@contextmanager
def servers() -> Iterator[Servers]:
    """Run a broker and a registry until the block is left."""
    with broker() as started:
        process, registry = _start_registry(started.folder)
        try:
            yield Servers(started.address, registry)
        finally:
            stop(process)


class Broker:
    """A broker that can be killed and started again, with its messages in `folder`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._port = free_port()
        self.address = f"127.0.0.1:{self._port}"
        self._java, self._settings = _format_broker(folder, self.address)
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        log = self.folder / "broker.log"
        self._process = start([*self._java, "kafka.Kafka", str(self._settings)], log)
        wait(lambda: is_open(self._port), self._process, log)

    def kill(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()

    def stop(self) -> None:
        if self._process is not None:
            stop(self._process)


@contextmanager
def broker() -> Iterator[Broker]:
    """Run a broker until the block is left."""
    folder = Path(tempfile.mkdtemp(prefix="schema-core-kafka-"))
    result = Broker(folder)
    try:
        result.start()
        yield result
    finally:
        result.stop()
        shutil.rmtree(folder, ignore_errors=True)


@lru_cache(maxsize=1)
def spark_jars() -> tuple[Path, ...]:
    """Return the jars that a Spark needs for the connectors of Kafka."""
    for spark in SPARK_VERSIONS:
        jars = [fetch(name.format(spark=spark)) for name in SPARK]
        if all(jars):
            return tuple(filter(None, jars))
    raise FileNotFoundError(f"{SPARK[0]} in the versions {', '.join(SPARK_VERSIONS)}")


# --- jars -----------------------------------------------------------------------------------------


@lru_cache(maxsize=1)
def _kafka_jars() -> tuple[Path, ...]:
    """Return the jars of a broker."""
    return classpath(KAFKA)


def _registry_archive() -> Path:
    if (archive := fetch(REGISTRY, "tar.gz", "all")) is None:
        raise FileNotFoundError(REGISTRY)
    return archive


# --- processes ------------------------------------------------------------------------------------


def _format_broker(folder: Path, address: str) -> tuple[list[str], Path]:
    """Return the command of Java with the classes of a broker, and the file of its settings."""
    controller = free_port()
    settings = {
        "process.roles": "broker,controller",
        "node.id": "1",
        "controller.quorum.voters": f"1@127.0.0.1:{controller}",
        "listeners": f"PLAINTEXT://{address},CONTROLLER://127.0.0.1:{controller}",
        "advertised.listeners": f"PLAINTEXT://{address}",
        "controller.listener.names": "CONTROLLER",
        "listener.security.protocol.map": "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT",
        "log.dirs": str(folder / "messages"),
        "offsets.topic.replication.factor": "1",
        "transaction.state.log.replication.factor": "1",
        "transaction.state.log.min.isr": "1",
        "group.initial.rebalance.delay.ms": "0",
    }
    file = folder / "server.properties"
    file.write_text("".join(f"{key}={value}\n" for key, value in settings.items()))
    jars = os.pathsep.join(map(str, _kafka_jars()))
    java = [*JAVA, "-cp", jars]
    form = ["kafka.tools.StorageTool", "format", "-t", "AAAAAAAAQACAAAAAAAAAAg", "-c", str(file)]
    subprocess.run([*java, *form], check=True, capture_output=True)
    return java, file


def _start_registry(folder: Path) -> tuple[subprocess.Popen[bytes], str]:
    home, port = folder / "registry", free_port()
    with tarfile.open(_registry_archive()) as archive:
        archive.extractall(home, filter="data")
    (program,) = home.glob("*-runner.jar")
    address = f"http://127.0.0.1:{port}{REGISTRY_PATH}"
    settings = [f"-Dquarkus.http.port={port}", "-Dquarkus.http.host=127.0.0.1"]
    java = [*JAVA, *settings, "-jar", str(program)]
    process = start(java, folder / "registry.log")

    def answers() -> bool:
        try:
            with urlopen(f"{address}/subjects", timeout=5) as response:
                return bool(response.status == 200)
        except (URLError, OSError):
            return False

    wait(answers, process, folder / "registry.log")
    return process, address
