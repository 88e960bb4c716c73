from schema_core.catalog.changes.catalog_changes import AddDatabase as AddDatabase
from schema_core.catalog.changes.catalog_changes import AddObject as AddObject
from schema_core.catalog.changes.catalog_changes import CatalogChange as CatalogChange
from schema_core.catalog.changes.catalog_changes import ModifyDatabase as ModifyDatabase
from schema_core.catalog.changes.catalog_changes import ModifyObject as ModifyObject
from schema_core.catalog.changes.catalog_changes import ModifyTable as ModifyTable
from schema_core.catalog.changes.catalog_changes import RemoveDatabase as RemoveDatabase
from schema_core.catalog.changes.catalog_changes import RemoveObject as RemoveObject
from schema_core.catalog.changes.catalog_changes import RenameObject as RenameObject
from schema_core.catalog.changes.catalog_changes import apply_to_catalog as apply_to_catalog
from schema_core.catalog.changes.json_format import (
    catalog_changes_from_json as catalog_changes_from_json,
)
from schema_core.catalog.changes.json_format import (
    catalog_changes_to_json as catalog_changes_to_json,
)
from schema_core.catalog.changes.json_format import from_json as from_json
from schema_core.catalog.changes.json_format import to_json as to_json
from schema_core.catalog.changes.normal_forms import normalize as normalize
from schema_core.catalog.changes.table_changes import AddColumn as AddColumn
from schema_core.catalog.changes.table_changes import AddDistribution as AddDistribution
from schema_core.catalog.changes.table_changes import AddField as AddField
from schema_core.catalog.changes.table_changes import AddImmutableColumns as AddImmutableColumns
from schema_core.catalog.changes.table_changes import AddIndex as AddIndex
from schema_core.catalog.changes.table_changes import AddUniqueConstraint as AddUniqueConstraint
from schema_core.catalog.changes.table_changes import AddWatermark as AddWatermark
from schema_core.catalog.changes.table_changes import ColumnPosition as ColumnPosition
from schema_core.catalog.changes.table_changes import DropColumn as DropColumn
from schema_core.catalog.changes.table_changes import DropConstraint as DropConstraint
from schema_core.catalog.changes.table_changes import DropDistribution as DropDistribution
from schema_core.catalog.changes.table_changes import DropField as DropField
from schema_core.catalog.changes.table_changes import DropImmutableColumns as DropImmutableColumns
from schema_core.catalog.changes.table_changes import DropIndex as DropIndex
from schema_core.catalog.changes.table_changes import DropWatermark as DropWatermark
from schema_core.catalog.changes.table_changes import ModifyColumn as ModifyColumn
from schema_core.catalog.changes.table_changes import ModifyColumnComment as ModifyColumnComment
from schema_core.catalog.changes.table_changes import ModifyColumnName as ModifyColumnName
from schema_core.catalog.changes.table_changes import ModifyColumnPosition as ModifyColumnPosition
from schema_core.catalog.changes.table_changes import ModifyDistribution as ModifyDistribution
from schema_core.catalog.changes.table_changes import ModifyFieldComment as ModifyFieldComment
from schema_core.catalog.changes.table_changes import ModifyFieldName as ModifyFieldName
from schema_core.catalog.changes.table_changes import ModifyFieldPosition as ModifyFieldPosition
from schema_core.catalog.changes.table_changes import (
    ModifyImmutableColumns as ModifyImmutableColumns,
)
from schema_core.catalog.changes.table_changes import ModifyNestedType as ModifyNestedType
from schema_core.catalog.changes.table_changes import ModifyPartitionKeys as ModifyPartitionKeys
from schema_core.catalog.changes.table_changes import (
    ModifyPhysicalColumnType as ModifyPhysicalColumnType,
)
from schema_core.catalog.changes.table_changes import ModifySnapshot as ModifySnapshot
from schema_core.catalog.changes.table_changes import ModifyTableComment as ModifyTableComment
from schema_core.catalog.changes.table_changes import (
    ModifyUniqueConstraint as ModifyUniqueConstraint,
)
from schema_core.catalog.changes.table_changes import ModifyWatermark as ModifyWatermark
from schema_core.catalog.changes.table_changes import ResetOption as ResetOption
from schema_core.catalog.changes.table_changes import SetOption as SetOption
from schema_core.catalog.changes.table_changes import TableChange as TableChange
from schema_core.catalog.changes.table_changes import apply as apply
from schema_core.catalog.changes.table_changes import describe as describe
from schema_core.mappings.stored_types import RULE_SETS as RULE_SETS
from schema_core.mappings.stored_types import RuleSet as RuleSet
from schema_core.mappings.stored_types import TypeFinding as TypeFinding
from schema_core.migration.catalog_differences import CatalogContent as CatalogContent
from schema_core.migration.catalog_differences import diff_catalogs as diff_catalogs
from schema_core.migration.catalog_differences import read_catalog as read_catalog
from schema_core.migration.compatibility import FINDINGS as FINDINGS
from schema_core.migration.compatibility import Acceptance as Acceptance
from schema_core.migration.compatibility import CompatibilityAspect as CompatibilityAspect
from schema_core.migration.compatibility import CompatibilityMode as CompatibilityMode
from schema_core.migration.compatibility import CompatibilityReport as CompatibilityReport
from schema_core.migration.compatibility import Finding as Finding
from schema_core.migration.compatibility import Severity as Severity
from schema_core.migration.compatibility import can_jobs_restart as can_jobs_restart
from schema_core.migration.compatibility import can_old_readers_read as can_old_readers_read
from schema_core.migration.compatibility import can_read_old_data as can_read_old_data
from schema_core.migration.compatibility import check_compatibility as check_compatibility
from schema_core.migration.differences import TableChanges as TableChanges
from schema_core.migration.differences import diff as diff
from schema_core.migration.differences import invert as invert
from schema_core.migration.differences import likely_renames as likely_renames
from schema_core.migration.files.applied_migrations import MigrationState as MigrationState
from schema_core.migration.files.applied_migrations import MigrationStatus as MigrationStatus
from schema_core.migration.files.definitions import WantedContent as WantedContent
from schema_core.migration.files.definitions import import_definitions as import_definitions
from schema_core.migration.files.definitions import read_definitions as read_definitions
from schema_core.migration.files.directory import MigrationDirectory as MigrationDirectory
from schema_core.migration.files.directory import MigrationFile as MigrationFile
from schema_core.migration.files.generation import GeneratedMigration as GeneratedMigration
from schema_core.migration.files.generation import autogenerate as autogenerate
from schema_core.migration.files.generation import write_baseline as write_baseline
from schema_core.migration.files.migrator import Migrator as Migrator
from schema_core.migration.files.runs import MigrationResult as MigrationResult
from schema_core.migration.files.trial import Trial as Trial
from schema_core.migration.files.trial import try_migrations as try_migrations
from schema_core.migration.gates.lint import LintFinding as LintFinding
from schema_core.migration.gates.lint import lint_migrations as lint_migrations
from schema_core.migration.plans import MigrationPlan as MigrationPlan
from schema_core.migration.plans import PlanStep as PlanStep
from schema_core.migration.plans import apply_plan as apply_plan
from schema_core.migration.plans import plan as plan
from schema_core.migration.plans import plan_table as plan_table
from schema_core.migration.rows.data_rewrite import rewrite_table as rewrite_table
from schema_core.migration.rows.table_differences import ColumnDifference as ColumnDifference
from schema_core.migration.rows.table_differences import TableDiff as TableDiff
from schema_core.migration.rows.table_differences import ValueSample as ValueSample
from schema_core.migration.rows.table_differences import table_diff as table_diff
from schema_core.migration.rows.validation import RowProblem as RowProblem
from schema_core.migration.rows.validation import ValidationReport as ValidationReport
from schema_core.migration.rows.validation import validate_rows as validate_rows
