"""Writes the generated parts of the pages: ``python docs/generate.py``.

A part stands between ``<!-- generated: name -->`` and ``<!-- end -->``; its name is a row of
`PARTS`. A test fails if a page is out of date.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path

from docs import (
    command_line_tables,
    compatibility_tables,
    connector_tables,
    dialect_tables,
    mapping_tables,
    property_tables,
    pyflink_tables,
    site_tables,
)

ROOT = Path(__file__).parent.parent
PART = re.compile(r"(<!-- generated: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)

#: Packages in the order of the layers.
LAYERS = (
    "base", "errors", "report", "types", "sql", "expressions", "schema", "query", "catalog",
    "mappings", "properties", "environment", "migration", "spark", "connectors", "catalogs",
    "pyflink", "cli", "testing",
)  # fmt: skip


def sentence(module: Path) -> str:
    """The first sentence of a module's docstring."""
    text = ast.get_docstring(ast.parse(module.read_text(encoding="utf-8"))) or ""
    return text.split("\n\n")[0].replace("\n", " ").replace("|", "\\|")


def files() -> str:
    """A table of the packages of the layers, with what each holds, and their packages."""
    core = ROOT / "schema_core"
    lines = ["| package | holds | packages in it |", "|---|---|---|"]
    for layer in LAYERS:
        inner = [
            f"`{initializer.parent.relative_to(core / layer)}`"
            for initializer in sorted((core / layer).glob("*/**/__init__.py"))
        ]
        contents = sentence(core / layer / "__init__.py")
        lines.append(f"| `{layer}/` | {contents} | {', '.join(inner)} |")
    return "\n".join([*lines, ""])


def agreement() -> str:
    """A table with the sums of properties/floors.json."""
    floors = json.loads((ROOT / "properties" / "floors.json").read_text(encoding="utf-8"))
    cases, meaning, exact = (
        sum(floor[key] for floor in floors.values()) for key in ("cases", "meaning", "exact")
    )
    headings = (
        "| recorded answers | the same in meaning | the same in every character |\n|---|---|---|"
    )
    return f"{headings}\n| {cases:,} | {share(meaning, cases)} | {share(exact, cases)} |\n"


def share(part: int, whole: int) -> str:
    """A number with its percentage, rounded down: only all of them are 100 %."""
    return f"{part:,} ({part * 1000 // whole / 10} %)"


#: Name of a part -> what writes it.
PARTS: dict[str, Callable[[], str]] = {
    "agreement": agreement,
    "files": files,
    "mappings": mapping_tables.tables,
    "engines": dialect_tables.members,
    "properties": property_tables.tables,
    "pyflink": pyflink_tables.packages,
    **command_line_tables.PARTS,
    **compatibility_tables.PARTS,
    **connector_tables.PARTS,
    **site_tables.PARTS,
}


def written(text: str) -> str:
    """The text of a page with its generated parts written anew."""
    return PART.sub(lambda part: f"{part[1]}{PARTS[part[2]]()}{part[3]}", text)


def pages() -> Iterator[Path]:
    """Every page of the documentation."""
    yield ROOT / "README.md"
    yield from sorted((ROOT / "docs").rglob("*.md"))


def main() -> None:
    """Write every page."""
    for page in pages():
        text = page.read_text(encoding="utf-8")
        if (new := written(text)) != text:
            page.write_text(new, encoding="utf-8")
            print(f"wrote {page.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
