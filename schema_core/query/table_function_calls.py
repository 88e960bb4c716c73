"""Calls of table functions in FROM clauses: windows, vector search, built-in and the user's own."""

from __future__ import annotations

from schema_core.errors import SchemaError, at
from schema_core.expressions.type_checker import infer
from schema_core.expressions.typed import FunctionKind
from schema_core.query import vector_search as vectors
from schema_core.query.process_calls import process_call, process_implementation
from schema_core.query.relation import FunctionTable, Relation, row_columns
from schema_core.query.scope import SelectScope
from schema_core.query.table_functions import (
    FUNCTIONS,
    WINDOWS,
    ResolveTable,
    process_arguments,
    process_table,
    window_arguments,
    window_table,
)
from schema_core.sql import syntax


def table_function(
    call: syntax.Call, scope: SelectScope, table_argument: ResolveTable, *, lateral: bool
) -> tuple[Relation, bool]:
    """Resolve a table function in the scope of the preceding sources (`invalid-function-call`).

    Returns also whether it may read their columns.
    """
    name = call.name.upper()
    if name in WINDOWS and len(call.path) < 2:
        with at(f"window function {name}", call.span):
            arguments = window_arguments(name, call)
            data, keys = table_argument(arguments["DATA"], scope.chain)
            return window_table(name, call, arguments, data, keys, scope.chain), False
    if name == vectors.NAME and len(call.path) < 2:
        with at(f"function {name}", call.span):
            visible = scope if lateral else SelectScope(scope.chain)
            return vectors.vector_search(call, visible, table_argument), lateral
    if name in FUNCTIONS and len(call.path) < 2:
        with at(f"function {name}", call.span):
            arguments = process_arguments(name, call)
            data, _ = table_argument(arguments[FUNCTIONS[name].parameters[0]], scope.chain)
            return process_table(name, call, arguments, data, scope.chain), False
    functions = call.inline
    if not isinstance(functions, tuple):
        functions = scope.function(call.path or (call.name,), call.span)
    kinds = (FunctionKind.TABLE, FunctionKind.PROCESS_TABLE)
    if not any(function.kind in kinds for function in functions):
        problem = f"{call.name} is not a table function"
        raise SchemaError(problem, code="invalid-function-call", span=call.span)
    if (process := process_implementation(functions)) is not None:
        with at(f"function {'.'.join(call.path) or call.name}", call.span):
            called = process_call(functions[0], process, call, scope.chain, table_argument)
            return called, False
    typed = infer(scope, call)
    return FunctionTable(typed, row_columns(typed.type)), True
