"""A session that is paused: nothing in it moves, and then it goes on."""

import pytest

from ludus.sandbox import Limits, Mount, Sandbox, give


@pytest.mark.parametrize("backend", ["process", "bubblewrap", "landlock"])
def test_jobs_stand_still_and_go_on_afterwards(backend, tmp_path_factory):
    work = tmp_path_factory.mktemp("work")
    ticks = work / "ticks"
    give(work)
    box = Sandbox(backend, limits=Limits(wall=60), mounts=[Mount(str(work), str(work), writable=True)])
    with box.open_session() as session:
        session.start(f"while :; do echo tick >> {ticks}; (:); done")
        session.run(f"until [ -s {ticks} ]; do :; done")
        with session.paused() as paused:
            assert paused
            sizes = {ticks.stat().st_size for _ in range(500)}
        assert len(sizes) == 1
        session.run(f"until [ $(stat -c %s {ticks}) -gt {sizes.pop()} ]; do :; done")
        assert session.run("echo on").stdout == b"on\n"
