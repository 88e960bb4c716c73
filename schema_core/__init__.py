"""Flink's schemas, types and expressions in Python, resolved exactly and run on Spark.

These are the public names; what they need is loaded when one of them is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from schema_core.catalog.api import (
        Capability,
        Catalog,
    )
    from schema_core.catalog.file_store import (
        FileCatalogStore,
    )
    from schema_core.catalog.memory import (
        InMemoryCatalog,
    )
    from schema_core.catalog.objects import (
        CatalogDatabase,
        CatalogTable,
        CatalogView,
        ResolvedCatalogTable,
        TableDistribution,
    )
    from schema_core.catalog.store import (
        CatalogDescriptor,
        CatalogStore,
    )
    from schema_core.catalogs.sql.catalog import (
        SqlCatalog,
    )
    from schema_core.environment.config import (
        TableConfig,
    )
    from schema_core.environment.descriptor import (
        FormatDescriptor,
        ModelDescriptor,
        TableDescriptor,
    )
    from schema_core.environment.result import (
        TableResult,
    )
    from schema_core.environment.settings import (
        EnvironmentSettings,
    )
    from schema_core.environment.statement_set import (
        StatementSet,
    )
    from schema_core.environment.table import (
        Table,
    )
    from schema_core.environment.table_environment import (
        TableEnvironment,
    )
    from schema_core.errors import (
        AlreadyExistsError,
        ConflictError,
        Diagnostic,
        ExternalError,
        NotFoundError,
        ParseError,
        SchemaCoreError,
        SchemaError,
        UnsupportedError,
    )
    from schema_core.expressions.fluent import Expression
    from schema_core.expressions.fluent_functions import (
        and_,
        array,
        call,
        call_sql,
        col,
        concat,
        concat_ws,
        if_then_else,
        lit,
        map_,
        not_,
        null_of,
        or_,
        range_,
        row,
        with_all_columns,
        with_columns,
        without_columns,
    )
    from schema_core.formats.dialects.api import from_ddl, to_ddl
    from schema_core.formats.properties.property_map import (
        decode_table,
        encode_table,
    )
    from schema_core.paths import (
        ObjectIdentifier,
        ObjectPath,
    )
    from schema_core.schema.columns import (
        Column,
        ComputedColumn,
        MetadataColumn,
        PhysicalColumn,
        UniqueConstraint,
        WatermarkSpec,
    )
    from schema_core.schema.resolve import (
        SchemaResolver,
    )
    from schema_core.schema.resolved import (
        ResolvedSchema,
    )
    from schema_core.schema.unresolved import (
        Schema,
    )
    from schema_core.types import (
        DataType,
        DataTypes,
        RowField,
    )
    from schema_core.types.row_value import (
        Row,
        RowKind,
    )

#: Module -> the public names that live there.
_HOMES = {
    "errors": (
        "AlreadyExistsError ConflictError Diagnostic ExternalError NotFoundError ParseError"
        " SchemaCoreError SchemaError UnsupportedError"
    ),
    "paths": "ObjectIdentifier ObjectPath",
    "types": "DataType DataTypes RowField",
    "expressions.fluent": "Expression",
    "expressions.fluent_functions": (
        "and_ array call call_sql col concat concat_ws if_then_else lit map_ not_ null_of or_"
        " range_ row with_all_columns with_columns without_columns"
    ),
    "types.row_value": "Row RowKind",
    "schema.unresolved": "Schema",
    "schema.resolve": "SchemaResolver",
    "schema.resolved": "ResolvedSchema",
    "schema.columns": "Column ComputedColumn MetadataColumn PhysicalColumn UniqueConstraint "
    "WatermarkSpec",
    "catalog.api": "Capability Catalog",
    "catalog.file_store": "FileCatalogStore",
    "catalogs.sql.catalog": "SqlCatalog",
    "catalog.memory": "InMemoryCatalog",
    "catalog.store": "CatalogDescriptor CatalogStore",
    "catalog.objects": (
        "CatalogDatabase CatalogTable CatalogView ResolvedCatalogTable TableDistribution"
    ),
    "formats.dialects.api": "from_ddl to_ddl",
    "formats.properties.property_map": "decode_table encode_table",
    "environment.settings": "EnvironmentSettings",
    "environment.config": "TableConfig",
    "environment.descriptor": "FormatDescriptor ModelDescriptor TableDescriptor",
    "environment.result": "TableResult",
    "environment.statement_set": "StatementSet",
    "environment.table": "Table",
    "environment.table_environment": "TableEnvironment",
}

#: Public name -> its module.
_HOME = {name: module for module, names in _HOMES.items() for name in names.split()}

__all__ = [
    "AlreadyExistsError",
    "Capability",
    "Catalog",
    "CatalogDatabase",
    "CatalogDescriptor",
    "CatalogStore",
    "CatalogTable",
    "CatalogView",
    "Column",
    "ComputedColumn",
    "ConflictError",
    "DataType",
    "DataTypes",
    "Diagnostic",
    "EnvironmentSettings",
    "Expression",
    "ExternalError",
    "FileCatalogStore",
    "FormatDescriptor",
    "InMemoryCatalog",
    "MetadataColumn",
    "ModelDescriptor",
    "NotFoundError",
    "ObjectIdentifier",
    "ObjectPath",
    "ParseError",
    "PhysicalColumn",
    "ResolvedCatalogTable",
    "ResolvedSchema",
    "Row",
    "RowField",
    "RowKind",
    "Schema",
    "SchemaCoreError",
    "SchemaError",
    "SchemaResolver",
    "SqlCatalog",
    "StatementSet",
    "Table",
    "TableConfig",
    "TableDescriptor",
    "TableDistribution",
    "TableEnvironment",
    "TableResult",
    "UniqueConstraint",
    "UnsupportedError",
    "WatermarkSpec",
    "and_",
    "array",
    "call",
    "call_sql",
    "col",
    "concat",
    "concat_ws",
    "decode_table",
    "encode_table",
    "from_ddl",
    "if_then_else",
    "lit",
    "map_",
    "not_",
    "null_of",
    "or_",
    "range_",
    "row",
    "to_ddl",
    "with_all_columns",
    "with_columns",
    "without_columns",
]


def __getattr__(name: str) -> Any:
    """Load a public name at first use (PEP 562)."""
    if name not in _HOME:
        raise AttributeError(f"module 'schema_core' has no attribute {name!r}")
    value = getattr(import_module(f"schema_core.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """The public names, loaded or not."""
    return sorted({*globals(), *__all__})
