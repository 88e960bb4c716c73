"""Migration plans: the statements that lead a table from one definition to another, as data.

A plan lists what each statement does, which data it puts at risk, how it is undone, and what the
target cannot hold. It contains no secrets. ``MigrationPlan.from_json(p.to_json()) == p``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Final

from schema_core.base import json_codec
from schema_core.base.arguments import require_instance, require_names
from schema_core.base.json_codec import digest
from schema_core.base.lazy import dataclass
from schema_core.base.paths import UnresolvedPath, join_names, parse_path
from schema_core.base.plugins import load_higher
from schema_core.base.secrets import mask, mask_value
from schema_core.base.text import escaped, quantity
from schema_core.catalog.api import Capability
from schema_core.catalog.changes.column_history import (
    ONE_COLUMN,
    file_format,
    with_column_history,
)
from schema_core.catalog.changes.normal_forms import as_table, as_written, normalize
from schema_core.catalog.changes.table_changes import (
    OptionChange,
    Path,
    TableChange,
    print_path,
)
from schema_core.catalog.managed import ManagedStorage, directory_of
from schema_core.catalog.objects import CatalogTable, ResolvedCatalogTable, TableKind
from schema_core.catalog.own_options import without_own_options
from schema_core.catalog.resolve import origin, resolve_table
from schema_core.catalog.statistics import CatalogTableStatistics
from schema_core.environment.table_environment import TableEnvironment
from schema_core.errors import NotFoundError, SchemaCoreError, SchemaError, choose_from
from schema_core.mappings import stored_types
from schema_core.mappings.dialects.api import ddl_losses
from schema_core.mappings.dialects.apply_alterations import (
    apply_change,
    apply_stored_change,
    name_changes_of,
)
from schema_core.mappings.dialects.schemas import column_ddl
from schema_core.mappings.dialects.types import loss_of
from schema_core.mappings.loss import Loss
from schema_core.mappings.stored_options import OPTIONS, find_changed_options, option_rule
from schema_core.mappings.stored_types import TypeFinding
from schema_core.migration.differences import Definition, RenameHints, diff, invert
from schema_core.migration.ordering import (
    ChangeGroup,
    grouped_changes,
    renamed_columns,
    with_renames_apart,
)
from schema_core.migration.rows.stored_rows import StoredRows, find_rewrites, find_row_differences
from schema_core.migration.rows.validation import accepted_kinds, permanent_table
from schema_core.migration.targets.rewrites import (
    create_statements,
    insert_statement,
    is_risk,
    swap_statements,
    table_name_beside,
)
from schema_core.migration.targets.statement_writer import RewriteNeeded, StatementWriter, Target
from schema_core.migration.targets.target_statements import (
    COMPUTED,
    KEY,
    PARTITIONS,
    TARGETS,
    physical,
    type_of,
)
from schema_core.properties.property_map import decode_table, encode_table
from schema_core.schema.columns import (
    UnresolvedColumn,
    UnresolvedComputedColumn,
    UnresolvedMetadataColumn,
    UnresolvedPhysicalColumn,
)
from schema_core.schema.resolve import SchemaResolver
from schema_core.sql.parser import parse_statement
from schema_core.sql.statement_syntax import Alter
from schema_core.types import DataType


@dataclass(frozen=True, slots=True)
class PlanStep:
    """A step: its statements, the changes that they make, and what they mean for the rows.

    `risks` are data that may be lost, or rows for which a statement fails. `undo` is None if data
    is lost or changed. `rewrites` is whether all rows are written; `rows` is the number of rows
    that are written or read, if known.
    """

    statements: tuple[str, ...]
    changes: tuple[str, ...]
    risks: tuple[TypeFinding, ...] = ()
    undo: tuple[str, ...] | None = ()
    rewrites: bool = False
    rows: int | None = None

    def format_risks(self) -> list[str]:
        """Return each risk in one line."""
        return [
            f"{join_names(risk.path) or 'the table'}: {risk.reason} [{risk.kind}]"
            for risk in self.risks
        ]

    def rewritten_rows(self) -> str | None:
        """Return which rows are written again, None without any."""
        if not self.rewrites:
            return None
        return "all rows" if self.rows is None else f"{self.rows:,} rows"


@dataclass(frozen=True, slots=True)
class MigrationPlan:
    """The steps from one definition of a table to another, in the SQL of a target.

    `old` and `new` are property maps, secrets masked. `rewrite` is why the table cannot be altered
    in place. `losses` are parts that the target cannot hold or its statements do not reach.
    """

    target: str
    path: tuple[str, ...]
    old: Mapping[str, str]
    new: Mapping[str, str]
    steps: tuple[PlanStep, ...]
    losses: tuple[str, ...]
    rewrite: str | None = None

    @property
    def statements(self) -> tuple[str, ...]:
        """The statements of all steps."""
        return tuple(text for step in self.steps for text in step.statements)

    @property
    def risks(self) -> tuple[TypeFinding, ...]:
        """The risks of all steps."""
        return tuple(risk for step in self.steps for risk in step.risks)

    def __post_init__(self) -> None:
        _target(self.target)

    @property
    def digest(self) -> str:
        """The SHA-256 of the plan as canonical JSON."""
        return digest(PLAN_DOCUMENT.content(self))

    def to_json(self) -> str:
        """Return the plan as JSON, with its digest."""
        return PLAN_DOCUMENT.write(self)

    @staticmethod
    def from_json(text: str) -> MigrationPlan:
        """Read a plan.

        Raises:
            SchemaError: with code `invalid-plan` for what is not a plan or was changed,
                `version-not-supported` for another version.
        """
        plan: MigrationPlan = PLAN_DOCUMENT.read(require_instance(text, str, "the plan"))
        return plan

    def headline(self) -> str:
        """Return the table, the target, the number of steps, and whether rows are rewritten."""
        name = join_names(self.path)
        how = "in place" if self.rewrite is None else f"by a rewrite: {self.rewrite}"
        count = quantity(len(self.steps), "step")
        return f"{name} ({TARGETS[self.target].title}): {count}, {how}"

    def to_html(self) -> str:
        """Return a self-contained HTML page: the steps, and both definitions side by side.

        A plan does not record renames: a renamed column is shown as dropped and added, next to the
        statement that renames it.
        """
        old, new = decode_table(self.old), decode_table(self.new)
        return str(load_higher("plan_page")(self, old, new))

    def _repr_html_(self) -> str:
        return str(load_higher("plan_html")(self))

    def __str__(self) -> str:
        lines = [self.headline()]
        for number, step in enumerate(self.steps, 1):
            shown = [text.replace("\n", "\n     ") for text in step.statements or ("no statement",)]
            lines += [f"  {number}. {shown[0]}", *(f"     {text}" for text in shown[1:])]
            lines += [f"     at risk: {escaped(risk)}" for risk in step.format_risks()]
            lines += [f"     undo: {line}" for line in step.undo or ()]
            if step.undo is None:
                lines.append("     cannot be undone")
            if rows := step.rewritten_rows():
                lines.append(f"     rewrites {rows}")
        return "\n".join([*lines, *(f"  unsupported: {escaped(loss)}" for loss in self.losses)])


_CODECS: Final = json_codec.Codecs({})
_FINDING: Final = json_codec.tuple_of(
    json_codec.STRING, _CODECS["tuple[str, ...]"], json_codec.STRING
)
_CODECS.update(
    {
        "TypeFinding": json_codec.Codec(
            _FINDING.encode, lambda members: TypeFinding(*_FINDING.decode(members))
        ),
        "PlanStep": json_codec.record(PlanStep, _CODECS),
    }
)

PLAN_DOCUMENT: Final = json_codec.DocumentFormat(
    "schema-core.migration-plan",
    1,
    16_000_000,
    json_codec.record(MigrationPlan, _CODECS),
    "make the plan again with this version of schema_core",
    code="invalid-plan",
)


# --- planning ------------------------------------------------------------------------------------


def plan(
    old: Definition,
    new: Definition,
    target: str = "flink",
    *,
    renames: RenameHints | None = None,
    path: str | tuple[str, ...] = "t",
    statistics: CatalogTableStatistics | None = None,
    resolver: SchemaResolver | None = None,
    storage: ManagedStorage | None = None,
    accept: Iterable[str] = (),
) -> MigrationPlan:
    """Return the plan of a migration: ordered statements in the SQL of the target.

    Args:
        old: The current definition.
        new: The definition to reach.
        target: `flink`, `spark` (tables of files in Spark's own catalog), `iceberg` (through Spark
            SQL), `postgres`, `sqlite`, `duckdb`, `mysql`, `snowflake` or `trino`.
        renames: As for `diff`.
        path: The name of the table, or its path.
        statistics: Statistics of the table, for the rows that a step writes or reads.
        resolver: The resolver of both definitions; by default without user-defined functions.
        storage: The storage of the catalog, for a managed table.
        accept: Changes of values that converting statements make instead of failing:
            `value-changed` (rounded, wrapped) and `too-long` (truncated) as the target's cast does,
            `value-dropped` (NULL).

    Raises:
        SchemaError: as `diff`, `SchemaResolver.resolve` and `ColumnHistory.of`; with code
            `invalid-argument` for a kind that cannot be accepted.
        NotFoundError: with code `unknown-dialect` for another target.
        UnsupportedError: with code `type-not-supported` or `name-not-supported` for what the
            target does not have; as `encode_table` for what a property map does not hold.

    >>> from schema_core import Schema
    >>> old = Schema.new_builder().column("id", "BIGINT").column("name", "STRING").build()
    >>> new = Schema.new_builder().column("id", "BIGINT").column("label", "VARCHAR(20)").build()
    >>> print(plan(old, new, "postgres", renames={"name": "label"}, path="goods"))
    goods (PostgreSQL): 2 steps, in place
      1. ALTER TABLE "goods" ALTER COLUMN "name" TYPE varchar(20) USING CASE WHEN ...
         at risk: name: a value of STRING may not be one of VARCHAR(20) [length-narrowed]
         undo: ALTER TABLE "goods" ALTER COLUMN "name" TYPE text USING CAST("name" AS text)
         rewrites all rows
      2. ALTER TABLE "goods" RENAME COLUMN "name" TO "label"
         undo: ALTER TABLE "goods" RENAME COLUMN "label" TO "name"
    """
    resolver = resolver or SchemaResolver()
    accepts = frozenset(accepted_kinds(accept))
    writer = StatementWriter(_target(target), _path(path), resolver, accepts=accepts)
    require_instance(resolver, SchemaResolver, "the resolver")
    diff(old, new, renames=renames)  # refuses arguments and names before anything is resolved
    hints = {_path(path): name for path, name in (renames or {}).items()}
    stored = as_table(old)
    if storage is None and directory_of(stored) is not None:
        storage = ManagedStorage("")  # in the format of catalogs by default
    before = resolve_table(without_own_options(stored), resolver)
    wanted = resolve_table(without_own_options(as_table(new)), resolver)
    after, secrets = _without_new_secrets(before, wanted)
    before = before.copy(mask(before.options))
    if writer.target.engine is None:
        store = stored_types.rules_of(before.options, storage.form if storage else None)
        writer = replace(writer, keeps_names=_has_names(before, storage), store=store)
    start, end = (_project(table, writer) for table in (before, after))
    count = statistics.row_count if statistics is not None and statistics.row_count >= 0 else None
    columns = {column.name for column in start.schema.columns}
    hints = {path: name for path, name in hints.items() if path[0] in columns}
    writer = replace(writer, renames=hints)
    rewrite = None
    try:
        if writer.target.engine is None:
            _require_readable(start, end, hints, storage)
        steps = tuple(_alter_in_place(writer, start, end, hints, count))
        if writer.target.engine is None:
            stored = normalize(before)
            steps = tuple(_check_steps(steps, stored, end, resolver, storage))
    except RewriteNeeded as reason:
        rewrite = str(reason)
        writer.losses.clear()
        writer.risks.clear()
        steps = tuple(_rewrite(writer, start, end, hints, count))
    losses = [*_find_losses(after, writer.target), *writer.losses]
    return MigrationPlan(
        writer.target.name,
        writer.path,
        dict(encode_table(before)),
        dict(encode_table(after)),
        steps,
        tuple(dict.fromkeys([*secrets, *map(str, losses)])),
        rewrite,
    )


def plan_table(
    environment: TableEnvironment,
    path: str,
    new: Definition,
    target: str = "flink",
    *,
    renames: RenameHints | None = None,
    accept: Iterable[str] = (),
) -> MigrationPlan:
    """Return the plan of a migration of a permanent table, as its catalog has it.

    Unlike `plan`, it uses the row count of the statistics and the functions of the environment.

    Args:
        environment: The environment.
        path: The path of the table.
        new: The definition to reach. A schema keeps the other parts of the table.
        target: As for `plan`.
        renames: As for `diff`.
        accept: As for `plan`.

    Raises:
        NotFoundError: with code `table-not-found`.
        SchemaError: with code `wrong-object-type` for a view, a materialized table or a temporary
            table; as `plan`.

    >>> from schema_core import EnvironmentSettings, Schema
    >>> env = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    >>> files = "'connector' = 'filesystem', 'path' = '/data/goods', 'format' = 'parquet'"
    >>> for text in (
    ...     f"CREATE TABLE goods (name STRING) WITH ({files})",
    ...     "ALTER TABLE goods RENAME name TO label",
    ... ):
    ...     result = env.execute_sql(text)
    >>> new = Schema.new_builder().column("label", "STRING").column("name", "INT").build()
    >>> plan_table(env, "goods", new).statements
    ('ALTER TABLE `goods` ADD `name` INT',)
    """
    require_instance(environment, TableEnvironment, "environment")
    entry, table = permanent_table(environment, path)
    identifier, manager = entry.identifier, environment.catalog_manager
    if isinstance(new, CatalogTable):
        wanted = new
    else:
        wanted = replace(origin(table), schema=as_table(new).schema)
    catalog, statistics = manager.registry.get(identifier.catalog_name), None
    if Capability.STATISTICS in catalog.capabilities:
        statistics = catalog.get_table_statistics(identifier.to_object_path())
    return plan(
        origin(table.copy({**table.options, **entry.hidden})),
        wanted,
        target,
        renames=renames,
        path=parse_path(path).parts,
        statistics=statistics,
        resolver=environment.schema_resolver,
        storage=manager.get_storage(identifier),
        accept=accept,
    )


def _has_names(table: CatalogTable, storage: ManagedStorage | None) -> bool:
    """Return whether the files of a table have columns by name."""
    form = file_format(table.options, storage)
    if form == "csv":
        return table.options.get("csv.header", "").strip().lower() == "true"
    return form is not None and form not in ONE_COLUMN


def _target(name: str) -> Target:
    require_instance(name, str, "the target")
    if name not in TARGETS:
        raise NotFoundError(
            f"unknown target {name!r}",
            code="unknown-dialect",
            hint=choose_from(name, TARGETS),
        )
    return TARGETS[name]


def _path(path: str | tuple[str, ...]) -> tuple[str, ...]:
    require_instance(path, (str, tuple), "path")
    names = (path,) if isinstance(path, str) else require_names(path, "path")
    if not all(names):
        raise SchemaError("the path of a table requires names", code="invalid-argument")
    return names


def _without_new_secrets(
    old: ResolvedCatalogTable, new: ResolvedCatalogTable
) -> tuple[ResolvedCatalogTable, list[str]]:
    options, left_out = {}, []
    for key, value in new.options.items():
        masked = mask_value(key, value)
        if masked == value or value == old.options.get(key):
            options[key] = masked
            continue
        left_out.append(f"options.{key}: its new value is secret: set it with ALTER TABLE ... SET")
        if key in old.options:
            options[key] = mask_value(key, old.options[key])
    return new.copy(options), left_out


def _project(table: ResolvedCatalogTable, writer: StatementWriter) -> CatalogTable:
    plain, keeps = normalize(table), writer.target.keeps
    schema = replace(plain.schema, indexes=(), immutable_columns=None)
    if writer.target.engine is None:
        return replace(plain, schema=schema, snapshot=None)
    columns = tuple(_select_columns(plain, table, writer))
    engine = writer.target.engine
    has_comment = plain.comment or engine.stores_empty_comments
    if not engine.comment_statement and engine.table_comment is None:
        has_comment = False
    return CatalogTable(
        replace(
            schema,
            columns=columns,
            watermark_specs=(),
            primary_key=schema.primary_key if _keeps_key(table, writer.target) else None,
        ),
        plain.partition_keys if PARTITIONS in keeps else (),
        comment=plain.comment if has_comment else None,
    )


def _keeps_key(table: ResolvedCatalogTable, target: Target) -> bool:
    schema = table.get_resolved_schema()
    if schema.primary_key is None or KEY not in target.keeps:
        return False
    names = schema.primary_key.columns
    types = (column.data_type for column in schema.columns if column.name in names)
    return target.can_have_key(types)


def _select_columns(
    table: CatalogTable, resolved: ResolvedCatalogTable, writer: StatementWriter
) -> Iterator[UnresolvedColumn]:
    dialect = writer.target.engine
    has_comments = dialect is not None and (dialect.comment or dialect.comment_statement)
    for column in table.schema.columns:
        if not has_comments:
            column = replace(column, comment=None)  # noqa: PLW2901 - the column as it is stored
        match column:
            case UnresolvedPhysicalColumn():
                yield column
            case UnresolvedMetadataColumn(virtual=False):
                yield physical(column, type_of(column))
            case UnresolvedComputedColumn() if COMPUTED in writer.target.keeps and dialect:
                schema = resolved.get_resolved_schema()
                typed = next(each for each in schema.columns if each.name == column.name)
                if column_ddl(typed, schema, dialect, [], notes=False) is not None:
                    yield column
            case _:
                pass


#: Path of a loss of `to_ddl` -> the part that other statements of targets may hold.
PARTS_OF_LOSSES: Mapping[Path, str] = {("primary key",): KEY, ("partitions",): PARTITIONS}


def _find_losses(table: ResolvedCatalogTable, target: Target) -> list[Loss | str]:
    schema = table.get_resolved_schema()
    if target.engine is None:
        members: list[object] = [*schema.indexes]
        if schema.immutable_columns is not None:
            members.append(schema.immutable_columns)
        return [f"{member}: Flink's SQL has no syntax for it" for member in members]
    losses: list[Loss | str] = [
        loss
        for loss in ddl_losses(origin(table), target.engine.name)
        if PARTS_OF_LOSSES.get(loss.path) not in target.keeps
    ]
    if schema.primary_key is not None and KEY in target.keeps and not _keeps_key(table, target):
        losses.append(loss_of(("primary key",), "member", str(schema.primary_key), ""))
    if COMPUTED not in target.keeps:
        losses += [
            f"{column.name}: {target.title} has no computed columns"
            for column in table.schema.columns
            if isinstance(column, UnresolvedComputedColumn)
            and not any(loss.path == (column.name,) for loss in losses if isinstance(loss, Loss))
        ]
    return losses


# --- in place ------------------------------------------------------------------------------------


def _alter_in_place(
    writer: StatementWriter,
    old: CatalogTable,
    new: CatalogTable,
    renames: Mapping[Path, str],
    rows: int | None,
) -> Iterator[PlanStep]:
    """Yield the steps that alter a table in place.

    Raises:
        RewriteNeeded: if the target has no statement for a change.
    """
    groups = grouped_changes(old, new, renames)
    if writer.keeps_names:
        groups = (part for group in groups for part in with_renames_apart(group))
    for group in groups:
        statements = writer.statements(group)
        risks = tuple(
            risk
            for change in group.changes
            # files are read by both names
            if not (writer.keeps_names and change.rename is not None)
            for risk in _risks(change, group, writer)
        )
        attributes = _take_risks(writer)
        clause = writer.target.rewriting
        rewrites = clause is not None and any(clause in statement for statement in statements)
        scans = rewrites or any(
            "SET NOT NULL" in statement or "PRIMARY KEY" in statement for statement in statements
        )
        yield PlanStep(
            statements,
            tuple(map(str, group.changes)),
            (*risks, *attributes),
            None if _loses(risks, group, writer) else _undo(writer, group),
            rewrites,
            None if rows is None else rows * scans,
        )


def _take_risks(writer: StatementWriter) -> tuple[TypeFinding, ...]:
    """Return the risks that a writer has collected since the last call."""
    risks = tuple(dict.fromkeys(writer.risks))
    writer.risks.clear()
    return risks


def _require_readable(
    old: CatalogTable,
    new: CatalogTable,
    renames: Mapping[Path, str],
    storage: ManagedStorage | None,
) -> None:
    """Require that the new definition reads the rows."""
    before, after = (StoredRows.of(table, storage) for table in (old, new))
    for finding in find_rewrites(before, after, renames):
        raise RewriteNeeded(finding.reason)


def _risks(
    change: TableChange, group: ChangeGroup, writer: StatementWriter
) -> Iterator[TypeFinding]:
    if isinstance(change, OptionChange) and change is group.changes[0]:
        yield from filter(is_risk, find_changed_options(group.before.options, group.after.options))
    if writer.rules.has_positions and change is group.changes[0]:
        yield from _find_moved_columns(group, writer.rules)
    for old, new in change.stored_changes():
        if new is None and old is not None:
            yield TypeFinding("field-dropped", old.path, "the rows have it")
        elif old is None and new is not None:
            is_required = isinstance(new.data_type, DataType) and not new.data_type.is_nullable
            if new.in_files and is_required:
                yield TypeFinding("required-field-added", new.path, "the rows do not have it")
            elif new.in_files and writer.rules.has_own_columns:
                yield TypeFinding("column-not-stored", new.path, stored_types.NO_COLUMN)
        elif old is not None and new is not None and old.path == new.path:
            before, after = old.data_type, new.data_type
            if not isinstance(before, DataType) or not isinstance(after, DataType):
                raise RewriteNeeded(f"the type of {print_path(old.path)} is not resolved")
            is_key = writer.target.engine is None and old.path[0] in group.before.partition_keys
            rules = stored_types.DIRECTORIES if is_key else writer.rules
            yield from filter(is_risk, rules.findings(before, after, old.path))
        elif (
            old is not None
            and new is not None
            and (
                writer.rules.lookup is stored_types.FieldLookup.NAME
                if writer.target.engine is None
                # rows that are kept as documents are not altered
                else len(old.path) > 1 and writer.target.engine.struct is None
            )
        ):
            reason = f"rows that are read by name do not have {new.path[-1]!r}"
            yield TypeFinding("field-dropped", old.path, reason)


def _find_moved_columns(group: ChangeGroup, rules: stored_types.RuleSet) -> Iterator[TypeFinding]:
    before, after = (StoredRows.of(table) for table in (group.before, group.after))
    renames = dict(change.rename for change in group.changes if change.rename is not None)
    for finding in find_row_differences(before, after, rules, renames):
        if finding.kind == "columns-moved":
            yield finding


#: Findings for which a statement fails without changing rows.
FAILING = frozenset({"nullability-narrowed", "required-field-added", "column-not-stored"})
#: Findings of options and places of columns, which are restored without changing rows.
RESTORED = frozenset(kind for kind, _ in map(option_rule, ("", *OPTIONS))) | {"columns-moved"}
#: Findings for which a converting statement fails, unless changes of values are accepted.
NARROWED = frozenset({"length-narrowed", "range-narrowed", "precision-narrowed"})


def _loses(risks: tuple[TypeFinding, ...], group: ChangeGroup, writer: StatementWriter) -> bool:
    renamed = any(change.rename is not None for change in group.changes)
    converts = writer.target.converts and not writer.accepts
    failing = FAILING | NARROWED if converts else FAILING
    return not renamed and any(risk.kind not in failing | RESTORED for risk in risks)


def _undo(writer: StatementWriter, group: ChangeGroup) -> tuple[str, ...] | None:
    back = ChangeGroup(invert(group.changes, group.before), group.after, group.before)
    quiet = replace(writer, losses=[], risks=[])
    try:
        statements = quiet.statements(back)
    except RewriteNeeded:
        return None
    reported = set(map(str, writer.losses))
    return None if set(map(str, quiet.losses)) - reported else statements


def _execute_statements(
    table: CatalogTable,
    statements: Iterable[str],
    resolver: SchemaResolver,
    storage: ManagedStorage | None,
) -> CatalogTable:
    for text in statements:
        statement = parse_statement(text, is_migration=True)
        if isinstance(statement, Alter):
            table = apply_stored_change(table, statement.change, text, storage)
        resolve_table(without_own_options(table), resolver)
    return table


def _check_steps(
    steps: Iterable[PlanStep],
    old: CatalogTable,
    new: CatalogTable,
    resolver: SchemaResolver,
    storage: ManagedStorage | None,
) -> Iterator[PlanStep]:
    """Execute Flink's steps on a definition; they must lead to the other one.

    A step whose undo does not lead back cannot be undone.
    """
    table = old
    for step in steps:
        shown = normalize(without_own_options(table))
        try:
            after = _execute_statements(table, step.statements, resolver, storage)
        except SchemaCoreError as error:
            raise RewriteNeeded(f"ALTER TABLE does not allow it: {error.problem}") from None
        try:
            back = step.undo is not None and _execute_statements(
                after, step.undo, resolver, storage
            )
            leads_back = back and normalize(without_own_options(back)) == shown
        except SchemaCoreError:
            leads_back = False
        yield step if leads_back else replace(step, undo=None)
        table = after
    reached = normalize(without_own_options(table))
    schema = replace(reached.schema, indexes=(), immutable_columns=None)
    if replace(reached, schema=schema, snapshot=None) != normalize(new):
        raise RewriteNeeded("ALTER TABLE has no syntax for a change")


# --- rewrites ------------------------------------------------------------------------------------


def _rewrite(
    writer: StatementWriter,
    old: CatalogTable,
    new: CatalogTable,
    renames: Mapping[Path, str],
    rows: int | None,
) -> Iterator[PlanStep]:
    """Yield the steps that move the rows to a new table, which then takes the name.

    The old table stays, under another name.
    """
    path = writer.path
    fresh, previous = (table_name_beside(path, suffix) for suffix in ("new", "old"))
    risks: list[TypeFinding] = []
    changes = tuple(map(str, diff(old, new, renames=renames)))
    new = _with_rows_beside(writer, old, new)
    created = create_statements(writer, new)
    insert = insert_statement(writer, old, new, renamed_columns(renames), risks)
    if any(mask_value(key, value) != value or "***" in value for key, value in new.options.items()):
        writer.lose(("options",), "the value of each masked secret")
    yield PlanStep(created, changes, (), (f"DROP TABLE {writer.quote_path(fresh)}",))
    setup = () if writer.target.setup is None else (writer.target.setup,)
    yield PlanStep((*setup, insert), (), tuple(risks), (), rewrites=True, rows=rows)
    if writer.target.attributes is not None:
        writer.risk_attributes((), f"{writer.target.attributes} stay with the old table")
    for statements, undo in swap_statements(writer, fresh, previous):
        yield PlanStep(statements, (), _take_risks(writer), undo)


#: Connector -> the option that says where its rows are.
LOCATIONS: Mapping[str, str] = {"filesystem": "path", "jdbc": "table-name"}


def _with_rows_beside(
    writer: StatementWriter, old: CatalogTable, new: CatalogTable
) -> CatalogTable:
    """Return the new table of a rewrite, whose rows must not be those of the old one."""
    if writer.target.engine is not None or not new.options or not _shares_storage(old, new):
        return new
    key = LOCATIONS.get(new.options.get("connector", ""), "")
    if key not in new.options:
        writer.lose(("options",), "the storage of the old table, which the new one shares,")
        return new
    place = f"{new.options[key].rstrip('/')}__new"
    writer.lose(("options", key), f"{new.options[key]!r}, beside which the rows are in {place!r},")
    return new.copy({**new.options, key: place})


def _shares_storage(old: CatalogTable, new: CatalogTable) -> bool:
    """Return whether a new table has its rows where the old one has them."""
    changed = {finding.path[0] for finding in find_changed_options(old.options, new.options)}
    return not changed - {key for key, (kind, _) in OPTIONS.items() if kind != "location-changed"}


# --- application ---------------------------------------------------------------------------------


def apply_plan(environment: TableEnvironment, plan: MigrationPlan) -> None:
    """Alter the table of a plan in a catalog, in one compare-and-set.

    Secret options keep the values of the catalog.

    Raises:
        SchemaError: with code `migration-not-supported` for another target than Flink or
            a plan that moves rows, `plan-outdated` if the table
            is not the one that the plan was made for.
        NotFoundError: with code `table-not-found`.
        ConflictError: if the table is altered at the same time.
    """
    require_instance(environment, TableEnvironment, "environment")
    require_instance(plan, MigrationPlan, "plan")
    if plan.target != "flink":
        raise SchemaError(
            f"the plan has statements for {TARGETS[plan.target].title}",
            code="migration-not-supported",
            hint="execute its statements there; catalogs accept plans for flink",
        )
    if plan.rewrite is not None:
        raise SchemaError(
            f"the table cannot be altered in place: {plan.rewrite}",
            code="migration-not-supported",
            hint="execute the statements of the plan, which move the rows to a new table",
        )
    manager = environment.catalog_manager
    identifier = UnresolvedPath(plan.path).qualify(
        environment.get_current_catalog(), environment.get_current_database()
    )
    expected = manager.find_alterable(TableKind.TABLE, identifier, if_exists=False)
    table = manager.get(identifier).table
    if expected is None or not isinstance(table, ResolvedCatalogTable):
        raise SchemaError(
            f"{identifier.as_summary_string()!r} is not a table", code="wrong-object-type"
        )
    options = mask(table.options)
    if dict(encode_table(table.copy(options))) != plan.old:
        raise SchemaError(
            f"table {identifier.as_summary_string()} has changed since the plan was made",
            code="plan-outdated",
            hint="make the plan again from the current table",
        )
    new = decode_table(plan.new)
    values = {
        key: table.options[key] if options.get(key) == value else value
        for key, value in new.options.items()
    }
    hidden = {key: option for key, option in expected.options.items() if key not in table.options}
    altered = new.copy({**values, **hidden})
    before, changes = as_written(table), []
    for text in plan.statements:
        statement = parse_statement(text, is_migration=True)
        if isinstance(statement, Alter):
            after = apply_change(before, statement.change, text)
            changes += name_changes_of(before, after, statement.change)
            before = after
    altered = with_column_history(
        altered, as_written(table), changes, manager.get_storage(identifier)
    )
    manager.alter(identifier, altered, expected=expected)
