"""Programs for PyFlink run after the replacement of one word, and print what PyFlink prints.

The files of `pyflink_programs` ran with PyFlink 2.3; their output is beside them.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

PROGRAMS = sorted((Path(__file__).parent / "pyflink_programs").glob("*.py"))


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("program", PROGRAMS, ids=[one.stem for one in PROGRAMS])
def test_a_program_prints_what_it_prints_with_pyflink(
    program: Path, spark: SparkSession, capsys: pytest.CaptureFixture[str]
) -> None:
    if "pandas" in program.stem:
        pytest.importorskip("pandas")
    text = re.sub(r"\bpyflink\b", "schema_core.pyflink", program.read_text("utf-8"))

    exec(compile(text, str(program), "exec"), {"__name__": "__main__"})

    assert program.with_suffix(".out").read_text("utf-8") == capsys.readouterr().out


def test_there_are_fourteen_programs() -> None:
    assert len(PROGRAMS) == 14
