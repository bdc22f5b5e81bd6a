"""Files of strangers on the command line: a line that says what is wrong, in bounded time and memory, and nothing else.

Each command that opens a file or a folder is given all of them. They are run in one process, so that its largest size
says what any of them took.
"""

import json
import os
import subprocess
import sys
import zipfile
import zlib
from pathlib import Path

import pytest

import ludus
from ludus.packaging.scaffold import scaffold
from ludus.tasks.new import new_task
from ludus.trajectory import Recorder
from tests.tasks.test_conversion import harbor

MEMORY_MIB = 200
SECONDS_OF_CPU = 60
DRIVER = """
import json, os, resource, signal, sys, traceback
from typer.testing import CliRunner
from ludus.cli import app
import ludus.cli.verify, ludus.cli.replay, ludus.cli.view, ludus.cli.leaderboard, ludus.cli.task, ludus.cli.run
import ludus.server, ludus.packaging.manifest, ludus.evaluate, ludus.tasks
def over(*_):
    raise TimeoutError("too much of the processor")
signal.signal(signal.SIGVTALRM, over)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
told = []
for words in json.loads(sys.stdin.read()):
    signal.setitimer(signal.ITIMER_VIRTUAL, float(sys.argv[1]))
    done = CliRunner().invoke(app, words, input="n\\n")
    signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    shown = "" if done.exc_info is None else "".join(traceback.format_exception(*done.exc_info))[-1500:]
    told.append([words, repr(done.exception), done.output[-2000:], grown >> 10, shown])
print("\\n" + json.dumps(told))
"""
DEEP = 100_000
BOMB = "a0: &a0 [x, x]\n" + "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 30))
ESCAPES = "\x1b]0;owned\x07\x1b[2J"
TEXTS = {
    "empty": b"",
    "null": b"\0" * 4096,
    "binary": bytes(range(256)) * 16,
    "deep lists": b"[" * DEEP + b"]" * DEEP,
    "deep objects": b'{"a":' * DEEP + b"1" + b"}" * DEEP,
    "deep blocks": "".join(" " * n + f"a{n}:\n" for n in range(800)).encode(),
    "aliases": BOMB.encode(),
    "an alias of itself": b"&a [*a]\n",
    "doubled": b"id: a\nid: b\nid: [c]\n",
    "digits": b"id: " + b"9" * 20_000 + b"\n",
    "digits of JSON": b'{"step": ' + b"9" * 20_000 + b"}\n",
    "no number": b'{"step": NaN, "task": Infinity}\n',
    "tags": b"id: !!timestamp x\nname: !!python/object/apply:os.system [id]\n",
    "a date": b"id: 2026-99-99\n",
    "escapes": f'id: "{ESCAPES}"\nname = "{ESCAPES}"\n'.encode(),
    "blanks": b"id: a" + b" " * 400_000 + b"\n" * 400_000,
    "huge": b"a: b\n" * 4_000_000,
}
ODD = ("pipe", "device", "folder", "nobody", "loop")
"""What is no file, or not there."""


SAMPLE = ("pipe", "device", "empty", "deep lists", "aliases", "digits", "tags", "escapes")
"""In each run; all of them in `make test-full`."""
ALL = bool(os.environ.get("LUDUS_FULL"))
KINDS = tuple(kind for kind in (*ODD, *TEXTS) if ALL or kind in SAMPLE)


def put(path: Path, kind: str) -> None:
    """Whatever is of that kind, at a path."""
    if path.is_dir() and not path.is_symlink():
        path.rmdir()
    path.unlink(missing_ok=True)
    match kind:
        case "pipe":
            os.mkfifo(path)
        case "device":
            path.symlink_to("/dev/zero")
        case "folder":
            path.mkdir()
        case "nobody":
            path.symlink_to(path.with_name("no-such-file"))
        case "loop":
            path.symlink_to(path)
        case _:
            path.write_bytes(TEXTS[kind])


def archives(folder: Path) -> list[Path]:
    """Runs that are none: torn, blown up, full of odd names, or one file under many names."""
    whole = folder / "whole.ludus"
    with Recorder(ludus.make("CartPole-v1"), whole) as env:
        env.reset(seed=0)
        env.step(1)
    data = whole.read_bytes()
    made = {f"torn {at}": data[: len(data) * at // 7] for at in range(1, 7)}
    made["turned"] = data[len(data) // 2 :] + data[: len(data) // 2]
    for name, text in made.items():
        (folder / f"{name}.ludus").write_bytes(text)
    with zipfile.ZipFile(whole) as file:
        names = file.namelist()
    for kind in ("bomb", "names", "links", "deep", "many"):
        _archive(folder / f"{kind}.ludus", kind, names)
    for kind in KINDS:
        put(folder / f"odd {kind}.ludus", kind)
    return sorted(one for one in folder.iterdir() if one != whole)


def _archive(path: Path, kind: str, names: list[str]) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name in names:
            if kind == "bomb" and name == names[-1]:
                with file.open(name, "w", force_zip64=True) as entry:
                    for _ in range(300):
                        entry.write(bytes(1 << 20))
            elif kind == "deep":
                file.writestr(name, b'{"a":' * DEEP)
            else:
                file.writestr(name, zlib.compress(b"x"))
        if kind == "names":
            for odd in ("../../etc/passwd", "/etc/passwd", "a\\..\\b", ESCAPES, "x" * 60_000):
                file.writestr(odd, b"x")
        if kind == "many":
            for number in range(20_000):
                file.writestr(f"chunks/{number}", b"")
        if kind == "links":
            info = zipfile.ZipInfo("header.json")
            info.external_attr = 0o120777 << 16
            file.writestr(info, b"/etc/passwd")


def of_runs(root: Path) -> list[list[str]]:
    """Commands that open a run, a result, or a folder of them."""
    root.mkdir()
    paths = [str(path) for path in archives(root)]
    verbs = (["verify"], ["replay"], ["view", "--html", str(root.parent / "page.html")])
    return [*([*verb, path] for path in paths for verb in verbs), ["leaderboard", str(root)]]


def of_kinds(root: Path, file: str, made: Path, *commands: tuple[str, ...]) -> list[list[str]]:
    """Commands on copies of a folder, in each of which one file is of another kind."""
    found: list[list[str]] = []
    for number, kind in enumerate(KINDS):
        folder = root / f"{made.name}-{Path(file).stem}-{number}"
        subprocess.run(["cp", "-r", str(made), str(folder)], check=True)
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        put(folder / file, kind)
        found += [[one.format(folder=folder, new=f"{folder}-new") for one in words] for words in commands]
    return found


def of_tasks(root: Path) -> list[list[str]]:
    root.mkdir()
    new_task(root / "task")
    (root / "run").mkdir()
    harbor(root / "harbor")
    task, commands = root / "task", [*of_kinds(root, "task.yaml", root / "task", ("task", "show", "{folder}"))]
    agent = ("task", "run", str(task), "--agent", "{folder}/agent.yaml")
    commands += of_kinds(root, "agent.yaml", root / "run", agent)
    commands += of_kinds(root, "result.json", root / "run", ("task", "compare", "{folder}"))
    journal = ("task", "replay", str(task), "{folder}"), ("task", "fork", "{folder}", "1", "{new}")
    commands += of_kinds(root, "journal.jsonl", root / "run", *journal)
    for file in ("task.toml", "instruction.md", "environment/Dockerfile"):
        commands += of_kinds(root, file, root / "harbor", ("task", "import", "{folder}", "{new}"))
    return commands


def of_folders(root: Path) -> list[list[str]]:
    root.mkdir()
    scaffold("corridor", root, "array")
    (root / "other").mkdir()
    opened = ("info", "{folder}"), ("run", "{folder}", "--episodes", "1"), ("build", "{folder}", "--print")
    commands = of_kinds(root, "ludus.toml", root / "corridor", *opened)
    commands += of_kinds(root, "openenv.yaml", root / "other", *opened)
    (root / "served" / "server").mkdir(parents=True)
    (root / "served" / "openenv.yaml").write_text("name: served\napp: server.app:app\n")
    commands += of_kinds(root, "server/requirements.txt", root / "served", ("build", "{folder}", "--print"))
    return commands + of_kinds(root, "pyproject.toml", root / "corridor", ("build", "{folder}", "--print"))


@pytest.mark.parametrize("cases", [of_runs, of_tasks, of_folders])
def test_a_strangers_file_is_a_line_in_bounded_time_and_memory(tmp_path, cases):
    commands = cases(tmp_path / "files")
    environment = os.environ | {"LUDUS_TRUST": "third-party=sandbox,first-party=sandbox", "COLUMNS": "120"}
    done = subprocess.run(
        [sys.executable, "-c", DRIVER, str(SECONDS_OF_CPU)], input=json.dumps(commands), env=environment,
        capture_output=True, text=True, check=False, timeout=900, cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    told = json.loads(done.stdout.splitlines()[-1])
    assert len(told) == len(commands)
    wrong = [
        (words, error, shown) for words, error, _, _, shown in told if not error.startswith(("None", "SystemExit"))
    ]
    assert wrong == []
    assert [words for words, _, output, _, _ in told if "Traceback" in output or "\x1b]0;" in output] == []
    assert [words for words, _, output, _, _ in told if not output.strip()] == []
    assert [(words, grown) for words, _, _, grown, _ in told if grown > MEMORY_MIB][:1] == []
