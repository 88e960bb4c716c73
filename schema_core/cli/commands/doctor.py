"""``schema-core doctor`` and ``explain``: the installation, and pages of errors."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.console import Console
from rich.markdown import Markdown
from rich.table import Column, Table
from rich.text import Text

from schema_core.base.caching import cache_usage
from schema_core.cli import installation, script
from schema_core.errors import NotFoundError
from schema_core.errors.codes import page, summaries


def doctor(
    details: Annotated[
        bool, typer.Option("--details", help="List versions, implementations and caches.")
    ] = False,
) -> None:
    """Show what works, what does not, and how to install it.

    It runs without the extra `cli`, too.
    """
    console = Console(highlight=False)
    if not details:
        console.print(Text(installation.summary()))
        return
    where = Column("where, or why not", overflow="fold")
    table = Table("what", "found", where, box=None, pad_edge=False)
    for component in installation.components():
        table.add_row(*map(Text, component[:3]))
    console.print(table)
    console.print()
    console.print(caches())


def caches() -> Table:
    """Return a table of the caches of the imported modules."""
    table = Table(
        "cache", *(Column(name, justify="right") for name in ("entries", "size", "at most")), "of",
        box=None, pad_edge=False,
    )  # fmt: skip
    for usage in cache_usage():
        name = usage.name.removeprefix("schema_core.")
        numbers = (f"{number:,}" for number in (usage.entries, usage.size, usage.budget))
        table.add_row(Text(name, overflow="fold"), *numbers, usage.unit)
    return table


def explain(
    code: Annotated[str | None, typer.Argument(help="The code in brackets after 'error'.")] = None,
) -> None:
    """Print the page of an error code, or without a code a list of all.

    Exits with 2 for an unknown code.
    """
    console = Console(highlight=False)
    if code is not None:
        try:
            text = page(code)
        except NotFoundError as error:
            hint = error.hint or "list all with: schema-core explain"
            raise script.report_unable(error.problem, hint) from None
        if console.is_terminal:
            console.print(Markdown(text))
        else:
            print(text, end="")
    elif console.is_terminal:
        table = Table("code", "meaning", box=None, pad_edge=False)
        for name, sentence in summaries():
            table.add_row(Text(name, "bold", no_wrap=True), Text(sentence))
        console.print(table)
    else:
        print("\n".join(f"{name}: {sentence}" for name, sentence in summaries()))
