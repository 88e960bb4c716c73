"""Laws of row patterns: the automaton finds what an exhaustive search of each start finds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hypothesis import given
from hypothesis import strategies as st

from schema_core.spark.matching.automaton import Automaton, Found, Runs, Skip, SkipTo, states_of
from schema_core.spark.matching.row_pattern import Variable

NAMES = "ABCD"
#: Rows: for each, the variables whose condition it satisfies.
Rows = Sequence[frozenset[int]]


@st.composite
def patterns(draw: st.DrawFn) -> tuple[Variable, ...]:
    """Up to four variables; the last one is once, so it is neither optional nor greedy."""
    variables = []
    for name in NAMES[: draw(st.integers(1, 3))]:
        least = draw(st.integers(0, 2))
        most = draw(st.one_of(st.none(), st.integers(max(least, 1), 3)))
        can_be_greedy = least != most and (least, most) != (0, 1)
        variables.append(Variable(name, least, most, can_be_greedy and draw(st.booleans())))
    return (*variables, Variable("Z"))


rows = st.lists(st.frozensets(st.integers(0, 3)), max_size=9)
skips = st.sampled_from([Skip(), Skip(SkipTo.PAST_LAST_ROW)])


def found_by_automaton(variables: Sequence[Variable], data: Rows, skip: Skip) -> list[Found]:
    def condition(variable: int) -> object:
        return lambda _, row: variable in data[row]

    conditions = [condition(place) for place in range(len(variables))]
    automaton = Automaton(states_of(variables), conditions, skip)  # type: ignore[arg-type]
    return [found for row in range(len(data)) for found in automaton.step(row)]


def splits(variables: Sequence[Variable], data: Rows, row: int) -> Iterator[tuple[int, ...] | None]:
    """Yield how many rows each variable takes; None for a way that needs more rows."""
    rest: list[tuple[int, tuple[int, ...], int]] = [(row, (), 0)]
    while rest:
        at, counts, place = rest.pop()
        if place == len(variables):
            yield counts
            continue
        variable = variables[place]
        greedy = [
            before
            for before in range(place)
            if variables[before].greedy and not any(counts[before + 1 : place])
        ]
        for count in range(min(variable.most or len(data), len(data) - at) + 1):
            taken = data[at : at + count]
            if not all(place in one for one in taken):
                break
            # the row after those of a greedy variable is none of its rows
            if count and any(before in data[at] for before in greedy):
                break
            if count >= variable.least:
                rest.append((at + count, (*counts, count), place + 1))
            if at + count == len(data) and (place + 1 < len(variables) or not count):
                yield None


def found_by_search(variables: Sequence[Variable], data: Rows, skip: Skip) -> list[tuple[int, int]]:
    """Return the first and last rows of the shortest matches of each start, in order."""
    matches = []
    row = 0
    while row < len(data):
        ways = list(splits(variables, data, row))
        lengths = [sum(way) for way in ways if way is not None]
        if lengths:
            last = row + min(lengths) - 1
            matches.append((row, last))
            row = row + 1 if skip.to is SkipTo.NEXT_ROW else last + 1
        elif None in ways:  # later matches wait for this one
            break
        else:
            row += 1
    return matches


def covered(runs: Runs) -> list[int]:
    return [row for run in runs for row in range(run.first, run.last + 1)]


@given(patterns(), rows, skips)
def test_matches_are_the_shortest_of_their_start(
    variables: tuple[Variable, ...], data: Rows, skip: Skip
) -> None:
    found = found_by_automaton(variables, data, skip)
    for match in found:
        first, last = match.runs[0].first, match.runs[-1].last
        counts = {run.variable: run.last + 1 - run.first for run in match.runs}

        assert list(range(first, last + 1)) == covered(match.runs)
        assert tuple(counts.get(place, 0) for place in range(len(variables))) in set(
            splits(variables, data, first)
        )
    result = [(match.runs[0].first, match.runs[-1].last) for match in found]

    assert found_by_search(variables, data, skip) == result
