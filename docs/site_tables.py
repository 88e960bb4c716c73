"""The tables of docs/reference/ and docs/decisions/: the public modules, and the decisions."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path

from docs.mapping_tables import code, table

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"


def public_names() -> dict[str, list[str]]:
    """Return the public modules with their names."""
    result: dict[str, list[str]] = {}
    for line in (ROOT / "tests" / "front_door.txt").read_text(encoding="utf-8").split():
        module, _, name = line.rpartition(".")
        result.setdefault(module, []).append(name)
    return result


def pages_of_modules() -> Iterator[tuple[str, Path]]:
    """Yield the modules that have a page of the reference, with the page."""
    for page in sorted((DOCS / "reference").glob("*.md")):
        for module in re.findall(r"(?m)^::: (schema_core[a-z_.]*)$", page.read_text("utf-8")):
            yield module, page


def summary(module: str) -> str:
    """Return the first sentence of the docstring of a module, which is not imported."""
    spec = find_spec(module)
    assert spec is not None
    assert spec.origin is not None
    text = ast.get_docstring(ast.parse(Path(spec.origin).read_text(encoding="utf-8"))) or ""
    return text.split("\n\n")[0].replace("\n", " ")


def modules() -> str:
    """Return a row for each module that has a page."""
    rows = [
        (f"[{code(module)}]({page.name})", summary(module)) for module, page in pages_of_modules()
    ]
    pyflink = ("[`schema_core.pyflink`](pyflink-modules.md)", summary("schema_core.pyflink"))
    return table(("module", "contents"), [*sorted(rows), pyflink]) + "\n"


def decisions() -> str:
    """Return a row for each decision, the last one first."""
    rows = []
    for page in sorted((DOCS / "decisions").glob("[0-9]*.md"), reverse=True):
        number, _, title = page.read_text("utf-8").partition("\n")[0][2:].partition(". ")
        rows.append((number, f"[{title}]({page.name})"))
    return table(("number", "decision"), rows) + "\n"


PARTS: dict[str, Callable[[], str]] = {
    "modules": modules,
    "decisions": decisions,
}
