"""``schema-core migrate lint`` and ``check``: gates for continuous integration.

They execute migrations on a scratch catalog, and open the one of the setup only with ``--live``.
"""

from __future__ import annotations

import sys
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from schema_core.base.paths import join_names
from schema_core.catalog.changes.catalog_changes import CatalogChange, ModifyTable
from schema_core.catalog.changes.table_changes import describe
from schema_core.cli import UNREADABLE, script
from schema_core.cli.commands.compare import LEVELS, read_severities
from schema_core.cli.findings import (
    FindingReport,
    Level,
    ReportedFinding,
)
from schema_core.cli.git_files import RevisionFiles, find_revision_files
from schema_core.errors import SchemaCoreError, SchemaError
from schema_core.migration.catalog_differences import CatalogContent, diff_catalogs
from schema_core.migration.files.applied_migrations import DOWN, UP
from schema_core.migration.files.definitions import (
    WantedContent,
    adopt_values,
    import_definitions,
    read_definitions,
)
from schema_core.migration.files.directory import SETUP, MigrationDirectory, MigrationFile
from schema_core.migration.files.migrator import Migrator
from schema_core.migration.files.scratch import mask_secrets, open_scratch
from schema_core.migration.files.variables import FilledScript, hide_values
from schema_core.migration.gates.lint import (
    RULES,
    LintFinding,
    lint_history,
    lint_migrations,
    lint_undo,
)

Since = Annotated[
    str | None,
    typer.Option(
        help="Lint only newer migrations: than a name or number, or than a revision of git."
    ),
]
Live = Annotated[bool, typer.Option("--live", help="Compare with the catalog of the setup, too.")]


def lint_files(
    directory: Path,
    setup: Path | None,
    define: list[str] | None,
    since: str | None,
    severity: list[str] | None,
    accept: list[str] | None,
    live: Migrator | None,
) -> FindingReport:
    """Return the findings of the migrations of a directory.

    Args:
        directory: The directory.
        setup: The setup script; by default that of the directory.
        define: ``NAME=VALUE``, the values of variables.
        since: A migration or a revision of git; only newer migrations are linted.
        severity: ``KIND=LEVEL``.
        accept: ``KIND=REASON`` or ``MIGRATION:KIND=REASON``.
        live: The migrator of the catalog in use, whose history is compared with the files.

    Raises:
        SchemaCoreError: as `lint_migrations`, and for an unknown target of `since`.
    """
    revision = RevisionFiles()
    old: frozenset[str] = frozenset()
    if since is not None:
        target = _find_target(directory, since)
        if target is None:
            revision = find_revision_files(directory, since)
        old = revision.unchanged if target is None else target
    findings = [
        *_revision_findings(directory, revision),
        *(() if live is None else lint_history(live)),
        *lint_migrations(
            directory,
            setup=read_setup(directory, setup, define),
            variables=script.values(define or []),
            old=old,
            severities=read_severities(severity or []),
            accepted=_read_reasons(accept or []),
        ),
    ]
    files = [str(path) for path in sorted(directory.glob("[0-9]*.sql")) if path.stem not in old]
    return FindingReport(
        "migrate lint", [*map(_report_finding, findings)], files or [str(directory)]
    )


def read_setup(
    directory: Path, setup: Path | None, define: list[str] | None, *, warns: bool = False
) -> FilledScript | None:
    """Return the setup script, in which variables without a value stay; None without one."""
    file = setup or directory / SETUP
    if setup is None and not file.exists():
        return None
    return script.read(file, define, warns=warns)


def _find_target(directory: Path, since: str) -> frozenset[str] | None:
    """Return a migration and those that it follows; None if it is not one."""
    try:
        migrations = MigrationDirectory.read(directory)
        return migrations.closure(migrations.find(since).name)
    except SchemaCoreError:
        return None


def _revision_findings(directory: Path, revision: RevisionFiles) -> Iterator[LintFinding]:
    """Yield the files of a revision that were changed or removed since."""
    for kind, problem, names in (
        ("migration-changed", "changed", revision.changed),
        ("migration-missing", "removed", revision.removed),
    ):
        for name in sorted(names):
            message = f"the file was {problem} since {revision.name}"
            yield LintFinding.of(kind, message, directory / f"{name}.sql")


def _read_reasons(options: list[str]) -> dict[str, str]:
    reasons = {}
    for option in options:
        kind, _, reason = option.partition("=")
        if not kind or not reason.strip():
            raise SchemaError(
                f"--accept requires KIND=REASON or MIGRATION:KIND=REASON, got {option!r}",
                code="invalid-argument",
            )
        reasons[kind] = reason.strip()
    return reasons


def _report_finding(finding: LintFinding) -> ReportedFinding:
    level, accepted = LEVELS[finding.severity], ""
    if finding.accepted is not None:
        level, accepted = Level.NOTE, f" (accepted: {finding.accepted})"
    return ReportedFinding(
        level,
        finding.kind,
        f"{finding.message}{accepted}",
        finding.file,
        finding.line,
        finding.column,
        None if accepted else finding.hint,
        finding.subject,
        finding.path,
        finding.excerpt,
    )


# --- dry runs ------------------------------------------------------------------------------------

#: The name of a migration and the number of its statement, 0 for the file -> findings.
Risks: TypeAlias = Mapping[tuple[str, int], Sequence[LintFinding]]


def find_risks(
    migrator: Migrator,
    directory: Path,
    setup: Path | None,
    define: list[str] | None,
    target: str | None,
) -> Risks:
    """Return what `lint_migrations` finds in the pending migrations up to a target.

    Args:
        migrator: The migrator of the catalog in use.
        directory: The directory of the migrations.
        setup: The setup script; by default that of the directory.
        define: ``NAME=VALUE``, the values of variables.
        target: The last migration, as for `Migrator.upgrade`.

    Raises:
        SchemaCoreError: as `lint_migrations`.
    """
    if not (pending := migrator.pending(target)):
        return {}
    files = {file.name: file for file in migrator.directory.migrations}
    findings = lint_migrations(
        migrator.directory,
        setup=read_setup(directory, setup, define),
        variables=migrator.variables,
        old=files.keys() - {*pending},
    )
    return _risks_by_statement(findings, files, UP, migrator.variables)


def find_undo_risks(
    migrator: Migrator, setup: Path | None, define: list[str] | None, target: str
) -> Risks:
    """Return what `lint_undo` finds in the undo of the migrations after a target.

    Args:
        migrator: The migrator of the catalog in use.
        setup: The setup script; by default that of the directory of the migrations.
        define: ``NAME=VALUE``, the values of variables.
        target: As for `Migrator.downgrade`.

    Raises:
        SchemaCoreError: as `lint_undo`.
    """
    files = {file.name: file for file in migrator.find_undone(target)}
    setup_script = read_setup(migrator.directory.path, setup, define)
    findings = lint_undo(migrator, [*files], setup=setup_script)
    return _risks_by_statement(findings, files, DOWN, migrator.variables)


def _risks_by_statement(
    findings: Sequence[LintFinding],
    files: Mapping[str, MigrationFile],
    section: str,
    variables: Mapping[str, str],
) -> Risks:
    risks: dict[tuple[str, int], list[LintFinding]] = {}
    for finding in findings:
        file = files.get(Path(finding.file).stem)
        if file is not None:
            lines = file.step_lines(section, variables)
            number = bisect_right(lines, finding.line) if finding.line else 0
            risks.setdefault((file.name, number), []).append(finding)
    return risks


def describe_risk(finding: LintFinding) -> str:
    """Return a finding in one line, without its place.

    An error is one of the scratch catalog only, since the dry run was executed: it lacks what no
    migration creates.
    """
    if finding.kind not in RULES:
        return f"warn: risks are not known: {finding.message} [{finding.kind}]"
    places = [part for part in (finding.subject, *finding.path) if part]
    about = f"{join_names(places[1:])}: " if places[1:] else ""
    subject = f"{places[0]}: " if places else ""
    accepted = f" (accepted: {finding.accepted})" if finding.accepted is not None else ""
    return f"{finding.severity.value}: {subject}{about}{finding.message} [{finding.kind}]{accepted}"


# --- check ---------------------------------------------------------------------------------------


def check_definitions(
    directory: Path,
    tables: Path | None,
    module: str | None,
    setup: Path | None,
    define: list[str] | None,
    live: Migrator | None,
) -> FindingReport:
    """Return the differences between wanted definitions and what the migrations lead to.

    Args:
        directory: The directory of the migrations.
        tables: A script with CREATE statements, or a directory of scripts.
        module: ``module:attribute`` of table descriptors, in place of `tables`.
        setup: The setup script; by default that of the directory.
        define: ``NAME=VALUE``, the values of variables.
        live: The migrator of the catalog in use, which is compared with the definitions, too.

    Raises:
        SchemaError: with code `invalid-argument` without exactly one of `tables` and `module`;
            `migration-checksum-mismatch`; `migration-branches`.
        SchemaCoreError: of a migration or a definition.
    """
    if (tables is None) == (module is None):
        raise SchemaError("pass either --from or --module", code="invalid-argument")
    with script.exit_on_error(directory, UNREADABLE):
        migrations = MigrationDirectory.read(directory)
    text = read_setup(directory, setup, define)
    with open_scratch(migrations, setup=text, variables=script.values(define or [])) as scratch:
        scratch.migrator.upgrade_definitions()
        reached = scratch.migrator.content()
        if module is not None:
            sys.path.insert(0, "")  # modules beside the project, as `python -m` finds them
            wanted = import_definitions(scratch.environment, module)
        else:
            values = script.values(define or [])
            wanted = read_definitions(scratch.environment, tables or Path(), values)
        hidden = migrations.find_hidden_values(scratch.migrator.variables)
        if isinstance(wanted, WantedContent):
            hidden |= wanted.hidden
        findings = [*_differences(reached, wanted, "definition-not-migrated", str(directory))]
    if live is not None:
        content = live.content()
        goal = adopt_values(wanted, content)
        findings += _differences(content, goal, "catalog-differs", str(directory))
    shown = [replace(finding, message=hide_values(finding.message, hidden)) for finding in findings]
    return FindingReport("migrate check", shown, [str(directory)])


#: Kind of difference -> what it is, and what to do.
DIFFERENCES = {
    "definition-not-migrated": (
        "the migrations do not",
        "write the migration: schema-core migrate autogenerate NAME --from FILE",
    ),
    "catalog-differs": (
        "the catalog does not",
        "apply the migrations: schema-core migrate upgrade; see schema-core migrate drift",
    ),
}


def _differences(
    content: CatalogContent, wanted: CatalogContent, kind: str, place: str
) -> Iterator[ReportedFinding]:
    """Yield the changes that lead from a catalog to wanted definitions."""
    problem, hint = DIFFERENCES[kind]
    wanted = replace(wanted, databases={**content.databases, **wanted.databases})
    for change in diff_catalogs(mask_secrets(content), mask_secrets(wanted)):
        for subject, text in _describe_parts(change):
            message = f"{problem}: {text}"
            yield ReportedFinding(Level.ERROR, kind, message, place, hint=hint, subject=subject)


def _describe_parts(change: CatalogChange) -> Iterator[tuple[str, str]]:
    """Yield the path of a table and a description of each part of a change."""
    if isinstance(change, ModifyTable):
        yield from ((str(change.path), describe(part)) for part in change.changes)
    else:
        yield "", change.description()
