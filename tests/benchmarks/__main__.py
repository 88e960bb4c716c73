"""Benchmarks beside other libraries, by turns in one run; and of two commits, beside each other.

    python -m tests.benchmarks run [--rounds 5] [--json FILE] [--plot FILE.svg] [--oracle DIRECTORY]
    python -m tests.benchmarks compare COMMIT [COMMIT] [--rounds 5]
    python -m tests.benchmarks GROUP [ARGUMENTS]

`run` prints a table in Markdown: the shortest and the median time of a run of each candidate, in
processor time, and the ratio of our median to theirs. `--plot` draws the ratios, and how time grows
with columns and statements; it needs matplotlib. DIRECTORY is what `make oracle` filled; what is
not installed is left out. `compare` runs our candidates of two commits, the second by default the
checked-out files, in processes that take turns; it exits with 1 if a task takes 1.2 times as long.
A group is one of the programs beside this one, such as `tpc`.
"""

from __future__ import annotations

import argparse
import json
import os
import runpy
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.benchmarks.measuring import Figure, Task, machine, measured, table

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[2]
#: From which ratio on a task is slower, since times of equal programs vary.
SLOWER = 1.2


def run(options: argparse.Namespace) -> int:
    """Measure everything; print a table, and write JSON and a plot."""
    from tests.benchmarks import core

    with core.opened(Path(options.oracle)) as jvm:
        figures = measured("core", core.tasks(jvm), options.rounds, options.seconds)
    print(table(figures))
    grown = core.growth()
    for name, points in grown.items():
        line = ", ".join(f"{size:,}: {time / size:.2f} us each" for size, time in points)
        print(f"\n{name}: {line}")
    if options.json:
        result = {
            "machine": machine(),
            "figures": [figure._asdict() for figure in figures],
            "growth": grown,
        }
        Path(options.json).write_text(json.dumps(result, indent=1) + "\n")
    if options.plot:
        plot(figures, grown, Path(options.plot))
    return 0


def once(options: argparse.Namespace) -> int:
    """Measure our candidates in one round; print JSON. It is what `compare` runs."""
    from tests.benchmarks import core

    own = [Task(task.name, task.candidates[:1]) for task in core.tasks(None)]
    figures = measured("core", own, 1, options.seconds)
    print(json.dumps({figure.task: figure.shortest for figure in figures}))
    return 0


def compare(options: argparse.Namespace) -> int:
    """Compare two commits; return 1 if a task is slower in the second one."""
    taken: dict[str, list[list[float]]] = {}
    with checked_out(options.first) as first, checked_out(options.second) as second:
        for _ in range(options.rounds):
            for place, folder in enumerate((first, second)):
                for task, time in _once_in(folder, options.seconds).items():
                    taken.setdefault(task, [[], []])[place].append(time)
    print("| task | first | second | ratio |\n|---|---:|---:|---:|")
    slower = []
    for task, (before, after) in taken.items():
        if not before or not after:
            continue
        ratio = min(after) / min(before)  # other programs only add to times
        print(f"| {task} | {min(before):,.1f} us | {min(after):,.1f} us | {ratio:.2f} |")
        if ratio > SLOWER:
            slower.append(task)
    for task in slower:
        print(f"slower: {task}", file=sys.stderr)
    return 1 if slower else 0


def _once_in(folder: Path, seconds: float) -> dict[str, float]:
    """Measure the library of a directory with the benchmarks of this one."""
    environment = {**os.environ, "PYTHONPATH": f"{folder}{os.pathsep}{ROOT}"}
    command = [sys.executable, "-m", "tests.benchmarks", "once", "--seconds", str(seconds)]
    with tempfile.TemporaryDirectory() as elsewhere:  # the current directory would come first
        (Path(elsewhere) / "tests").symlink_to(ROOT / "tests")
        printed = subprocess.run(
            command, cwd=elsewhere, env=environment, check=True, stdout=subprocess.PIPE, text=True
        ).stdout
    document: dict[str, float] = json.loads(printed)
    return document


@contextmanager
def checked_out(commit: str | None) -> Iterator[Path]:
    """Yield a directory with the files of a commit; those that are checked out for None."""
    if commit is None:
        yield ROOT
        return
    with tempfile.TemporaryDirectory() as name:
        archive = subprocess.run(
            ["git", "archive", commit, "schema_core"], cwd=ROOT, check=True, stdout=subprocess.PIPE
        ).stdout
        subprocess.run(["tar", "x", "-C", name], input=archive, check=True)
        yield Path(name)


def plot(figures: list[Figure], grown: dict[str, list[tuple[int, float]]], path: Path) -> None:
    """Draw the ratios to Flink's JVM, and the growth, as SVG."""
    mpl: Any = import_module("matplotlib")
    plt: Any = import_module("matplotlib.pyplot")
    # equal figures give equal files, with letters instead of their outlines
    mpl.rcParams.update({"svg.hashsalt": "schema_core", "svg.fonttype": "none"})
    ours = {figure.task: figure for figure in figures if figure.candidate == "schema_core"}
    ratios = [
        (figure.task, ours[figure.task].median / figure.median)
        for figure in figures
        if figure.candidate == "Flink's JVM"
    ]
    drawing = plt.figure(figsize=(9, 7), layout="constrained")
    bars, lines = drawing.subplots(2, 1, height_ratios=[2, 1])
    names = [name for name, _ in ratios][::-1]
    values = [value for _, value in ratios][::-1]
    bars.barh(names, values, color=["#2a7" if value <= 1 else "#c73" for value in values])
    bars.axvline(1, color="black", linewidth=0.8)
    bars.set_xscale("log")
    bars.set_xlabel("processor time of schema_core for one second of Flink's warm JVM")
    for name, points in grown.items():
        sizes, times = zip(*points, strict=True)
        lines.plot(sizes, [time / 1000 for time in times], marker="o", label=name)
    lines.set_xscale("log")
    lines.set_yscale("log")
    lines.set_xlabel("columns of a schema; statements of a script")
    lines.set_ylabel("milliseconds")
    lines.legend()
    drawing.savefig(path, metadata={"Date": None})


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks")
    commands = parser.add_subparsers(required=True)
    for function in (run, once, compare):
        command = commands.add_parser(function.__name__, help=function.__doc__)
        command.set_defaults(function=function)
        command.add_argument("--seconds", type=float, default=0.3, help="of each turn")
        command.add_argument("--rounds", type=int, default=5)
        if function is run:
            command.add_argument("--oracle", default=".oracle", help="the directory of Flink")
            command.add_argument("--json", help="a file for all figures")
            command.add_argument("--plot", help="a file for a picture")
        if function is compare:
            command.add_argument("first", help="a commit")
            command.add_argument("second", nargs="?", help="a commit; by default the files here")
    for path in sorted(Path(__file__).parent.glob("bench_*.py")):
        commands.add_parser(path.stem.removeprefix("bench_"), add_help=False).set_defaults(
            function=None, path=path
        )
    options, rest = parser.parse_known_args()
    if options.function is None:
        sys.argv = [str(options.path), *rest]
        runpy.run_path(str(options.path), run_name="__main__")
        return 0
    if rest:
        parser.error(f"unknown arguments: {' '.join(rest)}")
    result: int = options.function(options)
    return result


if __name__ == "__main__":
    sys.exit(main())
