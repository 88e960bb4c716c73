"""INSERT, partitions, metadata and options of tables of files, with the rows of Flink 2.3.0."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.spark.recorded_scripts import environment_of_script, play, read_scripts

RECORDED = read_scripts("file_sinks.jsonl")
#: Scripts with another result, and why.
DIFFERENT = {
    **dict.fromkeys(
        (
            "part-overwrite-static-empty-json",
            "part-overwrite-static-empty-csv",
            "ow-static-empty-rt",
            "ow-static-empty-rt2",
        ),
        "OVERWRITE of a partition without rows empties it, as in Flink's tables of Hive",
    ),
    "s-nopart-commit": "a bounded job in streaming mode is a batch job",
    "commit-nopart-empty": "Spark writes a file without rows",
    "part-all": "Spark writes no files without columns",
}


@pytest.mark.parametrize(
    "case",
    [
        pytest.param(case, id=case["q"]["id"], marks=[] if place % 24 == 0 else [pytest.mark.slow])
        for place, case in enumerate(RECORDED)
        if case["q"]["id"] not in DIFFERENT
    ],
)
def test_recorded_scripts(session: Any, tmp_path: Path, case: dict[str, Any]) -> None:
    play(environment_of_script(session, case), case, tmp_path)
