"""Models: made and changed."""

from __future__ import annotations

from schema_core.catalog.objects import CatalogModel
from schema_core.environment.operations.definitions import column_of, options_of
from schema_core.environment.result import OK, TableResult
from schema_core.environment.session import Session, placed
from schema_core.errors import NotFoundError, SchemaError, UnsupportedError
from schema_core.paths import UnresolvedPath
from schema_core.query.relation import result_columns
from schema_core.schema.unresolved import Schema
from schema_core.sql.definition_syntax import (
    Change,
    Column,
    PhysicalColumn,
    RenameTo,
    ResetOptions,
    SetOptions,
)
from schema_core.sql.statement_syntax import Alter, CreateModel


def create_model(session: Session, statement: CreateModel, text: str) -> TableResult:
    """Keep a model.

    Raises:
        UnsupportedError: with code `statement-not-supported` for a model made of a query.
    """
    identifier = session.identifier(statement.path)
    if statement.query is not None:
        result_columns(session.query(statement.query, text))
        raise UnsupportedError("no model is made of a query", code="statement-not-supported")
    if not statement.options:
        raise SchemaError("a model needs options", code="missing-options", span=statement.path.span)
    model = CatalogModel(
        _side(statement.input, text),
        _side(statement.output, text),
        options=options_of(statement.options),
        comment=statement.comment,
    )
    with placed(statement.path.span):
        keep = session.models.create_temporary if statement.temporary else session.models.create
        keep(identifier, model, statement.if_not_exists)
    return OK


def _side(columns: tuple[Column, ...], text: str) -> Schema:
    """What goes into a model or comes out of it.

    Raises:
        SchemaError: with code `unsupported-column-kind` for a column that is not physical.
    """
    for column in columns:
        if not isinstance(column, PhysicalColumn):
            raise SchemaError(
                f"column {column.name!r} of a model is not physical",
                code="unsupported-column-kind",
                span=column.span,
            )
    return Schema(tuple(column_of(column, text) for column in columns))


def alter_model(session: Session, statement: Alter, text: str) -> TableResult:
    """Rename a permanent model or change its options; a temporary one cannot be changed."""
    identifier = session.identifier(statement.path)
    shown = identifier.as_summary_string()
    with placed(statement.path.span):
        path = identifier.to_object_path()
        catalog = session.registry.find(identifier.catalog_name)
        hidden = session.models.is_temporary(identifier)
        if catalog is None or hidden or not catalog.model_exists(path):
            if statement.if_exists and not hidden:
                return OK
            raise NotFoundError(f"there is no permanent model {shown}", code="model-not-found")
        old = catalog.get_model(path)
        if isinstance(statement.change, RenameTo):
            name = UnresolvedPath(statement.change.path.parts).object_name
            catalog.rename_model(path, name, ignore_if_not_exists=False)
        else:
            changed = old.copy(_changed_options(old, statement.change))
            session.models.alter(identifier, changed, expected=old)
    return OK


def _changed_options(model: CatalogModel, change: Change) -> dict[str, str]:
    """The options of a model after a change.

    Raises:
        SchemaError: with code `missing-options` for a change of none.
        UnsupportedError: with code `statement-not-supported` for a change of something else.
    """
    match change:
        case SetOptions(options) if options:
            return {**model.options, **options_of(options)}
        case ResetOptions(keys) if keys:
            return {key: value for key, value in model.options.items() if key not in keys}
        case SetOptions() | ResetOptions():
            raise SchemaError("no option is given", code="missing-options")
        case _:
            raise UnsupportedError("a model cannot be changed so", code="statement-not-supported")
