"""Compiling rules leaves Numba as it was for everybody else in the process."""

import subprocess
import sys

OTHERS = """
import sys
import numba
import numpy as np
from ludus.kernels.batch import KernelVectorEnv
from tests.kernels.two_walks import Forward

KernelVectorEnv(Forward, 2)
assert "scipy.linalg" not in sys.modules, "SciPy was loaded for rules, which do not use it"


@numba.njit
def row(n):
    return np.zeros(n) + np.ones(n)  # what the rules had compiled as well, now called by Python


assert row(3).tolist() == [1.0, 1.0, 1.0]
assert numba.njit(lambda a, b: a @ b)(np.eye(2), np.ones((2, 2))).tolist() == [[1.0, 1.0], [1.0, 1.0]]
assert numba.cfunc("float64(float64)")(lambda x: x + 1.0).ctypes(1.0) == 2.0
print("as it was")
"""


def test_numba_works_for_others_after_rules_were_compiled(tmp_path, monkeypatch):
    monkeypatch.setenv("LUDUS_CACHE_DIR", str(tmp_path))
    told = subprocess.run([sys.executable, "-c", OTHERS], capture_output=True, text=True, check=False)
    assert told.stdout == "as it was\n", told.stderr
