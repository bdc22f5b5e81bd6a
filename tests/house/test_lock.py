"""The lock file: it is what pyproject.toml asks for, and its check finds what is wrong with one."""

from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DEV = (ROOT / "requirements" / "dev.lock").read_text(encoding="utf8")
HASH = f"--hash=sha256:{'a' * 64}"
PROJECT = {
    "build-system": {"requires": ["hatchling>=1.27"]},
    "project": {
        "name": "Ludus_RL",
        "dependencies": ["numpy>=1.26"],
        "optional-dependencies": {
            "dev": ["ludus-rl[test]", "ruff==0.1"],
            "test": ["pytest>=8", "old; python_version < '3'"],
            "other": ["torch"],
        },
    },
}
GOOD = "\n".join(
    [
        "# by make lock",
        f"hatchling==1.27 {HASH}",
        f"numpy==2.0 \\\n    {HASH} \\\n    {HASH}",
        "    # via ludus",
        f"pytest==9.0 ; python_version >= '3' \\\n    {HASH}",
        f"ruff==0.1 \\\n    {HASH}",
    ]
)


@pytest.fixture(scope="module")
def lock(script):
    return script("lock")


def problems(lock, text):
    entries, wrong = lock.read(text)
    return [*wrong, *lock.complete(entries, PROJECT), *lock.hashed(entries)]


def test_a_complete_lock_is_good(lock):
    assert problems(lock, GOOD) == []
    assert [entry.hashes for entry in lock.read(GOOD)[0]] == [1, 2, 1, 1]


@pytest.mark.parametrize(
    ("before", "after", "problem"),
    [
        ("ruff==0.1", "ruff==0.2", "pyproject.toml wants ruff==0.1, the lock has 0.2"),
        ("numpy==2.0", "numpi==2.0", "pyproject.toml wants numpy>=1.26, the lock has none"),
        ("pytest==9.0", "pytest==7.0", "pyproject.toml wants pytest>=8, the lock has 7.0"),
        ("hatchling==1.27", "hatchling>=1.27", "hatchling>=1.27: expected one version, as in hatchling==1.0"),
        (f"ruff==0.1 \\\n    {HASH}", "ruff==0.1", "ruff==0.1: expected hashes, got none"),
        ("# by make lock", "--index-url https://example.org", "expected NAME==VERSION with hashes, got '--index-url"),
        ("# by make lock", "-e .", "expected NAME==VERSION with hashes, got '-e .'"),
        ("ruff==0.1", "ruff @ file:///tmp/ruff.whl", "ruff: expected a version, got a place: file:///tmp/ruff.whl"),
    ],
)
def test_what_is_wrong_with_a_lock_is_found(lock, before, after, problem):
    assert before in GOOD
    found = problems(lock, GOOD.replace(before, after))
    assert any(one.startswith(problem) for one in found), found


def test_what_is_installed_is_held_against_it(lock):
    entries, _ = lock.read(f"pytest==1.0 {HASH}\nnowhere-to-be-found==2.0 {HASH}\nold==1 ; python_version < '3' {HASH}")
    assert list(lock.installed(entries)) == [
        f"pytest: the lock has 1.0, installed is {pytest.__version__}",
        "nowhere-to-be-found: the lock has 2.0, installed is none",
    ]


def test_ours_names_no_place_and_no_torch():
    assert "://" not in DEV
    assert [line for line in DEV.splitlines() if line.startswith(("-", "torch", "/", "file:"))] == []


def test_ours_is_complete(lock, capsys):
    entries, wrong = lock.read(DEV)
    assert (wrong, list(lock.hashed(entries))) == ([], [])
    assert len(entries) > 50
