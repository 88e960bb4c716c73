"""CREATE and REPLACE TABLE AS under faults and kills; `fuzz.ctas_faults` has the long form."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pytest

from fuzz.ctas_faults import CASES, FILES, TRIED, Action, Case, World, operations, run
from fuzz.file_commits import Faults
from schema_core.environment.jobs.atomicity import AtomicityLevel as Level
from schema_core.errors import SchemaCoreError


@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_level_is_kept_whatever_fails(case: Case) -> None:
    last = operations(case)
    # every fault meets another operation, so that the cases together meet all of them
    step = max(1, last // 2)
    drawn = [
        (at, fault)
        for number, fault in enumerate(TRIED)
        for at in range(1 + (number * 3 + last) % step, last + 1, step)
    ]
    result = {(at, fault.value): run(case, Faults(at, fault)) for at, fault in drawn}

    assert {} == {key: problem for key, problem in result.items() if problem}
    assert "" == run(case, Faults())


CLIENTS = 5


@dataclass
class OwnPlace(World):
    """The world of one of several clients, which create the same table at places of their own."""

    number: int = 0

    @property
    def root(self) -> Path:
        return self.folder / "tables" / f"place {self.number}"


def create_at_once(worlds: Sequence[World], case: Case) -> list[str]:
    """Run the statement in a process for each client, at the same time; return what each raised."""
    processes = get_context("fork")
    children, barrier = [], processes.Event()
    for world in worlds:
        queue = processes.SimpleQueue()
        child = processes.Process(target=_create, args=(world, case, barrier, queue))
        child.start()
        children.append((child, queue))
    barrier.set()
    result = [queue.get() for _, queue in children]
    for child, _ in children:
        child.join()
    return result


def _create(world: World, case: Case, barrier: Any, queue: Any) -> None:
    with world.environment(case, Faults()) as environment:
        barrier.wait()
        try:
            environment.execute_sql(world.statement(Action.CREATE)).wait()
            queue.put("")
        except SchemaCoreError as error:
            queue.put(error.code)


@pytest.mark.parametrize("level", Level)
def test_of_several_clients_one_creates_the_table(level: Level, tmp_path: Path) -> None:
    case, worlds = Case(level), [OwnPlace(tmp_path, number) for number in range(CLIENTS)]
    with worlds[0].environment(case, Faults()):
        pass  # creates the database of the catalog
    result = create_at_once(worlds, case)

    assert ["", *["table-exists"] * (CLIENTS - 1)] == sorted(result)
    winner = worlds[result.index("")]
    assert [winner.root] == list((tmp_path / "tables").iterdir())
    assert FILES == len(list(winner.root.iterdir()))
    with winner.environment(case, Faults()) as environment:
        table = environment.find_table("t")
        assert table is not None
        assert str(winner.root) == table.table.options["path"]
