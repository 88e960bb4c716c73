"""Migrations generated from the difference between a catalog and wanted definitions.

These are scripts with CREATE statements, or a module of table descriptors.
"""

from __future__ import annotations

import importlib
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from contextlib import contextmanager
from dataclasses import field, replace
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from shlex import quote
from typing import TypeAlias

from schema_core.base.arguments import require_instance
from schema_core.base.lazy import dataclass
from schema_core.base.paths import ObjectPath, join_names
from schema_core.base.secrets import mask_query, mask_value
from schema_core.base.text import MAX_TEXT, escaped, quote_identifier, quote_string
from schema_core.catalog.changes import catalog_changes
from schema_core.catalog.changes.former_names import former_names_option
from schema_core.catalog.changes.normal_forms import stale_change
from schema_core.catalog.changes.table_changes import SetOption, TableChange
from schema_core.catalog.objects import (
    CatalogBaseTable,
    CatalogTable,
    CatalogView,
    TableKind,
)
from schema_core.catalog.stores.memory import InMemoryCatalog
from schema_core.environment.connector import secret_keys
from schema_core.environment.table_api.descriptor import TableDescriptor
from schema_core.environment.table_environment import TableEnvironment
from schema_core.errors import (
    ExternalError,
    NotFoundError,
    SchemaError,
    UnsupportedError,
    at,
    within,
)
from schema_core.mappings.dialects.api import to_ddl
from schema_core.mappings.dialects.printer import block, comment_clause, with_clause
from schema_core.migration.catalog_differences import CatalogContent, diff_catalogs, read_catalog
from schema_core.migration.differences import (
    RenameHints,
    invert_renames,
    likely_renames,
    renames_by_path,
)
from schema_core.migration.files import IRREVERSIBLE, sections
from schema_core.migration.migrator import Migrator
from schema_core.migration.plans import plan
from schema_core.migration.variables import escaped_variables, fill_variables
from schema_core.sql.parser import parse_statements
from schema_core.sql.statement_syntax import (
    CreateDatabase,
    CreateFunction,
    CreateModel,
    CreateTable,
    CreateView,
)

Creation: TypeAlias = CreateDatabase | CreateFunction | CreateModel | CreateTable | CreateView
CREATING = (CreateDatabase, CreateFunction, CreateModel, CreateTable, CreateView)

MAX_SCRIPTS = 10_000


# --- wanted definitions --------------------------------------------------------------------------


def read_definitions(environment: TableEnvironment, path: str | os.PathLike[str]) -> CatalogContent:
    """Return the tables and views that scripts create, and the databases of the current catalog.

    Args:
        environment: The environment, whose current catalog is not changed.
        path: A script, or a directory of scripts, which are executed in the order of their names.

    Raises:
        SchemaError: with code `migration-statement-not-allowed` for other statements than CREATE of
            databases, tables, views, functions and models.
        ExternalError: with code `file-system-failed` for files that cannot be read.
        SchemaCoreError: of a statement.
    """
    require_instance(environment, TableEnvironment, "environment")
    root = Path(require_instance(path, (str, os.PathLike), "path"))
    scripts = []
    for file, text in _scripts(root):
        with within(text, str(file)):
            scripts.append((file, text, _parse_creations(text)))
    own = {
        statement.path.parts[-1]
        for _, _, statements in scripts
        for statement in statements
        if isinstance(statement, CreateDatabase)
    }
    with _empty_catalog(environment, own) as catalog:
        for file, text, statements in scripts:
            with within(text, str(file)):
                for statement in statements:
                    environment.execute_statement(statement, text)
        return read_catalog(catalog)


def _parse_creations(text: str) -> list[Creation]:
    """Return the statements of a script, or raise `migration-statement-not-allowed`."""
    creations: list[Creation] = []
    for statement in parse_statements(text):
        if not isinstance(statement, CREATING) or not _is_definition(statement):
            raise SchemaError(
                "definitions consist of CREATE statements of permanent objects, without AS SELECT",
                code="migration-statement-not-allowed",
                span=statement.span,
                hint="put SET and CREATE CATALOG into setup.sql",
            )
        creations.append(statement)
    return creations


def _scripts(root: Path) -> Iterator[tuple[Path, str]]:
    paths = [root] if not root.is_dir() else sorted(root.glob("*.sql"))
    if len(paths) > MAX_SCRIPTS:
        raise SchemaError(
            f"there are more than {MAX_SCRIPTS:,} scripts", code="invalid-migration-file"
        )
    for path in paths:
        try:
            with path.open(encoding="utf-8-sig") as file:
                yield path, file.read(MAX_TEXT + 1)
        except (OSError, UnicodeDecodeError) as error:
            reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
            raise ExternalError(
                f"cannot read {str(path)!r}: {reason}", code="file-system-failed"
            ) from error


def import_definitions(environment: TableEnvironment, target: str) -> CatalogContent:
    """Import a Python module, and return the tables that it describes.

    Args:
        environment: As for `read_definitions`.
        target: ``module:attribute``: a mapping of paths to instances of `TableDescriptor`.

    Raises:
        NotFoundError: with code `definitions-not-found` for an unknown module or attribute.
        SchemaError: with code `wrong-argument` for another value.
    """
    require_instance(environment, TableEnvironment, "environment")
    module, _, attribute = require_instance(target, str, "target").partition(":")
    try:
        definitions = getattr(importlib.import_module(module), attribute)
    except (ImportError, AttributeError, ValueError) as error:
        raise NotFoundError(
            f"cannot import {target!r}: {error}",
            code="definitions-not-found",
            hint="write it as module:attribute, of a mapping of paths to table descriptors",
        ) from error
    with _empty_catalog(environment) as catalog:
        for path, descriptor in require_instance(definitions, Mapping, target).items():
            with at(f"table {path}"):
                require_instance(descriptor, TableDescriptor, "the definition")
                environment.create_table(path, descriptor)
        return read_catalog(catalog)


def _is_definition(statement: Creation) -> bool:
    """Return whether a statement changes the current catalog only, and writes no rows."""
    allowed = len(statement.path.parts) < (2 if isinstance(statement, CreateDatabase) else 3)
    if isinstance(statement, CreateTable | CreateModel) and statement.query is not None:
        return False
    return allowed and not getattr(statement, "temporary", False)


@contextmanager
def _empty_catalog(
    environment: TableEnvironment, without: AbstractSet[str] = frozenset()
) -> Iterator[InMemoryCatalog]:
    """Replace the current catalog by an empty one with its databases, except the named ones."""
    registry = environment.catalog_manager.registry
    live, path = registry.current(), registry.current_path
    name = path[0] or ""
    catalog = InMemoryCatalog(name, live.get_default_database() or "default")
    for database in [database for database in live.list_databases() if database not in without]:
        definition = live.get_database(database)
        if catalog.database_exists(database):
            catalog.alter_database(database, definition, False)
        else:
            catalog.create_database(database, definition, False)
    registry.share(name, catalog)
    catalog.use_resolver(environment.schema_resolver)
    try:
        yield catalog
    finally:
        registry.share(name, live)
        registry.current_path = path


# --- generation ----------------------------------------------------------------------------------


#: Comments of a generated file that its author must read.
AT_RISK, IF_RENAMED = "-- at risk:", "-- if it is a rename: --rename"
WARNINGS = (AT_RISK, IF_RENAMED, IRREVERSIBLE)


def autogenerate(
    migrator: Migrator,
    wanted: CatalogContent,
    name: str,
    *,
    renames: Mapping[ObjectPath, str] | None = None,
    column_renames: Mapping[ObjectPath, RenameHints] | None = None,
) -> Path | None:
    """Create the migration that leads from the catalog to wanted definitions, to be reviewed.

    Its statements are executed in a transaction that is rolled back. Comments report what they do
    not reach, what ``down`` does not restore, and data at risk by Flink's rules. Tables that are
    not wanted are dropped, databases are not. Values of secret options are variables.

    Args:
        migrator: The migrator; all migrations of its directory must have been applied.
        wanted: The definitions, such as those of `read_definitions`.
        name: The name of the migration after its number.
        renames: As for `diff_catalogs`.
        column_renames: As for `diff_catalogs`.

    Returns:
        The path of the file, None if there is no difference.

    Raises:
        SchemaError: with code `migration-pending`; `migration-needs-rewrite` for a table that
        cannot
            be altered in place; as `diff_catalogs` and `MigrationDirectory.create`.
        UnsupportedError: with code `migration-not-in-sql` for a materialized table.
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
    wanted = replace(wanted, databases={**live.databases, **wanted.databases})
    renames = renames or {}
    changes = diff_catalogs(live, wanted, renames=renames, column_renames=column_renames)
    if not changes:
        return None
    variables: dict[str, str] = {}
    columns = column_renames or {}
    former = {path: former_names_option(migrator.catalog.get_table(path)) for path in live.objects}
    writer = _Writer(migrator, live, wanted, renames, columns, variables, former)
    up = writer.statements(changes)
    down: list[str] | None = None
    irreversible = None
    try:
        down = _undo_statements(migrator, live, wanted, renames, columns, variables)
    except SchemaError as error:
        if error.code != "migration-needs-rewrite":
            raise
        irreversible = error.problem
    up = [escaped_variables(text, variables) for text in up]
    down = None if down is None else [escaped_variables(text, variables) for text in down]
    notes = _differences(migrator, up, down, live, wanted, variables)
    if irreversible is not None:
        notes.append(escaped(f"{IRREVERSIBLE}; on the way back {irreversible}"))
    lines = [escaped(f"-- {change}") for change in changes]
    lines += [escaped(f"{AT_RISK} {risk}") for risk in writer.risks]
    lines += [escaped(f"{IF_RENAMED} {quote(hint)}") for hint in writer.hints]
    lines += [
        f"-- the value of ${{{variable}}} is secret: pass it with --define"
        for variable in variables
    ]
    lines += [*notes, "-- up", *(f"{text};" for text in up)]
    lines += ["-- down", *(f"{text};" for text in down)] if down is not None else []
    _require_sections(lines, up, down)
    return migrator.directory.create(name, "\n".join(lines) + "\n")


def _undo_statements(
    migrator: Migrator,
    live: CatalogContent,
    wanted: CatalogContent,
    renames: Mapping[ObjectPath, str],
    column_renames: Mapping[ObjectPath, RenameHints],
    variables: dict[str, str],
) -> list[str]:
    names = {ObjectPath(old.database_name, new): old for old, new in renames.items()}
    back = {path: name.object_name for path, name in names.items()}
    columns = {
        names.get(path, path): invert_renames(renames_by_path(hints))
        for path, hints in column_renames.items()
    }
    changes = diff_catalogs(wanted, live, renames=back, column_renames=columns)
    return _Writer(migrator, wanted, live, back, columns, variables).statements(changes)


@dataclass(frozen=True, slots=True)
class _Writer:
    """Writes the statements from one content to another.

    It collects `variables` with secret options, `risks` for rows, and `hints` for likely renames.
    `former` are options with the former names of columns.
    """

    migrator: Migrator
    old: CatalogContent
    new: CatalogContent
    renames: Mapping[ObjectPath, str]
    column_renames: Mapping[ObjectPath, RenameHints]
    variables: dict[str, str]
    former: Mapping[ObjectPath, Mapping[str, str]] = field(default_factory=dict)
    risks: list[str] = field(default_factory=list)
    hints: list[str] = field(default_factory=list)

    def statements(self, changes: Iterable[catalog_changes.CatalogChange]) -> list[str]:
        """Return the statements of changes: views are dropped first and created last."""
        dropped, others, views = list[str](), list[str](), list[ObjectPath]()
        for change in changes:
            match change:
                case catalog_changes.RemoveObject(path, CatalogView() as view):
                    dropped.append(_drop(path, view))
                case catalog_changes.AddObject(path, CatalogView()):
                    views.append(path)
                case catalog_changes.ModifyObject(path, CatalogView() as view, CatalogView()):
                    dropped.append(_drop(path, view))
                    views.append(path)
                case _:
                    others += self._statements(change)
        created = [self._create(path, self.new.objects[path]) for path in self._sort_views(views)]
        return [*dropped, *others, *created]

    def _statements(self, change: catalog_changes.CatalogChange) -> Iterable[str]:
        match change:
            case catalog_changes.AddDatabase(name, database):
                properties = self._properties(name, database.get_properties())
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
                    for key, value in self._properties(name, changed).items()
                ]
                head = f"ALTER DATABASE {quote_identifier(name)} SET"
                return (f"{head} ({', '.join(pairs)})",) if pairs else ()
            case catalog_changes.AddObject(path, table):
                return (self._create(path, table),)
            case catalog_changes.RemoveObject(path, CatalogTable() as table):
                self.risks.append(f"{path}: the table is dropped")
                return (_drop(path, table),)
            case catalog_changes.RenameObject(path, name):
                there = ObjectPath(path.database_name, name)
                table = self.old.objects.get(path) or self.new.objects[there]
                kind, target = _kind(table), quote_identifier(name)
                return (f"ALTER {kind} {_quote_path(path)} RENAME TO {target}",)
            case catalog_changes.ModifyTable(path, changes):
                return (*self._alter(path), *self._secrets(path, changes))
            case _:
                raise UnsupportedError(
                    f"a migration cannot {change.description()}",
                    code="migration-not-in-sql",
                    hint="alter it in the environment that refreshes it",
                )

    def _sort_views(self, views: Iterable[ObjectPath]) -> Iterable[ObjectPath]:
        """Return views after those in their queries; in the given order for a cycle."""
        paths = list(views)
        reads = {
            path: [
                other
                for other in paths
                if other != path
                and _quote_path(other) in getattr(self.new.objects[path], "expanded_query", "")
            ]
            for path in paths
        }
        try:
            return [*TopologicalSorter(reads).static_order()]
        except CycleError:
            return paths

    def _create(self, path: ObjectPath, table: CatalogBaseTable) -> str:
        names = (path.database_name, path.object_name)
        with at(f"{table.get_table_kind().value.lower()} {path}"):
            if isinstance(table, CatalogTable):
                return to_ddl(table.copy(self._with_variables(path, table.options)), "flink", names)
            if not isinstance(table, CatalogView):
                raise UnsupportedError(
                    "a migration cannot create or drop a materialized table",
                    code="migration-not-in-sql",
                    hint="create it with a statement in the environment that refreshes it",
                )
            if mask_query(table.original_query) != table.original_query:
                raise UnsupportedError(
                    "the query of the view has a secret in a hint",
                    code="migration-not-in-sql",
                    hint="keep the secret in the options of the table",
                )
            columns = block([quote_identifier(column.name) for column in table.schema.columns])
            head = f"CREATE VIEW {_quote_path(path)} {columns}"
            clauses = [*comment_clause(table.comment), f"AS {table.original_query}"]
            return "\n".join([head, *clauses])

    def _with_variables(self, path: ObjectPath, options: Mapping[str, str]) -> dict[str, str]:
        declared = secret_keys(dict(options))
        return {
            key: value
            if mask_value(key, value, declared) == value
            else self._variable(f"{path.object_name}_{key}", value)
            for key, value in options.items()
        }

    def _secrets(self, path: ObjectPath, changes: Iterable[TableChange]) -> Iterator[str]:
        """Yield the statements that set secret options, which plans omit."""
        declared = secret_keys(self.new.objects[path].get_options())
        for change in changes:
            if (
                isinstance(change, SetOption)
                and mask_value(change.key, change.value) != change.value
            ):
                value = self._variable(f"{path.object_name}_{change.key}", change.value)
                pair = f"{quote_string(change.key)} = '{value}'"
                yield f"ALTER TABLE {_quote_path(path)} SET ({pair})"
            elif isinstance(change, SetOption) and change.key.lower() in declared:
                raise UnsupportedError(
                    f"the option {change.key!r} of {path} is secret",
                    code="migration-not-in-sql",
                    hint="set it with ALTER TABLE ... SET",
                )

    def _variable(self, name: str, value: str) -> str:
        base = name = re.sub(r"[^A-Za-z0-9_]", "_", name)
        number = 1
        while self.variables.setdefault(name, value) != value:
            number += 1
            name = f"{base}_{number}"
        return f"${{{name}}}"

    def _properties(self, name: str, properties: Mapping[str, str]) -> dict[str, str]:
        return {
            key: value
            if mask_value(key, value) == value
            else self._variable(f"{name}_{key}", value)
            for key, value in properties.items()
        }

    def _alter(self, path: ObjectPath) -> tuple[str, ...]:
        before = {ObjectPath(old.database_name, new): old for old, new in self.renames.items()}
        there = before.get(path, path)
        old, new = self.old.objects[there], self.new.objects[path]
        if not isinstance(old, CatalogTable) or not isinstance(new, CatalogTable):
            raise stale_change(f"{path} is not a table")
        names = (path.database_name, path.object_name)
        steps = plan(
            old.copy({**old.options, **self.former.get(there, {})}),
            new,
            path=names,
            renames=self.column_renames.get(path, {}),
            resolver=self.migrator.resolver,
            storage=self.migrator.catalog.storage,
        )
        if steps.rewrite is not None:
            raise SchemaError(
                f"table {path} cannot be altered in place: {steps.rewrite}",
                code="migration-needs-rewrite",
                hint="rewrite its rows: schema-core migrate rewrite "
                f"{quote(join_names(names))} --from FILE",
            )
        self.risks.extend(
            f"{path}: {join_names(risk.path)}: {risk.reason} [{risk.kind}]" for risk in steps.risks
        )
        hints = renames_by_path(self.column_renames.get(path))
        self.hints.extend(
            f"{join_names((*names, *column))}={join_names((name,))}"
            for column, name in likely_renames(old, new).items()
            if column not in hints
        )
        return steps.statements


def _quote_path(path: ObjectPath) -> str:
    return f"{quote_identifier(path.database_name)}.{quote_identifier(path.object_name)}"


def _drop(path: ObjectPath, table: CatalogBaseTable) -> str:
    return f"DROP {_kind(table)} {_quote_path(path)}"


def _kind(table: CatalogBaseTable) -> str:
    return "VIEW" if table.get_table_kind() is TableKind.VIEW else "TABLE"


def _differences(
    migrator: Migrator,
    up: list[str],
    down: list[str] | None,
    live: CatalogContent,
    wanted: CatalogContent,
    variables: Mapping[str, str],
) -> list[str]:
    scripts = [";\n".join(statements) for statements in (up, down) if statements is not None]
    after, *back = (
        outcome.content
        for outcome in migrator.try_scripts(
            [fill_variables("generated", script, variables) for script in scripts]
        )
    )
    notes = [f"-- unsupported: {change}" for change in diff_catalogs(after, wanted)]
    for content in back:
        notes += [f"-- not restored by down: {change}" for change in diff_catalogs(content, live)]
    return [escaped(note) for note in notes]


def _require_sections(lines: list[str], up: list[str], down: list[str] | None) -> None:
    """Refuse statements that contain a line like ``-- down``, for example in a comment."""
    counts = {"up": len(up)} | ({} if down is None else {"down": len(down)})
    try:
        parts = sections("\n".join(lines)).items()
        is_same = {name: len(parse_statements(text)) for name, text in parts} == counts
    except SchemaError:
        is_same = False
    if not is_same:
        raise UnsupportedError(
            "a definition contains a line '-- up' or '-- down'",
            code="migration-not-in-sql",
            hint="remove the line from the comment or option that contains it",
        )
