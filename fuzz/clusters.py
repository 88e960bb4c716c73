"""Jobs on clusters of processes on this machine, whose executors do not have the library.

    python -m fuzz.clusters [local-cluster] [standalone] [submit] [speculation] [demo] [tpch]

`local-cluster` is Spark's cluster for tests, with two executors. `standalone` starts a master and
two workers as processes of their own, and `submit` runs the program on them by ``spark-submit``.
The program is ``tests/spark/cluster_program.py``. `speculation` lets tasks run
twice (``tests/spark/speculation_program.py``); its workers have addresses of their own, since Spark
runs no second attempt on the host of the first. `demo` runs that of the README on them, and `tpch`
the queries of TPC-H at scale 0.1, whose rows must be those of plain Spark on the same
cluster; it needs DuckDB (see ``tests/benchmarks/bench_tpc.py``), which may be in PYTHONPATH. The
Python of the executors has the packages of this environment, but not the library; the event logs
are searched for the secrets of tables.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pyspark

from fuzz.server_processes import free_port, is_open, wait
from schema_core.spark.session.java import find_java
from tests.spark.cluster_program import CANARY, SUBMITTED

ROOT = Path(__file__).parents[1]
PROGRAM = ROOT / "tests" / "spark" / "cluster_program.py"
SPECULATION = ROOT / "tests" / "spark" / "speculation_program.py"
DEMO = ROOT / "docs" / "examples" / "flights.py"
TPC = ROOT / "tests" / "benchmarks" / "bench_tpc.py"
SPARK = Path(pyspark.__file__).parent
#: How many seconds a program or a process of the cluster may take.
TIMEOUT = 600.0

SETTINGS = {
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    "spark.executor.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    "spark.executor.memory": "512m",
    "spark.executor.cores": "1",
    "spark.ui.showConsoleProgress": "false",
    "spark.ui.enabled": "false",
    "spark.sql.shuffle.partitions": "2",
    "spark.eventLog.enabled": "true",
    "spark.eventLog.compress": "false",
}

#: What the event log has of a task that runs beside its first attempt, and of one after it.
SECOND_ATTEMPTS = ('"Speculative":true', '"Attempt":1')

WORKER_PYTHON = """\
#!/bin/sh
# The packages of an environment without its editable installs, which site-packages itself has.
PYTHONPATH="{packages}:$PYTHONPATH" exec {python} "$@"
"""


def prepare(folder: Path) -> dict[str, str]:
    """Create what programs need in a directory; return the variables of their environment."""
    python = folder / "python"
    base = Path(sys.base_prefix) / "bin" / f"python{sys.version_info[0]}.{sys.version_info[1]}"
    python.write_text(WORKER_PYTHON.format(packages=SPARK.parent, python=base))
    python.chmod(0o755)
    home = folder / "spark"
    home.mkdir()
    for name in ("bin", "jars", "python"):  # Spark writes below its home
        (home / name).symlink_to(SPARK / name)
    (folder / "events").mkdir()
    kept = {key: os.environ[key] for key in ("PATH", "HOME", "LANG") if key in os.environ}
    return {
        **kept,
        "JAVA_HOME": str(find_java().home),
        "SPARK_HOME": str(home),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_NO_DAEMONIZE": "true",
        "PYSPARK_PYTHON": str(python),
        "PYSPARK_DRIVER_PYTHON": sys.executable,
    }


def settings_of(folder: Path) -> list[str]:
    every = {**SETTINGS, "spark.eventLog.dir": f"file://{folder}/events"}
    return [f"{key}={value}" for key, value in every.items()]


def ran(command: list[str], environment: Mapping[str, str], folder: Path) -> str:
    """Return what a program has printed, and search the event log that it wrote."""
    done = subprocess.run(
        command, env=environment, cwd=folder, capture_output=True, text=True, check=False,
        timeout=TIMEOUT,
    )  # fmt: skip
    if done.returncode:
        raise SystemExit(f"{command[0]} failed: {done.stdout[-1000:]}{done.stderr[-6000:]}")
    files = (path for path in (folder / "events").rglob("*") if path.is_file())
    logs = [file.read_text(errors="replace") for file in files]
    assert any("SparkListenerSQLExecutionStart" in log for log in logs), "no event log"
    assert not any(CANARY in log for log in logs), "a secret is in the event log"
    return done.stdout


def run_local_cluster(folder: Path) -> str:
    """Run the program on Spark's cluster for tests."""
    command = [sys.executable, str(PROGRAM), "local-cluster[2,1,1024]", str(folder)]
    return ran([*command, *settings_of(folder)], prepare(folder), folder)


def run_speculation(folder: Path) -> str:
    """Run tasks twice; return how many had another attempt."""
    output = run_standalone(folder, SPECULATION, ("127.0.0.1", "127.0.0.2"))
    logs = (path.read_text(errors="replace") for path in (folder / "events").rglob("*")
            if path.is_file())  # fmt: skip
    starts = [line for log in logs for line in log.splitlines() if "SparkListenerTaskStart" in line]
    counts = [sum(part in line for line in starts) for part in SECOND_ATTEMPTS]
    return f"{counts[0]} speculative, {counts[1]} repeated\n{output}"


def run_standalone(
    folder: Path, program: Path = PROGRAM, hosts: Sequence[str] = ("127.0.0.1", "127.0.0.1")
) -> str:
    """Run a program on a master and workers with these addresses."""
    environment = prepare(folder)
    with standalone(environment, folder, hosts) as master:
        command = [sys.executable, str(program), master, str(folder), *settings_of(folder)]
        return ran(command, environment, folder)


def run_submit(folder: Path) -> str:
    """Run the program by ``spark-submit`` on a master and two workers."""
    environment = prepare(folder)
    with standalone(environment, folder) as master:
        given = [part for item in settings_of(folder) for part in ("--conf", item)]
        command = [str(SPARK / "bin" / "spark-submit"), "--master", master, *given]
        return ran([*command, str(PROGRAM), SUBMITTED, str(folder)], environment, folder)


def run_demo(folder: Path) -> str:
    """Run the demo on a master and two workers; return its last line."""
    return run_configured([str(DEMO)], folder).splitlines()[-1]


def run_tpch(folder: Path) -> str:
    """Run TPC-H on a master and two workers; return the numbers of the queries with equal rows."""
    command = [str(TPC), "tpch", "--scale", "0.1", "--pairs", "1", "--data", str(folder / "data")]
    lines = run_configured(command, folder).splitlines()
    rows = [line.strip("| ").split(" | ") for line in lines if re.match(r"\| \d", line)]
    wrong = [row for row in rows if row[-1] != "equal"]
    if wrong or not rows:
        raise SystemExit(f"queries with other rows than plain Spark: {wrong}")
    return f"{len(rows)} queries"


def run_configured(command: list[str], folder: Path) -> str:
    """Run a program that gets its settings from a variable on a master and two workers."""
    environment = prepare(folder)
    with standalone(environment, folder) as master:
        settings = " ".join([f"spark.master={master}", *settings_of(folder)])
        # settings are separated by blanks there
        settings = settings.replace("-XX:TieredStopAtLevel=1 ", "")
        given = {"SCHEMA_CORE_SPARK": settings, "PYTHONPATH": os.environ.get("PYTHONPATH", "")}
        return ran([sys.executable, *command], environment | given, folder)


@contextmanager
def standalone(
    environment: Mapping[str, str],
    folder: Path,
    hosts: Sequence[str] = ("127.0.0.1", "127.0.0.1"),
) -> Iterator[str]:
    """Start a master, and a worker for each host; yield the master's address, and end them."""
    port = free_port()
    master = f"spark://127.0.0.1:{port}"
    deploy = "org.apache.spark.deploy"
    commands = [
        [f"{deploy}.master.Master", "--host", "127.0.0.1", "--port", str(port),
         "--webui-port", "0"],
        *([f"{deploy}.worker.Worker", "--host", host, "--cores", "1", "--memory", "1g",
           "--webui-port", "0", "--work-dir", str(folder / f"work{number}"), master]
          for number, host in enumerate(hosts)),
    ]  # fmt: skip
    started: list[subprocess.Popen[bytes]] = []
    try:
        path = folder / "cluster.log"
        with path.open("wb") as log:
            for command in commands:
                every = [str(SPARK / "bin" / "spark-class"), *command]
                started.append(
                    subprocess.Popen(every, env=environment, cwd=folder, stdout=log, stderr=log)
                )
                if len(started) == 1:
                    wait(lambda: is_open(port), started[0], path)
        yield master
    finally:
        for item in reversed(started):
            item.terminate()
        for entry in started:
            entry.wait(60)


MODES: Mapping[str, Callable[[Path], str]] = {
    "local-cluster": run_local_cluster,
    "standalone": run_standalone,
    "submit": run_submit,
    "speculation": run_speculation,
    "demo": run_demo,
    "tpch": run_tpch,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("modes", nargs="*", choices=[[], *MODES], default=[*MODES])
    for mode in parser.parse_args().modes:
        began = time.monotonic()
        with TemporaryDirectory(prefix="schema_core-cluster-") as folder:
            output = MODES[mode](Path(folder))
        print(mode, *output.split(), f"after {time.monotonic() - began:.0f} seconds", flush=True)


if __name__ == "__main__":
    main()
