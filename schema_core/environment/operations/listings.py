"""SHOW: what there is, as rows of names."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from schema_core.catalog.materialized import CatalogMaterializedTable
from schema_core.catalog.objects import CatalogTable
from schema_core.catalog.partitions import CatalogPartitionSpec
from schema_core.environment.operations.describe import described_columns
from schema_core.environment.result import TableResult, texts
from schema_core.environment.session import Session, placed
from schema_core.errors import NotFoundError, SchemaError, UnsupportedError
from schema_core.sql.statement_syntax import Pattern, Show
from schema_core.sql.syntax import Name


def show(session: Session, statement: Show, text: str) -> TableResult:
    """The rows of the subject, those that the pattern allows."""
    return SUBJECTS[statement.subject](session, statement)


def like(pattern: str, *, ignore_case: bool = False) -> re.Pattern[str]:
    r"""A LIKE pattern: ``%`` is any text, ``_`` any character, a backslash takes both literally.

    >>> bool(like("p_1").fullmatch("px1")), bool(like("p\\_1").fullmatch("px1"))
    (True, False)
    """
    parts = re.findall(r"\\.|.", pattern, re.DOTALL)
    meanings = {"%": ".*", "_": "."}
    written = (re.escape(one[-1]) if one[0] == "\\" else meanings.get(one, re.escape(one))
               for one in parts)  # fmt: skip
    return re.compile("".join(written), re.DOTALL | (re.IGNORECASE if ignore_case else 0))


def allowed(pattern: Pattern | None, name: str) -> bool:
    """Whether a pattern, if there is one, allows the name."""
    if pattern is None:
        return True
    matches = like(pattern.text, ignore_case=pattern.ignore_case).fullmatch(name) is not None
    return matches is not pattern.negated


def named(column: str, names: Callable[[Session, Show], Iterable[str]]) -> Lister:
    """A lister of one column of names."""

    def lister(session: Session, statement: Show) -> TableResult:
        with placed(statement.path.span if statement.path else None):
            found = names(session, statement)
        return texts([column], [(one,) for one in found if allowed(statement.pattern, one)])

    return lister


Lister = Callable[[Session, Show], TableResult]


def _databases(session: Session, statement: Show) -> list[str]:
    if statement.path is None:
        return sorted(session.registry.current().list_databases())
    if len(statement.path.parts) != 1:
        raise SchemaError("a catalog has one name", code="invalid-path-length")
    return sorted(session.registry.get(statement.path.parts[0]).list_databases())


def _tables(session: Session, statement: Show) -> list[str]:
    return session.tables.list_tables(*session.database(statement.path))


def _views(session: Session, statement: Show) -> list[str]:
    return session.tables.list_views(*session.database(statement.path))


def _materialized_tables(session: Session, statement: Show) -> list[str]:
    catalog, database = session.database(statement.path)
    return sorted(session.registry.get(catalog).list_materialized_tables(database))


def _models(session: Session, statement: Show) -> list[str]:
    return session.models.list_models(*session.database(statement.path))


def _functions(session: Session, statement: Show) -> list[str]:
    return sorted({*_user_functions(session, statement), *session.functions.list_system()})


def _user_functions(session: Session, statement: Show) -> list[str]:
    return session.functions.list_user_defined(*session.database(statement.path))


def _current_catalog(session: Session, statement: Show) -> TableResult:
    return texts(["current catalog name"], [(session.registry.current_catalog,)])


def _current_database(session: Session, statement: Show) -> TableResult:
    return texts(["current database name"], [(session.registry.current_database,)])


def _path(statement: Show) -> Name:
    """The table that the statement names: its grammar demands one.

    Raises:
        SchemaError: with code `syntax` for a tree that was made without one.
    """
    if statement.path is None:
        raise SchemaError(f"SHOW {statement.subject} needs a table", code="syntax")
    return statement.path


def _columns(session: Session, statement: Show) -> TableResult:
    """As DESCRIBE, those columns that the pattern allows."""
    schema = session.found(_path(statement)).table.resolved_schema
    return described_columns(schema, lambda name: allowed(statement.pattern, name))


def _partitions(session: Session, statement: Show) -> TableResult:
    identifier = session.identifier(_path(statement))
    with placed(_path(statement).span):
        found = session.tables.find_permanent(identifier)
        if found is None or not isinstance(found.table, CatalogTable | CatalogMaterializedTable):
            raise NotFoundError(
                f"there is no table {identifier.as_summary_string()}", code="table-not-found"
            ).of(*identifier.to_list())
    values = dict(statement.partition.values) if statement.partition else {}
    wanted = CatalogPartitionSpec(
        {key: value for key, value in values.items() if value is not None}
    )
    catalog = session.registry.get(identifier.catalog_name)
    found_partitions = catalog.list_partitions(identifier.to_object_path(), wanted)
    return texts(["partition name"], [(str(one),) for one in found_partitions])


def _full_modules(session: Session, statement: Show) -> TableResult:
    return texts(["module name", "used"], list(session.functions.modules.listed()))


def _none(session: Session, statement: Show) -> list[str]:
    return []


def _procedures(session: Session, statement: Show) -> list[str]:
    session.database(statement.path)
    raise UnsupportedError("no catalog here keeps procedures", code="statement-not-supported")


def _jobs(session: Session, statement: Show) -> list[str]:
    raise UnsupportedError(
        "jobs end before their statement returns", code="statement-not-supported"
    )


#: subject -> what lists it
SUBJECTS: dict[str, Lister] = {
    "CATALOGS":            named("catalog name", lambda session, _: session.registry.names()),
    "CURRENT CATALOG":     _current_catalog,
    "CURRENT DATABASE":    _current_database,
    "DATABASES":           named("database name", _databases),
    "TABLES":              named("table name", _tables),
    "VIEWS":               named("view name", _views),
    "MATERIALIZED TABLES": named("materialized table", _materialized_tables),
    "FUNCTIONS":           named("function name", _functions),
    "USER FUNCTIONS":      named("function name", _user_functions),
    "PROCEDURES":          named("procedure name", _procedures),
    "MODELS":              named("model name", _models),
    "COLUMNS":             _columns,
    "PARTITIONS":          _partitions,
    "MODULES":             named("module name", lambda session, _: session.functions.modules.used),
    "FULL MODULES":        _full_modules,
    "JARS":                named("jars", _none),
    "JOBS":                named("job id", _jobs),
}  # fmt: skip
