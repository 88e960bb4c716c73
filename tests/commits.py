"""Check the subjects of commits: `make commits`, and the hook `commit-subject` of pre-commit.

python -m tests.commits main..HEAD
python -m tests.commits --file .git/COMMIT_EDITMSG
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

#: The most characters of a subject.
MAX_SUBJECT = 72
#: The kinds of changes (conventionalcommits.org).
KINDS = ("build", "ci", "docs", "feat", "fix", "perf", "refactor", "revert", "test")
_KIND = re.compile(rf"(?:{'|'.join(KINDS)})(?:\([a-z0-9_-]+\))?!?: (?=\S)")


def problems_of(message: str) -> list[str]:
    """Return what is wrong with the message of a commit.

    >>> problems_of("fix(jdbc): strings are compared by bytes\\n\\nServers differ in collations.")
    []
    >>> problems_of("fix: a full stop.")
    ['the subject ends with a full stop']
    >>> problems_of("Fixed things\\nand others")
    ['the subject has no kind: build, ci, docs, feat, fix, perf, refactor, revert, test', \
'the second line is not empty']
    """
    subject, *rest = message.splitlines() or [""]
    problems = []
    if not _KIND.match(subject):
        problems.append(f"the subject has no kind: {', '.join(KINDS)}")
    if subject.endswith("."):
        problems.append("the subject ends with a full stop")
    if len(subject) > MAX_SUBJECT:
        problems.append(f"the subject has {len(subject)} characters, more than {MAX_SUBJECT}")
    if rest and rest[0].strip():
        problems.append("the second line is not empty")
    return problems


def messages(commits: str) -> list[str]:
    """Return the messages of a range of commits, without merges."""
    command = ["git", "log", "--no-merges", "--format=%B%x00", commits]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return [message.strip() for message in done.stdout.split("\0") if message.strip()]


def main() -> None:
    """Print what is wrong with each commit of a range, or with the message in a file."""
    match sys.argv[1:]:
        case ["--file", file]:
            lines = Path(file).read_text("utf-8").splitlines()
            checked = ["\n".join(line for line in lines if not line.startswith("#"))]
        case [commits]:
            checked = messages(commits)
            if not checked:
                sys.exit(
                    f"the range {commits} has no commits: set RANGE, such as RANGE=HEAD~3..HEAD"
                )
        case _:
            sys.exit(__doc__)
    wrong = 0
    for message in checked:
        for problem in problems_of(message):
            print(f"{(message.splitlines() or [''])[0]!r}: {problem}")
            wrong += 1
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
