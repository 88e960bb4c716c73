"""Migrations generated from the difference between a catalog and wanted definitions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field, replace
from graphlib import CycleError, TopologicalSorter
from itertools import count
from pathlib import Path
from shlex import quote

from schema_core.base.arguments import require_instance
from schema_core.base.lazy import dataclass
from schema_core.base.paths import ObjectIdentifier, ObjectPath, join_names
from schema_core.base.secrets import mask_query, mask_value
from schema_core.base.text import escaped, quote_identifier, quote_string
from schema_core.catalog.api import Capability
from schema_core.catalog.changes import catalog_changes
from schema_core.catalog.changes.normal_forms import stale_change
from schema_core.catalog.changes.table_changes import SetOption, TableChange, describe
from schema_core.catalog.objects import (
    CatalogBaseTable,
    CatalogMaterializedTable,
    CatalogTable,
    CatalogView,
)
from schema_core.environment.connector import secret_keys
from schema_core.environment.operations.materialized_tables import (
    can_be_altered,
    materialized_table_statement,
)
from schema_core.environment.view_states import ViewState
from schema_core.errors import (
    AlreadyExistsError,
    SchemaCoreError,
    SchemaError,
    UnsupportedError,
    at,
)
from schema_core.mappings.dialects.api import to_ddl
from schema_core.mappings.dialects.printer import block, comment_clause, with_clause
from schema_core.migration.catalog_differences import CatalogContent, diff_catalogs
from schema_core.migration.differences import (
    RenameHints,
    invert_renames,
    likely_renames,
    renames_by_path,
)
from schema_core.migration.files.applied_migrations import MigrationState
from schema_core.migration.files.definitions import (
    OptionTemplate,
    WantedContent,
    adopt_values,
    find_templates,
)
from schema_core.migration.files.directory import IRREVERSIBLE, MigrationDirectory, sections
from schema_core.migration.files.migrator import Migrator
from schema_core.migration.files.variables import (
    FilledScript,
    escape_variables,
    fill_variables,
    hide_values,
    list_variables,
)
from schema_core.migration.gates.view_checks import describe_broken_view, find_dependents, name_view
from schema_core.migration.plans import MigrationPlan, plan
from schema_core.migration.rows.validation import find_losses
from schema_core.sql.parser import parse_statements
from schema_core.sql.readable import shorten_statements

#: Comments of a generated file that its author must read.
AT_RISK, IF_RENAMED = "-- at risk:", "-- if it is a rename: --rename"
#: What an undo loses; `downgrade` reports it again.
AT_RISK_UNDONE = "-- at risk if it is undone:"
NEEDS_REWRITE, LEFT, BREAKS = "-- needs a rewrite:", "-- left as it is:", "-- breaks:"
UNSUPPORTED, NOT_CREATED, SECRET = "-- unsupported:", "-- not created:", "-- the value of"
WARNINGS = (AT_RISK, IF_RENAMED, NEEDS_REWRITE, LEFT, BREAKS, IRREVERSIBLE)


@dataclass(frozen=True, slots=True)
class GeneratedMigration:
    """The file of a generated migration, and what it does not do.

    `path` is None if there is nothing to do. `rewrites` has an error with code
    `migration-not-supported` for each table that cannot be altered in place, and that the migration
    leaves as it is; `left` are views that read such a table. `broken` are the views that the
    migration would break, which `Migrator.upgrade` therefore refuses.
    """

    path: Path | None
    rewrites: tuple[SchemaError, ...] = ()
    left: tuple[ObjectPath, ...] = ()
    broken: tuple[ViewState, ...] = ()


def autogenerate(
    migrator: Migrator,
    wanted: CatalogContent,
    name: str,
    *,
    renames: Mapping[ObjectPath, str] | None = None,
    column_renames: Mapping[ObjectPath, RenameHints] | None = None,
    rewrite: bool = False,
) -> GeneratedMigration:
    """Create the migration that leads from the catalog to wanted definitions, to be reviewed.

    Its statements are executed in a transaction that is rolled back. Comments report what they do
    not reach, what ``down`` does not restore, views that read what is changed, and data at risk by
    Flink's rules. Tables that are not wanted are dropped; databases are not, nor materialized
    tables if the definitions are those of a Python module. Values of secret options are variables,
    and so are values with variables in the definitions.

    Args:
        migrator: The migrator; all migrations of its directory must have been applied.
        wanted: The definitions, such as those of `read_definitions`.
        name: The name of the migration after its number.
        renames: As for `diff_catalogs`.
        column_renames: As for `diff_catalogs`.
        rewrite: Whether tables that cannot be altered in place are rewritten by the migration;
            otherwise it leaves them as they are, and they are reported.

    Raises:
        SchemaError: with code `migration-pending`; `migration-not-supported` for a rewrite of a
            table whose fields are renamed; as `diff_catalogs` and `MigrationDirectory.create`.
        UnsupportedError: with the same code for what no statement can make.
    """
    require_instance(migrator, Migrator, "migrator")
    require_instance(wanted, CatalogContent, "the definitions")
    pending = migrator.pending()
    if pending:
        raise SchemaError(
            f"{len(pending)} migrations are pending, the first is {pending[0]}",
            code="migration-pending",
            hint="apply them first, so that only what they leave is generated",
        )
    live = migrator.content()
    goal = _complete_goal(wanted, live)
    values = _OptionValues.of(migrator, goal)
    hidden = {**migrator.directory.find_hidden_values(migrator.variables), **goal.hidden}
    first = _Writer(migrator, live, goal, renames or {}, column_renames or {}, values)
    rewrites = {} if rewrite else first.find_rewrites()
    goal, left = _leave_rewrites(live, goal, renames or {}, rewrites)
    columns = {
        path: hints for path, hints in (column_renames or {}).items() if path not in rewrites
    }
    writer = _Writer(migrator, live, goal, renames or {}, columns, values, rewrites=rewrite)
    errors = tuple(
        _needs_rewrite(path, hide_values(reason, hidden)) for path, reason in rewrites.items()
    )
    changes = writer.changes()
    if not changes:
        return GeneratedMigration(None, errors, left)
    up = values.finish(writer.statements(changes))
    back = writer.reversed()
    irreversible = {} if rewrite else back.find_rewrites()
    down = None if irreversible else values.finish(back.statements(back.changes()))
    notes, broken = _try_statements(migrator, up, down, live, goal, values.variables)
    notes += [f"{NEEDS_REWRITE} {error.problem}" for error in errors]
    notes += [f"{LEFT} {path}: it reads a table that needs a rewrite" for path in left]
    notes += [
        f"{IRREVERSIBLE}; on the way back {_needs_rewrite(path, reason).problem}"
        for path, reason in irreversible.items()
    ]
    lines = [
        *_describe_changes(changes, writer),
        *(f"{AT_RISK} {risk}" for risk in writer.risks),
        *(f"{AT_RISK_UNDONE} {risk}" for risk in back.risks if down is not None),
        *(f"{IF_RENAMED} {quote(hint)}" for hint in writer.hints),
        *_secret_comments(values),
        *notes,
    ]
    comments = [hide_values(line, hidden) for line in lines]
    path = _write_file(migrator, name, comments, up, down)
    return GeneratedMigration(path, errors, left, broken)


def write_baseline(migrator: Migrator, name: str = "baseline") -> GeneratedMigration:
    """Create the first migration of a catalog with tables: it creates what the catalog contains.

    It is recorded as applied, without executing statements on the catalog. Its statements, which
    are also the definitions for `read_definitions`, are first executed in a transaction that drops
    the objects, and is rolled back. Comments report what the statements do not reach, and the
    functions and models, which the migration does not create. Values of secret options are
    variables.

    Args:
        migrator: The migrator; its directory has no migrations.
        name: The name of the migration after its number.

    Returns:
        The migration; `path` is None if the catalog is empty.

    Raises:
        AlreadyExistsError: with code `migration-exists` if there are migrations in the directory or
            in the history.
        SchemaError: as `MigrationDirectory.create`.
        UnsupportedError: with code `migration-not-supported` for what no statement can create.
    """
    require_instance(migrator, Migrator, "migrator")
    if names := [
        status.name for status in migrator.history() if status.state is not MigrationState.UNDONE
    ]:
        raise AlreadyExistsError(
            f"{names[0]} is already a migration of the catalog or the directory",
            code="migration-exists",
            hint="write the next one: schema-core migrate autogenerate",
        )
    live = migrator.content()
    default = migrator.catalog.get_default_database()
    databases = {key: value for key, value in live.databases.items() if key == default}
    values = _OptionValues({}, dict(migrator.variables))
    empty = CatalogContent(databases, {})
    writer = _Writer(migrator, empty, live, {}, {}, values, is_current=True)
    (create, up), (drop, down) = (
        [values.finish(part.statements(changes)) for changes in _split_databases(part.changes())]
        for part in (writer, writer.reversed())
    )
    if not create and not up:
        return GeneratedMigration(None)
    scripts = [fill_variables(name, ";\n".join(part), values.variables) for part in (down, up)]
    _, after = migrator.try_scripts(scripts)
    comments = [
        "-- what the catalog contained before its first migration",
        *_secret_comments(values),
        *(f"{UNSUPPORTED} {change.description()}" for change in diff_catalogs(after.content, live)),
        *(f"{NOT_CREATED} {subject}" for subject in _list_omitted(migrator, live)),
    ]
    path = _write_file(migrator, name, comments, [*create, *up], [*down, *drop])
    migrator.directory = MigrationDirectory.read(migrator.directory.path)
    migrator.stamp(path.stem)
    return GeneratedMigration(path)


def _split_databases(
    changes: Iterable[catalog_changes.CatalogChange],
) -> tuple[list[catalog_changes.CatalogChange], list[catalog_changes.CatalogChange]]:
    """Return the changes of databases, and the others."""
    databases: list[catalog_changes.CatalogChange] = []
    others: list[catalog_changes.CatalogChange] = []
    for change in changes:
        is_database = isinstance(change, catalog_changes.DatabaseChange)
        (databases if is_database else others).append(change)
    return databases, others


def _list_omitted(migrator: Migrator, content: CatalogContent) -> Iterator[str]:
    """Yield what a baseline does not create, which views may need."""
    catalog = migrator.catalog
    for database in content.databases:
        if Capability.FUNCTIONS in catalog.capabilities:
            yield from (f"function {database}.{name}" for name in catalog.list_functions(database))
        if Capability.MODELS in catalog.capabilities:
            yield from (f"model {database}.{name}" for name in catalog.list_models(database))


def _secret_comments(values: _OptionValues) -> list[str]:
    return [f"{SECRET} ${{{name}}} is secret: pass it with --define" for name in values.secret]


def _write_file(
    migrator: Migrator, name: str, comments: Iterable[str], up: list[str], down: list[str] | None
) -> Path:
    """Create the file of a migration with comments and statements; return its path."""
    lines = [*map(escaped, comments), "-- up", *(f"{text};" for text in up)]
    lines += ["-- down", *(f"{text};" for text in down)] if down is not None else []
    _require_sections(lines, up, down)
    return migrator.directory.create(name, "\n".join(lines) + "\n")


def _complete_goal(wanted: CatalogContent, live: CatalogContent) -> WantedContent:
    """Return wanted definitions with what they cannot create, and values of the catalog.

    Only scripts create materialized tables, not table descriptors.
    """
    materialized_tables = {
        path: table
        for path, table in live.objects.items()
        if isinstance(table, CatalogMaterializedTable)
        and path not in wanted.objects
        and not isinstance(wanted, WantedContent)
    }
    goal = adopt_values(wanted, live)
    return replace(
        goal,
        databases={**live.databases, **goal.databases},
        objects={**goal.objects, **materialized_tables},
    )


def _needs_rewrite(path: ObjectPath, reason: str) -> SchemaError:
    names = (path.database_name, path.object_name)
    return SchemaError(
        f"table {path} cannot be altered in place: {reason}",
        code="migration-not-supported",
        hint=f"rewrite its rows in a migration, by '-- rewrite: {path}' before ALTER TABLE, or by "
        f"schema-core migrate rewrite {quote(join_names(names))} --from FILE",
    )


def _leave_rewrites(
    live: CatalogContent,
    goal: WantedContent,
    renames: Mapping[ObjectPath, str],
    rewrites: Iterable[ObjectPath],
) -> tuple[WantedContent, tuple[ObjectPath, ...]]:
    """Return the definitions with the current ones of tables that need a rewrite.

    The second result are changed views that read such a table. They are left as they are, too:
    their queries may refer to columns that only the rewritten table has.
    """
    before = _former_paths(renames)
    objects = dict(goal.objects)
    for path in rewrites:
        objects[path] = live.objects[before.get(path, path)]
    left, reached = list[ObjectPath](), {*rewrites}
    for path in sort_views(goal.objects):
        if not reached & _reads_of(goal.objects[path], reached):
            continue
        reached.add(path)
        stored = live.objects.get(before.get(path, path))
        if stored is None or catalog_changes.normal_object(stored) != catalog_changes.normal_object(
            goal.objects[path]
        ):
            left.append(path)
            del objects[path]
        if stored is not None:
            objects[path] = stored
    return replace(goal, objects=objects), tuple(left)


def _former_paths(renames: Mapping[ObjectPath, str]) -> dict[ObjectPath, ObjectPath]:
    """Return the old paths of renamed objects by their new ones."""
    return {ObjectPath(old.database_name, new): old for old, new in renames.items()}


def _reads_of(view: CatalogBaseTable, paths: Iterable[ObjectPath]) -> set[ObjectPath]:
    """Return which of some objects the query of a view mentions."""
    query = getattr(view, "expanded_query", "")
    return {path for path in paths if _quote_path(path) in query}


def sort_views(
    objects: Mapping[ObjectPath, CatalogBaseTable], paths: Iterable[ObjectPath] | None = None
) -> list[ObjectPath]:
    """Return views and materialized tables after those in their queries.

    They are in the given order for a cycle.

    Args:
        objects: The definitions of views and other objects.
        paths: The views and materialized tables to sort; None for all.
    """
    views = [
        path
        for path in (objects if paths is None else paths)
        if isinstance(objects[path], CatalogView | CatalogMaterializedTable)
    ]
    reads = {path: _reads_of(objects[path], views) - {path} for path in views}
    try:
        return [*TopologicalSorter(reads).static_order()]
    except CycleError:
        return views


def _describe_changes(
    changes: Iterable[catalog_changes.CatalogChange], writer: _Writer
) -> Iterator[str]:
    """Yield comments: each change, its parts, and the views that read what is changed."""
    states = writer.migrator.environment.read_view_states()
    before = _former_paths(writer.renames)
    catalog = writer.migrator.environment.get_current_catalog() or ""
    for change in changes:
        if isinstance(change, catalog_changes.ModifyTable):
            yield f"-- alter table {change.title}"
            yield from (f"--   {describe(part)}" for part in change.changes)
        else:
            yield f"-- {change.description()}"
        if isinstance(change, catalog_changes.ObjectChange):
            path = before.get(change.path, change.path)
            identifier = ObjectIdentifier.of(catalog, path.database_name, path.object_name)
            if readers := find_dependents(states, [identifier]):
                yield f"--   read by {', '.join(sorted(map(name_view, readers)))}"


# --- values of options ---------------------------------------------------------------------------

#: The place of a value in a statement that is being written.
_PLACE = re.compile("\x00([0-9]+)\x00")


@dataclass(frozen=True, slots=True)
class _OptionValues:
    """Writes values of options that have variables, or that are secret and get one.

    A statement first contains a place for each such value, so that all other text is escaped.
    `variables` are the known names with their values, `secret` those of generated variables.
    """

    templates: Mapping[tuple[tuple[str, ...], str, str], str]
    variables: dict[str, str]
    secret: list[str] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)

    @staticmethod
    def of(migrator: Migrator, goal: WantedContent) -> _OptionValues:
        """Return the values of the definitions, and of the migrations that were applied."""
        variables = {**migrator.variables, **goal.variables}
        templates = [*_applied_templates(migrator, variables), *goal.templates]
        declared = {
            name: variables.get(name, f"${{{name}}}")
            for template in goal.templates
            for name in list_variables(template.text)
        }
        texts = {(entry.names, entry.key, entry.value): entry.text for entry in templates}
        return _OptionValues(texts, {**variables, **declared})

    def write(self, names: tuple[str, ...], key: str, value: str, is_secret: bool) -> str:
        """Return the value of an option, or the place of one with a variable."""
        text = self.templates.get((names, key, value))
        if text is None and not is_secret:
            return value
        if text is None:
            text = self._add_variable(f"{names[-1]}_{key}", value)
        self.texts.append(text)
        return f"\x00{len(self.texts) - 1}\x00"

    def _add_variable(self, name: str, value: str) -> str:
        base = re.sub(r"[^A-Za-z0-9_]", "_", name)
        names = (base if number == 1 else f"{base}_{number}" for number in count(1))
        chosen = next(name for name in names if self.variables.setdefault(name, value) == value)
        if chosen not in self.secret:
            self.secret.append(chosen)
        return f"${{{chosen}}}"

    def finish(self, statements: Iterable[str]) -> list[str]:
        """Return statements with their values, as people write them."""

        def insert(match: re.Match[str]) -> str:
            return self.texts[int(match[1])].replace("'", "''")

        return [
            shorten_statements(_PLACE.sub(insert, escape_variables(statement)))
            for statement in statements
        ]


def _applied_templates(migrator: Migrator, variables: Mapping[str, str]) -> list[OptionTemplate]:
    """Return the options with variables of migrations that can be parsed."""
    templates: list[OptionTemplate] = []
    for file in migrator.directory.migrations:
        try:
            source = file.script("up")
            script = FilledScript.fill(source, variables, file.name, keeps_missing=True)
            statements = parse_statements(script.text, is_migration=True)
        except SchemaCoreError:  # such as a variable in place of a type
            continue
        database = migrator.environment.get_current_database()
        templates += find_templates(script, statements, database)
    return templates


# --- statements ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Writer:
    """Writes the statements from one content to another.

    It collects `risks` for rows, and `hints` for likely renames. `is_current` is set if the
    new content is that of the catalog. With `rewrites`, a table that cannot be altered in place is
    rewritten; otherwise it is `migration-not-supported`.
    """

    migrator: Migrator
    old: CatalogContent
    new: CatalogContent
    renames: Mapping[ObjectPath, str]
    column_renames: Mapping[ObjectPath, RenameHints]
    values: _OptionValues
    is_current: bool = False
    rewrites: bool = False
    plans: dict[ObjectPath, MigrationPlan] = field(default_factory=dict)
    risks: list[str] = field(default_factory=list)
    hints: list[str] = field(default_factory=list)

    def reversed(self) -> _Writer:
        """Return the writer of the statements that lead back."""
        names = _former_paths(self.renames)
        back = {path: name.object_name for path, name in names.items()}
        columns = {
            names.get(path, path): invert_renames(renames_by_path(hints))
            for path, hints in self.column_renames.items()
        }
        return _Writer(
            self.migrator,
            self.new,
            self.old,
            back,
            columns,
            self.values,
            is_current=True,
            rewrites=self.rewrites,
        )

    def changes(self) -> tuple[catalog_changes.CatalogChange, ...]:
        """Return the changes."""
        return diff_catalogs(
            self.old, self.new, renames=self.renames, column_renames=self.column_renames
        )

    def find_rewrites(self) -> dict[ObjectPath, str]:
        """Return the tables that cannot be altered in place, with the reasons."""
        plans = {
            change.path: self._plan(change.path)
            for change in self.changes()
            if isinstance(change, catalog_changes.ModifyTable)
        }
        return {path: steps.rewrite for path, steps in plans.items() if steps.rewrite is not None}

    def statements(self, changes: Iterable[catalog_changes.CatalogChange]) -> list[str]:
        """Return the statements of changes: views are dropped first and created last.

        So are materialized tables. A view that is both renamed and changed is dropped by its old
        name.
        """
        dropped, others, views = list[str](), list[str](), list[ObjectPath]()
        altered = set[ObjectPath]()
        before = _former_paths(self.renames)
        sources = dict[ObjectPath, ObjectPath]()
        changed = {
            before.get(change.path, change.path)
            for change in changes
            if isinstance(change, catalog_changes.ModifyObject)
        }
        for change in changes:
            match change:
                case catalog_changes.RemoveObject(
                    path, CatalogView() | CatalogMaterializedTable() as view
                ):
                    if isinstance(view, CatalogMaterializedTable):
                        self.risks.append(f"{path}: the materialized table is dropped")
                    dropped.append(_drop(path, view))
                case catalog_changes.AddObject(path, CatalogView() | CatalogMaterializedTable()):
                    views.append(path)
                case catalog_changes.ModifyObject(
                    path, CatalogMaterializedTable() as old, CatalogMaterializedTable() as new
                ):
                    views.append(path)
                    if can_be_altered(old, new):
                        altered.add(path)
                    else:
                        self.risks.append(
                            f"{path}: the materialized table is dropped, and has no rows until it "
                            "is refreshed"
                        )
                        dropped.append(_drop(path, old))
                case catalog_changes.ModifyObject(path, CatalogView() as view, CatalogView()):
                    dropped.append(_drop(before.get(path, path), view))
                    views.append(path)
                case catalog_changes.RenameObject(path, name):
                    source = sources.pop(path, path)
                    sources[ObjectPath(path.database_name, name)] = source
                    others += [] if source in changed else self._statements(change)
                case _:
                    others += self._statements(change)
        created = [
            self._create(path, self.new.objects[path], is_altered=path in altered)
            for path in sort_views(self.new.objects, views)
        ]
        return [*dropped, *others, *created]

    def _statements(self, change: catalog_changes.CatalogChange) -> Iterable[str]:
        match change:
            case catalog_changes.AddDatabase(name, database):
                properties = self._options((name,), database.get_properties())
                clauses = [*comment_clause(database.comment), *with_clause(properties)]
                return ("\n".join([f"CREATE DATABASE {quote_identifier(name)}", *clauses]),)
            case catalog_changes.RemoveDatabase(name):
                return (f"DROP DATABASE {quote_identifier(name)}",)
            case catalog_changes.ModifyDatabase(name, old, new):
                changed = {
                    key: value
                    for key, value in new.get_properties().items()
                    if old.get_properties().get(key) != value
                }
                pairs = [  # no statement removes properties
                    f"{quote_string(key)} = {quote_string(value)}"
                    for key, value in self._options((name,), changed).items()
                ]
                head = f"ALTER DATABASE {quote_identifier(name)} SET"
                return (f"{head} ({', '.join(pairs)})",) if pairs else ()
            case catalog_changes.AddObject(path, table):
                return (self._create(path, table),)
            case catalog_changes.RemoveObject(path, CatalogTable() as table):
                self.risks.append(f"{path}: the table is dropped")
                return (_drop(path, table),)
            case catalog_changes.RenameObject(path, name) if not isinstance(
                self.old.objects.get(path), CatalogMaterializedTable
            ):
                there = ObjectPath(path.database_name, name)
                table = self.old.objects.get(path) or self.new.objects[there]
                kind, target = _kind(table), quote_identifier(name)
                return (f"ALTER {kind} {_quote_path(path)} RENAME TO {target}",)
            case catalog_changes.ModifyTable(path, changes):
                return self._alter(path, changes)
            case _:
                raise UnsupportedError(
                    f"no statement can {change.description()}",
                    code="migration-not-supported",
                    hint="omit --rename: a materialized table is dropped and created again",
                )

    def _create(
        self, path: ObjectPath, table: CatalogBaseTable, *, is_altered: bool = False
    ) -> str:
        names = (path.database_name, path.object_name)
        with at(f"{table.get_table_kind().value.lower()} {path}"):
            if isinstance(table, CatalogTable):
                declared = frozenset(secret_keys(dict(table.options)))
                options = self._options(names, table.options, declared)
                return to_ddl(table.copy(options), "flink", names)
            if not isinstance(table, CatalogView | CatalogMaterializedTable):
                raise stale_change(f"{path} is of an unknown kind")
            if mask_query(table.original_query) != table.original_query:
                raise UnsupportedError(
                    "the query has a secret in a hint",
                    code="migration-not-supported",
                    hint="keep the secret in the options of the table",
                )
            if isinstance(table, CatalogMaterializedTable):
                declared = frozenset(secret_keys(dict(table.options)))
                options = self._options(names, table.options, declared)
                return materialized_table_statement(
                    _quote_path(path), table.copy(options), or_alter=is_altered
                )
            columns = [column.name for column in table.schema.columns]
            head = f"CREATE VIEW {_quote_path(path)}"
            if not self.is_current or columns != self._query_columns(table):
                head += f" {block(map(quote_identifier, columns))}"
            clauses = [*comment_clause(table.comment), f"AS {table.original_query}"]
            return "\n".join([head, *clauses])

    def _query_columns(self, view: CatalogView) -> list[str] | None:
        """Return the names of the columns of a query; None if it is invalid."""
        try:
            table = self.migrator.environment.sql_query(view.expanded_query)
        except SchemaCoreError:
            return None
        return table.get_resolved_schema().get_column_names()

    def _options(
        self,
        names: tuple[str, ...],
        options: Mapping[str, str],
        declared: frozenset[str] = frozenset(),
    ) -> dict[str, str]:
        return {
            key: self.values.write(names, key, value, mask_value(key, value, declared) != value)
            for key, value in options.items()
        }

    def _alter(self, path: ObjectPath, changes: Iterable[TableChange]) -> Iterator[str]:
        """Yield the statements of changes of a table, with those that plans omit."""
        steps = self._plan(path)
        if steps.rewrite is not None:
            yield from self._rewrite(path, steps.rewrite)
            return
        names = (path.database_name, path.object_name)
        self.risks.extend(
            f"{path}: {join_names(risk.path)}: {risk.reason} [{risk.kind}]" for risk in steps.risks
        )
        old, new = self.old.objects[self._source(path)], self.new.objects[path]
        hints = renames_by_path(self.column_renames.get(path))
        if isinstance(old, CatalogTable) and isinstance(new, CatalogTable):
            self.hints.extend(
                f"{join_names((*names, *column))}={join_names((name,))}"
                for column, name in likely_renames(old, new).items()
                if column not in hints
            )
        written = self._write_settings(path, changes)
        yield from (_set_values(statement, path, written) for statement in steps.statements)
        for change, value in written.items():
            if mask_value(change.key, change.value) != change.value:
                pair = f"{quote_string(change.key)} = {quote_string(value)}"
                yield f"ALTER TABLE {_quote_path(path)} SET ({pair})"

    def _rewrite(self, path: ObjectPath, reason: str) -> Iterator[str]:
        """Yield the data step that replaces the definition and the rows of a table."""
        hints = renames_by_path(self.column_renames.get(path))
        if not self.rewrites or any(len(column) > 1 for column in hints):
            raise _needs_rewrite(path, reason)
        old, new = self.old.objects[self._source(path)], self.new.objects[path]
        losses: tuple[str, ...] = ()
        if isinstance(old, CatalogTable) and isinstance(new, CatalogTable):
            losses = find_losses(old, new, hints, self.migrator.resolver)
        accept = f"; what is lost must be accepted: '-- accept: {', '.join(losses)}'"
        self.risks.append(f"{path}: its rows are rewritten: {reason}{accept if losses else ''}")
        statements = [
            f"ALTER TABLE {_quote_path(path)} RENAME {quote_identifier(column[0])} TO "
            f"{quote_identifier(name)}"
            for column, name in hints.items()
        ]
        first, *others = (*statements, self._create(path, self.new.objects[path]))
        yield f"-- rewrite: {join_names((path.database_name, path.object_name))}\n{first}"
        yield from others

    def _write_settings(
        self, path: ObjectPath, changes: Iterable[TableChange]
    ) -> dict[SetOption, str]:
        """Return the values of options that are set, or their places."""
        names = (path.database_name, path.object_name)
        declared = secret_keys(self.new.objects[path].get_options())
        written: dict[SetOption, str] = {}
        for change in changes:
            if isinstance(change, SetOption):
                key, value = change.key, change.value
                is_secret = mask_value(key, value) != value
                written[change] = self.values.write(names, key, value, is_secret)
                if written[change] == value and key.lower() in declared:
                    raise UnsupportedError(
                        f"the option {key!r} of {path} is secret",
                        code="migration-not-supported",
                        hint="set it with ALTER TABLE ... SET",
                    )
        return written

    def _source(self, path: ObjectPath) -> ObjectPath:
        return _former_paths(self.renames).get(path, path)

    def _plan(self, path: ObjectPath) -> MigrationPlan:
        if path not in self.plans:
            source = self._source(path)
            old, new = self.old.objects[source], self.new.objects[path]
            if not isinstance(old, CatalogTable) or not isinstance(new, CatalogTable):
                raise stale_change(f"{path} is not a table")
            self.plans[path] = plan(
                old,
                new,
                path=(path.database_name, path.object_name),
                renames=self.column_renames.get(path, {}),
                resolver=self.migrator.resolver,
                storage=self.migrator.catalog.storage,
            )
        return self.plans[path]


def _set_values(statement: str, path: ObjectPath, values: Mapping[SetOption, str]) -> str:
    """Return an ALTER TABLE ... SET with values that have variables."""
    if statement.startswith(f"ALTER TABLE {_quote_path(path)} SET ("):
        for change, value in values.items():
            key = quote_string(change.key)
            statement = statement.replace(
                f"{key} = {quote_string(change.value)}", f"{key} = {quote_string(value)}"
            )
    return statement


def _quote_path(path: ObjectPath) -> str:
    return f"{quote_identifier(path.database_name)}.{quote_identifier(path.object_name)}"


def _drop(path: ObjectPath, table: CatalogBaseTable) -> str:
    return f"DROP {_kind(table)} {_quote_path(path)}"


def _kind(table: CatalogBaseTable) -> str:
    return table.get_table_kind().value.replace("_", " ")


def _try_statements(
    migrator: Migrator,
    up: list[str],
    down: list[str] | None,
    live: CatalogContent,
    wanted: CatalogContent,
    variables: Mapping[str, str],
) -> tuple[list[str], tuple[ViewState, ...]]:
    """Execute statements in a transaction that is rolled back.

    Returns:
        Comments on what the statements do not reach, and the views that ``up`` breaks.
    """
    scripts = [";\n".join(statements) for statements in (up, down) if statements is not None]
    after, *back = migrator.try_scripts(
        [fill_variables("generated", script, variables) for script in scripts]
    )
    notes = [
        f"{UNSUPPORTED} {change.description()}" for change in diff_catalogs(after.content, wanted)
    ]
    for outcome in back:
        notes += [
            f"-- not restored by down: {change.description()}"
            for change in diff_catalogs(outcome.content, live)
        ]
    notes += [f"{BREAKS} {describe_broken_view(state)}" for state in after.broken]
    return notes, after.broken


def _require_sections(lines: list[str], up: list[str], down: list[str] | None) -> None:
    """Refuse statements that contain a line like ``-- down``, for example in a comment."""
    counts = {"up": len(up)} | ({} if down is None else {"down": len(down)})
    try:
        parts = sections("\n".join(lines)).items()
        is_same = {
            name: len(parse_statements(text, is_migration=True)) for name, text in parts
        } == counts
    except SchemaError:
        is_same = False
    if not is_same:
        raise UnsupportedError(
            "a definition contains a line '-- up' or '-- down'",
            code="migration-not-supported",
            hint="remove the line from the comment or option that contains it",
        )
