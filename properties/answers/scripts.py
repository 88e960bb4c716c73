"""Answers about scripts: what each statement of a session does, and what is there afterwards.

A statement is SQL, or ``!resolve path`` (what lies at a path), or ``!type SELECT ...`` (the columns
of a query), or a call of the Table API. Nothing is run: what would start a job answers that it
would. Where Flink's methods differ from FLIP-64, after which ours are made, the answer is put
together of several of ours.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from properties.answers import fixtures
from properties.answers.attempt import Operation, attempt
from properties.answers.builder import described_table
from properties.answers.connectors import CheckedSession, Recorder
from properties.answers.schema import resolved_answer
from properties.recorded import Answer, Question
from schema_core.base.paths import UnresolvedPath
from schema_core.catalog.functions import FunctionClass
from schema_core.catalog.objects import ResolvedCatalogTable, ResolvedCatalogView
from schema_core.catalog.stores.catalog_store import CatalogDescriptor
from schema_core.catalog.stores.memory import InMemoryCatalog
from schema_core.environment.config import EnvironmentSettings
from schema_core.environment.operations.dispatch import TABLE_KINDS
from schema_core.environment.table_environment import TableEnvironment
from schema_core.errors import NotFoundError, SchemaCoreError, UnsupportedError
from schema_core.expressions.typed import FunctionKind
from schema_core.properties.property_map import encode_table
from schema_core.sql.parser import parse_statement
from schema_core.sql.statement_syntax import (
    BeginStatementSet,
    DescribeJob,
    EndStatementSet,
    ResetOption,
    SetOption,
    ShowCreate,
    StopJob,
)
from schema_core.types import parse_type

# --- user functions -------------------------------------------------------------------------------


def function_class(declared: dict[str, Any]) -> FunctionClass:
    """What a class of udf.json does."""
    kind = declared["kind"]
    if "signatures" in declared:
        signatures = tuple(
            (tuple(map(parse_type, item["args"])), parse_type(item["returns"]))
            for item in declared["signatures"]
        )
        return FunctionClass(signatures, FunctionKind(kind))
    return FunctionClass(problem=kind, is_function=not kind.startswith("not a function"))


def declare_functions(environment: TableEnvironment) -> None:
    for name, declared in fixtures.FUNCTIONS.get("classes", {}).items():
        if "not exist" not in declared["kind"]:
            environment.declare_function_class(name, function_class(declared))


#: Methods that are given a query in SQL.
OF_QUERIES = ("createView", "createTemporaryView")


# --- one session ----------------------------------------------------------------------------------


class Session:
    """An environment and the calls of a script on it."""

    def __init__(self, mode: str) -> None:
        batch = mode == "batch"
        settings = (
            EnvironmentSettings.in_batch_mode()
            if batch
            else EnvironmentSettings.in_streaming_mode()
        )
        self.planner = Recorder()
        self.session = CheckedSession(settings, self.planner)
        self.environment = TableEnvironment(self.session)
        declare_functions(self.environment)

    def answer(self, statement: str | Question) -> Answer:
        """The answer to one statement."""
        self.session.checks = not isinstance(statement, dict) or statement["api"] in OF_QUERIES
        if isinstance(statement, dict):
            call = CALLS[statement["api"]]
            return attempt(lambda _: call(self.environment, *statement.get("args", ())), statement)
        word, _, rest = statement.partition(" ")
        ask = COMMANDS.get(word, sql)
        text = rest if word in COMMANDS else statement
        return attempt(lambda _: ask(self, text), {"op": statement})


#: Statements of Flink's SQL client and SQL gateway, which ours executes everywhere.
OF_THE_GATEWAY = (
    SetOption, ResetOption, StopJob, DescribeJob, BeginStatementSet, EndStatementSet,
)  # fmt: skip


def sql(session: Session, text: str) -> Answer:
    """What a statement prints, or that it would run a job; `executeSql` has none of the gateway."""
    before, environment = session.planner.jobs, session.environment
    statement = parse_statement(text)
    if isinstance(statement, OF_THE_GATEWAY):
        raise UnsupportedError(text)
    result = environment.execute_statement(statement, text)
    if session.planner.jobs > before:
        return {"job": True}
    if isinstance(statement, ShowCreate) and statement.kind in TABLE_KINDS:
        path = UnresolvedPath(statement.path.parts)
        return {"rows": [[environment.get_create_statement(str(path))]]}  # Flink masks nothing
    if result.row_formatter is not None:
        return {"rows": [list(row) for row in result.format_rows()]}
    return {"rows": [list(map(java_text, row)) for row in result.rows]}


def java_text(value: object) -> str | None:
    """Return a value as Java's `String.valueOf` does."""
    return None if value is None else str(value).lower() if isinstance(value, bool) else str(value)


def columns_of(session: Session, text: str) -> Answer:
    """The columns of a query."""
    schema = session.environment.sql_query(text).get_resolved_schema()
    return {"resolved": resolved_answer(schema)}


def lies_at(session: Session, path: str) -> Answer:
    """What lies at a path."""
    result = session.environment.find_table(path)
    if result is None:
        raise NotFoundError(f"no object at {path}")
    table = result.table
    answer: Answer = {
        "temporary": result.is_temporary,
        "kind": result.kind.value,
        "identifier": str(result.identifier),
        "comment": table.get_comment(),
        "resolved": resolved_answer(table.resolved_schema),
    }
    if isinstance(table, ResolvedCatalogView):
        answer["original_query"] = table.original_query
        answer["expanded_query"] = table.expanded_query
    if isinstance(table, ResolvedCatalogTable):
        answer |= properties_of(table)
    return answer


def properties_of(table: ResolvedCatalogTable) -> Answer:
    """The table as a map, or that it has none: Flink has one class of error for every reason."""
    try:
        return {"properties": encode_table(table, on_loss="flink")}
    except SchemaCoreError:
        return {"properties_error": "CatalogException"}


#: word -> what answers it
COMMANDS: dict[str, Callable[[Session, str], Answer]] = {"!resolve": lies_at, "!type": columns_of}


# --- the Table API --------------------------------------------------------------------------------


def done(result: object) -> Answer:
    """Flink's void methods answer nothing, and so does a table that is new."""
    return {}


def new_or_result(created: bool, arguments: tuple[Any, ...]) -> Answer:
    """Return whether a call with a rule for existing objects created one."""
    return {"result": created} if arguments else {}


def create_table(
    environment: TableEnvironment, path: str, described: Question, *more: Any
) -> Answer:
    return new_or_result(environment.create_table(path, described_table(described), *more), more)


def create_view(environment: TableEnvironment, path: str, query: str, *more: Any) -> Answer:
    return new_or_result(environment.create_view(path, environment.sql_query(query), *more), more)


def schema_of(environment: TableEnvironment, path: str) -> Answer:
    return {"resolved": resolved_answer(environment.from_path(path).get_resolved_schema())}


def inline_schema(environment: TableEnvironment, described: Question) -> Answer:
    table = environment.from_descriptor(described_table(described))
    return {"resolved": resolved_answer(table.get_resolved_schema())}


def list_tables(environment: TableEnvironment, *place: str) -> Answer:
    """Flink lists temporary objects too."""
    kept, temporary = environment.list_tables(*place), environment.list_temporary_tables(*place)
    return {"result": sorted({*kept, *temporary})}


def drop_by_statement(
    environment: TableEnvironment, kind: str, path: str, ignore_if_not_exists: bool = True
) -> Answer:
    """Flink's methods drop what its statements drop; ours refuse where a temporary one hides it."""
    before = environment.list_tables()
    condition = "IF EXISTS " if ignore_if_not_exists else ""
    environment.execute_sql(f"DROP {kind} {condition}{path}")
    return {"result": before != environment.list_tables()}


def list_views(environment: TableEnvironment) -> Answer:
    """Flink lists temporary views too."""
    return {"result": sorted({*environment.list_views(), *environment.list_temporary_views()})}


def create_temporary_function(environment: TableEnvironment, path: str, name: str) -> Answer:
    """Flink makes a function of the current database even of a path of one part."""
    environment.create_temporary_function(full(environment, path), name)
    return {}


def drop_temporary_function(environment: TableEnvironment, path: str) -> Answer:
    return {"result": environment.drop_temporary_function(full(environment, path))}


def full(environment: TableEnvironment, path: str) -> str:
    """The path with the current database before it where it has one part."""
    return path if "." in path else f"`{environment.get_current_database()}`.{path}"


def create_catalog(
    environment: TableEnvironment, name: str, options: dict[str, str], comment: str | None = None
) -> Answer:
    environment.create_catalog(name, CatalogDescriptor.of(name, options, comment))
    return {}


def has_function(environment: TableEnvironment, name: str) -> Answer:
    listed = {*environment.list_functions(), *environment.list_user_defined_functions()}
    return {"result": name in listed}


#: Flink's method -> what answers it with ours
CALLS: dict[str, Callable[..., Answer]] = {
    "createTable": create_table,
    "createTemporaryTable": lambda e, path, table, *more: done(
        e.create_temporary_table(path, described_table(table), *more)
    ),
    "createView": create_view,
    "createTemporaryView": lambda e, path, query: done(
        e.create_temporary_view(path, e.sql_query(query))
    ),
    "createTemporaryViewFrom": lambda e, path, source: done(
        e.create_temporary_view(path, e.from_path(source))
    ),
    "dropTable": lambda e, *given: drop_by_statement(e, "TABLE", *given),
    "dropView": lambda e, *given: drop_by_statement(e, "VIEW", *given),
    "dropTemporaryTable": lambda e, path: {"result": e.drop_temporary_table(path)},
    "dropTemporaryView": lambda e, path: {"result": e.drop_temporary_view(path)},
    "from": schema_of,
    "fromDescriptor": inline_schema,
    "listTables": list_tables,
    "listViews": list_views,
    "listTemporaryTables": lambda e: {"result": e.list_temporary_tables()},
    "listTemporaryViews": lambda e: {"result": e.list_temporary_views()},
    "listMaterializedTables": lambda e: {"result": e.list_materialized_tables()},
    "listModels": lambda e: {"result": e.list_models()},
    "listTemporaryModels": lambda e: {"result": e.list_temporary_models()},
    "listCatalogs": lambda e: {"result": e.list_catalogs()},
    "listDatabases": lambda e: {"result": e.list_databases()},
    "listUserDefinedFunctions": lambda e: {"result": e.list_user_defined_functions()},
    "getCurrentCatalog": lambda e: {"result": e.get_current_catalog()},
    "getCurrentDatabase": lambda e: {"result": e.get_current_database()},
    "useCatalog": lambda e, name: done(e.use_catalog(name)),
    "useDatabase": lambda e, name: done(e.use_database(name)),
    "createCatalog": create_catalog,
    "registerCatalog": lambda e, name, database: done(
        e.register_catalog(name, InMemoryCatalog(name, database))
    ),
    "createFunction": lambda e, *given: done(e.create_java_function(*given)),
    "createTemporaryFunction": create_temporary_function,
    "createTemporarySystemFunction": lambda e, name, cls: done(
        e.create_temporary_system_function(name, cls)
    ),
    "dropFunction": lambda e, path: {"result": e.drop_function(path)},
    "dropTemporaryFunction": drop_temporary_function,
    "dropTemporarySystemFunction": lambda e, name: {
        "result": e.drop_temporary_system_function(name)
    },
    "hasFunction": has_function,
}


def script(question: Question) -> Answer:
    """The answers to all statements of a script, in order."""
    session = Session(question.get("mode", "streaming"))
    return {"results": [session.answer(statement) for statement in question["statements"]]}


OPS: dict[str, Operation] = {"script": script}
