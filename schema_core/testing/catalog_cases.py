"""Cases of the catalog contract: calls that catalogs refuse or ignore, with the expected code."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from schema_core.catalog.api import Capability
from schema_core.catalog.objects import CatalogDatabase, CatalogPartition
from schema_core.catalog.objects import CatalogPartitionSpec as Spec
from schema_core.errors import AlreadyExistsError, NotFoundError, SchemaCoreError, SchemaError
from schema_core.paths import ObjectPath
from schema_core.testing.catalog_samples import (
    FUNCTION,
    FUNCTIONS,
    MODEL,
    MODELS,
    PARTITIONED,
    PLAIN,
    TABLES,
    TYPES,
)

Call: TypeAlias = Callable[[Any], object]

# The paths of a populated catalog, and paths without objects.
ORDERS, RECENT, EVENTS = ObjectPath("db", "t"), ObjectPath("db", "v"), ObjectPath("db", "p")
MODEL_PATH, FUNCTION_PATH = ObjectPath("db", "m"), ObjectPath("db", "f")
TYPE_PATH, MONEY = ObjectPath("db", "money"), TYPES["distinct"]
NOTHING, NOWHERE = ObjectPath("db", "nothing"), ObjectPath("nowhere", "t")
DATABASE = CatalogDatabase.create_instance({"k": "v", "": " a: 'b'\n"}, 'it\'s "the" one')
PARTITION = CatalogPartition.create_instance({"k": "v", "path": "s3://b/x=1"}, "a part")
SPEC = Spec({"b": "x/y", "c": "1"})
OTHER = Spec({"b": "x/y", "c": "2"})
VIEW = TABLES["view"]

# The capability that a row requires; tables require none.
PARTS, CALLS, LEARNT = Capability.PARTITIONS, Capability.FUNCTIONS, Capability.MODELS
KINDS, REFRESHED = Capability.TYPES, Capability.MATERIALIZED_TABLES

#: Refused calls: the required capability, a name, the call, the error code.
REFUSED: tuple[tuple[Capability | None, str, Call, str], ...] = (
    (
        None,
        "create a database without name",
        lambda c: c.create_database(" ", DATABASE, True),
        "blank-name",
    ),
    (None, "rename to no name", lambda c: c.rename_table(ORDERS, "", True), "blank-name"),
    (None, "get a database", lambda c: c.get_database("nowhere"), "database-not-found"),
    (
        None,
        "create a database twice",
        lambda c: c.create_database("db", DATABASE, False),
        "database-exists",
    ),
    (None, "drop no database", lambda c: c.drop_database("nowhere", False), "database-not-found"),
    (
        None,
        "drop no database with all",
        lambda c: c.drop_database("nowhere", False, True),
        "database-not-found",
    ),
    (None, "drop a full database", lambda c: c.drop_database("db", False), "database-not-empty"),
    (
        None,
        "drop a full database if it exists",
        lambda c: c.drop_database("db", True),
        "database-not-empty",
    ),
    (
        None,
        "alter no database",
        lambda c: c.alter_database("nowhere", DATABASE, False),
        "database-not-found",
    ),
    (None, "list tables nowhere", lambda c: c.list_tables("nowhere"), "database-not-found"),
    (None, "list views nowhere", lambda c: c.list_views("nowhere"), "database-not-found"),
    (None, "get a table", lambda c: c.get_table(NOTHING), "table-not-found"),
    (None, "get a table nowhere", lambda c: c.get_table(NOWHERE), "table-not-found"),
    (None, "create a table twice", lambda c: c.create_table(ORDERS, PLAIN, False), "table-exists"),
    (
        None,
        "create a table over a view",
        lambda c: c.create_table(RECENT, PLAIN, False),
        "table-exists",
    ),
    (
        None,
        "create a view over a table",
        lambda c: c.create_table(ORDERS, VIEW, False),
        "table-exists",
    ),
    (
        None,
        "create a table nowhere",
        lambda c: c.create_table(NOWHERE, PLAIN, False),
        "database-not-found",
    ),
    (
        None,
        "create a table nowhere if not exists",
        lambda c: c.create_table(NOWHERE, PLAIN, True),
        "database-not-found",
    ),
    (None, "alter no table", lambda c: c.alter_table(NOTHING, PLAIN, False), "table-not-found"),
    (
        None,
        "alter a table to a view",
        lambda c: c.alter_table(ORDERS, VIEW, False),
        "wrong-table-kind",
    ),
    (
        None,
        "alter a view to a table",
        lambda c: c.alter_table(RECENT, PLAIN, True),
        "wrong-table-kind",
    ),
    (None, "drop no table", lambda c: c.drop_table(NOTHING, False), "table-not-found"),
    (None, "drop a table nowhere", lambda c: c.drop_table(NOWHERE, False), "table-not-found"),
    (None, "rename no table", lambda c: c.rename_table(NOTHING, "x", False), "table-not-found"),
    (None, "rename to a table", lambda c: c.rename_table(ORDERS, "p", False), "table-exists"),
    (None, "rename to a view", lambda c: c.rename_table(ORDERS, "v", True), "table-exists"),
    (PARTS, "list partitions of none", lambda c: c.list_partitions(ORDERS), "not-partitioned"),
    (PARTS, "list partitions of a view", lambda c: c.list_partitions(RECENT), "not-partitioned"),
    (PARTS, "list partitions of nothing", lambda c: c.list_partitions(NOTHING), "table-not-found"),
    (PARTS, "get no partition", lambda c: c.get_partition(EVENTS, OTHER), "partition-not-found"),
    (
        PARTS,
        "create a partition twice",
        lambda c: c.create_partition(EVENTS, SPEC, PARTITION, False),
        "partition-exists",
    ),
    (
        PARTS,
        "create a partition of none",
        lambda c: c.create_partition(ORDERS, SPEC, PARTITION, False),
        "not-partitioned",
    ),
    (
        PARTS,
        "create a partition of nothing",
        lambda c: c.create_partition(NOTHING, SPEC, PARTITION, False),
        "table-not-found",
    ),
    (
        PARTS,
        "create half a partition",
        lambda c: c.create_partition(EVENTS, Spec({"b": "1"}), PARTITION, False),
        "invalid-partition-spec",
    ),
    (
        PARTS,
        "create a wider partition",
        lambda c: c.create_partition(
            EVENTS, Spec({"a": "1", "b": "1", "c": "1"}), PARTITION, False
        ),
        "invalid-partition-spec",
    ),
    (
        PARTS,
        "create another partition",
        lambda c: c.create_partition(EVENTS, Spec({"a": "1", "c": "1"}), PARTITION, False),
        "invalid-partition-spec",
    ),
    (
        PARTS,
        "alter no partition",
        lambda c: c.alter_partition(EVENTS, OTHER, PARTITION, False),
        "partition-not-found",
    ),
    (
        PARTS,
        "drop no partition",
        lambda c: c.drop_partition(EVENTS, OTHER, False),
        "partition-not-found",
    ),
    (
        PARTS,
        "drop a partition of none",
        lambda c: c.drop_partition(ORDERS, OTHER, True),
        "not-partitioned",
    ),
    (CALLS, "list functions nowhere", lambda c: c.list_functions("nowhere"), "database-not-found"),
    (CALLS, "get no function", lambda c: c.get_function(NOTHING), "function-not-found"),
    (
        CALLS,
        "create a function twice",
        lambda c: c.create_function(FUNCTION_PATH, FUNCTION, False),
        "function-exists",
    ),
    (
        CALLS,
        "create a function in another case",
        lambda c: c.create_function(ObjectPath("db", "F"), FUNCTION, False),
        "function-exists",
    ),
    (
        CALLS,
        "create a function nowhere",
        lambda c: c.create_function(NOWHERE, FUNCTION, True),
        "database-not-found",
    ),
    (
        CALLS,
        "alter no function",
        lambda c: c.alter_function(NOTHING, FUNCTION, False),
        "function-not-found",
    ),
    (CALLS, "drop no function", lambda c: c.drop_function(NOTHING, False), "function-not-found"),
    (LEARNT, "list models nowhere", lambda c: c.list_models("nowhere"), "database-not-found"),
    (LEARNT, "get no model", lambda c: c.get_model(NOTHING), "model-not-found"),
    (
        LEARNT,
        "create a model twice",
        lambda c: c.create_model(MODEL_PATH, MODEL, False),
        "model-exists",
    ),
    (
        LEARNT,
        "create a model nowhere",
        lambda c: c.create_model(NOWHERE, MODEL, True),
        "database-not-found",
    ),
    (LEARNT, "alter no model", lambda c: c.alter_model(NOTHING, MODEL, False), "model-not-found"),
    (LEARNT, "drop no model", lambda c: c.drop_model(NOTHING, False), "model-not-found"),
    (LEARNT, "rename no model", lambda c: c.rename_model(NOTHING, "x", False), "model-not-found"),
    (KINDS, "list types nowhere", lambda c: c.list_types("nowhere"), "database-not-found"),
    (KINDS, "get no type", lambda c: c.get_type(NOTHING), "type-not-found"),
    (KINDS, "create a type twice", lambda c: c.create_type(TYPE_PATH, MONEY, False), "type-exists"),
    (
        KINDS,
        "create a type nowhere",
        lambda c: c.create_type(NOWHERE, MONEY, True),
        "database-not-found",
    ),
    (KINDS, "drop no type", lambda c: c.drop_type(NOTHING, False), "type-not-found"),
)

#: What a flag turns into nothing.
IGNORED: tuple[tuple[Capability | None, str, Call], ...] = (
    (None, "create a database", lambda c: c.create_database("db", CatalogDatabase(), True)),
    (None, "drop a database", lambda c: c.drop_database("nowhere", True, True)),
    (None, "alter a database", lambda c: c.alter_database("nowhere", DATABASE, True)),
    (None, "create a table", lambda c: c.create_table(ORDERS, PARTITIONED, True)),
    (None, "create a view over a table", lambda c: c.create_table(ORDERS, VIEW, True)),
    (None, "alter a table", lambda c: c.alter_table(NOTHING, PLAIN, True)),
    (None, "drop a table", lambda c: c.drop_table(NOTHING, True)),
    (None, "drop a table nowhere", lambda c: c.drop_table(NOWHERE, True)),
    (None, "rename a table", lambda c: c.rename_table(NOTHING, "x", True)),
    (PARTS, "drop a partition", lambda c: c.drop_partition(EVENTS, OTHER, True)),
    (PARTS, "alter a partition", lambda c: c.alter_partition(EVENTS, OTHER, PARTITION, True)),
    (
        CALLS,
        "create a function",
        lambda c: c.create_function(FUNCTION_PATH, FUNCTIONS["Python"], True),
    ),
    (CALLS, "alter a function", lambda c: c.alter_function(NOTHING, FUNCTION, True)),
    (CALLS, "drop a function", lambda c: c.drop_function(NOTHING, True)),
    (LEARNT, "create a model", lambda c: c.create_model(MODEL_PATH, MODELS["nothing"], True)),
    (LEARNT, "alter a model", lambda c: c.alter_model(NOTHING, MODEL, True)),
    (LEARNT, "drop a model", lambda c: c.drop_model(NOTHING, True)),
    (LEARNT, "rename a model", lambda c: c.rename_model(NOTHING, "x", True)),
    (KINDS, "create a type", lambda c: c.create_type(TYPE_PATH, TYPES["structured"], True)),
    (KINDS, "drop a type", lambda c: c.drop_type(NOTHING, True)),
)

#: What a catalog without a capability refuses.
WITHOUT: tuple[tuple[Capability, str, Call], ...] = (
    (PARTS, "list partitions", lambda c: c.list_partitions(EVENTS)),
    (PARTS, "create a partition", lambda c: c.create_partition(EVENTS, SPEC, PARTITION, True)),
    (CALLS, "get a function", lambda c: c.get_function(FUNCTION_PATH)),
    (CALLS, "create a function", lambda c: c.create_function(NOTHING, FUNCTION, True)),
    (LEARNT, "get a model", lambda c: c.get_model(MODEL_PATH)),
    (LEARNT, "create a model", lambda c: c.create_model(NOTHING, MODEL, True)),
    (KINDS, "get a type", lambda c: c.get_type(TYPE_PATH)),
    (KINDS, "create a type", lambda c: c.create_type(NOTHING, MONEY, True)),
    (REFRESHED, "list materialized tables", lambda c: c.list_materialized_tables("db")),
)


def kind_of(code: str) -> type[SchemaCoreError]:
    """The class of errors with this code."""
    if code.endswith("-not-found"):
        return NotFoundError
    return AlreadyExistsError if code.endswith("-exists") else SchemaError
