"""The text of EXPLAIN, which notebooks fold and terminals draw as a tree."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from schema_core.base.plugins import load_higher

_HEADING = re.compile(r"^== (.+) ==$", re.MULTILINE)
#: A line of a tree: the bars of the nodes above it, its branch, and its content.
_LINE = re.compile(r"((?:[: ] {2})*)([:+]- )?(.*)")
_NODE = re.compile(r"(\w+)\((\w+=\[.*\])\)")
_ATTRIBUTE = re.compile(r", (?=\w+=\[)")
#: The characters of a branch, and of the lines below it, as they are drawn.
_DRAWN = {":- ": ("├─ ", "│  "), "+- ": ("└─ ", "   "), None: ("", "")}


class PlanText(str):
    r"""A string with sections below headings such as ``== Scans ==``.

    >>> plan = PlanText("== Scans ==\nnone\n\n== Spark SQL ==\nSELECT 1")
    >>> plan.sections()
    [('Scans', 'none'), ('Spark SQL', 'SELECT 1')]
    """

    __slots__ = ()

    def sections(self) -> list[tuple[str, str]]:
        """Return the title and the text of each section."""
        before, *parts = _HEADING.split(self)
        titles, texts = parts[::2], parts[1::2]
        head = [("", before.strip("\n"))] if before.strip() else []
        return head + [(title, text.strip("\n")) for title, text in zip(titles, texts, strict=True)]

    def _repr_html_(self) -> str:
        return str(load_higher("plan_text_html")(self))

    def _repr_pretty_(self, printer: Any, _cycle: bool) -> None:
        printer.text(str(self))


def join_plans(plans: Iterable[str]) -> PlanText:
    """Return several plans as one text."""
    return PlanText("\n\n".join(plans))


class TreeLine(NamedTuple):
    """A line of a drawn tree: its bars, its text, and the bars of further lines of the text."""

    bars: str
    text: str
    further: str

    @property
    def is_in_tree(self) -> bool:
        """Whether the line has bars, or its text may be continued below them."""
        return bool(self.bars or self.further)

    def __str__(self) -> str:
        return f"{self.bars}{self.text}"


def draw_tree(text: str) -> Iterator[TreeLine]:
    r"""Yield the lines of a section, its trees drawn with an attribute of a node on each line.

    >>> plan = "Join(kind=[CROSS JOIN], fields=[a])\n:- Values(rows=[1])\n+- Values(rows=[2])"
    >>> print(*draw_tree(plan), sep="\n")
    Join
    │ kind: CROSS JOIN
    │ fields: a
    ├─ Values
    │    rows: 1
    └─ Values
         rows: 2
    """
    lines = [_split_line(line) for line in text.split("\n")]
    depths = [len(above) + len(branch or "") for above, branch, _ in lines]
    for (above, branch, content), depth, next_ in zip(lines, depths, [*depths[1:], 0], strict=True):
        drawn = above.replace(":", "│")
        mark, below = _DRAWN[branch]
        has_inputs = next_ > depth
        inner = "│ " if has_inputs else "  " if branch else ""
        kind, attributes = _split_node(content)
        yield TreeLine(f"{drawn}{mark}", kind, f"{drawn}{below}{inner}")
        for attribute in attributes:
            bars = f"{drawn}{below}{inner or '  '}"
            yield TreeLine(bars, attribute, f"{bars}  ")


def _split_line(line: str) -> tuple[str, str | None, str]:
    match = _LINE.fullmatch(line)
    if match is None or (match[1] and not match[2]):  # indented, and not a branch of a tree
        return "", None, line
    return match[1], match[2], match[3]


def _split_node(content: str) -> tuple[str, list[str]]:
    """Return the kind and the attributes of ``Kind(name=[value], ...)``, else the whole."""
    match = _NODE.fullmatch(content)
    if match is None:
        return content, []
    attributes: list[str] = []
    for part in _ATTRIBUTE.split(match[2]):
        if attributes and attributes[-1].count("[") > attributes[-1].count("]"):
            attributes[-1] += f", {part}"
        else:
            attributes.append(part)
    if not all(attribute.endswith("]") for attribute in attributes):
        return content, []
    pairs = (attribute.partition("=") for attribute in attributes)
    return match[1], [f"{name}: {value[1:-1]}" for name, _, value in pairs]
