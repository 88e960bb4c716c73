"""How an answer is made: a refusal is an answer too, and nothing ends the program."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable
from typing import TypeAlias

from properties.recorded import Answer, Question
from schema_core.errors import SchemaCoreError

#: From a question to what stands in the answer beside ``"ok": true``.
Operation: TypeAlias = Callable[[Question], Answer]

#: The answer to what nobody answers.
UNSUPPORTED: Answer = {"ok": False, "error": "Unsupported"}


def attempt(operation: Operation, question: Question) -> Answer:
    """The answer of an operation: what it returns, or that the library refused.

    Any other error is a fault of ours: refused as well, and told on standard error.

    >>> attempt(lambda question: {"out": question["in"]}, {"op": "echo", "in": 1})
    {'ok': True, 'out': 1}
    """
    try:
        return {"ok": True, **operation(question)}
    except SchemaCoreError as error:
        return {"ok": False, "error": type(error).__name__, "message": error.problem}
    except Exception as error:  # noqa: BLE001
        print(f"fault at {question.get('op')}: {str(question)[:500]}", file=sys.stderr)
        traceback.print_exc()
        return {"ok": False, "error": type(error).__name__}
