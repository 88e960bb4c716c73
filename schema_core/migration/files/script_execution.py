"""The scripts of migrations, and how their statements are executed in a catalog."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import partial
from typing import Final

from schema_core.base.lazy import dataclass
from schema_core.base.paths import ObjectIdentifier
from schema_core.base.secrets import mask_text
from schema_core.base.text import Span
from schema_core.catalog.api import Catalog
from schema_core.environment.table_environment import TableEnvironment
from schema_core.errors import ConflictError, at, within
from schema_core.migration.files.data_steps import check_data_step
from schema_core.migration.files.directory import MigrationDirectory, MigrationFile
from schema_core.migration.files.script_steps import ScriptStep, parse_steps
from schema_core.migration.files.touched_objects import Touched, TouchedObjects
from schema_core.migration.files.variables import FilledScript
from schema_core.migration.gates.file_guard import WrittenFiles, require_files_follow
from schema_core.migration.gates.view_checks import (
    BREAKS_VIEW,
    find_names,
    read_all_view_states,
    require_working_views,
)
from schema_core.sql import statement_syntax as syntax
from schema_core.sql.statement_syntax import Statement

#: Statements after which a view may not work; a materialized table may exist (OR ALTER).
BREAKING: Final = (
    syntax.Alter,
    syntax.AlterFunction,
    syntax.CreateMaterializedTable,
    syntax.Drop,
)


@dataclass(frozen=True, slots=True)
class Script:
    """A section of a migration: its text with the values of variables, and its steps.

    `file` is the path of the migration if it has this text.
    """

    filled: FilledScript
    steps: tuple[ScriptStep, ...]
    location: str
    file: str | None = None

    @property
    def text(self) -> str:
        return self.filled.text

    @property
    def statements(self) -> list[Statement]:
        return [statement for step in self.steps for statement in step.statements]

    def show(self, step: ScriptStep) -> str:
        """Return a step as the file has it: variables in place of values, and secrets masked."""
        return mask_text(self.filled.source_of(step.text_span))

    @property
    def writes_rows(self) -> bool:
        """Whether there is a data step."""
        return any(step.writes_rows for step in self.steps)

    @property
    def may_break_views(self) -> bool:
        """Whether a view may not work afterwards."""
        return any(step.rewrite or isinstance(step.statements[0], BREAKING) for step in self.steps)

    def accepts(self, kind: str, span: Span | None) -> bool:
        """Return whether comments accept a finding of a statement, or of all without a span."""
        return all(
            kind in step.accepted
            for step in self.steps
            if span is None or step.text_span.start <= span.start < step.text_span.stop
        )

    @contextmanager
    def locating(self) -> Iterator[None]:
        """Locate errors about the text in the migration and its file."""
        with at(self.location), self.filled.locating(self.file):
            yield


def parse_script(
    directory: MigrationDirectory,
    file: MigrationFile,
    section: str,
    variables: Mapping[str, str],
    accept: tuple[str, ...] = (),
) -> Script:
    """Return a section of a migration, with the values of variables.

    Its rewrites also accept the kinds of problems in `accept`.
    """
    path = directory.path / f"{file.name}.sql"
    own = directory.get(file.name)
    name = str(path) if own is not None and own.text == file.text else None
    location = f"migration {file.name}, {section}"
    with at(location):
        with within(file.script(section), name):
            filled = file.fill_script(section, variables)
        with filled.locating(name), within(filled.text):
            steps = parse_steps(filled.text, file.accepted_kinds)
            steps = tuple(step.accepting(accept) for step in steps)
            return Script(filled, steps, location, name)


class ScriptExecutor:
    """Executes the statements of scripts, while the environment uses the catalog of a transaction.

    `catalog` is the current catalog of the environment, and `start` the catalog and database in
    which scripts begin.
    """

    def __init__(self, environment: TableEnvironment) -> None:
        self.environment = environment
        self.registry = environment.catalog_manager.registry
        self.catalog: Catalog = self.registry.current()
        self.start: tuple[str | None, str | None] = self.registry.current_path
        self.touched = TouchedObjects(self.registry)

    @contextmanager
    def using(self, catalog: Catalog) -> Iterator[None]:
        """Let the environment use a catalog in a transaction; its current path is restored."""
        path, name = self.registry.current_path, self.start[0] or ""
        if self.registry.find(name) is not self.catalog:
            raise ConflictError(
                f"the catalog {name} was replaced by another one",
                hint="create the Migrator again",
            )
        try:
            self.registry.share(name, catalog)
            self.registry.current_path = self.start
            yield
        finally:
            self.registry.share(name, self.catalog)
            self.registry.current_path = path

    def execute_checked(
        self, catalog: Catalog, script: Script, done: int = 0, *, checks_files: bool = True
    ) -> Touched:
        """Execute steps as `execute`, unless they break views (`migration-breaks-view`)."""
        touched: Touched = {}
        with self.keeping_views(script, touched):
            touched |= self.execute(
                catalog, script.steps[done:], script.text, checks_files=checks_files
            )
        return touched

    @contextmanager
    def keeping_views(self, script: Script, touched: Touched) -> Iterator[None]:
        """Refuse changes of the context that break views of any catalog; it adds to `touched`."""
        if not script.may_break_views:
            yield
            return
        with within(script.text):
            names = find_names(script.statements)
            skips_others = script.accepts(BREAKS_VIEW, None)
            before = read_all_view_states(self.environment, names, skips_others=skips_others)
            yield
            after = read_all_view_states(self.environment, names, skips_others=skips_others)
            spans = {self.identify(*key): span for key, span in touched.items() if all(key)}
            require_working_views(before, after, spans, partial(script.accepts, BREAKS_VIEW))

    def execute(
        self,
        catalog: Catalog,
        steps: Iterable[ScriptStep],
        text: str,
        *,
        checks_files: bool = True,
    ) -> Touched:
        """Execute steps of a script without the rows of data steps; return what they name."""
        touched: Touched = {}
        written: dict[tuple[str, str], WrittenFiles] = {}
        for step in steps:
            with within(text):
                keys = self.touched.find(catalog, step)
            touched |= keys
            files = next((written[key] for key in keys if key in written), None)
            self.try_step(step, keys, text, checks_files=checks_files, written=files)
            if step.replaces_rows or (step.writes_rows and files is None):
                identifier = self.identify(*next(iter(keys)))
                files = WrittenFiles.of_step(
                    self.environment, identifier, are_all=step.replaces_rows
                )
            if isinstance(step.statements[0], syntax.Drop):
                for key in keys:
                    written.pop(key, None)
            elif files is not None:  # also by the new name of a table
                written |= dict.fromkeys(keys, files)
        return touched

    def try_step(
        self,
        step: ScriptStep,
        keys: Touched,
        text: str,
        *,
        checks_files: bool = True,
        written: WrittenFiles | None = None,
    ) -> None:
        """Execute a step without the rows of a data step; those before have `written` files."""
        if step.writes_rows:
            with within(text):
                check_data_step(self.environment, self.identify(*next(iter(keys))), step, text)
        else:
            self.execute_statement(step, text, checks_files=checks_files, written=written)

    def execute_statement(
        self,
        step: ScriptStep,
        text: str,
        *,
        checks_files: bool = True,
        written: WrittenFiles | None = None,
    ) -> None:
        """Execute a statement that is not a data step (`rows-do-not-fit`)."""
        (statement,) = step.statements
        check: AbstractContextManager[None] = nullcontext()
        if checks_files:
            check = require_files_follow(
                self.environment, statement, step.accepted, written=written
            )
        with within(text), check:
            self.environment.execute_statement(statement, text)

    def identify(self, database: str, name: str) -> ObjectIdentifier:
        return ObjectIdentifier.of(self.registry.current_catalog or "", database, name)

    def use_databases(self, steps: Iterable[ScriptStep]) -> None:
        """Select the current database as the steps of a script do."""
        for step in steps:
            if isinstance(use := step.statements[0], syntax.UseDatabase):
                self.registry.current_path = self.registry.qualify_database(use.path.parts)
