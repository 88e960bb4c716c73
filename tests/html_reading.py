"""Reads HTML: its tags, its text, and whether every element is closed."""

from __future__ import annotations

from html.parser import HTMLParser

#: Elements without content.
VOID = {"br", "meta", "input"}

#: Elements whose content is not text of the document.
CODE = {"script", "style"}


class Reading(HTMLParser):
    """The elements and the text of a document; `problems` are tags that do not match."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.cells: list[str] = []
        self.text = ""
        self.problems: list[str] = []
        self._open: list[str] = []
        self.feed(html)
        self.close()
        self.problems += [f"<{tag}> is not closed" for tag in self._open]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs
        if tag not in VOID:
            self._open.append(tag)
        if tag in ("td", "th"):
            self.cells.append("")

    def handle_endtag(self, tag: str) -> None:
        if not self._open or self._open.pop() != tag:
            self.problems.append(f"</{tag}> does not match")

    def handle_data(self, data: str) -> None:
        if CODE & set(self._open):
            return
        self.text += data
        if {"td", "th"} & set(self._open):
            self.cells[-1] += data


def read(html: str) -> Reading:
    """Return the content of a document, which must be well-formed."""
    result = Reading(html)
    assert result.problems == []
    return result
