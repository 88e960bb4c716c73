"""A sample of the fault matrix of CREATE TABLE AS; `fuzz.ctas_matrix` has the long form."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from fuzz.ctas_matrix import (
    NEW,
    NOTHING,
    OLD,
    PLACES,
    STEP_KILL,
    Action,
    Cell,
    Fault,
    Matrix,
    State,
    allowed,
    cells,
)
from fuzz.spark_processes import Gateway, prepare

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: The faults that a level meets here; the first kills the process while it commits.
FAULTS = {
    1: (Fault(STEP_KILL, "after decide"), Fault("last task")),
    2: (Fault(STEP_KILL, "after decide"), Fault("first task")),
    3: (Fault(STEP_KILL, "after create"), Fault("commit", "before publish")),
}

#: One cell of each level and statement.
CELLS = [
    cell
    for cell in cells(["files", "hive"])
    if cell.is_atomic or (cell.place.stages and cell.action is Action.CREATE)
]


@pytest.fixture(scope="module")
def matrix(session: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Matrix]:
    """A matrix whose processes share the JVM of the tests."""
    prepare("fuzz.ctas_matrix")
    warehouse = str(session.conf.get("spark.sql.warehouse.dir"))
    folder, chosen = tmp_path_factory.mktemp("matrix"), random.Random(7)
    made = Matrix(folder, Gateway.of(session), chosen, warehouse=warehouse.removeprefix("file:"))
    yield made
    made.stop()


@pytest.mark.parametrize("cell", CELLS, ids=str)
def test_the_level_is_kept_whatever_fails(matrix: Matrix, cell: Cell) -> None:
    for fault in FAULTS[cell.level]:
        assert matrix.run(cell, fault) == (fault.kind == STEP_KILL)
        assert [] == matrix.violations


def test_a_part_of_the_rows_is_a_violation() -> None:
    part = State("id,a", 10, 180)
    create, replace = (Cell(PLACES["files"], action, is_atomic=True) for action in Action)
    created_first = Cell(PLACES["files"], Action.CREATE, is_atomic=False)

    assert [True, True] == [allowed(create, item) for item in (NOTHING, OLD)]
    assert [True, True] == [allowed(replace, item) for item in (OLD, NEW)]
    assert allowed(created_first, State("id,a"))
    for state in (part, State("id,a"), State("id,b", OLD.count, OLD.total), State("error x")):
        assert not allowed(create, state)
        assert not allowed(replace, state)
    assert not allowed(replace, NOTHING)
    assert not allowed(created_first, part)
