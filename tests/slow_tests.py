"""Tests that take so long that `make test` leaves them out: their list, and what writes it.

`make test` runs all other tests, `make test-slow` these ones and those with the marker `slow`,
whose fixtures take long. `make slow-tests` runs and measures all tests, and writes the list anew.

Of many recorded cases, `make test` runs those that `draw_cases` marks as `drawn`, except a few that
take much longer than others.
"""

from __future__ import annotations

import re
import sys
from collections import defaultdict
from collections.abc import Callable, Collection, Hashable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from _pytest.mark import ParameterSet

T = TypeVar("T")

#: One test a line: its seconds, and its name.
LIST = Path(__file__).with_name("slow_tests.tsv")
#: A test is slow that takes more seconds than this,
SLOW = 1.0
#: and of those of one function that take more seconds than this, all but the first.
REPEATED = 0.1
#: A drawn test is slow that takes more seconds than this.
DRAWN = 2.5

#: Tests of the project itself, the laws, the documentation, secrets, and the only ones of changes
#: and metrics of streams. Their time does not decide: those in the list stay there.
KEPT = (
    "properties/", "tests/environment/test_secrets", "tests/spark/test_stream_inputs",
    "tests/spark/test_stream_metrics", "tests/test_checkout", "tests/test_code_style",
    "tests/test_codes", "tests/test_docs", "tests/test_layers", "tests/test_structure",
)  # fmt: skip

#: The duration of a test, or of its fixtures.
_DURATION = re.compile(r"([0-9.]+)s (call|setup) +(\S.*)")


def slow_tests() -> dict[str, float]:
    """Return the names of the slow tests, with their seconds."""
    lines = [line.partition("\t") for line in LIST.read_text("utf-8").splitlines()]
    return {name: float(seconds) for seconds, _, name in lines}


def draw_cases(
    cases: Sequence[T], forms: Callable[[T], Collection[Hashable]]
) -> list[ParameterSet]:
    """Return cases as parameters: a few that have each form of any case are drawn, others slow.

    >>> drawn = draw_cases(["ab", "a", "bc"], set)
    >>> [parameter.marks[0].name for parameter in drawn]
    ['drawn', 'slow', 'drawn']
    """
    import pytest

    forms_of = [frozenset(forms(case)) for case in cases]
    missing = set().union(*forms_of)
    drawn = set()
    while missing:
        best = max(range(len(cases)), key=lambda place: len(forms_of[place] & missing))
        drawn.add(best)
        missing -= forms_of[best]
    return [
        pytest.param(case, marks=pytest.mark.drawn if place in drawn else pytest.mark.slow)
        for place, case in enumerate(cases)
    ]


def keywords(sql: str) -> frozenset[str]:
    """Return the words in capitals of a statement, the forms of recorded queries."""
    return frozenset(re.findall(r"\b[A-Z][A-Z_]+\b", sql))


def chosen(log: str) -> dict[str, float]:
    """Return the slow tests of a log of pytest with durations, with their seconds.

    Fixtures count, unless they take so long that other tests must share them.

    >>> calls = ["9.5s call t.py::a", "0.5s call t.py::b[1]", "0.1s call t.py::b[2]"]
    >>> chosen("\\n".join([*calls, "7.0s setup t.py::c", "0.3s setup t.py::b[2]"]))
    {'t.py::a': 9.5, 't.py::b[2]': 0.4}
    """
    taken: dict[str, float] = defaultdict(float)
    for line in log.splitlines():
        if match := _DURATION.match(line):
            seconds, phase, name = float(match[1]), match[2], match[3].strip()
            if not name.startswith(KEPT) and (phase == "call" or seconds <= SLOW):
                taken[name] += seconds
    functions: dict[str, list[str]] = defaultdict(list)
    for name in sorted(taken):
        functions[name.partition("[")[0]].append(name)
    slow = {name for name, seconds in taken.items() if seconds > SLOW}
    for names in functions.values():
        repeated = [name for name in names if REPEATED < taken[name] <= SLOW]
        slow |= set(repeated[1:])
    return {name: round(taken[name], 1) for name in sorted(slow)}


def main() -> None:
    """Write the list from the log of all tests."""
    kept = {name: item for name, item in slow_tests().items() if name.startswith(KEPT)}
    result = dict(sorted((kept | chosen(Path(sys.argv[1]).read_text("utf-8"))).items()))
    LIST.write_text("".join(f"{seconds}\t{name}\n" for name, seconds in result.items()), "utf-8")
    print(f"{len(result)} slow tests, {sum(result.values()):,.0f} s")


if __name__ == "__main__":
    main()
