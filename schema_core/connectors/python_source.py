"""The connector `python`: a class of `pyspark.sql.datasource.DataSource` by its name.

Importing a module runs its code, so only modules that the session's configuration allows are
imported; by default none.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar

from schema_core.base.text import show
from schema_core.connectors.spark_source import PASSED_ON, select_columns
from schema_core.environment.options import ConfigOption, choice, string_list
from schema_core.errors import NotFoundError, SchemaError, UnsupportedError
from schema_core.spark.connector import (
    ConnectorBase,
    SupportsOverwrite,
    SupportsProjectionPushDown,
)

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from schema_core.spark.connector import ReadContext, TableContext, WriteContext

CLASS = ConfigOption("class", str, None, "the class, as `module.Class`", required=True)
SCHEMA = ConfigOption(
    "schema",
    choice("source", "table", "query"),
    "source",
    "`source`: the types of the data source must be those of the table; `table`: they are given "
    "to the data source; `query`: it is given the columns that a query reads, and of rows only "
    "the fields that the query reads",
)
#: An option of the session, not of tables.
ALLOWED = ConfigOption(
    "table.connectors.python.allowed-modules",
    string_list,
    None,
    "modules and packages whose classes tables may name; none by default",
)
#: Without it Spark refuses classes that have `pushFilters`.
PUSH_FILTERS = "spark.sql.python.filterPushdown.enabled"


class PythonSourceConnector(ConnectorBase, SupportsOverwrite, SupportsProjectionPushDown):
    """A data source written in Python."""

    identifier: ClassVar[str] = "python"
    requires: ClassVar[tuple[str, ...]] = ("pyspark",)
    options: ClassVar[Sequence[ConfigOption[Any]]] = (CLASS, PASSED_ON, SCHEMA)

    def supports_nested_projection(self, context: ReadContext) -> bool:
        """Return whether the data source is given the columns and fields that a query reads."""
        return SCHEMA.of(context.options) == "query"

    def read(self, context: ReadContext) -> DataFrame:
        """Return the rows of the data source; Spark offers it filters if it has `pushFilters`.

        Codes: `not-allowed`, `unsupported-ability` (no `reader`),
        `not-loadable`, `schema-mismatch`.
        """
        reader = context.session.read.format(register_source(context, "reader"))
        schema = SCHEMA.of(context.options)
        if schema != "query":  # all columns are compared
            context = replace(context, projection=None)
        if schema != "source":
            reader = reader.schema(context.spark_schema)
        return select_columns(reader.options(**PASSED_ON.entries(context.options)).load(), context)

    def validate_write(self, context: WriteContext) -> None:
        """Refuse a class that cannot be loaded or has no `writer`; errors as `read`."""
        load_source(context, "writer")

    def write(self, frame: DataFrame, context: WriteContext) -> None:
        """Write rows with the data source's writer; errors as `read`."""
        name = register_source(context, "writer")
        writer = frame.write.format(name).mode("overwrite" if context.overwrite else "append")
        writer.options(**PASSED_ON.entries(context.options)).save()


def register_source(context: TableContext, method: str) -> str:
    """Register a table's class with the session; return its name. Errors as `load_source`."""
    source = load_source(context, method)
    context.session.conf.set(PUSH_FILTERS, "true")
    context.session.dataSource.register(source)
    return str(source.name())


def load_source(context: TableContext, method: str) -> Any:
    """Return a table's class, which must have the method ``reader`` or ``writer``.

    Codes: `not-allowed`, `unsupported-ability`, `not-loadable`.
    """
    from pyspark.sql.datasource import DataSource

    path = CLASS.of(context.options) or ""
    source = _load_class(path, ALLOWED.of(context.configuration) or [])
    if getattr(source, method) is getattr(DataSource, method):
        raise UnsupportedError(
            f"the data source {path!r} has no method {method!r}",
            code="unsupported-ability",
            hint=f"define {method!r} in the class, as in pyspark.sql.datasource.DataSource",
        )
    return source


def _load_class(path: str, allowed: Sequence[str]) -> Any:
    module, _, name = path.rpartition(".")
    if not module:
        raise SchemaError(
            f"option {CLASS.key!r} must be `module.Class`, got {show(path)}",
            code="invalid-option-value",
        )
    if not any(module == entry or module.startswith(f"{entry}.") for entry in allowed):
        raise UnsupportedError(
            f"the module {module!r} is not among those that tables may import",
            code="not-allowed",
            hint=f"if you trust it: SET '{ALLOWED.key}' = '{module}'",
        )
    from pyspark.sql.datasource import DataSource

    try:
        load_source = getattr(import_module(module), name)
    except Exception as error:
        raise NotFoundError(
            f"cannot import {path!r}: {type(error).__name__}: {error}",
            code="not-loadable",
            hint="install the module here and on the workers of Spark",
        ) from error
    if not (isinstance(load_source, type) and issubclass(load_source, DataSource)):
        raise NotFoundError(
            f"{path!r} is not a subclass of pyspark.sql.datasource.DataSource",
            code="not-loadable",
        )
    return load_source
