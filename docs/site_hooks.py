"""Hooks of MkDocs: pages from outside of `docs`, links to files without a page, and a check.

Sources are written for a checkout and the Markdown of GitHub. On the site, a link to a file without
a page becomes the path of the file. A site that loads anything from another host is an error.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
CODES = ROOT / "schema_core" / "errors" / "codes"

#: Path of the page -> the file that it shows.
ADDED = {
    "project/contributing.md": ROOT / "CONTRIBUTING.md",
    "project/changelog.md": ROOT / "CHANGELOG.md",
    "project/security.md": ROOT / "SECURITY.md",
}
ERROR_CODES = "reference/error-codes.md"

#: A link: text, target, anchor.
LINK = re.compile(r"\[([^\[\]]*)\]\((?![a-z]+:|#)([^)#\s]+)(#[^)\s]*)?\)")

#: Pictures in `docs`, which MkDocs copies.
PICTURES = (".png", ".svg")

#: A code span, and the beginning of a list item.
CODE = re.compile(r"`[^`]+`")
ITEM = re.compile(r"[-*] |\d+\. ")

#: What a browser would load from another host, in HTML and in style sheets.
REMOTE = re.compile(
    r"<(?:script|link|img|iframe|source)\b[^>]*\b(?:src|href)=[\"']?(?:https?:)?//[^\s>]*"
    r"|(?:url\(|@import\s+)[\"']?(?:https?:)?//[^\s)]*"
)


def error_codes() -> str:
    """Return one page with those of all error codes."""
    pages = [
        re.sub(r"^#", "##", page.read_text(encoding="utf-8")) for page in sorted(CODES.glob("*.md"))
    ]
    introduction = (
        "Every error has a code, which stays the same; `schema-core explain CODE` prints its page."
    )
    return "\n\n".join(["# Error codes", introduction, *pages])


def table_page(module: str, function: str = "page") -> Callable[[], str]:
    """Return what generates a page of tables; its module is imported when the page is needed."""

    def generate() -> str:
        if str(ROOT) not in sys.path:
            sys.path.insert(0, str(ROOT))
        page: str = getattr(import_module(f"docs.{module}"), function)()
        return page

    return generate


#: Pages that are only on the site -> what generates them.
GENERATED: dict[str, Callable[[], str]] = {
    ERROR_CODES: error_codes,
    "reference/all-functions.md": table_page("function_tables"),
    "reference/arrow-and-spark-types.md": table_page("mapping_tables"),
    "reference/dialect-types.md": table_page("dialect_tables", "types"),
    "reference/stored-types.md": table_page("compatibility_tables"),
    "reference/pyflink-names.md": table_page("pyflink_tables"),
}

#: A file with data -> the page of the site that shows them.
SHOWN_BY = {
    ROOT / "schema_core" / "expressions" / "functions": "reference/all-functions.md",
    ROOT / "schema_core" / "mappings" / "dialects" / "type_rows.py": "reference/dialect-types.md",
    ROOT / "schema_core" / "mappings" / "arrow" / "types.py": "reference/arrow-and-spark-types.md",
    ROOT / "schema_core" / "mappings" / "stored_types.py": "reference/stored-types.md",
    DOCS / "pyflink_reasons.py": "reference/pyflink-names.md",
}


def page_of(target: Path) -> str | None:
    """Return the page that shows a file, by its path within `docs`; None if there is none."""
    for page, file in ADDED.items():
        if target == file:
            return page
    if target in SHOWN_BY:
        return SHOWN_BY[target]
    if target.parent == CODES and target.suffix == ".md":
        return f"{ERROR_CODES}#{target.stem}"
    if target == ROOT / "README.md":
        return "index.md"
    if target.is_dir():
        target /= "index.md"
    if target.is_relative_to(DOCS) and target.suffix == ".md":
        return target.relative_to(DOCS).as_posix()
    return None


def with_local_links(text: str, page: str, source: Path) -> str:
    """Return the text of a page with links that work on the site.

    Args:
        text: The text, with links relative to its source.
        page: The path of the page within `docs`.
        source: The file that has the text.
    """

    def replaced(link: re.Match[str]) -> str:
        label, target, anchor = link[1], link[2], link[3] or ""
        file = Path(os.path.normpath(source.parent / target))
        if file.suffix in PICTURES and file.is_relative_to(DOCS):
            return link[0]
        if (result := page_of(file)) is not None:
            relative = os.path.relpath(result, Path(page).parent).replace(os.sep, "/")
            return f"[{label}]({relative}{anchor})"
        path = file.relative_to(ROOT).as_posix()
        return f"`{path}`" if label.strip("`") in (path, file.name) else f"{label} (`{path}`)"

    return LINK.sub(replaced, text)


def python_markdown(text: str) -> str:
    """Return the text in the dialect of Python-Markdown.

    It requires four spaces before the parts of a list item, and reads a backslash before a pipe
    within a code span of a table as itself.
    """
    lines, in_list, in_fence = [], False, False
    for line in text.split("\n"):
        fence = line.startswith("```")
        in_fence ^= fence
        if fence or in_fence:
            in_list = False
        elif line and not line.startswith(" "):
            in_list = ITEM.match(line) is not None
        if in_list and line.startswith("  "):
            lines.append(f"  {line}")
        elif line.startswith("|") and not in_fence:
            lines.append(CODE.sub(lambda code: code[0].replace("\\|", "|"), line))
        else:
            lines.append(line)
    return "\n".join(lines)


def on_files(files: Any, config: Any) -> Any:
    """Add the pages whose files are outside of `docs`."""
    from mkdocs.structure.files import File

    for page, file in ADDED.items():
        text = with_local_links(file.read_text(encoding="utf-8"), page, file)
        files.append(File.generated(config, page, content=python_markdown(text)))
    for page, generate in GENERATED.items():
        files.append(File.generated(config, page, content=python_markdown(generate())))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> str:
    """Adapt a page of `docs`."""
    if page.file.generated_by:
        return markdown
    uri = page.file.src_uri
    return python_markdown(with_local_links(markdown, uri, DOCS / uri))


def remote_references(site: Path) -> list[str]:
    """Return what the pages and style sheets of a site load from other hosts."""
    return [
        f"{file.relative_to(site)}: {result}"
        for file in sorted(site.rglob("*"))
        if file.suffix in (".html", ".css")
        for result in REMOTE.findall(file.read_text(encoding="utf-8"))
    ]


def on_post_build(config: Any) -> None:
    """Refuse a site that needs the network."""
    from mkdocs.exceptions import PluginError

    if result := remote_references(Path(config.site_dir)):
        raise PluginError("\n".join(["the site loads files from other hosts:", *result]))
