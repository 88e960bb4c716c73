"""Draws questions about schemas, property maps, builders and identifiers, for Flink to answer too.

Names, comments, types and options are chosen to be awkward; maps are composed as Flink writes them,
then harmed. One in a few questions is sound, so that both sides have something to accept.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from fuzz.harming_maps import harmed
from properties.recorded import Question
from schema_core.base.text import quote_identifier

#: Names as users and fiends choose them.
PLAIN = ("a", "b", "c", "id", "ts", "user_id", "A", "name")
ODD = (
    "a.b", "a,b", "a b", ",", ",a", "a,", "`", "``", "a`b", "'", "it's", '"', "$a", "a-b", "1a",
    "0", "_", "%", "\\", "a\\b", "#", "--", "/*x*/", "select", "SELECT", "order", "null",
    "PROCTIME", "ROW<a INT>", "\u00e4", "\u65e5\u672c", "\U0001f600", "e\u0301", "\u00e9",
    "\u0130", "\u200b", "\ufeff", "\u00a0", "\u2028", "\t", "\r", "a\nb", "\x00", "\x1a", " ", "  ",
    "", " a", "a ", ")", "]", "(",
    "schema.0.name", "comment", "x" * 200, "\ufffd", "\u3000a", "data-type", "a;b", "(a)", "[a]",
    "f0", "EXPR$0", "\x85", "\x1c", "\u180e",
)  # fmt: skip
COMMENTS = (
    "plain", "it's", "''", '"quoted"', "", " ", "two\nlines", "`", "COMMENT 'x'", "\u00fc\u2028",
    "\U0001f600", "a,b", "\\", "\t", "%s", "{}",
)  # fmt: skip

TYPES = (
    "INT", "INT", "BIGINT", "STRING", "STRING", "BOOLEAN", "DOUBLE", "DATE", "TIME(0)", "TIME(9)",
    "DECIMAL(10, 2)", "DECIMAL(38, 38)", "CHAR(3)", "VARCHAR(1)", "BINARY(2)", "BYTES",
    "TIMESTAMP(3)", "TIMESTAMP(3)", "TIMESTAMP_LTZ(3)", "TIMESTAMP_LTZ(3)", "TIMESTAMP(6)",
    "TIMESTAMP(0)", "TIMESTAMP_LTZ(9)", "TIMESTAMP(3) WITH TIME ZONE", "INTERVAL YEAR TO MONTH",
    "INTERVAL DAY(3) TO SECOND(3)", "VARIANT", "NULL", "BITMAP", "DECIMAL", "TIMESTAMP",
    "LEGACY('DECIMAL', 'DECIMAL')", "DESCRIPTOR",
)  # fmt: skip
NESTED = (
    "ARRAY<{}>", "MULTISET<{}>", "MAP<{}, {}>", "ROW<{n} {}, {m} {}>", "ROW<x {}>", "{} ARRAY",
    "ROW<{n} {} 'it''s', {m} {}>", "ROW<>", "ROW({n} {})", "STRUCTURED<'com.x.P', {n} {}, {m} {}>",
)  # fmt: skip
WRONG_TYPES = (
    "INTT", "", " ", "ROW<", "ROW<a>", "VARCHAR(0)", "DECIMAL(39)", "DECIMAL(2, 3)", "int", " INT ",
    "INT NULL", "INT NOT  NULL", "INT /* c */", "TIMESTAMP(10)", "ROW<a INT, a INT>", "my.udt",
    "ARRAY<INT", "INT NOT NULL NOT NULL", "VARCHAR", "STRING(3)", "RAW('x', 'y')", "INT,", "\x00",
    "ROW<`` INT>", "MAP<INT>", "INTERVAL", "CHARACTER VARYING(7)", "DOUBLE PRECISION", "DEC(4)",
    "TIMESTAMP_LTZ(3) NOT NULL", "time(3) without time zone", "INT -- c", "`INT`", "LEGACY('x')",
)  # fmt: skip

#: `{0}` is a quoted column, `{1}` another.
EXPRESSIONS = (
    "{0}", "{0} IS NULL", "{0} = {1}", "CASE WHEN {0} IS NOT NULL THEN 1 ELSE 2 END", "1 + 1",
    "'it''s'", "PROCTIME()", "COALESCE({0}, {1})", "CAST({0} AS STRING)", "UPPER({0})", "{0} + 1",
    "{0} - INTERVAL '5' SECOND", "NULLIF({0}, {1})", "CAST({0} AS TIMESTAMP(3))", "ROW({0}, {1})",
    "ARRAY[{0}]", "CURRENT_TIMESTAMP", "{0} || 'x'", "TO_TIMESTAMP({0})", "U&'\\00e4'", "NULL",
    "`nope`", "", "(", "1 +", "SUM({0})", "{0}.x", "a AS b", "1;", "x'0f'", "/* c */ 1", "-- c",
    "CAST(NULL AS INT)", "{0} IN (1, 2)", "CHAR_LENGTH({0})", "MD5(CAST({0} AS STRING))", "*",
    "{0} BETWEEN {0} AND {1}", "TRY_CAST({0} AS INT)", "SOURCE_WATERMARK()",
)  # fmt: skip
WATERMARKS = (
    "{0}", "{0} - INTERVAL '5' SECOND", "SOURCE_WATERMARK()", "CAST({0} AS TIMESTAMP(3))",
    "CAST(NULL AS TIMESTAMP(3))", "{0} - INTERVAL '1' MONTH", "1", "", "{1}", "PROCTIME()",
    "{0} + INTERVAL '0.001' SECOND", "COALESCE({0}, {1})",
)  # fmt: skip
OPTIONS = (
    "connector", "topic", "schema-registry.url", "schema", "schemaX", "schema.x", "value.schema",
    "is_generic", "comment", "snapshot", "partition.keysX", "partition.keys.0.name", "start-mode",
    "distribution.kind", "distribution.buckets", "distributionX", "original-query", "refresh-mode",
    "input-schema.0.name", "output-schema.x", "schema.0.name", "schema.0.comment", "a.b", "", " ",
    "schema.primary-key.name", "\u00e4", "definition-query", "'", "k",
    "refresh-handler-bytes", "expanded-query", "freshness-unit", "password", "schema.0.data-type",
)  # fmt: skip

MODES = ("streaming", "batch")
KINDS = ("HASH", "RANGE", "UNKNOWN")


class MapDrawing:
    """An endless source of questions; the same for the same `draw`."""

    def __init__(self, draw: random.Random) -> None:
        self.draw = draw

    def questions(self) -> Iterator[Question]:
        """Questions of all families in turn."""
        while True:
            for question in QUESTIONS:
                yield {**question(self), "mode": self.draw.choice(MODES)}

    def chance(self, share: float) -> bool:
        return self.draw.random() < share

    def one(self, values: Sequence[Any]) -> Any:
        return self.draw.choice(values)

    def name(self, odd: float = 0.3) -> str:
        if self.chance(0.05):
            return "".join(self.one("ab`'\".,\\ \u00e4-_0") for _ in range(self.draw.randint(1, 6)))
        return str(self.one(ODD if self.chance(odd) else PLAIN))

    def comment(self) -> str:
        return str(self.one(COMMENTS))

    def type(self, depth: int = 2) -> str:
        if self.chance(0.01):
            return str(self.one(WRONG_TYPES))
        text = str(self.one(TYPES))
        if depth and self.chance(0.25):
            shape = str(self.one(NESTED))
            for hole in ("{n}", "{m}"):
                shape = shape.replace(hole, quote_identifier(self.name(0.4)))
            while "{}" in shape:
                shape = shape.replace("{}", self.type(depth - 1), 1)
            text = shape
        return text + (" NOT NULL" if self.chance(0.4) else "")

    def row_type(self) -> str:
        fields = (f"{quote_identifier(self.name())} {self.type(1)}" for _ in range(3))
        return f"ROW<{', '.join(fields)}>" if self.chance(0.8) else self.type()

    def expression(self, expressions: Sequence[str], names: Sequence[str]) -> str:
        chosen = [quote_identifier(self.one(names)) for _ in "01"] if names else ["`a`", "`b`"]
        text = str(self.one(expressions))
        for place, name in enumerate(chosen):
            text = text.replace(f"{{{place}}}", name)
        return text

    def some(self, names: Sequence[str], most: int = 3) -> list[str]:
        """Some names, few of which are of nothing or come twice."""
        result = [str(self.one(names)) for _ in range(self.draw.randint(1, most))] if names else []
        if not self.chance(0.05):
            result = list(dict.fromkeys(result))
        return [*result, self.name()] if self.chance(0.05) or not result else result

    # --- schemas -------------------------------------------------------------------------------

    def calls(self, most: int = 6) -> list[Question]:
        """Calls of a builder, in the order that users write them in."""
        calls = [
            self.stored() for _ in range(self.draw.randint(0 if self.chance(0.1) else 1, most))
        ]
        if not self.chance(0.03):
            calls = list({call["name"]: call for call in calls}.values())
        names = [call["name"] for call in calls]
        if self.chance(0.4):
            calls += [self.computed(names) for _ in range(self.draw.randint(1, 2))]
        for call in calls:
            if self.chance(0.25):
                call["comment"] = self.comment()
        if self.chance(0.4):
            calls += self.rest(calls, names)
        if self.chance(0.05):
            self.draw.shuffle(calls)
        return calls

    def stored(self) -> Question:
        name, type_ = self.name(), self.type()
        if self.chance(0.75):
            return {"kind": "physical", "name": name, "type": type_}
        key = self.one((None, None, name, self.name(), "timestamp", ""))
        virtual = self.chance(0.5)
        return {"kind": "metadata", "name": name, "type": type_, "key": key, "virtual": virtual}

    def computed(self, names: Sequence[str]) -> Question:
        text = self.expression(EXPRESSIONS, names)
        return {"kind": "computed", "name": self.name(), "expr": text}

    def rest(self, calls: Sequence[Question], names: Sequence[str]) -> Iterator[Question]:
        """Watermark, keys and indexes, most of them over columns that fit."""
        times = [call["name"] for call in calls if "TIMESTAMP" in call.get("type", "")[:13]]
        if (times and self.chance(0.7)) or self.chance(0.05):
            column = self.one(times or [self.name()])
            text = self.expression(WATERMARKS, [column] if self.chance(0.8) else list(names))
            yield {"kind": "watermark", "column": column, "expr": text}
        certain = [call["name"] for call in calls if call.get("type", "").endswith("NOT NULL")]
        keyed = certain if certain and self.chance(0.9) else names
        if (certain and self.chance(0.6)) or self.chance(0.1):
            yield self.named("primary_key", keyed)
        if self.chance(0.3):
            yield self.named("index", names)
        if self.chance(0.15):
            yield self.named("immutable", names)

    def named(self, kind: str, names: Sequence[str]) -> Question:
        call: Question = {"kind": kind, "columns": self.some(names)}
        return call | ({"name": self.name()} if self.chance(0.5) else {})

    # --- tables --------------------------------------------------------------------------------

    def options(self) -> dict[str, str]:
        keys = [self.one(OPTIONS) for _ in range(self.draw.randint(0, 4))]
        return {key: self.one(("x", "", "1", "true", "HASH", self.comment())) for key in keys}

    def distribution(self, names: Sequence[str]) -> Question | None:
        if self.chance(0.6):
            return None
        buckets = self.one((None, None, 1, 4, 0, -1, 2**31 - 1))
        keys = self.some(names) if self.chance(0.7) else []
        return {"kind": self.one(KINDS), "keys": keys, "buckets": buckets}

    def table(self) -> Question:
        calls = self.calls()
        names = [call["name"] for call in calls if call["kind"] == "physical"]
        question: Question = {"op": "table", "schema": calls, "options": self.options()}
        question["partition_keys"] = self.some(names, 2) if names and self.chance(0.3) else []
        question["comment"] = self.one((None, self.comment()))
        question["distribution"] = self.distribution(names)
        question["snapshot"] = self.one((None, None, None, 0, 42, -(2**63)))
        return {key: value for key, value in question.items() if value is not None}

    def properties(self) -> dict[str, str]:
        """The map of a table as Flink writes it, though not all of these resolve."""
        calls = self.calls()
        result = numbered("schema", [self.row(call) for call in calls if "columns" not in call])
        for call in calls:
            if "columns" in call:
                place = {"primary_key": "primary-key", "index": "index.0"}.get(call["kind"])
                start = f"schema.{place or 'immutable'}"
                result[f"{start}.name"] = call.get("name", "n")
                result[f"{start}.columns"] = ",".join(call["columns"])
        names = [call["name"] for call in calls if call["kind"] == "physical"]
        if names and self.chance(0.3):
            result |= numbered("partition.keys", [{"name": item} for item in self.some(names, 2)])
        if (distribution := self.distribution(names)) is not None:
            keys = [{"name": item} for item in distribution["keys"]]
            result |= {"distribution.kind": distribution["kind"]}
            result |= numbered("distribution.keys", keys)
            if distribution["buckets"] is not None:
                result["distribution.buckets"] = str(distribution["buckets"])
        result |= {"comment": self.comment()} if self.chance(0.3) else {}
        result |= {"snapshot": self.one(("0", "-1", "42"))} if self.chance(0.2) else {}
        return result | self.options()

    def row(self, call: Question) -> dict[str, str]:
        """The row of a column or of a watermark, under keys that `numbered` finishes."""
        if call["kind"] == "watermark":
            expression = {"strategy.expr": call["expr"], "strategy.data-type": "TIMESTAMP(3)"}
            return {"rowtime": call["column"], **expression}
        row = {"name": call["name"], "data-type": call.get("type", "INT")}
        if call["kind"] == "computed":
            row["expr"] = call["expr"]
        if call["kind"] == "metadata":
            row["metadata"] = call["name"] if call["key"] is None else call["key"]
            row["virtual"] = "true" if call["virtual"] else "false"
        return row | ({"comment": call["comment"]} if "comment" in call else {})

    def harmed(self, properties: dict[str, str]) -> dict[str, str]:
        """The map with up to three kinds of damage."""
        for _ in range(self.one((0, 0, 0, 1, 1, 2, 3))):
            properties = harmed(self.draw, properties)
        return properties

    def deserialize(self) -> Question:
        question: Question = {"op": "deserialize", "properties": self.harmed(self.properties())}
        if self.chance(0.1):
            fallback = self.one(("old", "generic.table.schema", "input-schema", "schema.index", ""))
            question["fallback"] = fallback
            if self.chance(0.7):
                question["properties"] = {
                    key.replace("schema.", f"{fallback}.", 1): value
                    for key, value in question["properties"].items()
                }
        return question

    def refresh(self) -> dict[str, str]:
        result = {
            "original-query": self.one(("SELECT 1", "", "q")),
            "expanded-query": self.one(("SELECT 1", "", "q")),
            "freshness-interval": self.one(("3", "30", "1", "60", "0", "-1", "x", "03", "1.5")),
            "freshness-unit": self.one(("SECOND", "MINUTE", "HOUR", "DAY", "minute", "WEEK")),
            "logical-refresh-mode": self.one(("CONTINUOUS", "FULL", "AUTOMATIC", "NONE")),
            "refresh-mode": self.one(("CONTINUOUS", "FULL", "full")),
            "refresh-status": self.one(("INITIALIZING", "ACTIVATED", "SUSPENDED", "")),
            "refresh-handler-desc": self.comment(),
            "refresh-handler-bytes": self.one(("AQL/", "aGFuZGxlcg==", "aGFuZGxlcg", "", "!", "a")),
        }
        sound = ("SELECT 1", "3", "MINUTE", "AUTOMATIC", "CONTINUOUS", "ACTIVATED", "AQL/", "q")
        if self.chance(0.6):
            result = {
                key: value if value in sound else found_first(key) for key, value in result.items()
            }
        return result

    def deserialize_materialized_table(self) -> Question:
        properties = self.harmed(self.properties() | self.refresh())
        return {"op": "deserialize_materialized_table", "properties": properties}

    def deserialize_model(self) -> Question:
        sides = [
            {key.replace("schema.", side, 1): value for key, value in self.properties().items()}
            for side in ("input-schema.", "output-schema.")
        ]
        return {"op": "deserialize_model", "properties": self.harmed(sides[0] | sides[1])}

    def materialized_table(self) -> Question:
        refresh, table = self.refresh(), self.table()
        table |= {
            "op": "materialized_table",
            "original_query": refresh["original-query"],
            "expanded_query": refresh["expanded-query"],
            "logical_refresh_mode": self.one(("CONTINUOUS", "FULL", "AUTOMATIC")),
            "refresh_status": self.one(("INITIALIZING", "ACTIVATED", "SUSPENDED")),
        }
        if self.chance(0.7):
            unit = self.one(("SECOND", "MINUTE", "HOUR", "DAY"))
            table["freshness"] = {"interval": refresh["freshness-interval"], "unit": unit}
        if self.chance(0.5):
            table["refresh_mode"] = self.one(("CONTINUOUS", "FULL"))
        return table

    def model(self) -> Question:
        question: Question = {"op": "model", "options": self.options()}
        question |= {"input_schema": self.calls(3), "output_schema": self.calls(3)}
        return question | ({"comment": self.comment()} if self.chance(0.5) else {})

    # --- builders and identifiers --------------------------------------------------------------

    def builder(self) -> Question:
        form = self.one(tuple(FORMS))
        return {"op": "builder", "form": form, **FORMS[form](self)}

    def column(self) -> Question:
        steps = [
            self.one((["rename", self.name()], ["copy", self.type(1)], ["comment", self.comment()],
                      ["comment", None]))
            for _ in range(self.draw.randint(0, 3))
        ]  # fmt: skip
        column = self.stored() | ({"comment": self.comment()} if self.chance(0.5) else {})
        return {"column": column, "then": steps}

    def fields(self) -> Question:
        names = [self.name() for _ in range(self.draw.randint(0, 4))]
        types = [self.type() for _ in names] + (["INT"] if self.chance(0.1) else [])
        return {"names": names, "types": types}

    def descriptor(self) -> Question:
        calls = self.calls(4)
        names = [call["name"] for call in calls if call["kind"] == "physical"]
        made: Question = {"connector": self.one(("x", "", "kafka"))}
        if self.chance(0.8):
            made["schema"] = calls
        if self.chance(0.5):
            made["options"] = self.options()
        if self.chance(0.3):
            made["partition_keys"] = self.some(names, 2) if names else []
        if self.chance(0.4):
            made["comment"] = self.comment()
        if (distribution := self.distribution(names)) is not None:
            made["distribution"] = distribution
        return {"descriptor": made, "to_table": "schema" in made and self.chance(0.5)}

    def identifier(self) -> Question:
        form = self.one(("parse", "parse", "parse", "unresolved", "qualify", "object_identifier",
                         "object_path", "object_path_of", "escape"))  # fmt: skip
        parts = [self.name(0.6) for _ in range(self.draw.randint(1, 4))]
        match form:
            case "parse":
                dot = self.one((".", ".", ".", " . ", "..", ";", "\n.", ". ", " "))
                given: Question = {"in": dot.join(map(self.written_name, parts))}
            case "object_path" | "escape":
                given = {"in": ".".join(parts[:3])}
            case "object_identifier":
                given = {"parts": (parts * 3)[:3]}
            case "object_path_of":
                given = {"parts": (parts * 2)[:2]}
            case _:
                given = {"parts": parts}
        return {"op": "identifier", "form": form, **given}

    def written_name(self, name: str) -> str:
        return quote_identifier(name) if self.chance(0.5) else name

    def schema(self) -> Question:
        return {"op": "schema", "schema": self.calls()}


def found_first(key: str) -> str:
    """A sound value for a key of materialized tables."""
    return {
        "freshness-interval": "3",
        "freshness-unit": "MINUTE",
        "logical-refresh-mode": "AUTOMATIC",
        "refresh-mode": "CONTINUOUS",
        "refresh-status": "ACTIVATED",
        "refresh-handler-bytes": "AQL/",
    }.get(key, "SELECT 1")


def numbered(prefix: str, rows: Sequence[dict[str, str]]) -> dict[str, str]:
    """Return rows as a map; rows of watermarks have keys of their own."""
    columns = [row for row in rows if "rowtime" not in row]
    watermarks = [row for row in rows if "rowtime" in row]
    return {
        f"{start}.{number}.{key}": value
        for start, part in ((prefix, columns), (f"{prefix}.watermark", watermarks))
        for number, row in enumerate(part)
        for key, value in row.items()
    }


#: Form of a builder's question -> what it asks.
FORMS: dict[str, Callable[[MapDrawing], Question]] = {
    "schema_string": lambda item: {"schema": item.calls()},
    "schema_equals": lambda item: (
        {"left": (calls := item.calls(3)), "right": calls if item.chance(0.5) else item.calls(2)}
    ),
    "from_schema": lambda item: {"parts": [item.calls(3), item.calls(3)]},
    "from_row": lambda item: {"type": item.row_type()},
    "from_fields": MapDrawing.fields,
    "from_resolved": lambda item: {"schema": item.calls()},
    "summaries": lambda item: {"schema": item.calls()},
    "row_types": lambda item: {"schema": item.calls()},
    "column": MapDrawing.column,
    "constraint": lambda one: {
        "name": one.name(),
        "columns": one.some(PLAIN) if one.chance(0.9) else [],
        "type": one.one(("pk", "immutable", "index")),
    },
    "distribution": lambda one: {
        "distribution": {
            "kind": one.one(KINDS),
            "keys": one.some(ODD) if one.chance(0.7) else [],
            "buckets": one.one((None, 0, 1, 4, -2)),
        }
    },
    "descriptor": MapDrawing.descriptor,
}

#: The families, in the shares in which they are drawn.
QUESTIONS: tuple[Callable[[MapDrawing], Question], ...] = (
    MapDrawing.schema, MapDrawing.table, MapDrawing.deserialize, MapDrawing.builder,
    MapDrawing.identifier, MapDrawing.deserialize, MapDrawing.table,
    MapDrawing.deserialize_materialized_table, MapDrawing.builder, MapDrawing.deserialize_model,
    MapDrawing.materialized_table, MapDrawing.model, MapDrawing.schema, MapDrawing.deserialize,
)  # fmt: skip
