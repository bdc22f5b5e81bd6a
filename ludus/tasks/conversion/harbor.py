"""Harbor's folders: `task.toml`, `instruction.md`, an environment whose image needs no build, and tests in Python.

There, a script runs the tests in the agent's container. Here test functions run in the grader's sandbox over copies of
the files that they read, so tests that start programs of the agent's are refused, and images that install anything but
Python packages which are here.
"""

import ast
import re
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

import msgspec

from ludus.core.foreign_file import read_foreign_file, read_foreign_toml
from ludus.errors import shorten
from ludus.tasks.conversion.converted_task import (
    ConversionError,
    Converted,
    below,
    check_imports,
    imported_names,
    is_installed,
    number_of,
    read_text,
    table_of,
    texts_of,
)

__all__ = ["from_harbor"]

FILE = "task.toml"

ROOT = "/app"
"""Where an image works unless its WORKDIR says otherwise."""
STARTS = frozenset(
    {"subprocess", "pty", "pexpect", "multiprocessing", "socket", "requests", "docker", "pickle", "joblib", "torch"}
)
"""Modules of tests that do not only read."""
RAN = re.compile(r"\b(?:os\.(?:system|popen|exec\w*|spawn\w*)|importlib|runpy|exec|eval)\b")
NOTHING = ("FROM", "WORKDIR", "COPY", "ADD", "ENV", "LABEL", "CMD", "ENTRYPOINT", "USER", "SHELL", "EXPOSE", "ARG")
PIP = re.compile(
    r"(?:(?:python3? -m |uv )?pip3? install)(?: --?[\w-]+(?:=\S+)?)*"
    r"(?P<names>(?: [A-Za-z0-9][\w.\-\[\]]*(?:[=<>~!]=?[\w.*]+)?)+)"
)
FOLDER = re.compile(r"mkdir(?: -p)?(?: [\w./-]+)+")
GRADER = '''\
"""Runs the functions of the task's tests over the files handed in: the share that passes is the score."""

import os
import tempfile
from pathlib import Path

from ludus.tasks.inside.case import Case, Rejected

TESTS = {tests!r}
ROOT = {root!r}


def grade(case: Case) -> dict[str, float]:
    """The share of tests that pass; what fails first is told, without the test's own words."""
    here, passed, failed = Path(__file__).parent, 0, []
    with tempfile.TemporaryDirectory() as base:
        for folder in (here / "given", case.submission):
            for file in sorted(one for one in folder.rglob("*") if one.is_file()) if folder.is_dir() else ():
                place = Path(base, file.relative_to(folder))
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_bytes(file.read_bytes())
        os.chdir(base)
        for name, test in tests(here / "tests", base):
            try:
                test()
                passed += 1
            except BaseException as error:
                failed.append(f"{{name}}: {{type(error).__name__}}")
    if not passed and not failed:
        raise RuntimeError("expected functions that begin with test_, got none")
    if failed and case.split == "test" and not passed:
        raise Rejected("no test passed: " + "; ".join(failed[:5]))
    return {{"score": passed / (passed + len(failed))}}


def tests(folder: Path, base: str):
    """The test functions of all files, and the methods of their classes, with the places of this sandbox in them."""
    for file in TESTS:
        source = (folder / file).read_text().replace(ROOT, base).replace('"/tests', f'"{{folder}}')
        space = {{"__name__": "tests", "__file__": str(folder / file)}}
        exec(compile(source.replace("'/tests", f"'{{folder}}"), file, "exec"), space)
        for name, one in list(space.items()):
            if name.startswith("test") and callable(one):
                yield name, one
            elif name.startswith("Test") and isinstance(one, type):
                made = one()
                words = [word for word in dir(made) if word.startswith("test")]
                yield from ((f"{{name}}.{{word}}", getattr(made, word)) for word in words)
'''


def from_harbor(folder: Path) -> Converted:
    """The task of a folder."""
    config = _read(folder / FILE)
    image = _image(folder, table_of(config, "environment", FILE))
    tests = sorted((folder / "tests").glob("test*.py"))
    if not tests:
        raise ConversionError(
            f"{folder}/tests: expected files test_….py with test functions, got none: a test script alone runs in the "
            "agent's container, and what it says could be the agent's word"
        )
    outputs = set[str]().union(*(_checked_tests(one, image.root) for one in tests))
    handed_in = sorted(one for one in outputs if one not in image.copied)
    if not handed_in:
        raise ConversionError(f"{tests[0]}: expected it to read files below {image.root} that an agent makes, got none")
    given = {f"starter/{name}": path for name, path in image.copied.items()}
    texts = {"grader.py": GRADER.format(tests=[one.name for one in tests], root=image.root)}
    solution = folder / "solution" / "solve.sh"
    if solution.is_file():
        beside = {f"reference/{one.name}": one for one in solution.parent.iterdir() if one.is_file()}
        texts["reference/solve.sh"] = read_text(solution).replace(image.root, "/work")
        given |= {name: one for name, one in beside.items() if name not in texts}
    originals = {f"given/{name}": path for name, path in image.copied.items()}
    notes = [f"handed in: {', '.join(handed_in)}, as the tests name them", f"{image.root} is /work here"]
    return Converted(
        kind="harbor",
        fields=_fields(folder, config, image, handed_in)
        | ({"reference": {"folder": "reference", "run": "bash solve.sh"}} if solution.is_file() else {}),
        texts=texts,
        copies=_beside(folder / "tests") | originals | given,
        notes=[*notes, *image.notes],
    )


def _fields(folder: Path, config: dict[str, object], image: "_Image", handed_in: list[str]) -> dict[str, object]:
    """Of the task file."""
    agent, verifier, limits = (table_of(config, one, FILE) for one in ("agent", "verifier", "environment"))
    name = re.sub(r"\W", "_", folder.resolve().name).strip("_")
    named = table_of(config, "task", FILE).get("name") or table_of(config, "metadata", FILE).get("name")
    instruction = read_text(below(folder, "instruction.md", "instruction.md"))
    return {
        "id": name if name[:1].isalpha() else f"Task_{name}",
        "name": str(named or folder.resolve().name),
        "description": instruction.replace(image.root, "/work"),
        "tags": ["harbor", *texts_of(table_of(config, "metadata", FILE), "tags", f"{FILE}, metadata")],
        "timeouts": {
            "total": number_of(agent, "timeout_sec", 3600, f"{FILE}, agent"),
            "grading": number_of(verifier, "timeout_sec", 300, f"{FILE}, verifier"),
        },
        "evaluation": {"metric": "score", "floor": 0.0, "reference": 1.0, "threshold": 1.0, "validations": 0},
        "submission": [{"path": one, "size": "64M", "required": False} for one in handed_in],
        "resources": _resources(limits),
        "requirements": list(image.requirements),
    }


def _beside(tests: Path) -> dict[str, Path]:
    """The tests with the files that they read; what only starts them is left out."""
    found = (one for one in sorted(tests.rglob("*")) if one.is_file() and one.suffix != ".sh")
    return {f"tests/{one.relative_to(tests)}": one for one in found if "__pycache__" not in one.parts}


def _read(file: Path) -> dict[str, object]:
    try:
        return read_foreign_toml(read_foreign_file(file))
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise ConversionError(f"{file}: expected TOML, got {shorten(str(error))}") from error


def _checked_tests(tests: Path, root: str) -> set[str]:
    """The files below the root that tests read; refused where they do more than read."""
    code = read_text(tests, errors="replace")
    names = imported_names(code, tests)
    doing = sorted(names & STARTS) or sorted({one[0] for one in RAN.finditer(code)})
    if doing:
        raise ConversionError(
            f"{tests}: expected tests that only read files, got ones that use {', '.join(doing)}: they would run the "
            "agent's code in the process that scores; write a grader.py with case.program(…) instead (docs/tasks.md)"
        )
    check_imports(tests)
    _check_plain(ast.parse(code), tests)
    read = re.finditer(rf"""["'](?P<path>{re.escape(root)}/[\w.\-/]+)["']""", code)
    return {one["path"].removeprefix(f"{root}/").rstrip("/") for one in read}


def _check_plain(tree: ast.Module, tests: Path) -> None:
    """Functions and methods that need nothing of pytest: no fixtures, no parameters."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test"):
            asked = [one.arg for one in node.args.args if one.arg != "self"]
            marked = [ast.unparse(one) for one in node.decorator_list if "parametrize" in ast.unparse(one)]
            if asked or marked or isinstance(node, ast.AsyncFunctionDef):
                raise ConversionError(
                    f"{tests}, {node.name}: expected tests that are called with nothing, got one that pytest gives "
                    f"{', '.join(asked) or 'a loop of its own'}; write it as plain functions"
                )


class _Image(NamedTuple):
    """What is known of an image without building it."""

    root: str = ROOT
    copied: Mapping[str, Path] = MappingProxyType({})
    """Files by where they lie below the root."""
    requirements: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def _image(folder: Path, limits: dict[str, object]) -> _Image:
    """The image of a task; refused where it has what cannot be had here."""
    place = folder / "environment"
    services = [one.name for one in place.glob("docker-compose*")]
    if services:
        raise ConversionError(
            f"{place}: expected one image, got {services[0]} with services beside it, which need Docker"
        )
    file = place / "Dockerfile"
    if not file.is_file():
        if limits.get("docker_image"):
            raise ConversionError(
                f"{folder}/task.toml, environment.docker_image: expected a Dockerfile whose files are here, got the "
                f"image {shorten(limits['docker_image'])}, which would be fetched"
            )
        return _Image()
    lines = [line.partition(" ")[::2] for line in _instructions(read_text(file))]
    workdirs = [rest for word, rest in lines if word.upper() == "WORKDIR" and rest.startswith("/")]
    root = workdirs[-1].rstrip("/") if workdirs and workdirs[-1] != "/" else ROOT
    copied: dict[str, Path] = {}
    requirements: list[str] = []
    for word, rest in lines:
        if word.upper() in ("COPY", "ADD"):
            copied |= _copied(place, rest.split(), file, root)
        elif word.upper() == "RUN":
            requirements += _installed(rest, file)
        elif word.upper() not in NOTHING:
            raise _built(file, f"{word} {rest}")
    notes = (f"agents have {', '.join(requirements)} as installed here",) if requirements else ()
    return _Image(root, copied, tuple(requirements), notes)


def _installed(command: str, file: Path) -> list[str]:
    """The packages that a RUN installs by pip, all of them here; refused where it does anything else."""
    found: list[str] = []
    for part in (one.strip() for one in re.split(r"&&|;", command)):
        match = PIP.fullmatch(part)
        if match is None and FOLDER.fullmatch(part) is None:
            raise _built(file, f"RUN {part}")
        found += [] if match is None else [re.split(r"[\[=<>~!]", one)[0] for one in match["names"].split()]
    missing = [one for one in found if not is_installed(one)]
    if missing:
        raise ConversionError(
            f"{file}: expected packages that are installed here, got no {', '.join(missing)}; pip install them"
        )
    return found


def _built(file: Path, line: str) -> ConversionError:
    return ConversionError(
        f"{file}: expected an image that copies files and installs Python packages, got {shorten(line, 80)}: nothing "
        "else is built here; name what the task needs as `requirements` in a task.yaml of your own"
    )


def _instructions(text: str) -> list[str]:
    joined = re.sub(r"\\\n", " ", text)
    return [
        " ".join(line.split()) for line in joined.splitlines() if line.strip() and not line.lstrip().startswith("#")
    ]


def _copied(folder: Path, words: list[str], file: Path, root: str) -> dict[str, Path]:
    *sources, target = [one for one in words if not one.startswith("--")]
    if target.startswith("/") and target.rstrip("/") != root and not target.startswith(f"{root}/"):
        raise _built(file, f"COPY … {target}")
    inside = target.removeprefix(root).strip("/").removeprefix("./").strip(".")
    found: dict[str, Path] = {}
    for source in sources:
        place = below(folder, source, str(file))
        for one in [place] if place.is_file() else sorted(x for x in place.rglob("*") if x.is_file()):
            name = one.name if place.is_file() else str(one.relative_to(place))
            renamed = place.is_file() and inside and not target.endswith("/")
            found[inside if renamed else f"{inside}/{name}".lstrip("/")] = one
    found.pop("Dockerfile", None)
    return found


def _resources(limits: dict[str, object]) -> dict[str, object]:
    where = f"{FILE}, environment"
    cpu, gpu = number_of(limits, "cpus", 2, where), int(number_of(limits, "gpus", 0, where))
    found: dict[str, object] = {"cpu": cpu, "gpu": gpu}
    memory = limits.get("memory") or (f"{limits['memory_mb']}M" if "memory_mb" in limits else None)
    disk = limits.get("storage") or (f"{limits['storage_mb']}M" if "storage_mb" in limits else None)
    return found | ({"memory": memory} if memory else {}) | ({"disk": disk} if disk else {})
