"""Jobs on a cluster whose executors do not have the library, and what is sent to them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from fuzz.clusters import run_local_cluster, run_speculation
from schema_core.environment.jobs.run import JobStatus
from schema_core.spark.jobs import failure
from schema_core.spark.session.api_mode import has_remote_workers
from schema_core.spark.session.worker_package import package_zip


def test_executors_without_the_library_run_every_kind_of_function(tmp_path: Path) -> None:
    """The program compares values with Flink's, and the event log is searched for secrets."""
    assert ["2", "executors", "done"] == run_local_cluster(tmp_path).split()


@pytest.mark.slow
def test_tasks_that_run_twice_write_once(tmp_path: Path) -> None:
    """Plain directories, Iceberg and Delta: six INSERTs, each with a slow and a failing attempt."""
    words = run_speculation(tmp_path).split()

    assert int(words[0]) >= 3
    assert int(words[2]) >= 6
    assert "done" == words[-1]


def test_the_modules_are_importable_from_the_zip_alone(tmp_path: Path) -> None:
    program = "import schema_core.spark.python.user_functions as m, schema_core; print(m.__file__)"
    program = f"import sys; sys.path[:0] = [{str(package_zip())!r}]; {program}"
    done = subprocess.run(
        [sys.executable, "-c", f"{program}; print(schema_core.DataTypes.INT())"],
        capture_output=True, text=True, check=False, cwd=tmp_path,
    )  # fmt: skip
    file, type_ = done.stdout.split("\n", 1)

    assert file.startswith(str(package_zip())), done.stderr
    assert "INT" == type_.strip()


@pytest.mark.parametrize(
    ("master", "expected"),
    [
        ("local", False),
        ("local[*]", False),
        ("local[2, 3]", False),
        ("local-cluster[2,1,1024]", True),
        ("spark://host:7077", True),
        ("k8s://https://host", True),
        ("yarn", True),
    ],
)
def test_modules_are_sent_to_executors_outside_of_the_driver(master: str, expected: bool) -> None:
    class Context:
        pass

    session: Any = Context()
    session.sparkContext = Context()
    session.sparkContext.master = master

    assert expected == has_remote_workers(session)


@pytest.mark.parametrize(
    ("message", "problem"),
    [
        (
            "[PYTHON_VERSION_MISMATCH] Python in worker has version: 3.9 than that in driver: 3.11",
            "the Python workers of Spark run Python 3.9, the driver runs 3.11",
        ),
        (
            "ModuleNotFoundError: No module named 'pyarrow'",
            "the Python workers of Spark do not have the package 'pyarrow'",
        ),
        (
            "[PACKAGE_NOT_INSTALLED] PyArrow >= 18.0.0 must be installed; however, it was not",
            "the Python workers of Spark do not have the package 'PyArrow' >= 18.0.0",
        ),
    ],
)
def test_workers_that_cannot_run_functions_are_reported(message: str, problem: str) -> None:
    result = failure(RuntimeError(f"Job aborted.\n{message}\nmore"), JobStatus.FAILED)

    assert ("incompatible-installation", problem) == (result.code, result.problem)
    assert "job-failed" == failure(RuntimeError("No module named 'mine'"), JobStatus.FAILED).code
