"""A file of SQL statements: read once, bounded, with the place of every mistake in the file."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path

import typer
from rich.console import Console
from rich.text import Text

from schema_core.cli.main import UNREADABLE
from schema_core.errors import Diagnostic
from schema_core.text import MAX_TEXT, caret


def read(path: Path) -> str:
    """The text of the file; the command ends with code 2 where it cannot be read."""
    try:
        with path.open(encoding="utf-8") as file:
            return file.read(MAX_TEXT + 1)
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        print(f"schema-core: cannot read {path}: {reason}", file=sys.stderr)
        raise typer.Exit(UNREADABLE) from None


def show(console: Console, path: Path, diagnostics: Iterable[Diagnostic]) -> None:
    """Print mistakes as compilers do: place, code, sentence, the line with carets, a hint."""
    for one in diagnostics:
        place = f"{path}:{one.line}:{one.column}" if one.line else str(path)
        console.print(Text.assemble((place, "bold"), ": ", (f"error[{one.code}]", "bold red"), ": ",
                                    one.message), soft_wrap=True)  # fmt: skip
        if one.path:
            console.print(Text(f"  in {', '.join(one.path)}"), soft_wrap=True)
        if one.text is not None and one.span is not None:
            line, marks = caret(one.text, one.span)
            console.print(Text(f"    {line}"), soft_wrap=True)
            console.print(Text(f"    {marks}", "red"), soft_wrap=True)
        if one.hint:
            console.print(Text.assemble(("  hint: ", "cyan"), one.hint), soft_wrap=True)
