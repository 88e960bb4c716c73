"""The commit of files: faults and kills at every operation, concurrent writers, leftovers.

`fuzz.file_commits` holds the scenarios and the faults. Each run ends with a fresh read, which must
find exactly the old or the new rows, and with another write, which must remove all other files.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import socket
import stat
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fuzz.file_commits import (
    FLAT,
    KILLS,
    SCENARIOS,
    Fault,
    Faults,
    Scenario,
    World,
    operations,
    run,
)
from fuzz.journals import run as run_journals
from schema_core.environment.jobs.pending import ABANDONED, Owner
from schema_core.errors import ExternalError, SchemaCoreError, SchemaError
from schema_core.spark.commit.commit import (
    APPEND,
    LOCK,
    PREFIX,
    UNLOCKED_ATTEMPTS,
    Batch,
    CommitFileKind,
    CommitFileName,
    Definition,
    FileStage,
    Journal,
    OverwriteScope,
    clean,
    is_uncommitted,
    partition_of,
    read_consistently,
    remove_leftovers,
    take_lock,
)
from schema_core.spark.commit.directory import Directory
from schema_core.spark.commit.file_systems import LocalFiles, visible_files

#: One operation in so many meets the fault here; `python -m fuzz.file_commits` draws from all.
STRIDE = 5


@pytest.mark.parametrize("fault", Fault)
@pytest.mark.parametrize("name", [name for name in SCENARIOS if "snapshots" not in name])
def test_a_fault_at_any_operation_leaves_the_old_or_the_new_rows(name: str, fault: Fault) -> None:
    scenario = SCENARIOS[name]
    first = 1 + list(Fault).index(fault) % STRIDE
    tried = range(first, operations(scenario) + 1, STRIDE)
    result = {at: run(scenario, Faults(at, fault)) for at in tried}

    assert {} == {at: value.problem for at, value in result.items() if value.problem}
    assert "old" in {entry.state for entry in result.values()}


@pytest.mark.parametrize(
    "name", ["INSERT INTO, partitions", "INSERT OVERWRITE", "REPLACE TABLE AS"]
)
def test_a_fault_while_a_reader_recovers_changes_nothing(name: str) -> None:
    scenario = SCENARIOS[name]
    draws = [
        (Faults(at, Fault.KILL_AFTER), Faults(1 + (at * 7 + shift) % 20, fault))
        for at in range(operations(scenario) // 2, operations(scenario), 3)
        for shift, fault in enumerate(
            (Fault.KILL_BEFORE, Fault.KILL_AFTER, Fault.FALSE, Fault.DOWN)
        )
    ]
    result = [run(scenario, first, second) for first, second in draws]

    assert [] == [item.problem for item in result if item.problem]
    assert {"new"} <= {item.state for item in result}


def test_the_faults_are_injected() -> None:
    """Without faults every scenario commits; with a kill its process ends."""
    assert {"new"} == {run(scenario, Faults()).state for scenario in SCENARIOS.values()}
    assert set(KILLS) < set(Fault)


# --- stages --------------------------------------------------------------------------------------


@pytest.fixture
def directory(tmp_path: Path) -> Directory:
    return Directory(LocalFiles(), str(tmp_path / "table"))


def staged(
    directory: Directory,
    files: dict[str, str],
    scope: OverwriteScope = APPEND,
    *,
    lock_timeout: float = 20,
) -> FileStage:
    """A stage whose job has written its files."""
    stage = FileStage(directory, scope, lock_timeout=lock_timeout)
    stage.check()
    stage.open()
    for path, text in files.items():
        file = Path(stage.staging_directory, path)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return stage


def content_of(directory: Directory) -> dict[str, str]:
    root = Path(directory.root)
    return {path: (root / path).read_text() for path, _ in visible_files(LocalFiles(), str(root))}


def hidden(directory: Directory) -> list[str]:
    return [entry.name for entry in directory.entries("") if entry.name.startswith(".")]


def test_rows_are_visible_only_after_the_commit_without_leftovers(
    directory: Directory,
) -> None:
    stage = staged(directory, {"part-0": "1", "_SUCCESS": "", "_p=1/part-1": "2"})
    assert {} == content_of(directory)
    stage.commit()

    assert {"part-0": "1", "_p=1/part-1": "2"} == content_of(directory)
    assert [] == hidden(directory)


@pytest.mark.parametrize("is_read", [False, True])
def test_a_reader_that_locks_a_new_table_while_it_is_committed(
    directory: Directory, is_read: bool
) -> None:
    stage = staged(directory, {"part-0": "1", "p=1/part-1": "2"}, OverwriteScope(empty=True))
    assert stage.is_beside
    stage.prepare()
    if is_read:
        release = take_lock(directory)
        assert [LOCK] == hidden(directory)
        threading.Timer(0.1, release).start()
    stage.commit()

    assert stage.committed is True
    assert {"part-0": "1", "p=1/part-1": "2"} == content_of(directory)
    assert [] == directory.outer.entries(PREFIX)
    assert [] == hidden(directory)


def test_a_foreign_file_in_a_new_table_is_refused_while_it_is_committed(
    directory: Directory,
) -> None:
    stage = staged(directory, {"part-0": "1"}, OverwriteScope(empty=True))
    stage.prepare()
    (Path(directory.root) / "foreign").write_text("3")
    with pytest.raises(SchemaError):
        stage.commit()
    stage.abort()

    assert stage.committed is False
    assert {"foreign": "3"} == content_of(directory)
    assert [] == directory.outer.entries(PREFIX)


@pytest.mark.parametrize("scope", [OverwriteScope(empty=True), OverwriteScope(everything=True)])
def test_what_a_job_leaves_shows_whether_it_committed(
    directory: Directory, scope: OverwriteScope
) -> None:
    if scope.everything:
        staged(directory, {"old": "0"}).commit()
    stage = staged(directory, {"part-0": "1"}, scope)
    assert is_uncommitted(directory, stage.name.id)
    stage.prepare()
    assert is_uncommitted(directory, stage.name.id)
    assert not is_uncommitted(directory, "0" * 32)
    stage.commit()
    assert not is_uncommitted(directory, stage.name.id)


def test_an_aborted_job_removes_the_directory_it_created(directory: Directory) -> None:
    staged(directory, {"part-0": "1"}).abort()

    assert not Path(directory.root).exists()


def test_an_aborted_job_keeps_an_existing_directory(directory: Directory) -> None:
    Path(directory.root).mkdir()
    staged(directory, {"part-0": "1"}).abort()

    assert [] == directory.entries("")


@pytest.mark.parametrize("prepared", [False, True])
def test_a_new_table_requires_an_empty_directory(directory: Directory, prepared: bool) -> None:
    if prepared:
        stage = staged(directory, {"part-0": "1"}, OverwriteScope(empty=True))
    Path(directory.root).mkdir(exist_ok=True)
    (Path(directory.root) / "theirs").write_text("x")
    with pytest.raises(SchemaError) as caught:
        stage.commit() if prepared else staged(directory, {}, OverwriteScope(empty=True))
    if prepared:
        stage.abort()

    assert ("target-not-empty", True) == (caught.value.code, bool(caught.value.hint))
    assert {"theirs": "x"} == content_of(directory)
    assert [] == hidden(directory)


def test_a_file_as_table_directory_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(SchemaError) as caught:
        FileStage(Directory(LocalFiles(), str(tmp_path / "file"))).check()

    assert "invalid-option-value" == caught.value.code


def test_a_file_of_the_same_name_is_not_overwritten(directory: Directory) -> None:
    stage = staged(directory, {"part-0": "new"})
    (Path(directory.root) / "part-0").write_text("old")
    with pytest.raises(ExternalError) as caught:
        stage.commit()
    stage.abort()

    assert ("file-system-failed", {"part-0": "old"}) == (caught.value.code, content_of(directory))


def test_checksum_files_of_hadoop_are_deleted_with_their_files(directory: Directory) -> None:
    root = Path(directory.root)
    root.mkdir()
    for name in ("part-0", ".part-0.crc"):
        (root / name).write_text("x")
    staged(directory, {"part-1": "1", ".part-1.crc": "c"}, OverwriteScope(everything=True)).commit()

    assert ["part-1"] == [entry.name for entry in directory.entries("")]


@pytest.mark.parametrize(
    ("path", "count", "expected"),
    [
        ("p=1/part-0", 1, ("1",)),
        ("p=1/q=a%2Fb/part-0", 2, ("1", "a/b")),
        ("p=1/q=2/part-0", 1, ("1",)),
        ("p=1/part-0", 2, None),
        ("part-0", 1, None),
        ("other/part-0", 1, None),
        ("p=a=b/part-0", 1, ("a=b",)),
    ],
)
def test_the_partition_of_a_file(path: str, count: int, expected: tuple[str, ...] | None) -> None:
    assert expected == partition_of(path, count)


def test_files_outside_of_partitions_are_not_replaced() -> None:
    scope = OverwriteScope(partitions=1, fixed=("2",))
    old = ("loose", "other/file", "p=1/a", "p=2/b", "p=3/c")

    assert ("p=2/b", "p=3/c") == scope.find_replaced(["p=3/new"], old)
    assert ("p=2/b",) == scope.find_replaced([], old)
    assert () == OverwriteScope(partitions=1).find_replaced([], old)


@pytest.fixture
def umask() -> Iterator[None]:
    """Let this process create files and directories that only its user may read."""
    before = os.umask(0o077)
    yield
    os.umask(before)


@pytest.mark.usefixtures("umask")
@pytest.mark.parametrize("scope", [APPEND, OverwriteScope(empty=True)])
def test_files_have_no_more_permissions_than_the_umask_permits(
    directory: Directory, scope: OverwriteScope
) -> None:
    stage = staged(directory, {"part-0": "1", "p=1/part-1": "2"}, scope)
    written = Path(stage.staging_directory)
    for file in written.rglob("part-*"):
        file.chmod(0o644)  # Spark has a umask of its own
    (written / "p=1").chmod(0o755)
    stage.commit()
    root = Path(directory.root)

    assert {"part-0": "1", "p=1/part-1": "2"} == content_of(directory)
    assert {0o700} == {stat.S_IMODE(item.stat().st_mode) for item in (root, root / "p=1")}
    assert {0o600} == {stat.S_IMODE(path.stat().st_mode) for path in root.rglob("part-*")}


def test_other_permissions_are_those_of_the_engine(directory: Directory) -> None:
    stage = staged(directory, {"part-0": "1"})
    Path(stage.staging_directory, "part-0").chmod(0o664)
    stage.commit()

    assert 0o664 == stat.S_IMODE(Path(directory.root, "part-0").stat().st_mode)


# --- leftovers -----------------------------------------------------------------------------------


def a_dead_process() -> Owner:
    child = subprocess.Popen(["true"])
    child.wait()
    return Owner(Owner.this().host, child.pid, 1)


def elsewhere(suffix: str = "_0123456789ab") -> Owner:
    """A process of a container whose host name is that of this host."""
    name = re.sub("[^A-Za-z0-9.]", "_", socket.gethostname())
    return Owner(f"{name}{suffix}", 2**22 + 1, 1)


def leave(directory: Directory, name: str, age: float = 0.0) -> None:
    folder = Path(directory.root) / name
    folder.mkdir(parents=True)
    (folder / "part-0").write_text("x")
    then = time.time() - age
    os.utime(folder, (then, then))


def stage_of(owner: Owner, digit: str) -> str:
    return str(CommitFileName(CommitFileKind.STAGE, owner, digit * 32))


LEFT: dict[str, tuple[Callable[[], str], float, bool]] = {
    "of a dead process": (lambda: stage_of(a_dead_process(), "a"), 0, True),
    "of a process number used again": (
        lambda: stage_of(Owner(Owner.this().host, os.getppid(), 1), "b"), 0, True,
    ),
    "of the same host and number, whose processes are invisible here": (
        lambda: stage_of(elsewhere(), "1"), 0, False,
    ),
    "of the same host and number, by a version that named just the host": (
        lambda: stage_of(elsewhere(""), "2"), 0, False,
    ),
    "of the same host by that version, long ago": (
        lambda: stage_of(elsewhere(""), "3"), ABANDONED + 60, True,
    ),
    "of this process, whose job is gone": (
        lambda: stage_of(Owner.this(), "c"), 0, True,
    ),
    "of another host, today": (
        lambda: stage_of(Owner("elsewhere", 1, 1), "d"), 0, False,
    ),
    "of another host, long ago": (
        lambda: stage_of(Owner("elsewhere", 1, 1), "e"), ABANDONED + 60, True,
    ),
    "of a former version, long ago": (lambda: ".staging-" + "f" * 32, ABANDONED, True),
    "of a former version, today": (lambda: ".staging-" + "f" * 32, 0, False),
    "of Flink": (lambda: ".staging_1700000000000", ABANDONED, False),
    "of another name": (lambda: ".schema-core-stage-mine", ABANDONED, False),
}  # fmt: skip


@pytest.mark.parametrize("name", LEFT)
def test_the_next_write_removes_only_leftovers_of_dead_jobs(
    directory: Directory, name: str
) -> None:
    make, age, removed = LEFT[name]
    left = make()
    leave(directory, left, age)
    staged(directory, {"part-0": "1"}).commit()

    assert ([] if removed else [left]) == hidden(directory)
    assert {"part-0": "1"} == content_of(directory)


def test_leftovers_of_a_live_job_are_kept(directory: Directory) -> None:
    slow = staged(directory, {"slow": "1"})
    staged(directory, {"quick": "2"}).commit()
    slow.commit()

    assert {"slow": "1", "quick": "2"} == content_of(directory)
    assert [] == hidden(directory)


@pytest.mark.parametrize("again", [False, True])
@pytest.mark.parametrize(
    "scope", [APPEND, OverwriteScope(everything=True), OverwriteScope(empty=True)]
)
def test_a_stage_that_others_removed_is_not_committed(
    directory: Directory, scope: OverwriteScope, again: bool
) -> None:
    """Not even where the engine has created its directory again, for the tasks that follow."""
    if not scope.empty:
        staged(directory, {"old": "1"}).commit()
    before = content_of(directory) if directory.status("") else {}
    stage = staged(directory, {"first": "2"}, scope)
    shutil.rmtree(stage.staging_directory)
    if again:
        Path(stage.staging_directory).mkdir()
        Path(stage.staging_directory, "second").write_text("3")
    with pytest.raises(ExternalError, match="removed while the job wrote it"):
        stage.commit()
    stage.abort()

    assert stage.committed is False
    assert before == (content_of(directory) if directory.status("") else {})


@pytest.mark.parametrize("is_new", [False, True])
def test_a_stage_that_vanishes_before_its_commit_point_is_not_committed(
    directory: Directory, is_new: bool
) -> None:
    if not is_new:
        staged(directory, {"old": "1"}).commit()
    stage = staged(directory, {"new": "2"}, OverwriteScope(empty=True) if is_new else APPEND)
    assert is_new == stage.is_beside
    stage.prepare()
    for path in (Path(directory.root).parent if is_new else Path(directory.root)).glob(
        f"{PREFIX}*"
    ):
        if path.name != LOCK:
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    with pytest.raises(ExternalError, match="rename"):
        stage.commit()
    stage.abort()

    assert stage.committed is False
    assert ({} if is_new else {"old": "1"}) == (
        content_of(directory) if directory.status("") else {}
    )


def test_leftovers_of_a_live_job_of_another_process_are_kept(directory: Directory) -> None:
    child = subprocess.Popen(["sleep", "60"])
    try:
        name = CommitFileName(
            CommitFileKind.STAGE, Owner(Owner.this().host, child.pid, 0), "a" * 32
        )
        leave(directory, str(name))
        staged(directory, {"part-0": "1"}).commit()
        assert [str(name)] == hidden(directory)
    finally:
        child.kill()
        child.wait()
    staged(directory, {"part-1": "1"}).commit()

    assert [] == hidden(directory)


def test_names_are_read_back() -> None:
    for kind in CommitFileKind:
        name = CommitFileName(kind, Owner.this(), "0" * 32)
        assert name == CommitFileName.parse(str(name))
    assert CommitFileName.parse(f"{PREFIX}lock") is None


def test_journals_are_read_back() -> None:
    name = CommitFileName(CommitFileKind.COMMIT, Owner.this(), "0" * 32)
    stage = str(name.of(CommitFileKind.STAGE))
    journal = Journal(stage, (("p=ä/x", 3),), ("y\nz", "_p=1/a"), Definition("c.d.t", "ff"))
    batch = replace(journal, batch=Batch("0" * 32, 7))

    assert journal == Journal.decode(journal.encode(), name)
    assert batch == Journal.decode(batch.encode(), name)


# --- journals that others have written, and links ------------------------------------------------


def commit_name(kind: CommitFileKind = CommitFileKind.COMMIT) -> CommitFileName:
    return CommitFileName(kind, a_dead_process(), "0" * 32)


@pytest.mark.parametrize(
    "change",
    [
        {"stage": "../victim"},
        {"stage": ".."},
        {"stage": f"{PREFIX}stage-h-1-1-{'1' * 32}"},
        *({"remove": [path]} for path in (
            "../victim", "..", "/../../..", "/etc", "a/../../b", "a//b", "a/.", "", "a/",
            ".hidden", f"{PREFIX}stage/x", "_temporary/x", "a\0b", "\ud800", "x" * 10_000, 1, None,
        )),
        {"add": None},
        {"add": [[]]},
        {"add": [["a"]]},
        {"add": [["a", -1]]},
        {"add": [["a", True]]},
        {"add": [["../a", 1]]},
        {"add": [[1, "a"]]},
        {"remove": "a"},
        {"remove": ["a"], "add": [["a", 1]]},
        {"definition": 1},
        {"definition": {}},
        {"definition": {"table": "t"}},
        {"definition": {"table": "t", "digest": 1}},
        *({"version": 2, "batch": batch} for batch in (
            {"job": "../x", "number": 1}, {"job": "0" * 32, "number": "1"},
            {"job": "0" * 32, "number": -1}, {"job": "0" * 32, "number": True}, 1,
        )),
        {"batch": None},
        {"owner": "x"},
    ],
)  # fmt: skip
def test_a_journal_names_only_files_of_its_table(change: dict[str, Any]) -> None:
    name = commit_name()
    fields = {
        "version": 1, "stage": str(name.of(CommitFileKind.STAGE)), "add": [], "remove": [],
        "definition": None,
    }  # fmt: skip

    assert Journal.decode(json.dumps(fields).encode(), name).add == ()
    with pytest.raises(ValueError, match=r"^it"):
        Journal.decode(json.dumps({**fields, **change}).encode(), name)


@pytest.mark.parametrize("kind", [CommitFileKind.COMMIT, CommitFileKind.PENDING])
@pytest.mark.parametrize(
    "content", [b"", b"[]", b'{"version": 1}', b"\xff", b"[" * 100_000, b'{"version": true}']
)
def test_a_damaged_journal_blocks_the_table_until_it_is_deleted(
    directory: Directory, content: bytes, kind: CommitFileKind
) -> None:
    staged(directory, {"old": "1"}).commit()
    held, journal = Definition("t", "old"), Path(directory.root, str(commit_name(kind)))
    journal.write_bytes(content)
    uses: tuple[Callable[[], object], ...] = (
        lambda: read_consistently(directory, held, lambda: None),
        lambda: clean(directory, held),
        lambda: FileStage(directory, held=held).check(),
    )
    for use in uses:
        with pytest.raises(ExternalError) as caught:
            use()
        assert "invalid-journal" == caught.value.code
        assert str(journal) in caught.value.problem
        assert "delete the file" in str(caught.value.hint)
    journal.unlink()
    staged(directory, {"new": "2"}).commit()

    assert {"old": "1", "new": "2"} == content_of(directory)


def test_a_journal_of_a_later_version_is_not_read(directory: Directory) -> None:
    Path(directory.root).mkdir()
    journal = Path(directory.root, str(commit_name()))
    journal.write_text('{"version": 4}')
    with pytest.raises(ExternalError) as caught:
        read_consistently(directory, None, lambda: None)

    assert "commit-unfinished" == caught.value.code
    assert str(journal) in caught.value.problem


def test_a_journal_whose_new_files_are_lost_deletes_nothing(directory: Directory) -> None:
    staged(directory, {"p=1/old": "1"}).commit()
    name = commit_name()
    stage = str(name.of(CommitFileKind.STAGE))
    for journal in (
        Journal(stage, (("p=1/old", 9),), ()),
        Journal(stage, (("p=1", 9),), ()),
        Journal(stage, (), ("p=1",)),
    ):
        directory.create(name, journal.encode())
        with pytest.raises(ExternalError) as caught:
            read_consistently(directory, None, lambda: None)
        directory.delete(name)

        assert "invalid-journal" == caught.value.code
        assert {"p=1/old": "1"} == content_of(directory)


@pytest.mark.parametrize("number", [str(2**31), "9" * 10, "0", "٣"])
def test_any_number_of_a_process_is_read(directory: Directory, number: str) -> None:
    host = Owner.this().host
    leave(directory, f"{PREFIX}stage-{host}-{number}-1-{'a' * 32}")
    staged(directory, {"part-0": "1"}).commit()

    assert {"part-0": "1"} == content_of(directory)


@pytest.mark.parametrize("where", ["", "p=1"])
def test_a_stage_that_is_a_link_moves_nothing(
    directory: Directory, tmp_path: Path, where: str
) -> None:
    elsewhere, name = tmp_path / "elsewhere", commit_name()
    elsewhere.mkdir()
    (elsewhere / "file").write_text("x")
    stage = str(name.of(CommitFileKind.STAGE))
    link = Path(directory.root, stage, where)
    link.parent.mkdir(parents=True)
    link.symlink_to(elsewhere)
    path = f"{where}/file" if where else "file"
    directory.create(name, Journal(stage, ((path, 1),), ()).encode())
    with pytest.raises(ExternalError) as caught:
        read_consistently(directory, None, lambda: None)

    assert "commit-unfinished" == caught.value.code
    assert ["file"] == [path.name for path in elsewhere.iterdir()]


LINKED_SCOPES = {
    "INSERT OVERWRITE": ("link", OverwriteScope(everything=True)),
    "INSERT OVERWRITE of a partition": ("p=1", OverwriteScope(partitions=1)),
    "INSERT INTO a partition": ("p=1", APPEND),
    "CREATE TABLE AS": ("p=1", OverwriteScope(empty=True)),
}


@pytest.mark.parametrize("name", LINKED_SCOPES)
def test_a_write_does_not_follow_a_link_out_of_the_table(
    directory: Directory, tmp_path: Path, name: str
) -> None:
    link, scope = LINKED_SCOPES[name]
    elsewhere, root = tmp_path / "elsewhere", Path(directory.root)
    elsewhere.mkdir()
    root.mkdir()
    (root / link).symlink_to(elsewhere)
    if not scope.empty:
        (elsewhere / "file").write_text("x")
    before = content_of(Directory(LocalFiles(), str(elsewhere)))
    stage = staged(directory, {"p=1/part-0": "1"}, scope)
    with pytest.raises(ExternalError) as caught:
        stage.commit()
    stage.abort()

    assert "not-allowed" == caught.value.code
    assert str(root / link) in caught.value.problem
    assert before == content_of(Directory(LocalFiles(), str(elsewhere)))
    assert [] == hidden(directory)


def test_only_the_link_to_a_file_is_deleted(directory: Directory, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    Path(directory.root).mkdir()
    Path(directory.root, "link").symlink_to(tmp_path / "file")
    staged(directory, {"part-0": "1"}, OverwriteScope(everything=True)).commit()

    assert {"part-0": "1"} == content_of(directory)
    assert "x" == (tmp_path / "file").read_text()


def test_the_directory_of_a_table_may_be_a_link(directory: Directory, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    Path(directory.root).symlink_to(tmp_path / "elsewhere")
    staged(directory, {"p=1/part-0": "1"}).commit()
    staged(directory, {"p=1/part-1": "2"}, OverwriteScope(everything=True)).commit()

    assert {"p=1/part-1": "2"} == content_of(directory)


@pytest.mark.parametrize("make", [
    lambda place, other: place.mkdir(),
    lambda place, other: place.symlink_to(other),
    lambda place, other: os.mkfifo(place),
], ids=["directory", "link", "pipe"])  # fmt: skip
@pytest.mark.parametrize("name", [str(commit_name()), LOCK], ids=["journal", "lock"])
def test_no_other_file_is_taken_for_a_journal_or_lock(
    directory: Directory, tmp_path: Path, name: str, make: Callable[[Path, Path], None]
) -> None:
    place, other = Path(directory.root, name), tmp_path / "not-there"
    place.parent.mkdir()
    if name != LOCK:  # a lock is created
        other.touch()
    make(place, other)
    with pytest.raises(ExternalError) as caught:
        clean(directory, None)

    assert caught.value.code == ("file-system-failed" if name == LOCK else "invalid-journal")
    assert (str(place) in caught.value.problem, True) == (True, bool(caught.value.hint))
    assert other.exists() == (name != LOCK)


def test_random_journals_touch_nothing_outside_of_their_table() -> None:
    """`python -m fuzz.journals` draws more of them."""
    results = [run_journals(seed) for seed in range(50)]

    assert [] == [result.problems for result in results if result.problems]
    assert {"done", "invalid-journal"} <= {ended for result in results for ended in result.ended}


# --- a definition that waits for its catalog -----------------------------------------------------


def pending(directory: Directory, definition: Definition) -> None:
    """The state after a REPLACE was killed just before or after its change of the catalog."""
    stage = FileStage(directory, OverwriteScope(everything=True), definition=definition)
    Path(stage.staging_directory).mkdir(parents=True)
    Path(stage.staging_directory, "new").write_text("new")
    stage.prepare()
    dead = CommitFileName(CommitFileKind.STAGE, a_dead_process(), stage.name.id)
    root = Path(directory.root)
    journal = root / str(stage.name.of(CommitFileKind.PENDING))
    text = journal.read_text().replace(str(stage.name), str(dead))
    (root / str(dead.of(CommitFileKind.PENDING))).write_text(text)
    journal.unlink()
    (root / str(stage.name)).rename(root / str(dead))
    stage._close()


@pytest.mark.parametrize(
    ("held", "found"),
    [
        (Definition("t", "new"), {"new": "new"}),
        (Definition("t", "old"), {"old": "old"}),
        (None, {"old": "old"}),
    ],
)
def test_a_pending_journal_applies_to_its_definition_only(
    directory: Directory, held: Definition | None, found: dict[str, str]
) -> None:
    Path(directory.root).mkdir()
    (Path(directory.root) / "old").write_text("old")
    pending(directory, Definition("t", "new"))

    assert found == read_consistently(directory, held, lambda: content_of(directory))
    stage = FileStage(directory, held=held)
    stage.check()
    stage.commit()
    assert (found, []) == (content_of(directory), hidden(directory))


def test_a_table_leaves_the_pending_journal_of_another_one_with_its_directory(
    directory: Directory,
) -> None:
    """It may have taken effect: only the catalog of that table shows it."""
    Path(directory.root).mkdir()
    (Path(directory.root) / "old").write_text("old")
    pending(directory, Definition("t", "new"))
    other = Definition("other", "new")
    stage = FileStage(directory, held=other)
    stage.check()
    stage.commit()
    clean(directory, other)
    held = Definition("t", "new")

    assert {"old": "old"} == read_consistently(directory, other, lambda: content_of(directory))
    assert {"new": "new"} == read_consistently(directory, held, lambda: content_of(directory))
    assert [] == hidden(directory)

    (Path(directory.root) / "new").unlink()
    pending(directory, Definition("t", "newer"))
    for path in Path(directory.root).glob(f"{PREFIX}*"):
        os.utime(path, (1, 1))
    clean(directory, other)
    assert [] == hidden(directory)


# --- concurrency --------------------------------------------------------------------------------


def in_threads(*works: Callable[[], None]) -> list[BaseException]:
    errors: list[BaseException] = []

    def guarded(work: Callable[[], None]) -> None:
        try:
            work()
        except BaseException as error:  # noqa: BLE001 - returned
            errors.append(error)

    threads = [threading.Thread(target=guarded, args=(work,)) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return errors


def test_concurrent_appends_lose_no_rows(directory: Directory) -> None:
    def appending(writer: int) -> Callable[[], None]:
        def work() -> None:
            for number in range(8):
                files = {f"p={part}/part-{writer}-{number}": "x" for part in range(3)}
                staged(directory, files).commit()

        return work

    assert [] == in_threads(*map(appending, range(4)))
    assert 4 * 8 * 3 == len(content_of(directory))
    assert [] == hidden(directory)


def test_one_of_two_concurrent_creates_in_a_directory_succeeds(directory: Directory) -> None:
    stages = [
        staged(directory, {f"part-{n}": str(n)}, OverwriteScope(empty=True)) for n in range(4)
    ]

    def committing(stage: FileStage) -> Callable[[], None]:
        def work() -> None:
            try:
                stage.commit()
            except SchemaCoreError:
                stage.abort()
                raise

        return work

    errors = in_threads(*map(committing, stages))

    assert ["target-not-empty"] * 3 == [getattr(error, "code", repr(error)) for error in errors]
    assert 1 == len(content_of(directory))
    assert [] == hidden(directory)


def test_readers_see_each_overwrite_atomically(directory: Directory) -> None:
    """A reader that lists while others overwrite finds the files of one writer, and all of them."""

    def files(number: int) -> dict[str, str]:
        return {f"p={part}/part-{number}": str(number) for part in range(3)}

    staged(directory, files(0)).commit()
    seen: list[Counter[str]] = []
    done = threading.Event()

    def overwriting(first: int) -> Callable[[], None]:
        def work() -> None:
            for number in range(first, first + 12):
                staged(directory, files(number), OverwriteScope(everything=True)).commit()

        return work

    def reading() -> None:
        while not done.is_set():
            result = read_consistently(
                directory, None, lambda: [path for path, _ in directory.files()]
            )
            seen.append(Counter(path.rpartition("-")[2] for path in result))

    failed: list[BaseException] = []
    reader = threading.Thread(target=lambda: failed.extend(in_threads(reading)))
    reader.start()
    errors = in_threads(overwriting(100), overwriting(200))
    done.set()
    reader.join()

    assert [] == errors
    assert {"concurrent-modification"} >= {getattr(item, "code", repr(item)) for item in failed}
    assert seen
    assert {3} == {item.total() for item in seen}
    assert {1} == {len(item) for item in seen}


def test_a_read_during_continuous_commits_takes_the_lock(directory: Directory) -> None:
    """A commit succeeds during every listing that does not hold the lock."""
    staged(directory, {"part-first": "x"}).commit()
    outcomes: list[str] = []

    def files_while_committing() -> list[str]:
        stage = staged(directory, {f"part-{len(outcomes)}": "x"}, lock_timeout=0)
        try:
            stage.commit()
            outcomes.append("committed")
        except ExternalError as error:
            stage.abort()
            outcomes.append(error.code)
        return [path for path, _ in directory.files()]

    result = read_consistently(directory, None, files_while_committing)

    assert ["committed"] * UNLOCKED_ATTEMPTS + ["lock-not-available"] == outcomes
    assert UNLOCKED_ATTEMPTS + 1 == len(result)
    assert [] == hidden(directory)


def test_a_read_works_without_a_lock_that_it_cannot_create(tmp_path: Path) -> None:
    class ReadOnly(LocalFiles):
        def lock(self, path: str) -> Callable[[], None] | None:
            raise PermissionError(path)

    (tmp_path / "part-0").write_text("x")
    calls: list[int] = []

    def listing() -> int:
        calls.append(1)
        if len(calls) <= UNLOCKED_ATTEMPTS + 1:
            (tmp_path / f"part-{len(calls)}").write_text("x")
        return len(calls)

    reader = Directory(ReadOnly(), str(tmp_path))

    assert UNLOCKED_ATTEMPTS + 2 == read_consistently(reader, None, listing)


def test_a_failed_lock_closes_its_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[Any] = []

    def refuse(file: Any, flags: int) -> None:
        opened.append(file)
        raise OSError("no locks available")

    monkeypatch.setattr("fcntl.flock", refuse)

    with pytest.raises(OSError, match="no locks available"):
        LocalFiles().lock(str(tmp_path / "lock"))

    assert [True] == [file.closed for file in opened]


def appended_until_killed(directory: Directory, acknowledged: Path, writer: int) -> None:
    """Append batches of three files in a separate process; acknowledge each after its commit."""
    for number in range(1_000):
        batch = f"{writer}.{number}"
        staged(directory, {f"p={part}/part-{batch}": "x" for part in range(3)}).commit()
        (acknowledged / batch).write_text("")


def test_killed_concurrent_writers_neither_lose_nor_split_batches(
    directory: Directory, tmp_path: Path
) -> None:
    acknowledged = tmp_path / "acknowledged"
    acknowledged.mkdir()
    splits: list[int] = []

    def spawned(writer: int) -> int:
        if not (child := os.fork()):
            try:
                appended_until_killed(directory, acknowledged, writer)
            finally:
                os._exit(1)
        return child

    def batches() -> Counter[str]:
        result = read_consistently(directory, None, directory.files)
        return Counter(path.rpartition("-")[2] for path, _ in result)

    children = [spawned(writer) for writer in range(3)]
    for writer in range(3, 12):
        time.sleep(0.15)
        child = children.pop(0)
        os.kill(child, 9)
        assert os.WIFSIGNALED(os.waitpid(child, 0)[1])
        splits += [count for count in batches().values() if count != 3]
        children.append(spawned(writer))
    for child in children:
        os.kill(child, 9)
        os.waitpid(child, 0)
    staged(directory, {"p=9/part-last": "x"}).commit()

    result = batches()
    assert [] == splits
    assert 1 == result.pop("last")
    assert {3} == set(result.values())
    assert {path.name for path in acknowledged.iterdir()} <= set(result)
    assert [] == hidden(directory)


def test_waiting_for_a_held_lock_times_out(directory: Directory) -> None:
    release = take_lock(directory)
    with pytest.raises(ExternalError) as caught:
        take_lock(directory, timeout=0.1)
    release()
    take_lock(directory, timeout=0.1)()

    assert "lock-not-available" == caught.value.code
    assert [] == hidden(directory)


def test_the_lock_of_a_killed_process_is_released(directory: Directory) -> None:
    if not (child := os.fork()):
        take_lock(directory)
        os.kill(os.getpid(), 9)
    os.waitpid(child, 0)

    take_lock(directory, timeout=0.1)()


def test_a_stale_journal_of_a_finished_commit_is_harmless(tmp_path: Path) -> None:
    """A process that was suspended during recovery finds the commit completed."""
    world, scenario = World(tmp_path), Scenario(FLAT, {}, ())
    world.begin(scenario)
    directory = Directory(LocalFiles(), str(world.root))
    name = CommitFileName(CommitFileKind.COMMIT, a_dead_process(), "0" * 32)
    directory.create(name, Journal(str(name.of(CommitFileKind.STAGE)), (), tuple(FLAT)).encode())

    class Suspended(LocalFiles):
        def read(self, path: str) -> bytes:
            result = super().read(path)
            other = Directory(LocalFiles(), str(world.root))
            read_consistently(other, None, lambda: None)
            (world.root / "old-1").write_text("written later")
            return result

    late: Any = Directory(Suspended(), str(world.root))
    read_consistently(late, None, lambda: None)

    assert {"old-1": "written later"} == content_of(directory)
    remove_leftovers(directory)
    assert {"old-1": "written later"} == content_of(directory)


def test_a_stage_in_which_a_task_still_writes_is_removed(tmp_path: Path) -> None:
    """Spark may run for a moment after the process of a job has been killed."""
    stage = tmp_path / str(CommitFileName(CommitFileKind.STAGE, a_dead_process(), "0" * 32))
    stage.mkdir()
    late = [stage / "part-1", stage / "part-2"]

    class Writing(LocalFiles):
        def delete(self, path: str) -> bool:
            if late:
                late.pop().touch()
                os.rmdir(path)  # noqa: PTH106
            return super().delete(path)

    system: Any = Writing()
    remove_leftovers(Directory(system, str(tmp_path)))

    assert [] == [*tmp_path.iterdir()]


# --- new tables ----------------------------------------------------------------------------------


def test_a_foreign_reader_sees_all_files_of_a_new_table_or_none(directory: Directory) -> None:
    files = {f"p={number % 7}/part-{number}": "1" for number in range(200)}
    stage = staged(directory, files, OverwriteScope(empty=True))
    seen: set[int] = set()
    done = threading.Event()

    def poll() -> None:
        while not done.is_set():
            # a directory that is replaced while it is listed is listed again
            with contextlib.suppress(FileNotFoundError):
                seen.add(len(list(Path(directory.root).glob("p=*/part-*"))))

    reader = threading.Thread(target=poll)
    reader.start()
    try:
        while not seen:
            time.sleep(0.001)
        stage.prepare()
        stage.commit()
        while len(files) not in seen:
            time.sleep(0.001)
    finally:
        done.set()
        reader.join()

    assert seen == {0, len(files)}
    assert [] == hidden(directory)
    assert [directory.root] == [str(path) for path in Path(directory.root).parent.iterdir()]


def test_a_new_table_gets_the_permissions_of_its_empty_directory(directory: Directory) -> None:
    Path(directory.root).mkdir(mode=0o750)
    staged(
        directory, {"part-0": "1", "_SUCCESS": "", ".part-0.crc": ""}, OverwriteScope(empty=True)
    ).commit()

    assert 0o750 == Path(directory.root).stat().st_mode & 0o777
    assert ["part-0"] == [path.name for path in Path(directory.root).iterdir()]


def test_a_directory_that_cannot_be_replaced_is_filled(tmp_path: Path) -> None:
    place = tmp_path / "elsewhere"
    place.mkdir()
    (tmp_path / "link").symlink_to(place)
    directory = Directory(LocalFiles(), str(tmp_path / "link"))
    staged(directory, {"part-0": "1"}, OverwriteScope(empty=True)).commit()

    assert (tmp_path / "link").is_symlink()
    assert ["part-0"] == [path.name for path in place.iterdir()]
    assert not LocalFiles().can_publish(str(tmp_path / "nowhere" / "t"))
