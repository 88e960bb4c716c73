"""The causes of errors of Spark."""

from __future__ import annotations

import pytest

from schema_core.spark.jobs import condition_of, reason

#: What Spark returns of an error that a connector's function raised.
OF_TASK = """Traceback (most recent call last):
  File "a.py", line 1, in read
schema_core.errors.ExternalError: a line is broken
  in file 'a'
    {"x"
    ^
  hint: skip it

\tat org.apache.spark.api.python.BasePythonRunner"""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "[USER_RAISED_EXCEPTION] column 'a' is NOT NULL SQLSTATE: P0001\n  at x",
            "column 'a' is NOT NULL",
        ),
        (OF_TASK, "a line is broken | hint: skip it"),
        ("first line\nsecond", "ValueError: first line"),
        ("", "ValueError"),
    ],
)
def test_the_cause_is_one_line(text: str, expected: str) -> None:
    assert expected == reason(ValueError(text))


def test_other_java_exceptions_have_no_condition() -> None:
    class Foreign:
        def getCondition(self) -> str:
            raise AttributeError("py4j finds no such method")

    assert condition_of(Foreign()) is None
