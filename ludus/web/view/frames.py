"""`Frames`: the pictures of a run's episodes, drawn by executing them again, where that is allowed."""

from collections import OrderedDict
from contextlib import suppress

import numpy as np

from ludus.core.env import AnyEnv
from ludus.errors import LudusError, shorten
from ludus.registry import make
from ludus.server.protocols.web_api.frame import Frame, as_frame, best_mode
from ludus.server.protocols.web_api.keys import key_table
from ludus.server.protocols.web_api.page_json import plain
from ludus.trajectory import RecordedEpisode, Run
from ludus.web.view.lane import LaneReplay
from ludus.web.view.steps import SeenStep, picture
from ludus.web.view.trust import untrusted

__all__ = ["PAGE_FRAMES", "Frames"]

PAGE_FRAMES = 8
"""Frames that are asked for together."""
MAX_KEPT_FRAMES = 512
USUAL_FPS = 30.0


class Frames:
    """Draws one run; for one thread, since many engines that draw know no other. `trust` is the user's word for it.

    `isolation` is what the environment is made behind, as for `make`; sandboxed, it needs no trust.
    """

    def __init__(self, run: Run, *, trust: bool = False, isolation: str | None = None) -> None:
        self.run, self.isolation = run, isolation
        process = isolation not in (None, "none")
        self.why = "" if trust or process else untrusted(run.header)
        """Why nothing is executed; empty where it may be."""
        self.needs_trust = bool(self.why) and run.header.spec is not None
        self._env: AnyEnv | None = None
        self._lane: LaneReplay | None = None
        self._drawn: OrderedDict[tuple[int, int], Frame | None] = OrderedDict()
        self._differs: dict[int, str] = {}

    def about(self) -> dict[str, object]:
        """Whether there are frames, and why not; what actions are called, and how fast it is meant to be seen."""
        env = self._made()
        fps: object = USUAL_FPS if env is None else env.metadata.get("render_fps", USUAL_FPS)
        return plain(
            {
                "executed": env is not None,
                "frames": env is not None and env.render_mode is not None,
                "why": self.why or ("" if env is None or env.render_mode else "The environment draws nothing."),
                "needs_trust": self.needs_trust,
                "fps": float(fps) if isinstance(fps, int | float) and 0 < fps < 1000 else USUAL_FPS,
                "labels": {} if env is None else {one["action"]: one["label"] for one in key_table(env)["buttons"]},
            }
        )

    def frame(self, episode: RecordedEpisode, step: int) -> Frame | None:
        """The picture after so many steps, as JSON; None where there is none."""
        key = episode.number, step
        if key in self._drawn:
            return self._drawn[key]
        drawn = self._draw(episode, step)
        if drawn is None or drawn["kind"] != "error":  # what failed may do better when it is asked again
            self._drawn[key] = drawn
            if len(self._drawn) > MAX_KEPT_FRAMES:
                self._drawn.popitem(last=False)
        return drawn

    def differs(self, episode: RecordedEpisode) -> str:
        """In words, where executing an episode again gave something else than its file says; as far as was seen."""
        return self._differs.get(episode.number, "")

    def executed(self, episode: RecordedEpisode, first: int, end: int) -> list[SeenStep]:
        """What executing it again gives: observation, reward and info of these states."""
        if self._made() is None:
            return []
        try:
            return [self._go(episode, step) for step in range(first, end)]
        except Exception as error:  # the environment's own code
            self._differs.setdefault(episode.number, _told(error))
            return []

    def close(self) -> None:
        """Close the environment."""
        if self._env is not None:
            self._env.close()

    # --- how ---

    def _draw(self, episode: RecordedEpisode, step: int) -> Frame | None:
        env = self._made()
        try:
            if env is None or env.render_mode is None:
                pixels = picture(episode, step)
                return None if pixels is None else as_frame(pixels)
            self._go(episode, step)
            return as_frame(env.render())
        except Exception as error:  # an environment that fails here has failed there too, perhaps
            return {"kind": "error", "data": _told(error)}

    def _go(self, episode: RecordedEpisode, step: int) -> SeenStep:
        env = self._made()
        if env is None:
            raise LudusError(self.why)
        if self._lane is None or self._lane.lane != episode.lane:
            self._lane = LaneReplay(self.run, episode.lane, env)
        seen = self._lane.go(episode, step)
        if step and episode.number not in self._differs and self.run.chunks.has("steps/reward"):
            rows = episode.rows[step : step + 1]
            recorded = self.run.chunks.numbers("steps/reward", episode.lane, rows)[0]
            if not np.array_equal(recorded, np.asarray(seen[1], np.float64), equal_nan=True):
                said = (
                    f"step {step}: the file has the reward {plain(recorded)}, executing it again gave {plain(seen[1])}"
                )
                self._differs[episode.number] = said
        return seen

    def _made(self) -> AnyEnv | None:
        """The environment, made once; None where it must not be, or cannot be."""
        if self._env is None and not self.why:
            try:
                self._env = self._make()
            except Exception as error:  # whatever its code does
                self.why = _told(error)
        return self._env

    def _make(self) -> AnyEnv:
        header = self.run.header
        spec = header.env_spec()
        # Wrappers around a batch are made where the environment is: theirs is a stranger's code, too.
        spec = spec.replace(
            isolation_record=None, additional_wrappers=(*spec.additional_wrappers, *header.batch_wrappers())
        )
        first = make(spec, disable_env_checker=True, isolation=self.isolation)
        mode = best_mode(first.metadata.get("render_modes") or [])
        env = first
        if mode is not None and first.render_mode != mode:
            with suppress(Exception):  # its metadata promises what its constructor does not take: it goes undrawn
                env = make(spec, disable_env_checker=True, isolation=self.isolation, kwargs={"render_mode": mode})
                first.close()
        return env


def _told(error: Exception) -> str:
    return str(plain(str(error) if isinstance(error, LudusError) else f"{type(error).__name__}: {shorten(str(error))}"))
