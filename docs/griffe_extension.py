"""An extension of griffe, which reads the sources for the reference without importing them.

Packages that load their names at first use (`schema_core.base.lazy`) export those of their stub,
and examples in docstrings become blocks of code.
"""

from __future__ import annotations

import re
from typing import Any

import griffe

EXAMPLE = re.compile(r"^( *)>>> .*\n(?:^ *\S.*(?:\n|\Z))*", re.MULTILINE)


def fenced(docstring: str) -> str:
    """Return the text with its examples in fences."""
    text = docstring if docstring.endswith("\n") else f"{docstring}\n"
    return EXAMPLE.sub(lambda found: f"{found[1]}```python\n{found[0]}{found[1]}```\n", text)


class SourceExtension(griffe.Extension):  # type: ignore[misc]
    """Exports of packages with a stub, and examples in docstrings."""

    def on_instance(self, *, obj: griffe.Object, **_: Any) -> None:
        if obj.docstring is not None and ">>> " in obj.docstring.value:
            obj.docstring.value = fenced(obj.docstring.value)

    def on_module_members(self, *, mod: griffe.Module, **_: Any) -> None:
        if mod.is_init_module and str(mod.filepath).endswith(".pyi"):
            mod.exports = sorted(name for name, member in mod.members.items() if member.is_alias)
