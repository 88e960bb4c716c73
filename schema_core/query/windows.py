"""The WINDOW clause of a SELECT block: windows based on one another, each of them checked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TypeAlias

from schema_core.errors import SchemaError, similar
from schema_core.expressions.over import check_declared, extended
from schema_core.expressions.type_checker import infer
from schema_core.query.scope import SelectScope
from schema_core.query.typing import Merged, unmerged_window
from schema_core.sql.syntax import Window

#: Name -> window.
Windows: TypeAlias = Mapping[str, Window]


def declared_windows(written: Iterable[tuple[str, Window]], merged: Merged) -> Windows:
    """Return the windows by name, each with what the windows declare that it is based on.

    A window can be based on one that is declared after it and, as in Flink, on itself.

    Raises:
        SchemaError: with code `invalid-window` for a name that is declared twice, in any case, or
            as `extended`; with code `unknown-window` for a base that does not exist.
    """
    windows: dict[str, Window] = {}
    taken: set[str] = set()
    for name, window in written:
        if name.upper() in taken:
            raise SchemaError(
                f"the window {name!r} is declared twice", code="invalid-window", span=window.span
            )
        taken.add(name.upper())
        windows[name] = unmerged_window(window, merged)
    complete: dict[str, Window] = {}
    for name in windows:
        _complete(name, windows, complete)
    return complete


def _complete(name: str, windows: Windows, complete: dict[str, Window]) -> None:
    """Complete a window and those that it is based on; chains of any length take one frame."""
    chain: list[str] = []
    current: str | None = name
    while current is not None and current not in complete and current not in chain:
        if current not in windows:
            raise SchemaError(
                f"there is no window {current!r}",
                code="unknown-window",
                hint=similar(current, windows),
                span=windows[chain[-1]].span,
            )
        chain.append(current)
        current = windows[current].name
    base = None
    if current is not None:  # complete, or the first of a circle
        base = complete.get(current) or replace(windows[current], name=None)
    for one in reversed(chain):
        own = replace(windows[one], name=None)
        base = own if base is None else extended(base, own)
        complete[one] = base


def check_windows(scope: SelectScope, windows: Windows) -> None:
    """Check every window of the WINDOW clause, also those that no call uses.

    Raises:
        SchemaError: with code `invalid-window`, or as `infer`.
    """
    for window in windows.values():
        check_declared(scope, window, infer)
