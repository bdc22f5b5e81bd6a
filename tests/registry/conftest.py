"""Real packages for the registry to find, and a shared registry that every test gets back as it was."""

import sys
from base64 import urlsafe_b64encode
from collections.abc import Callable, Iterator, Mapping
from hashlib import sha256
from pathlib import Path

import pytest

import ludus
from ludus.registry import Registry
from ludus.registry.plugins import discover

SAMPLES = '''
import ludus
from ludus.spaces import Discrete


class Count(ludus.Env):
    """Counts its steps."""

    metadata = {"render_modes": ["ansi", "rgb_array"]}

    def __init__(self, start=0, step_size=1, render_mode=None, labels=()):
        self.observation_space, self.action_space = Discrete(10_000), Discrete(2)
        self.start, self.step_size, self.render_mode, self.labels = start, step_size, render_mode, labels

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.count = self.start
        return self.count, {}

    def step(self, action):
        self.count += self.step_size
        return ludus.Step.transition(self.count)


class Blind(Count):
    """Has no modes and takes none."""

    metadata = {"render_modes": []}

    def __init__(self, size):
        super().__init__()
        self.size = size


class Scale(ludus.RewardWrapper):
    """Scales rewards."""

    def __init__(self, env, factor, *, offset=0.0):
        super().__init__(env)
        self.factor, self.offset = factor, offset

    def reward(self, reward):
        return reward * self.factor + self.offset


def count_from_seven(**kwargs):
    return Count(start=7, **kwargs)


def scaled_count():
    return Scale(Count(), 2.0)


def forgetful():
    Count()


def foreign():
    return object()


NUMBER = 3
'''


class Site:
    """A folder on sys.path that packages are installed into, as an installer would leave them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def write(self, path: str, text: str) -> None:
        file = self.folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf8")

    def install(self, name: str, announces: Mapping[str, str] | str, files: Mapping[str, str] | None = None) -> None:
        """A distribution with these entry points for Ludus, and these files."""
        info = f"{name.replace('-', '_')}-1.0.dist-info"
        lines = announces if isinstance(announces, str) else "".join(f"{k} = {v}\n" for k, v in announces.items())
        self.write(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        self.write(f"{info}/entry_points.txt", f"[console_scripts]\nx = y:z\n\n[ludus.envs]\n{lines}")
        for path, text in (files or {}).items():
            self.write(path, text)

    def record(self, name: str, *, unhashed: tuple[str, ...] = ()) -> None:
        """Write down every file of a distribution that was installed alone here, as an installer does."""
        info = f"{name.replace('-', '_')}-1.0.dist-info"
        rows = [f"{info}/RECORD,,"]
        for file in sorted(self.folder.rglob("*")):
            path = file.relative_to(self.folder).as_posix()
            if file.is_file() and "__pycache__" not in path and not path.endswith("/RECORD"):
                value = urlsafe_b64encode(sha256(file.read_bytes()).digest()).decode().rstrip("=")
                rows.append(f"{path},," if path in unhashed else f"{path},sha256={value},{file.stat().st_size}")
        self.write(f"{info}/RECORD", "\n".join(rows) + "\n")

    def registry(self) -> Registry:
        """A new registry that finds what is installed here."""
        return Registry(discover)


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    """An empty place to install packages into; what tests import from it is forgotten."""
    before = set(sys.modules)
    monkeypatch.syspath_prepend(str(tmp_path))
    yield Site(tmp_path)
    for name in set(sys.modules) - before:
        if str(tmp_path) in str(getattr(sys.modules[name], "__file__", "")):
            del sys.modules[name]


@pytest.fixture
def samples(site: Site) -> Callable[[str], str]:
    """Entry points of a module with environments and wrappers: `samples("Count")`."""
    site.write("sample_module.py", SAMPLES)
    return lambda name: f"sample_module:{name}"


@pytest.fixture
def shared() -> Iterator[Registry]:
    """The program's own registry, given back as it was."""
    before = set(ludus.registry.registry)
    yield ludus.registry.registry
    for name in set(ludus.registry.registry) - before:
        del ludus.registry.registry[name]
