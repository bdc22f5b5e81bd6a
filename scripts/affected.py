"""Which tests a change may affect: `python scripts/affected.py [SINCE]` prints files and folders for pytest.

A test is affected where it, or whatever it imports however indirectly, has changed since SINCE (by default `main`),
committed or not. An import is one however it is spelt, as text too: the id of an environment imports its module, and
whoever goes through the registry, or starts the program, imports the modules of all. What cannot be told is everything:
a file that is no Python code, a `conftest.py`. Files that only people read affect the checks of the house alone.
"""

import ast
import re
import subprocess
import sys
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path, PurePosixPath

import grimp

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # the package of this folder, whichever is installed
import ludus

ROOT = Path(__file__).resolve().parents[1]
EVERYTHING = ("tests", "ludus")
HOUSE = "tests/house"
READ = (".md", ".txt", ".svg", ".png", ".gif")
"""Endings of what only people read, and the checks of the house."""
TEXT = re.compile(r"\b(?:ludus|tests)(?:\.\w+)+|(?<=import )ludus\b")
PROGRAM_TEXT, PROGRAM = re.compile(r"^ludus$|-m ludus\b"), "ludus.cli.main"
"""How text names the program `ludus`, and the module that it is."""
LATE = {"ludus.connect": "ludus.client.connection", "ludus.serve": "ludus.server", "ludus.create_app": "ludus.server"}
"""Names of `ludus` whose modules are loaded when they are used: `import ludus` alone is no use of them."""
ENV_ID = re.compile(r"[\w./-]+-v\d+")
ALL_ENVS = "ludus.envs.*"
"""Stands for the modules of all environments, for those who take whatever is registered."""
WHOLE_REGISTRY = re.compile(r"list_envs|registry\.registry|ludus\.registry\b|pprint_registry")
UNTESTED = ("benchmarks/", "examples/", "docs/", ".github/", ".ci/")
"""Where changes matter to the checks of the house only."""


def changed(since: str, root: Path = ROOT) -> list[str]:
    """Files that differ from where the branch left `since`, and those that git does not know yet."""
    base = _git(root, "merge-base", since, "HEAD")
    return sorted(
        {*_git(root, "diff", "--name-only", base[0]), *_git(root, "ls-files", "--others", "--exclude-standard")}
    )


def _git(root: Path, *words: str) -> list[str]:
    done = subprocess.run(["git", *words], cwd=root, check=True, capture_output=True, text=True)
    return done.stdout.split("\n")[:-1] if done.stdout else []


def module_of(file: str) -> str:
    """The name that a file of Python code is imported by."""
    path = PurePosixPath(file).with_suffix("")
    return ".".join(path.parts[:-1] if path.name == "__init__" else path.parts)


def named_in(text: str) -> set[str]:
    """The modules that a file names: in imports, as attributes of `ludus`, or in text, as programs and entry points do.

    Some of the names are no modules: nothing is known by them, and nothing is lost.

    >>> sorted(named_in("from tests.core import lanes; entry = 'ludus.envs.open.echo:Echo'"))
    ['ludus.envs.open.echo', 'tests.core', 'tests.core.lanes']
    """
    found: set[str] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "ludus":
            found.add(f"ludus.{node.attr}")
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            found |= set(TEXT.findall(node.value)) | ({PROGRAM} if PROGRAM_TEXT.search(node.value) else set())
    return found


def importers(modules: Collection[str], imports: Mapping[str, set[str]]) -> set[str]:
    """The modules, and all that import one of them, however indirectly; a package's parts load the package."""
    above: dict[str, set[str]] = {}
    for name, found in imports.items():
        for one in found:
            above.setdefault(one, set()).add(name)
    left = [name for name in imports if name.startswith(tuple(f"{one}." for one in modules))] + list(modules)
    reached = set[str]()
    while left:
        name = left.pop()
        if name not in reached:
            reached.add(name)
            left += above.get(name, ())
    return reached


def import_graph(root: Path) -> dict[str, set[str]]:
    """What each module of the package, and each file of tests, imports itself."""
    graph = grimp.build_graph("ludus", cache_dir=None)
    found = {name: set(graph.find_modules_directly_imported_by(name)) for name in graph.modules}
    found["ludus"] = {name for name in found["ludus"] if not name.startswith(("ludus.server", "ludus.client"))}
    above = ("ludus.interop", "ludus.web")  # which it loads where somebody asks for them, by a name that tests name too
    found["ludus.composition"] = {name for name in found["ludus.composition"] if not name.startswith(above)}
    found |= {name: found.get(name, set()) | ({module} - {name}) for name, module in LATE.items()}
    found[ALL_ENVS] = {name for name in graph.modules if name.startswith("ludus.envs.")}
    found[PROGRAM].add(ALL_ENVS)
    known = env_modules()
    for path in sorted((root / "tests").rglob("*.py")):
        text = path.read_text(encoding="utf8")
        found[module_of(path.relative_to(root).as_posix())] = named_in(text) | made_in(text, known)
    return found


def env_modules() -> dict[str, str]:
    """The module behind each id."""
    return {spec.id: str(spec.entry_point).partition(":")[0] for spec in ludus.registry.registry.values()}


def made_in(text: str, known: Mapping[str, str]) -> set[str]:
    """The modules of environments that a file makes by their ids.

    >>> made_in("make('Maze-v1')", {"Maze-v1": "ludus.envs.maze"}), made_in("list_envs()", {})
    ({'ludus.envs.maze'}, {'ludus.envs.*'})
    """
    found = {known[one] for one in ENV_ID.findall(text) if one in known}
    return found | ({ALL_ENVS} if WHOLE_REGISTRY.search(text) else set())


def affected(files: Iterable[str], imports: Mapping[str, set[str]]) -> list[str]:
    """What pytest has to be given for a change of these files."""
    found, modules = set[str](), set[str]()
    for file in files:
        if file.startswith(UNTESTED) or (file.endswith(READ) and not file.startswith(EVERYTHING)):
            found.add(HOUSE)
        elif not file.endswith(".py") or not file.startswith(("ludus/", "tests/")) or file.endswith("conftest.py"):
            return list(EVERYTHING)
        else:
            modules.add(module_of(file))
            found |= _beside(file)
    reached = (name for name in importers(modules, imports) if name.rpartition(".")[2].startswith("test_"))
    found |= {f"{name.replace('.', '/')}.py" for name in reached}
    folders = {one for one in found if not one.endswith(".py")}
    return sorted(one for one in found if one in folders or not any(one.startswith(f"{each}/") for each in folders))


def _beside(file: str) -> set[str]:
    """What a file affects by where it is: its doctests, the checks of the house, tests that find it by its place."""
    if file.startswith("ludus/"):
        return {file, HOUSE}
    path = PurePosixPath(file)
    return {file} if path.name.startswith("test_") else {str(path.parent)}


def main() -> None:
    """Print what is affected, on one line; nothing where nothing is."""
    files = changed(sys.argv[1] if len(sys.argv) > 1 else "main")
    there = [one for one in affected(files, import_graph(ROOT)) if (ROOT / one).exists()]
    print(*there)


if __name__ == "__main__":
    main()
