"""The commands of `schema-core`, and what their exit codes mean."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from schema_core.base.lazy import NamedTuple

#: Name -> `module:function` below this package, in the order of the help.
COMMANDS = {
    "run": "run:run",
    "sql": "shell:sql",
    "compile-plan": "run:compile_plan",
    "run-plan": "run:run_plan",
    "ctas": "run:ctas",
    "recover": "run:recover",
    "refresh": "refresh:refresh_tables",
    "resolve": "resolve:resolve",
    "compat": "compare:compat",
    "explain": "doctor:explain",
    "doctor": "doctor:doctor",
    "check": "resolve:check_script",
    "show": "tables:show",
    "snapshot": "tables:snapshot",
    "diagram": "tables:diagram",
    "convert": "tables:convert",
    "validate": "migrate:validate",
    "drift": "migrate:drift",
    "table-diff": "migrate:compare_tables",
    "init": "new:init",
    "new": "new:new",
    "diff": "compare:diff_tables",
    "plan": "compare:plan_tables",
    "sweep": "sweep:sweep_catalog",
    "migrate": "migrate:migrations",
}
#: The commands that are groups; their functions return Typer applications.
GROUPS = frozenset({"migrate"})
#: The commands whose file may be a program, which gets everything after its name as arguments.
RUNNERS = frozenset({"run"})


def is_program(file: str | Path | None) -> bool:
    """Return whether a file is a program in Python, by its name.

    >>> is_program("job.py"), is_program("job.sql")
    (True, False)
    """
    return file is not None and Path(file).suffix == ".py"


@lru_cache(maxsize=64)
def summary(name: str) -> str:
    """Return the first paragraph of a command's docstring.

    Importing or parsing the modules would take most of the time of ``--help``.
    """
    module, _, function = COMMANDS[name].partition(":")
    text = Path(__file__).with_name(f"{module}.py").read_text(encoding="utf-8")
    docstring = text.partition(f"\ndef {function}(")[2].split('"""')[1]
    return " ".join(docstring.partition("\n\n")[0].split())


class Meaning(NamedTuple):
    """The meanings of 0, 1 and 2; that of 1 is empty for a command without findings."""

    good: str
    wrong: str
    unable: str


_UNREAD = "a file cannot be read"
_UNRESOLVED = "a script cannot be read or resolved"
_SETUP = "the setup or the migrations cannot be read or are invalid"

#: Command -> its exit codes. 2 is also for invalid arguments or configuration, a missing extra, and
#: unwritable output; 130 for Ctrl-C.
EXIT_CODES: dict[str, Meaning] = {
    "run": Meaning(
        "all statements were run", "a statement is invalid or fails, or the program does", _UNREAD
    ),
    "sql": Meaning("the shell has ended", "a statement from a pipe fails", _UNREAD),
    "compile-plan": Meaning("the plan is written", "a statement is invalid or fails", _UNREAD),
    "run-plan": Meaning("the job has finished", "the plan is invalid or its job fails", _UNREAD),
    "ctas": Meaning("the table is created", "the statement is invalid or fails", _UNREAD),
    "recover": Meaning("all tables are recovered", "a table cannot be recovered", _UNREAD),
    "refresh": Meaning("the tables that are due are refreshed", "a refresh fails", _UNREAD),
    "resolve": Meaning("no errors", "a statement is invalid", _UNREAD),
    "check": Meaning("no errors", "a statement, an option or a connector is invalid", _UNREAD),
    "show": Meaning("the tables are printed", "a statement is invalid", _UNREAD),
    "snapshot": Meaning("the files are written", "a statement is invalid", _UNREAD),
    "diagram": Meaning("the diagram is printed", "a statement is invalid", _UNREAD),
    "convert": Meaning(
        "the tables are printed", "a table is invalid, or would hold other values", _UNREAD
    ),
    "compat": Meaning("compatible", "a table is incompatible", _UNRESOLVED),
    "diff": Meaning("no changes", "there are changes", _UNRESOLVED),
    "plan": Meaning("the plan covers all changes", "a change is unsupported", _UNRESOLVED),
    "validate": Meaning("all rows fit", "there are rows that do not fit", _SETUP),
    "drift": Meaning("no changes", "something was changed outside of migrations", _SETUP),
    "table-diff": Meaning("the tables are equal", "there are differences", _SETUP),
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
    "migrate baseline": Meaning("the migration is recorded", "there are migrations", _SETUP),
    "migrate autogenerate": Meaning("the file is written", "a change is not possible", _SETUP),
    "migrate lint": Meaning("no errors", "a migration has errors", _SETUP),
    "migrate check": Meaning("no differences", "a migration or definition is missing", _SETUP),
    "migrate hash": Meaning("the checksums are written", "", _SETUP),
    "migrate validate": Meaning("all rows fit", "there are rows that do not fit", _SETUP),
    "migrate try": Meaning("the migrations can be applied", "a migration fails", _SETUP),
    "migrate table-diff": Meaning("the tables are equal", "there are differences", _SETUP),
    "migrate rewrite": Meaning(
        "the rows are rewritten", "rows do not fit, or the job fails", _SETUP
    ),
}
