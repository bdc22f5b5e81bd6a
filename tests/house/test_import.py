"""`import ludus` opens NumPy and little else."""

import re

HEAVY = {
    "numba", "llvmlite", "gymnasium", "pydantic", "torch", "jax", "ray", "scipy", "pandas", "matplotlib",
    "fastapi", "starlette", "uvicorn", "websockets", "anyio",
    "typer", "click", "rich", "yaml", "pytest", "hypothesis",
}  # fmt: skip

BUDGET_MS = 40


def test_importing_ludus_opens_no_heavy_package(run_alone):
    program = "import sys, numpy; before = set(sys.modules); import ludus; print(*(set(sys.modules) - before))"
    loaded = {name.partition(".")[0] for name in run_alone("-c", program).stdout.split()}
    assert loaded & HEAVY == set()


def test_importing_ludus_imports_no_environment_and_no_plugin(run_alone):
    loaded = run_alone("-c", "import sys, ludus; print(*sys.modules)").stdout.split()
    assert [name for name in loaded if name.startswith("ludus.envs.")] == []


def test_importing_ludus_costs_at_most_40_ms_over_numpy(run_alone):
    assert min(cost_ms(run_alone) for _ in range(6)) <= BUDGET_MS


def cost_ms(run_alone) -> float:
    """What `import ludus` adds once NumPy is there, as the interpreter itself reports it."""
    report = run_alone("-X", "importtime", "-c", "import numpy\nimport ludus").stderr
    # Top-level imports are not indented: `import time:  self [us] |  cumulative | name`.
    found = re.search(r"^import time:\s*\d+ \|\s*(\d+) \| ludus$", report, flags=re.MULTILINE)
    assert found, report
    return int(found[1]) / 1000
