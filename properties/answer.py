"""Answers the questions of fuzz/oracle/PROTOCOL.md with the library, as the real Flink does.

    python -m properties.answer < questions.jsonl > answers.jsonl

One JSON object a line in, one a line out, in order. It never ends before its questions do: what the
library refuses, and what nobody answers yet, is ``{"ok": false, "error": ...}``.
"""

from __future__ import annotations

import io
import json
import sys

from properties.answers import (
    builder,
    expressions,
    identifier,
    query,
    schema,
    scripts,
    tables,
    told,
    types,
    values,
)
from properties.answers.attempt import UNSUPPORTED, Operation, attempt
from properties.recorded import Answer, Question

#: The families of questions; each has its table of ops.
FAMILIES = (told, types, identifier, expressions, schema, builder, tables, query, scripts, values)

#: Op -> what answers it.
OPERATIONS: dict[str, Operation] = {
    op: run for family in FAMILIES for op, run in family.OPS.items()
}


def answer(question: Question) -> Answer:
    """The answer to one question.

    >>> answer({"op": "type", "in": "ROW<a INT>"})["summary"]
    'ROW<`a` INT>'
    >>> answer({"op": "weather"})
    {'ok': False, 'error': 'Unsupported'}
    """
    operation = OPERATIONS.get(question.get("op", ""))
    return attempt(operation, question) if operation else UNSUPPORTED


def main() -> None:
    """Answer standard input, line by line."""
    questions = io.TextIOWrapper(sys.stdin.buffer, encoding="utf-8", newline="\n")
    for line in questions:
        if line.strip():
            print(json.dumps(answer(json.loads(line)), default=repr), flush=True)


if __name__ == "__main__":
    main()
