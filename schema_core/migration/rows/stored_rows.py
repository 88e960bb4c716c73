"""Whether the stored rows of a table follow another definition, by the rules of their format.

`compat`, `diff`, `plan`, `autogenerate`, `validate` and `upgrade` take their verdict from here: the
differences of columns by the rule set of the format, of partition columns by the rules of
directories' names, and of options by the table of `mappings.stored_options`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from schema_core.base.lazy import dataclass
from schema_core.catalog.managed import ManagedStorage
from schema_core.catalog.objects import CatalogTable, ResolvedCatalogTable
from schema_core.mappings import stored_types
from schema_core.mappings.stored_options import find_changed_options
from schema_core.migration.targets.rewrites import is_stored
from schema_core.migration.targets.target_statements import type_of
from schema_core.schema.resolved import ResolvedSchema
from schema_core.types import RowField, RowType


@dataclass(frozen=True, slots=True)
class StoredRows:
    """The rows of a table as a store has them.

    Attributes:
        columns: The types of the columns that are stored, partition columns included.
        partition_keys: The columns whose values are in the names of directories.
        options: The options by which the rows are read, with the format of managed tables.
    """

    columns: RowType
    partition_keys: tuple[str, ...]
    options: Mapping[str, str]

    @staticmethod
    def of(
        table: ResolvedSchema | ResolvedCatalogTable | CatalogTable,
        storage: ManagedStorage | None = None,
    ) -> StoredRows:
        """Return the rows of a resolved schema or table, or of a table in normal form.

        `storage` is that of the catalog, whose managed tables have its format.
        """
        if isinstance(table, ResolvedSchema):
            return StoredRows(table.to_persisted_row_data_type(), (), {})
        if isinstance(table, ResolvedCatalogTable):
            columns = table.get_resolved_schema().to_persisted_row_data_type()
        else:
            stored = filter(is_stored, table.schema.columns)
            columns = RowType([RowField(column.name, type_of(column)) for column in stored])
        options = dict(table.options)
        if "connector" not in options and storage is not None:
            options.setdefault("format", storage.form)
        return StoredRows(columns, tuple(table.partition_keys), options)

    @property
    def rules(self) -> stored_types.RuleSet:
        """The rules of the format, or Flink's for a table without one."""
        return stored_types.rules_of(self.options)


def find_row_differences(
    old: StoredRows,
    new: StoredRows,
    rules: stored_types.RuleSet | None = None,
    renames: stored_types.Renames = stored_types.NO_RENAMES,
) -> Iterator[stored_types.TypeFinding]:
    """Yield the differences of columns that affect reading stored rows.

    Args:
        old: The rows.
        new: What they are read as.
        rules: The rules by which they are read; by default those of their format, and for
            partition columns `stored_types.DIRECTORIES`.
        renames: As for `RuleSet.findings`.
    """
    keys = old.partition_keys if rules is None else ()
    rules = rules or old.rules
    for part_rules, is_key in ((rules, False), (stored_types.DIRECTORIES, True)):
        before, after = (
            RowType([field for field in rows.columns.fields if (field.name in keys) is is_key])
            for rows in (old, new)
        )
        yield from part_rules.findings(before, after, (), renames)


def find_rewrites(
    old: StoredRows, new: StoredRows, renames: stored_types.Renames = stored_types.NO_RENAMES
) -> Iterator[stored_types.TypeFinding]:
    """Yield why rows must be rewritten before they are read by a new definition.

    A change after which values may be lost does not require it, if INSERT makes it without a CAST.
    Rows in an unknown format are only required to have types that Flink casts implicitly.
    """
    rules = old.rules
    refused = {"type-changed"} if rules is stored_types.FLINK else stored_types.REWRITTEN
    casts = {
        finding.path
        for finding in stored_types.FLINK.findings(old.columns, new.columns, (), renames)
        if finding.kind == "type-changed"
    }
    for finding in find_row_differences(old, new, renames=renames):
        is_at_risk = stored_types.READINGS[finding.kind][0] is stored_types.Reading.AT_RISK
        if finding.kind in refused or (is_at_risk and finding.path in casts):
            yield finding
    for finding in find_changed_options(old.options, new.options):
        if finding.kind in refused:
            meaning = stored_types.READINGS[finding.kind][1]
            reason = f"option {finding.path[0]!r}: {finding.reason}: {meaning}"
            yield finding._replace(reason=reason)
