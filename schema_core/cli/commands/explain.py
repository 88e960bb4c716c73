"""``schema-core explain``: the pages of error codes."""

from __future__ import annotations

import sys
from typing import Annotated

import typer
from rich.console import Console
from rich.markdown import Markdown
from rich.table import Table
from rich.text import Text

from schema_core.cli import UNREADABLE
from schema_core.errors import NotFoundError
from schema_core.errors.codes import page, summaries


def explain(
    code: Annotated[str | None, typer.Argument(help="The code in brackets after 'error'.")] = None,
) -> None:
    """Print the page of an error code, or without a code a list of all.

    Exits with 2 for an unknown code.
    """
    console = Console(highlight=False)
    if code is None:
        print_all(console)
        return
    try:
        text = page(code)
    except NotFoundError as error:
        print(f"schema-core: {error.problem}", file=sys.stderr)
        print(f"  hint: {error.hint or 'list all with: schema-core explain'}", file=sys.stderr)
        raise typer.Exit(UNREADABLE) from None
    if console.is_terminal:
        console.print(Markdown(text))
    else:
        print(text, end="")


def print_all(console: Console) -> None:
    """Print every code with its summary, one per line, or as a table on a terminal."""
    if not console.is_terminal:
        print("\n".join(f"{code}: {sentence}" for code, sentence in summaries()))
        return
    table = Table("code", "meaning", box=None, pad_edge=False)
    for code, sentence in summaries():
        table.add_row(Text(code, "bold", no_wrap=True), Text(sentence))
    console.print(table)
