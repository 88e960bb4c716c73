"""Programs of PyFlink run unchanged, with the outputs of Flink.

The programs of `unchanged_programs` ran with PyFlink 2.3; their output is beside them, without what
libraries log. Of a table that is updated, Flink prints every change, and Spark the final rows: the
rows that the changes leave are compared, without their order.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from schema_core.pyflink import programs
from tests.slow_tests import draw_cases

pytestmark = pytest.mark.spark

DIRECTORY = Path(__file__).parent / "unchanged_programs"
#: Jobs of 200 lines.
LONG = sorted((DIRECTORY / "long").glob("*.py"))
PROGRAMS = [path for path in sorted(DIRECTORY.rglob("*.py")) if path not in LONG]

#: A row of the connector `print`, after the sink's identifier and the number of the task.
PRINTED = re.compile(
    r"(?:(?P<sink>[a-z_]\w*)(?::\d+)?> |\d+> )?(?P<kind>[+-][IUD])(?P<row>[\[(].*)"
)
#: A row of a printed table with the column `op`.
OF_TABLE = re.compile(r"\| (?P<kind>[+-][IUD]) \|(?P<row>.*)\|")
COUNT = re.compile(r"\d+ rows? in set|Empty set")


def modules(program: Path) -> set[str]:
    """Return the modules of PyFlink that a program imports."""
    return set(re.findall(r"^from (pyflink[\w.]*)", program.read_text("utf-8"), re.MULTILINE))


CASES = [
    *draw_cases(PROGRAMS, modules),
    *(pytest.param(path, marks=pytest.mark.slow) for path in LONG),
]


def summarize(text: str) -> list[str]:
    """Return the lines, with the rows that consecutive changes leave sorted in their place."""
    result: list[str] = []
    rows: Counter[str] = Counter()
    for line in [*text.splitlines(), ""]:
        if match := PRINTED.fullmatch(line) or OF_TABLE.fullmatch(line):
            parts = match.groupdict()
            row = f"{parts.get('sink') or ''}{parts['row']}"
            rows[row] += 1 if match["kind"] in ("+I", "+U") else -1
            continue
        assert not any(count < 0 for count in rows.values())
        result += sorted(rows.elements())
        rows.clear()
        result.append("" if COUNT.fullmatch(line) else line)
    return result


@pytest.fixture
def mapped_imports(monkeypatch: pytest.MonkeyPatch, spark: SparkSession) -> Iterator[None]:
    """Map the imports of `pyflink`; afterwards it is unknown again."""
    assert spark is not None
    monkeypatch.setattr(sys, "meta_path", list(sys.meta_path))
    monkeypatch.setenv("PYTHONPATH", os.environ.get("PYTHONPATH", ""))
    programs.map_imports()
    yield
    for name in [name for name in sys.modules if name.partition(".")[0] == "pyflink"]:
        del sys.modules[name]


@pytest.mark.usefixtures("mapped_imports")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("program", CASES, ids=lambda path: path.stem)
def test_a_program_has_the_output_of_flink(
    program: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    if "pandas" in program.read_text("utf-8"):
        pytest.importorskip("pandas")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", [str(program)])
    code = compile(program.read_text("utf-8"), str(program), "exec")

    exec(code, {"__name__": "__main__", "__file__": str(program)})

    expected = program.with_suffix(".out").read_text("utf-8")
    assert summarize(expected) == summarize(capsys.readouterr().out)


def test_changes_are_summarized() -> None:
    changes = "a\n1> +I[x, 1]\n-U[x, 1]\n+U[x, 2]\nb\n| +I | 1 |\n| -D | 1 |\n0 rows in set"

    assert ["a", "[x, 2]", "b", "", ""] == summarize(changes)


PROGRAM = """
import argparse
from pyflink.table import DataTypes, EnvironmentSettings, TableEnvironment
from pyflink.table.expressions import col
from pyflink.table.udf import udf
from words import clean

@udf(result_type=DataTypes.STRING())
def describe(word):
    from pyflink.common import Row
    import pyflink.table.types
    return f"{clean(word)} {Row(len(word))[0]} {pyflink.table.types.DataTypes.INT()}"

if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--source")
    source = parser.parse_args().source
    env = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    env.execute_sql(
        f"CREATE TABLE t (word STRING) WITH ('connector' = 'filesystem', 'path' = '{source}',"
        " 'format' = 'csv')"
    )
    with env.from_path("t").select(describe(col("word"))).execute().collect() as rows:
        print(sorted(row[0] for row in rows))
"""


def test_functions_of_a_program_find_pyflink_and_its_modules_in_the_workers(tmp_path: Path) -> None:
    """`schema-core run` starts a Spark whose Python workers map the imports, too."""
    tmp_path.joinpath("job.py").write_text(PROGRAM, "utf-8")
    tmp_path.joinpath("words.py").write_text(
        "from pyflink.common import Row\n\ndef clean(word):\n    return Row(word.strip())[0]\n",
        "utf-8",
    )
    tmp_path.joinpath("words.csv").write_text("ab\ncde\n", "utf-8")
    command = ["-m", "schema_core.cli", "run", str(tmp_path / "job.py"), "--source"]

    result = subprocess.run(
        [sys.executable, *command, str(tmp_path / "words.csv")],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    )

    assert (0, "['ab 2 INT', 'cde 3 INT']\n") == (result.returncode, result.stdout), result.stderr
