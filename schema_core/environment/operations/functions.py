"""Functions of the user: made and changed."""

from __future__ import annotations

from schema_core.catalog.objects import CatalogFunction, FunctionLanguage, ResourceUri
from schema_core.environment.operations.definitions import options_of
from schema_core.environment.result import OK, TableResult
from schema_core.environment.session import Session, placed
from schema_core.errors import SchemaError, UnsupportedError
from schema_core.sql.statement_syntax import AlterFunction, CreateFunction
from schema_core.text import is_blank


def _function(statement: CreateFunction | AlterFunction) -> CatalogFunction:
    """The function of a statement.

    Raises:
        SchemaError: with code `invalid-function-class` without the name of a class,
            `unsupported-function-language` for a language that the grammar has but nothing runs:
            SQL.
    """
    if is_blank(statement.class_name):
        raise SchemaError("a function needs the name of a class", code="invalid-function-class")
    word = statement.language or "JAVA"
    if word not in FunctionLanguage.__members__:
        raise SchemaError(
            f"no function is written in {word}",
            code="unsupported-function-language",
            hint=f"write {' or '.join(FunctionLanguage.__members__)}",
        )
    language = FunctionLanguage[word]
    if isinstance(statement, AlterFunction):
        return CatalogFunction(statement.class_name, language)
    resources = tuple(ResourceUri(one.kind, one.path) for one in statement.resources)
    options = options_of(statement.options)
    return CatalogFunction(statement.class_name, language, resources, options)


def create_function(session: Session, statement: CreateFunction, text: str) -> TableResult:
    """Keep a function; a temporary one only if its class can be used."""
    with placed(statement.path.span):
        function, lenient = _function(statement), statement.if_not_exists
        if statement.system:
            name = statement.path.parts[-1]
            session.functions.create_temporary_system(name, function, lenient)
            return OK
        identifier = session.identifier(statement.path)
        if statement.temporary:
            session.functions.create_temporary(identifier, function, lenient)
        else:
            session.functions.create(identifier, function, lenient)
    return OK


def alter_function(session: Session, statement: AlterFunction, text: str) -> TableResult:
    """Put another class in place of that of a function.

    Raises:
        UnsupportedError: with code `statement-not-supported` for a temporary function.
    """
    with placed(statement.path.span):
        if statement.temporary or statement.system:
            raise UnsupportedError(
                "a temporary function cannot be altered",
                code="statement-not-supported",
                hint="drop it and create it anew",
            )
        identifier = session.identifier(statement.path)
        session.functions.alter(identifier, _function(statement), statement.if_exists)
    return OK
