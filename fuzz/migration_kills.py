"""Migrations whose process is killed at a random moment: each is applied as a whole or not at all.

    python -m fuzz.migration_kills --kills 50
    python -m fuzz.migration_kills --kills 50 --store postgresql

Processes apply all migrations of a directory, and undo them, until they are killed; in about half
of the runs two start at once, and sometimes one of them survives. After each kill the catalog must
be exactly as the migrations of its history leave it, and at the end the processes must reach the
content of a run without kills.
"""

from __future__ import annotations

import argparse
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from fuzz import postgres_server
from schema_core import EnvironmentSettings, TableEnvironment
from schema_core.catalogs import SqlCatalog
from schema_core.migration import CatalogContent, MigrationState, Migrator, diff_catalogs

#: The number of migrations, and how many tables each creates.
MIGRATIONS, TABLES = 24, 4
#: The longest time after which a process is killed, in seconds.
LONGEST = 1.2


def write_migrations(folder: Path) -> None:
    """Write migrations that create and alter tables, views and databases."""
    for number in range(1, MIGRATIONS + 1):
        up, down = [f"CREATE DATABASE d{number};"], [f"DROP DATABASE d{number};"]
        for table in range(TABLES):
            up += [
                f"CREATE TABLE d{number}.t{table} (a INT) WITH ('connector' = 'print');",
                f"CREATE VIEW d{number}.v{table} AS SELECT a FROM d{number}.t{table};",
            ]
            down = [f"DROP VIEW d{number}.v{table};", f"DROP TABLE d{number}.t{table};", *down]
        if number > 1:
            path = f"d{number - 1}.t0"
            up.append(f"ALTER TABLE {path} ADD (b STRING, c AS a + 1);")
            down = [f"ALTER TABLE {path} DROP c;", f"ALTER TABLE {path} DROP b;", *down]
        text = "\n".join(["-- up", *up, "-- down", *down])
        (folder / f"{number:04}_step.sql").write_text(text + "\n")


def migrator(url: str, username: str, password: str, folder: Path) -> Migrator:
    """Return the migrator of a catalog, which is opened."""
    environment = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    catalog = SqlCatalog("shop", url, username=username or None, password=password or None)
    environment.register_catalog("shop", catalog)
    environment.use_catalog("shop")
    return Migrator(environment, folder)


def child(arguments: list[str]) -> None:
    """Apply or undo all migrations; the first line of the output is written before."""
    direction, url, username, password, folder = arguments
    result = migrator(url, username, password, Path(folder))
    print("ready", flush=True)
    if direction == "up":
        result.upgrade()
    else:
        result.downgrade("base")


def expected_contents(folder: Path) -> list[CatalogContent]:
    """Return the content after no migration, after the first one, ..., after all."""
    reference = migrator("sqlite://", "", "", folder)
    result = [reference.content()]
    for number in range(1, MIGRATIONS + 1):
        reference.upgrade(str(number))
        result.append(reference.content())
    return result


def run(url: str, username: str, password: str, kills: int, seed: int) -> int:
    """Kill processes; return the number of kills, of which every one was checked.

    Raises:
        AssertionError: where a catalog is not as its history says.
    """
    chance = random.Random(seed)
    with tempfile.TemporaryDirectory() as directory:
        folder = Path(directory)
        write_migrations(folder)
        expected = expected_contents(folder)
        checked = migrator(url, username, password, folder)
        killed, direction = 0, "up"
        while killed < kills:
            given = [direction, url, username, password, str(folder)]
            command = [sys.executable, "-m", "fuzz.migration_kills", "--child", *given]
            processes = [
                subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
                for _ in range(chance.choice((1, 2)))
            ]
            for process in processes:
                assert process.stdout is not None
                assert process.stdout.readline() == "ready\n", process.communicate()[1]
            time.sleep(chance.uniform(0, LONGEST))
            alive = processes[0].poll() is None
            survivors = processes[1:] if chance.random() < 0.3 else []
            for process in processes:
                if process not in survivors:
                    process.kill()
            for process in processes:
                _, errors = process.communicate(timeout=120)
                assert process not in survivors or process.returncode == 0, errors
            killed += alive
            states = [
                item.state for item in checked.history() if item.state is not MigrationState.UNDONE
            ]
            applied = states.count(MigrationState.APPLIED)
            assert states == [MigrationState.APPLIED] * applied + [MigrationState.PENDING] * (
                MIGRATIONS - applied
            )
            assert diff_catalogs(checked.content(), expected[applied]) == ()
            assert checked.drift() == ()
            print(f"{killed}: {direction}, {applied} migrations applied", flush=True)
            if (direction, applied) in (("up", MIGRATIONS), ("down", 0)):
                direction = "down" if direction == "up" else "up"
        checked.upgrade()
        assert diff_catalogs(checked.content(), expected[-1]) == ()
    return killed


@contextmanager
def store(name: str) -> Iterator[tuple[str, str, str]]:
    """Return a context with the URL, the user and the password of an empty store."""
    if name == "sqlite":
        with tempfile.TemporaryDirectory() as directory:
            yield f"sqlite:///{directory}/shop.db", "", ""
    else:
        with postgres_server.server() as server:
            yield server.url, server.username, server.password


def main() -> None:
    """Run the program, or one of its children."""
    if sys.argv[1:2] == ["--child"]:
        child(sys.argv[2:])
        return
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--store", choices=("sqlite", "postgresql"), default="sqlite")
    options = parser.parse_args()
    with store(options.store) as (url, username, password):
        killed = run(url, username, password, options.kills, options.seed)
    print(f"{options.store}: {killed} kills, no difference")


if __name__ == "__main__":
    main()
