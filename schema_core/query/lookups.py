"""What the names of one query refer to, looked up once each.

A query that is resolved with these lookups can be expanded later and still has the meaning that it
had when it was resolved, even if the current database, a table or a function changed since.
"""

from __future__ import annotations

from schema_core.base.text import Span
from schema_core.expressions.scope import Functions
from schema_core.expressions.signatures import Function
from schema_core.query.relation import Columns, SourceTable, Tables
from schema_core.query.scope import Models
from schema_core.sql.syntax import Name
from schema_core.types import DataType
from schema_core.types.unresolved import LookUp
from schema_core.types.user_defined import UnresolvedType


class Lookups:
    """The tables, functions, types and models of one query; errors are not stored.

    Args:
        tables: Finds the tables.
        functions: Finds the functions beside the built-in ones.
        types: Finds the user-defined types.
        models: Finds the columns of models.
    """

    def __init__(self, tables: Tables, functions: Functions, types: LookUp, models: Models) -> None:
        self._tables, self._functions, self._types, self._models = tables, functions, types, models
        self._found_tables: dict[tuple[str, ...], SourceTable] = {}
        self._found_functions: dict[tuple[str, ...], tuple[Function, ...] | None] = {}
        self._found_types: dict[UnresolvedType, DataType] = {}
        self._found_models: dict[tuple[str, ...], tuple[Columns, Columns]] = {}

    def table(self, path: tuple[str, ...], span: Span) -> SourceTable:
        """Return the table or view of a path."""
        if path not in self._found_tables:
            self._found_tables[path] = self._tables.table(path, span)
        return self._found_tables[path]

    def function(self, path: tuple[str, ...], span: Span) -> tuple[Function, ...] | None:
        """Return the overloads of a function, or None for a name that is not found."""
        if path not in self._found_functions:
            self._found_functions[path] = self._functions(path, span)
        return self._found_functions[path]

    def type(self, written: UnresolvedType) -> DataType:
        """Return the type of a name."""
        if written not in self._found_types:
            self._found_types[written] = self._types(written)
        return self._found_types[written]

    def model(self, name: Name) -> tuple[Columns, Columns]:
        """Return the input and output columns of a model."""
        if name.parts not in self._found_models:
            self._found_models[name.parts] = self._models(name)
        return self._found_models[name.parts]
