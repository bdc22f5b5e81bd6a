"""`EnvFolder`: a folder under examination."""

from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from ludus.core import EnvSpec
from ludus.core.env import AnyEnv
from ludus.core.foreign_file import read_foreign_file, read_foreign_toml
from ludus.errors import LudusError
from ludus.packaging.contents import Contents, contents
from ludus.packaging.manifest import Manifest, read_manifest
from ludus.registry import make
from ludus.spaces.kinds import is_dict
from ludus.testing.history import HistoryEvent, play
from ludus.testing.rule import Unchecked

if TYPE_CHECKING:
    from ludus.sandbox import Sandbox

__all__ = ["PROJECT", "EnvFolder"]

PROJECT = "pyproject.toml"


class EnvFolder:
    """A folder with a manifest, and the seed and number of steps that its environment is run with."""

    def __init__(self, path: str | Path, *, seed: int = 0, steps: int = 100) -> None:
        self.path, self.seed, self.steps = Path(path).expanduser(), seed, steps
        self.name = str(path)
        self._made: list[AnyEnv] = []

    @cached_property
    def manifest(self) -> Manifest:
        """What it says of itself; raises Unchecked where that cannot be read, which is a finding of its own."""
        try:
            return read_manifest(self.path)
        except LudusError as error:
            raise Unchecked("manifest-is-readable has to hold first") from error

    @cached_property
    def contents(self) -> Contents:
        """What belongs to it."""
        return contents(self.path)

    @cached_property
    def project(self) -> dict[str, object]:
        """The table `project` of its pyproject.toml; Unchecked where there is none."""
        path = self.path / PROJECT
        if not path.is_file():
            raise Unchecked(f"there is no {PROJECT}")
        try:
            data: dict[str, object] = read_foreign_toml(read_foreign_file(path))
        except (OSError, msgspec.DecodeError, UnicodeDecodeError) as error:
            raise Unchecked(f"{PROJECT} cannot be read: {error}") from error
        found = data.get("project")
        return found if is_dict(found) else {}

    @property
    def spec(self) -> EnvSpec:
        """Its environment; Unchecked for an application."""
        if self.manifest.kind == "asgi":
            raise Unchecked("it is an application, whose rules are its own: they are checked at its address")
        return self.manifest.spec

    def make(self, isolation: "str | Sandbox | None" = None) -> AnyEnv:
        """Its environment, made in a sandbox; by default the one that it asks for."""
        env = make(self.spec, isolation=isolation, disable_env_checker=True, kwargs={})
        self._made.append(env)
        return env

    def play(self, env: AnyEnv) -> list[HistoryEvent]:
        """The history of the seed."""
        return play(env, seed=self.seed, steps=self.steps)

    def tidy(self) -> None:
        """Close what was made."""
        while self._made:
            with suppress(Exception):
                self._made.pop().close()
