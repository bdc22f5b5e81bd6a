"""Pins: what is mounted is what was looked at, also while somebody puts other things in its place."""

import os
import shutil
from contextlib import suppress

import pytest

from ludus.errors import SandboxError
from ludus.sandbox import Limits, Mount, Policy, Sandbox, backend, pins, user
from ludus.sandbox.containers import verification
from ludus.sandbox.containers.description import LABEL
from ludus.sandbox.containers.engine import Engine
from ludus.sandbox.pins import pinned

QUICK = Limits(wall=20)


@pytest.fixture
def folder(tmp_path):
    """A folder with a file, and beside it another one whose file nobody inside may read."""
    for name, text in (("folder", "fine"), ("secret", "secret")):
        (tmp_path / name).mkdir(mode=0o755)
        (tmp_path / name / "file").write_text(text)
    tmp_path.chmod(0o755)
    return tmp_path / "folder"


def swap(folder):
    """What somebody does who may write above it."""
    folder.rename(folder.with_name("moved"))
    folder.symlink_to(folder.with_name("secret"))


@pytest.mark.parametrize("name", ["bubblewrap", "landlock"])
def test_what_is_mounted_is_what_was_looked_at(name, folder, monkeypatch):
    """Swapped once it is held: what was there is mounted or, without a root of its own, nothing can be read."""
    real = pins.check_access
    monkeypatch.setattr(pins, "check_access", lambda held, user: (real(held, user), swap(folder) if held else None))
    box, told = Sandbox(name, limits=QUICK, mounts=[Mount(str(folder))]), b""
    with suppress(SandboxError):
        told = box.run(["/bin/cat", f"{folder}/file"]).stdout
    assert told in (b"fine", b"")
    assert folder.is_symlink()


@pytest.mark.parametrize("name", ["bubblewrap", "landlock"])
def test_a_source_that_is_swapped_before_it_is_held_is_an_error_of_the_sandbox(name, folder, monkeypatch):
    monkeypatch.setattr(pins, "check_mounts", lambda policy: swap(folder) if policy.mounts else None)
    with pytest.raises(SandboxError, match="got one that changed meanwhile"):
        Sandbox(name, limits=QUICK, mounts=[Mount(str(folder))]).run(["/bin/true"])


@pytest.mark.parametrize("name", ["bubblewrap", "landlock"])
def test_a_source_that_is_gone_by_then_is_an_error_of_the_sandbox(name, folder, monkeypatch):
    monkeypatch.setattr(pins, "check_mounts", lambda policy: shutil.rmtree(folder) if policy.mounts else None)
    with pytest.raises(SandboxError, match="sandbox: expected to start, got FileNotFoundError"):
        Sandbox(name, limits=QUICK, mounts=[Mount(str(folder))]).run(["/bin/true"])


def test_a_link_on_the_way_is_noticed(folder, monkeypatch):
    (folder / "below").mkdir()
    (folder.with_name("secret") / "below").mkdir()
    monkeypatch.setattr(pins, "check_mounts", lambda policy: swap(folder))
    with (
        pytest.raises(SandboxError, match="got one that changed meanwhile"),
        pinned(Policy(mounts=(Mount(f"{folder}/below"),))),
    ):
        pytest.fail("it was taken for the same")


def test_descriptors_are_held_as_long_as_something_is_started(folder):
    before = len(os.listdir("/proc/self/fd"))
    with pinned(Policy(mounts=(Mount(f"{folder}/file", "/a/b/file"), Mount(str(folder))))) as held:
        assert {mount.source for mount in held} == {f"{folder}", f"{folder}/file"}
        assert len(os.listdir("/proc/self/fd")) == before + 2
    assert len(os.listdir("/proc/self/fd")) == before


@pytest.mark.no_cover
def test_an_engine_that_mounts_something_else_is_found_out(container_backend, folder, monkeypatch):
    """It goes by the path, and looks when it has been swapped: so it shows another folder, which nobody gets to see."""
    real, names = Engine._created, []

    def created(self, api, description):
        swap(folder)
        names.append(real(self, api, description))
        return names[-1]

    box = Sandbox(container_backend, limits=QUICK, mounts=[Mount(str(folder))])
    monkeypatch.setattr(Engine, "_created", created)
    with pytest.raises(SandboxError, match="to be mounted as it was checked, got something else"):
        box.run(["/bin/cat", f"{folder}/file"])
    assert len(names) == 1
    assert names[0] not in backend(container_backend).connect().labelled(LABEL)


@pytest.mark.no_cover
@pytest.mark.xdist_group("docker")
@pytest.mark.usefixtures("container_daemon")
def test_docker_makes_no_folder_in_the_place_of_one_that_is_gone(folder, monkeypatch):
    real = Engine._created

    def created(self, api, description):
        folder.rename(folder.with_name("moved"))
        return real(self, api, description)

    box = Sandbox("docker", limits=QUICK, mounts=[Mount(str(folder))])
    monkeypatch.setattr(Engine, "_created", created)
    with pytest.raises(SandboxError):
        box.run(["/bin/true"])
    assert not folder.exists()


def test_mounts_are_compared_within_the_root_of_a_process(folder):
    policy = Policy(mounts=(Mount(str(folder)), Mount(f"{folder}/file", str(folder.with_name("secret") / "file"))))
    with pinned(policy) as held:
        assert [mount.source for mount in verification.replaced(os.getpid(), held)] == [f"{folder}/file"]


def test_gvisors_files_are_opened_by_nobody_here():
    assert verification.gofer(os.getpid()) is None


@pytest.mark.skipif(os.geteuid() != 0, reason="only root starts others")
def test_what_confined_code_could_replace_is_known(tmp_path):
    below = tmp_path / "outer" / "inner"
    below.mkdir(parents=True)
    assert not user.can_be_replaced("/usr/share")
    assert not user.can_be_replaced(str(below))  # the folder for temporary files is everybody's, but sticky
    tmp_path.chmod(0o777)
    assert user.can_be_replaced(str(below))
    tmp_path.chmod(0o1777)
    assert not user.can_be_replaced(str(below))
    os.chown(tmp_path / "outer", user.USER, user.GROUP)
    assert user.can_be_replaced(str(below))


@pytest.mark.parametrize("name", ["process", "landlock"])
def test_a_home_whose_path_leads_elsewhere_is_emptied_where_it_is(name, folder):
    """Whoever may write in the folder for temporary files could have root empty another one in its place."""
    box = Sandbox(name, limits=Limits(wall=20, disk=None))
    with box.start(["/bin/sh", "-c", "echo >file; exec sleep 100"]) as process:
        home = process._home
        os.rename(home, f"{home}-moved")
        os.symlink(folder, home)
        process.kill()
    try:
        assert (folder / "file").read_text() == "fine"
        assert os.listdir(f"{home}-moved") == []
    finally:
        os.unlink(home)
        os.rmdir(f"{home}-moved")
