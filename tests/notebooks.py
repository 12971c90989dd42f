"""Run the notebooks and keep what they show: ``python tests/notebooks.py`` writes the outputs.

What differs between runs and machines without being a result (times, kernel versions) is left
out, so that a notebook which shows the same is the same file.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient
from nbformat import NotebookNode

FOLDER = Path(__file__).resolve().parents[1] / "notebooks"
METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}


def read(path: Path) -> NotebookNode:
    """Read a notebook as it is committed."""
    return nbformat.read(path, as_version=4)


def execute(path: Path) -> NotebookNode:
    """Run a notebook from its first cell in a fresh kernel; an error in a cell is raised."""
    notebook = read(path)
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    NotebookClient(
        notebook,
        resources={"metadata": {"path": str(FOLDER)}},
        timeout=300,
        extra_arguments=["--log-level=ERROR"],
    ).execute()
    return without_traces(notebook)


def without_traces(notebook: NotebookNode) -> NotebookNode:
    """Remove what a run leaves behind that is not a result, and number the cells."""
    notebook.metadata = NotebookNode(METADATA)
    for number, cell in enumerate(notebook.cells, start=1):
        cell.id = f"cell-{number:02}"
        cell.metadata = NotebookNode()
        for output in cell.get("outputs", []):
            if "metadata" in output:
                output.metadata = NotebookNode()
    return notebook


def outputs(notebook: NotebookNode) -> list[list[dict[str, Any]]]:
    """Return what each cell shows."""
    return [cell.get("outputs", []) for cell in notebook.cells]


def main() -> None:
    """Run every notebook and write it back with its outputs."""
    for path in sorted(FOLDER.glob("*.ipynb")):
        text = nbformat.writes(execute(path))
        path.write_text(text.rstrip("\n") + "\n", encoding="utf-8", newline="\n")
        print(path.name)


if __name__ == "__main__":
    sys.exit(main())
