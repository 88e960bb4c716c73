"""Descriptions of Flink's built-in functions, as DESCRIBE FUNCTION EXTENDED shows them.

They are recorded from Flink (``built_in_functions.tsv``), by names of definitions such as
``charLength``, not of SQL.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from schema_core.base.lazy import NamedTuple

FILE = "built_in_functions.tsv"


class FunctionDescription(NamedTuple):
    """What Flink shows of a built-in function; `arguments` has a string for each overload."""

    kind: str
    is_deterministic: str
    supports_constant_folding: str
    arguments: tuple[str, ...]

    def rows(self, name: str) -> list[tuple[str, str]]:
        """Return the rows of DESCRIBE FUNCTION EXTENDED, with the name as written."""
        return [
            ("kind", self.kind),
            ("requirements", "[]"),
            ("is deterministic", self.is_deterministic),
            ("supports constant folding", self.supports_constant_folding),
            ("signature", "\n".join(f"{name}({argument})" for argument in self.arguments)),
        ]


def description_of(name: str) -> FunctionDescription | None:
    """Return the description of a built-in function in any case, or None.

    >>> description_of("concat_ws").arguments
    ('<CHARACTER_STRING>, <CHARACTER_STRING>...',)
    """
    return _descriptions().get(name.lower())


@cache
def _descriptions() -> dict[str, FunctionDescription]:
    """By name in lower case."""
    found: dict[str, FunctionDescription] = {}
    text = files(__package__).joinpath(FILE).read_text(encoding="utf-8")
    for line in text.splitlines():
        if line.startswith("#"):
            continue
        name, kind, deterministic, folding, arguments = line.split("\t")
        before = found.get(name.lower())
        overloads = (*before.arguments, arguments) if before else (arguments,)
        found[name.lower()] = FunctionDescription(kind, deterministic, folding, overloads)
    return found
