"""A task done by a person in a browser: an agent whose calls come from a page on this machine.

Not here: the person in a terminal, who is `ludus.tasks.agents.HumanAgent`, and recorded runs, which `ludus view` shows.
"""

from ludus.web.task.agent import BrowserAgent

__all__ = ["BrowserAgent"]
