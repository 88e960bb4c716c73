"""Asks Flink a file of questions and writes them down with the answers, as properties/corpus does.

    python -m fuzz.oracle.record QUESTIONS.jsonl DIRECTORY/NAME.jsonl [--oracle .oracle]
    python -m properties.agreement --corpus DIRECTORY --show 10

So a doubt becomes a recording within a minute, and a recording a figure.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from fuzz.oracle.asking import ask


def main() -> None:
    """Ask all questions at once: most of the time goes into starting Flink."""
    parser = argparse.ArgumentParser(description="Record what Flink answers.")
    parser.add_argument("questions", type=Path)
    parser.add_argument("recording", type=Path)
    parser.add_argument("--oracle", default=".oracle", help="the directory that setup.sh filled")
    options = parser.parse_args()
    lines_of_questions = options.questions.read_text(encoding="utf-8").split("\n")
    questions = [json.loads(line) for line in lines_of_questions if line.strip()]
    answers = ask(options.oracle, questions)
    with options.recording.open("w", encoding="utf-8") as lines:
        for question, answer in zip(questions, answers, strict=True):
            answer.pop("id", None)
            lines.write(json.dumps({"q": question, "a": answer}, ensure_ascii=False) + "\n")
    print(f"{len(answers)} answers in {options.recording}")


if __name__ == "__main__":
    main()
