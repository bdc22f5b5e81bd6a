"""`EnvEndpoint`: one environment as OpenEnv's protocol has it: reset, step and state of a session, as JSON."""

import asyncio
from time import monotonic
from typing import NamedTuple

from ludus.core import Info
from ludus.core.options import Options
from ludus.errors import InvalidArgument, shorten
from ludus.remote.host import EnvHost, HostStep
from ludus.server.access import Principal
from ludus.server.protocols.openenv.envelope import envelope, to_json
from ludus.server.protocols.openenv.json_format import JsonFormat
from ludus.server.served_env import ServedEnv
from ludus.server.server import Server
from ludus.server.session import Session
from ludus.spaces.kinds import is_dict
from ludus.spaces.shown import shown

__all__ = ["EnvEndpoint", "ResetAsked"]

NO_EPISODE: Info = {"episode_id": None, "step_count": 0}


class ResetAsked(NamedTuple):
    """What a reset asks for. All that is no seed and no name of the episode is an option of the environment's."""

    seed: object
    episode_id: object
    options: Options | None

    @classmethod
    def read(cls, data: dict[str, object]) -> "ResetAsked":
        """Out of the data of a message. Options stand beside the seed, or together under `options`."""
        others = {name: one for name, one in data.items() if name not in ("seed", "episode_id", "options")}
        together: object = data.get("options") or {}
        if not is_dict(together) or together.keys() & others.keys():
            raise InvalidArgument(f"options: expected an object of options not given twice, got {shorten(together)}")
        return cls(data.get("seed"), data.get("episode_id"), {**together, **others} or None)


class EnvEndpoint:
    """An environment of a server, with the form of its values. Replies are JSON: the envelope that OpenEnv has.

    Beside `observation`, `reward` and `done` it tells what that leaves out: `terminated`, `truncated`, `info`,
    `reward_components`, `session_id`, and whether a failure of infrastructure cut the episode.
    """

    def __init__(self, server: Server, served: ServedEnv) -> None:
        self.server, self.served = server, served
        self._form: JsonFormat | None = None
        self._first_state: dict[str, object] | None = None

    async def form(self) -> JsonFormat:
        """Made once: an environment has to be made for it, which may take its time."""
        if self._form is None:
            loop = asyncio.get_running_loop()
            self._form = JsonFormat(await loop.run_in_executor(None, self.served.description))
        return self._form

    async def open(self, principal: Principal, *, patience: float | None = None) -> Session:
        """A session of its own, for whoever may run one; waits for a place as the config says, or for `patience`."""
        asked, given = (await self.form()).arguments, self.served.arguments
        arguments = {name: one for name, one in asked.items() if name not in given}
        return await self.server.sessions.open(self.served.name, principal, arguments=arguments, patience=patience)

    def find(self, id: str) -> Session | None:
        """A session of this environment; None where that is another's. SessionLost where there is none."""
        session = self.server.sessions.find(id)
        return session if session.served is self.served and not session.lanes else None

    def names(self, root: str) -> list[str]:
        """The environments on offer under a path: all of the server's, or under `/env/NAME` that one."""
        mine = self.served.name
        return [mine] if root.endswith(f"/env/{mine}") else list(self.server.offered)

    # --- the episode ---

    async def reset(self, session: Session, data: dict[str, object], *, full: bool) -> bytes:
        """Begin an episode; `full` envelopes say `metadata` even if there is none."""
        asked, form = ResetAsked.read(data), await self.form()

        def work(hosted: EnvHost) -> bytes:
            outcome = hosted.reset(seed=asked.seed, options=asked.options, episode_id=asked.episode_id)
            return to_json(envelope(form.began(outcome), form.as_authored(outcome), session.id, full))

        return await session.call(work, long=True)

    async def step(
        self, session: Session, data: object, seconds: float | None = None, *, full: bool, begins: bool = False
    ) -> bytes:
        """Advance the episode by an action in its JSON form; `begins`: it may begin the first one, without a seed."""
        begin, form = monotonic(), self._form or await self.form()
        reading = form.reading(data)
        if reading is not None and reading.answer is not None:
            return to_json(envelope(reading.answer, HostStep(None, None, False, False, {}), session.id, full))

        def work(hosted: EnvHost) -> bytes:
            asked = form.reread(data, hosted) if reading is None else reading
            if begins and hosted.episode_id is None:
                hosted.reset()
            outcome = hosted.step(asked.action)
            return to_json(envelope(form.observed(asked, outcome), form.as_authored(outcome), session.id, full))

        reply = await session.call(work, seconds)
        self.server.metrics.step(self.served.name, monotonic() - begin)
        return reply

    async def first_state(self) -> dict[str, object]:
        """What the author shows before any episode, of an instance made for the purpose, once."""
        if self._first_state is None:
            loop = asyncio.get_running_loop()
            self._first_state = {**await loop.run_in_executor(None, _state_before, self.served), **NO_EPISODE}
        return self._first_state

    async def state(self, session: Session, *, private: bool) -> bytes:
        """The episode's name, its steps, and what the author shows."""
        return to_json(await session.call(lambda hosted: shown(hosted.state(private=private), "state")))


def _state_before(served: ServedEnv) -> dict[str, object]:
    try:
        with served.make() as env:
            return shown(env.state_data(), "state")
    except Exception:  # most environments have no state before their first reset, and say so in their own way
        return {}
