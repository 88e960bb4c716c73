"""Every public callable refuses wrong arguments with the library's own errors."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from enum import Enum
from functools import partial
from importlib import import_module
from typing import Any

import pytest

from schema_core import (
    DataTypes,
    EnvironmentSettings,
    FormatDescriptor,
    ModelDescriptor,
    Row,
    Schema,
    SchemaResolver,
    TableConfig,
    TableDescriptor,
    TableEnvironment,
)
from schema_core.catalog import (
    CatalogDescriptor,
    CatalogTable,
    InMemoryCatalog,
    ObjectIdentifier,
    ObjectPath,
)
from schema_core.catalog.functions import FunctionClass
from schema_core.catalog.resolve import resolve_table
from schema_core.environment.plans.dry_run import DryRunPlanner
from schema_core.errors import SchemaCoreError, SchemaError
from schema_core.expressions import Expression, col
from schema_core.properties import decode_table, encode_table

#: The public modules whose functions, classes and static methods are called.
MODULES = (
    "schema_core", "schema_core.catalog", "schema_core.catalogs", "schema_core.mappings.dialects",
    "schema_core.expressions", "schema_core.migration", "schema_core.properties",
)  # fmt: skip

#: Values of many types, most of which are wrong for any parameter.
WRONG: tuple[Any, ...] = (
    None, 1, -1, True, "x", "", "\ud800", b"x", float("nan"), object(), int, [], [None], (),
    ("a", 1), {}, {"a": 1}, {1: "a"}, {1},
)  # fmt: skip

SCHEMA = Schema.new_builder().column("a", "INT").build()
RESOLVED = SchemaResolver().resolve(SCHEMA)


def environment() -> TableEnvironment:
    """An environment that runs nothing, with a table."""
    made = TableEnvironment.create(EnvironmentSettings.in_batch_mode(), planner=DryRunPlanner())
    made.execute_sql("CREATE TABLE t (a INT) WITH ('connector' = 'x')")
    return made


ENVIRONMENT = environment()

#: Instances whose methods are called, created for each call.
INSTANCES: tuple[Callable[[], Any], ...] = (
    environment,
    lambda: SCHEMA,
    lambda: RESOLVED,
    SchemaResolver,
    Schema.new_builder,
    lambda: InMemoryCatalog("c"),
    lambda: CatalogDescriptor.of("c", {}),
    EnvironmentSettings.in_batch_mode,
    EnvironmentSettings.new_instance,
    TableConfig,
    lambda: TableConfig().get_configuration(),
    lambda: TableDescriptor.for_connector("x").schema(SCHEMA),
    lambda: TableDescriptor.for_connector("x").schema(SCHEMA).build(),
    lambda: FormatDescriptor.for_format("x"),
    lambda: FormatDescriptor.for_format("x").build(),
    lambda: ModelDescriptor.for_provider("x"),
    lambda: ModelDescriptor.for_provider("x").build(),
    lambda: ENVIRONMENT.from_path("t"),
    ENVIRONMENT.create_statement_set,
    lambda: ENVIRONMENT.execute_sql("SHOW TABLES"),
    lambda: ObjectPath("a", "b"),
    lambda: ObjectIdentifier.of("a", "b", "c"),
    lambda: Row(a=1),
    lambda: col("a"),
    DataTypes.INT,
    lambda: RESOLVED.columns[0],
    lambda: CatalogTable(SCHEMA),
)

#: Callables that raise Python's own errors, and the reason.
PYTHONS = {
    "Configuration.get": "a method of every mapping",
    "Configuration.pop": "a method of every mapping",
    "Configuration.popitem": "a method of every mapping",
    "Configuration.setdefault": "a method of every mapping",
    "Configuration.update": "a method of every mapping",
    "call": "what the called function of the user raises",
}


def _same(found: Any) -> Any:
    return found


def _method(make: Callable[[], Any], name: str) -> Any:
    return getattr(make(), name)


def functions() -> Iterator[tuple[str, Callable[[], Any]]]:
    """The public functions, classes, static methods and methods by name, and how to get them."""
    public = [(module, name) for module in map(import_module, MODULES) for name in module.__all__]
    for module, name in public:
        result = getattr(module, name)
        if not callable(result) or isinstance(result, Expression):
            continue
        if not inspect.isclass(result):
            yield name, partial(_same, result)
            continue
        if issubclass(result, Exception | Enum) or getattr(result, "_is_protocol", False):
            continue
        if not inspect.isabstract(result):
            yield name, partial(_same, result)
        for method, raw in vars(result).items():
            if isinstance(raw, staticmethod | classmethod) and not method.startswith("_"):
                yield f"{name}.{method}", partial(getattr, result, method)
    for make in INSTANCES:
        kind = type(make())
        for method, _ in inspect.getmembers(kind, inspect.isfunction):
            is_static = isinstance(inspect.getattr_static(kind, method), staticmethod)
            if not method.startswith("_") and not is_static:
                yield f"{kind.__name__}.{method}", partial(_method, make, method)


def calls(signature: inspect.Signature) -> Iterator[tuple[list[Any], dict[str, Any]]]:
    """Yield wrong arguments: the same value for all, or one wrong value among strings."""
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    given = list(signature.parameters.values())
    places = [item for item in given if item.kind in positional]
    some = [item for item in given if item.kind is inspect.Parameter.VAR_POSITIONAL]
    keys = [item.name for item in given if item.kind is inspect.Parameter.KEYWORD_ONLY]
    required = sum(place.default is inspect.Parameter.empty for place in places)
    for wrong in WRONG:
        every = dict.fromkeys(keys, wrong)
        for count in range(required, len(places) + len(some) + 1):
            yield [wrong] * count, every
        for place in range(len(places)):
            arguments: list[Any] = ["a"] * max(required, place + 1)
            arguments[place] = wrong
            yield arguments, every if required < len(given) else {}


FUNCTIONS = dict(functions())


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("name", FUNCTIONS)
def test_wrong_arguments_raise_errors_of_the_library(name: str) -> None:
    if name in PYTHONS:
        pytest.skip(PYTHONS[name])
    for arguments, keys in calls(inspect.signature(FUNCTIONS[name]())):
        try:
            FUNCTIONS[name]()(*arguments, **keys)
        except SchemaCoreError:
            continue
        except Exception as error:  # noqa: BLE001 - any other is the finding
            pytest.fail(f"{name}(*{arguments!r:.200}, **{keys!r:.200}): {error!r:.200}")


@pytest.mark.parametrize("wrong", [item for item in WRONG if item != {}])
@pytest.mark.parametrize(
    "function",
    [
        encode_table,
        decode_table,
        SchemaResolver().resolve,
        lambda value: resolve_table(value, SchemaResolver()),
        lambda value: resolve_table(CatalogTable(SCHEMA), value),
        SCHEMA.resolve,
    ],
)
def test_wrong_arguments_have_their_error_code(function: Callable[[Any], Any], wrong: Any) -> None:
    with pytest.raises(SchemaError) as caught:
        function(wrong)

    if isinstance(wrong, dict):
        assert caught.value.code in ("invalid-argument", "malformed-property", "malformed-property")
    else:
        assert caught.value.code == "invalid-argument"


INT = DataTypes.INT()


@pytest.mark.parametrize(
    "declaration",
    [
        *(item for item in WRONG),
        FunctionClass,
        *(FunctionClass(item) for item in WRONG if item not in ((), [])),
        FunctionClass(((INT, INT),)),  # type: ignore[arg-type]
        FunctionClass((((INT,),),)),  # type: ignore[arg-type]
        FunctionClass((((INT, "INT"), INT),)),  # type: ignore[arg-type]
        FunctionClass((((INT,), "INT"),)),  # type: ignore[arg-type]
        FunctionClass((((INT,), INT),), "SCALAR"),  # type: ignore[arg-type]
        FunctionClass(problem=1),  # type: ignore[arg-type]
        FunctionClass(is_function="no"),  # type: ignore[arg-type]
        FunctionClass(deterministic=None),  # type: ignore[arg-type]
        FunctionClass(spark=1),  # type: ignore[arg-type]
    ],
)
def test_an_invalid_class_declaration_is_refused_immediately(declaration: Any) -> None:
    with pytest.raises(SchemaError) as caught:
        environment().declare_function_class("com.acme.Plus", declaration)

    assert caught.value.code == "invalid-argument"


@pytest.mark.parametrize("name", [None, 1, "", " "])
def test_a_class_declaration_requires_a_name(name: Any) -> None:
    with pytest.raises(SchemaError) as caught:
        environment().declare_function_class(name, FunctionClass((((INT,), INT),)))

    assert caught.value.code == "invalid-argument"


def test_a_valid_declaration_is_used() -> None:
    made = environment()
    made.declare_function_class("com.acme.Plus", FunctionClass((((INT,), INT),)))
    made.execute_sql("CREATE FUNCTION plus AS 'com.acme.Plus'")

    assert made.sql_query("SELECT plus(1) AS a").get_resolved_schema().get_column_names() == ["a"]
