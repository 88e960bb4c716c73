"""Results of statements on a terminal: tables that fit it, a pager, and rows that are updated."""

from __future__ import annotations

import io
import os
import shlex
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from textwrap import wrap

from rich.console import Console, JustifyMethod
from rich.live import Live
from rich.table import Table
from rich.text import Text

from schema_core.base.text import escaped, quantity
from schema_core.cli.progress import show_elapsed_time
from schema_core.cli.script import handle_signal
from schema_core.environment.planner import Change
from schema_core.environment.plans.plan_text import PlanText, TreeLine, draw_tree
from schema_core.environment.result import (
    KINDS,
    NULL,
    PrintStyle,
    TableResult,
    column_widths,
    display_width,
    printed_rows,
    raw_text,
    table_lines,
)
from schema_core.types import RowKind, TypeFamily
from schema_core.types.row_value import REMOVALS

#: Rows of a result that are shown, and the width of those that the pager has.
MAX_ROWS = 1_000
MAX_WIDTH = 10_000
#: The lines of a screen that are not rows of a table: its head, the number of rows, the prompt.
OTHER_LINES = 3
#: The characters of a tree's line beside its bars, at least.
MIN_TEXT = 20


def show_result(
    result: TableResult, console: Console, *, is_expanded: bool = False, is_changelog: bool = False
) -> None:
    """Print a result; not on a terminal, as Flink does.

    Args:
        result: The result.
        console: Where it is printed.
        is_expanded: Whether each row is a block with a line for each column.
        is_changelog: Whether the rows of a query in streaming mode are printed as they arrive, with
            their kinds; else the rows that they leave are shown, and updated.
    """
    if not console.is_terminal:
        result.print()
    elif result.style is PrintStyle.RAW:
        print_raw_text(PlanText(raw_text(result)), console)
    elif result.has_kinds and is_changelog:
        print_changelog(result, console)
    elif result.has_kinds:
        ResultView(result, console).show(is_expanded=is_expanded)
    else:
        with show_elapsed_time("running"):
            names, printed = printed_rows(result)
            rows = iter(printed)
            first = list(islice(rows, MAX_ROWS))
            has_more = next(rows, None) is not None
        if len(names) == len(first) == 1 and "\n" in (whole := first[0][0] or ""):
            print_text(whole, console)
            return
        print_rows(result, first, console, is_expanded=is_expanded)
        more = f" or more; the first {MAX_ROWS:,} are shown" if has_more else ""
        console.print(Text(f"{quantity(len(first), 'row')}{more}", "dim"))


def print_rows(
    result: TableResult,
    rows: Sequence[Sequence[str | None]],
    console: Console,
    *,
    is_expanded: bool = False,
) -> None:
    """Print rows by the pager if there are more than the screen has lines, else cut to its width.

    Cut cells end with an ellipsis; the pager has rows of at most `MAX_WIDTH`.
    """
    if is_expanded:
        text = "\n".join(expanded_lines(result, rows))
        print_text(text, console)
    elif len(rows) + OTHER_LINES > console.height and pager_command():
        unlimited = Console(file=io.StringIO(), width=MAX_WIDTH, color_system=None)
        with unlimited.capture() as capture:
            unlimited.print(result_table(result, rows, unlimited.width))
        show_in_pager(capture.get())
    else:
        console.print(result_table(result, rows, console.width))


def result_table(result: TableResult, rows: Sequence[Sequence[str | None]], width: int) -> Table:
    """Return a table: numbers are aligned to the right, the widest cells are cut to the width."""
    null = null_of(result)
    table = Table(box=None, pad_edge=False, header_style="bold")
    names = [Text(escaped(name)) for name in result.schema.get_column_names()]
    cells = [[null if cell is None else Text(escaped(cell)) for cell in row] for row in rows]
    natural = [max(cell.cell_len for cell in column) for column in zip(names, *cells, strict=True)]
    widths = fit_widths(natural, width - GAP * (len(names) - 1))
    for column, name, column_width in zip(result.schema.columns, names, widths, strict=True):
        side: JustifyMethod = "right" if column.data_type.is_(TypeFamily.NUMERIC) else "left"
        table.add_column(name, no_wrap=True, overflow="ellipsis", justify=side, width=column_width)
    for row in cells:
        table.add_row(*row)
    return table


#: The width between columns.
GAP = 2


def fit_widths(widths: Sequence[int], space: int) -> list[int]:
    """Return widths whose sum is at most the space, if each can have one; the widest are reduced.

    >>> fit_widths([2, 50, 9, 30], 40)
    [2, 14, 9, 15]
    """
    fitting = [min(width, max(space, 1)) for width in widths]
    while sum(fitting) > space and max(fitting) > 1:
        fitting[fitting.index(max(fitting))] -= 1
    return fitting


def null_of(result: TableResult) -> Text:
    """Return what is shown for NULL: nothing in listings, as Flink does."""
    return Text("" if result.style is PrintStyle.LISTING else NULL, "dim")


def expanded_lines(result: TableResult, rows: Iterable[Sequence[str | None]]) -> Iterator[str]:
    """Yield a block of lines for each row, with a line for each column."""
    names = [escaped(name) for name in result.schema.get_column_names()]
    width = max(map(display_width, names), default=0)
    for number, row in enumerate(rows, 1):
        yield f"-[ row {number} ]-"
        for name, cell in zip(names, row, strict=True):
            padding = " " * (width - display_width(name))
            yield f"{name}{padding} | {null_of(result).plain if cell is None else escaped(cell)}"


def print_raw_text(plan: PlanText, console: Console) -> None:
    """Print a text; the sections of a plan with their trees drawn, and wrapped to the width."""
    lines = []
    for title, body in plan.sections():
        if not title or console.options.ascii_only:
            print_text(plan, console)
            return
        lines += [f"== {title} ==", *wrap_tree(draw_tree(body), console.width), ""]
    print_text("\n".join(lines), console)


def wrap_tree(lines: Iterable[TreeLine], width: int) -> Iterator[str]:
    """Yield the lines of a tree, each wrapped below its bars; other lines are not wrapped."""
    for line in lines:
        if line.is_in_tree and len(str(line)) > width:
            yield from wrap(
                line.text,
                max(width, len(line.further) + MIN_TEXT),
                initial_indent=line.bars,
                subsequent_indent=line.further,
            )
        else:
            yield str(line)


def print_text(text: str, console: Console) -> None:
    """Print lines, by the pager if they are more than those of the screen."""
    lines = [escaped(line) for line in text.rstrip("\n").split("\n")]
    if len(lines) + 1 > console.height and pager_command():
        show_in_pager("\n".join([*lines, ""]))
        return
    for line in lines:
        console.print(Text(line), soft_wrap=True)


# --- the pager ------------------------------------------------------------------------------------


def pager_command() -> list[str]:
    """Return the command of the pager, empty for none: `PAGER`, or `less` if it is installed."""
    if os.environ.get("TERM") == "dumb" or sys.stdin is None or not sys.stdin.isatty():
        return []
    try:
        command = shlex.split(os.environ.get("PAGER", "less"), posix=os.name != "nt")
    except ValueError:  # an open quote
        return []
    return command if command and shutil.which(command[0]) else []


def show_in_pager(text: str) -> None:
    """Show a text in the pager until the user leaves it; there, Ctrl-C is the pager's.

    A pager that cannot be started is left out.
    """
    # quit if all fits, color, do not wrap, leave the text on the screen
    environment = {"LESS": "FRSX", **os.environ}
    try:
        # ignored here, but not, as with SIG_IGN, in the process of the pager
        with handle_signal(signal.SIGINT, lambda *_: None):
            subprocess.run(  # noqa: S603 - the pager of the user
                pager_command(), input=text, env=environment, encoding="utf-8", check=False
            )
    except OSError:
        print(text, end="")


# --- rows that are updated ------------------------------------------------------------------------


def print_changelog(result: TableResult, console: Console) -> None:
    """Print rows with their kinds as they arrive, each on one line of the terminal if it can be.

    Cells are cut to their share of the width, but not to less than three characters.
    """
    names, rows = printed_rows(result)
    widths = [len(KINDS), *(column_widths(result) or map(display_width, names[1:]))]
    if 1 + sum(width + 3 for width in widths) > console.width:
        share = max(3, (console.width - 6) // len(widths[1:]) - 3)
        widths = [len(KINDS), *(min(width, share) for width in widths[1:])]
    printed = (tuple(cell and escaped(cell) for cell in row) for row in rows)
    for line in table_lines(names, printed, widths):
        print(line, flush=True)


class ResultView:
    """The rows that the changes of a query leave, shown while they arrive.

    The view holds the last rows only: at most `MAX_ROWS`.
    """

    def __init__(self, result: TableResult, console: Console) -> None:
        self._result, self._console = result, console
        self._lock = threading.Lock()
        # row -> how often it occurs, the last one last
        self._rows: dict[tuple[str | None, ...], int] = {}
        self._count = self._changes = 0

    def apply(self, row: tuple[str | None, ...]) -> None:
        """Apply a change."""
        kind = row.kind if isinstance(row, Change) else RowKind.INSERT
        key = tuple(row)
        with self._lock:
            self._changes += 1
            if kind in REMOVALS:
                self._count -= 1
                self._rows[key] = self._rows.get(key, 1) - 1
                if not self._rows[key]:
                    del self._rows[key]
                return
            self._count += 1
            self._rows[key] = self._rows.pop(key, 0) + 1
            if len(self._rows) > MAX_ROWS:
                del self._rows[next(iter(self._rows))]

    def last_rows(self, number: int) -> list[tuple[str | None, ...]]:
        """Return the last rows, in the order in which they arrived or were updated."""
        with self._lock:
            repeated = (row for row, count in reversed(self._rows.items()) for _ in range(count))
            return list(islice(repeated, number))[::-1]

    def summary(self, shown: int) -> Text:
        more = f"; the last {shown:,} are shown" if shown < self._count else ""
        changes = f" after {self._changes:,} changes" if self._changes > self._count else ""
        return Text(f"{quantity(self._count, 'row')}{changes}{more}", "dim")

    def render(self) -> Table:
        """Return the last rows that fit the screen, and their number."""
        rows = self.last_rows(max(1, self._console.height - OTHER_LINES))
        grid = Table.grid()
        if rows:
            grid.add_row(result_table(self._result, rows, self._console.width))
        grid.add_row(self.summary(len(rows)) if rows else Text("waiting for rows", "dim"))
        return grid

    def show(self, *, is_expanded: bool = False) -> None:
        """Show the rows until the last has arrived; at Ctrl-C, print those on the screen."""
        shown = MAX_ROWS
        live = Live(console=self._console, get_renderable=self.render, transient=True)
        try:
            with live:
                for row in self._result.format_rows():
                    self.apply(row)
        except BaseException:
            shown = max(1, self._console.height - OTHER_LINES)
            raise
        finally:
            last = self.last_rows(shown)
            print_rows(self._result, last, self._console, is_expanded=is_expanded)
            self._console.print(self.summary(len(last)))
