"""The files of a directory that a revision of git has."""

from __future__ import annotations

import subprocess
from pathlib import Path

from schema_core.base.lazy import dataclass
from schema_core.errors import ExternalError, NotFoundError

#: Seconds that a command of git may take.
TIMEOUT = 60


@dataclass(frozen=True, slots=True)
class RevisionFiles:
    """The SQL files of a directory in a revision, without the suffix, by what they are now."""

    name: str = ""
    unchanged: frozenset[str] = frozenset()
    changed: frozenset[str] = frozenset()
    removed: frozenset[str] = frozenset()


def find_revision_files(directory: Path, revision: str) -> RevisionFiles:
    """Compare the SQL files of a directory with those of the commit where a branch began.

    Args:
        directory: A directory within a repository.
        revision: A branch, tag or commit. The files are those of the last common ancestor of it
            and the current commit.

    Raises:
        NotFoundError: with code `not-found` if there is no such commit.
        ExternalError: if git fails or is not installed.
    """
    commit = _git(directory, "rev-parse", "--verify", "--quiet", "--end-of-options",
                  f"{revision}^{{commit}}", missing=revision)  # fmt: skip
    base = _git(directory, "merge-base", commit.strip(), "HEAD", missing=revision).strip()
    listed = _names(_git(directory, "ls-tree", "--name-only", "-z", base, "./"))
    # tracked files only: others are not in the revision
    differing = _git(directory, "diff", "--name-only", "-z", "--relative", "--no-renames", base,
                     "--", ".")  # fmt: skip
    present = frozenset(name for name in listed if (directory / f"{name}.sql").exists())
    changed = _names(differing) & present
    return RevisionFiles(revision, present - changed, changed, listed - present)


def _names(output: str) -> frozenset[str]:
    """Return the names, without the suffix, of the migrations in a list of paths."""
    paths = (Path(path) for path in output.split("\0") if path)
    return frozenset(
        path.stem for path in paths if path.suffix == ".sql" and path.stem[0].isdigit()
    )


def _git(directory: Path, *arguments: str, missing: str | None = None) -> str:
    """Return the output of git; a failure means that the revision `missing` does not exist."""
    try:
        done = subprocess.run(  # noqa: S603 - a revision is one argument, and not an option
            ["git", *arguments],  # noqa: S607 - the git of the user's PATH
            cwd=directory,
            capture_output=True,
            text=True,
            check=False,
            timeout=TIMEOUT,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise ExternalError(f"cannot run git: {error}") from error
    if done.returncode == 0:
        return done.stdout
    if missing is not None:
        raise NotFoundError(
            f"there is no migration and no revision {missing!r} with a common ancestor",
            code="not-found",
            hint="pass a name, a number, or a revision that the clone has: a shallow clone has "
            "only the last one (git fetch --unshallow)",
        )
    raise ExternalError(f"git failed: {done.stderr.strip()}")
