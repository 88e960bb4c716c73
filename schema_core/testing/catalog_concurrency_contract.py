"""The part of the contract of catalogs about several users: conflicts, kills and transactions."""

from __future__ import annotations

import os
import random
import signal
import time
import traceback
from abc import ABC, abstractmethod
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext, suppress
from dataclasses import replace
from itertools import cycle, product
from pathlib import Path

import pytest

from schema_core.base.paths import ObjectPath
from schema_core.catalog import objects
from schema_core.catalog.api import Capability, Catalog
from schema_core.environment.config import EnvironmentSettings
from schema_core.environment.table_environment import TableEnvironment
from schema_core.errors import (
    AlreadyExistsError,
    ConflictError,
    NotFoundError,
)
from schema_core.testing.catalog_cases import (
    DATABASE,
    MIGRATION,
    NOTHING,
    ORDERS,
    PLAIN,
    SETTINGS,
    TABLES,
    need,
    state,
    with_derived_schema,
)

#: The catalog's name in sessions.
CATALOG = "tested"

#: Number of concurrent writers, and of writes by each.
WRITERS, TIMES = 8, 5

#: The killed writer's table: large enough to be interrupted half-way.
LARGE = PLAIN.copy({"n": "x" * 20_000})

#: How often a test kills the writer.
KILLS = 3

KILLED = [ObjectPath("db", f"t{number}") for number in range(5)]


class CatalogConcurrencyContract(ABC):
    """The tests of several users, of which `CatalogContract` has the fixtures."""

    #: Whether a second catalog in the same directory contains the objects of the first.
    durable = False
    #: Whether a process with a durable catalog may be forked, and killed while it writes.
    killable = False
    #: Whether exactly one of several concurrent DROPs of a table succeeds.
    reports_who_dropped = True
    compared_kinds: tuple[str, ...]

    @abstractmethod
    def make_catalog(self, directory: Path) -> Catalog:
        """Return a catalog that stores its objects in this directory."""

    def second_catalog(self, catalog: Catalog, directory: Path) -> Catalog:
        """Return another catalog on the same store, or the same one if not durable."""
        if not self.durable:
            return catalog
        again = self.make_catalog(directory)
        again.open()
        return again

    def _session(self, catalog: Catalog) -> TableEnvironment:
        """Return a session whose current database is `db`."""
        environment = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
        environment.register_catalog(CATALOG, catalog)
        environment.execute_sql(f"USE `{CATALOG}`.db")
        return environment

    # --- concurrent users ------------------------------------------------------------------------

    def _together(
        self,
        catalog: Catalog,
        directory: Path,
        act: Callable[[Catalog, int], bool],
        writers: int = WRITERS,
    ) -> list[int]:
        """Run `act` in concurrent writers; return the numbers of those that returned True."""

        def run(number: int) -> bool:
            mine = self.second_catalog(catalog, directory)
            try:
                return act(mine, number)
            finally:
                if mine is not catalog:
                    mine.close()

        with ThreadPoolExecutor(writers) as pool:
            done = list(pool.map(run, range(writers)))
        return [number for number in range(writers) if done[number]]

    def test_second_catalog_sees_the_same_objects(self, populated: Catalog, tmp_path: Path) -> None:
        """It does so while the first catalog is open."""
        if not self.durable:
            pytest.skip("this catalog is not durable")
        again = self.second_catalog(populated, tmp_path)

        assert state(populated) == state(again)
        again.drop_table(ORDERS, False)
        again.close()
        assert not populated.table_exists(ORDERS)

    def test_one_concurrent_create_succeeds(self, catalog: Catalog, tmp_path: Path) -> None:
        """All other writers raise AlreadyExistsError."""

        def create(mine: Catalog, number: int) -> bool:
            mine.create_table(ObjectPath("db", f"own_{number}"), PLAIN, False)
            try:
                mine.create_table(ORDERS, PLAIN.copy({"writer": str(number)}), False)
            except AlreadyExistsError:
                return False
            return True

        won = self._together(catalog, tmp_path, create)

        assert [str(number) for number in won] == [catalog.get_table(ORDERS).options["writer"]]
        assert WRITERS + 1 == len(catalog.list_tables("db"))

    def test_one_concurrent_drop_succeeds(self, populated: Catalog, tmp_path: Path) -> None:
        """All other writers raise NotFoundError."""

        def drop(mine: Catalog, number: int) -> bool:
            try:
                mine.drop_table(ORDERS, False)
            except NotFoundError:
                return False
            return True

        won = self._together(populated, tmp_path, drop)

        assert len(won) == 1 or (won and not self.reports_who_dropped)
        assert not populated.table_exists(ORDERS)

    def test_one_concurrent_rename_succeeds(self, populated: Catalog, tmp_path: Path) -> None:
        """The table exists once, under one name."""

        def rename(mine: Catalog, number: int) -> bool:
            try:
                mine.rename_table(ORDERS, f"own_{number}", False)
            except NotFoundError:
                return False
            return True

        won = self._together(populated, tmp_path, rename)

        assert [f"own_{number}" for number in won] == [
            name for name in populated.list_tables("db") if name.startswith("own")
        ]
        assert not populated.table_exists(ORDERS)

    def test_no_update_is_lost(self, catalog: Catalog, tmp_path: Path) -> None:
        """Each writer increments a counter and retries after a conflict."""
        need(catalog, Capability.VERSIONS)
        catalog.create_table(ORDERS, PLAIN.copy({"n": "0"}), False)

        def count(mine: Catalog, number: int) -> bool:
            done = 0
            while done < TIMES:
                read = mine.get_table(ORDERS)
                new = PLAIN.copy({"n": str(int(read.options["n"]) + 1)})
                try:
                    mine.alter_table(ORDERS, new, False, expected=read)
                except ConflictError:
                    continue
                done += 1
            return True

        assert WRITERS == len(self._together(catalog, tmp_path, count))
        assert {"n": str(WRITERS * TIMES)} == catalog.get_table(ORDERS).get_options()

    #: Whether several writers may alter the same objects. A durable catalog without
    #: `Capability.VERSIONS` declares False: its ALTER replaces what others have changed.
    concurrent = True
    #: Number of writers of `test_no_statement_is_lost`, and of the statements of each.
    writers, turns = 3, 4

    def test_no_statement_is_lost(self, populated: Catalog, tmp_path: Path) -> None:
        """Concurrent ALTER statements have all effects, each writer in its own process.

        Writers are threads if the catalog is not durable or cannot be forked.
        """
        if Capability.VERSIONS not in populated.capabilities:
            assert not (self.durable and self.concurrent), (
                "concurrent ALTER statements are lost: declare Capability.VERSIONS, and compare "
                "`expected` in ALTER methods; or set `concurrent = False`"
            )
            pytest.skip(f"{type(populated).__name__} does not compare versions")
        kinds = [
            kind
            for kind, (needs, *_) in SETTINGS.items()
            if kind in self.compared_kinds and needs in {None, *populated.capabilities}
        ]

        if self.durable and self.killable and hasattr(os, "fork"):
            self._alter_in_processes(tmp_path, kinds)
        else:

            def alter(mine: Catalog, number: int) -> bool:
                self._alter(mine, number, kinds)
                return True

            self._together(populated, tmp_path, alter, self.writers)

        expected = {
            f"w{writer}_{turn}" for writer in range(self.writers) for turn in range(self.turns)
        }
        for kind in kinds:
            _, _, read = SETTINGS[kind]
            assert set() == expected - {*read(populated)}, kind

    def _alter(self, catalog: Catalog, number: int, kinds: list[str]) -> None:
        """Execute each statement of a writer until there is no conflict."""
        environment = self._session(catalog)
        for turn, kind in product(range(self.turns), kinds):
            statement = SETTINGS[kind][1].format(number, turn)
            while True:
                with suppress(ConflictError):
                    environment.execute_sql(statement)
                    break

    def _alter_in_processes(self, directory: Path, kinds: list[str]) -> None:
        """Execute all writers' statements in forked processes, which have to succeed."""
        children = []
        for number in range(self.writers):
            if (child := os.fork()) == 0:
                try:
                    mine = self.make_catalog(directory)
                    mine.open()
                    self._alter(mine, number, kinds)
                    os._exit(0)
                finally:
                    traceback.print_exc()
                    os._exit(1)
            children.append(child)
        assert [0] * self.writers == [os.waitpid(child, 0)[1] for child in children]

    def test_no_table_is_left_without_its_database(self, catalog: Catalog, tmp_path: Path) -> None:
        """Half of the writers drop and create the database while others create tables in it."""

        def act(mine: Catalog, number: int) -> bool:
            for turn in range(TIMES):
                try:
                    if number % 2:
                        mine.create_table(ObjectPath("db", f"t{number}_{turn}"), PLAIN, False)
                    else:
                        mine.drop_database("db", False, True)
                        mine.create_database("db", objects.CatalogDatabase(), False)
                except (NotFoundError, AlreadyExistsError):
                    continue
            return True

        self._together(catalog, tmp_path, act)

        catalog.drop_database("db", True, True)
        catalog.create_database("db", objects.CatalogDatabase(), False)
        assert [] == catalog.list_tables("db")
        assert not any(
            catalog.table_exists(ObjectPath("db", f"t{number}_{turn}"))
            for number in range(WRITERS)
            for turn in range(TIMES)
        )

    @pytest.mark.parametrize("seed", range(3))
    def test_writer_is_killed(self, catalog: Catalog, tmp_path: Path, seed: int) -> None:
        """Every table exists completely or not at all, and those of a transaction together."""
        if not (self.durable and self.killable and hasattr(os, "fork")):
            pytest.skip("a process with this catalog cannot be forked and killed")
        moments = random.Random(seed)  # noqa: S311
        for _ in range(KILLS):
            if (child := os.fork()) == 0:
                self._write_forever(tmp_path)
            time.sleep(0.15 + moments.random() / 5)
            os.kill(child, signal.SIGKILL)
            _, status = os.waitpid(child, 0)
            assert -signal.SIGKILL == os.waitstatus_to_exitcode(status), "the writer has failed"
            again = self.second_catalog(catalog, tmp_path)

            written = again.list_tables("db")
            if Capability.MIGRATIONS in catalog.capabilities:
                assert len(written) in {0, len(KILLED)}, f"part of a transaction: {written}"
            for name in written:
                assert LARGE == with_derived_schema(again.get_table(ObjectPath("db", name)))
            again.create_table(NOTHING, PLAIN, False)
            again.drop_table(NOTHING, False)
            assert written == again.list_tables("db")
            again.close()

    def _write_forever(self, directory: Path) -> None:
        """Write in a forked process until it is killed."""
        try:
            mine = self.make_catalog(directory)
            mine.open()
            has_transactions = Capability.MIGRATIONS in mine.capabilities
            for creates in cycle((True, False)):
                with mine.transaction() if has_transactions else nullcontext(mine) as catalog:
                    for path in KILLED:
                        if creates:
                            catalog.create_table(path, LARGE, True)
                        else:
                            catalog.drop_table(path, True)
        except BaseException:  # noqa: BLE001 - a fork of the tests must not go on with them
            traceback.print_exc()
        finally:
            os._exit(1)

    # --- transactions and migrations -------------------------------------------------------------

    def test_changes_of_a_transaction_are_made_together(
        self, populated: Catalog, tmp_path: Path
    ) -> None:
        """They are seen within it, and by others after it."""
        need(populated, Capability.MIGRATIONS)
        with populated.transaction() as catalog:
            catalog.create_database("new", DATABASE, False)
            catalog.create_table(ObjectPath("new", "t"), PLAIN, False)
            catalog.drop_table(ORDERS, False)
            assert ["t"] == catalog.list_tables("new")

        other = self.second_catalog(populated, tmp_path)
        assert PLAIN == with_derived_schema(other.get_table(ObjectPath("new", "t")))
        assert not other.table_exists(ORDERS)

    def test_a_transaction_is_read_whole(self, catalog: Catalog, tmp_path: Path) -> None:
        """Who reads while it is committed sees none of its changes, or all."""
        need(catalog, Capability.MIGRATIONS)
        reader = self.second_catalog(catalog, tmp_path)

        def write() -> None:
            for turn in range(2 * TIMES):
                with catalog.transaction() as changed:
                    for path in KILLED:
                        if turn % 2:
                            changed.drop_table(path, False)
                        else:
                            changed.create_table(path, LARGE, False)

        seen = set()
        with ThreadPoolExecutor(1) as pool:
            writing = pool.submit(write)
            while not writing.done():
                seen.add(len(reader.list_tables("db")))
        writing.result()
        assert seen <= {0, len(KILLED)}

    def test_a_transaction_that_raises_changes_nothing(self, populated: Catalog) -> None:
        """Objects and the history are as before, whatever raised."""
        need(populated, Capability.MIGRATIONS)
        before = state(populated)

        def change_all(error: BaseException) -> None:
            with populated.transaction() as catalog:
                catalog.create_table(NOTHING, PLAIN, False)
                catalog.alter_table(ORDERS, TABLES["every clause"], False)
                catalog.add_migration(MIGRATION)
                catalog.drop_database("db", False, cascade=True)
                raise error

        for kind in (ValueError, KeyboardInterrupt):
            with pytest.raises(kind):
                change_all(kind())
            assert before == state(populated)
            assert [] == populated.list_migrations()

    def test_a_dry_run_changes_nothing(self, populated: Catalog, tmp_path: Path) -> None:
        """`schema-core check` and `run` first execute a script's statements in a dry run."""
        need(populated, Capability.MIGRATIONS)
        before = state(populated)
        with self.make_catalog(tmp_path).dry_run() as catalog:
            catalog.create_database("tried", DATABASE, False)
            catalog.create_table(ObjectPath("tried", "t"), PLAIN, False)
            assert ["t"] == catalog.list_tables("tried")
        assert before == state(populated)

    def test_migration_round_trip(self, populated: Catalog, tmp_path: Path) -> None:
        """The history is in the order of application; its entries exist once."""
        need(populated, Capability.MIGRATIONS)
        second = replace(MIGRATION, name="0001_z", position=2, parents=(MIGRATION.name,))
        with populated.transaction() as catalog:
            catalog.add_migration(second)
            catalog.add_migration(MIGRATION)

        other = self.second_catalog(populated, tmp_path)
        assert [MIGRATION, second] == other.list_migrations()
        with pytest.raises(AlreadyExistsError, match="migration"):
            other.add_migration(MIGRATION)
        other.remove_migration(second.name)
        assert [MIGRATION] == other.list_migrations()
        undone = [replace(second, position=place, objects=(), undone=True) for place in (4, 3)]
        for entry in undone:
            populated.add_migration(entry)
        assert [MIGRATION] == other.list_migrations()
        assert undone[::-1] == other.list_undone_migrations()
        with pytest.raises(NotFoundError, match="migration"):
            other.remove_migration(second.name)

    def test_transactions_run_one_after_the_other(self, populated: Catalog, tmp_path: Path) -> None:
        """Of several that add the next entry, each sees those before."""
        need(populated, Capability.MIGRATIONS)

        def add(catalog: Catalog) -> None:
            for _ in range(5):
                with catalog.transaction() as joined:
                    position = len(joined.list_migrations()) + 1
                    name = f"{position:04}_m"
                    joined.add_migration(replace(MIGRATION, name=name, position=position))

        catalogs = [populated, self.second_catalog(populated, tmp_path)]
        with ThreadPoolExecutor(len(catalogs)) as pool:
            list(pool.map(add, catalogs))

        assert [*range(1, 11)] == [migration.position for migration in populated.list_migrations()]
