"""Random journals, records and links in the directory of a table: nothing outside is touched.

    python -m fuzz.journals --runs 2000

Each run puts hidden files of this library into the directory of a table: valid, damaged, hostile
and generated ones, and links. Then the table is read, written, overwritten and recovered. Files
outside of the directory must stay as they are. Each operation succeeds, or raises an error with a
code, the path of a file and a hint; once the journals that errors name are deleted, as their hint
says, the table is read and written.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from schema_core.environment.jobs.pending import Owner
from schema_core.errors import SchemaCoreError
from schema_core.spark.commit.commit import (
    APPEND,
    LOCK,
    PREFIX,
    Batch,
    CommitFileKind,
    CommitFileName,
    Definition,
    FileStage,
    Journal,
    OverwriteScope,
    clean,
    last_batch,
    read_consistently,
)
from schema_core.spark.commit.directory import Directory
from schema_core.spark.commit.file_systems import LocalFiles, visible_files

#: The table of the catalog, and the definition that it holds.
HELD = Definition("c.d.t", "0" * 64)
OLD = {"old-0": "0", "p=1/old-1": "1", "p=2/old-2": "2"}
NEW = {"new-0": "3", "p=1/new-1": "4", "p=3/new-2": "5"}

#: How deep the table is in its temporary directory: if a path of `HOSTILE_PATHS` were followed, it
#: would not leave that. None is absolute.
DEPTH = 5

#: Paths that lead out of the directory of a table, or to hidden files in it.
HOSTILE_PATHS = (
    "..", "../victim", "../victim.txt", "../victim/inner/file", "x/../../..", "./../victim.txt",
    "p=1/../../victim", "p=1//../../victim.txt", "link", "link/file", "link/inner", "file-link",
    "", ".", "p=1", "p=1/", "./old-0", LOCK, ".hidden", "_temporary/x", "p=1/.crc", "../..",
    "..\u0000", "\u0000", "\ud800", "\udcff", "a" * 300, "x/" * 3000 + "x", "C:\\x", "..\\victim",
    "file:///etc/passwd", "~", "$HOME", "%2e%2e/victim", "*", f"{PREFIX}stage",
)  # fmt: skip

#: Values that are not what a journal has at their place.
ODD_VALUES: tuple[Any, ...] = (
    None, True, False, 0, 1, -1, 2.5, 1e400, 10**30, "", "x", "..", [], {}, [[]], [None], ["..", 1],
    [["..", 1]], [["old-0", -1]], [["old-0", "1"]], {"table": "t"}, {"job": "../x", "number": 1},
    {"job": "0" * 32, "number": 10**25}, {"table": 1, "digest": None},
)  # fmt: skip

#: Content that is not a journal.
ODD_CONTENT = (
    b"", b"[]", b"{}", b"null", b"0", b'{"version": 1}', b'{"version": true}', b'{"version": 99}',
    b'{"version": "1"}', b"\xff\xfe", b"\x00" * 100, b"[" * 100_000, b'{"version": 1' * 1000,
    b'{"version": ' + b"9" * 5000 + b"}", b"not a journal\n",
)  # fmt: skip


@dataclass
class World:
    """A table, and what is beside it, in a temporary directory."""

    outermost: Path
    random: random.Random

    @property
    def folder(self) -> Path:
        """The directory that contains that of the table."""
        return self.outermost.joinpath(*(f"level-{number}" for number in range(DEPTH)))

    @property
    def root(self) -> Path:
        return self.folder / "table"

    @property
    def directory(self) -> Directory:
        return Directory(LocalFiles(), str(self.root))

    def begin(self) -> None:
        for path, text in OLD.items():
            put(self.root / path, text)
        put(self.folder / "victim.txt", "victim")
        put(self.folder / "victim" / "inner" / "file", "victim")
        put(self.folder / "victim" / ".hidden", "victim")
        put(self.folder / "elsewhere" / "file", "6")
        put(self.folder / "elsewhere" / "inner" / "file", "7")

    def outside(self) -> dict[str, tuple[int, str]]:
        """Return what is beside the table: the mode and content of each file and directory."""
        state: dict[str, tuple[int, str]] = {}
        for place, directories, files in os.walk(self.outermost):
            here = Path(place)
            if here == self.folder:
                directories.remove("table")
            for item in (here / name for name in (*directories, *files)):
                text = item.read_text() if item.is_file() else ""
                state[str(item.relative_to(self.outermost))] = item.lstat().st_mode, text
        return state

    def rows(self) -> Counter[str]:
        files = visible_files(LocalFiles(), str(self.root))
        return Counter((self.root / path).read_text() for path, _ in files)


def put(file: Path, text: str) -> None:
    """Write a file and the directories that it needs."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


# --- what is put into the directory --------------------------------------------------------------


def _owner(draw: random.Random) -> Owner:
    this = Owner.this()
    return draw.choice(
        [
            Owner(this.host, 2**22 + 1, 1),
            Owner(this.host, os.getppid(), 1),
            this,
            Owner("elsewhere", 1, 1),
            Owner(this.host, 0, 0),
            Owner(this.host, 10**9 * 9, 1),
        ]
    )


def _name(draw: random.Random) -> CommitFileName:
    kinds = (CommitFileKind.COMMIT, CommitFileKind.PENDING, CommitFileKind.DRAFT)
    kind = draw.choices(kinds, (6, 3, 1))[0]
    return CommitFileName(kind, _owner(draw), f"{draw.getrandbits(128):032x}")


def _valid(world: World, name: CommitFileName) -> dict[str, Any]:
    """Return the journal of a commit, after staging its files."""
    draw = world.random
    files = {path: text for path, text in NEW.items() if draw.random() < 0.8}
    stage = str(name.of(CommitFileKind.STAGE))
    for path, text in files.items():
        put(world.root / stage / f"{path}-{name.id}", text)
    old = tuple(path for path in OLD if draw.random() < 0.5)
    definition = HELD if name.kind is CommitFileKind.PENDING or draw.random() < 0.3 else None
    batch = (
        Batch(f"{draw.getrandbits(128):032x}", draw.randrange(9)) if draw.random() < 0.3 else None
    )
    new = tuple((f"{path}-{name.id}", len(text)) for path, text in files.items())
    fields: dict[str, Any] = json.loads(Journal(stage, new, old, definition, batch).encode())
    return fields


def _damaged(world: World, name: CommitFileName) -> bytes:
    draw, content = world.random, bytearray(json.dumps(_valid(world, name)).encode())
    match draw.randrange(4):
        case 0:
            return bytes(content[: draw.randrange(len(content))])
        case 1:
            for _ in range(draw.randrange(1, 5)):
                content[draw.randrange(len(content))] = draw.randrange(256)
            return bytes(content)
        case 2:
            start = draw.randrange(len(content))
            del content[start : start + draw.randrange(1, 30)]
            return bytes(content)
        case _:
            return draw.choice(ODD_CONTENT)


def _hostile(world: World, name: CommitFileName) -> bytes:
    draw, fields = world.random, _valid(world, name)
    for _ in range(draw.randrange(1, 4)):
        path = draw.choice(HOSTILE_PATHS)
        if draw.random() < 0.2:
            path = str(world.folder / "victim")
        match draw.randrange(5):
            case 0:
                fields["stage"] = path
            case 1:
                fields["remove"] = [*fields["remove"], path]
            case 2:
                fields["add"] = [*fields["add"], [path, draw.randrange(9)]]
            case 3:
                fields |= {"batch": {"job": path, "number": 1}, "version": 2}
            case _:
                fields["remove"] = [path]
    return json.dumps(fields).encode()


def _generated(world: World, name: CommitFileName) -> bytes:
    draw, fields = world.random, _valid(world, name)
    for key in draw.sample(sorted(fields), draw.randrange(1, len(fields) + 1)):
        fields[key] = draw.choice(ODD_VALUES)
    if draw.random() < 0.2:
        fields[draw.choice(["owner", "kind", ""])] = draw.choice(ODD_VALUES)
    if draw.random() < 0.2:
        del fields[draw.choice(sorted(fields))]
    return json.dumps(fields).encode()


def _put_journal(make: Callable[[World, CommitFileName], bytes]) -> Callable[[World], None]:
    def put_journal(world: World) -> None:
        name = _name(world.random)
        (world.root / str(name)).write_bytes(make(world, name))

    return put_journal


def _put_linked_stage(world: World) -> None:
    """Put a valid journal whose stage, or a directory in it, is a link that leaves the table."""
    name = _name(world.random)
    stage, where = str(name.of(CommitFileKind.STAGE)), world.random.choice(["", "p=1"])
    link = world.root / stage / where if where else world.root / stage
    link.parent.mkdir(exist_ok=True)
    link.symlink_to(world.folder / "elsewhere")
    path = f"{where}/file" if where else "file"
    journal = Journal(stage, ((path, 1),), ("old-0",), None)
    (world.root / str(name)).write_bytes(journal.encode())


def _put_odd_file(world: World) -> None:
    """Put a directory, a link or a pipe in place of a file of this library."""
    place = world.root / world.random.choice(
        [str(_name(world.random)), LOCK, str(Batch("0" * 32, 1)), f"{PREFIX}open"]
    )
    match world.random.randrange(5):
        case 0:
            place.mkdir()
        case 1:
            place.symlink_to(world.folder / "victim.txt")
        case 2:
            place.symlink_to(world.folder / "not-there")
        case 3:
            place.symlink_to(world.folder / "victim")
        case _:
            os.mkfifo(place)


def _put_odd_name(world: World) -> None:
    """Put a file whose name is similar to those of this library."""
    draw = world.random
    kind = draw.choice(["commit", "pending", "batch", "stage", "draft", "COMMIT", ""])
    middle = draw.choice(["h-1-1", "h-١-1", f"h-{'9' * 40}-1", "-1-1", "h--1-1", "h\n-1-1", ""])
    id_ = draw.choice(["0" * 32, "0" * 31, "..", "A" * 32])
    place = world.root / f"{PREFIX}{kind}-{middle}-{id_}"
    content = json.dumps(
        {"version": 1, "stage": "../victim", "add": [], "remove": ["../victim.txt"]}
    )
    place.write_text(draw.choice([content, ""]))


def _put_record(world: World) -> None:
    (
        world.root / str(Batch(world.random.choice(["0", "f"]) * 32, world.random.randrange(9)))
    ).touch()


#: Kind of entry -> the function that puts one into the directory, and its weight.
ENTRIES: dict[str, tuple[Callable[[World], None], int]] = {
    "valid": (_put_journal(lambda world, name: json.dumps(_valid(world, name)).encode()), 4),
    "damaged": (_put_journal(_damaged), 5),
    "hostile": (_put_journal(_hostile), 8),
    "generated": (_put_journal(_generated), 5),
    "linked stage": (_put_linked_stage, 2),
    "odd file": (_put_odd_file, 3),
    "odd name": (_put_odd_name, 2),
    "record": (_put_record, 1),
}

#: Kind of link -> its path in the table, and where it leads to.
LINKS: dict[str, tuple[str, str]] = {
    "directory": ("link", "../elsewhere"),
    "file": ("file-link", "../elsewhere/file"),
    "partition": ("p=4", "../elsewhere"),
}


# --- what is done with the table -----------------------------------------------------------------


def _read(world: World) -> None:
    read_consistently(world.directory, HELD, world.rows)


def _write(world: World, scope: OverwriteScope = APPEND) -> None:
    stage = FileStage(world.directory, scope, held=HELD, lock_timeout=1)
    try:
        stage.check()
        stage.open()
        put(Path(stage.staging_directory, f"p=4/part-{stage.name.id}"), "8")
        put(Path(stage.staging_directory, f"part-{stage.name.id}"), "9")
        stage.commit()
    except BaseException:
        stage.abort()
        raise


OPERATIONS: dict[str, Callable[[World], object]] = {
    "read": _read,
    "last batch": lambda world: last_batch(world.directory, "0" * 32),
    "recover": lambda world: clean(world.directory, HELD),
    "append": _write,
    "overwrite": lambda world: _write(world, OverwriteScope(everything=True)),
    "overwrite partitions": lambda world: _write(world, OverwriteScope(partitions=1)),
}


@dataclass
class Result:
    """What was put into a table, how its operations ended, and what is wrong."""

    entries: list[str]
    ended: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)


def run(seed: int) -> Result:
    """Put random entries into a table, use it, and compare what is beside it."""
    draw = random.Random(seed)
    with tempfile.TemporaryDirectory(prefix="journals-") as folder:
        world = World(Path(folder), draw)
        world.begin()
        kinds = draw.choices(
            [*ENTRIES], [weight for _, weight in ENTRIES.values()], k=draw.randrange(1, 4)
        )
        links = [link for link in LINKS if draw.random() < 0.2]
        result = Result([*kinds, *(f"link to a {link}" for link in links)])
        for link in links:
            path, target = LINKS[link]
            (world.root / path).symlink_to(target)
        for kind in kinds:
            try:
                ENTRIES[kind][0](world)
            except FileExistsError:  # two entries of one name
                continue
        before = world.outside()
        for name in draw.sample([*OPERATIONS], 4):
            _attempt(world, result, name)
            if world.outside() != before:
                result.problems.append(f"{name} has changed what is outside of the table")
                return result
        _mend(world, result, has_links=bool(links))
        if world.outside() != before:
            result.problems.append("after the remedy, what is outside has changed")
    return result


def _attempt(world: World, result: Result, name: str) -> SchemaCoreError | None:
    """Do an operation; note its error, which must have a code, a path and a hint."""
    try:
        OPERATIONS[name](world)
    except SchemaCoreError as error:
        result.ended.append(error.code)
        if not error.code or str(world.root) not in error.problem or not error.hint:
            result.problems.append(f"{name}: no path or hint: {error!r}, {error.hint}")
        return error
    except BaseException as error:  # noqa: BLE001 - reported
        result.problems.append(f"{name}: {error!r}")
    else:
        result.ended.append("done")
    return None


def _mend(world: World, result: Result, *, has_links: bool) -> None:
    """Delete the files that errors name until the table is read, and then appended to."""
    for name in ("read", "append"):
        for _ in range(20):
            error = _attempt(world, result, name)
            if error is None:
                break
            if error.code == "not-allowed" or (error.code == "commit-unfinished" and has_links):
                return  # the remedy is to replace a link
            files = re.findall(r"'((?:[^'\\]|\\.)*)'", error.problem)
            places = [Path(file) for file in files if file.startswith(f"{world.root}/{PREFIX}")]
            if not places:
                result.problems.append(f"{name}: no file to delete in {error!r}")
                return
            LocalFiles().delete(str(places[0]))
        else:
            result.problems.append(f"{name}: still refused after the remedy")


def main() -> int:
    """Run the program; return 1 if something outside was touched, or has no remedy."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    entries: Counter[str] = Counter()
    ended: Counter[str] = Counter()
    failed = 0
    for seed in range(options.seed, options.seed + options.runs):
        result = run(seed)
        entries.update(result.entries)
        ended.update(result.ended)
        failed += bool(result.problems)
        for problem in result.problems:
            print(f"seed {seed}: {result.entries}: {problem}")
    print(f"{options.runs} directories: {failed} failed")
    for title, counts in (("entries", entries), ("operations", ended)):
        print(f"{title}: " + ", ".join(f"{count} {name}" for name, count in counts.most_common()))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
