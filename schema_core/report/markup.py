"""HTML tables and self-contained pages, with all content escaped."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from schema_core.base.text import escaped, quantity


def text(value: object) -> str:
    """Escape a value for an HTML element or attribute.

    >>> text("<b>'&'</b>")
    '&lt;b&gt;&#x27;&amp;&#x27;&lt;/b&gt;'
    """
    from html import escape

    return escape(escaped(str(value)), quote=True)


def code(value: object) -> str:
    """Return a code element, '' without a value."""
    return f"<code>{text(value)}</code>" if value not in (None, "") else ""


def lines(value: str) -> str:
    r"""Return one code element per line.

    >>> lines("SELECT 1\nFROM t")
    '<code>SELECT 1</code><br><code>FROM t</code>'
    """
    return "<br>".join(code(line) for line in value.split("\n"))


#: The most rows of a table in a notebook, which stores what it shows.
MAX_ROWS = 100


def table(
    heads: Sequence[str],
    rows: Iterable[Sequence[str]],
    caption: str = "",
    most: int | None = None,
    total: int | None = None,
    required: int | None = None,
) -> str:
    """Return a table of escaped cells; a note has the number of the rows after the first `most`.

    `total` is the number of rows if the given ones are the first of them. With `required`, columns
    after so many are left out if all their cells are empty.

    >>> print(table(["a"], [[text("<")]]))
    <table>
    <thead><tr><th>a</th></tr></thead>
    <tbody>
    <tr><td>&lt;</td></tr>
    </tbody>
    </table>
    """
    shown = [*rows]
    if required is not None:
        places = [n for n in range(len(heads)) if n < required or any(row[n] for row in shown)]
        heads = [heads[place] for place in places]
        shown = [[row[place] for place in places] for row in shown]
    left_out = (len(shown) if total is None else total) - len(shown[:most])
    parts = ["<table>"]
    if caption:
        parts.append(f"<caption>{text(caption)}</caption>")
    parts.append(f"<thead>{_row('th', map(text, heads))}</thead>")
    parts += ["<tbody>", *(_row("td", row) for row in shown[:most]), "</tbody>", "</table>"]
    if left_out:
        parts.append(items([quantity(left_out, "more row")]))
    return "\n".join(parts)


def text_block(value: str) -> str:
    r"""Return lines whose indentation is kept, at most `MAX_ROWS` of them.

    >>> text_block("a <\n  b")
    '<pre>a &lt;\n  b</pre>'
    """
    whole = value.rstrip("\n").split("\n")
    more = items([f"{len(whole) - MAX_ROWS:,} more lines"]) if len(whole) > MAX_ROWS else ""
    first = "\n".join(map(text, whole[:MAX_ROWS]))
    return f"<pre>{first}</pre>{more}"


def items(values: Iterable[str]) -> str:
    """Return a list of escaped items."""
    entries = [f"<li>{value}</li>" for value in values]
    return "\n".join(("<ul>", *entries, "</ul>")) if entries else ""


def details(summary: str, content: str, *, is_open: bool = False) -> str:
    """Return content folded below its summary."""
    state = " open" if is_open else ""
    return f"<details{state}><summary>{summary}</summary>{content}</details>"


def section(title: str, *parts: str) -> str:
    r"""Return parts below a heading.

    >>> section("a < b", code("c"))
    '<h2>a &lt; b</h2>\n<code>c</code>'
    """
    return "\n".join((f"<h2>{text(title)}</h2>", *parts))


def mark(kind: str) -> str:
    """Return the mark of a row, which `STYLE` colors.

    >>> mark("added")
    '<span class="sc-added">added</span>'
    """
    return f'<span class="sc-{kind}">{kind}</span>'


# --- pages ---------------------------------------------------------------------------------------

STYLE = """\
:root{color-scheme:light dark}
body{margin:2rem auto;max-width:80rem;padding:0 1rem;font:15px/1.5 system-ui,sans-serif;\
background:#fff;color:#1f2328}
table{border-collapse:collapse;margin:1rem 0}caption{text-align:left;font-weight:600}
th,td{border:1px solid #d0d7de;padding:.3rem .6rem;text-align:left;vertical-align:top}
th{background:#f6f8fa}code{font:13px ui-monospace,Menlo,Consolas,monospace}
summary{cursor:pointer}details ul{margin:0;padding-left:1.2rem}
input{font:inherit;padding:.3rem .6rem;width:20rem;max-width:100%}
.sc-scroll{overflow-x:auto}
tr:has(.sc-added){background:#dafbe1}tr:has(.sc-dropped),tr:has(.sc-error){background:#ffebe9}
tr:has(.sc-changed),tr:has(.sc-renamed),tr:has(.sc-warning){background:#fff8c5}
@media(prefers-color-scheme:dark){body{background:#0d1117;color:#e6edf3}
th,td{border-color:#30363d}th{background:#161b22}
tr:has(.sc-added){background:#0f3d1e}tr:has(.sc-dropped),tr:has(.sc-error){background:#5a1e1e}
tr:has(.sc-changed),tr:has(.sc-renamed),tr:has(.sc-warning){background:#3d2e00}}"""

#: Hides the rows without the search text, and unfolds the others.
SCRIPT = """\
const box = document.getElementById("sc-search");
box.addEventListener("input", () => {
  const wanted = box.value.trim().toLowerCase();
  for (const row of document.querySelectorAll("tbody tr")) {
    row.hidden = !row.textContent.toLowerCase().includes(wanted);
    for (const part of row.querySelectorAll("details")) part.open = wanted !== "" && !row.hidden;
  }
});"""


def page(title: str, *parts: str) -> str:
    """Return a self-contained page with a search field that hides rows of tables.

    It loads nothing; its content security policy forbids every script but its own. `title` is
    escaped here; `parts` are HTML of this module's functions.
    """
    from base64 import b64encode
    from hashlib import sha256

    digest = b64encode(sha256(SCRIPT.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'"
    return "\n".join(
        (
            "<!DOCTYPE html>",
            '<html lang="en">',
            '<head><meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{text(policy)}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>{text(title)}</title>",
            f"<style>{STYLE}</style></head>",
            f"<body><h1>{text(title)}</h1>",
            '<input id="sc-search" type="search" placeholder="Search" aria-label="Search">',
            *parts,
            f"<script>{SCRIPT}</script>",
            "</body></html>",
        )
    )


def scroll(content: str) -> str:
    """Make content that is wider than the page scroll."""
    return f'<div class="sc-scroll">{content}</div>'


def _row(cell: str, values: Iterable[str]) -> str:
    return f"<tr>{''.join(f'<{cell}>{value}</{cell}>' for value in values)}</tr>"
