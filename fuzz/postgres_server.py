"""A PostgreSQL server of our own: on loopback, at a free port, in a directory that goes with it.

Debian's package `postgresql` is enough. Without one, `why_not` returns the reason; nothing is
installed here. The server never runs as root: for root it runs as the user `postgres`, or `nobody`.
"""

from __future__ import annotations

import os
import pwd
import secrets
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from fuzz.server_processes import free_port, wait

#: Where Debian keeps the programs that are not on the path, newest last.
DEBIAN = "/usr/lib/postgresql"
#: What the log has when the server takes connections.
READY = "ready to accept connections"
#: Nothing is kept beyond the server, so nothing is forced to the disk.
SETTINGS = ("fsync=off", "full_page_writes=off", "listen_addresses=127.0.0.1")


@dataclass(frozen=True, slots=True)
class Server:
    """How a server is reached: its url has no password, as the option `url` of a catalog wants."""

    url: str
    username: str
    password: str


def why_not() -> str | None:
    """Why no server can be started here, or None."""
    try:
        import psycopg  # noqa: F401
    except ImportError:
        return "psycopg is not installed: pip install 'schema-core[postgresql]'"
    if not _program("initdb") or not _program("postgres"):
        return "PostgreSQL is not installed: apt-get install postgresql"
    return None


@contextmanager
def server() -> Iterator[Server]:
    """A server that runs until the block is left."""
    folder = Path(tempfile.mkdtemp(prefix="schema-core-postgresql-"))
    try:
        with _running(folder) as reached:
            yield reached
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def client(reached: Server, program: str, *arguments: str) -> str:
    """Run a client program of PostgreSQL, such as pg_dump, and return what it printed."""
    url = urlsplit(reached.url)
    environment = {
        **os.environ,
        "PGHOST": str(url.hostname),
        "PGPORT": str(url.port),
        "PGDATABASE": url.path.removeprefix("/"),
        "PGUSER": reached.username,
        "PGPASSWORD": reached.password,
    }
    ran = subprocess.run(
        [_program(program), *arguments], env=environment, capture_output=True, text=True, check=True
    )
    return ran.stdout


@contextmanager
def _running(folder: Path) -> Iterator[Server]:
    port, password = free_port(), secrets.token_hex(16)
    data, word = folder / "data", folder / "password"
    word.write_text(password)
    as_user = _as_user(folder, word)
    make = [_program("initdb"), "-D", str(data), "-U", "ann", "--pwfile", str(word)]
    make += ["-A", "scram-sha-256", "-E", "UTF8", "--locale=C", "--no-sync"]
    subprocess.run(make, check=True, capture_output=True, cwd=folder, **as_user)
    run = [
        *_with_parent(),
        _program("postgres"),
        "-D",
        str(data),
        "-p",
        str(port),
        "-k",
        str(folder),
    ]
    run += [part for setting in SETTINGS for part in ("-c", setting)]
    log = folder / "log"
    with log.open("wb") as file:
        process: subprocess.Popen[bytes] = subprocess.Popen(
            run, stdout=file, stderr=file, cwd=folder, **as_user
        )
        try:
            wait(lambda: READY in log.read_text(errors="replace"), process, log)
            yield Server(f"postgresql+psycopg://127.0.0.1:{port}/postgres", "ann", password)
        finally:
            process.send_signal(signal.SIGINT)  # a fast shutdown
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.send_signal(signal.SIGQUIT)
                process.wait()


def _program(name: str) -> str:
    """The program of this name, where Debian has it or on the path; empty if there is none."""
    folders = [str(path) for path in sorted(Path(DEBIAN).glob("*/bin"), reverse=True)]
    return shutil.which(name, path=os.pathsep.join([*folders, os.environ.get("PATH", "")])) or ""


def _with_parent() -> list[str]:
    """What makes the server end with us, where we are killed before we can stop it."""
    # on our own path, it may be in a directory that the user of the server cannot read
    program = shutil.which("setpriv", path=os.defpath)
    return [program, "--pdeathsig", "INT", "--"] if program else []


def _as_user(*files: Path) -> dict[str, Any]:
    """Whom the server runs as, if not as ourselves; that user owns the files."""
    if os.geteuid() != 0:
        return {}
    known = {item.pw_name for item in pwd.getpwall()}
    user = pwd.getpwnam("postgres" if "postgres" in known else "nobody")
    for file in files:
        os.chown(file, user.pw_uid, user.pw_gid)
    return {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}
