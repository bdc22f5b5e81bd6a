"""Tasks in a real browser: read the page as a tree, act by calls; `python examples/browser_tasks.py`."""

import re

import ludus
from ludus.envs.open import BrowserGymAction


def answer(goal: str, tree: str) -> str:
    """A rule in place of a model: click what the goal names, or fill in what it quotes."""
    elements = re.findall(r"\[(\d+)\] (\S+) '([^']*)'", tree)
    quoted = re.findall(r'"([^"]*)"', goal)
    fields = [bid for bid, role, _ in elements if role == "textbox"]
    buttons = [bid for bid, role, name in elements if role == "button" and (not quoted or name in (*quoted, "Submit"))]
    fills = [f"fill('{bid}', {text!r})" for bid, text in zip(fields, quoted, strict=False)]
    return "\n".join([*fills, f"click('{buttons[0]}')" if buttons else "noop()"])


with ludus.make("open/BrowserGym-v0") as env:
    for task in ("click-test", "click-button", "enter-text"):
        observation, info = env.reset(seed=1, options={"task_name": task})
        action = answer(observation.goal, observation.axtree_txt)
        step = env.step(BrowserGymAction(action))
        print(f"{task}: {observation.goal!r}\n  {action!r} -> reward {step.reward}, won: {step.info['facts']['won']}")
