"""Machine code on disk: loaded without the compiler, and never anything but what was written there."""

import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from ludus.kernels import RuleEnv, Rules
from ludus.kernels.batch import KernelVectorEnv
from ludus.kernels.disk_cache import MachineCode, read_code, write_code
from ludus.kernels.exact.symbols import provide
from ludus.kernels.machine import undefined_symbols
from ludus.spaces import Discrete

ROOT = Path(__file__).parents[2]
PROGRAM = """
import sys
import numpy as np
from ludus.kernels.batch import KernelVectorEnv
from tests.kernels.two_walks import Forward
envs = KernelVectorEnv(Forward, 2)
envs.reset(seed=0)
print("numba" in sys.modules, envs.step(np.array([0, 1])).observation.tolist())
"""


def ran(folder):
    environment = {name: value for name, value in os.environ.items() if not name.startswith("COV")}
    environment |= {"LUDUS_CACHE_DIR": str(folder)}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], cwd=ROOT, env=environment, capture_output=True, text=True, check=True
    )
    loaded, _, seen = done.stdout.partition(" ")
    return loaded == "True", seen, done.stderr


def test_a_batch_from_disk_needs_no_compiler_and_a_file_that_was_changed_is_compiled_again(tmp_path):
    loaded, seen, told = ran(tmp_path)
    assert loaded
    assert "compiling the rules" in told
    assert ran(tmp_path) == (False, seen, "")
    (code,) = (tmp_path / "kernels").glob("*two_walks*.code")
    whole = code.read_bytes()
    code.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
    assert ran(tmp_path)[:2] == (True, seen)
    assert code.read_bytes()[:15] == whole[:15]
    assert ran(tmp_path) == (False, seen, "")


UNUSED = {
    "ctypes.util",
    "importlib.metadata",
    "ludus.envs.classic.acrobot",
    "ludus.rendering.pixels",
    "numba",
    "subprocess",
}
"""What a batch that is on disk is made without: each takes milliseconds to load."""
MADE = """
import sys
import ludus
from ludus.kernels import machine
compiled = []
machine.object_of = compiled.append
ludus.make_vec("CartPole-v1", 2).close()
print(compiled, sorted(set(sys.argv[1:]) & set(sys.modules)))
"""


def test_a_batch_from_disk_loads_neither_other_environments_nor_what_nobody_asked_for(tmp_path):
    environment = {name: value for name, value in os.environ.items() if not name.startswith("COV")}
    environment |= {"LUDUS_CACHE_DIR": str(tmp_path)}
    command = [sys.executable, "-c", MADE, *UNUSED]
    subprocess.run(
        [sys.executable, "-c", MADE.replace("machine.object_of =", "_ =")], cwd=ROOT, env=environment, check=True
    )
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[] []"


def test_code_is_read_only_as_it_was_written(tmp_path):
    path, code = tmp_path / "a.code", MachineCode("entry", b"\x7fELF" + bytes(100))
    write_code(path, code)
    assert read_code(path) == code
    whole = path.read_bytes()
    for wrong in (b"", whole[:40], whole[:-1], whole + b"!", whole.replace(b"entry", b"other"), whole[1:]):
        path.write_bytes(wrong)
        assert read_code(path) is None
    path.write_bytes(whole)
    path.chmod(0o666)
    assert read_code(path) is None, "others may write to it"
    path.chmod(0o600)
    assert read_code(path) == code
    link = tmp_path / "b.code"
    link.symlink_to(path)
    assert read_code(link) is None
    assert read_code(tmp_path / "c.code") is None
    write_code(tmp_path / "nowhere" / "d.code", code)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_the_code_of_another_user_is_not_run(tmp_path):
    path = tmp_path / "a.code"
    write_code(path, MachineCode("entry", b"data"))
    os.chown(path, 65534, 65534)
    assert read_code(path) is None


def test_symbols_are_found_where_the_interpreter_has_them():
    for name in ("tanh", "exp", "add", "maximum", "arctan2", "logaddexp"):
        assert provide(f"ludus_numpy_{name}_d"), name
        assert isinstance(getattr(np, name), np.ufunc)
    assert all(map(provide, ("ludus_pow", "ludus_erf", "sincos", "memcpy")))
    assert not any(map(provide, ("ludus_numpy_nothing_d", "ludus_numpy_zeros_d", "ludus_nothing", "no_such_symbol")))


def test_an_object_that_is_none_of_this_machine_has_no_known_symbols():
    assert undefined_symbols(b"") is None
    assert undefined_symbols(b"\xcf\xfa\xed\xfe" + bytes(60)) is None


class Counted(NamedTuple):
    count: int


class Free(NamedTuple):
    nothing: int = 0


GAIN = 2.0


def gaining(state, action, rng, params):
    return Counted(state.count + 1), GAIN, False


class Gaining(RuleEnv):
    observation_space, action_space = Discrete(99), Discrete(2)
    rules = Rules(Counted, Free, lambda rng, params: Counted(0), gaining, lambda state, params: state.count)


def test_a_batch_has_the_constants_of_when_it_was_made(monkeypatch):
    for gain in (2.0, 3.0):
        monkeypatch.setitem(globals(), "GAIN", gain)
        batch, alone = KernelVectorEnv(Gaining, 1), Gaining()
        batch.reset(seed=0)
        alone.reset(seed=0)
        assert batch.step(np.zeros(1, int)).reward.tolist() == [alone.step(0).reward] == [gain]
