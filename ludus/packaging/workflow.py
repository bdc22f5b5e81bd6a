"""A GitHub workflow that checks an environment and builds its image, for every push."""

from ludus.packaging.manifest import Manifest

__all__ = ["WORKFLOW", "workflow_text"]

WORKFLOW = ".github/workflows/ludus.yml"
TEXT = """name: {name}

on:
  push:
  pull_request:

permissions:
  contents: read

jobs:
  check:
    runs-on: ubuntu-latest
    timeout-minutes: 20
    steps:
      - uses: actions/checkout@v4
      - uses: actions/setup-python@v5
        with:
          python-version: "3.11"
      - run: python -m pip install "ludus-rl[serve]" pytest {install}
      - run: ludus check .
      - run: python -m pytest -q
      - run: ludus build . -t {name}:${{{{ github.sha }}}} --engine docker
"""


def workflow_text(manifest: Manifest) -> str:
    """The text of the workflow.

    >>> from pathlib import Path
    >>> "ludus check ." in workflow_text(Manifest(Path("maze"), "maze", "maze:Maze"))
    True
    """
    installable = (manifest.folder / "pyproject.toml").is_file()
    return TEXT.format(name=manifest.name.lower(), install="." if installable else "").replace(" \n", "\n")
