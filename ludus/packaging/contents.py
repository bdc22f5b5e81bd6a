"""What of a folder belongs to its environment: what is built into an image, and what is published."""

import os
from collections.abc import Mapping
from fnmatch import fnmatch
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ludus.errors import InvalidArgument, MissingExtra
from ludus.registry.ownership import DISTRIBUTION

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

__all__ = ["IGNORED", "SECRET", "Contents", "contents"]

IGNORED = (
    ".git", ".hg", ".svn", ".github", ".venv", "venv", "node_modules", "__pycache__", "*.py[co]", "*.egg-info",
    ".pytest_cache", ".ruff_cache", ".mypy_cache", ".hypothesis", ".ipynb_checkpoints", ".tox", ".nox", ".coverage*",
    ".idea", ".vscode", ".DS_Store", "build", "dist", "*.log", "*.swp", "*~", ".dockerignore", ".gitignore",
)  # fmt: skip
"""What work in a folder leaves behind, by name."""
SECRET = (
    ".env", ".env.*", "*.pem", "*.key", "*.p12", "*.pfx", "id_rsa*", "id_dsa*", "id_ecdsa*", "id_ed25519*", ".netrc",
    ".pypirc", ".npmrc", ".aws", ".ssh", ".gnupg", ".kube", ".docker", "credentials*", "secrets.*", "*.keystore",
    ".git-credentials", ".huggingface", "*.token", "token", "*.env", "*.ppk", "*.kdbx", "*.jks", "*.gpg", "*.asc",
    "service-account*.json", "service_account*.json", "*client_secret*", "*-credentials.json", "kubeconfig*",
    "*.tfstate", "*.tfstate.*", "*.tfvars", "*_history", ".envrc", ".pgpass", ".vault-token", ".my.cnf", ".s3cfg",
)  # fmt: skip
"""What is likely to be a secret, by name; it never leaves this machine."""
VISIBLE = (".gitattributes", ".python-version", ".streamlit")
"""Hidden files that an environment may need; others are of tools and persons."""
MAX_FILES = 10_000
MAX_BYTES = 2 << 30


class Contents(NamedTuple):
    """The files that belong, and what was left out and why; paths are relative to the folder, with slashes."""

    files: tuple[str, ...]
    left_out: dict[str, str]
    size: int
    """Of the files together, in bytes."""


def contents(folder: str | Path) -> Contents:
    """Look through a folder; links are not followed, and raise nothing but are left out.

    What its `.gitignore` files name is left out, and what is hidden.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for name in ("maze.py", ".env"):
    ...         _ = Path(folder, name).write_text("x")
    ...     contents(folder)
    Contents(files=('maze.py',), left_out={'.env': 'likely a secret'}, size=1)
    """
    files: dict[str, int] = {}
    left_out: dict[str, str] = {}
    waiting = [""]
    ignoring: dict[str, GitIgnoreSpec] = {}
    while waiting:
        inside = waiting.pop()
        ignoring |= _gitignore(folder, inside)
        for entry in sorted(os.scandir(Path(folder, inside)), key=lambda one: one.name):
            path = os.path.relpath(entry.path, folder).replace(os.sep, "/")
            reason = _reason(entry) or _ignored(path, ignoring, entry.is_dir(follow_symlinks=False))
            if reason:
                left_out[path] = reason
            elif entry.is_dir(follow_symlinks=False):
                waiting.append(path)
            else:
                files[path] = entry.stat(follow_symlinks=False).st_size
        if len(files) > MAX_FILES or sum(files.values()) > MAX_BYTES:
            raise InvalidArgument(
                f"{folder}: expected at most {MAX_FILES} files and {MAX_BYTES >> 20} MiB, got more; is it the right "
                "folder? Data belongs in a dataset, not in an environment"
            )
    return Contents(tuple(sorted(files)), dict(sorted(left_out.items())), sum(files.values()))


def _reason(entry: "os.DirEntry[str]") -> str:
    """Why something does not belong; empty where it does."""
    if any(fnmatch(entry.name.lower(), pattern) for pattern in SECRET):
        return "likely a secret"
    if any(fnmatch(entry.name, pattern) for pattern in IGNORED):
        return "left by tools"
    if entry.name.startswith(".") and entry.name not in VISIBLE:
        return "hidden"
    if entry.is_symlink():
        return "a link"
    if entry.is_dir() and os.path.exists(os.path.join(entry.path, "pyvenv.cfg")):
        return "a virtual environment"
    if not entry.is_dir(follow_symlinks=False) and not entry.is_file(follow_symlinks=False):
        return "no file"
    return ""


def _gitignore(folder: str | Path, inside: str) -> dict[str, "GitIgnoreSpec"]:
    """What the `.gitignore` of a folder says, if it has one, by the folder."""
    file = Path(folder, inside, ".gitignore")
    if not file.is_file():
        return {}
    try:
        from pathspec import GitIgnoreSpec  # its patterns are git's own; only who publishes needs it
    except ImportError as error:
        raise MissingExtra(
            f'{file}: expected the package pathspec to read it, got none; pip install "{DISTRIBUTION}[serve]"',
            name="pathspec",
        ) from error
    return {inside: GitIgnoreSpec.from_lines(file.read_text(encoding="utf8", errors="replace").splitlines())}


def _ignored(path: str, ignoring: Mapping[str, "GitIgnoreSpec"], is_folder: bool) -> str:
    """Whether the `.gitignore` of a folder above says so; the nearest that says anything counts."""
    for above in sorted(ignoring, key=len, reverse=True):
        if above and not path.startswith(f"{above}/"):
            continue
        below = path.removeprefix(f"{above}/") if above else path
        found = ignoring[above].check_file(f"{below}/" if is_folder else below).include
        if found is not None:
            return "in .gitignore" if found else ""
    return ""
