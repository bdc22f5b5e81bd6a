"""`import ludus` opens NumPy and little else."""

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
    # What others do on the machine can only add to it: one run within the budget shows that it is kept.
    assert any(cost_ms(run_alone) <= BUDGET_MS for _ in range(20))


def cost_ms(run_alone) -> float:
    """The processor's time that `import ludus` takes once NumPy is there: what else the machine does is not in it."""
    program = "import time, numpy; t = time.process_time(); import ludus; print(1000 * (time.process_time() - t))"
    return float(run_alone("-c", program).stdout)
