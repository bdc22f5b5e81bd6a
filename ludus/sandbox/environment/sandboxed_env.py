"""`SandboxedEnv`: an environment that lives in a sandboxed process, and is an `Env` here."""

from collections.abc import Sequence

from ludus.core import EnvSpec
from ludus.remote.codec import EnvCodec
from ludus.remote.env import ProxyEnv
from ludus.sandbox.backend import Guarantees, Usage
from ludus.sandbox.deadlines import Deadlines
from ludus.sandbox.environment.process_link import RESERVED, ProcessLink
from ludus.spaces import Space

__all__ = ["SandboxedEnv"]

EnvState = tuple[bytes, object, int | None, bool]
"""What its process exported; and on this side the last observation, the seed, and whether an episode has begun."""


class SandboxedEnv(ProxyEnv):
    """An environment in isolation: the same API, spaces, seeds and errors, and nothing that comes from it is trusted.

    What it gives is held to the spaces it announced. A process that ends, or takes too long, cuts the episode: it is
    `truncated`, with the last observation and the reason in `info["sandbox"]`; the next `reset` starts a new process.

    >>> from ludus.sandbox.environment import isolate
    >>> env = isolate("ludus.envs.teaching.grid_world:GridWorld", {"size": 3}, "process")
    >>> env.reset(seed=0)
    (array([0, 0]), {'goal': array([2, 1])})
    >>> env.step(1).observation
    array([1, 0])
    >>> env.guarantees.backend
    'process'
    >>> env.close()
    """

    _link: ProcessLink

    def __init__(
        self,
        link: ProcessLink,
        spec: EnvSpec | None = None,
        *,
        known: Sequence[type[Space[object]]] = (),
        models: Sequence[type] = (),
    ) -> None:
        made = link.open()
        try:
            codec = EnvCodec(made, known=known, models=models, reserved=RESERVED)
        except BaseException:
            link.abandon()
            raise
        super().__init__(link, codec, spec)

    def interrupt(self) -> None:
        """Kill its process, from whichever thread: the step that is under way in another ends as truncated."""
        self._link.interrupt()

    def export_state(self, lanes: None = None) -> EnvState:
        """Where the environment is, for `import_state` of one sandboxed alike; only its process opens it."""
        del lanes
        return self._link.export(), self._last, self._seed, self._begun

    def import_state(self, state: EnvState) -> None:
        """Go on from where another one was."""
        exported, last, seed, begun = state
        self._link.take([exported])
        self._last, self._seed, self._begun = last, seed, begun

    @property
    def name(self) -> str:
        """Of the environment's class, as its process says."""
        return self._codec.name

    @property
    def guarantees(self) -> Guarantees:
        """What is in force for its process."""
        return self._link.process.guarantees

    def usage(self) -> Usage:
        """What its process has used so far, or did use."""
        return self._link.process.usage()

    @property
    def deadlines(self) -> Deadlines:
        """How long it may take for what."""
        return self._link.deadlines

    def __repr__(self) -> str:
        name = self._codec.name if self.spec is None else self.spec.id
        return f"<SandboxedEnv({self.guarantees.backend})<{name}>>"

    __str__ = __repr__
