"""How an answer is made: from a result, a refusal or a crash; nothing ends the program."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable
from typing import TypeAlias

from properties.recorded import Answer, Question
from schema_core.errors import BY_CODE, SchemaCoreError

#: From a question to the fields of the answer besides ``"ok": true``.
Operation: TypeAlias = Callable[[Question], Answer]

#: The answer to an operation that the program does not have. Not a refusal: it agrees with nothing.
UNSUPPORTED: Answer = {"ok": False, "error": "Unsupported", "crash": True}


def attempt(operation: Operation, question: Question) -> Answer:
    """Return the answer of an operation, or its refusal when it raises a `SchemaCoreError`.

    Any other exception is a crash: its answer has the key `crash`, which agrees with nothing
    (`properties.scoring`), and its traceback goes to standard error.

    >>> attempt(lambda question: {"out": question["in"]}, {"op": "echo", "in": 1})
    {'ok': True, 'out': 1}
    """
    try:
        return {"ok": True, **operation(question)}
    except SchemaCoreError as error:
        named = set(BY_CODE.values())  # after a code: the class above tells what a caller would do
        kind = next(item for item in type(error).__mro__ if item not in named)
        return {"ok": False, "error": kind.__name__, "message": error.problem}
    except Exception as error:  # noqa: BLE001 - the program answers every question
        print(f"crash at {question.get('op')}: {str(question)[:500]}", file=sys.stderr)
        traceback.print_exc()
        return {"ok": False, "error": f"crash: {type(error).__name__}", "crash": True}
