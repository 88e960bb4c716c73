"""Answers the questions of fuzz/oracle/PROTOCOL.md with the library, as the real Flink does.

    python -m properties.answer < questions.jsonl > answers.jsonl

One JSON object per line in, one per line out, in order. It never ends before its questions do. What
the library refuses is ``{"ok": false, "error": ...}``. A crash (any exception that is not a
`SchemaCoreError`, or an operation that does not exist) has ``"crash": true`` as well; its traceback
goes to standard error, and the program exits with 1 after the last question.
"""

from __future__ import annotations

import io
import json
import sys

from properties.answers import (
    builder,
    expressions,
    fixtures,
    identifier,
    query,
    schema,
    scripts,
    tables,
    types,
    values,
)
from properties.answers.attempt import UNSUPPORTED, Operation, attempt
from properties.recorded import Answer, Question
from properties.scoring import crashes

#: The families of questions; each has its table of ops.
FAMILIES = (
    fixtures,
    types,
    identifier,
    expressions,
    schema,
    builder,
    tables,
    query,
    scripts,
    values,
)

#: Op -> what answers it.
OPERATIONS: dict[str, Operation] = {
    op: run for family in FAMILIES for op, run in family.OPS.items()
}


def answer(question: Question) -> Answer:
    """The answer to one question.

    >>> answer({"op": "type", "in": "ROW<a INT>"})["summary"]
    'ROW<`a` INT>'
    >>> answer({"op": "weather"})
    {'ok': False, 'error': 'Unsupported', 'crash': True}
    """
    operation = OPERATIONS.get(question.get("op", ""))
    return attempt(operation, question) if operation else UNSUPPORTED


def main() -> int:
    """Answer standard input, line by line; return 1 if an answer was a crash."""
    questions = io.TextIOWrapper(sys.stdin.buffer, encoding="utf-8", newline="\n")
    crashed = 0
    for line in questions:
        if line.strip():
            result = answer(json.loads(line))
            crashed += crashes(result)
            print(json.dumps(result, default=repr), flush=True)
    return 1 if crashed else 0


if __name__ == "__main__":
    sys.exit(main())
