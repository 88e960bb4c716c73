"""The contract of connectors as tests: subclass `ConnectorContract` for each connector.

Written rows are read back with the same values; a connector does whatever it declares, and what it
cannot do is refused before anything is lost. Each test runs few Spark jobs.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from itertools import count
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from schema_core.base.lazy import dataclass
from schema_core.catalog.objects import ResolvedCatalogTable
from schema_core.environment import connector as connectors
from schema_core.environment.config import EnvironmentSettings
from schema_core.environment.connector import Ability, Connector, Visibility
from schema_core.environment.jobs.atomicity import visibility_of
from schema_core.environment.options import ConfigOption
from schema_core.environment.table_environment import TableEnvironment
from schema_core.errors import ExternalError, SchemaCoreError, SchemaError, UnsupportedError
from schema_core.spark.connector import WriteContext
from schema_core.sql.printer import print_path, print_string
from schema_core.testing.connector_cases import NAMES, TYPES, TypeSample
from schema_core.testing.connector_job_contract import (
    ConnectorJobContract,
    MakeTable,
    import_path,
    need_write,
    resolve_table,
)
from schema_core.testing.connector_pushdown_contract import ConnectorPushDownContract, need_ability
from schema_core.testing.contract_rules import Rule, state_rules
from schema_core.testing.killed_writes import (
    COMMITTED,
    COMMITTING,
    DONE,
    FAILED,
    PREPARED,
    WRITTEN,
    Delegate,
    HeldWrite,
    KilledWriteState,
    active_settings,
    kill_writes,
)

if TYPE_CHECKING:
    from schema_core.environment.jobs.atomicity import Stage
    from schema_core.environment.options import ConfigOption

#: Number of concurrent writers, and of rows by each.
WRITERS, ROWS = 3, 2


class _Killed(Delegate):
    """A connector whose process ends when all rows are written: nothing commits or aborts."""

    def stage(self, context: WriteContext) -> Stage:
        self._stage: Stage = self._connector.stage(context)  # type: ignore[attr-defined]
        return self

    def write(self, frame: Any, context: WriteContext) -> None:
        self._connector.write(frame, replace(context, stage=self._stage))

    committed: bool | None = False

    def prepare(self) -> None:
        raise KeyboardInterrupt

    def commit(self) -> None:
        raise KeyboardInterrupt

    def abort(self) -> None:
        return None


class ConnectorContract(ConnectorJobContract, ConnectorPushDownContract, ABC):
    """The tests that every connector for Spark passes.

    For an ability that a connector does not declare, only the refusal of statements that need it
    is tested.
    """

    #: Name -> samples of the types that the connector stores. Others must be refused.
    types: Mapping[str, TypeSample] = TYPES
    #: Column names that the connector supports.
    names: Sequence[str] = NAMES
    #: Writable metadata -> a value in SQL.
    metadata_values: Mapping[str, str] = {}
    #: Options that hold a secret, which is not part of any name. They need not be valid.
    secret_options: Mapping[str, str] = {}
    #: Whether columns are stored by name, not by position.
    stores_names = True
    #: Whether a table may be read before anything is written.
    exists_empty = True
    #: Whether tables may be temporary. If not, using them must be refused.
    temporary = True
    #: Whether another table with the same options has the same rows.
    shares_rows = True
    #: Whether columns may be NOT NULL.
    not_null = True
    #: Whether options may have any name.
    any_option = False
    #: Whether several jobs may append to a table at the same time.
    concurrent = True
    #: Why no other process can see the rows, if so: killed writes are not tried.
    in_process_only = ""
    #: In how many places a process is killed within a commit, for each kind of write. As many as a
    #: commit has calls that change files, sockets or databases: before each of them. 0 if a commit
    #: waits for the commits of all other tables.
    commit_kills = 2
    #: ``module:name`` of a callable that returns the connector in another process; empty: its
    #: class.
    connector_path = ""
    #: Seconds after which the process to be killed counts as stuck.
    kill_timeout: float = 300.0

    @abstractmethod
    def make_connector(self) -> Connector:
        """Return the connector."""

    @abstractmethod
    def options(self, directory: Path) -> Mapping[str, str]:
        """Return the options of a new table without rows, which may use this directory.

        Every call is for another table. The option ``connector`` is added.
        """

    def create_physical_table(self, table: ResolvedCatalogTable) -> None:
        """Create the table of the external system that the options of a table name.

        By default nothing is created: override it for a connector that does not create tables
        itself, as Flink's ``jdbc``. It is called once per call of `options`, before the table is
        used, with the schema of the table to create.
        """
        return

    # --- fixtures --------------------------------------------------------------------------------

    @pytest.fixture(scope="class")
    @classmethod
    def spark_session(cls) -> Any:
        """Return the Spark session whose context the jobs share, or None to start one."""
        return None

    @pytest.fixture(scope="class")
    @classmethod
    def installed(cls) -> Iterator[list[Any]]:
        """Install the connector: each table has a new one, or the last that a test appended."""
        current: list[Any] = [cls().make_connector()]
        find = connectors.find_connector

        def find_installed(options: Mapping[str, str]) -> Connector:
            if options.get("connector") != current[0].identifier:
                return find(options)
            return current[-1] if len(current) > 1 else cls().make_connector()

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(connectors, "find_connector", find_installed)
            yield current

    @pytest.fixture(scope="class")
    @classmethod
    def environment(cls, spark_session: Any, installed: list[Any]) -> TableEnvironment:
        """Return the environment of a class's tests."""
        settings = EnvironmentSettings.in_batch_mode()
        return TableEnvironment.create(settings, spark=spark_session)

    @pytest.fixture
    def connector(self, installed: list[Any]) -> Any:
        """Return the connector."""
        return installed[0]

    @pytest.fixture(scope="class")
    @classmethod
    def numbers(cls) -> Iterator[int]:
        """Return the numbers of tables."""
        return count()

    @pytest.fixture
    def definitions(self) -> dict[str, str]:
        """Return the statements that created the tables, by name."""
        return {}

    @pytest.fixture
    def table(
        self,
        environment: TableEnvironment,
        connector: Connector,
        tmp_path: Path,
        numbers: Iterator[int],
        definitions: dict[str, str],
    ) -> MakeTable:
        return MakeTable(
            environment,
            connector.identifier,
            self.options,
            self.create_physical_table,
            tmp_path,
            numbers,
            definitions,
        )

    @pytest.fixture
    def run(self, environment: TableEnvironment) -> Callable[[str], list[tuple[Any, ...]]]:
        """Return a function that runs a statement and returns its rows, sorted."""

        def rows(statement: str) -> list[tuple[Any, ...]]:
            result = environment.execute_sql(statement)
            if not statement.startswith(("SELECT", "WITH")):
                result.wait()
                return []
            return sorted(map(tuple, result.collect()), key=repr)

        return rows

    # --- values ----------------------------------------------------------------------------------

    def test_values_are_read_as_written(self, table: MakeTable, run: Any, connector: Any) -> None:
        """Of every type that the connector claims, with NULL and extreme values."""
        need_write(connector)
        try:
            differences = _changed_values(self.types, table, run)
        except Exception as error:
            # for speed one statement has all types: find those that fail
            failing = {}
            for name, data_type in self.types.items():
                try:
                    _changed_values({name: data_type}, table, run)
                except Exception as alone:  # noqa: BLE001 - whatever a connector raises
                    first = (str(alone).splitlines() or [type(alone).__name__])[0]
                    failing[f"{name}: {data_type.type}"] = first
            if not failing:
                raise
            listed = "\n".join(f"  {name}: {problem}" for name, problem in failing.items())
            raise AssertionError(f"values of these types cannot be written:\n{listed}") from error
        assert {} == differences

    @pytest.mark.parametrize("name", TYPES)
    def test_other_types_are_refused(
        self, table: MakeTable, run: Any, connector: Any, name: str
    ) -> None:
        """A type that is not claimed is refused, or its values are kept."""
        need_write(connector)
        if name in self.types:
            return
        one = TYPES[name]
        with suppress(SchemaCoreError):
            target = table(f"v {one.type}")
            values = [f"CAST({value} AS {one.type})" for value in one.values]
            query = " UNION ALL ".join(f"SELECT {value}" for value in values)
            run(f"INSERT INTO {target} {query}")
            rows = run(f"SELECT * FROM {target}")
            assert list(map(repr, run(query))) == list(map(repr, rows))

    def test_columns_are_matched_by_name(self, table: MakeTable, run: Any, connector: Any) -> None:
        """Their order in INSERT, SELECT or the definition does not matter."""
        need_write(connector)
        name = table("a STRING, k INT, b STRING")
        run(f"INSERT INTO {name} (b, k, a) VALUES ('of b', 1, 'of a')")
        run(f"INSERT INTO {name} (k) VALUES (2)")
        assert [("of b", "of a", 1), (None, None, 2)] == _by(run(f"SELECT b, a, k FROM {name}"), 2)
        assert [("of a",), (None,)] == _by(run(f"SELECT a FROM {name}"))
        if self.stores_names and self.shares_rows:
            other = table("b STRING, a STRING, k INT", like=name)
            rows = run(f"SELECT a, b FROM {other} WHERE k = 1")
            assert [("of a", "of b")] == rows

    def test_names_are_quoted(self, table: MakeTable, run: Any, connector: Any) -> None:
        need_write(connector)
        quoted = [print_path((name,)) for name in self.names]
        name = table(", ".join(f"{name} INT" for name in quoted))
        row = tuple(range(len(quoted)))
        run(f"INSERT INTO {name} VALUES ({', '.join(map(str, row))})")

        assert [row] == run(f"SELECT * FROM {name} WHERE {quoted[0]} = 0 AND {quoted[-1]} > 0")
        assert [(1,)] == run(f"SELECT {quoted[1]} FROM {name}")

    def test_an_empty_table_has_no_rows(self, table: MakeTable, run: Any, connector: Any) -> None:
        """A new table, and one to which no rows were written."""
        name = table("a INT, b STRING")
        if self.exists_empty and connector.can_read:
            assert [] == run(f"SELECT b, a FROM {name}")
        need_write(connector)
        run(f"INSERT INTO {name} SELECT 1, 'x' FROM (VALUES (1)) AS v(n) WHERE n > 1")
        assert [] == run(f"SELECT b, a FROM {name}")
        assert [(0,)] == run(f"SELECT COUNT(*) FROM {name}")

    # --- nullability -----------------------------------------------------------------------------

    def test_null_in_a_not_null_column_is_refused(
        self, table: MakeTable, run: Any, connector: Any
    ) -> None:
        """Nothing is written; on reading the query fails."""
        need_write(connector)
        if not self.not_null:
            pytest.skip("columns cannot be NOT NULL")
        strict = table("a INT NOT NULL, b STRING")
        with pytest.raises(SchemaCoreError):
            run(f"INSERT INTO {strict} SELECT NULLIF(n, 2), 'x' FROM (VALUES (2)) AS v(n)")
        run(f"INSERT INTO {strict} VALUES (1, 'x')")
        assert [(1, "x")] == run(f"SELECT * FROM {strict}")
        if not self.shares_rows:
            return

        loose = table("a INT, b STRING")
        run(f"INSERT INTO {loose} VALUES (1, 'x'), (CAST(NULL AS INT), 'y')")
        again = table("a INT NOT NULL, b STRING", like=loose)
        # a NULL in a result column is refused for every connector, one in an aggregate is not
        for value in ("a", "a + 1"):  # the connector may compute the sum of a column
            with pytest.raises(SchemaCoreError, match="'a' is NOT NULL but received NULL"):
                run(f"SELECT SUM({value}) FROM {again}")
        assert [("x",), ("y",)] == run(f"SELECT b FROM {again}")

    # --- metadata --------------------------------------------------------------------------------

    def test_metadata_has_its_types(self, table: MakeTable, run: Any, connector: Any) -> None:
        """Every key is read with its declared type; undeclared keys are refused."""
        keys = list(connector.metadata)
        with pytest.raises(SchemaError) as caught:
            table("a INT, b INT METADATA FROM 'no such metadata' VIRTUAL")
        assert "invalid-metadata-column" == caught.value.code
        if not keys:
            return
        need_write(connector)
        columns = ", ".join(
            f"m{place} {connector.metadata[key]} METADATA FROM {print_string(key)} VIRTUAL"
            for place, key in enumerate(keys)
        )
        name = table(f"a INT, {columns}, s STRING")
        run(f"INSERT INTO {name} VALUES (1, 'x')")
        (row,) = run(f"SELECT * FROM {name}")
        assert (1, "x", len(keys) + 2) == (row[0], row[-1], len(row))
        for key, value in zip(keys, row[1:-1], strict=True):
            assert connector.metadata[key].accepts(value), key
        assert [row[1:2]] == run(f"SELECT m0 FROM {name}")

    def test_metadata_is_written(self, table: MakeTable, run: Any, connector: Any) -> None:
        """Writable metadata is read back; other metadata is only read."""
        assert connector.writable_metadata == set(self.metadata_values), "add a value for each key"
        if not self.metadata_values:
            pytest.skip("no metadata can be written")
        columns = ", ".join(
            f"m{place} {connector.metadata[key]} METADATA FROM {print_string(key)}"
            for place, key in enumerate(self.metadata_values)
        )
        name = table(f"{columns}, a INT")
        values = [
            f"CAST({value} AS {connector.metadata[key]})"
            for key, value in self.metadata_values.items()
        ]
        query = f"SELECT {', '.join(values)}, 7"
        run(f"INSERT INTO {name} {query}")
        assert run(query) == run(f"SELECT * FROM {name}")

    # --- writes ----------------------------------------------------------------------------------

    def test_inserts_append(self, table: MakeTable, run: Any, connector: Any) -> None:
        """One after the other, and at the same time; reading does not consume rows."""
        need_write(connector)
        name = table("a INT, b STRING")
        run(f"INSERT INTO {name} VALUES (-1, 'x')")
        run(f"INSERT INTO {name} VALUES (-2, 'x')")

        def write(writer: int) -> None:
            rows = ", ".join(f"({writer * ROWS + row}, 'x')" for row in range(ROWS))
            run(f"INSERT INTO {name} VALUES {rows}")

        if self.concurrent:
            with ThreadPoolExecutor(WRITERS) as pool:
                list(pool.map(write, range(WRITERS)))
        else:
            for writer in range(WRITERS):
                write(writer)
        expected = [(index,) for index in range(-2, WRITERS * ROWS)]
        for _ in range(2):
            assert expected == _by(run(f"SELECT a FROM {name}"))

    def test_overwriting_replaces_all_rows(
        self, table: MakeTable, run: Any, connector: Any
    ) -> None:
        """By rows and by none; refused without the ability."""
        need_write(connector)
        name = table("a INT")
        run(f"INSERT INTO {name} VALUES (1), (2)")
        if Ability.OVERWRITE not in connector.abilities:
            _refuses(run, f"INSERT OVERWRITE {name} VALUES (3)")
            assert [(1,), (2,)] == run(f"SELECT * FROM {name}")
            return
        run(f"INSERT OVERWRITE {name} VALUES (3)")
        assert [(3,)] == run(f"SELECT * FROM {name}")
        run(f"INSERT OVERWRITE {name} SELECT a FROM (VALUES (1)) AS v(a) WHERE a > 1")
        assert [] == run(f"SELECT * FROM {name}")

    def test_create_table_as(
        self, environment: TableEnvironment, table: MakeTable, run: Any, connector: Any,
        tmp_path: Path,
    ) -> None:  # fmt: skip
        """The new table has the rows of the query."""
        need_write(connector)
        every = {"connector": connector.identifier, **self.options(tmp_path / "made")}
        listed = ", ".join(
            f"{print_string(key)} = {print_string(value)}" for key, value in every.items()
        )
        null = " NOT NULL" if self.not_null else ""
        columns = f"a INT{null}, b CHAR(1){null}"
        environment.execute_sql(f"CREATE TEMPORARY TABLE made ({columns}) WITH ({listed})")
        self.create_physical_table(resolve_table(environment, "made"))
        environment.execute_sql("DROP TEMPORARY TABLE made")
        name = f"made_{tmp_path.name.replace('-', '_')}"
        query = "SELECT 1 AS a, 'x' AS b"
        if not self.not_null:
            query = "SELECT NULLIF(1, 2) AS a, NULLIF('x', 'y') AS b"
        run(f"CREATE TABLE {print_path((name,))} WITH ({listed}) AS {query}")
        assert [(1, "x")] == run(f"SELECT * FROM {print_path((name,))}")

    def test_temporary_tables(self, table: MakeTable, run: Any, connector: Any) -> None:
        """They are read and written like any other, or refused."""
        need_write(connector)
        name = table("a INT", temporary=True)
        if not self.temporary:
            for statement in (f"SELECT * FROM {name}", f"INSERT INTO {name} VALUES (1)"):
                with pytest.raises(UnsupportedError):
                    run(statement)
            return
        run(f"INSERT INTO {name} VALUES (1)")
        assert [(1,)] == run(f"SELECT * FROM {name}")

    def test_partitions(self, table: MakeTable, run: Any, connector: Any) -> None:
        """Static and dynamic partitions; overwriting one keeps the others."""
        need_write(connector)
        keys = list(self.partition_types)
        columns = ", ".join(f"p{place} {type_}" for place, type_ in enumerate(keys))
        by = ", ".join(f"p{place}" for place in range(len(keys)))
        name = table(f"a INT, {columns}", partitions=by)
        if Ability.PARTITIONS not in connector.abilities:
            _refuses(run, f"INSERT INTO {name} (a) VALUES (1)")
            return
        pairs = [
            [f"CAST({value} AS {type_})" for value in self.partition_types[type_]] for type_ in keys
        ]
        first, second = ", ".join(pair[0] for pair in pairs), ", ".join(pair[1] for pair in pairs)
        query = f"SELECT 1, {first} UNION ALL SELECT 2, {second}"
        run(f"INSERT INTO {name} {query}")
        assert run(query) == run(f"SELECT * FROM {name}")
        assert [(1,)] == run(f"SELECT a FROM {name} WHERE p0 = {pairs[0][0]}")

        simple = table("a INT, p STRING", partitions="p")
        run(f"INSERT INTO {simple} PARTITION (p = 'x') SELECT 1")
        run(f"INSERT INTO {simple} VALUES (2, 'y'), (3, 'z')")
        if Ability.OVERWRITE not in connector.abilities:
            _refuses(run, f"INSERT OVERWRITE {simple} PARTITION (p = 'y') SELECT 4")
            return
        run(f"INSERT OVERWRITE {simple} PARTITION (p = 'y') SELECT 4")
        run(f"INSERT OVERWRITE {simple} VALUES (5, 'z')")
        assert [(1, "x"), (4, "y"), (5, "z")] == run(f"SELECT * FROM {simple}")

    def test_upsert_replaces_rows_by_key(self, table: MakeTable, run: Any, connector: Any) -> None:
        """By a primary key of one column and of two."""
        need_write(connector)
        if Ability.UPSERT not in connector.abilities:
            pytest.skip("the connector does not declare the ability")
        name = table("k INT NOT NULL, v STRING, PRIMARY KEY (k) NOT ENFORCED")
        run(f"INSERT INTO {name} VALUES (1, 'a'), (2, 'b')")
        run(f"INSERT INTO {name} VALUES (2, 'c'), (3, 'd')")
        assert [(1, "a"), (2, "c"), (3, "d")] == run(f"SELECT * FROM {name}")
        run(f"INSERT INTO {name} VALUES (4, 'e'), (4, 'f')")
        assert [(1,)] == run(f"SELECT COUNT(*) FROM {name} WHERE k = 4")

        pair = "PRIMARY KEY (i, j) NOT ENFORCED"
        both = table(f"v STRING, j INT NOT NULL, i STRING NOT NULL, {pair}")
        run(f"INSERT INTO {both} VALUES ('a', 1, 'x'), ('b', 1, 'y')")
        run(f"INSERT INTO {both} VALUES ('c', 1, 'x'), (CAST(NULL AS STRING), 2, 'y')")
        expected = [("b", 1, "y"), ("c", 1, "x"), (None, 2, "y")]
        assert expected == run(f"SELECT * FROM {both}")

    def test_rows_are_deleted_and_updated(self, table: MakeTable, run: Any, connector: Any) -> None:
        """By filters and by other conditions; refused without the abilities."""
        need_write(connector)
        has_key = Ability.UPSERT in connector.abilities
        key = " NOT NULL, b STRING, PRIMARY KEY (a) NOT ENFORCED" if has_key else ", b STRING"
        name = table(f"a INT{key}")
        rows = [(1, "p"), (2, "q"), (3, "r"), (4, "s"), (5, "t")]
        run(f"INSERT INTO {name} VALUES {', '.join(map(str, rows))}")
        for ability, statement, changed in (
            (Ability.ROW_LEVEL_DELETE, "DELETE FROM {} WHERE a = 5", rows[:4]),
            (Ability.ROW_LEVEL_DELETE, "DELETE FROM {} WHERE MOD(a, 4) = 0", rows[:3]),
            (Ability.ROW_LEVEL_DELETE, "DELETE FROM {} WHERE a > 9", rows[:3]),
            (Ability.ROW_LEVEL_UPDATE, "UPDATE {} SET b = UPPER(b) WHERE a <> 2", None),
            (Ability.TRUNCATE, "TRUNCATE TABLE {}", []),
        ):
            if ability not in connector.abilities:
                _refuses(run, statement.format(name))
                continue
            run(statement.format(name))
            if changed is None:
                rows = [(a, b if a == 2 else b.upper()) for a, b in rows]
            else:
                rows = changed
            assert rows == run(f"SELECT * FROM {name}")

    # --- staging ---------------------------------------------------------------------------------

    def test_a_failed_job_leaves_no_rows(
        self, environment: TableEnvironment, table: MakeTable, run: Any, connector: Any
    ) -> None:
        """Neither INSERT nor OVERWRITE of a failing job changes a table.

        `Visibility.FINAL` guarantees this, and so does the ability to stage.
        """
        need_write(connector)
        name = table("a INT")
        if (
            visibility_of(connector, resolve_table(environment, name).options)
            is not Visibility.FINAL
        ):
            pytest.skip("the rows of a job are visible before it has finished")
        run(f"INSERT INTO {name} VALUES (1)")
        bad = "SELECT CAST(s AS INT) FROM (VALUES ('2'), ('3'), ('x')) AS v(s)"
        words = ["INTO", *(["OVERWRITE"] if Ability.OVERWRITE in connector.abilities else [])]
        for word in words:
            with pytest.raises(SchemaCoreError):
                run(f"INSERT {word} {name} {bad}")
        assert [(1,)] == run(f"SELECT * FROM {name}")

    def test_a_killed_job_leaves_no_rows(
        self, table: MakeTable, run: Any, connector: Any, installed: list[Any]
    ) -> None:
        """Rows of a process that ends between writing and committing never become visible."""
        need_write(connector)
        need_ability(connector, Ability.STAGING)
        name = table("a INT")
        run(f"INSERT INTO {name} VALUES (1)")
        installed.append(_Killed(connector, connector.abilities))
        try:
            with suppress(BaseException):
                run(f"INSERT INTO {name} VALUES (2)")
        finally:
            installed.pop()
        assert [(1,)] == run(f"SELECT * FROM {name}")
        run(f"INSERT INTO {name} VALUES (3)")
        assert [(1,), (3,)] == run(f"SELECT * FROM {name}")

    def test_a_killed_process_leaves_all_rows_or_none(
        self, environment: TableEnvironment, table: MakeTable, run: Any, connector: Any,
        definitions: Mapping[str, str],
    ) -> None:  # fmt: skip
        """A process is killed before, within or after its commit.

        Rows not committed by then are not visible, a commit has effect completely or not at all,
        and the same write succeeds afterwards.
        """
        need_write(connector)
        need_ability(connector, Ability.STAGING)
        if self.in_process_only or not hasattr(os, "killpg"):
            pytest.skip(self.in_process_only or "the system cannot kill a process with its JVM")
        kills = self._kills(table, connector, definitions)
        run("SELECT a FROM (VALUES (1)) AS v(a)")  # starts Spark
        path = self.connector_path or import_path(type(connector))
        states = kill_writes(
            path, [kill.write for kill in kills], active_settings(), self.kill_timeout
        )
        failed = {key: state.error for key, state in states.items() if state.name == FAILED}
        assert not failed, f"writes failed: {failed}"

        everything = " UNION ALL ".join(
            f"SELECT '{kill.write.table}' AS t, a, p FROM {kill.write.table}" for kill in kills
        )
        visible = _rows_by_table(run(everything))
        partial = {
            kill.place: visible.get(kill.write.table, [])
            for kill in kills
            if visible.get(kill.write.table, []) not in kill.allowed(states[kill.write.table])
        }
        assert not partial, f"visible after the kill: {partial}"
        assert visible == _rows_by_table(run(everything)), "the rows changed between two reads"
        for kill in kills:
            name = kill.write.table
            again = visible[name] != kill.new
            run(kill.write.write if again else f"INSERT INTO {name} SELECT 31, 'x'")
        later = _rows_by_table(run(everything))
        expected = {
            kill.write.table: kill.new
            if visible[kill.write.table] != kill.new
            else [*kill.new, (31, "x")]
            for kill in kills
        }
        wrong = {
            kill.place: later[kill.write.table]
            for kill in kills
            if later[kill.write.table] != expected[kill.write.table]
        }
        assert not wrong, f"visible after the next write: {wrong}"

    def _kills(
        self, table: MakeTable, connector: Connector, definitions: Mapping[str, str]
    ) -> list[Kill]:
        """Return writes that stop at every kill point, of INSERT and of INSERT OVERWRITE.

        REPLACE TABLE AS, with the same definition, stops within its commit.
        """
        by = "p" if Ability.PARTITIONS in connector.abilities else ""
        overwrites = Ability.OVERWRITE in connector.abilities
        kinds = ["INSERT INTO", *(["INSERT OVERWRITE"] if overwrites else [])]
        kills: list[Kill] = []

        def add(kind: str, point: str, part: float = 0.0, measured: str = "") -> str:
            name = table("a INT, p STRING", partitions=by)
            before = (definitions[name], f"INSERT INTO {name} {_values(OLD)}")
            statement = f"{kind} {name} {_values(NEW)}"
            if kind == "REPLACE":
                statement = f"{definitions[name].replace('CREATE', kind, 1)} AS {_values(NEW)}"
            write = HeldWrite(name, before, statement, point, part, measured)
            kills.append(Kill(write, f"{kind}, {point} {part:.0%}", kind != "INSERT INTO"))
            return name

        # the writes before a commit stop first: a commit may hold a lock
        for kind, point in zip([*kinds, kinds[0]], (PREPARED, WRITTEN), strict=False):
            add(kind, point)
        for kind in kinds:
            measured = add(kind, COMMITTED)
            number = self.commit_kills
            for place in range(number):
                # the two kinds of writes stop at different places
                evenly, between = (place + 1) / (number + 1), (2 * place + 1) / (2 * number)
                part = evenly if kind == "INSERT OVERWRITE" else between
                add(kind, COMMITTING, part, measured)
            if kind == "INSERT OVERWRITE" and number:
                add("REPLACE", COMMITTING, 1 / 2, measured)
        return kills

    # --- options ---------------------------------------------------------------------------------

    def test_options_are_validated(self, table: MakeTable, run: Any, connector: Any) -> None:
        """Unknown, missing and invalid options are refused by name; optional ones may be absent."""
        purpose = "SELECT * FROM {}" if connector.can_read else "INSERT INTO {} VALUES (1)"
        declared: dict[str, ConfigOption[Any]] = {}
        own = {"connector": connector.identifier, **self.options(Path("nowhere"))}
        for item in connector.declared(own):
            declared[item.key] = item
        assert all(
            key == "connector" or any(option.has_key(key) for option in declared.values())
            for key in own
        )
        unknown = table("a INT", options={"no-such-option": "x"})
        if self.any_option:
            run(purpose.format(unknown))
        else:
            _refused_option(run, purpose.format(unknown), "unknown-option", "no-such-option")
        for key, option in declared.items():
            if option.required and "#" not in key:
                name = table("a INT", without=key)
                _refused_option(run, purpose.format(name), "missing-option", key)
            elif key in own:
                name = table("a INT", without=key)
                with suppress(SchemaError):
                    _run_or_refuse(run, purpose.format(name))
            if _refuses_text(option) and "#" not in key:
                name = table("a INT", options={key: INVALID})
                _refused_option(run, purpose.format(name), "invalid-option-value", key)

    def test_secrets_are_masked(
        self, environment: TableEnvironment, table: MakeTable, run: Any, connector: Any
    ) -> None:
        """SHOW CREATE TABLE, EXPLAIN and errors do not contain a secret."""
        if not self.secret_options:
            pytest.skip("no secret options")
        secrets = list(self.secret_options.values())
        names = [
            table("a INT", options=self.secret_options),
            table("a INT", options={**self.secret_options, "no-such-option": "x"}),
        ]
        statements = [
            form.format(name)
            for name in names
            for form in (
                "SHOW CREATE TABLE {}",
                "EXPLAIN SELECT * FROM {}",
                "SELECT * FROM {}",
                "INSERT INTO {} VALUES (1)",
            )
        ]
        for statement in statements:
            try:
                result = environment.execute_sql(statement)
                shown = repr([tuple(row) for row in result.collect()])
            except SchemaCoreError as error:
                shown = _chain(error)
            assert [] == [secret for secret in secrets if secret in shown], statement


# --- writes of a killed process ------------------------------------------------------------------

OLD = [(1, "x"), (2, "y"), (3, "z")]
NEW = [(11, "x"), (12, "y"), (13, "z")]


@dataclass(frozen=True, slots=True)
class Kill:
    """A write of the killed process, and the rows that may be visible afterwards."""

    write: HeldWrite
    place: str
    replaces: bool

    @property
    def new(self) -> list[tuple[Any, ...]]:
        """The table's rows with those of the write."""
        return NEW if self.replaces else [*OLD, *NEW]

    def allowed(self, state: KilledWriteState) -> list[list[tuple[Any, ...]]]:
        """Return what a reader may see."""
        if state.name in (COMMITTED, DONE):
            return [self.new]
        return [OLD, self.new] if state.name == COMMITTING else [OLD]


def _values(rows: Sequence[tuple[int, str]]) -> str:
    """Return a query of rows, which Spark computes in a task each: a commit has several parts."""
    return " UNION ALL ".join(
        f"SELECT a, p FROM (VALUES ({number}, '{text}')) AS v(a, p)" for number, text in rows
    )


def _rows_by_table(rows: Sequence[tuple[Any, ...]]) -> dict[str, list[tuple[Any, ...]]]:
    tables: dict[str, list[tuple[Any, ...]]] = {}
    for name, *values in sorted(rows):
        tables.setdefault(name, []).append(tuple(values))
    return tables


# --- helpers -------------------------------------------------------------------------------------

#: Parsers of options refuse it, unless they accept any string.
INVALID = "\x01 not a value"


def _changed_values(
    types: Mapping[str, TypeSample], table: MakeTable, run: Any
) -> dict[str, tuple[Any, Any]]:
    """Write and read all values of these types in one table.

    Return changed values by column, type and SQL: the value read and the value written.
    """
    samples = list(types.values())
    name = table(", ".join(["k INT", *(f"c{n} {sample.type}" for n, sample in enumerate(samples))]))
    height = max(len(sample.values) for sample in samples) + 1
    # NULL in the last row, and below the last value of a type
    rows = [
        [sample.values[row] if row < len(sample.values) else "NULL" for sample in samples]
        for row in range(height)
    ]
    selects = []
    for number, row in enumerate(rows):
        casts = (
            f"CAST({value} AS {sample.type})" for value, sample in zip(row, samples, strict=True)
        )
        selects.append(f"SELECT {number}, {', '.join(casts)}")
    query = " UNION ALL ".join(selects)
    run(f"INSERT INTO {name} {query}")

    table_rows, query_rows = (
        sorted(run(sql), key=itemgetter(0)) for sql in (f"SELECT * FROM {name}", query)
    )
    assert [repr(row[0]) for row in table_rows] == [repr(row[0]) for row in query_rows]
    return {
        f"{key}: {sample.type}, {value}": (actual, expected)
        for row, table_row, query_row in zip(rows, table_rows, query_rows, strict=True)
        for (key, sample), value, actual, expected in zip(
            types.items(), row, table_row[1:], query_row[1:], strict=True
        )
        if repr(actual) != repr(expected)
    }


def _by(rows: list[tuple[Any, ...]], place: int = 0) -> list[tuple[Any, ...]]:
    """Sort rows by a column, NULL last."""
    return sorted(rows, key=lambda row: (row[place] is None, row[place] or 0, repr(row)))


def _refuses(run: Any, statement: str) -> None:
    with pytest.raises(UnsupportedError) as caught:
        run(statement)
    assert "unsupported-ability" == caught.value.code


def _refuses_text(option: ConfigOption[Any]) -> bool:
    try:
        option.read(INVALID)
    except SchemaError:
        return True
    return False


def _refused_option(run: Any, statement: str, code: str, key: str) -> None:
    with pytest.raises(SchemaError) as caught:
        run(statement)
    errors = [diagnostic for diagnostic in caught.value.diagnostics if diagnostic.code == code]
    assert errors, f"{statement}: no error {code}"
    assert any(key in str(error) for error in errors), f"{code} does not name {key!r}"


def _run_or_refuse(run: Any, statement: str) -> None:
    """Run a statement; a failure of the connector's code is not a refusal."""
    try:
        run(statement)
    except ExternalError as error:
        cause = error.__cause__
        assert not isinstance(cause, TypeError | KeyError | AttributeError), repr(cause)


def _chain(error: BaseException | None) -> str:
    """Return all that a traceback of an error prints."""
    parts: list[str] = []
    seen = [error]
    while seen:
        one = seen.pop()
        if one is not None:
            parts += [str(one), repr(one.args), *getattr(one, "__notes__", ())]
            seen += [one.__cause__, None if one.__suppress_context__ else one.__context__]
    return "\n".join(parts)


# --- what the tests test --------------------------------------------------------------------------

READING, WRITING = "reading: SparkConnector.read", "writing: SparkConnector.write"
PAGE = "connectors.md"

#: Test -> the ability that it tests, and its page.
RULES: Mapping[str, Rule] = {
    "test_values_are_read_as_written": Rule(f"{READING}, {WRITING}", f"{PAGE}#reading"),
    "test_other_types_are_refused": Rule(WRITING, f"{PAGE}#errors"),
    "test_columns_are_matched_by_name": Rule(READING, f"{PAGE}#reading"),
    "test_names_are_quoted": Rule(READING, f"{PAGE}#reading"),
    "test_an_empty_table_has_no_rows": Rule(READING, f"{PAGE}#reading"),
    "test_null_in_a_not_null_column_is_refused": Rule("SupportsStatisticReport", f"{PAGE}#reading"),
    "test_metadata_has_its_types": Rule("SparkConnector.metadata", f"{PAGE}#metadata"),
    "test_metadata_is_written": Rule("SparkConnector.writable_metadata", f"{PAGE}#metadata"),
    "test_inserts_append": Rule(WRITING, f"{PAGE}#writing"),
    "test_overwriting_replaces_all_rows": Rule("SupportsOverwrite", f"{PAGE}#writing"),
    "test_create_table_as": Rule(WRITING, f"{PAGE}#writing"),
    "test_temporary_tables": Rule(f"{READING}, {WRITING}", f"{PAGE}#reading"),
    "test_partitions": Rule("SupportsPartitioning", f"{PAGE}#writing"),
    "test_upsert_replaces_rows_by_key": Rule("SupportsUpsert", f"{PAGE}#writing"),
    "test_rows_are_deleted_and_updated": Rule(
        "SupportsRowLevelDelete, SupportsRowLevelUpdate, SupportsTruncate", f"{PAGE}#writing"
    ),
    "test_a_failed_job_leaves_no_rows": Rule("Visibility.FINAL", f"{PAGE}#writing"),
    "test_a_killed_job_leaves_no_rows": Rule("SupportsStaging", f"{PAGE}#writing"),
    "test_a_killed_process_leaves_all_rows_or_none": Rule("SupportsStaging", f"{PAGE}#writing"),
    "test_an_aborted_write_leaves_nothing": Rule("SupportsStaging", f"{PAGE}#writing"),
    "test_recovery": Rule("SupportsRecovery", f"{PAGE}#writing"),
    "test_clean_up": Rule("SupportsCleanUp", f"{PAGE}#writing"),
    "test_micro_batches_are_written_as_guaranteed": Rule(
        "SupportsMicroBatches, delivery_guarantee", f"{PAGE}#streaming-jobs"
    ),
    "test_a_stream_continues_where_it_ended": Rule(
        "SupportsStreamingRead", f"{PAGE}#streaming-jobs"
    ),
    "test_changes_leave_their_rows": Rule(
        "SupportsChangelogRead, SupportsChangelogWrite", f"{PAGE}#tables-of-changes"
    ),
    "test_push_down_keeps_rows": Rule(
        "SupportsFilterPushDown, SupportsProjectionPushDown, SupportsLimitPushDown",
        f"{PAGE}#push-down",
    ),
    "test_aggregates_are_those_of_the_rows": Rule(
        "SupportsAggregatePushDown", f"{PAGE}#push-down"
    ),
    "test_first_rows_are_those_of_the_order": Rule("SupportsTopNPushDown", f"{PAGE}#push-down"),
    "test_fields_of_rows_are_those_that_queries_use": Rule(
        "SupportsProjectionPushDown.supports_nested_projection", f"{PAGE}#push-down"
    ),
    "test_partitions_that_filters_select_have_all_rows": Rule(
        "SupportsPartitionPushDown", f"{PAGE}#push-down"
    ),
    "test_the_columns_that_insert_names_are_written": Rule(
        "SupportsTargetColumnWriting", f"{PAGE}#writing"
    ),
    "test_accepted_filters_and_limits_are_applied": Rule(
        "SupportsFilterPushDown, SupportsLimitPushDown", f"{PAGE}#push-down"
    ),
    "test_columns_without_null_have_no_null": Rule("SupportsStatisticReport", f"{PAGE}#reading"),
    "test_buckets": Rule("SupportsBucketing", f"{PAGE}#writing"),
    "test_processes_write_at_the_same_time": Rule("SupportsStaging", f"{PAGE}#writing"),
    "test_options_are_validated": Rule("SparkConnector.options", f"{PAGE}#options"),
    "test_options_of_hints_are_used": Rule("SparkConnector.options", f"{PAGE}#options"),
    "test_secrets_are_masked": Rule("ConfigOption.secret", f"{PAGE}#options"),
}  # fmt: skip

state_rules(ConnectorContract, RULES)
