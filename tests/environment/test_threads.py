"""One environment used by many threads at once.

Every test starts its threads together and makes them switch often, to provoke race conditions.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from threading import Barrier
from typing import TypeVar

import pytest

from schema_core import DataTypes, EnvironmentSettings, TableEnvironment
from schema_core.catalog.functions import FunctionClass
from schema_core.catalog.registry import CatalogFactory, CatalogRegistry
from schema_core.catalog.stores.catalog_store import CatalogDescriptor, InMemoryCatalogStore
from schema_core.catalog.stores.memory import InMemoryCatalog
from schema_core.environment import session as sessions
from schema_core.errors import SchemaCoreError

THREADS = 8
R = TypeVar("R")
PLUS = FunctionClass((((DataTypes.INT(),), DataTypes.INT()),))


@pytest.fixture(autouse=True)
def _often_switched() -> Iterator[None]:
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


@pytest.fixture
def environment() -> TableEnvironment:
    return TableEnvironment.create(EnvironmentSettings.in_streaming_mode())


def together(task: Callable[[int], R]) -> list[R]:
    """Return the results of the task in each thread; the threads start at the same time."""
    barrier = Barrier(THREADS)

    def run(number: int) -> R:
        barrier.wait()
        return task(number)

    with ThreadPoolExecutor(THREADS) as pool:
        return list(pool.map(run, range(THREADS)))


def attempt(call: Callable[[], object]) -> str:
    try:
        call()
    except SchemaCoreError as error:
        return error.code
    return "done"


def test_a_view_resolved_by_many_threads_is_not_recursive(environment: TableEnvironment) -> None:
    environment.execute_sql("CREATE TABLE t (a INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)")
    environment.execute_sql("CREATE VIEW v0 AS SELECT a, ts FROM t")
    for number in range(1, 6):
        environment.execute_sql(f"CREATE VIEW v{number} AS SELECT * FROM v{number - 1}")

    def read(_: int) -> set[str]:
        def once() -> None:
            relation = environment.sql_query("SELECT * FROM v5").relation
            environment._session.executable(relation)

        return {attempt(once) for _ in range(5)}

    assert [{"done"}] * THREADS == together(read)


@pytest.mark.parametrize(
    ("statement", "refusal"),
    [
        ("CREATE TEMPORARY TABLE {} (a INT)", "table-exists"),
        ("CREATE TEMPORARY VIEW {} AS SELECT 1 AS a", "table-exists"),
        ("CREATE TABLE {} (a INT)", "table-exists"),
        ("CREATE VIEW {} AS SELECT 1 AS a", "table-exists"),
        ("CREATE CATALOG {} WITH ('type' = 'generic_in_memory')", "catalog-exists"),
        ("CREATE DATABASE {}", "database-exists"),
        ("CREATE TEMPORARY MODEL {} WITH ('provider' = 'p')", "model-exists"),
        ("CREATE TEMPORARY FUNCTION {} AS 'f'", "function-exists"),
        ("CREATE TEMPORARY SYSTEM FUNCTION {} AS 'f'", "function-exists"),
    ],
)
def test_one_of_concurrent_creates_succeeds(
    environment: TableEnvironment, statement: str, refusal: str
) -> None:
    environment.declare_function_class("f", PLUS)

    def created(text: str) -> list[str]:
        return together(lambda _: attempt(lambda: environment.execute_sql(text)))

    for number in range(20):
        result = created(statement.format(f"x{number}"))
        assert {"done": 1, refusal: THREADS - 1} == Counter(result)


@pytest.mark.parametrize("temporary", ["", "TEMPORARY "])
@pytest.mark.parametrize("kind", ["TABLE", "VIEW"])
def test_concurrent_conditional_create_and_drop_never_fail(
    environment: TableEnvironment, kind: str, temporary: str
) -> None:
    body = "(a INT)" if kind == "TABLE" else "AS SELECT 1 AS a"

    def both() -> None:
        environment.execute_sql(f"CREATE {temporary}{kind} IF NOT EXISTS t {body}")
        environment.execute_sql(f"DROP {temporary}{kind} IF EXISTS t")

    def task(_: int) -> set[str]:
        return {attempt(both) for _ in range(30)}

    assert [{"done"}] * THREADS == together(task)


def test_catalog_and_database_are_read_atomically(
    environment: TableEnvironment,
) -> None:
    for name in ("one", "two"):
        environment.register_catalog(name, InMemoryCatalog(name, f"of_{name}"))
    environment.use_catalog("one")

    def task(number: int) -> set[tuple[str, str]]:
        seen = set()
        for step in range(200):
            if number % 2:
                environment.use_catalog(("one", "two")[step % 2])
            else:
                identifier = environment._identifier("t")
                seen.add((identifier.catalog_name, identifier.database_name))
                seen.add(environment._session.registry.qualify_database(()))
        return seen

    assert set().union(*together(task)) <= {("one", "of_one"), ("two", "of_two")}


def test_a_stored_catalog_is_opened_once(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []

    def make(name: str, options: object) -> InMemoryCatalog:
        made.append(name)
        return InMemoryCatalog(name)

    factory = CatalogFactory(frozenset(), make)
    monkeypatch.setattr("schema_core.catalog.registry.factory_of", lambda kind: factory)

    def opened() -> set[int]:
        store = InMemoryCatalogStore()
        store.store_catalog("c", CatalogDescriptor.of("c", {"type": "toy"}))
        registry = CatalogRegistry("home", InMemoryCatalog("home"), store)
        return set(together(lambda _: id(registry.get("c"))))

    assert [1] * 20 == [len(opened()) for _ in range(20)]
    assert 20 == len(made)


def test_the_planner_is_loaded_once(monkeypatch: pytest.MonkeyPatch) -> None:
    result: list[object] = []

    def find(name: str, context: object) -> object:
        result.append(object())
        return result[-1]

    monkeypatch.setattr(sessions, "find_planner", find)

    def engines() -> set[int]:
        environment = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
        return set(together(lambda _: id(environment._session.planner)))

    assert [1] * 20 == [len(engines()) for _ in range(20)]
    assert 20 == len(result)


def test_options_and_listings_during_concurrent_writes(environment: TableEnvironment) -> None:
    def task(number: int) -> set[str]:
        def step(count: int) -> None:
            if number % 2:
                environment.get_config().set(f"key.{number}.{count}", "x")
                environment.execute_sql(f"CREATE TEMPORARY TABLE t_{number}_{count} (a INT)")
                environment.execute_sql(f"CREATE TABLE p_{number}_{count} (a INT)")
            else:
                environment.get_config().to_map()
                environment.list_temporary_tables()
                environment.list_hidden()
                environment.execute_sql("SHOW TABLES")
                environment.complete_statement("SELECT * FROM t", 15)

        return {attempt(partial(step, count)) for count in range(4)}

    assert [{"done"}] * THREADS == together(task)


def test_one_of_concurrent_module_loads_succeeds(environment: TableEnvironment) -> None:
    functions = environment._session.functions.modules

    for number in range(20):
        name = f"m{number}"
        result = together(partial(lambda name, _: attempt(lambda: functions.add(name, {})), name))
        assert {"done": 1, "already-exists": THREADS - 1} == Counter(result)
    assert ["core", *(f"m{number}" for number in range(20))] == functions.loaded
