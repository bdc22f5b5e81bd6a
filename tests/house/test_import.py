"""`import ludus` opens NumPy and little else."""

HEAVY = {
    "numba", "llvmlite", "gymnasium", "pydantic", "torch", "jax", "ray", "scipy", "pandas", "matplotlib",
    "fastapi", "starlette", "uvicorn", "websockets", "anyio",
    "typer", "click", "rich", "yaml", "pytest", "hypothesis",
}  # fmt: skip

MAX_MODULES = 100


def test_importing_ludus_opens_no_heavy_package(run_alone):
    program = "import sys, numpy; before = set(sys.modules); import ludus; print(*(set(sys.modules) - before))"
    loaded = {name.partition(".")[0] for name in run_alone("-c", program).stdout.split()}
    assert loaded & HEAVY == set()


def test_importing_ludus_imports_no_environment_and_no_plugin(run_alone):
    loaded = run_alone("-c", "import sys, ludus; print(*sys.modules)").stdout.split()
    assert [name for name in loaded if name.startswith("ludus.envs.")] == []


def test_importing_ludus_opens_less_than_a_hundred_modules_over_numpy(run_alone):
    """Of our own, nearly all: what that takes of a processor, `benchmarks/imports.py` measures."""
    program = "import sys, numpy; before = set(sys.modules); import ludus; print(*(set(sys.modules) - before))"
    loaded = run_alone("-c", program).stdout.split()
    assert len(loaded) < MAX_MODULES
    assert len([name for name in loaded if not name.startswith("ludus")]) < 15


def test_making_an_open_environment_loads_none_of_the_others(run_alone):
    loaded = run_alone(
        "-c", "import sys, ludus; ludus.make('open/Echo-v0').close(); print(*sys.modules)"
    ).stdout.split()
    families = {name.split(".")[3] for name in loaded if name.startswith("ludus.envs.open.")}
    assert families == {"echo"}
