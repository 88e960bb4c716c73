"""Checkpoints that lack files or have damaged ones are refused, each with the file."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from schema_core.errors import ExternalError
from schema_core.spark.commit.directory import Directory
from schema_core.spark.commit.file_systems import LocalFiles
from schema_core.spark.streaming.checkpoint_files import CheckpointFiles
from schema_core.spark.streaming.checkpoints import Checkpoint, JobDescription, checkpoint_in

JOB = JobDescription("c.d.t", "digest")
#: The last micro-batch of the checkpoint of `root`.
LAST = 4


def continued(root: Path) -> Checkpoint:
    return checkpoint_in(Directory(LocalFiles(), str(root)), str(root), JOB, creates=False)


def file_name(number: int) -> str:
    return "2.compact" if number == 2 else str(number)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """The directory of a job whose last micro-batch has been written."""
    root = tmp_path / "job"
    first = continued(root)
    first.begin()
    query = root / "query"
    for part in ("offsets", "commits", "sources/0"):
        (query / part).mkdir(parents=True)
    for number in range(LAST + 1):
        offsets = f'v1\n{{"batchWatermarkMs":0}}\n{{"logOffset":{number}}}'
        (query / "offsets" / str(number)).write_text(offsets)
        entries = "".join(f'\n{{"path":"{number}-{index}"}}' for index in range(2))
        (query / "sources" / "0" / file_name(number)).write_text(f"v1{entries}")
        if number == LAST:
            CheckpointFiles(Directory(LocalFiles(), str(root)), str(root)).record(number)
        (query / "commits" / str(number)).write_text('v1\n{"nextBatchWatermarkMs":0}')
    first.end()
    return root


def half(content: bytes) -> bytes:
    return content[: len(content) // 2]


def without_last_line(content: bytes) -> bytes:
    return content.rpartition(b"\n")[0]


DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "emptied": lambda _: b"",
    "half": half,
    "last line": without_last_line,
    "garbage": lambda content: bytes(255 - item for item in content),
}
#: The files that Spark continues from. A commit that is missing is that of a killed job.
FILES = ["offsets/3", "offsets/4", "commits/4", *(f"sources/0/{file_name(n)}" for n in (2, 3, 4))]
REMOVED = ["offsets/3", "offsets/4", "sources/0/2.compact", "sources/0/3"]


def problem(root: Path) -> str:
    with pytest.raises(ExternalError) as caught:
        continued(root)
    assert "invalid-checkpoint" == caught.value.code
    assert caught.value.hint
    return caught.value.problem


def test_a_whole_checkpoint_continues(root: Path) -> None:
    assert not continued(root).is_new


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("name", [*(f"query/{file}" for file in (*FILES, "metadata")), "job.json"])
def test_a_damaged_file_is_named(root: Path, name: str, damage: str) -> None:
    path = root / name
    content = DAMAGES[damage](path.read_bytes())
    path.write_bytes(content)

    assert name in problem(root)


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_record_is_named(root: Path, damage: str) -> None:
    path = root / "batches" / str(LAST)
    path.write_bytes(DAMAGES[damage](path.read_bytes()) or b"")

    assert f"batches/{LAST}" in problem(root)


@pytest.mark.parametrize("with_record", [True, False])
@pytest.mark.parametrize(
    "name", [*(f"query/{item}" for item in (*REMOVED, "metadata")), "job.json"]
)
def test_a_missing_file_is_named(root: Path, name: str, *, with_record: bool) -> None:
    (root / name).unlink()
    if not with_record:
        shutil.rmtree(root / "batches")

    assert name.removesuffix(".compact") in problem(root)


@pytest.mark.parametrize("name", ["query", "query/offsets", "query/sources", "query/sources/0"])
def test_missing_directories_are_noticed(root: Path, name: str) -> None:
    shutil.rmtree(root / name)

    assert name in problem(root)


def test_a_record_shows_what_is_missing_of_every_log(root: Path) -> None:
    """The files that are left are those of an earlier micro-batch."""
    for part in ("offsets", "commits", "sources/0"):
        (root / "query" / part / str(LAST)).unlink()

    assert f"query/offsets/{LAST}" in problem(root)


def test_commits_that_are_missing_are_those_of_a_killed_job(root: Path) -> None:
    (root / "query" / "commits" / str(LAST)).unlink()

    assert not continued(root).is_new


def test_a_directory_that_lost_everything_but_the_description(root: Path) -> None:
    shutil.rmtree(root / "query")
    shutil.rmtree(root / "batches")

    assert "query/metadata" in problem(root)


def test_a_later_compact_entry_replaces_those_of_the_record(root: Path) -> None:
    log = root / "query" / "sources" / "0"
    for path in list(log.iterdir()):
        path.unlink()
    (log / "5.compact").write_text('v1\n{"path":"all"}')

    assert not continued(root).is_new


def test_files_of_older_versions(root: Path) -> None:
    """A description without the id of the query, and no record of the last micro-batch."""
    shutil.rmtree(root / "batches")
    content = json.loads((root / "job.json").read_text())
    del content["stream"]
    (root / "job.json").write_text(json.dumps(content))

    assert not continued(root).is_new


def test_checksums_without_files_are_deleted(root: Path) -> None:
    """Hadoop refuses to write a file whose checksum exists."""
    (root / "query" / "commits" / ".5.crc").write_text("")
    (root / "query" / "commits" / ".4.crc").write_text("")
    again = continued(root)
    again.begin()
    again.end()

    assert [".4.crc"] == [path.name for path in (root / "query" / "commits").glob(".*")]


@pytest.fixture
def killed(tmp_path: Path) -> Iterator[Path]:
    """The directory of a job that was killed before Spark began to read."""
    root = tmp_path / "killed"
    job = continued(root)
    job.begin()
    yield root
    job.end()


def test_a_job_that_has_not_read_anything_keeps_its_id(killed: Path) -> None:
    """Rows in the table that have its id show that the checkpoint has been lost."""
    result = json.loads((killed / "job.json").read_text())["id"]
    again = continued(killed)

    assert (True, result) == (again.is_new, again.id)
    assert not again.fits(3)


class JavaError:
    """A Java exception without a message, as Spark raises it for a damaged schema of a state."""

    def __init__(self, frame: str) -> None:
        self.frame = frame

    def __str__(self) -> str:
        return "java.io.EOFException"

    def getStackTrace(self) -> list[str]:
        return ["java.io.DataInputStream.readUTF", self.frame]

    def getCause(self) -> None:
        return None


@pytest.mark.parametrize(
    ("frame", "code"),
    [
        ("org.apache.spark.sql.execution.streaming.state.SchemaHelper.read", "invalid-checkpoint"),
        ("org.apache.spark.sql.execution.datasources.Reader.read", None),
    ],
)
def test_an_error_without_a_message_is_one_of_the_state_by_its_frames(
    tmp_path: Path, frame: str, code: str | None
) -> None:
    path = str(tmp_path)
    job = JobDescription("catalog.database.t", "digest")
    checkpoint = checkpoint_in(Directory(LocalFiles(), path), path, job, creates=False)
    error = RuntimeError("the query has failed")
    vars(error)["java_exception"] = JavaError(frame)

    with pytest.raises((ExternalError, RuntimeError)) as caught, checkpoint.errors():
        raise error
    assert code == getattr(caught.value, "code", None)
