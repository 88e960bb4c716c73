"""When two answers agree: in meaning (what a user relies on), or exactly (printed text too)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from properties.recorded import Answer, Question

#: Printed text: compared for "exact" only.
PRINTED = frozenset({
    "string", "sql", "sql_error", "expr", "expr_error", "unresolved", "summary", "expanded_query",
    "original_query", "description", "input_unresolved", "output_unresolved",
})  # fmt: skip

#: Never compared: the wording and class of an error, remarks about the recording.
IGNORED = frozenset({
    "error", "message", "id", "phase", "partial", "odd", "as_column", "stage",
})  # fmt: skip

#: Property values that hold printed SQL end so.
SQL_KEYS = ("expr", "strategy.expr", "query")

#: The answer of a program that ended before it answered: a crash.
MISSING: Answer = {"ok": None, "crash": True}

#: Class of Flink's error -> our classes for the same kind of reason. Every other class of Flink's
#: (`ValidationException` above all) is raised for reasons of any kind, so it cannot be compared.
REASONS = {
    **dict.fromkeys(
        ("SqlParserException", "SqlParserEOFException", "TokenMgrError", "SqlValidateException"),
        frozenset({"ParseError"}),
    ),
    "CalciteContextException": frozenset({"SchemaError", "NotFoundError", "UnsupportedError"}),
    "CatalogException": frozenset({"SchemaError", "NotFoundError", "AlreadyExistsError"}),
    "NoSuchElementException": frozenset({"NotFoundError"}),
}


def meaning(value: Any, key: str = "") -> Any:
    """A value without what is merely printed.

    >>> meaning({"type": "INT", "sql": "`a` + 1", "error": "TableException"})
    {'type': 'INT'}
    """
    if isinstance(value, dict):
        return {
            name: meaning(part, name)
            for name, part in value.items()
            if name not in PRINTED | IGNORED
            and not (key == "properties" and name.endswith(SQL_KEYS))
        }
    if isinstance(value, list):
        return [meaning(part, key) for part in value]
    return without_reason(value, key)


def exact(value: Any, key: str = "") -> Any:
    """Return a value without error messages.

    >>> exact({"type": "INT", "sql": "`a` + 1", "error": "TableException"})
    {'type': 'INT', 'sql': '`a` + 1'}
    """
    if isinstance(value, dict):
        return {name: exact(part, name) for name, part in value.items() if name not in IGNORED}
    if isinstance(value, list):
        return [exact(part, key) for part in value]
    return without_reason(value, key)


def without_reason(value: Any, key: str) -> Any:
    """A row type that has no text is "!" and some reason, of which only "!" counts."""
    unprintable = key.endswith("_row") and isinstance(value, str) and value.startswith("!")
    return "!" if unprintable else value


def close(expected: Any, actual: Any) -> bool:
    """Equal values; floating point up to the last bits, in which two maths libraries differ.

    >>> close(["1.0", None], ["1.0000000000000002", None]), close("1.0", "1.1")
    (True, False)
    """
    if isinstance(expected, list) and isinstance(actual, list):
        return len(expected) == len(actual) and all(map(close, expected, actual))
    if expected == actual:
        return True
    try:
        return abs(float(expected) - float(actual)) <= 1e-14 * abs(float(expected))
    except (TypeError, ValueError, OverflowError):
        return False


def same_meaning(question: Question, expected: Answer, actual: Answer) -> bool:
    """Whether a user would see no difference."""
    want, got = meaning(expected), meaning(actual)
    approximate = want.get("type", "").split(" ")[0] in {"FLOAT", "DOUBLE"}
    if question["op"] == "evaluate" and approximate:
        return want["type"] == got.get("type") and close(want["values"], got.get("values"))
    return bool(want == got)


def crashes(answer: Answer) -> int:
    """Return the number of crashes in an answer; each statement of a script can crash.

    >>> crashes({"ok": True, "results": [{"ok": False, "error": "crash: KeyError", "crash": True}]})
    1
    """
    return int("crash" in answer) + sum(map(crashes, answer.get("results") or ()))


def is_refusal(answer: Answer) -> bool:
    """Whether the answer is a deliberate refusal, not a crash and not missing."""
    return answer.get("ok") is False and "crash" not in answer


def same_reason(expected: Answer, actual: Answer) -> bool | None:
    """Whether two refusals have the same kind of reason; None where Flink's class leaves it open.

    >>> same_reason({"error": "SqlParserException"}, {"error": "SchemaError"})
    False
    """
    reasons = REASONS.get(expected.get("error", ""))
    return None if reasons is None else actual.get("error") in reasons


def agreement(question: Question, expected: Answer, actual: Answer) -> tuple[bool, bool]:
    """Whether two answers agree in meaning, and whether exactly.

    Refusals agree in meaning; exactly, unless Flink's error shows another kind of reason. A crash
    agrees with nothing.

    >>> agreement({"op": "type"}, {"ok": False, "error": "A"}, {"ok": False, "error": "B"})
    (True, True)
    >>> agreement({"op": "type"}, {"ok": False, "error": "A"}, {"ok": False, "crash": True})
    (False, False)
    >>> agreement({"op": "type"}, {"ok": True, "summary": "A"}, {"ok": True, "summary": "B"})
    (True, False)
    """
    if not expected["ok"]:
        refused = is_refusal(actual)
        return refused, refused and same_reason(expected, actual) is not False
    same = "crash" not in actual and same_meaning(question, expected, actual)
    return same, same and (question["op"] == "evaluate" or exact(expected) == exact(actual))


def cases(
    question: Question, expected: Answer, actual: Answer
) -> Iterator[tuple[Answer, Answer, object]]:
    """What is counted: (expected, actual, question); a script counts by its statements.

    Statements without an answer count as crashes.
    """
    if question["op"] == "script":
        results = actual.get("results") or []
        padded = results + [MISSING] * (len(expected["results"]) - len(results))
        yield from zip(expected["results"], padded, question["statements"], strict=False)
    elif "odd" not in expected:  # values outside their own type: Flink's accident, not a goal
        wide = {"columns", "tables", "statements"}
        yield expected, actual, {key: part for key, part in question.items() if key not in wide}
