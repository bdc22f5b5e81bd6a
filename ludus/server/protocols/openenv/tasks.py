"""Tasks: the routes for environments that say which tasks they have, by methods of the names that OpenEnv uses."""

from collections.abc import Awaitable, Callable
from typing import NamedTuple

from starlette.routing import BaseRoute, Route

from ludus.errors import InvalidArgument, listing, shorten
from ludus.remote.host import EnvHost
from ludus.server.protocols.openenv.env_endpoint import EnvEndpoint
from ludus.server.protocols.openenv.exchange import Endpoint, HttpReply, HttpRequest, json_reply
from ludus.spaces.kinds import is_dict, is_iterable
from ludus.spaces.shown import shown

__all__ = ["Tasks", "routes"]

Answer = Callable[[HttpRequest], Awaitable[HttpReply]]
Shape = Callable[[object, str], object]
SPLIT_TYPES = ("train", "validation", "test")


def _split(told: object) -> object:
    """A split as OpenEnv's clients read it; what an author says of one beyond its name is left as it is."""
    if is_dict(told):
        return told
    name = str(told)
    return {"name": name, "type": name if name in SPLIT_TYPES else "validation"}


def _splits(found: object, _: str) -> list[object]:
    if not is_iterable(found):
        raise TypeError(f"list_splits: expected a list, got {shorten(found)}")
    return [_split(one) for one in found]


def _tasks(found: object, env_name: str) -> dict[str, object]:
    return {"tasks": found, "env_name": env_name}


def _named(key: str) -> Shape:
    return lambda found, _: {key: found}


class Missing(Exception):
    """The environment has no such method."""


class Question(NamedTuple):
    """What one route asks of an environment, with which arguments, and how the answer is told."""

    method: str
    keys: tuple[str, ...]
    shape: Shape


QUESTIONS: dict[str, Question] = {
    "splits": Question("list_splits", (), _splits),
    "tasks": Question("list_tasks", ("split",), _tasks),
    "num_tasks": Question("num_tasks", ("split",), _named("num_tasks")),
    "task": Question("get_task", ("split", "index"), _named("task")),
    "task_range": Question("get_task_range", ("split", "start", "stop"), _named("tasks")),
}


class Tasks:
    """The tasks of a server's environments. Each request has an instance of its own, in a session that ends with it."""

    def __init__(self, endpoint: EnvEndpoint) -> None:
        self.endpoint, self.server = endpoint, endpoint.server

    async def environments(self, asked: HttpRequest) -> HttpReply:
        """The names that the other routes take."""
        asked.principal.need("read", "list_environments")
        return json_reply(self.endpoint.names(asked.scope.get("root_path", "")))

    def answers(self, question: Question) -> Answer:
        """What answers one of the questions."""
        return lambda asked: self._answer(asked, question)

    async def _answer(self, asked: HttpRequest, question: Question) -> HttpReply:
        asked.principal.need("run", "tasks")
        name, names = asked.scope["path_params"]["env"], self.endpoint.names(asked.scope.get("root_path", ""))
        if name not in names:
            return json_reply({"detail": f"env: expected one of {listing(names)}, got {shorten(name)}"}, 404)
        arguments = _arguments(asked.data(), question.keys)
        session = await self.server.sessions.open(name, asked.principal)
        try:
            found = await session.call(lambda hosted: shown(_called(hosted, question.method, arguments), "tasks"))
        except Missing:
            return json_reply({"detail": f"{question.method} is not supported for this environment"}, 501)
        except (IndexError, KeyError, ValueError) as error:
            return json_reply({"detail": f"{question.method}: expected a task that there is, got none: {error}"}, 400)
        finally:
            await self.server.sessions.close(session)
        return json_reply(question.shape(found, name))


def _arguments(data: dict[str, object], keys: tuple[str, ...]) -> list[object]:
    if data.keys() != set(keys):
        raise InvalidArgument(f"task: expected {listing(keys) or 'no body'}, got {listing(data) or 'nothing'}")
    for name, one in data.items():
        if not isinstance(one, str if name == "split" else int) or isinstance(one, bool):
            raise InvalidArgument(f"{name}: expected {'text' if name == 'split' else 'an integer'}, got {shorten(one)}")
    return [data[name] for name in keys]


def _called(hosted: EnvHost, method: str, arguments: list[object]) -> object:
    if not hosted.env.has_wrapper_attr(method):
        raise Missing(method)
    return hosted.env.get_wrapper_attr(method)(*arguments)


def routes(endpoint: EnvEndpoint) -> list[BaseRoute]:
    """`/list_environments`, and the tasks of each environment under its name."""
    tasks = Tasks(endpoint)
    asking: list[BaseRoute] = [
        Route(f"/{{env:path}}/{name}", Endpoint(tasks.answers(one), endpoint), methods=["POST" if one.keys else "GET"])
        for name, one in QUESTIONS.items()
    ]
    return [Route("/list_environments", Endpoint(tasks.environments, endpoint), methods=["GET"]), *asking]
