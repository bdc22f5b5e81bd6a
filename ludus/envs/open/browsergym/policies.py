"""Ways to act in a browser: one that knows how, one that clicks about, one that waits, one that writes nonsense."""

import numpy as np

from ludus.envs.open.browsergym.benchmark import PageEpisode
from ludus.envs.open.browsergym.browsergym import BrowserGym, BrowserGymAction, BrowserGymObservation, Chosen
from ludus.envs.open.browsergym.sites import SiteEpisode
from ludus.envs.open.browsergym.solutions import solve
from ludus.envs.open.browsergym.tree import elements

__all__ = ["POLICIES"]

WORDS = ("yes", "12", "blue", "robin")


def oracle(env: BrowserGym, observation: BrowserGymObservation, rng: np.random.Generator) -> BrowserGymAction:
    """What solves the task: for MiniWoB++ from what is seen, for our sites from what only this process knows."""
    del rng
    episode: PageEpisode = env.get_wrapper_attr("_episode")
    chosen: Chosen = env.get_wrapper_attr("_choice")
    done = len(chosen.actions)
    if isinstance(episode, SiteEpisode):
        actions = episode.task.actions
        return BrowserGymAction(actions[min(done, len(actions) - 1)])
    return BrowserGymAction(solve(episode.name.partition(".")[2], observation))


def random(env: object, observation: BrowserGymObservation, rng: np.random.Generator) -> BrowserGymAction:
    """An element by chance, clicked or filled."""
    del env
    found = elements(observation.axtree_txt)
    if not found:
        return BrowserGymAction("noop()")
    one = found[int(rng.integers(len(found)))]
    if one.role == "textbox":
        return BrowserGymAction(f"fill('{one.bid}', '{rng.choice(WORDS)}')")
    return BrowserGymAction(f"click('{one.bid}')")


def nop(env: object, observation: BrowserGymObservation, rng: np.random.Generator) -> BrowserGymAction:
    """Nothing, for a second."""
    del env, observation, rng
    return BrowserGymAction("noop()")


def garbage(env: object, observation: BrowserGymObservation, rng: np.random.Generator) -> BrowserGymAction:
    """Signs in no order."""
    del env, observation
    signs = list("()[]{}:=+-*/ \nclick'0123\"\x00é☃")
    return BrowserGymAction("".join(rng.choice(signs, 30).tolist()))


POLICIES = {"oracle": oracle, "random": random, "nop": nop, "garbage": garbage}
"""By name; each takes the environment, an observation and a generator, and gives an action."""
