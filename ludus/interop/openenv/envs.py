"""The twelve as OpenEnv's guide has them: a client class each, beside the classes of its actions and observations.

What the guide imports from `envs.echo_env` and its neighbours is here, and its examples then run line by line. A class
is a client of a server by its address, of a container, or, where this machine has no image of the guide's name, of the
same environment served by this process: those that run foreign code do so in sandboxes of their own.
"""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from typing import Any, ClassVar, Generic, Self, TypeVar

import numpy as np

from ludus.client.access import ServerAccess
from ludus.client.address import read_address
from ludus.client.env_client import EnvClient
from ludus.client.result import StepResult
from ludus.envs.open.atari import AtariAction, AtariObservation
from ludus.envs.open.browsergym import BrowserAction, BrowserGymAction, BrowserGymObservation
from ludus.envs.open.chat import ChatAction, ChatObservation
from ludus.envs.open.coding import CodeAction, CodeObservation
from ludus.envs.open.connect4 import Connect4Action, Connect4Observation
from ludus.envs.open.dipg_safety import DIPGAction, DIPGObservation
from ludus.envs.open.echo import EchoAction, EchoObservation
from ludus.envs.open.finrl import FinRLAction, FinRLObservation
from ludus.envs.open.git import GitAction, GitObservation, clone_repo, execute_git_command, list_repos
from ludus.envs.open.openspiel import OpenSpielObservation
from ludus.envs.open.sumo import SumoAction, SumoObservation
from ludus.envs.open.textarena import TextArenaAction, TextArenaObservation
from ludus.errors import InvalidArgument, SandboxUnavailable, listing, shorten
from ludus.server import ServedEnv, serve
from ludus.spaces import Box, Record

__all__ = [
    "AtariAction",
    "AtariEnv",
    "AtariObservation",
    "BrowserAction",
    "BrowserGymAction",
    "BrowserGymEnv",
    "BrowserGymObservation",
    "ChatAction",
    "ChatEnv",
    "ChatObservation",
    "CodeAction",
    "CodeObservation",
    "CodingEnv",
    "Connect4Action",
    "Connect4Env",
    "Connect4Observation",
    "DIPGAction",
    "DIPGObservation",
    "DIPGSafetyEnv",
    "EchoAction",
    "EchoEnv",
    "EchoObservation",
    "FinRLAction",
    "FinRLEnv",
    "FinRLObservation",
    "GitAction",
    "GitEnv",
    "GitObservation",
    "OpenSpielAction",
    "OpenSpielEnv",
    "OpenSpielObservation",
    "SumoAction",
    "SumoObservation",
    "SumoRLEnv",
    "TextArenaAction",
    "TextArenaEnv",
    "TextArenaObservation",
    "clone_repo",
    "execute_git_command",
    "list_repos",
]

ActT = TypeVar("ActT")
ObsT = TypeVar("ObsT")
CLIENT = {"policy", "provider", "env_vars", "port", "message_timeout_s", "headers", "token"}
"""Options of the client; all others are arguments of the environment."""


class OpenClient(EnvClient[ActT, ObsT, Any], Generic[ActT, ObsT]):
    """A client of one of the twelve, whose observations are instances of its class."""

    env_id: ClassVar[str]
    image: ClassVar[str]
    """What the guide calls its image, without a tag."""
    observation: ClassVar[type]
    array: ClassVar[tuple[str, float, float, Any] | None] = None
    """The field of an observation whose length depends on the game: its name, least, most, and type."""

    @classmethod
    def from_docker_image(cls, image: str, **options: Any) -> Self:
        """A client of a container of the image, or of this process where the machine has none of the guide's name.

        What is no option of the client is an argument of the environment (`game="blackjack"`). A container takes
        `env_vars` in its place, by the names that OpenEnv has for them.
        """
        arguments = {name: options.pop(name) for name in set(options) - CLIENT}
        client = cls.from_image(image, **options)
        if options.get("provider") is None:
            client._place = partial(client._somewhere, image, arguments, options.get("env_vars"), client._place)
        elif arguments:
            raise InvalidArgument(_for_containers(arguments))
        return client

    def _somewhere(self, image: str, arguments: dict[str, Any], variables: Any, container: Callable[[], Any]) -> Any:
        try:
            found = container()
        except SandboxUnavailable as missing:
            if image.partition(":")[0].rpartition("/")[2].lower() != self.image:
                raise
            if variables:
                raise InvalidArgument(
                    f"{image}: expected arguments of {self.env_id} by name, since there is no such image here and it "
                    f"is served by this process, got env_vars={shorten(variables)}"
                ) from missing
            return self._served_here(image, arguments)
        if arguments:
            found[1]()
            raise InvalidArgument(_for_containers(arguments))
        return found

    def _served_here(self, image: str, arguments: dict[str, Any]) -> tuple[ServerAccess, Callable[[], None]]:
        warnings.warn(
            f"{image}: no such image on this machine, so {self.env_id} is served by this process, as "
            f"`ludus serve {self.env_id}` would",
            stacklevel=2,
        )
        running = serve(ServedEnv(self.env_id, arguments=arguments), port=0, block=False)
        self.base_url = running.url
        return ServerAccess(read_address(running.url), self._token), running.close

    def _parse_result(self, payload: dict[str, Any]) -> StepResult[ObsT]:
        told: dict[str, Any] = dict(payload.get("observation") or {})
        told.pop("metadata", None)
        seen: StepResult[Any] = super()._parse_result(payload)
        length = 0 if self.array is None else len(told[self.array[0]])
        seen.observation = _space(self.observation, self.array, length).read(told, "observation")
        return seen


@cache
def _space(model: type[Any], array: tuple[str, float, float, Any] | None, length: int) -> Record[Any]:
    if array is None:
        return Record(model)
    name, low, high, dtype = array
    return Record(model, spaces={name: Box(low, high, (length,), dtype)})


def _for_containers(arguments: dict[str, Any]) -> str:
    return f"from_docker_image: expected env_vars for a container, got {listing(sorted(arguments))}"


class EchoEnv(OpenClient[EchoAction, EchoObservation]):
    """The guide's first example.

    >>> import warnings
    >>> warnings.simplefilter("ignore")  # there is no such image here
    >>> client = EchoEnv.from_docker_image("echo-env:latest")
    >>> result = client.reset()
    >>> result = client.step(EchoAction(message="Hello!"))
    >>> result.observation.echoed_message, round(result.reward, 6)
    ('Hello!', 0.6)
    >>> client.close()
    """

    env_id, image, observation = "open/Echo-v0", "echo-env", EchoObservation


@dataclass
class OpenSpielAction:
    """A move by its number: `action_id`, which the guide calls `action`."""

    action_id: int | None = None
    game_name: str = ""
    game_params: dict[str, Any] | None = None
    action: int | None = None


class OpenSpielEnv(OpenClient[OpenSpielAction, OpenSpielObservation]):
    """`from_docker_image("openspiel-env:latest", game="blackjack")`, and any other game."""

    env_id, image, observation = "open/OpenSpiel-v0", "openspiel-env", OpenSpielObservation
    array = ("info_state", -np.inf, np.inf, np.float32)

    def _step_payload(self, action: Any) -> dict[str, Any]:
        fields = super()._step_payload(action)
        number = fields["action"] if fields.get("action_id") is None else fields["action_id"]
        kept = {name: fields[name] for name in ("game_name", "game_params") if fields.get(name)}
        return {"action_id": number, **kept}


class Connect4Env(OpenClient[Connect4Action, Connect4Observation]):
    """Four in a row."""

    env_id, image, observation = "open/Connect4-v0", "connect4-env", Connect4Observation


class AtariEnv(OpenClient[AtariAction, AtariObservation]):
    """Games of the console."""

    env_id, image, observation = "open/Atari-v0", "atari-env", AtariObservation
    array = ("screen", 0, 255, np.uint8)


class BrowserGymEnv(OpenClient[BrowserGymAction, BrowserGymObservation]):
    """A browser; the guide's `BrowserAction(action=…)` is an action, too."""

    env_id, image, observation = "open/BrowserGym-v0", "browsergym-env", BrowserGymObservation


class CodingEnv(OpenClient[CodeAction, CodeObservation]):
    """Python, cell by cell."""

    env_id, image, observation = "open/Coding-v0", "coding-env", CodeObservation


class ChatEnv(OpenClient[ChatAction, ChatObservation]):
    """Conversations, as messages and as tokens."""

    env_id, image, observation = "open/Chat-v0", "chat-env", ChatObservation


class GitEnv(OpenClient[GitAction, GitObservation]):
    """Repositories; the guide's `list_repos()`, `clone_repo(…)` and `execute_git_command(…)` make actions."""

    env_id, image, observation = "open/Git-v0", "git-env", GitObservation


class FinRLEnv(OpenClient[FinRLAction, FinRLObservation]):
    """Stocks."""

    env_id, image, observation = "open/FinRL-v0", "finrl-env", FinRLObservation


class SumoRLEnv(OpenClient[SumoAction, SumoObservation]):
    """Traffic lights."""

    env_id, image, observation = "open/SumoRL-v0", "sumo-rl-env", SumoObservation


class TextArenaEnv(OpenClient[TextArenaAction, TextArenaObservation]):
    """Games of words."""

    env_id, image, observation = "open/TextArena-v0", "textarena-env", TextArenaObservation


class DIPGSafetyEnv(OpenClient[DIPGAction, DIPGObservation]):
    """Answers that have to be grounded."""

    env_id, image, observation = "open/DIPGSafety-v0", "dipg-safety-env", DIPGObservation
