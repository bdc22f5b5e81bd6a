"""What an environment is: health, metadata, schemas, the OpenAPI document and the page that shows it."""

import asyncio
from inspect import cleandoc
from typing import Any

from starlette.routing import BaseRoute, Route

from ludus.errors import LudusError
from ludus.serve.doors.openenv.exchange import Asked, Endpoint, Reply, json_reply
from ludus.serve.doors.openenv.offer import Offer
from ludus.serve.doors.openenv.openapi import Schemas, document
from ludus.serve.doors.openenv.page import STYLE, page
from ludus.serve.served import Served

__all__ = ["About", "routes", "state_schema"]

HTML = ((b"content-type", b"text/html; charset=utf-8"),)
CSS = ((b"content-type", b"text/css; charset=utf-8"),)
KINDS = ((bool, "boolean"), (int | float, "number"), (str, "string"), (list, "array"), (dict, "object"))


class About:
    """Answers that are the same for everybody who may read; each is made once."""

    def __init__(self, offer: Offer) -> None:
        self.offer = offer
        self._schemas: Schemas | None = None
        self._turn = asyncio.Lock()

    async def health(self, asked: Asked) -> Reply:
        """Whether the server answers; asked without a token too."""
        del asked
        return json_reply(self.offer.server.sessions.health())

    async def metadata(self, asked: Asked) -> Reply:
        """What the environment is called, and what its author says of it."""
        asked.principal.need("read", "metadata")
        return json_reply(await self._metadata())

    async def _metadata(self) -> dict[str, Any]:
        description, spec = (await self.offer.form()).description, self.offer.served.spec
        doc = cleandoc(description.doc)
        return {
            "name": self.offer.served.name,
            "description": doc.partition("\n\n")[0].replace("\n", " ") or description.name,
            "readme_content": doc or None,
            "version": self.offer.served.version or None,
            "author": spec.author or None,
            "documentation_url": None,
        }

    async def schema(self, asked: Asked) -> Reply:
        """The JSON schemas of action, observation and state."""
        asked.principal.need("read", "schema")
        found, form = await self.schemas(), await self.offer.form()
        return json_reply({**found._asdict(), "reset_observation": form.reset_schema()})

    async def schemas(self) -> Schemas:
        """Made once; an instance is reset for the state's."""
        form = await self.offer.form()
        async with self._turn:
            if self._schemas is None:
                loop = asyncio.get_running_loop()
                known = (form.schemas or {}).get("state")
                state = known or await loop.run_in_executor(None, state_schema, self.offer.served)
                self._schemas = Schemas(form.action_schema(), form.answer_schema(), state)
        return self._schemas

    async def openapi(self, asked: Asked) -> Reply:
        """The OpenAPI document."""
        asked.principal.need("read", "openapi.json")
        return json_reply(await self._document(asked))

    async def _document(self, asked: Asked) -> dict[str, Any]:
        about, root = await self._metadata(), asked.scope.get("root_path", "")
        episodes = self.offer.server.settings.mode != "production"
        return document(about, await self.schemas(), root, self.offer.names(root), episodes=episodes)

    async def docs(self, asked: Asked) -> Reply:
        """The document as a page."""
        asked.principal.need("read", "docs")
        return Reply(200, page(await self._document(asked)).encode(), HTML)

    async def style(self, asked: Asked) -> Reply:
        """How the page looks."""
        del asked
        return Reply(200, STYLE.encode(), CSS)


def state_schema(served: Served) -> dict[str, Any]:
    """The schema of a state, as one after a reset has it: fields may be added, and one that is null may be anything.

    >>> sorted(state_schema(Served("open/Echo-v0"))["properties"])
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


def _schema(value: Any) -> dict[str, Any]:
    return next(({"type": [name, "null"]} for kind, name in KINDS if isinstance(value, kind)), {})


def routes(offer: Offer) -> list[BaseRoute]:
    """What there is to read."""
    about = About(offer)
    answers = {
        "/health": about.health,
        "/metadata": about.metadata,
        "/schema": about.schema,
        "/openapi.json": about.openapi,
        "/docs": about.docs,
        "/redoc": about.docs,
        "/docs/style.css": about.style,
    }
    return [Route(path, Endpoint(answer, offer), methods=["GET"]) for path, answer in answers.items()]
