"""The types of Flink, Arrow and Spark: docs/types-and-formats.md, and a page of the site."""

from __future__ import annotations

from collections.abc import Iterable

from schema_core.mappings.arrow.schemas import from_arrow, to_arrow
from schema_core.mappings.arrow.types import ARROW_KINDS, from_layout
from schema_core.mappings.loss import TARGETS, LossKind, losses
from schema_core.mappings.spark.ddl import SQL_KEYWORDS
from schema_core.mappings.spark.pyspark_types import to_spark
from schema_core.mappings.spark.types import ATOMIC, PARAMETERIZED
from schema_core.types import parse_type

#: One type of every kind, with parameters that show what is preserved.
SHOWN = (
    "BOOLEAN", "TINYINT", "SMALLINT", "INT", "BIGINT", "FLOAT", "DOUBLE", "DECIMAL(12, 2)",
    "CHAR(3)", "VARCHAR(9)", "STRING", "BINARY(3)", "VARBINARY(9)", "BYTES", "DATE", "TIME(0)",
    "TIME(9)", "TIMESTAMP(3)", "TIMESTAMP(6)", "TIMESTAMP(9)", "TIMESTAMP_LTZ(3)",
    "TIMESTAMP_LTZ(9)", "TIMESTAMP(3) WITH TIME ZONE", "INTERVAL YEAR TO MONTH",
    "INTERVAL DAY TO SECOND(3)", "ARRAY<INT NOT NULL>", "MAP<STRING, INT>", "MULTISET<STRING>",
    "ROW<a INT NOT NULL>", "STRUCTURED<'com.acme.User', id INT>", "RAW('com.acme.User', 'AAFB')",
    "VARIANT", "BITMAP", "NULL",
)  # fmt: skip


def table(headings: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """A table in Markdown."""
    lines = [list(headings), *(list(row) for row in rows)]
    text = ["| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines]
    return "\n".join([text[0], "|" + "---|" * len(lines[0]), *text[1:]])


def code(text: object) -> str:
    return f"`{text}`" if str(text) else ""


def to_others() -> str:
    """Flink's types in Arrow and Spark."""
    types = [parse_type(sql) for sql in SHOWN]
    return table(
        ("Flink", "Arrow", "Spark"),
        (
            (code(sql), code(to_arrow(type_)), code(to_spark(type_).simpleString()))
            for sql, type_ in zip(SHOWN, types, strict=True)
        ),
    )


def what_is_lost() -> str:
    """The losses of these types in each target without exact-type metadata."""

    def words(sql: str, target: str) -> str:
        kinds = dict.fromkeys(loss.kind for loss in losses(parse_type(sql), target))
        return ", ".join(f"**{kind.word}**" if kind.changes_values else kind.word for kind in kinds)

    rows = [(code(sql), *(words(sql, target) for target in TARGETS)) for sql in SHOWN]
    return table(("Flink", *TARGETS), (row for row in rows if any(row[1:])))


def kinds_of_loss() -> str:
    """The kinds of loss in that table."""
    return table(
        ("kind", "meaning", "values change"),
        ((item.word, item.meaning, "yes" if item.changes_values else "") for item in LossKind),
    )


def from_arrow_types() -> str:
    """Every kind of Arrow type and the Flink type it is read as."""
    samples = [(kind, from_layout([kind.word, *kind.sample])) for kind in ARROW_KINDS]
    return table(
        ("Arrow", "for example", "Flink"),
        (
            (code(kind.word), code(arrow), code(from_arrow(arrow).as_summary_string()))
            for kind, arrow in samples
        ),
    )


def from_spark_types() -> str:
    """Every Spark type and the Flink type it is read as."""
    rows = [
        (code(word), code(SQL_KEYWORDS.get(word, word.upper())), code(type_.as_summary_string()))
        for word, type_ in ATOMIC.items()
    ]
    samples = {"decimal": (12, 2)}
    for word, build_type in PARAMETERIZED.items():
        numbers = samples.get(word, (7,))
        shown = f"{word}({','.join(map(str, numbers))})"
        rows.append((code(shown), code(shown.upper()), code(build_type(*numbers))))
    return table(("Spark's JSON", "Spark's DDL", "Flink"), rows)


def tables() -> str:
    """All tables with their headings, as on the page."""
    parts = (
        ("### Flink in Arrow and in Spark", to_others()),
        ("### Losses without exact-type metadata", what_is_lost()),
        ("### Kinds of loss", kinds_of_loss()),
    )
    return "\n" + "\n\n".join(f"{heading}\n\n{body}" for heading, body in parts) + "\n\n"


def page() -> str:
    """Return the page with the types of Arrow and Spark."""
    introduction = "[Types](../types-and-formats.md#tables) has the types of Flink."
    parts = (
        ("# Types of Arrow and Spark", introduction),
        ("## Arrow in Flink", from_arrow_types()),
        ("## Spark in Flink", from_spark_types()),
    )
    return "\n\n".join(f"{heading}\n\n{body}" for heading, body in parts)
