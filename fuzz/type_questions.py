"""Asks the library and the real Flink drawn questions about types, and shows where they differ.

    python -m fuzz.type_questions --oracle .oracle --count 20000

A question is a type string, a pair of types to cast, or several types to find the common one of.
Texts are spelled in every way the grammar has, and damaged now and then; pairs and lists are mostly
relatives of one type, since two independent types are rarely related.
"""

from __future__ import annotations

import argparse
import base64
import json
import random
import time
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import islice

from fuzz.differential import BATCH, REFUSALS, Flink
from properties.answer import answer
from properties.recorded import Answer, Question
from properties.scoring import agreement, crashes


def snapshot(serializer: str) -> str:
    """What Flink writes of a serializer without settings: its name, and the version 3."""
    name = serializer.encode()
    return base64.b64encode(len(name).to_bytes(2) + name + (3).to_bytes(4)).decode()


#: Flink loads what a RAW type names, and refuses what is not there; the library never looks.
LOADED = "Unable to restore the RAW type"

#: Spelled with numbers in parentheses or without: the word, and how many numbers there may be.
WORDS = {
    "CHAR": 1, "VARCHAR": 1, "BINARY": 1, "VARBINARY": 1, "STRING": 0, "BYTES": 0, "BOOLEAN": 0,
    "TINYINT": 0, "SMALLINT": 0, "INT": 0, "INTEGER": 0, "BIGINT": 0, "FLOAT": 0, "DOUBLE": 0,
    "DOUBLE PRECISION": 0, "DECIMAL": 2, "DEC": 2, "NUMERIC": 2, "DATE": 0, "TIME": 1,
    "TIMESTAMP": 1, "TIMESTAMP_LTZ": 1, "NULL": 0, "VARIANT": 0, "BITMAP": 0, "DESCRIPTOR": 0,
}  # fmt: skip
ZONES = ("", " WITHOUT TIME ZONE", " WITH TIME ZONE", " WITH LOCAL TIME ZONE")
YEARS = ("YEAR{0}", "YEAR{0} TO MONTH", "MONTH")
DAYS = (
    "DAY{0}", "DAY{0} TO HOUR", "DAY{0} TO MINUTE", "DAY{0} TO SECOND{1}", "HOUR",
    "HOUR TO MINUTE", "HOUR TO SECOND{1}", "MINUTE", "MINUTE TO SECOND{1}", "SECOND{1}",
)  # fmt: skip
#: Types that are easily taken for one another.
FAMILIES = (
    ("CHAR", "VARCHAR", "STRING"),
    ("BINARY", "VARBINARY", "BYTES", "BITMAP"),
    ("TINYINT", "SMALLINT", "INT", "BIGINT", "FLOAT", "DOUBLE", "DECIMAL", "BOOLEAN"),
    ("DATE", "TIME", "TIMESTAMP", "TIMESTAMP_LTZ", "interval", "zoned"),
    ("INT", "DECIMAL", "interval"),
    ("row", "structured"),
    ("array", "multiset", "map"),
)
NAMES = ("a", "b", "c", "`a b`", "`a``b`", "Ab", "é")
CLASSES = ("'x.Y'", "'x.Z'", "'x.Y$Z'", "'Y'")
COMMENTS = ("", "", " 'c'", " 'it''s'", " ''")
#: What mutations insert into a type string.
DAMAGE = (
    "", " ", "<", ">", "(", ")", ",", "'", "`", ".", "NOT NULL", "NULL", "0", "40", "ARRAY", "x",
)  # fmt: skip
#: A serializer of Flink's own, which every Flink can load.
SERIALIZER = "org.apache.flink.api.common.typeutils.base.IntSerializer$IntSerializerSnapshot"
RAW = f"RAW('java.lang.Integer', '{snapshot(SERIALIZER)}')"


class Drawing:
    """Draws questions from a source of chance."""

    def __init__(self, chance: random.Random) -> None:
        self.chance = chance

    def questions(self) -> Iterator[Question]:
        """Questions without end."""
        while True:
            kind = self.chance.choice((self.described, self.cast, self.cast, self.common))
            yield kind()

    def described(self) -> Question:
        """A type string, damaged one time in four."""
        text = self.type(3)
        return {"op": "type", "in": self.damaged(text) if self.chance.random() < 0.25 else text}

    def cast(self) -> Question:
        """Two types, mostly relatives."""
        source, target = self.relatives(2)
        return {"op": "cast", "from": source, "to": target}

    def common(self) -> Question:
        """One to four types, mostly relatives."""
        return {"op": "common", "types": self.relatives(self.chance.randint(1, 4))}

    def relatives(self, count: int) -> list[str]:
        """Types of one shape with leaves of one family, or any types."""
        if self.chance.random() < 0.2:
            return [self.type(2) for _ in range(count)]
        family = self.chance.choice(FAMILIES)
        depth = self.chance.randint(0, 2)
        shape = self.chance.getrandbits(30)
        return [self.shaped(random.Random(shape), depth, family) for _ in range(count)]

    def shaped(self, shape: random.Random, depth: int, family: tuple[str, ...]) -> str:
        """A type whose shape comes from `shape`, its leaves and NOT NULLs from chance."""
        if not depth:
            word = self.chance.choice(family) if self.chance.random() < 0.95 else "NULL"
            return self.leaf(word, 1) + self.nullness()

        def inner() -> str:
            return self.shaped(shape, shape.randint(0, depth - 1), family)

        return self.collection(shape, inner) + self.nullness()

    def type(self, depth: int) -> str:
        """Any type string."""
        if depth and self.chance.random() < 0.5:
            return self.collection(self.chance, lambda: self.type(depth - 1)) + self.nullness()
        kinds = (*WORDS, "interval", "zoned", "raw")
        text = self.leaf(self.chance.choice(kinds), 0) + self.nullness()
        if self.chance.random() < 0.05:
            text += self.chance.choice((" ARRAY", " MULTISET")) + self.nullness()
        return text

    def leaf(self, word: str, depth: int) -> str:
        """The text of a type by its word, without nullness."""
        inner = "ROW<>" if not depth else self.type(0)
        match word:
            case "interval":
                return self.interval()
            case "zoned":
                return f"TIMESTAMP{self.numbers(1)}{self.chance.choice(ZONES)}"
            case "raw":
                return RAW
            case "row":
                return f"ROW<a {inner}>"
            case "structured":
                return f"STRUCTURED<{self.chance.choice(CLASSES)}, a {inner}>"
            case "array" | "multiset":
                return f"{word.upper()}<{inner}>"
            case "map":
                return f"MAP<{inner}, {self.type(0)}>"
            case _:
                return word + self.numbers(WORDS[word])

    def collection(self, shape: random.Random, inner: Callable[[], str]) -> str:
        """Return a type of the kind `shape` around other types."""
        kind = shape.choice(("ARRAY", "MULTISET", "MAP", "ROW", "ROW", "STRUCTURED"))
        if kind in ("ARRAY", "MULTISET"):
            return f"{kind}<{inner()}>"
        if kind == "MAP":
            return f"MAP<{inner()}, {inner()}>"
        names = shape.sample(NAMES, shape.randint(0, 3))
        parts = [f"{name} {inner()}{self.chance.choice(COMMENTS)}" for name in names]
        if kind == "STRUCTURED" or self.chance.random() < 0.1:
            parts.insert(0, self.chance.choice(CLASSES))
            return f"STRUCTURED<{', '.join(parts)}>"
        opening, closing = self.chance.choice(("<>", "<>", "()"))
        return f"ROW{opening}{', '.join(parts)}{closing}"

    def interval(self) -> str:
        words = self.chance.choice((YEARS, DAYS))
        first, second = self.numbers(1, 6), self.numbers(1)
        return "INTERVAL " + self.chance.choice(words).format(first, second)

    def numbers(self, most: int, limit: int = 12) -> str:
        """Up to so many numbers in parentheses, some out of range."""
        count = self.chance.randint(0, most)
        if not count:
            return ""
        drawn = [str(self.chance.randint(0, limit)) for _ in range(count)]
        if count == 2:
            drawn[0] = str(self.chance.randint(1, 39))
        return f"({', '.join(drawn)})"

    def nullness(self) -> str:
        return self.chance.choice(("", "", " NOT NULL", " NULL"))

    def damaged(self, text: str) -> str:
        """The text with a few characters replaced by something."""
        start = self.chance.randint(0, len(text))
        stop = start + self.chance.randint(0, 3)
        return text[:start] + self.chance.choice(DAMAGE) + text[stop:]


def difference(asked: Question, theirs: Answer, ours: Answer) -> str:
    """In what two answers differ, or nothing."""
    if crashes(ours):
        return "crash of the library"
    if theirs.get("error", "ValidationException") not in REFUSALS:
        return "crash of Flink"
    if theirs.get("message", "").startswith(LOADED):
        return "class that is loaded"
    return "" if agreement(asked, theirs, ours)[1] else "differ"


def run(flink: Flink, drawing: Drawing, count: int) -> None:
    """Compare so many answers; print each that differs, and the rates at the end."""
    asked: Counter[str] = Counter()
    result: Counter[str] = Counter()
    taken = 0
    source = drawing.questions()
    for _ in range(0, count, BATCH):
        batch = list(islice(source, BATCH))
        for question, theirs in zip(batch, flink.answers(batch), strict=True):
            ours = answer(question)
            kind = difference(question, theirs, ours)
            asked[question["op"]] += 1
            taken += theirs["ok"]
            result[f"{question['op']}: {kind}"] += bool(kind)
            if kind:
                print(json.dumps({"q": question, "flink": theirs, "ours": ours, "kind": kind}))
    print(f"# asked {dict(asked)}, of which Flink takes {taken / asked.total():.0%}")
    print(f"# {({kind: number for kind, number in result.items() if number}) or 'no difference'}")


def main() -> None:
    parser = argparse.ArgumentParser(description="Compare answers about types with the real Flink.")
    parser.add_argument("--oracle", default=".oracle", help="the directory that setup.sh filled")
    parser.add_argument("--count", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=time.time_ns())
    options = parser.parse_args()
    print(f"# --seed {options.seed}", flush=True)
    flink = Flink(options.oracle)
    try:
        run(flink, Drawing(random.Random(options.seed)), options.count)
    finally:
        flink.close()


if __name__ == "__main__":
    main()
