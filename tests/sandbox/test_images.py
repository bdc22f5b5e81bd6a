"""The default image: what it holds, when it is another one, and that it is built once."""

import io
import os
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

import ludus
from ludus.sandbox.containers import Podman, images
from ludus.sandbox.containers.layout import Layout
from ludus.sandbox.launcher_process import interpreter
from ludus.sandbox.policy import Policy


@pytest.fixture(scope="module")
def archive():
    """The default image, as it is sent to an engine."""
    file = io.BytesIO()
    images._write(file)
    with tarfile.open(fileobj=io.BytesIO(file.getvalue())) as archive:
        yield archive


def resolved(archive, path):
    """A path as it is found in an archive, links followed."""
    parts, done, steps = path.strip("/").split("/"), "", 0
    while parts:
        steps += 1
        assert steps < 100, f"{path} leads in a circle"
        done, entry = f"{done}/{parts[0]}", archive.getmember(f"{done}/{parts[0]}"[1:])
        parts = parts[1:]
        if entry.issym():
            target = os.path.normpath(os.path.join(os.path.dirname(done), entry.linkname))
            parts, done = [*target.strip("/").split("/"), *parts], ""
    return entry


def test_it_holds_the_interpreter_under_every_name_that_an_environment_may_point_at(archive):
    for name in (interpreter(), sys._base_executable):
        found = resolved(archive, name)
        assert found.isfile()
        assert found.size == os.path.getsize(name)


def test_it_holds_the_library_but_not_its_tests_and_packages(archive):
    names = archive.getnames()
    library = os.path.dirname(os.__file__).strip("/")
    assert f"{library}/os.py" in names
    assert f"{library}/json/decoder.py" in names
    assert [name for name in names if name.startswith((f"{library}/test/", f"{library}/site-packages/"))] == []


def test_it_holds_what_its_programs_load(archive):
    for program in (interpreter(), "/bin/sh"):
        told = subprocess.run(["ldd", os.path.realpath(program)], capture_output=True, text=True, check=True).stdout
        for library in images._FOUND.findall(told):
            assert resolved(archive, library).isfile()


def test_nothing_in_it_belongs_to_anybody_or_takes_on_another_user(archive):
    assert {(entry.uid, entry.gid) for entry in archive} == {(0, 0)}
    assert [entry.name for entry in archive if entry.mode & 0o6000] == []
    open_to_all = {entry.name for entry in archive if entry.isdir() and entry.mode & 0o022}
    assert open_to_all == {"tmp", "home/box"}


def test_it_names_the_user_of_the_work(archive):
    assert b"box:x:71000:71000:box:/home/box:" in archive.extractfile("etc/passwd").read()


def test_it_is_another_one_when_a_file_changes(monkeypatch, tmp_path):
    (tmp_path / "file").write_text("one")
    monkeypatch.setattr(images, "_sources", lambda: (str(tmp_path / "file"),))
    digest = images.digest.__wrapped__
    first = digest()
    assert digest() == first
    (tmp_path / "file").write_text("longer")
    assert digest() != first


def test_packages_are_mounted_where_they_are():
    mounts = images.host_mounts()
    assert [mount.source for mount in mounts if mount.writable] == []
    assert any(Path(ludus.__file__).is_relative_to(mount.where) for mount in mounts)
    assert any(Path(os.path.dirname(sys.executable)).is_relative_to(mount.where) for mount in mounts)


def test_it_is_built_once_and_the_one_before_it_goes(monkeypatch):
    engine = Podman()
    api = engine.connect()
    monkeypatch.setattr(images, "_sources", lambda: ("/bin/sh",))
    monkeypatch.setattr(images, "interpreter", lambda: "/bin/sh")
    names = []
    for number in range(2):
        monkeypatch.setattr(images, "digest", lambda number=number: f"test{os.getpid()}-{number}")
        names.append(images.host_image(api))
        identity = api.image(names[-1])
        assert images.host_image(api) == names[-1]
        assert api.image(names[-1]) == identity
    assert api.image(names[0]) is None
    api.remove_image(names[1])
    assert api.image(names[1]) is None


def test_an_image_may_be_chosen_by_name():
    name = images.host_image(Podman().connect())
    engine = Podman(image=name, python=interpreter())
    with engine.start([interpreter(), "-c", "import ludus"], Policy(), stderr=subprocess.PIPE) as one:
        assert b"No module named 'ludus'" in one.stderr.read()  # its own packages only
    engine.close()


def test_a_layout_follows_links_and_keeps_times(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "file").write_text("x")
    os.utime(tmp_path / "real" / "file", (1, 1_000_000_000))
    (tmp_path / "link").symlink_to("real")
    (tmp_path / "real" / "other").symlink_to("../link/file")
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w") as writer:
        layout = Layout(writer)
        layout.add(f"{tmp_path}/link/other")
        layout.add(f"{tmp_path}/missing")
        layout.folder("/nowhere/else", 0o1777)
        layout.text("/nowhere/text", "ä")
    with tarfile.open(fileobj=io.BytesIO(file.getvalue())) as reader:
        found = resolved(reader, f"{tmp_path}/link/other")
        assert (found.name, found.mtime) == (f"{tmp_path}/real/file"[1:], 1_000_000_000)
        assert reader.getmember("nowhere/else").mode == 0o1777
        assert reader.extractfile("nowhere/text").read() == "ä".encode()
        assert not any("missing" in name for name in reader.getnames())
        assert len(reader.getnames()) == len(set(reader.getnames()))
