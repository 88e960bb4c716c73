"""The tables of docs/functions.md, printed from the rows of the function tables."""

from __future__ import annotations

from collections.abc import Iterator
from types import ModuleType

from schema_core.expressions import describe as in_words
from schema_core.expressions.functions import FAMILIES
from schema_core.expressions.signatures import Function, Kind, Rules
from schema_core.spark.compiler.functions import FORMS

#: Whose rules a row follows -> what that means for its arguments.
ARGUMENTS: dict[Rules, str] = {Rules.SQL: "as they are", Rules.TABLE_API: "cast"}


def code(text: str) -> str:
    return f"`{text}`".replace("|", "\\|")


def result(row: Function) -> str:
    """What a row gives, in the words of the rule that finds it."""
    words = in_words.result(row)
    return words if " " in words else code(words)


def remarks(row: Function) -> Iterator[str]:
    """What else there is to say."""
    if row.aliases:
        yield "also " + ", ".join(map(code, row.aliases))
    if row.kind is not Kind.SCALAR:
        yield f"{row.kind.value} function"
    if row.rewrite:
        yield "another way to write something; read and printed as that"
    if not row.deterministic:
        yield "gives something else every time"


def line(row: Function) -> str:
    forms = "<br>".join(code(row.shown(form)) for form in row.forms)
    rule = in_words.nullability(row)
    spark = "yes" if row.name in FORMS else "no"
    cells = (forms, result(row), rule, ARGUMENTS[row.rules], spark, "; ".join(remarks(row)))
    return f"| {' | '.join(cells)} |"


def family(module: ModuleType, rows: tuple[Function, ...]) -> list[str]:
    name = module.__name__.rpartition(".")[2]
    sentence = (module.__doc__ or "").split("\n\n")[0].replace("\n", " ").strip()
    heading = "| called as | gives | NULL | arguments | on Spark | remarks |"
    ordered = sorted(rows, key=lambda row: (not row.name[0].isalpha(), row.name))
    return [f"### {name}", "", sentence, "", heading, "|---" * 6 + "|", *map(line, ordered), ""]


def tables() -> str:
    """One table a family, one line a row."""
    return "\n".join(text for one in FAMILIES for text in family(one, one.FUNCTIONS))
