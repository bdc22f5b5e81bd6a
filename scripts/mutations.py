"""Mutations: does the suite notice when the library is wrong? `make mutations`, a part of `make test-full`.

Each mutation is one line of one room, changed as a mistake would change it, in a copy of the repository. The tests of
that room have to fail there. One that they miss is a hole in the suite; one whose line is not found any more has to be
chosen anew.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
COPIED = ("ludus", "tests", "docs", "examples", "benchmarks", "scripts", "requirements")
FILES = ("pyproject.toml", "README.md", "Makefile", "mkdocs.yml")
PATIENCE_S = 900.0


@dataclass(frozen=True)
class Mutation:
    """A mistake: `before` stands once in the file, and becomes `after`; the tests under `tests` have to see it."""

    room: str
    mistake: str
    file: str
    before: str
    after: str
    tests: str

    def mutated(self, text: str) -> str:
        """The text with the mistake in it; ValueError where it cannot be made."""
        if text.count(self.before) != 1:
            raise ValueError(
                f"{self.file}: expected {self.before!r} once, got it {text.count(self.before)} times; "
                "choose another line of this room for scripts/mutations.py"
            )
        return text.replace(self.before, self.after)


MUTATIONS = (
    Mutation(
        "core",
        "a snapshot forgets where the generators of spaces were",
        "ludus/core/snapshot.py",
        "            mine.copy_rng_from(value)\n",
        "",
        "tests/core",
    ),
    Mutation(
        "spaces",
        "Discrete takes integers of dtypes that do not fit its own",
        "ludus/spaces/discrete.py",
        "fits = number.dtype == self.dtype or np.can_cast(number.dtype, self.dtype)",
        "fits = True",
        "tests/spaces",
    ),
    Mutation(
        "kernels",
        "the time limit of a compiled lane counts on through its next episode",
        "ludus/kernels/source.py",
        "            elapsed[i] = 0\n",
        "",
        "tests/kernels",
    ),
    Mutation(
        "vector",
        "an episode that is begun by autoreset has not the seed that is planned for it",
        "ludus/vector/lane.py",
        "seed, self.seed = self.seed if episode.seed is None else episode.seed, None",
        "seed, self.seed = self.seed, None",
        "tests/vector",
    ),
    Mutation(
        "wrappers",
        "after an autoreset, the time limit of a lane counts the step that began its episode",
        "ludus/wrappers/time_limit.py",
        "clock + (self._mode is not SAME_STEP))",
        "clock)",
        "tests/wrappers",
    ),
    Mutation(
        "envs",
        "the pole may lean a little further",
        "ludus/envs/classic/cartpole.py",
        "theta_threshold_radians: float = 12 * 2 * pi / 360",
        "theta_threshold_radians: float = 12.1 * 2 * pi / 360",
        "tests/envs",
    ),
    Mutation(
        "registry",
        "max_episode_steps=-1 is a limit like others",
        "ludus/registry/make.py",
        "return None if number == NO_LIMIT else number",
        "return number",
        "tests/registry",
    ),
    Mutation(
        "rendering",
        "colours of half a pixel are rounded down",
        "ludus/rendering/blend.py",
        "(covered * 255.0 + (0.5 + 1e-9))",
        "(covered * 255.0)",
        "tests/rendering",
    ),
    Mutation(
        "sandbox",
        "shared memory of System V is everybody's",
        "ludus/sandbox/bwrap.py",
        '["--unshare-ipc", "--unshare-pid",',
        '["--unshare-pid",',
        "tests/sandbox/test_hostile.py",
    ),
    Mutation(
        "wire",
        "what a frame announces is not counted before it is there",
        "ludus/wire/frame.py",
        "left -= 1 + children",
        "left -= 1",
        "tests/wire",
    ),
    Mutation(
        "remote",
        "every environment that takes the place of another begins as the first of them did",
        "ludus/remote/env.py",
        "        self._restarts += 1\n",
        "        self._restarts = 1\n",
        "tests/remote tests/sandbox/test_environment_endings.py tests/client",
    ),
    Mutation(
        "server",
        "a token has one session more than it may",
        "ludus/server/sessions.py",
        "self._held[owner.name] >= most",
        "self._held[owner.name] > most",
        "tests/server/test_sessions.py tests/server/test_access.py tests/server/test_limits.py",
    ),
    Mutation(
        "client",
        "an answer to another request is taken for the answer to this one",
        "ludus/client/session.py",
        "if self._dialogue.take(answered) is None or answered.number != number:",
        "if self._dialogue.take(answered) is None:",
        "tests/client",
    ),
    Mutation(
        "interop",
        "a tuple on its way back from Gymnasium keeps what Gymnasium made of its parts",
        "ludus/interop/gymnasium_values.py",
        "tuple(part.enter(one) for part, one in zip(parts, value, strict=True))",
        "tuple(one for part, one in zip(parts, value, strict=True))",
        "tests/interop",
    ),
    Mutation(
        "tasks",
        "a submission that is a link to another file is read",
        "ludus/tasks/grading/submission.py",
        "FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC",
        "FILE = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC",
        "tests/tasks",
    ),
    Mutation(
        "trajectory",
        "the order of the groups of a long row is not in its digest",
        "ludus/trajectory/digest.py",
        "np.add.reduce(groups * powers[::-1])",
        "np.add.reduce(groups)",
        "tests/trajectory",
    ),
    Mutation(
        "evaluate",
        "an interval is that of other draws for each call",
        "ludus/evaluate/intervals.py",
        "[statistic(one) for one in redrawn(found, resamples, seed)]",
        "[statistic(one) for one in redrawn(found, resamples, id(found) % 2**32)]",
        "tests/evaluate",
    ),
    Mutation(
        "rubrics",
        "a gate opens above its threshold, and not at it",
        "ludus/rubrics/combination.py",
        "return found if found >= self.threshold else 0.0",
        "return found if found > self.threshold else 0.0",
        "tests/rubrics",
    ),
    Mutation(
        "tools",
        "an argument that has a default is asked for after a description was read",
        "ludus/tools/calls.py",
        "read, bool(required), None",
        "read, True, None",
        "tests/tools",
    ),
    Mutation(
        "packaging",
        "an image has whichever release of Ludus is the newest",
        "ludus/packaging/requirements.py",
        '[f"{DISTRIBUTION}[serve]=={__version__}",',
        '[f"{DISTRIBUTION}[serve]",',
        "tests/packaging",
    ),
)


@dataclass(frozen=True)
class Verdict:
    """What became of a mutation: `caught` by the test that is named, or why not."""

    caught: bool
    said: str
    seconds: float


def copy_of(root: Path, folder: Path) -> Path:
    """The repository, as far as tests need it; what programs compiled or installed beside it is linked."""
    for name in COPIED:
        if (root / name).is_dir():
            shutil.copytree(root / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in FILES:
        if (root / name).is_file():
            shutil.copy2(root / name, folder / name)
    (folder / "build").mkdir()
    if (root / "build" / "peers").exists():
        (folder / "build" / "peers").symlink_to((root / "build" / "peers").resolve())
    return folder


def tried(mutation: Mutation, root: Path, options: list[str]) -> Verdict:
    """Run the tests of a mutation in a copy of the repository that has the mistake."""
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="mutation-", dir=_scratch(root), ignore_cleanup_errors=True) as name:
        folder = copy_of(root, Path(name))
        file = folder / mutation.file
        try:
            file.write_text(mutation.mutated(file.read_text(encoding="utf8")), encoding="utf8")
        except ValueError as error:
            return Verdict(False, str(error), 0.0)
        command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *options]
        done = subprocess.run(
            [*command, *mutation.tests.split()],
            cwd=folder,
            env=environment(folder, root),
            capture_output=True,
            text=True,
            timeout=PATIENCE_S,
            check=False,
        )
    said = next((line for line in done.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))), "")
    # 2: a run of several workers that ends at its first failure counts as interrupted.
    caught = done.returncode in (1, 2) and bool(said)
    return Verdict(caught, said or done.stdout[-300:], time.monotonic() - began)


def environment(folder: Path, root: Path) -> dict[str, str]:
    """The copy is what is imported, with bytecode; compiled kernels, named by what they are made of, are shared."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return {**kept, "PYTHONPATH": str(folder), "LUDUS_CACHE_DIR": str(root / "build" / "cache")}


def _scratch(root: Path) -> Path:
    """Beside the code, not in /tmp: what sandboxes hide is hidden there."""
    folder = root / "build" / "mutations"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def chosen(rooms: list[str]) -> Iterator[Mutation]:
    """Those of the rooms that are named; of all, where none is."""
    return (one for one in MUTATIONS if not rooms or one.room in rooms)


def main() -> None:
    """Try each, print a line for each, and end with 1 where one is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("rooms", nargs="*", help="of which rooms; by default all")
    parser.add_argument("--root", type=Path, default=ROOT, help="the repository that is copied")
    parser.add_argument("--jobs", type=int, default=2, help="workers of pytest; 0: none")
    given = parser.parse_args()
    missed = 0
    for mutation in chosen(given.rooms):
        verdict = tried(mutation, given.root.resolve(), ["-n", str(given.jobs), "--dist", "loadgroup"])
        missed += not verdict.caught
        word = "caught" if verdict.caught else "MISSED"
        print(f"{word} {mutation.room:<10} {verdict.seconds:4.0f} s  {mutation.mistake}")
        print(f"       {verdict.said}", flush=True)
    if missed:
        sys.exit(f"mutations: {missed} missed")


if __name__ == "__main__":
    main()
