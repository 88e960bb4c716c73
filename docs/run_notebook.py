"""Runs the notebook of the documentation and stores its outputs: ``python docs/run_notebook.py``.

A test fails if the stored outputs are not those of the library.
"""

from __future__ import annotations

from pathlib import Path

import nbformat
from nbclient import NotebookClient

NOTEBOOK = Path(__file__).parent / "examples" / "schemas.ipynb"


def executed(file: Path) -> nbformat.NotebookNode:
    """Return a notebook with the HTML of its cells, run from first to last in a new kernel.

    Raises:
        nbclient.exceptions.CellExecutionError: for a cell that raises.
    """
    notebook = nbformat.read(file, as_version=4)
    directory = {"metadata": {"path": str(file.parent)}}
    NotebookClient(
        notebook, kernel_name="python3", timeout=60, record_timing=False, resources=directory
    ).execute()
    for cell in notebook.cells:
        for output in cell.get("outputs", ()):
            output.get("data", {}).pop("text/plain", None)  # long, and with addresses of objects
    # without the versions of this machine
    notebook.metadata = {"kernelspec": {"name": "python3", "display_name": "Python 3"}}
    return notebook


if __name__ == "__main__":
    nbformat.write(executed(NOTEBOOK), NOTEBOOK)
    print(f"wrote {NOTEBOOK.name}")
