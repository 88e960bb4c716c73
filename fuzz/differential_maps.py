"""Asks the library and the real Flink about drawn maps, tables, builders and identifiers.

    python -m fuzz.differential_maps --oracle .oracle --count 20000

Prints every answer that differs, then for each family how many were asked, how many Flink takes, in
how many both agree, and how many the library takes that Flink refuses.
"""

from __future__ import annotations

import argparse
import json
import random
import time
from collections import Counter
from itertools import islice

from fuzz.differential import Flink
from fuzz.drawing_maps import MapDrawing
from properties.answer import answer
from properties.recorded import Answer, Question
from properties.scoring import agreement

#: So many are asked before the next are drawn.
ROUND = 500


def compared(question: Question, theirs: Answer, ours: Answer) -> Counter[str]:
    """What is counted of one question."""
    meaning, exact = agreement(question, theirs, ours)
    return Counter(
        asked=1,
        taken=bool(theirs["ok"]),
        meaning=meaning,
        exact=exact,
        wrongly=bool(ours["ok"] and not theirs["ok"]),
    )


def show(question: Question, theirs: Answer, ours: Answer) -> None:
    """A difference, as three lines of JSON."""
    for name, item in (("asked", question), ("Flink", theirs), ("ours", ours)):
        print(f"{name:6}{json.dumps(item, ensure_ascii=False)}")


def run(flink: Flink, drawing: MapDrawing, count: int, finds: int) -> dict[str, Counter[str]]:
    """The counts of each family, and of all."""
    result: dict[str, Counter[str]] = {}
    questions = drawing.questions()
    for start in range(0, count, ROUND):
        drawn = list(islice(questions, min(ROUND, count - start)))
        for question, theirs in zip(drawn, flink.answers(drawn), strict=True):
            ours = answer(question)
            counts = compared(question, theirs, ours)
            if not counts["exact"] and finds:
                finds -= 1
                show(question, theirs, ours)
            for family in (question["op"], "all"):
                result.setdefault(family, Counter()).update(counts)
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description="Compare property maps with the real Flink.")
    parser.add_argument("--oracle", default=".oracle", help="the directory that setup.sh filled")
    parser.add_argument("--count", type=int, default=20_000)
    parser.add_argument("--finds", type=int, default=20, help="how many differences are shown")
    parser.add_argument("--seed", type=int, default=time.time_ns())
    options = parser.parse_args()
    flink = Flink(options.oracle)
    try:
        drawing = MapDrawing(random.Random(options.seed))
        result = run(flink, drawing, options.count, options.finds)
    finally:
        flink.close()
    names = ("asked", "taken", "meaning", "exact", "wrongly")
    print(f"--seed {options.seed:<26}" + "".join(f"{name:>9}" for name in names))
    for family, counts in sorted(result.items(), key=lambda item: (item[0] == "all", item[0])):
        print(f"{family:33}" + "".join(f"{counts[name]:9}" for name in names))


if __name__ == "__main__":
    main()
