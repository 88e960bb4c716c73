"""The exit codes of all commands: 0 without findings, 1 with findings, 2 if one cannot run."""

from __future__ import annotations

from typing import NamedTuple


class Meaning(NamedTuple):
    """What the exit codes of a command mean; 1 is empty for a command that has no findings."""

    good: str
    wrong: str
    unable: str


_UNREAD = "a file cannot be read"
_UNRESOLVED = "a script cannot be read or resolved"
_SETUP = "the setup or the migrations cannot be read or are invalid"

#: Command -> the meanings of 0, 1 and 2. 2 also stands for invalid arguments, an invalid
#: configuration, a missing extra, and output that cannot be written; 130 for Ctrl-C.
EXIT_CODES: dict[str, Meaning] = {
    "run": Meaning("all statements were run", "a statement is invalid or fails", _UNREAD),
    "sql": Meaning("the shell has ended", "a statement from a pipe fails", _UNREAD),
    "compile-plan": Meaning("the plan is written", "a statement is invalid or fails", _UNREAD),
    "run-plan": Meaning("the job has finished", "the plan is invalid or its job fails", _UNREAD),
    "ctas": Meaning("the table is created", "the statement is invalid or fails", _UNREAD),
    "recover": Meaning("all tables are recovered", "a table cannot be recovered", _UNREAD),
    "resolve": Meaning("no errors", "a statement is invalid", _UNREAD),
    "check": Meaning("no errors", "a statement, an option or a connector is invalid", _UNREAD),
    "show": Meaning("the tables are printed", "a statement is invalid", _UNREAD),
    "snapshot": Meaning("the files are written", "a statement is invalid", _UNREAD),
    "convert": Meaning(
        "the tables are printed", "a table is invalid, or would hold other values", _UNREAD
    ),
    "compat": Meaning("compatible", "a table is incompatible", _UNRESOLVED),
    "diff": Meaning("no changes", "there are changes", _UNRESOLVED),
    "plan": Meaning("the plan covers all changes", "a change is unsupported", _UNRESOLVED),
    "validate": Meaning("all rows fit", "there are rows that do not fit", _SETUP),
    "drift": Meaning("no changes", "something was changed outside of migrations", _SETUP),
    "sweep": Meaning("no findings", "a definition has findings", "the source cannot be read"),
    "explain": Meaning("the page is printed", "", "the code is unknown"),
    "doctor": Meaning("the report is printed", "", "the output cannot be written"),
    "init": Meaning("the files are written", "", "a file exists or cannot be written"),
    "new": Meaning(
        "the package is written", "", "the name is invalid, or the files cannot be written"
    ),
    "migrate upgrade": Meaning("the catalog is up to date", "a migration fails", _SETUP),
    "migrate downgrade": Meaning("the migrations are undone", "a migration fails", _SETUP),
    "migrate history": Meaning("no file was changed", "a file was changed or removed", _SETUP),
    "migrate stamp": Meaning("the history is written", "the target is unknown", _SETUP),
    "migrate drift": Meaning("no changes", "something was changed outside of migrations", _SETUP),
    "migrate new": Meaning("the file is written", "the name is invalid", _SETUP),
    "migrate merge": Meaning("the branches are merged", "the name is invalid", _SETUP),
    "migrate autogenerate": Meaning("the file is written", "a change is not possible", _SETUP),
    "migrate validate": Meaning("all rows fit", "there are rows that do not fit", _SETUP),
    "migrate rewrite": Meaning(
        "the rows are rewritten", "rows do not fit, or the job fails", _SETUP
    ),
}
