"""The commands of `schema-core`, and what their exit codes mean."""

from __future__ import annotations

from typing import NamedTuple


class CommandSpec(NamedTuple):
    """A command or a group of commands.

    Attributes:
        target: `module:function` below this package; the function of a group returns a Typer
            application.
        summary: The first paragraph of its help.
        is_group: Whether it has commands of its own.
    """

    target: str
    summary: str
    is_group: bool = False


#: Name -> the command, in the order of the help.
COMMANDS = {
    "run": CommandSpec(
        "run:run", "Run a script in batch mode and print the results of its statements."
    ),
    "sql": CommandSpec(
        "shell:sql",
        "Run statements one by one: from a prompt, or from stdin if it is not a terminal.",
    ),
    "compile-plan": CommandSpec(
        "run:compile_plan",
        "Compile the last statement of a script to a plan; the statements before it are run.",
    ),
    "run-plan": CommandSpec(
        "run:run_plan",
        "Execute a plan, which `compile-plan` or COMPILE PLAN wrote, and wait for its job.",
    ),
    "ctas": CommandSpec(
        "run:ctas", "Create a table from the rows of a query, and wait for the job."
    ),
    "recover": CommandSpec(
        "run:recover", "Recover tables of jobs whose processes have ended: commit or roll back."
    ),
    "resolve": CommandSpec(
        "resolve:resolve",
        "Check every statement of a script without running it, and print the resolved schemas.",
    ),
    "compat": CommandSpec(
        "compare:compat", "Compare the tables of a script with those of an older one, by path."
    ),
    "explain": CommandSpec(
        "doctor:explain", "Print the page of an error code, or without a code a list of all."
    ),
    "doctor": CommandSpec(
        "doctor:doctor",
        "Show versions, extras, Java, implementations, why something cannot be used, and caches.",
    ),
    "check": CommandSpec(
        "resolve:check_script",
        "Check every statement of scripts, and the options of their tables, without running them.",
    ),
    "show": CommandSpec(
        "tables:show", "Print the tables and views that a script leaves in its current catalog."
    ),
    "snapshot": CommandSpec(
        "tables:snapshot",
        "Write the tables and views of a catalog as files, with one CREATE statement each.",
    ),
    "convert": CommandSpec(
        "tables:convert", "Convert CREATE TABLE statements from one SQL dialect to another."
    ),
    "validate": CommandSpec(
        "migrate:validate",
        "Count the rows that a wanted definition cannot hold, by file, with samples.",
    ),
    "drift": CommandSpec(
        "migrate:drift",
        "Report what was changed outside of migrations; exits with 1 if there is something.",
    ),
    "init": CommandSpec(
        "new:init",
        "Write the files of a new project: configuration, table, setup and workflow for CI.",
    ),
    "new": CommandSpec(
        "new:new",
        "Write a package with a catalog or connector that works, and tests which it passes.",
    ),
    "diff": CommandSpec(
        "compare:diff_tables",
        "Print the changes between the tables that two scripts leave, by path.",
    ),
    "plan": CommandSpec(
        "compare:plan_tables", "Plan the migration of the tables that both scripts have, by path."
    ),
    "sweep": CommandSpec(
        "sweep:sweep_catalog",
        "Resolve and verify every table of a catalog on Spark, and print a report.",
    ),
    "migrate": CommandSpec(
        "migrate:migrations", "Apply, undo and write migrations of a catalog.", is_group=True
    ),
}


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
