"""Questions to the real Flink that `setup.sh` has prepared; see PROTOCOL.md."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

ASK = Path(__file__).parent / "ask.sh"


def ask(
    oracle: str, questions: Iterable[Mapping[str, Any]], program: str = "Oracle"
) -> list[dict[str, Any]]:
    """Return the answers in the order of the questions.

    One process answers all of them: most of the time goes into starting Flink.

    Args:
        oracle: The directory that `setup.sh` filled.
        questions: The questions.
        program: The program of `ask.sh`, such as ``Streams``; by default that of PROTOCOL.md.

    Raises:
        subprocess.CalledProcessError: if Flink ends with an error.
    """
    answers = subprocess.run(
        ["sh", str(ASK), oracle, program],
        input="".join(json.dumps(question) + "\n" for question in questions),
        capture_output=True,
        encoding="utf-8",
        check=True,
    ).stdout
    return [json.loads(line) for line in answers.split("\n") if line.strip()]
