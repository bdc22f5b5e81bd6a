"""`open/SumoRL-v0` beside sumo-rl's own `SumoEnvironment`: whether both see and reward the same, and steps a second.

    pip install --no-deps sumo-rl && pip install gymnasium pettingzoo pandas sumolib   # into an environment of its own
    PYTHON=that/bin/python .venv/bin/python benchmarks/sumo_peer.py

Both run the same network, the same vehicles, the same seed of SUMO and the same actions, by libsumo; SUMO itself is the
one of this interpreter.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from sysconfig import get_path
from typing import Any

import numpy as np

REWARDS = ("diff-waiting-time", "average-speed", "queue", "pressure")
SECONDS, STEPS = 900, 120


def ours(reward: str, routes: Path) -> dict[str, Any]:
    """What an episode told, and what the other needs to play it."""
    from ludus.envs.open.sumo import SumoAction, SumoRL  # not in sumo-rl's interpreter

    with SumoRL(num_seconds=SECONDS, reward_fn=reward) as env:
        first, _ = env.reset(seed=3)
        actions = np.random.default_rng(0).integers(0, 2, STEPS).tolist()
        steps = [env.step(SumoAction(actions[0]))]  # which starts the simulation, as their reset does
        begun = time.perf_counter()
        steps += [env.step(SumoAction(one)) for one in actions[1:]]
        speed = (STEPS - 1) / (time.perf_counter() - begun)
        history = [[list(first.observation), 0.0], *([list(one.observation.observation), one.reward] for one in steps)]
        run: Any = vars(env)["_run"]
    routes.write_text(run.routes, encoding="utf8")
    return {"told": history, "speed": speed, "net": run.net, "seed": run.seed, "actions": actions}


def theirs(reward: str, routes: str, net: str, seed: int, actions: list[int]) -> dict[str, Any]:
    """The same of sumo-rl's class, in the interpreter that has it."""
    from sumo_rl import SumoEnvironment  # type: ignore[import-not-found]

    env = SumoEnvironment(
        net_file=net, route_file=routes, num_seconds=SECONDS, delta_time=5, yellow_time=2, min_green=5, max_green=50,
        reward_fn=reward, sumo_seed=seed, single_agent=True, add_system_info=False, sumo_warnings=False,
        max_depart_delay=-1,
    )  # fmt: skip
    history = [[env.reset()[0].tolist(), 0.0]]
    steps = [env.step(actions[0])[:2]]
    begun = time.perf_counter()
    steps += [env.step(one)[:2] for one in actions[1:]]
    speed = (STEPS - 1) / (time.perf_counter() - begun)
    return {"told": history + [[one.tolist(), float(worth)] for one, worth in steps], "speed": speed}


def by_sumo_rl(python: str, reward: str, routes: Path, own: dict[str, Any]) -> dict[str, Any]:
    """One run of theirs in its interpreter."""
    site = get_path("platlib")
    asked = (reward, str(routes), own["net"], own["seed"], own["actions"])
    played = f"print(json.dumps(sumo_peer.theirs(*{asked!r})))"
    code = f"import json, sys; sys.path.append({site!r}); import sumo_peer; {played}"
    given = {"PYTHONPATH": str(Path(__file__).parent), "SUMO_HOME": f"{site}/sumo", "LIBSUMO_AS_TRACI": "1"}
    done = subprocess.run(
        [python, "-c", code], env={**os.environ, **given}, stdout=subprocess.PIPE, text=True, check=True
    )
    return json.loads(done.stdout.splitlines()[-1])


def main() -> int:
    """A line for each reward; 1 where anything differs by more than numbers of 32 bits do."""
    python, worst = os.environ.get("PYTHON"), 0.0
    if not python:
        print("not measured: expected PYTHON=an/interpreter that has sumo-rl, got none (see the top of this file)")
        return 0
    with tempfile.TemporaryDirectory() as folder:
        for reward in REWARDS:
            routes = Path(folder, "vehicles.rou.xml")
            own = ours(reward, routes)
            other = by_sumo_rl(python, reward, routes, own)
            pairs = list(zip(own["told"], other["told"], strict=True))
            seen = max(float(np.abs(np.subtract(a[0], b[0])).max()) for a, b in pairs)
            paid = max(abs(a[1] - b[1]) for a, b in pairs)
            speeds = f"{own['speed']:.0f} and {other['speed']:.0f} steps/s"
            print(f"{reward}: observations differ by at most {seen:.2g}, rewards by {paid:.2g}; {speeds}", flush=True)
            worst = max(worst, seen, paid)
    return int(worst > 1e-6)


if __name__ == "__main__":
    sys.exit(main())
