"""Mutation fuzzer: runs a target on mutated strings, which it must accept or reject.

A target is a function of a string that raises `AssertionError` if its law is broken. Errors other
than the library's are findings as well; `main` reports a run longer than `TIMEOUT` too. The seeds
of a target are in `fuzz/seeds/<name>.txt`, one per line, written as JSON strings.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeAlias

from schema_core.errors import SchemaCoreError

Target: TypeAlias = Callable[[str], None]

SEEDS = Path(__file__).parent / "seeds"

#: Seconds that a run on a string of a few kilobytes may take.
TIMEOUT = 2.0

#: Pieces that have broken parsers before.
AWKWARD = (
    "", " ", "\n", "\t", "\0", "`", "``", "'", '"', "(", ")", "<", ">", "[", "]", ",", ".", ";",
    "\\", "--", "/*", "*/", "-1", "0", "1e400", "9" * 400, "\uff11", "\u0130", "\u2028", "\xa0",
    "\U0001f600", "\ud800",
    "NOT NULL", "NULL", "ROW<", "ARRAY<" * 40, "(" * 300, "CAST(", "CASE WHEN ", "U&'\\0041'",
)  # fmt: skip


def seeds(name: str) -> list[str]:
    """Return the seeds of a target."""
    lines = (SEEDS / f"{name}.txt").read_text(encoding="utf-8").split("\n")
    return [json.loads(line) for line in lines if line]


def mutated(inputs: list[str], draw: random.Random) -> str:
    """A seed with a few pieces cut, doubled, swapped for others or joined to another seed."""
    text = draw.choice(inputs)
    for _ in range(draw.randint(1, 4)):
        start = draw.randint(0, len(text))
        stop = min(len(text), start + draw.choice((0, 1, 1, 2, 5, 20)))
        other = draw.choice(inputs)
        cut = draw.randint(0, len(other))
        awkward, odd = draw.choice(AWKWARD), chr(draw.randint(1, 0x2FF))
        middle = draw.choice(("", text[start:stop] * 2, awkward, odd, other[cut:]))
        text = text[:start] + middle + text[stop:]
    return text[:20_000]


def inputs(name: str, seed: int) -> Iterator[str]:
    """The seeds themselves, then mutations without end; the same ones for the same seed."""
    known = seeds(name)
    yield from known
    draw = random.Random(seed)
    while True:
        yield mutated(known, draw)


def find(target: Target, text: str, timeout: float = math.inf) -> str | None:
    """Return the finding of a target on a string, or None.

    A run that takes more than `timeout` seconds of processor time is a finding. The tests give
    none: on a loaded machine the time says nothing about the target.
    """
    started = time.process_time()
    try:
        target(text)
    except SchemaCoreError:
        pass
    except (Exception, RecursionError) as error:  # noqa: BLE001 - any other error is the find
        return f"{type(error).__name__}: {str(error)[:300]}"
    taken = time.process_time() - started
    return f"took {taken:.1f} s" if taken > timeout else None


def shortened(target: Target, text: str) -> str:
    """The text with every piece cut out that the find does not need."""
    size = len(text) // 2
    while size:
        start = 0
        while start < len(text):
            shorter = text[:start] + text[start + size :]
            if find(target, shorter, TIMEOUT):
                text = shorter
            else:
                start += size
        size //= 2
    return text


def main(name: str, target: Target) -> None:
    """Run until the time is over; at the first finding print it as a seed line and exit 1."""
    parser = argparse.ArgumentParser(description=f"Fuzz {name}.")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=time.time_ns())
    options = parser.parse_args()
    until = time.monotonic() + options.seconds
    for count, text in enumerate(inputs(name, options.seed)):
        if time.monotonic() > until:
            print(f"{name}: {count} inputs, no findings (--seed {options.seed})")
            return
        if problem := find(target, text, TIMEOUT):
            line = json.dumps(shortened(target, text))
            print(f"{name}: {problem}\na line for fuzz/seeds/{name}.txt:\n{line}")
            sys.exit(1)
