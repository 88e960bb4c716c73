"""Rewrites of the rows of a table to a new definition, by one staged REPLACE TABLE AS."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial

from schema_core.base.paths import ObjectIdentifier
from schema_core.catalog.api import Capability, rolled_back
from schema_core.catalog.changes.normal_forms import as_table, normalize
from schema_core.catalog.objects import CatalogTable, ResolvedCatalogTable
from schema_core.catalog.resolve import origin, resolve_table
from schema_core.environment.result import TableResult
from schema_core.environment.table_environment import TableEnvironment
from schema_core.errors import SchemaError
from schema_core.migration.differences import Definition, RenameHints
from schema_core.migration.gates.view_checks import (
    find_dependents,
    name_view,
    read_all_view_states,
    require_working_views,
)
from schema_core.migration.rows.validation import (
    KINDS,
    ValidationReport,
    accepted_kinds,
    column_renames,
    stored_table,
    validate_rows,
)
from schema_core.migration.targets.rewrites import select_query
from schema_core.migration.targets.statement_writer import StatementWriter
from schema_core.migration.targets.target_statements import TARGETS


def rewrite_table(
    environment: TableEnvironment,
    path: str,
    new: Definition,
    *,
    renames: RenameHints | None = None,
    accept: Iterable[str] = (),
) -> TableResult:
    """Rewrite the rows of a table to a new definition; both are replaced in one commit.

    The rows are validated first, and the views that read the table are checked. Readers see the old
    table until the commit; a job that fails or is killed changes nothing (level 3 of FLIP-218).

    Args:
        environment: The environment, whose engine runs the job.
        path: The path of a permanent table.
        new: The new definition. A schema keeps the other parts of the table.
        renames: As for `diff`.
        accept: Problems that do not prevent the rewrite: `value-changed`, `too-long` and
            `value-dropped`, which lose data, and `not-checked` for what cannot be counted.

    Returns:
        The result of the job; `wait` waits for it.

    Raises:
        SchemaError: with code `rows-do-not-fit` for rows that the new definition cannot hold, or
            whose loss is not accepted; `migration-breaks-view` for views that would not work, or
            of which this is not known; as `validate_rows`.
        UnsupportedError: if the connector cannot stage the rows.
    """
    return validated_rewrite(
        environment, path, new, renames=renames, accept=accept, checks_views=True
    )[1]


def validated_rewrite(
    environment: TableEnvironment,
    path: str,
    new: Definition,
    *,
    renames: RenameHints | None = None,
    accept: Iterable[str] = (),
    checks_views: bool = False,
    describe_acceptance: Callable[[Sequence[str]], str] = ", ".join,
) -> tuple[int, TableResult]:
    """Return the number of rows, and the result of the job, of `rewrite_table`.

    A migration checks the views itself, after all of its statements.

    Raises:
        SchemaCoreError: as `rewrite_table`.
    """
    accepted = accepted_kinds(accept)
    report = validate_rows(environment, path, new, renames=renames)
    require_fit(report, accepted, describe_acceptance)
    identifier, table, _ = stored_table(environment, path)
    wanted = new
    if not isinstance(new, CatalogTable):
        wanted = replace(origin(table), schema=as_table(new).schema)
    resolver = environment.schema_resolver
    definition = resolve_table(as_table(wanted), resolver)
    if checks_views:
        _require_working_views(environment, identifier, definition, accepted)
    # the job does not check either what is accepted as not checked
    kinds = {*accepted, "value-changed", "too-long"} if "not-checked" in accepted else accepted
    writer = StatementWriter(
        TARGETS["flink"], tuple(identifier.to_list()), resolver, accepts=frozenset(kinds)
    )
    hints = column_renames(renames or {})
    query = select_query(writer, normalize(table), normalize(definition), hints, [])
    name = identifier.as_serializable_string()
    return report.rows, environment.replace_table(name, definition, environment.sql_query(query))


def _require_working_views(
    environment: TableEnvironment,
    identifier: ObjectIdentifier,
    definition: ResolvedCatalogTable,
    accepted: tuple[str, ...],
) -> None:
    """Refuse a new definition with which views that read the table do not work."""
    read = partial(
        read_all_view_states,
        environment,
        {identifier.object_name},
        skips_others="not-checked" in accepted,
    )
    before = read()
    dependents = find_dependents(before, [identifier])
    name, registry = identifier.catalog_name, environment.catalog_manager.registry
    catalog = registry.get(name)
    if not dependents:
        return
    if Capability.MIGRATIONS not in catalog.capabilities:
        if "not-checked" in accepted:
            return
        raise SchemaError(
            f"{name_view(dependents[0], full_path=True)} was not checked: the catalog {name} "
            "cannot roll a change back",
            code="migration-breaks-view",
            hint="check the view yourself, then accept 'not-checked'",
        )
    with rolled_back(catalog) as trial:
        registry.share(name, trial)
        try:
            trial.alter_table(identifier.to_object_path(), definition, ignore_if_not_exists=False)
            after = read()
        finally:
            registry.share(name, catalog)
    hint = "drop the view, and create it again after the rewrite"
    require_working_views(before, after, {}, hint=hint)


def require_fit(
    report: ValidationReport,
    accepted: tuple[str, ...],
    describe_acceptance: Callable[[Sequence[str]], str] = ", ".join,
) -> None:
    """Require that rows fit a new definition, but for accepted kinds of problems.

    Args:
        report: The report of the table.
        accepted: The kinds.
        describe_acceptance: Returns what accepts some kinds, for the hint.

    Raises:
        SchemaError: with code `rows-do-not-fit`.
    """
    refused = [problem for problem in report.problems if problem.kind not in accepted]
    if refused:
        losses = all(not KINDS[loss.kind] for loss in refused)
        kinds = [*dict.fromkeys(loss.kind for loss in refused)]
        first = "; ".join(line.strip() for line in str(refused[0]).splitlines())
        hint = f"accept the loss: {describe_acceptance(kinds)}"
        raise SchemaError(
            f"rows of {report.path} do not fit the new definition: {first}",
            code="rows-do-not-fit",
            hint=hint if losses else "correct the rows first",
        )
    if report.unchecked and "not-checked" not in accepted:
        how = describe_acceptance(["not-checked"])
        raise SchemaError(
            f"rows of {report.path} were not checked: {'; '.join(report.unchecked)}",
            code="rows-do-not-fit",
            hint=f"check the rows yourself, then accept them: {how}",
        )
