"""Writers of tables of Iceberg and Delta are killed, and commit at the same time."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.test_layers import ROOT


@pytest.mark.slow
@pytest.mark.parametrize("form", ["iceberg", "delta"])
def test_no_row_is_lost(form: str) -> None:
    program = [sys.executable, "-m", "fuzz.table_kills", "--format", form]
    few = ["--kills", "5", "--writers", "4", "--turns", "3"]
    done = subprocess.run(
        [*program, *few], cwd=ROOT, capture_output=True, text=True, check=False, timeout=300
    )

    assert 0 == done.returncode, done.stderr
    assert "5 kills: all batches are whole" in done.stdout
    assert "4 writers of 3 batches: no row is lost" in done.stdout
