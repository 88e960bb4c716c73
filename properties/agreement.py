"""How exactly the library agrees with the recorded Flink, and that it never agrees less.

    python -m properties.agreement [--files types,expr] [--show N] [--categories] [--raise-floors]

One `python -m properties.answer` per file, or for a part of a long one, gets the questions and
prints the answers. The figures are held against floors.json: cases that agree may not become fewer,
answers to what Flink refuses ("accepted wrongly") may not become more, and nothing may crash.

Refusals are counted on their own: `refused` is how many cases Flink and the library both refuse,
`reasons` how many of these have the same kind of reason (syntax, an object that does not exist),
out of those whose kind Flink's error class shows.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

from properties import recorded
from properties.recorded import Answer, Question
from properties.scoring import MISSING, agreement, cases, crashes, exact, is_refusal, same_reason

ROOT = Path(__file__).parent.parent
FLOORS = Path(__file__).parent / "floors.json"
PROGRAM = (sys.executable, "-m", "properties.answer")
#: Files whose questions Spark answers -> how many programs share them. They take longest, so they
#: start first.
BY_SPARK = {"values": 2, "values-new-york": 1}

#: figure -> which of two is the better one; `cases` belongs to the recording and does not move.
BETTER = {"meaning": max, "exact": max, "reasons": max, "accepted": min}

#: file -> figure -> number of cases
Floors: TypeAlias = dict[str, dict[str, int]]


@dataclass(slots=True)
class Score:
    """The figures of one recorded file: of `cases`, how many agree, are let in or kept out."""

    name: str
    seconds: float = 0.0
    count: Counter[str] = field(default_factory=Counter)
    categories: dict[str, Counter[str]] = field(default_factory=dict)
    disagreements: list[str] = field(default_factory=list)
    remark: str = ""


def ask_programs(
    context: list[Question], questions: list[Question], timeout: float, programs: int
) -> tuple[list[Answer], str]:
    """The answers of so many programs, each after the context, and a remark as `ask` makes it."""
    size = -(-len(questions) // programs)
    parts = [questions[start : start + size] for start in range(0, len(questions), size)]
    with ThreadPoolExecutor(max_workers=programs) as pool:
        results = list(pool.map(lambda part: ask([*context, *part], timeout), parts))
    remarks = [remark for _, remark in results if remark]
    remarks += [f"the context crashes: {answer}" for part, _ in results
                for answer in part[: len(context)] if crashes(answer)]  # fmt: skip
    answers = [answer for part, _ in results for answer in part[len(context) :]]
    return answers, "\n".join(remarks)


def ask(questions: list[Question], timeout: float) -> tuple[list[Answer], str]:
    """The answers of a fresh program, and a remark when it did not answer everything."""
    lines = "".join(json.dumps(question) + "\n" for question in questions)
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as complaints:
        process = subprocess.run(
            PROGRAM, input=lines, stdout=out, stderr=complaints, text=True, cwd=ROOT,
            timeout=timeout, check=False,
        )  # fmt: skip
        out.seek(0)
        answers = [json.loads(line) for line in out if line.strip()]
        if len(answers) == len(questions) and process.returncode == 0:
            return answers, ""
        complaints.seek(0)
        last_words = complaints.read()[-2000:]
    missing = len(questions) - len(answers)
    remark = f"{len(answers)} answers to {len(questions)} questions, exit {process.returncode}"
    return answers + [MISSING] * missing, f"{remark}\n{last_words}"


def score(name: str, corpus: Path, timeout: float) -> Score:
    """Ask the questions of one file and count."""
    result = Score(name)
    context = recorded.preamble(corpus)
    pairs = list(recorded.records(name, corpus))
    started = time.perf_counter()
    questions = [question for question, _ in pairs]
    answers, result.remark = ask_programs(context, questions, timeout, BY_SPARK.get(name, 1))
    result.seconds = time.perf_counter() - started
    for (question, expected), actual in zip(pairs, answers, strict=False):
        count = result.categories.setdefault(category(question), Counter())
        for want, got, asked in cases(question, expected, actual):
            figures, agrees = judge(question, want, got)
            count.update(figures)
            if not agrees:
                result.disagreements.append(disagreement(asked, want, got))
    result.count = sum(result.categories.values(), Counter())
    result.count["crashes"] = sum(map(crashes, answers)) or int(bool(result.remark))
    return result


def category(question: Question) -> str:
    """What a question is about: its own word, else the stem of its id, else its op."""
    stem = str(question.get("id", "")).rpartition("-")[0]
    return str(question.get("category") or stem or question["op"])


def judge(question: Question, want: Answer, got: Answer) -> tuple[dict[str, int], bool]:
    """What one case adds to the figures, and whether it agrees in meaning."""
    agrees, exactly = agreement(question, want, got)
    both = not want["ok"] and is_refusal(got)
    reason = same_reason(want, got) if both else None
    figures = {
        "cases": 1,
        "answered": got.get("ok") is True,
        "meaning": agrees,
        "exact": exactly,
        "accepted": not want["ok"] and got.get("ok") is True,
        "refused": bool(want["ok"]) and is_refusal(got),
        "refusals": both,
        "comparable": reason is not None,
        "reasons": reason is True,
        "crashes": crashes(got),
    }
    return figures, agrees


def disagreement(asked: object, want: Answer, got: Answer) -> str:
    """Both answers beneath the question, cut to what a terminal holds."""
    lines = (("", asked, 300), ("flink ", exact(want), 400), ("ours  ", got, 400))
    return "\n    ".join(f"{who}{json.dumps(what)[:width]}" for who, what, width in lines)


HEADING = (
    f"{'file':<18}{'cases':>7}{'meaning':>9}{'exact':>9}{'refused':>9}{'reasons':>11}"
    f"{'accepted wrongly':>18}{'refused wrongly':>17}{'crashes':>9}{'seconds':>9}"
)


def row(name: str, count: Mapping[str, int], seconds: str = "") -> str:
    """One line of the table."""
    whole = max(count.get("cases", 0), 1)
    meaning, exactly = (100 * count.get(figure, 0) / whole for figure in ("meaning", "exact"))
    reasons = f"{count.get('reasons', 0)}/{count.get('comparable', 0)}"
    return (
        f"{name:<18}{count.get('cases', 0):>7}{meaning:>8.2f}%{exactly:>8.2f}%"
        f"{count.get('refusals', 0):>9}{reasons:>11}{count.get('accepted', 0):>18}"
        f"{count.get('refused', 0):>17}{count.get('crashes', 0):>9}{seconds:>9}"
    )


def report(result: Score, show: int, *, categories: bool) -> None:
    """Print a file's line, and beneath it what was asked for."""
    print(row(result.name, result.count, f"{result.seconds:.1f}"), flush=True)
    if categories:
        for name, count in sorted(result.categories.items()):
            print(row(f"  {name}"[:18], count))
    for text in result.disagreements[:show]:
        print(f"  {text}")
    if result.remark:
        print(f"  {result.remark}", file=sys.stderr)


def fallen(results: Iterable[Score], floors: Floors) -> list[str]:
    """Describe every figure that is worse than its floor; the floor of crashes is 0.

    >>> result = Score("casts", count=Counter(cases=10, answered=9, meaning=8, exact=8, accepted=1))
    >>> floor = {"cases": 10, "meaning": 9, "exact": 8, "reasons": 0, "accepted": 1}
    >>> fallen([result], {"casts": floor})
    ['casts: meaning 8, floor 9']
    """
    lines = []
    for result in results:
        if result.count["crashes"]:
            lines.append(f"{result.name}: {result.count['crashes']} crashes, floor 0")
        floor = floors.get(result.name)
        if floor is None:
            lines += [f"{result.name}: no floor yet"] if result.count["answered"] else []
        elif floor["cases"] != result.count["cases"]:
            lines.append(f"{result.name}: {result.count['cases']} cases, floor {floor['cases']}")
        else:
            lines += [
                f"{result.name}: {figure} {result.count[figure]}, floor {floor[figure]}"
                for figure, better in BETTER.items()
                if better(result.count[figure], floor[figure]) != result.count[figure]
            ]
    return lines


def raised(results: Iterable[Score], floors: Floors) -> Floors:
    """The better of the old and the new figure everywhere: a floor never falls.

    A file that is refused as a whole gets no floor: its figures mean nothing.

    >>> result = Score("casts", count=Counter(cases=10, answered=9, meaning=8, exact=8, accepted=0))
    >>> raised([result], {"casts": {"cases": 10, "meaning": 9, "exact": 7, "accepted": 1}})
    {'casts': {'cases': 10, 'meaning': 9, 'exact': 8, 'reasons': 0, 'accepted': 0}}
    """
    new = {
        result.name: {
            "cases": result.count["cases"],
            **{
                figure: better(
                    result.count[figure],
                    floors.get(result.name, {}).get(figure, result.count[figure]),
                )
                for figure, better in BETTER.items()
            },
        }
        for result in results
        if result.count["answered"]
    }
    return dict(sorted({**floors, **new}.items()))


def load_floors() -> Floors:
    """The floors: the lowest figures that are accepted."""
    floors: Floors = json.loads(FLOORS.read_text(encoding="utf-8"))
    return floors


def save_floors(floors: Floors) -> None:
    """One file a line, so that a change reads as what it is."""
    lines = (f"  {json.dumps(name)}: {json.dumps(floor)}" for name, floor in floors.items())
    FLOORS.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


def verdict(results: list[Score], *, raise_floors: bool) -> int:
    """Hold the figures against the floors, or raise these; return the exit code of the program."""
    floors = load_floors()
    higher = raised(results, floors)
    if raise_floors and not any(result.count["crashes"] for result in results):
        save_floors(higher)
    elif complaints := fallen(results, floors):
        print("\nless exact than before:", *complaints, sep="\n  ")
        return 1
    elif higher != floors:
        print("\nmore exact than before: write it down with `make floors`")
    return 0


def main() -> int:
    """Score every file, two at a time, and hold the results against the floors."""
    parser = argparse.ArgumentParser(description="Agreement with the recorded Flink.")
    parser.add_argument("--files", default="", help="names, separated by commas; default: all")
    parser.add_argument("--show", type=int, default=0, help="print so many disagreements a file")
    parser.add_argument("--categories", action="store_true", help="a line for each category too")
    parser.add_argument("--corpus", type=Path, help="another recording: no floors are held")
    parser.add_argument("--timeout", type=float, default=1800, help="seconds for one file")
    parser.add_argument("--raise-floors", action="store_true", help="write the better figures down")
    options = parser.parse_args()
    corpus = options.corpus or recorded.CORPUS
    wanted = [name for name in options.files.split(",") if name] or recorded.names(corpus)
    results = []
    print(HEADING, flush=True)
    wanted.sort(key=lambda name: name not in BY_SPARK)
    with ThreadPoolExecutor(max_workers=2) as pool:
        scores = [pool.submit(score, name, corpus, options.timeout) for name in wanted]
        for future in as_completed(scores):
            result = future.result()
            report(result, options.show, categories=options.categories)
            results.append(result)
    total = sum((result.count for result in results), Counter[str]())
    print(row("all", total))
    if options.corpus:
        return 1 if total["crashes"] else 0
    return verdict(results, raise_floors=options.raise_floors)


if __name__ == "__main__":
    sys.exit(main())
