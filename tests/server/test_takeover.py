"""A session that goes on over a new connection, whatever became of the older one."""

import asyncio
from types import SimpleNamespace
from typing import Any

from ludus.server.connection import Connection


class Gone:
    """A link whose other side left before anybody noticed."""

    async def close(self) -> None:
        raise ConnectionResetError("it is gone")


def test_an_older_connection_that_is_gone_already_does_not_stand_in_the_way_of_the_new_one() -> None:
    older: Any = SimpleNamespace(link=Gone())
    asyncio.run(Connection.close(older))
