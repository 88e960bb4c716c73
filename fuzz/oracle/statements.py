"""Records what Flink returns for scripts of statements, and what they leave in its tables.

    python -m fuzz.oracle.statements [--oracle .oracle] tests/cases/row_changes.jsonl

Each line of the file has a script ``q`` with `statements`, which run one after the other, and
Flink's answers ``a``, which are recorded anew. Besides SQL a statement is ``{"set": {...}}``,
``{"statistics": table, "partition": {...}}``, ``{"write": file, "text": ...}``, or ``{"list":
directory}`` and ``{"cat": directory}``, which return the names and the lines of files. ``$DIR`` is
an empty directory of each script. The connector ``oracle-changed`` keeps rows in memory, and
deletes and updates them.
"""

from __future__ import annotations

import argparse
import json
import re
import tempfile
from pathlib import Path
from typing import Any

from fuzz.oracle.asking import ask

#: What stands for the directory of a script.
FOLDER = "$DIR"


def main() -> None:
    """Ask all scripts of a file at once."""
    parser = argparse.ArgumentParser(description="Record what Flink's statements return.")
    parser.add_argument("recording", type=Path)
    parser.add_argument("--oracle", default=".oracle", help="the directory that setup.sh filled")
    options = parser.parse_args()
    lines = options.recording.read_text(encoding="utf-8").splitlines()
    scripts = [json.loads(line)["q"] for line in lines]
    with tempfile.TemporaryDirectory() as root:
        folders = [f"{root}/{number}" for number in range(len(scripts))]
        questions = [
            json.loads(json.dumps(script).replace(FOLDER, folder))
            for script, folder in zip(scripts, folders, strict=True)
        ]
        answered = ask(options.oracle, questions, "Statements")
    answers = [
        json.loads(json.dumps(answer).replace(folder, FOLDER))["results"]
        for answer, folder in zip(answered, folders, strict=True)
    ]
    with options.recording.open("w", encoding="utf-8") as recording:
        for script, results in zip(scripts, answers, strict=True):
            line = {"q": script, "a": [shorten(result) for result in results]}
            recording.write(json.dumps(line, ensure_ascii=False) + "\n")
    print(f"{len(answers)} answers in {options.recording}")


def shorten(result: dict[str, Any]) -> dict[str, Any]:
    """Return the part of an answer that is compared: rows have no order, errors only a class."""
    if not result["ok"]:
        return {"error": result["error"]}
    if "rows" in result:
        return {"rows": sorted(result["rows"], key=json.dumps)}
    if "lines" in result:
        return {"lines": sorted(map(hide_job, result["lines"]))}
    return {key: found for key, found in result.items() if key != "ok"}


def hide_job(name: str) -> str:
    """Return the name of a file without the part that every job chooses anew.

    >>> hide_job("p=1/part-799bb528-255d-46c9-b455-c4c3725aa3db-task-0-file-0")
    'p=1/part'
    """
    return re.sub(r"part-[0-9a-f-]{20}[^/]*$", "part", name)


if __name__ == "__main__":
    main()
