"""Processor time of whole processes: the first schema, and commands on a script of 100 tables.

Processes take turns, after one turn to warm up; `--beside COMMIT` also runs those of a commit.
Prints a table in Markdown.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from tests.benchmarks.__main__ import checked_out

TABLES = 100

PLAIN = """
from schema_core import DataTypes, Schema, SchemaResolver
built = (
    Schema.new_builder()
    .column("id", DataTypes.BIGINT().not_null())
    .column("name", DataTypes.STRING())
    .column("at", "TIMESTAMP(3)")
    .primary_key("id")
    .build()
)
SchemaResolver().resolve(built)
"""

COMPUTED = PLAIN.replace(
    ".primary_key", '.column_by_expression("label", "UPPER(name)").primary_key'
)

COMMAND = "from schema_core.cli.main import main; main()"

#: What is measured -> the arguments of Python; FILE is the script.
PROCESSES = {
    "Python that does nothing": ["-c", "pass"],
    "`import schema_core`, first schema": ["-c", PLAIN],
    "the same with a computed column": ["-c", COMPUTED],
    "`schema-core --help`": ["-c", COMMAND, "--help"],
    f"`schema-core check`, {TABLES} tables": ["-c", COMMAND, "check", "FILE"],
    f"`schema-core resolve`, {TABLES} tables": ["-c", COMMAND, "resolve", "FILE"],
}


def script(tables: int = TABLES) -> str:
    """Return a script of tables with computed columns, and of some views and statements."""
    created = [
        f"""CREATE TABLE t{number} (
  id BIGINT NOT NULL, name VARCHAR(40), amount DECIMAL(12, 2), ts TIMESTAMP(3),
  total AS amount * 2 + id, label AS UPPER(name) || '-' || CAST(id AS STRING),
  PRIMARY KEY (id) NOT ENFORCED
) WITH ('connector' = 'filesystem', 'path' = 'data/t{number}', 'format' = 'parquet');
"""
        for number in range(tables)
    ]
    views = [
        f"CREATE VIEW v{number} AS SELECT id, SUM(amount) AS s FROM t{number} GROUP BY id;\n"
        f"INSERT INTO t{number + 1} SELECT id, name, amount, ts FROM t{number};\n"
        for number in range(5)
    ]
    return "".join([*created, *views])


def processor_time(arguments: Sequence[str], library: Path, place: str) -> float:
    """Return the processor time of a process in milliseconds."""
    kept = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    with subprocess.Popen(
        [sys.executable, *arguments],
        cwd=place,
        env={**kept, "PYTHONPATH": str(library)},
        stdout=subprocess.DEVNULL,
    ) as process:
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0, arguments
    return (used.ru_utime + used.ru_stime) * 1000


def main(given: Sequence[str] | None = None) -> None:
    """Measure all processes by turns."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--beside", metavar="COMMIT")
    options = parser.parse_args(given)
    with ExitStack() as stack:
        place = stack.enter_context(TemporaryDirectory())
        (Path(place) / "FILE").write_text(script())
        libraries = {"": stack.enter_context(checked_out(None))}
        if options.beside:
            libraries[f"{options.beside}: "] = stack.enter_context(checked_out(options.beside))
        taken: dict[str, list[float]] = {}
        for turn in range(options.rounds + 1):
            for name, arguments in PROCESSES.items():
                for which, library in libraries.items():
                    took = processor_time(arguments, library, place)
                    if turn:
                        taken.setdefault(f"{which}{name}", []).append(took)
    bare = median(next(iter(taken.values())))
    print("| process | shortest | median | median over bare |\n|---|---:|---:|---:|")
    for name, times in taken.items():
        over = median(times) - bare
        print(f"| {name} | {min(times):.0f} ms | {median(times):.0f} ms | {over:.0f} ms |")


if __name__ == "__main__":
    main()
