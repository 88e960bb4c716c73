"""The causes of errors of Spark."""

from __future__ import annotations

import pytest

from schema_core.spark.jobs import condition_of, reason


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "[USER_RAISED_EXCEPTION] column 'a' is NOT NULL SQLSTATE: P0001\n  at x",
            "column 'a' is NOT NULL",
        ),
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
