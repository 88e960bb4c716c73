"""The part of the contract that is about many at once, about being killed, and about limits.

Many users of a durable catalog each have their own, on the same store; one that forgets with the
process is shared by many threads.
"""

from __future__ import annotations

import os
import random
import signal
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from schema_core.catalog.api import Capability, Catalog
from schema_core.catalog.objects import CatalogDatabase, CatalogTable
from schema_core.errors import (
    AlreadyExistsError,
    ConflictError,
    NotFoundError,
    SchemaCoreError,
    SchemaError,
)
from schema_core.paths import ObjectPath
from schema_core.testing.catalog_cases import NOTHING, ORDERS
from schema_core.testing.catalog_contract_base import ContractBase, need, state
from schema_core.testing.catalog_samples import PLAIN, TABLES, columns, understood

#: How many write at once, and how often each.
WRITERS, TIMES = 8, 5
#: What the writer that is killed writes: large enough to be half-written.
LARGE = PLAIN.copy({"n": "x" * 20_000})
KILLED = [ObjectPath("db", f"t{number}") for number in range(5)]


class SharingChecks(ContractBase):
    """Who comes too late is told, nothing is lost, nothing is half there."""

    def _together(
        self, catalog: Catalog, directory: Path, act: Callable[[Catalog, int], bool]
    ) -> list[int]:
        """The numbers of the writers whose act did something, all acting at once."""

        def alone(number: int) -> bool:
            mine = self.another(catalog, directory)
            try:
                return act(mine, number)
            finally:
                if mine is not catalog:
                    mine.close()

        with ThreadPoolExecutor(WRITERS) as pool:
            done = list(pool.map(alone, range(WRITERS)))
        return [number for number in range(WRITERS) if done[number]]

    def test_everything_is_there_when_opened_again(
        self, furnished: Catalog, tmp_path: Path
    ) -> None:
        """A second catalog on the same store sees the same, while the first one is open."""
        if not self.durable:
            pytest.skip("this catalog forgets with the process")
        again = self.another(furnished, tmp_path)

        assert state(furnished) == state(again)
        again.drop_table(ORDERS, False)
        again.close()
        assert not furnished.table_exists(ORDERS)

    def test_one_of_many_creates_a_table(self, catalog: Catalog, tmp_path: Path) -> None:
        """Of eight writers one wins, and all others are told that there is one."""

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

    def test_one_of_many_drops_a_table(self, furnished: Catalog, tmp_path: Path) -> None:
        """All others are told that there is none."""

        def drop(mine: Catalog, number: int) -> bool:
            try:
                mine.drop_table(ORDERS, False)
            except NotFoundError:
                return False
            return True

        won = self._together(furnished, tmp_path, drop)

        assert len(won) == 1 or (won and not self.tells_who_dropped)
        assert not furnished.table_exists(ORDERS)

    def test_one_of_many_renames_a_table(self, furnished: Catalog, tmp_path: Path) -> None:
        """It is there once, under one name."""

        def rename(mine: Catalog, number: int) -> bool:
            try:
                mine.rename_table(ORDERS, f"own_{number}", False)
            except NotFoundError:
                return False
            return True

        won = self._together(furnished, tmp_path, rename)

        assert [f"own_{number}" for number in won] == [
            name for name in furnished.list_tables("db") if name.startswith("own")
        ]
        assert not furnished.table_exists(ORDERS)

    def test_no_update_is_lost(self, catalog: Catalog, tmp_path: Path) -> None:
        """Each of eight counts up, and reads again whenever someone else was faster."""
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

    def test_no_table_is_left_without_its_database(self, catalog: Catalog, tmp_path: Path) -> None:
        """Half drop the database and make it anew while the others create tables in it."""

        def act(mine: Catalog, number: int) -> bool:
            for turn in range(TIMES):
                try:
                    if number % 2:
                        mine.create_table(ObjectPath("db", f"t{number}_{turn}"), PLAIN, False)
                    else:
                        mine.drop_database("db", False, True)
                        mine.create_database("db", CatalogDatabase(), False)
                except (NotFoundError, AlreadyExistsError):
                    continue
            return True

        self._together(catalog, tmp_path, act)

        catalog.drop_database("db", True, True)
        catalog.create_database("db", CatalogDatabase(), False)
        assert [] == catalog.list_tables("db")
        assert not any(
            catalog.table_exists(ObjectPath("db", f"t{number}_{turn}"))
            for number in range(WRITERS)
            for turn in range(TIMES)
        )

    @pytest.mark.parametrize("seed", range(3))
    def test_writer_is_killed(self, catalog: Catalog, tmp_path: Path, seed: int) -> None:
        """Whenever that happens: every table is there as a whole or not at all."""
        if not (self.durable and self.killable and hasattr(os, "fork")):
            pytest.skip("no process that makes this catalog is forked and killed")
        if (child := os.fork()) == 0:
            self._write_for_ever(tmp_path)
        time.sleep(0.3 + random.Random(seed).random() / 5)  # noqa: S311
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        again = self.another(catalog, tmp_path)

        for name in again.list_tables("db"):
            assert LARGE == understood(again.get_table(ObjectPath("db", name)))
        again.create_table(NOTHING, PLAIN, False)
        assert again.table_exists(NOTHING)
        again.close()

    def _write_for_ever(self, directory: Path) -> None:
        """In a process of its own, which does not come back from here."""
        try:
            mine = self.make_catalog(directory)
            mine.open()
            while True:
                for path in KILLED:
                    mine.create_table(path, LARGE, True)
                for path in KILLED:
                    mine.drop_table(path, True)
        finally:
            os._exit(1)


#: Names that not every store can bear.
HARD_NAMES = {
    "very long": "n" * 10_000,
    "long and random": "".join(random.Random(1).choices("abcdefghijklmnop", k=8_000)),  # noqa: S311
    "zero": "a\0b",
    "half a character": "a\ud800b",
    "long and far east": "注文" * 400,
}


class LimitChecks(ContractBase):
    """What is large is kept, or refused with words; nothing is cut."""

    @pytest.mark.parametrize("name", HARD_NAMES.values(), ids=HARD_NAMES)
    def test_hard_name_is_kept_or_refused(self, catalog: Catalog, name: str) -> None:
        """It is found under just this name, or nothing is there."""
        path, shorter = ObjectPath("db", name), ObjectPath("db", name[:-1])
        try:
            catalog.create_table(path, PLAIN, False)
        except SchemaCoreError:
            assert [] == catalog.list_tables("db")
        else:
            assert [name] == catalog.list_tables("db")
            assert PLAIN == understood(catalog.get_table(path))
            assert not catalog.table_exists(shorter)
            catalog.create_table(shorter, PLAIN, False)
            catalog.drop_table(path, False)
            assert [name[:-1]] == catalog.list_tables("db")

    @pytest.mark.parametrize("name", HARD_NAMES.values(), ids=HARD_NAMES)
    def test_hard_text_is_kept_or_refused(self, catalog: Catalog, name: str) -> None:
        """In an option and a comment of a table."""
        table = understood(CatalogTable(columns(a="INT"), options={"k": name}, comment=name))
        try:
            catalog.create_table(ORDERS, table, False)
        except SchemaCoreError:
            assert not catalog.table_exists(ORDERS)
        else:
            assert table == understood(catalog.get_table(ORDERS))

    def test_many_tables(self, catalog: Catalog) -> None:
        """Each is listed once."""
        names = {f"t{number}" for number in range(100)}
        for name in names:
            catalog.create_table(ObjectPath("db", name), PLAIN, False)

        assert sorted(names) == sorted(catalog.list_tables("db"))

    def test_what_was_given_can_be_changed_without_effect(self, furnished: Catalog) -> None:
        """Options that a catalog hands out are copies."""
        before = state(furnished)
        furnished.get_table(ORDERS).get_options()["k"] = "changed"
        furnished.get_database("db").get_properties()["k"] = "changed"
        furnished.list_tables("db").clear()
        furnished.list_databases().clear()

        assert before == state(furnished)

    def test_what_was_refused_can_be_tried_again(self, furnished: Catalog) -> None:
        """A refusal leaves nothing open."""
        for _ in range(20):
            with pytest.raises(AlreadyExistsError):
                furnished.create_table(ORDERS, PLAIN, False)
            with pytest.raises(NotFoundError):
                furnished.drop_table(NOTHING, False)
            with pytest.raises(SchemaError):
                furnished.drop_database("db", False)
        furnished.drop_table(ORDERS, False)
        furnished.create_table(ORDERS, TABLES["every clause"], False)

        assert TABLES["every clause"] == understood(furnished.get_table(ORDERS))
