"""`python -m ludus.interop.as_gymnasium script.py …`: a program written for Gymnasium, unmodified, on Ludus."""

import runpy
import sys
from pathlib import Path
from types import ModuleType

from ludus.interop.as_gymnasium.installation import install

__all__ = ["main"]

USAGE = """usage: python -m ludus.interop.as_gymnasium script.py [argument …]
       python -m ludus.interop.as_gymnasium -m module [argument …]

Run a program written for Gymnasium on Ludus: `import gymnasium` gives Ludus, whether Gymnasium is installed or not."""


def main(arguments: list[str]) -> int:
    """Run the program that the arguments name, as if it had been started by itself."""
    if not arguments or arguments[0] in ("-h", "--help") or arguments == ["-m"]:
        sys.stderr.write(f"{USAGE}\n")
        return 0 if arguments[:1] in (["-h"], ["--help"]) else 2
    install()
    if arguments[0] == "-m":
        sys.argv[:] = arguments[1:]
        sys.path.insert(0, "")
        runpy.run_module(arguments[1], run_name="__main__", alter_sys=True)
    else:
        _run_script(arguments)
    return 0


def _run_script(arguments: list[str]) -> None:
    """Not by `runpy.run_path`: it takes `__main__` away again before the functions run that the program left behind."""
    path = Path(arguments[0])
    if not path.is_file():
        sys.stderr.write(f"as_gymnasium: expected a program, got no file {str(path)!r}\n")
        raise SystemExit(2)
    sys.argv[:] = arguments
    sys.path.insert(0, str(path.resolve().parent))
    program = ModuleType("__main__")
    program.__file__ = str(path)
    program.__builtins__ = __builtins__  # type: ignore[attr-defined]
    sys.modules["__main__"] = program
    exec(compile(path.read_bytes(), str(path), "exec"), program.__dict__)  # noqa: S102  (it is what was asked for)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
