"""What an environment is: health, metadata, schemas, the OpenAPI document and the page that shows it."""

import asyncio
from inspect import cleandoc

from starlette.routing import BaseRoute, Route

from ludus.errors import LudusError
from ludus.server.protocols.openenv.env_endpoint import EnvEndpoint
from ludus.server.protocols.openenv.exchange import Endpoint, HttpReply, HttpRequest, json_reply
from ludus.server.protocols.openenv.openapi import Document, EnvMetadata, Schema, Schemas, document
from ludus.server.protocols.openenv.page import STYLE, page
from ludus.server.served_env import ServedEnv

__all__ = ["About", "routes", "state_schema"]

HTML = ((b"content-type", b"text/html; charset=utf-8"),)
CSS = ((b"content-type", b"text/css; charset=utf-8"),)
KINDS = ((bool, "boolean"), (int | float, "number"), (str, "string"), (list, "array"), (dict, "object"))


class About:
    """Answers that are the same for everybody who may read; each is made once."""

    def __init__(self, endpoint: EnvEndpoint) -> None:
        self.endpoint = endpoint
        self._schemas: Schemas | None = None
        self._turn = asyncio.Lock()

    async def health(self, asked: HttpRequest) -> HttpReply:
        """Whether the server answers; asked without a token too."""
        del asked
        return json_reply(self.endpoint.server.sessions.health())

    async def metadata(self, asked: HttpRequest) -> HttpReply:
        """What the environment is called, and what its author says of it."""
        asked.principal.need("read", "metadata")
        return json_reply(await self._metadata())

    async def _metadata(self) -> EnvMetadata:
        description, spec = (await self.endpoint.form()).description, self.endpoint.served.spec
        doc = cleandoc(description.doc)
        return {
            "name": self.endpoint.served.name,
            "description": doc.partition("\n\n")[0].replace("\n", " ") or description.name,
            "readme_content": doc or None,
            "version": self.endpoint.served.version or None,
            "author": spec.author or None,
            "documentation_url": None,
        }

    async def schema(self, asked: HttpRequest) -> HttpReply:
        """The JSON schemas of action, observation and state."""
        asked.principal.need("read", "schema")
        found, form = await self.schemas(), await self.endpoint.form()
        return json_reply({**found._asdict(), "reset_observation": form.reset_schema()})

    async def schemas(self) -> Schemas:
        """Made once; an instance is reset for the state's."""
        form = await self.endpoint.form()
        async with self._turn:
            if self._schemas is None:
                loop = asyncio.get_running_loop()
                state = (form.schemas or {}).get("state") or {}
                if not state:
                    state = await loop.run_in_executor(None, state_schema, self.endpoint.served)
                self._schemas = Schemas(form.action_schema(), form.answer_schema(), state)
        return self._schemas

    async def openapi(self, asked: HttpRequest) -> HttpReply:
        """The OpenAPI document."""
        asked.principal.need("read", "openapi.json")
        return json_reply(await self._document(asked))

    async def _document(self, asked: HttpRequest) -> Document:
        about, root = await self._metadata(), asked.scope.get("root_path", "")
        episodes = self.endpoint.server.config.mode != "production"
        return document(about, await self.schemas(), root, self.endpoint.names(root), episodes=episodes)

    async def docs(self, asked: HttpRequest) -> HttpReply:
        """The document as a page."""
        asked.principal.need("read", "docs")
        return HttpReply(200, page(await self._document(asked)).encode(), HTML)

    async def style(self, asked: HttpRequest) -> HttpReply:
        """How the page looks."""
        del asked
        return HttpReply(200, STYLE.encode(), CSS)


def state_schema(served: ServedEnv) -> Schema:
    """The schema of a state, as one after a reset has it: fields may be added, and one that is null may be anything.

    >>> sorted(state_schema(ServedEnv("open/Echo-v0"))["properties"])
    ['episode_id', 'last_message', 'step_count', 'total_length']
    """
    try:
        with served.make() as env:
            env.reset()
            own = env.state_data()
    except LudusError:  # it shows no state, or not without options
        own = {}
    named = {"episode_id": {"type": ["string", "null"]}, "step_count": {"type": "integer", "minimum": 0}}
    properties = {**{name: _schema(one) for name, one in own.items()}, **named}
    return {"title": "State", "type": "object", "properties": properties, "required": list(named)}


def _schema(value: object) -> Schema:
    name = next((name for kind, name in KINDS if isinstance(value, kind)), None)
    return {} if name is None else {"type": [name, "null"]}


def routes(endpoint: EnvEndpoint) -> list[BaseRoute]:
    """What there is to read."""
    about = About(endpoint)
    answers = {
        "/health": about.health,
        "/metadata": about.metadata,
        "/schema": about.schema,
        "/openapi.json": about.openapi,
        "/docs": about.docs,
        "/redoc": about.docs,
        "/docs/style.css": about.style,
    }
    return [Route(path, Endpoint(answer, endpoint), methods=["GET"]) for path, answer in answers.items()]
