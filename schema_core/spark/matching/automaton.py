"""Matches of a row pattern, as the automaton of Flink's CEP library finds them.

Each row is an event for every partial match, of which one may start at each row. A pattern is
strictly contiguous, so a match consists of consecutive rows: a *run* of rows for each variable. A
completed match waits while a partial match that started before it is open. The rows between the
start of a match and the last that it may skip to start no other match.

Matches that start at the same row, and complete with the same row, are ordered as in Flink by their
places in a binary heap, for which `StartHeap` is a heap with the same order of equal elements.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import TypeAlias

from schema_core.base.lazy import NamedTuple
from schema_core.spark.matching.row_pattern import Variable


class Run(NamedTuple):
    """The rows of a variable in a match, from `first` to `last`."""

    variable: int
    first: int
    last: int


Runs: TypeAlias = tuple[Run, ...]

#: Whether a row, after the rows of a partial match, satisfies the condition of a variable.
Condition: TypeAlias = Callable[[Runs, int], bool]


# --- states -------------------------------------------------------------------------------------


@dataclass(slots=True, eq=False)
class Edge:
    """An edge to another state, which takes the row or not.

    It applies if the condition of the variable is TRUE (None always is) and those of the `excluded`
    variables are not.
    """

    target: State
    variable: int | None = None
    excluded: list[int] = field(default_factory=list)


@dataclass(slots=True, eq=False)
class State:
    """A state; the one without edges is final."""

    edges: list[Edge] = field(default_factory=list)

    def exclude(self, variable: int) -> None:
        for edge in self.edges:
            edge.excluded.append(variable)


def states_of(variables: Sequence[Variable]) -> State:
    """Return the first state of a pattern."""
    state = State()
    for place in reversed(range(len(variables))):
        state = _repeated(variables[place], place, state)
    return state


def _repeated(variable: Variable, place: int, after: State) -> State:
    """Return the first state of a variable before the state `after` it."""
    least = max(variable.least, 1)
    if variable.greedy:
        after.exclude(place)
    last = after
    if variable.most is None:
        last = State()
        last.edges = [Edge(after), Edge(last, place)]
    for _ in range(0 if variable.most is None else variable.most - least):
        last = State([Edge(last, place), Edge(after)])
    for _ in range(least - 1):
        last = State([Edge(last, place)])
    return State([Edge(last, place), *([Edge(after)] if variable.is_optional else [])])


# --- partial matches ----------------------------------------------------------------------------


class Partial(NamedTuple):
    """A match up to a row, and the state after it; `start` is None before the first row."""

    state: State
    runs: Runs = ()

    @property
    def start(self) -> float:
        return self.runs[0].first if self.runs else float("inf")

    def take(self, state: State, variable: int, row: int) -> Partial:
        *before, last = self.runs or (None,)
        if last is not None and last.variable == variable:
            return Partial(state, (*before, last._replace(last=row)))
        return Partial(state, (*self.runs, Run(variable, row, row)))


class StartHeap:
    """Partial matches by their start: a binary heap, iterated in the order of its array."""

    def __init__(self) -> None:
        self._items: list[Partial] = []

    def __iter__(self) -> Iterator[Partial]:
        return iter(self._items)

    def __bool__(self) -> bool:
        return bool(self._items)

    @property
    def first(self) -> Partial:
        return self._items[0]

    def add(self, item: Partial) -> None:
        items, place = self._items, len(self._items)
        items.append(item)
        while place:
            parent = (place - 1) // 2
            if items[parent].start <= item.start:
                break
            items[place], place = items[parent], parent
        items[place] = item

    def pop(self) -> Partial:
        first, last = self._items[0], self._items.pop()
        if self._items:
            self._sink(0, last)
        return first

    def retain(self, keep: Callable[[Partial], bool]) -> None:
        """Remove what `keep` does not return TRUE for."""
        kept = [item for item in self._items if keep(item)]
        if len(kept) < len(self._items):
            self._items = kept
            for place in reversed(range(len(kept) // 2)):
                self._sink(place, kept[place])

    def _sink(self, place: int, item: Partial) -> None:
        items = self._items
        while (child := 2 * place + 1) < len(items):
            if child + 1 < len(items) and items[child].start > items[child + 1].start:
                child += 1
            if item.start <= items[child].start:
                break
            items[place], place = items[child], child
        items[place] = item


# --- after a match ------------------------------------------------------------------------------


class SkipTo(Enum):
    """Where the search continues after a match."""

    NEXT_ROW = "NEXT ROW"
    PAST_LAST_ROW = "PAST LAST ROW"
    FIRST = "FIRST"
    LAST = "LAST"


@dataclass(frozen=True, slots=True)
class Skip:
    """AFTER MATCH SKIP; the variable is that of `FIRST` and `LAST`."""

    to: SkipTo = SkipTo.NEXT_ROW
    variable: int = 0
    name: str = ""

    def first_start(self, runs: Runs) -> int:
        """Return the first row at which another match can start.

        Raises:
            ValueError: If the variable has no rows, or its row is the first of the match.
        """
        if self.to is SkipTo.NEXT_ROW:
            return runs[0].first + 1
        if self.to is SkipTo.PAST_LAST_ROW:
            return runs[-1].last + 1
        rows = next((run for run in runs if run.variable == self.variable), None)
        if rows is None:
            raise ValueError(
                f"could not skip to {self.name!r}: a match has no row of this pattern variable"
            )
        row = rows.first if self.to is SkipTo.FIRST else rows.last
        if row == runs[0].first:
            raise ValueError(
                f"could not skip to {self.name!r}: its row is the first of a match, which would"
                " be found again"
            )
        return row


class Found(NamedTuple):
    """A match, and the row with which it was returned; None after the last row."""

    runs: Runs
    row: int | None


class Automaton:
    """The search for the matches of one partition, whose rows have increasing numbers.

    Args:
        start: The first state of the pattern.
        conditions: The condition of each variable; None is TRUE.
        skip: Where the search continues after a match.
        within: The milliseconds in which a match must end; 0 for no limit.
        first: The number of the first row.
    """

    def __init__(
        self,
        start: State,
        conditions: Sequence[Condition | None],
        skip: Skip,
        within: int = 0,
        first: int = 0,
    ) -> None:
        self._start = start
        self._conditions = conditions
        self._skip = skip
        self._within = within
        self._next = first
        self._time: int | None = None
        #: times of the rows from `_first_time` on
        self._times: dict[int, int] = {}
        self._partial = StartHeap()
        self._partial.add(Partial(start))
        self._completed = StartHeap()

    @property
    def oldest(self) -> int:
        """The first row that is still needed."""
        starts = (heap.first.start for heap in (self._partial, self._completed) if heap)
        return int(min(self._next, *starts))

    def step(self, time: int) -> list[Found]:
        """Process the next row, with its time in milliseconds; return the matches found."""
        row = self._next
        self._next += 1
        found: list[Found] = []
        if self._within:
            if time != self._time:
                found = self._expire(time, row)
            self._times[row] = time
        self._time = time
        partial = StartHeap()
        for match in self._partial:
            for result in self._extended(match, row):
                (partial if result.state.edges else self._completed).add(result)
            if not match.runs:
                partial.add(match)
        found += self._returned(partial, row)
        self._partial = partial
        return found

    def finish(self) -> list[Found]:
        """Return the matches that waited for partial matches whose time is over."""
        return self._expire(None, None) if self._within else []

    def _expire(self, time: int | None, row: int | None) -> list[Found]:
        """Drop the partial matches that started too long before a time; None is after all."""
        partial = StartHeap()
        for match in self._partial:
            if not match.runs or (
                time is not None and time - self._times[match.runs[0].first] < self._within
            ):
                partial.add(match)
        found = self._returned(partial, row)
        self._partial = partial
        oldest = self.oldest
        for before in list(self._times):
            if before >= oldest:
                break
            del self._times[before]
        return found

    def _returned(self, partial: StartHeap, row: int | None) -> list[Found]:
        """Return the completed matches that no partial match precedes, and skip after each."""
        found = []
        completed = self._completed
        while completed and not (partial and partial.first.start < completed.first.start):
            runs = completed.pop().runs
            start = self._skip.first_start(runs)
            for heap in (partial, completed):
                heap.retain(lambda match, start=start: match.start >= start)  # type: ignore[misc]
            found.append(Found(runs, row))
        return found

    def _extended(self, match: Partial, row: int) -> Iterator[Partial]:
        """Yield a partial match with one more row, once for each way to take it."""
        for target, variable in self._taken(match, row):
            yield match.take(target, variable, row)
            final = self._final_after(target, match.runs, row)
            if final is not None:
                yield match.take(final, variable, row)

    def _taken(self, match: Partial, row: int) -> list[tuple[State, int]]:
        states, taken = [match.state], []
        while states:
            for edge in states.pop().edges:
                if not self._applies(edge, match.runs, row):
                    continue
                if edge.variable is None:
                    states.append(edge.target)
                else:
                    taken.append((edge.target, edge.variable))
        return taken

    def _final_after(self, state: State, runs: Runs, row: int) -> State | None:
        """Return the final state if it is reached without a further row."""
        states = [state]
        while states:
            for edge in states.pop().edges:
                if edge.variable is None and self._applies(edge, runs, row):
                    if not edge.target.edges:
                        return edge.target
                    states.append(edge.target)
        return None

    def _applies(self, edge: Edge, runs: Runs, row: int) -> bool:
        if edge.variable is not None and not self._holds(edge.variable, runs, row):
            return False
        return not any(self._holds(variable, runs, row) for variable in edge.excluded)

    def _holds(self, variable: int, runs: Runs, row: int) -> bool:
        condition = self._conditions[variable]
        return condition is None or condition(runs, row)
