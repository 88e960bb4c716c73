"""Recorded answers of the real Apache Flink: questions, each with Flink's answer."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeAlias

#: An object of fuzz/oracle/PROTOCOL.md.
Question: TypeAlias = dict[str, Any]
Answer: TypeAlias = dict[str, Any]

CORPUS = Path(__file__).parent / "corpus" / "flink-2.3.0"

#: The file of the context that an answering program gets before the questions of any file.
PREAMBLE = ("tables", "udf")


def names(corpus: Path = CORPUS) -> list[str]:
    """The recorded files, without their endings.

    >>> names()[:3]
    ['builder_api', 'casts', 'common']
    """
    return sorted(path.name.split(".jsonl")[0] for path in corpus.glob("*.jsonl*"))


def records(name: str, corpus: Path = CORPUS) -> Iterator[tuple[Question, Answer]]:
    """Each question of a file beside Flink's answer.

    >>> question, answer = next(records("casts"))
    >>> question
    {'op': 'cast', 'from': 'CHAR(5)', 'to': 'CHAR(5)'}
    >>> answer["implicit"]
    True
    """
    # Not splitlines(): it also splits at rare separators, which occur within values.
    for line in text(f"{name}.jsonl", corpus).rstrip("\n").split("\n"):
        record = json.loads(line)
        yield record["q"], record["a"]


def document(name: str, corpus: Path = CORPUS) -> dict[str, Any]:
    """A file that is one object: `tables`, `udf`, `expr_columns`, `tpch-answers`.

    >>> sorted(document("tables"))
    ['T1', 'T2', 'T3']
    """
    result: dict[str, Any] = json.loads(text(f"{name}.json", corpus))
    return result


def preamble(corpus: Path = CORPUS) -> list[Question]:
    """The declarations that precede the questions: tables with rows, user functions."""
    return [{"op": name, **document(name, corpus)} for name in PREAMBLE if exists(name, corpus)]


def exists(name: str, corpus: Path) -> bool:
    """Whether a directory holds a document, compressed or plain."""
    return any((corpus / f"{name}.json{ending}").exists() for ending in ("", ".gz"))


def text(file: str, corpus: Path) -> str:
    """A file's text: plain where a new recording lies, compressed in this repository."""
    plain = corpus / file
    if plain.exists():
        return plain.read_text(encoding="utf-8")
    return gzip.decompress((corpus / f"{file}.gz").read_bytes()).decode("utf-8")
