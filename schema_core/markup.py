"""HTML tables for notebooks, with all content escaped."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from schema_core.text import escaped


def text(value: object) -> str:
    """Escape a value for an HTML element or attribute.

    >>> text("<b>'&'</b>")
    '&lt;b&gt;&#x27;&amp;&#x27;&lt;/b&gt;'
    """
    from html import escape

    return escape(escaped(str(value)), quote=True)


def code(value: object) -> str:
    """Return a value as an HTML code element."""
    return f"<code>{text(value)}</code>" if value not in (None, "") else ""


def lines(value: str) -> str:
    r"""Return a text of several lines as one HTML code element for each line.

    >>> lines("SELECT 1\nFROM t")
    '<code>SELECT 1</code><br><code>FROM t</code>'
    """
    return "<br>".join(code(line) for line in value.split("\n"))


def table(heads: Sequence[str], rows: Iterable[Sequence[str]], caption: str = "") -> str:
    """Return an HTML table of cells that `text` and `code` made.

    >>> print(table(["a"], [[text("<")]]))
    <table>
    <thead><tr><th>a</th></tr></thead>
    <tbody>
    <tr><td>&lt;</td></tr>
    </tbody>
    </table>
    """
    found = ["<table>"]
    if caption:
        found.append(f"<caption>{text(caption)}</caption>")
    found.append(f"<thead>{_row('th', map(text, heads))}</thead>")
    found += ["<tbody>", *(_row("td", row) for row in rows), "</tbody>", "</table>"]
    return "\n".join(found)


def items(values: Iterable[str]) -> str:
    """Return an HTML list of escaped items."""
    found = [f"<li>{value}</li>" for value in values]
    return "\n".join(("<ul>", *found, "</ul>")) if found else ""


def _row(cell: str, values: Iterable[str]) -> str:
    return f"<tr>{''.join(f'<{cell}>{value}</{cell}>' for value in values)}</tr>"
