"""Function resolution in the order of FLIP-57."""

from __future__ import annotations

import pytest

from schema_core import TableEnvironment
from schema_core.base.paths import ObjectIdentifier, UnresolvedPath
from schema_core.catalog.functions import ORDER, FunctionCatalog, FunctionClass, FunctionLocation
from schema_core.catalog.objects import CatalogFunction
from schema_core.catalog.registry import CatalogRegistry
from schema_core.catalog.stores.memory import InMemoryCatalog
from schema_core.errors import AlreadyExistsError, NotFoundError, SchemaError
from schema_core.expressions.typed import FunctionKind
from schema_core.pyflink.table.udf import udf
from schema_core.sql.syntax import NOWHERE
from schema_core.types import DataTypes

HERE = ObjectIdentifier("home", "db", "upper")
PLUS = FunctionClass((((DataTypes.INT(),), DataTypes.INT()),))
FUNCTION = CatalogFunction("org.example.Plus")
UNKNOWN = CatalogFunction("org.example.Unknown")


@pytest.fixture
def functions() -> FunctionCatalog:
    registry = CatalogRegistry("home", InMemoryCatalog("home", "db"))
    return FunctionCatalog(registry, classes={"org.example.Plus": PLUS})


def everywhere(functions: FunctionCatalog) -> None:
    """Register a function named upper in every namespace."""
    functions.create_temporary_system("Upper", FUNCTION, ignore_if_exists=False)
    functions.create_temporary(HERE, FUNCTION, ignore_if_exists=False)
    functions.create(HERE, FUNCTION, ignore_if_exists=False)


def forget(functions: FunctionCatalog, place: FunctionLocation) -> None:
    match place:
        case FunctionLocation.TEMPORARY_SYSTEM:
            functions.system.drop("UPPER", ignore_if_not_exists=False)
        case FunctionLocation.SYSTEM:
            functions.modules.unload("core")
        case FunctionLocation.TEMPORARY:
            functions.temporary.drop(HERE, ignore_if_not_exists=False)
        case FunctionLocation.CATALOG:
            functions.drop(HERE, ignore_if_not_exists=False)


@pytest.mark.parametrize(
    "path", [("UPPER",), ("db", "Upper"), ("home", "db", "upper")], ids=".".join
)
def test_functions_are_resolved_in_order(functions: FunctionCatalog, path: tuple[str, ...]) -> None:
    everywhere(functions)
    result = []
    while one := functions.find(UnresolvedPath(path)):
        result.append(one.place)
        forget(functions, one.place)

    assert list(ORDER[len(path)]) == result


def test_catalog_and_database_names_are_case_sensitive(functions: FunctionCatalog) -> None:
    functions.create(HERE, FUNCTION, ignore_if_exists=False)

    assert functions.find(UnresolvedPath(["DB", "upper"])) is None


def test_without_a_current_database_only_system_functions_are_found() -> None:
    registry = CatalogRegistry("home", InMemoryCatalog("home", "db"))
    functions = FunctionCatalog(registry)
    functions.create(HERE, FUNCTION, ignore_if_exists=False)
    registry.use_catalog(None)

    assert functions.find(UnresolvedPath(["plus"])) is None
    assert functions.get(UnresolvedPath(["upper"])).place is FunctionLocation.SYSTEM


def test_resolved_functions_have_the_full_path(functions: FunctionCatalog) -> None:
    functions.create(ObjectIdentifier("home", "db", "Plus"), FUNCTION, ignore_if_exists=False)
    rows = functions.function(("PLUS",), NOWHERE)

    assert rows is not None
    assert [("home", "db", "plus")] == [row.path for row in rows]
    assert [FunctionKind.SCALAR] == [row.kind for row in rows]


@pytest.mark.parametrize(
    "definition",
    [UNKNOWN, FunctionClass(problem="it has no method to call")],
    ids=["unknown class", "broken class"],
)
def test_temporary_function_requires_a_usable_class(
    functions: FunctionCatalog, definition: CatalogFunction | FunctionClass
) -> None:
    with pytest.raises(SchemaError) as caught:
        functions.create_temporary(HERE, definition, ignore_if_exists=True)

    assert "invalid-function" == caught.value.code


def test_invalid_permanent_function_raises_at_its_call(
    functions: FunctionCatalog,
) -> None:
    functions.create(ObjectIdentifier("home", "db", "f"), UNKNOWN, ignore_if_exists=False)
    with pytest.raises(SchemaError) as caught:
        functions.function(("f",), NOWHERE)

    assert "invalid-function" == caught.value.code


def test_class_that_is_not_a_function_raises_at_its_call(
    functions: FunctionCatalog,
) -> None:
    other = FunctionClass(problem="it is something else", is_function=False)
    functions.create_temporary_system("f", other, ignore_if_exists=False)
    with pytest.raises(SchemaError) as caught:
        functions.function(("f",), NOWHERE)

    assert "invalid-function" == caught.value.code


def test_refused_changes(functions: FunctionCatalog) -> None:
    everywhere(functions)
    with pytest.raises(AlreadyExistsError) as caught:
        functions.create_temporary_system("UPPER", FUNCTION, ignore_if_exists=False)
    assert "function-exists" == caught.value.code
    with pytest.raises(AlreadyExistsError) as caught:
        functions.require_not_hidden(HERE)
    assert "function-exists" == caught.value.code
    with pytest.raises(NotFoundError) as missing:
        functions.get(UnresolvedPath(["uper"]))
    assert ("function-not-found", "did you mean 'upper'?") == (
        missing.value.code,
        missing.value.hint,
    )


def test_listings(functions: FunctionCatalog) -> None:
    functions.create_temporary_system("Both", FUNCTION, ignore_if_exists=False)
    functions.create(ObjectIdentifier("home", "db", "both"), FUNCTION, ignore_if_exists=False)
    functions.create(ObjectIdentifier("home", "db", "kept"), FUNCTION, ignore_if_exists=False)

    assert ["both", "both", "kept"] == functions.list_user_defined("home", "db")
    assert {"both", "kept", "upper"} <= set(functions.list_functions())
    functions.modules.unload("core")
    assert ["both", "kept"] == functions.list_functions()


class Prefixing(InMemoryCatalog):
    """A catalog whose functions are created from their definitions."""

    def get_function_definition_factory(self) -> Prefixing:
        return self

    def create_function_definition(self, name: str, catalog_function: CatalogFunction) -> object:
        if catalog_function.class_name == "wrong":
            raise KeyError(name)
        return udf(lambda text: catalog_function.class_name + text, result_type="STRING")


def test_a_catalog_loads_its_functions() -> None:
    env = TableEnvironment.create()
    env.register_catalog("mine", Prefixing("mine", "db"))
    env.use_catalog("mine")
    env.execute_sql("CREATE FUNCTION greet AS 'Hello, '")
    env.execute_sql("CREATE FUNCTION broken AS 'wrong'")

    schema = env.sql_query("SELECT greet('Ann') AS g").get_resolved_schema()
    assert [DataTypes.STRING()] == schema.get_column_data_types()
    with pytest.raises(SchemaError) as caught:
        env.sql_query("SELECT broken('Ann')")
    assert "invalid-function" == caught.value.code
    assert "the catalog cannot load the function 'broken': KeyError" in caught.value.problem
