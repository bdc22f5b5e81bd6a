"""What a child process does with shared memory; a module of its own, so that a spawned child can import it."""

import tests.spaces.models  # noqa: F401  (a description names custom spaces, and never imports them)
from ludus.spaces import from_json, loads, read_from_shared_memory, write_to_shared_memory


def write_lanes(description, memory, messages):
    """Write each message's value as a lane of its own."""
    space = from_json(description)
    for lane, message in enumerate(messages):
        write_to_shared_memory(space, lane, loads(space, message, format="msgpack"), memory)


def serve(connection, jobs):
    """Write the lanes of each job, tell, and wait for a word before going on."""
    for job in jobs:
        write_lanes(*job)
    connection.send("written")
    connection.recv()


def copy_lane(space, memory, out, n):
    """Read all lanes and write them into another memory in reverse."""
    rows = list(space.batch(n).iterate(read_from_shared_memory(space, memory, n)))
    for lane, row in enumerate(reversed(rows)):
        write_to_shared_memory(space, lane, row, out)
