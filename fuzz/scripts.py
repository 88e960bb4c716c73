"""Draws scripts of statements from a grammar, and shows where the library and Flink differ.

    python -m fuzz.scripts --oracle .oracle --count 200

A script is a session: its statements make, change, show and drop objects under few names, so that
they meet each other. Only the first statement of a script that is answered otherwise counts, since
later statements see another state. The queries are small: `fuzz.differential`
draws expressions.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import time
from collections.abc import Iterator, Sequence
from itertools import islice

from fuzz import driver
from fuzz.differential import BATCH, Flink
from properties.answer import answer
from properties.recorded import Answer, Question, preamble
from properties.scoring import agreement, crashes

#: How many statements a script has.
LENGTH = 24

#: How deep queries may lie in each other before the simplest form is taken.
DEEPEST = 5

#: How often a clause that may be left out is.
RARE = 0.6

#: What a form may hold: a symbol, and how often it stands there.
_HOLE = re.compile(r"\{([^{}?+]+)([?+]?)\}")


def grammar() -> dict[str, list[str]]:
    """Symbol -> its forms, the simplest first; the file documents the notation.

    >>> grammar()["merge"]
    ['INCLUDING', 'EXCLUDING', 'OVERWRITING']
    """
    result: dict[str, list[str]] = {}
    for line in (driver.SEEDS / "scripts.grammar").read_text(encoding="utf-8").splitlines():
        if line.startswith("    "):
            result[list(result)[-1]].append(line.strip())
        elif line and not line.startswith("#"):
            result[line] = []
    return result


class Drawing:
    """Generates strings from the grammar."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.grammar = grammar()

    def text(self, symbol: str, depth: int = 0) -> str:
        """A text of the symbol."""
        forms = self.grammar[symbol]
        form = self.random.choice(forms) if depth < DEEPEST else forms[0]
        return _HOLE.sub(lambda hole: self._filled(hole[1], hole[2], depth + 1), form)

    def _filled(self, symbol: str, often: str, depth: int) -> str:
        if often == "?" and self.random.random() < RARE:
            return ""
        count = self.random.choice((1, 1, 2, 3)) if often == "+" else 1
        return ", ".join(self.text(symbol, depth) for _ in range(count))

    def script(self) -> Question:
        """A session of statements."""
        statements = [" ".join(self.text("statement").split()) for _ in range(LENGTH)]
        mode = self.random.choice(("streaming", "streaming", "batch"))
        return {"op": "script", "mode": mode, "statements": statements}


def scripts(seed: int) -> Iterator[Question]:
    """Scripts without end; the same ones for the same seed."""
    drawing = Drawing(seed)
    while True:
        yield drawing.script()


class Finder:
    """Compares scripts with Flink, and cuts down those that are answered otherwise."""

    def __init__(self, flink: Flink) -> None:
        self.flink = flink
        self.compared = 0

    def first(self, asked: Question, theirs: Answer) -> int | None:
        """The place of the first statement that is answered otherwise, or None."""
        ours = answer(asked)
        pairs = zip(theirs["results"], ours["results"], strict=True)
        for place, (expected, actual) in enumerate(pairs):
            if crashes(actual):
                return place
            if "Error" in expected.get("error", ""):
                return None  # Flink crashed: its session is broken from here on
            if not agreement(asked, expected, actual)[0]:
                return place
        return None

    def smallest(self, asked: Question, place: int) -> Question:
        """The script up to the place, without what the difference does not need."""
        kept = asked["statements"][: place + 1]
        for position in reversed(range(place)):
            shorter = {**asked, "statements": kept[:position] + kept[position + 1 :]}
            if self.first(shorter, self.flink.answers([shorter])[0]) is not None:
                kept = shorter["statements"]
        return {**asked, "statements": kept}

    def finds(self, asked: Sequence[Question]) -> Iterator[tuple[Question, Answer, Answer]]:
        """The smallest scripts that differ, with both answers to their last statement."""
        for item, theirs in zip(asked, self.flink.answers(asked), strict=True):
            place = self.first(item, theirs)
            self.compared += len(item["statements"]) if place is None else place
            if place is not None:
                small = self.smallest(item, place)
                result = self.flink.answers([small])[0]["results"][-1]
                yield small, result, answer(small)["results"][-1]


def main() -> None:
    """Draw, ask both, show what differs."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--oracle", required=True, help="the directory that setup.sh prepared")
    parser.add_argument("--count", type=int, default=200, help="how many scripts are drawn")
    parser.add_argument("--seed", type=int, default=int(time.time()))
    given = parser.parse_args()
    flink = Flink(given.oracle)
    context = preamble()
    flink.answers(context)
    for item in context:
        answer(item)
    finder, drawn, differ = Finder(flink), scripts(given.seed), 0
    for _ in range(0, given.count, BATCH):
        for small, theirs, ours in finder.finds(list(islice(drawn, BATCH))):
            differ += 1
            print(json.dumps({**small, "flink": theirs, "ours": ours}), flush=True)
    flink.close()
    print(f"# {finder.compared} statements alike, {differ} scripts differ, seed {given.seed}")


if __name__ == "__main__":
    main()
