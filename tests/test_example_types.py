"""The examples of the pages pass mypy: readers may copy them into typed code.

Strict, but for annotations that short examples leave out, and for attributes of unions, of which
the text of the page names the member.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from schema_core.cli.commands.new import Kit, write_package
from tests.test_docs import PAGES, ROOT, source_of

#: Names are defined anew by later examples of a page.
OPTIONS = (
    "--allow-untyped-defs", "--allow-untyped-calls", "--allow-incomplete-defs",
    "--disable-error-code=union-attr", "--follow-imports=silent", "--no-warn-unreachable",
    "--allow-redefinition",
)  # fmt: skip


#: The packages that an example writes and imports.
PACKAGES = {"shop-files": Kit.CATALOG}


def test_examples_have_the_types_of_the_package(tmp_path: Path) -> None:
    """The example job is checked in strict mode by `make types`, with the other scripts."""
    modules = []
    for page in PAGES:
        if source := source_of(page):
            name = str(page.relative_to(ROOT).with_suffix(".py"))
            modules.append(tmp_path / name.replace("/", "_").replace("-", "_"))
            modules[-1].write_text(source, encoding="utf-8")
    for package, kit in PACKAGES.items():
        write_package(kit, package, tmp_path / package)
    sources = os.pathsep.join(str(tmp_path / package / "src") for package in PACKAGES)
    command = [sys.executable, "-m", "mypy", "--config-file", str(ROOT / "pyproject.toml")]
    done = subprocess.run(
        [*command, *OPTIONS, "--cache-dir", str(tmp_path / "cache"), *map(str, modules)],
        cwd=ROOT,
        env={**os.environ, "MYPYPATH": sources},
        capture_output=True,
        text=True,
        check=False,
    )

    assert len(modules) > 30
    assert done.returncode == 0, done.stdout + done.stderr
