"""Types drawn expressions with the library and with the real Flink, and shows where they differ.

    python -m fuzz.differential --oracle .oracle --count 20000

Compared are whether an expression is taken, its type, its time attribute and its printed text. What
differs is cut down to the smallest expression that still does, and written as a line for
tests/cases/differential.cases. Where Flink crashes, there is nothing to agree with.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import IO

from fuzz.drawing import Drawing, Drawn
from fuzz.oracle.asking import ASK
from properties.answer import answer
from properties.recorded import Answer, Question
from properties.scoring import agreement, crashes
from schema_core.base.text import Span
from schema_core.errors import SchemaCoreError
from schema_core.sql.parser import parse_expression
from schema_core.sql.syntax import walk

#: Refusals of Flink; all other errors are crashes.
REFUSALS = frozenset({"ValidationException", "TableException", "SqlParserException"})

#: How many expressions are compared before more are drawn: what differs is not drawn from again.
BATCH = 25


class Flink:
    """The real Flink, which answers question after question."""

    def __init__(self, oracle: str) -> None:
        self.process = subprocess.Popen(
            ["sh", str(ASK), oracle],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            encoding="utf-8",
        )

    def answers(self, questions: Sequence[Question]) -> list[Answer]:
        """What Flink answers; a batch fits into a pipe."""
        result: list[Answer] = []
        for start in range(0, len(questions), BATCH):
            part = questions[start : start + BATCH]
            _open(self.process.stdin).write(
                "".join(json.dumps(diagnostic) + "\n" for diagnostic in part)
            )
            _open(self.process.stdin).flush()
            result += [json.loads(_open(self.process.stdout).readline()) for _ in part]
        return result

    def close(self) -> None:
        """Let Flink go."""
        _open(self.process.stdin).close()
        self.process.wait()


def _open(stream: IO[str] | None) -> IO[str]:
    assert stream is not None
    return stream


def question(drawn: Drawn) -> Question:
    return {"op": "expr", "mode": drawn.mode, "columns": drawn.columns, "expr": drawn.text}


def difference(asked: Question, theirs: Answer, ours: Answer) -> str:
    """In what two answers differ, or nothing."""
    if crashes(ours):
        return "crash of the library"
    if theirs.get("error", "ValidationException") not in REFUSALS:
        return "crash of Flink"
    if agreement(asked, theirs, ours)[1]:
        return ""
    if theirs["ok"] != ours["ok"]:
        return "taken wrongly" if ours["ok"] else "refused wrongly"
    parts = ("type", "time_attribute", "sql", "sql_error")
    return next((part for part in parts if theirs.get(part) != ours.get(part)), "other")


def compared(flink: Flink, drawn: Sequence[Drawn]) -> Iterator[tuple[Drawn, str, Answer, Answer]]:
    """Each expression with the difference, Flink's answer and the library's."""
    questions = [question(item) for item in drawn]
    for item, asked, theirs in zip(drawn, questions, flink.answers(questions), strict=True):
        ours = answer(asked)
        yield item, difference(asked, theirs, ours), theirs, ours


# --- smaller expressions -------------------------------------------------------------------------


def shrunk(flink: Flink, drawn: Drawn, kind: str) -> Drawn:
    """The smallest expression found by cutting that differs in the same way."""
    while True:
        smaller = sorted(shorter(drawn.text), key=len)[:200]
        tried = [replace(drawn, text=text) for text in smaller]
        same = (item for item, result, _, _ in compared(flink, tried) if result == kind)
        better = next(same, None)
        if better is None:
            return replace(drawn, columns=used(drawn))
        drawn = better


def used(drawn: Drawn) -> dict[str, str]:
    """The columns that an expression still uses."""
    return {name: type_ for name, type_ in drawn.columns.items() if name in drawn.text}


def shorter(text: str) -> set[str]:
    """The text with a part replaced by a part of that part, by NULL, or left out."""
    try:
        parts = {node.span for node in walk(parse_expression(text)) if node.span.stop}
    except SchemaCoreError:
        parts = _bracketed(text)
    result: set[str] = set()
    for outer in parts:
        held = (part for part in parts if part != outer and _within(part, outer))
        fills = {text[item.start : item.stop] for item in held}
        for fill in fills | {"NULL", "1", ""}:
            result.add(text[: outer.start] + fill + text[outer.stop :])
    return {item for item in result if len(item) < len(text) and item.strip()}


def _within(inner: Span, outer: Span) -> bool:
    return outer.start <= inner.start and inner.stop <= outer.stop


def _bracketed(text: str) -> set[Span]:
    """What stands between brackets that belong together, and between blanks."""
    result, open_ = {Span(0, len(text))}, []
    for place, sign in enumerate(text):
        if sign in "([":
            open_.append(place + 1)
        elif sign in ")]" and open_:
            result.add(Span(open_.pop(), place))
    start = 0
    for word in text.split(" "):
        result.add(Span(start, min(start + len(word) + 1, len(text))))
        start += len(word) + 1
    return result


# --- reports
# ---------------------------------------------------------------------------------------


def line(drawn: Drawn, theirs: Answer) -> str:
    """A line of tests/cases/differential.cases.

    >>> line(Drawn("logic", "batch", {"a": "INT"}, "a IS NULL"), {"ok": False})
    'batch | ROW<`a` INT> | a IS NULL -> !'
    """
    columns = ", ".join(f"`{name}` {type_}" for name, type_ in drawn.columns.items())
    expected = "!"
    if theirs["ok"]:
        printed = theirs.get("sql")
        expected = theirs["type"] + (f" | {printed}" if printed is not None else "")
    return f"{drawn.mode} | ROW<{columns}> | {drawn.text} -> {expected}"


def run(flink: Flink, drawing: Drawing, count: int, finds: int) -> None:
    """Compare so many expressions; print each find as it comes and the rates at the end."""
    asked: Counter[str] = Counter()
    wrong: Counter[str] = Counter()
    taken = 0
    reported: set[str] = set()
    source = drawing.expressions()
    for _ in range(0, count, BATCH):
        for drawn, kind, theirs, _ours in compared(flink, list(islice(source, BATCH))):
            if kind == "crash of Flink":
                asked[kind] += 1
                continue
            asked[drawn.category] += 1
            taken += theirs["ok"]
            if kind:
                wrong[drawn.category] += 1
                drawing.forget(drawn.text)
                if wrong.total() <= finds:
                    reported.add(report(flink, drawn, kind, reported))
    crashes = asked.pop("crash of Flink", 0)
    for category in sorted(asked):
        share = wrong[category] / asked[category]
        print(f"{category:14} {asked[category]:6}  differ {wrong[category]:4}  {share:7.3%}")
    share = wrong.total() / asked.total()
    print(f"{'all':14} {asked.total():6}  differ {wrong.total():4}  {share:7.3%}", end="")
    print(f"  (Flink takes {taken / asked.total():.0%}, crashes at {crashes} more)")


def report(flink: Flink, drawn: Drawn, kind: str, reported: set[str]) -> str:
    """Print a find, minimized, unless it was reported before; return its line."""
    small = shrunk(flink, drawn, kind)
    ((_, _, theirs, ours),) = compared(flink, [small])
    find = line(small, theirs)
    if find not in reported:
        print(f"# {drawn.category}: {kind}; the library: {json.dumps(ours, ensure_ascii=False)}")
        print(find, flush=True)
    return find


def main() -> None:
    parser = argparse.ArgumentParser(description="Compare typing with the real Flink.")
    parser.add_argument("--oracle", default=".oracle", help="the directory that setup.sh filled")
    parser.add_argument("--count", type=int, default=20_000)
    parser.add_argument("--finds", type=int, default=50, help="how many finds are cut down")
    parser.add_argument("--seed", type=int, default=time.time_ns())
    options = parser.parse_args()
    print(f"# --seed {options.seed}", flush=True)
    flink = Flink(options.oracle)
    try:
        drawing = Drawing(random.Random(options.seed))
        run(flink, drawing, options.count, options.finds)
    finally:
        flink.close()


if __name__ == "__main__":
    main()
