"""Wanted definitions: scripts with CREATE statements, or a Python module with table descriptors.

Scripts may contain variables, ``${NAME}``. Values of options that contain some are also returned as
they are written, so that a migration can contain the variable and not its value.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from contextlib import contextmanager
from dataclasses import field, replace
from pathlib import Path
from typing import TypeAlias

from schema_core.base.arguments import require_instance
from schema_core.base.lazy import dataclass
from schema_core.base.paths import ObjectPath
from schema_core.base.text import MAX_TEXT, Span
from schema_core.catalog.objects import CatalogView
from schema_core.catalog.stores.memory import InMemoryCatalog
from schema_core.environment.table_api.descriptor import TableDescriptor
from schema_core.environment.table_environment import TableEnvironment
from schema_core.errors import ExternalError, NotFoundError, SchemaError, at, within
from schema_core.migration.catalog_differences import CatalogContent, read_catalog
from schema_core.migration.files.variables import (
    FilledScript,
    list_variables,
    match_template,
    missing_error,
)
from schema_core.sql.parser import parse_statements
from schema_core.sql.statement_syntax import (
    Alter,
    CreateDatabase,
    CreateFunction,
    CreateMaterializedTable,
    CreateModel,
    CreateTable,
    CreateView,
    ObjectKind,
    Option,
    SetOptions,
    Statement,
)
from schema_core.sql.tokens import sql_tokens

Creation: TypeAlias = (
    CreateDatabase
    | CreateFunction
    | CreateMaterializedTable
    | CreateModel
    | CreateTable
    | CreateView
)
CREATING = (
    CreateDatabase,
    CreateFunction,
    CreateMaterializedTable,
    CreateModel,
    CreateTable,
    CreateView,
)

MAX_SCRIPTS = 10_000


@dataclass(frozen=True, slots=True)
class OptionTemplate:
    """The value of an option in a script that has variables: with their values, and as written.

    `names` are those of a database, or of a database and a table.
    """

    names: tuple[str, ...]
    key: str
    value: str
    text: str


@dataclass(frozen=True, slots=True)
class WantedContent(CatalogContent):
    """The content of scripts, their options that have variables, and the values of variables.

    `hidden` has the values that stand in string literals, with their variables.
    """

    templates: tuple[OptionTemplate, ...] = ()
    variables: Mapping[str, str] = field(default_factory=dict)
    hidden: Mapping[str, str] = field(default_factory=dict, repr=False)


# --- scripts -------------------------------------------------------------------------------------


def read_definitions(
    environment: TableEnvironment,
    path: str | os.PathLike[str],
    variables: Mapping[str, str] | None = None,
) -> WantedContent:
    """Return the tables and views that scripts create, and the databases of the current catalog.

    Args:
        environment: The environment, whose current catalog is not changed.
        path: A script, or a directory of scripts, which are executed in the order of their names.
        variables: The values of ``${NAME}``. A variable without a value is kept in the value of an
            option.

    Raises:
        SchemaError: with code `invalid-migration-file` for other statements than CREATE of
            databases, tables, views, materialized tables, functions and models;
            `variable-not-found` for a variable without a value elsewhere.
        ExternalError: with code `file-system-failed` for files that cannot be read.
        SchemaCoreError: of a statement.
    """
    require_instance(environment, TableEnvironment, "environment")
    root = Path(require_instance(path, (str, os.PathLike), "path"))
    values = dict(require_instance(variables or {}, Mapping, "variables"))
    scripts: list[tuple[str, FilledScript, list[Creation]]] = []
    templates: list[OptionTemplate] = []
    for file, text in _scripts(root):
        with within(text, str(file)):
            script = FilledScript.fill(text, values, "the definition", keeps_missing=True)
        with script.locating(str(file)), within(script.text):
            statements = _parse_creations(script.text)
            scripts.append((str(file), script, statements))
            database = environment.get_current_database()
            _require_values(script, statements, database)
            templates += find_templates(script, statements, database)
    own = {
        statement.path.parts[-1]
        for _, _, statements in scripts
        for statement in statements
        if isinstance(statement, CreateDatabase)
    }
    with _empty_catalog(environment, own) as catalog:
        for name, script, statements in scripts:
            with script.locating(name):
                for statement in statements:
                    environment.execute_statement(statement, script.text)
        content = read_catalog(catalog)
    hidden = {value: name for _, script, _ in scripts for value, name in script.hidden.items()}
    return WantedContent(content.databases, content.objects, tuple(templates), values, hidden)


def find_templates(
    script: FilledScript, statements: Iterable[Statement], database: str | None
) -> Iterator[OptionTemplate]:
    """Yield the options of tables and databases whose values have variables.

    Args:
        script: The script of the statements.
        statements: Statements, of which CREATE and ALTER ... SET have options.
        database: The name of the current database.
    """
    for names, option in _iterate_options(statements, database or ""):
        source = script.locate(option.span)
        if any(_is_within(span, option.span) for span, _ in script.replaced):
            value = sql_tokens(script.source[source.start : source.stop])[-2]
            if value.kind == "string" and list_variables(value.value):
                yield OptionTemplate(names, option.key, option.value, value.value)


def _require_values(
    script: FilledScript, statements: Iterable[Statement], database: str | None
) -> None:
    """Refuse a variable without a value that is not in an option (`variable-not-found`)."""
    options = [
        option.span
        for _, option in _iterate_options(statements, database or "")
        if not list_variables(option.key)
    ]
    for span, name in script.missing.items():
        if not any(_is_within(span, option) for option in options):
            raise missing_error("the definition", name, script.locate(span), script.source)


def _is_within(inner: Span, outer: Span) -> bool:
    return outer.start <= inner.start and inner.stop <= outer.stop


def _iterate_options(
    statements: Iterable[Statement], database: str
) -> Iterator[tuple[tuple[str, ...], Option]]:
    """Yield the options of tables and databases, with the names of these."""
    for statement in statements:
        match statement:
            case CreateDatabase(path, options=options):
                names: tuple[str, ...] = path.parts[-1:]
            case (
                CreateTable(path, options=options)
                | CreateMaterializedTable(path, options=options)
                | Alter(ObjectKind.TABLE, path, SetOptions(options))
            ):
                names = (database, *path.parts)[-2:]
            case _:
                continue
        yield from ((names, option) for option in options)


def adopt_values(wanted: CatalogContent, live: CatalogContent) -> WantedContent:
    """Return wanted definitions whose variables without a value have those of a catalog.

    The value of an option that the text with variables does not match is kept as it is written.
    """
    if not isinstance(wanted, WantedContent):
        return WantedContent(wanted.databases, wanted.objects)
    objects, templates = dict(wanted.objects), []
    for template in wanted.templates:
        value = template.value
        if len(template.names) == 2:
            path = ObjectPath(*template.names)
            table, stored = objects.get(path), live.objects.get(path)
            if table is not None and stored is not None and not isinstance(table, CatalogView):
                current = stored.options.get(template.key, value)
                if match_template(template.text, current, wanted.variables):
                    value = current
                objects[path] = table.copy({**table.options, template.key: value})
        templates.append(replace(template, value=value))
    return replace(wanted, objects=objects, templates=tuple(templates))


def _parse_creations(text: str) -> list[Creation]:
    """Return the statements of a script, or raise `invalid-migration-file`."""
    creations: list[Creation] = []
    for statement in parse_statements(text):
        if not isinstance(statement, CREATING) or not _is_definition(statement):
            raise SchemaError(
                "definitions consist of CREATE statements of permanent objects, without AS SELECT",
                code="invalid-migration-file",
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


# --- modules -------------------------------------------------------------------------------------


def import_definitions(environment: TableEnvironment, target: str) -> CatalogContent:
    """Import a Python module, and return the tables that it describes.

    Args:
        environment: As for `read_definitions`.
        target: ``module:attribute``: a mapping of paths to instances of `TableDescriptor`.

    Raises:
        NotFoundError: with code `not-loadable` for an unknown module or attribute.
        SchemaError: with code `invalid-argument` for another value.
    """
    require_instance(environment, TableEnvironment, "environment")
    module, _, attribute = require_instance(target, str, "target").partition(":")
    try:
        definitions = getattr(importlib.import_module(module), attribute)
    except (ImportError, AttributeError, ValueError) as error:
        raise NotFoundError(
            f"cannot import {target!r}: {error}",
            code="not-loadable",
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
