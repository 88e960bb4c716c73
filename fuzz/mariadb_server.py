"""A MariaDB server of our own: on a socket, in a directory that goes with it.

Debian's packages `mariadb-server-core` and `mariadb-client-core` are enough; neither starts a
service. Without them, `why_not` returns the reason; nothing is installed here. The server never
runs as root: for root it runs as the user `nobody`.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from fuzz.server_processes import start, stop, wait

#: The programs of the server and of its client; Debian's server is not on the path of users.
PROGRAMS = ("mariadbd", "mariadb")
PATH = f"{os.environ.get('PATH', '')}:/usr/sbin"
#: No network, no accounts, and nothing is kept beyond the server.
SETTINGS = (
    "--no-defaults", "--skip-networking", "--skip-grant-tables", "--skip-log-bin",
    "--innodb-flush-log-at-trx-commit=0", "--innodb-fast-shutdown=2", "--innodb-doublewrite=0",
    "--character-set-server=utf8mb4",
)  # fmt: skip


def why_not() -> str | None:
    """Why no server can be started here, or None."""
    if all(shutil.which(program, path=PATH) for program in PROGRAMS):
        return None
    return "MariaDB is not installed: apt-get install mariadb-server-core mariadb-client-core"


@contextmanager
def server() -> Iterator[Path]:
    """A server that runs until the block is left: its socket."""
    folder = Path(tempfile.mkdtemp(prefix="schema-core-mariadb-"))
    data, socket, log = folder / "data", folder / "socket", folder / "log"
    data.mkdir()
    arguments = [*SETTINGS, f"--datadir={data}", f"--socket={socket}", f"--pid-file={folder}/pid"]
    if os.geteuid() == 0:
        arguments.append("--user=nobody")
        for path in (folder, data):
            shutil.chown(path, "nobody")
    process = start([shutil.which("mariadbd", path=PATH) or "", *arguments], log)
    try:
        wait(socket.exists, process, log)
        yield socket
    finally:
        stop(process)
        shutil.rmtree(folder, ignore_errors=True)


def client(socket: Path, script: str) -> tuple[str, str]:
    """Run a script, also after statements that fail; return what it printed, and the errors."""
    program = shutil.which("mariadb", path=PATH) or ""
    command = [program, "--no-defaults", f"--socket={socket}", "--force", "--raw", "-N"]
    ran = subprocess.run(command, input=script, capture_output=True, text=True, check=False)
    return ran.stdout, ran.stderr
