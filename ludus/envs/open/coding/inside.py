"""The interpreter inside the sandbox: it runs cells in one namespace, and a function on inputs.

The text of this file is what is started there, by whatever Python is there. It imports little, and what is rarely used
only where it is: that makes a start several times cheaper. Whatever it says is the word of the code that it runs, and
is taken as that: what a function should give is never told to it.
"""

from __future__ import annotations

import _ast
import builtins
import io
import os
import resource
import sys
from _json import encode_basestring_ascii as quoted

TYPE_CHECKING = False
if TYPE_CHECKING:
    import signal as _signal
    from collections.abc import Callable, Sequence
    from importlib.machinery import ModuleSpec
    from types import ModuleType
    from typing import Any, Protocol, TypeGuard

    class CellValue(Protocol):
        """What a cell gave."""

        output: object

    class Executor(Protocol):
        """What is used of smolagents' executor."""

        custom_tools: dict[str, object]
        state: dict[str, object]

        def __call__(self, code: str, /) -> CellValue: ...
        def send_tools(self, tools: dict[str, object], /) -> None: ...
else:
    import _signal  # without the enums of `signal`

__all__ = ["main", "plain"]

CHANNEL = 3
ONLY_TREE = 0x400
"""Of `compile`: as `ast.parse` asks for it."""
PROCESS_ERRORS = ("BlockingIOError", "can't start new thread", "Resource temporarily unavailable")
MAX_RESULT_CHARS = 200_000
"""Characters of one result."""
FRAMES = 20


class TimeLimitExceeded(BaseException):
    """The cell took too long; no `except Exception` holds it back."""


def _is_listed(value: object) -> TypeGuard[list[object] | tuple[object, ...]]:
    return isinstance(value, list | tuple)


def _is_set(value: object) -> TypeGuard[set[object] | frozenset[object]]:
    return isinstance(value, set | frozenset)


def _is_dict(value: object) -> TypeGuard[dict[object, object]]:
    return isinstance(value, dict)


def plain(value: object) -> object:
    """A result as JSON has it: tuples are lists, sets are sorted, and dictionaries pairs, whatever their keys are."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if _is_listed(value):
        return [plain(one) for one in value]
    if _is_set(value):
        return {"set": sorted((plain(one) for one in value), key=repr)}
    if _is_dict(value):
        pairs = [[plain(key), plain(one)] for key, one in value.items()]
        return {"dict": sorted(pairs, key=repr)}
    raise TypeError(f"expected numbers, text, lists, tuples, sets or dictionaries, got {type(value).__name__}")


class CellOutput:
    """Descriptors 1 and 2 as files in memory, so that what other processes print is caught as well."""

    def __init__(self, limit: int) -> None:
        self.limit, self.dropped = limit, 0
        self.files = {number: os.memfd_create(f"stream{number}") for number in (1, 2)}
        for number, file in self.files.items():
            os.dup2(file, number)
        sys.stdout, sys.stderr = stream(1), stream(2)

    def texts(self) -> list[str]:
        """Both streams, cut to the limit."""
        for one in (sys.stdout, sys.stderr):
            try:  # noqa: SIM105  (contextlib would be one more import)
                one.flush()
            except (OSError, ValueError):
                pass  # it was closed, or is longer than a file may be
        return [self._text(file) for file in self.files.values()]

    def _text(self, file: int) -> str:
        size = os.fstat(file).st_size
        data = os.pread(file, self.limit, 0)
        os.close(file)
        dropped = max(0, size - len(data))
        self.dropped += dropped
        return data.decode("utf8", "replace") + (f"\n[{dropped} bytes dropped]\n" if dropped else "")


def stream(number: int) -> io.TextIOWrapper:
    """A descriptor as text, which it does not close."""
    return io.TextIOWrapper(os.fdopen(number, "wb", closefd=False), encoding="utf8", errors="replace")


class SeededRandom:
    """A finder of `random` alone, which begins with the episode's seed; imported at the start it would cost 10 ms."""

    def __init__(self, seed: int) -> None:
        self.seed = seed

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Called before all other finders."""
        if name != "random":
            return None
        found = sys.meta_path[-1].find_spec(name, path, target)
        loader = None if found is None else found.loader
        if loader is None:
            return found
        run = loader.exec_module

        def run_seeded(module: ModuleType) -> None:
            run(module)
            module.seed(self.seed)

        loader.exec_module = run_seeded
        return found


class CellInterpreter:
    """One namespace, and the cells that ran in it."""

    def __init__(self) -> None:
        self.namespace: dict[str, object] = {"__name__": "__main__", "__builtins__": builtins, "submit": self.submit}
        self.namespace |= {"exit": sys.exit, "quit": sys.exit}  # as `site` has them, which is not loaded
        self.sources: dict[str, str] = {}
        self.submitted = False
        self.error = ""

    def submit(self) -> None:
        """Hand the program in: everything that was run so far is graded, and the episode ends."""
        self.submitted = True

    def cell(self, code: str, seconds: float, limit: int) -> str:
        """Run a cell, and tell how it went, as JSON."""
        self.submitted, self.error = False, ""
        capture = CellOutput(limit)
        exit_code, reason = self._guarded(code, seconds)
        stdout, stderr = capture.texts()
        reason = reason or ("output" if capture.dropped else "")
        if not reason and any(word in stderr for word in PROCESS_ERRORS):
            reason = "processes"
        texts = {"stdout": stdout, "stderr": stderr, "limit": reason, "error": self.error}
        parts = [f'"{name}":{quoted(text)}' for name, text in texts.items()]
        return f'{{{",".join(parts)},"exit_code":{exit_code},"submitted":{"true" if self.submitted else "false"}}}'

    def _guarded(self, code: str, seconds: float) -> tuple[int, str]:
        try:
            _signal.setitimer(_signal.ITIMER_REAL, seconds)
            try:
                self._run(code)
            finally:
                _signal.setitimer(_signal.ITIMER_REAL, 0)
        except TimeLimitExceeded:
            sys.stderr.write(f"the time limit of {seconds:g} seconds was reached\n")
            return 124, "time"
        except SystemExit as end:
            if isinstance(end.code, str):
                sys.stderr.write(f"{end.code}\n")
            return (end.code & 255 if isinstance(end.code, int) else int(end.code is not None)), ""
        except BaseException as error:
            self.error = type(error).__name__
            self._complain(error)
            return 1, "memory" if isinstance(error, MemoryError) else ""
        return 0, ""

    def _run(self, code: str) -> None:
        name = f"<cell {len(self.sources) + 1}>"
        self.sources[name] = code
        tree = compile(code, name, "exec", ONLY_TREE)
        body = tree.body if isinstance(tree, _ast.Module) else []
        last = body[-1] if body else None
        if isinstance(last, _ast.Expr):
            body.pop()
        else:
            last = None
        exec(compile(_ast.Module(body, []), name, "exec"), self.namespace)  # noqa: S102  (what it is for)
        if last is not None:
            value = eval(compile(_ast.Expression(last.value), name, "eval"), self.namespace)  # noqa: S307
            if value is not None:
                sys.stdout.write(f"{value!r}\n")

    def _complain(self, error: BaseException) -> None:
        trace = error.__traceback__
        while trace is not None and not trace.tb_frame.f_code.co_filename.startswith("<cell"):
            trace = trace.tb_next
        try:
            import linecache
            import traceback

            for name, code in self.sources.items():
                linecache.cache[name] = len(code), None, code.splitlines(keepends=True), name
            traceback.print_exception(type(error), error, trace, limit=-FRAMES, file=sys.stderr)
        except BaseException:  # there is no memory or time left to tell, or the code has changed how
            sys.stderr.write(f"{type(error).__name__}\n")

    def function(self, name: str) -> Any:
        """What a cell defined."""
        return self.namespace[name]

    def call(self, question: str, seconds: float, limit: int) -> str:
        """Run a program anew, and its function on each of the inputs; question and answer are JSON."""
        from json import dumps, loads  # by themselves: the program may change the module

        request = loads(question)
        for code in request["cells"]:
            self.cell(code, seconds, limit)
        nowhere = os.open(os.devnull, os.O_WRONLY)
        for number in (1, 2):
            os.dup2(nowhere, number)
        results = [self._result(request["function"], arguments, seconds, dumps) for arguments in request["inputs"]]
        return f'{{"results":[{",".join(results)}]}}'

    def _result(self, function: str, arguments: list[object], seconds: float, dumps: Callable[[object], str]) -> str:
        try:
            _signal.setitimer(_signal.ITIMER_REAL, seconds)
            try:
                value = dumps(plain(self.function(function)(*arguments)))
            finally:
                _signal.setitimer(_signal.ITIMER_REAL, 0)
            return f'{{"value":{value}}}' if len(value) <= MAX_RESULT_CHARS else '{"error":"TooLong"}'
        except BaseException as error:
            return f'{{"error":{quoted(type(error).__name__)}}}'


class SmolagentsInterpreter(CellInterpreter):
    """Cells are read and carried out by smolagents' `LocalPythonExecutor`, which knows a part of Python only.

    Its package asks for much that the executor itself does not use: of all its modules only the two that it needs are
    loaded, in a hundredth of the time.
    """

    def __init__(self, folder: str) -> None:
        super().__init__()
        from importlib import import_module
        from types import ModuleType

        sys.path.append(folder)
        parts = {name: ModuleType(name) for name in ("smolagents", "smolagents.tools")}
        parts["smolagents"].__path__ = [f"{folder}/smolagents"]
        vars(parts["smolagents.tools"])["Tool"] = type("Tool", (), {})
        sys.modules.update(parts)

        functions = {"submit": self.submit, "exit": sys.exit, "quit": sys.exit}
        made: Callable[..., Executor] = import_module("smolagents.local_python_executor").LocalPythonExecutor
        self.executor = made([], additional_functions=functions, timeout_seconds=None)
        self.executor.send_tools({})

    def function(self, name: str) -> Any:
        """What a cell defined."""
        return self.executor.custom_tools.get(name) or self.executor.state[name]

    def _run(self, code: str) -> None:
        tree = compile(code, "<cell>", "exec", ONLY_TREE)  # its own word for what is no Python is another
        try:
            value = self.executor(code).output
        finally:
            sys.stdout.write(str(self.executor.state.get("_print_outputs", "")))
        body = tree.body if isinstance(tree, _ast.Module) else []
        if value is not None and body and isinstance(body[-1], _ast.Expr):
            sys.stdout.write(f"{value!r}\n")

    def _complain(self, error: BaseException) -> None:
        sys.stderr.write(f"{type(error).__name__}: {error}\n")


def main(seed: int, memory: int, smolagents: str = "") -> None:
    """Answer one question after another, until the other side closes."""
    os.set_inheritable(CHANNEL, False)
    sys.meta_path.insert(0, SeededRandom(seed))
    interpreter = SmolagentsInterpreter(smolagents) if smolagents else CellInterpreter()
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))  # an exception in the code, before the sandbox kills all
    if "random" in sys.modules:
        sys.modules["random"].seed(seed)

    def late(*_: object) -> None:
        raise TimeLimitExceeded

    _signal.signal(_signal.SIGALRM, late)
    send('{"ready":true}')
    while True:
        head, _, text = receive().partition("\n")
        kind, seconds, limit = head.split(" ")
        work = interpreter.cell if kind == "cell" else interpreter.call
        try:
            answer = work(text, float(seconds), int(limit))
        except TimeLimitExceeded:  # the alarm rang between the end of the code and its own
            answer = '{"exit_code":124,"stderr":"the time limit was reached\\n","limit":"time"}'
        send(answer)


def send(answer: str) -> None:
    """A frame: its length in four bytes, and text."""
    data = answer.encode()
    data = len(data).to_bytes(4, "big") + data
    while data:
        data = data[os.write(CHANNEL, data) :]


def receive() -> str:
    """The next frame; the end of the process where there is none any more."""
    return taken(int.from_bytes(taken(4), "big")).decode()


def taken(size: int) -> bytes:
    """So many bytes."""
    data = b""
    while len(data) < size:
        piece = os.read(CHANNEL, size - len(data))
        if not piece:
            os._exit(0)
        data += piece
    return data
