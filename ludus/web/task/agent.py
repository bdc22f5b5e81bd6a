"""`BrowserAgent`: a person in a browser: a page shows what came of each call, and sends the next one."""

from collections.abc import Callable, Sequence
from functools import partial

import msgspec

from ludus.core import Step
from ludus.errors import InvalidArgument
from ludus.server.protocols.web_api.page_json import plain
from ludus.tasks.agents.events import task_metadata
from ludus.tasks.spec import TaskSpec
from ludus.tools import Call, Calls, ToolOutcome
from ludus.trajectory.event import EventValue
from ludus.web.local_server import PageServer, nobody
from ludus.web.task.app import task_app
from ludus.web.task.conversation import Conversation

__all__ = ["BrowserAgent"]


class BrowserAgent:
    """Asks a person at `url`, an address of this machine that nobody can guess; each call is a step of the run.

    `watch` is to be called with each step, as `run_task` does: the page then shows rewards, budgets and the score.

    >>> from ludus.tasks import find_task
    >>> with BrowserAgent(find_task("sat_heuristic").spec) as agent:
    ...     agent.url.startswith("http://127.0.0.1:")
    True
    """

    name = "human"

    def __init__(self, spec: TaskSpec, *, port: int = 0, ready: Callable[[str], object] = nobody) -> None:
        marks: dict[str, float] = task_metadata(spec, self.name, 0)["marks"][
            f"normalised ({spec.evaluation.hidden_split})"
        ]
        evaluation = {"metric": spec.evaluation.metric, "direction": spec.evaluation.direction_known}
        self._left = {"steps": spec.max_steps, "validations": spec.evaluation.validations}
        known: dict[str, object] = {"task": spec.env_id, "name": spec.name, "marks": marks, "budget": self._left}
        self._talk = Conversation(known | evaluation)
        self._space: Calls | None = None
        self._call: Call | None = None
        self._step: dict[str, object] = {}
        make_app = partial(task_app, self._talk, self._understood)
        self._running = PageServer(make_app, port=port, ready=ready).start("ludus-task")
        self.url = self._running.url

    # --- what a run asks of an agent ---

    def begin(self, description: str, space: Calls) -> None:
        """Show what is asked, and which tools there are."""
        self._space, self._call, self._step = space, None, {}
        shown = {name: tool for name, tool in space.tools.items() if name != "text"}
        self._talk.tell(description=description, tools=Calls(shown).json_schema())

    def act(self, observation: ToolOutcome) -> Call | str:
        """Show what came of the last call, and wait for the next one."""
        self._show(observation)
        self._call, self._step = self._talk.call(), {}
        return self._call

    def recall(self, call: Call, observation: ToolOutcome) -> None:
        """Show a step of before."""
        self._show(observation)
        self._call = call
        self._left["steps"] -= 1
        self._left["validations"] -= call.tool == "validate"

    def events(self) -> Sequence[EventValue]:
        """None."""
        return ()

    # --- what the run tells ---

    def watch(self, call: Call, step: Step[ToolOutcome]) -> None:
        """Keep what a step was worth; the last one is shown at once, since nobody is asked after it."""
        self._call, info = call, step.info
        self._step = {"reward": float(step.reward), "command": plain(info.get("command", {}))}
        self._talk.tell(budget=info.get("budget", {}), usage=info.get("usage", {}))
        if step.terminated or step.truncated:
            self._show(step.observation)
            score: object = info.get("score", {})
            self._talk.tell(over={"outcome": str(info.get("outcome", "")), "score": plain(score)})

    def _show(self, observation: ToolOutcome) -> None:
        if self._call is None:  # the first one is the description, which has a place of its own
            return
        call = {"tool": self._call.tool, "arguments": plain(self._call.arguments)}
        outcome = {"result": observation.result, "error": observation.error}
        self._talk.tell({"call": call, **outcome, **self._step})

    def _understood(self, data: bytes) -> Call:
        """A call that a page sent, checked before anything is done."""
        if self._space is None:
            raise InvalidArgument("act: expected a run that has begun, got one that still makes its workspace")
        return self._space.coerce(msgspec.json.decode(data), "call")

    def close(self) -> None:
        """End the page, once it has heard of the end; harmless twice."""
        self._talk.close()
        self._running.close()

    def __enter__(self) -> "BrowserAgent":
        return self

    def __exit__(self, *error: object) -> None:
        self.close()
