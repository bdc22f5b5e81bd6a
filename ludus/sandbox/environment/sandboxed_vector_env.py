"""`SandboxedVectorEnv`: a batch whose lanes live in sandboxed processes, each of which steps its share in one frame."""

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from ludus.core import AutoresetMode, EnvSpec, EpisodePlan
from ludus.errors import InvalidSpace
from ludus.remote.batch import ProxyVectorEnv
from ludus.remote.codec import BatchCodec
from ludus.remote.columns import ColumnsState
from ludus.remote.lane_group import LaneGroup
from ludus.sandbox.backend import Guarantees, Usage
from ludus.sandbox.environment.process_link import RESERVED, ProcessLink
from ludus.spaces import Space

__all__ = ["SandboxedVectorEnv"]

BatchState = tuple[list[bytes], tuple[ColumnsState, npt.NDArray[np.bool_]]]
"""What the processes exported of each lane, and what this side knows of them."""


class SandboxedVectorEnv(ProxyVectorEnv):
    """Lanes in isolation: some processes, each with its share of the lanes. Histories are those of one process.

    A process that ends, or takes too long, cuts the episodes of its lanes, as in `SandboxedEnv`; a new one takes its
    place when they are reset.

    >>> from ludus.sandbox.environment import isolate_vec
    >>> envs = isolate_vec("GridWorld-v0", {"size": 3}, "process", num_envs=3, workers=2)
    >>> envs.reset(seed=0)[1]["goal"]
    array([[2, 1],
           [1, 1],
           [2, 1]])
    >>> envs.step([1, 1, 0]).observation
    array([[1, 0],
           [1, 0],
           [0, 0]])
    >>> envs.close()
    """

    executor = "sandbox"

    def __init__(
        self,
        link_for: Callable[[int], ProcessLink],
        sizes: Sequence[int],
        *,
        autoreset_mode: AutoresetMode,
        episodes: EpisodePlan | None = None,
        spec: EnvSpec | None = None,
        known: Sequence[type[Space[object]]] = (),
        models: Sequence[type] = (),
    ) -> None:
        """`link_for(count)` is a link to a process of so many lanes, which is not started yet."""
        self._link_for, self._options = link_for, {"known": known, "models": models}
        self._links = [link_for(size) for size in sizes]
        try:
            shares, codec = self._open(sizes, autoreset_mode)
        except BaseException:
            for link in self._links:
                link.abandon()
            raise
        super().__init__(shares, codec, episodes=episodes, spec=spec)

    def _open(self, sizes: Sequence[int], mode: AutoresetMode) -> tuple[list[LaneGroup], BatchCodec]:
        """Start every process, then wait for each: they import at the same time."""
        for link in self._links:
            link.start()
        made = [link.handshake() for link in self._links]
        for number, one in enumerate(made):
            if (one.observation_space, one.action_space) != (made[0].observation_space, made[0].action_space):
                raise InvalidSpace(f"process {number}: expected the spaces of process 0, got others")
        codecs = {
            count: BatchCodec(made[0], count, mode, reserved=RESERVED, **self._options)
            for count in {*sizes, sum(sizes)}
        }
        begins = np.cumsum([0, *sizes])
        shares = [
            LaneGroup(link, codecs[size], int(begin))
            for link, size, begin in zip(self._links, sizes, begins[:-1], strict=True)
        ]
        return shares, codecs[sum(sizes)]

    @property
    def guarantees(self) -> Guarantees:
        """What is in force for its processes, which are sandboxed alike."""
        return self._links[0].process.guarantees

    def usage(self) -> tuple[Usage, ...]:
        """What each process has used so far, or did use."""
        processes = [link.env_process or link.last for link in self._links]
        return tuple(process.usage() for process in processes if process is not None)

    def interrupt(self) -> None:
        """Kill its processes, from whichever thread: the step that is under way in another ends as truncated."""
        for link in list(self._links):
            link.interrupt()

    def fork(self, lanes: object) -> "SandboxedVectorEnv":
        """A new batch, in new processes, whose lane `j` goes on from where lane `lanes[j]` is."""
        self._check_open("fork")
        chosen = [int(lane) for lane in self._forked_lanes(lanes)]
        count, number = len(chosen), min(len(self._links), len(chosen))
        sizes = [count // number + (place < count % number) for place in range(number)]
        twin = SandboxedVectorEnv(
            self._link_for, sizes, autoreset_mode=self._mode, episodes=self.episodes, spec=self.spec, **self._options
        )
        try:
            twin.import_state(self.export_state(chosen))
        except BaseException:
            twin.close()
            raise
        return twin

    def export_state(self, lanes: list[int] | None = None) -> BatchState:
        """Where lanes are, for `import_state` of a batch sandboxed alike; nobody but its processes opens it."""
        chosen = list(range(self.num_envs)) if lanes is None else lanes
        states: list[bytes] = []
        for lane in chosen:
            pairs = zip(self._shares, self._links, strict=True)
            share, link = next((one, link) for one, link in pairs if one.begin <= lane < one.end)
            states.append(link.export(lanes=[lane - share.begin]))
        return states, self._known(chosen)

    def import_state(self, state: BatchState) -> None:
        """Go on from where lanes of another batch were: lane `j` from the `j`-th of them."""
        states, known = state
        for share, link in zip(self._shares, self._links, strict=True):
            link.take(states[share.lanes])
        self._take_known(known)
