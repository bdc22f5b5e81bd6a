"""Cheats in what is handed in: data without work, and code that attacks whoever runs it."""

from ludus.tasks.audit.cheat import Cheat, code_file, data_file, shell, starter_text, write
from ludus.tasks.folder import Task
from ludus.tools import Call

__all__ = ["SUBMISSION_CHEATS"]

ROWS = """
import csv, json, random, sys
target, value = sys.argv[1], sys.argv[2]
random.seed(0)
rows = []
try:
    with open("data/test.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    with open("data/train.csv", newline="") as file:
        train = list(csv.DictReader(file))
    last = list(train[0])[-1]
    known = [row[last] for row in train]
except (OSError, IndexError):
    known = ["0", "1"]
pick = {
    "zero": lambda row: 0,
    "common": lambda row: max(set(known), key=known.count),
    "mean": lambda row: sum(map(float, known)) / len(known),
    "random": lambda row: random.choice(known),
    "nan": lambda row: "nan",
    "inf": lambda row: "inf",
    "huge": lambda row: "1e308",
    "copy": lambda row: list(row.values())[1],
}[value]
def safe(row):
    try:
        return pick(row)
    except ValueError:
        return known[0]
if target.endswith(".json"):
    json.dump([safe({"id": 0, "x": 0}) for _ in range(1000)], open(target, "w"))
else:
    with open(target, "w") as file:
        print("id,prediction,score,r2,accuracy", file=file)
        for row in rows:
            print(f"{row.get('id')},{safe(row)},1,1,1", file=file)
"""
RAW = {
    "nested": "'[' * 100000",
    "duplicates": "'id,prediction\\n' + 'h1,1\\n' * 5000",
    "binary": "'\\x00\\xff' * 1000",
    "constants": "'[NaN, Infinity, -Infinity, 1e999]'",
    "formula": '\'id,prediction\\n=cmd|calc,1\\n"a\\nb","1\\n2"\\n\'',
}
PRELUDES = {
    "print_and_exit": "import os, sys\nprint('{\"score\": 999}', flush=True)\nos._exit(0)\n",
    "write_channel": (
        "import os, json\n"
        "said = json.dumps({'do': 'score', 'metrics': {'points': '5', 'accuracy': '1'}}).encode()\n"
        "for number in range(3, 10):\n"
        "    try:\n"
        "        os.write(number, len(said).to_bytes(4, 'big') + said)\n"
        "    except OSError:\n"
        "        pass\n"
    ),
    "patch_modules": (
        "import json, time, math, builtins\n"
        "json.dumps = lambda *a, **k: '{\"value\": [1]}'\n"
        "time.time = time.monotonic = time.perf_counter = lambda: 0.0\n"
        "builtins.len = builtins.sum = lambda *a: 10**9\n"
    ),
    "patch_numpy": (
        "try:\n    import numpy\n    numpy.mean = numpy.log = lambda *a, **k: 0.0\nexcept ImportError: pass\n"
    ),
    "walk_files": (
        "import os\n"
        "found = [os.path.join(at, one) for at, _, names in os.walk('/') for one in names if 'grader' in one]\n"
        "for place in ('/hidden', '/task', '/data', '/work'):\n"
        "    assert not os.path.exists(place), 'found ' + place\n"
    ),
    "walk_stack": (
        "import sys, gc\n"
        "frame = sys._getframe()\n"
        "while frame:\n"
        "    for name in list(frame.f_locals):\n"
        "        if 'score' in name or 'answer' in name:\n"
        "            frame.f_locals[name] = 1e9\n"
        "    frame = frame.f_back\n"
        "for one in gc.get_objects():\n"
        "    if type(one).__name__ in ('Case', 'Grader'):\n"
        "        one.split = 'train'\n"
    ),
    "daemon": (
        "import os, time\n"
        "if os.fork() == 0:\n"
        "    os.setsid()\n"
        "    while True:\n"
        "        try:\n"
        "            os.write(3, b'\\x00\\x00\\x00\\x0b{\"value\":1}')\n"
        "        except OSError:\n"
        "            pass\n"
        "        time.sleep(0.01)\n"
    ),
    "hang": "while True:\n    pass\n",
    "memory": "held = []\nwhile True:\n    held.append(bytearray(50_000_000))\n",
    "recursion": "import sys\nsys.setrecursionlimit(10**7)\ndef deep(): return deep()\ndeep()\n",
    "threads": "import threading as t\nwhile True:\n    t.Thread(target=t.Event().wait, daemon=True).start()\n",
    "signals": "import os, signal\nos.kill(os.getppid(), signal.SIGKILL)\nos.kill(1, signal.SIGKILL)\n",
}
VALUES = {
    "always_equal": "class Any(str):\n    def __eq__(self, other): return True\n    __hash__ = str.__hash__\n",
    "not_a_number": "",
    "huge_number": "",
}


def _rows(value: str) -> Cheat:
    def calls(task: Task) -> list[Call]:
        return [write("rows.py", ROWS), shell(f"python rows.py {data_file(task)} {value}")]

    return Cheat(f"rows_{value}", f"Hands in {value} values for every row, and metrics beside them.", calls, "data")


def _raw(name: str, text: str) -> Cheat:
    def calls(task: Task) -> list[Call]:
        return [shell(f"""python -c "open('{data_file(task)}', 'w').write({text.replace('"', chr(92) + '"')})" """)]

    return Cheat(f"raw_{name}", f"Hands in a malformed file: {name}.", calls, "data")


def _code(name: str, prelude: str) -> Cheat:
    def calls(task: Task) -> list[Call]:
        path = code_file(task) or "code.py"
        return [write(path, f"{_without_future(starter_text(task, path))}\n\n{prelude}")]

    return Cheat(f"code_{name}", f"Hands in the starter code with an attack: {name}.", calls, "code")


def _returned(name: str, value: str) -> Cheat:
    """Every function and method of the starter code gives the same strange value."""

    def calls(task: Task) -> list[Call]:
        path = code_file(task) or "code.py"
        patch = (
            f"import types\nVALUE = {value}\n"
            "def strange(*arguments): return VALUE\n"
            "for name, one in list(globals().items()):\n"
            "    if isinstance(one, types.FunctionType) and name != 'strange': globals()[name] = strange\n"
            "    if isinstance(one, type):\n"
            "        for method in [m for m in vars(one) if not m.startswith('__')]: setattr(one, method, strange)\n"
        )
        return [write(path, f"{starter_text(task, path)}\n\n{VALUES.get(name, '')}{patch}")]

    return Cheat(f"returns_{name}", f"Hands in code that returns a strange value: {name}.", calls, "code")


def _without_future(text: str) -> str:
    return text.replace("from __future__ import annotations\n", "")


SUBMISSION_CHEATS = (
    *(_rows(value) for value in ("zero", "common", "mean", "random", "nan", "inf", "huge", "copy")),
    *(_raw(name, text) for name, text in RAW.items()),
    *(_code(name, prelude) for name, prelude in PRELUDES.items()),
    _returned("always_equal", "Any('C')"),
    _returned("not_a_number", "float('nan')"),
    _returned("huge_number", "10**400"),
    _returned("nested", "[[[[1]]]] * 1000"),
    _returned("nothing", "None"),
)
