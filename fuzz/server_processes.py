"""Processes of servers on loopback, and the jars of those in Java, which Maven fetches."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

#: Seconds until a server runs, and until Maven has fetched a jar.
TIMEOUT = 90
FETCH_TIMEOUT = 400
#: Options of Java for a small server that runs for minutes.
JAVA = ("java", "-Xmx512m", "-XX:TieredStopAtLevel=1")


def missing_programs() -> str | None:
    """Return why no server can be started here, or None."""
    missing = [program for program in ("mvn", "java") if not shutil.which(program)]
    return f"not on the PATH: {', '.join(missing)}" if missing else None


# --- jars -----------------------------------------------------------------------------------------


def fetch(name: str, kind: str = "jar", classifier: str = "") -> Path | None:
    """Return the file of an artifact in Maven's local repository, to which it is fetched."""
    group, artifact, number = name.split(":")
    end = f"-{classifier}" if classifier else ""
    folder = Path.home() / ".m2" / "repository" / group.replace(".", "/") / artifact / number
    file = folder / f"{artifact}-{number}{end}.{kind}"
    if not file.exists():
        coordinates = f"{name}:{kind}:{classifier}".rstrip(":")
        _maven("dependency:get", "-Dtransitive=false", f"-Dartifact={coordinates}")
    return file if file.exists() else None


def classpath(*names: str) -> tuple[Path, ...]:
    """Return the jars of artifacts, ``group:artifact:version[:classifier]``, and what they need.

    Raises:
        FileNotFoundError: where Maven does not have them.
    """
    tags = ("groupId", "artifactId", "version", "classifier")
    parts = [dict(zip(tags, name.split(":"), strict=False)) for name in names]
    elements = ["".join(f"<{tag}>{text}</{tag}>" for tag, text in part.items()) for part in parts]
    dependencies = "".join(f"<dependency>{element}</dependency>" for element in elements)
    project = (
        '<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>'
        "<groupId>server</groupId><artifactId>server</artifactId><version>1</version>"
        f"<dependencies>{dependencies}</dependencies></project>"
    )
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "pom.xml").write_text(project)
        output = Path(folder) / "classpath"
        if not _maven(
            "dependency:build-classpath", f"-Dmdep.outputFile={output}", cwd=Path(folder)
        ):
            raise FileNotFoundError(", ".join(names))
        return tuple(map(Path, output.read_text().strip().split(os.pathsep)))


def _maven(*arguments: str, cwd: Path | None = None) -> bool:
    command = ["mvn", "-q", "-B", *arguments]
    ran = subprocess.run(command, check=False, capture_output=True, timeout=FETCH_TIMEOUT, cwd=cwd)
    return ran.returncode == 0


# --- processes ------------------------------------------------------------------------------------


def start(
    command: Sequence[str], log: Path, environment: Mapping[str, str] | None = None
) -> subprocess.Popen[bytes]:
    # on our own path, it may be in a directory that is not readable
    program = shutil.which("setpriv", path=os.defpath)
    parent = [program, "--pdeathsig", "KILL", "--"] if program else []
    with log.open("ab") as file:
        return subprocess.Popen(
            [*parent, *command], stdout=file, stderr=file, cwd=log.parent, env=environment
        )


def stop(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(20)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port


def is_open(port: int) -> bool:
    with socket.socket() as client:
        client.settimeout(1)
        return client.connect_ex(("127.0.0.1", port)) == 0


def wait(is_ready: Callable[[], bool], process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + TIMEOUT
    while time.monotonic() < deadline and process.poll() is None:
        if is_ready():
            return
        time.sleep(0.2)
    raise RuntimeError(f"the server did not start: {log.read_text(errors='replace')[-1000:]}")
