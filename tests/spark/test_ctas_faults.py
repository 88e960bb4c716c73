"""CREATE and REPLACE TABLE AS under faults and kills; `fuzz.ctas_faults` has the long form."""

from __future__ import annotations

import pytest

from fuzz.ctas_faults import CASES, TRIED, Case, operations, run
from fuzz.file_commits import Faults


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
    found = {(at, fault.value): run(case, Faults(at, fault)) for at, fault in drawn}

    assert {} == {key: problem for key, problem in found.items() if problem}
    assert "" == run(case, Faults())
