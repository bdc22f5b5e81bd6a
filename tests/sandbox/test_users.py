"""Users of sandboxed code: where root starts it, each number of a policy is a user of its own."""

import os

import pytest

from ludus.errors import InvalidArgument
from ludus.sandbox import Limits, Mount, Policy, Sandbox, give
from ludus.sandbox.user import USER, is_confined

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give away users")


@pytest.mark.parametrize("name", ["bubblewrap", "landlock", "process"])
def test_each_number_is_another_user_who_owns_its_home(name):
    found = []
    for number in range(3):
        box = Sandbox(name, limits=Limits(wall=30)).as_user(number)
        done = box.run(["/bin/sh", "-c", "id -u; id -g; echo word > $HOME/file && cat $HOME/file"])
        found.append(done.stdout.split())
        assert str(USER + number) in done.guarantees.user
    assert found == [[str(USER + number).encode()] * 2 + [b"word"] for number in range(3)]


def test_what_is_given_to_one_is_closed_to_another(tmp_path):
    (tmp_path / "secret").write_text("word")
    give(tmp_path, 1)
    tmp_path.chmod(0o700)
    mounts = [Mount(str(tmp_path), "/given")]
    assert Sandbox(mounts=mounts).as_user(1).run(["/bin/cat", "/given/secret"]).stdout == b"word"
    with pytest.raises(InvalidArgument, match=f"expected a path that user {USER} may read"):
        Sandbox(mounts=mounts).run(["/bin/cat", "/given/secret"])


def test_numbers_beyond_the_users_are_refused():
    with pytest.raises(InvalidArgument, match="user: expected a number from 0 to 3, got 4"):
        Policy(user=4)
    assert [is_confined(USER + number) for number in (-1, 0, 3, 4)] == [False, True, True, False]
