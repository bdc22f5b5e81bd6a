"""Manifests: what is read, and what is refused with the name of the key."""

import sys

import pytest

from ludus.errors import InvalidSpec
from ludus.packaging.manifest import Manifest, ServiceResources, is_folder, read_manifest
from ludus.packaging.openenv_yaml import APP, openenv_text

LUDUS = """
name = "maze"
version = "1.2.0"
environment = "maze:Maze"
description = "Find the way."
license = "MIT"
max_episode_steps = 50

[arguments]
size = 5

[permissions]
network = ["api.example.org:443"]
isolation = "sandbox"

[resources]
memory_mb = 256
"""
OPENENV = """
spec_version: 1
name: my_open
version: 0.1.0
type: space
runtime: fastapi
app: server.app:app
port: 8123
variables: {A: B}
validation:
  reward: {range: [0.0, 1.0]}
  resources: {cpu: 2.0, memory_mb: 2048, disk_mb: 512}
  network: {mode: allowlist, allowed_hosts: [pypi.example]}
"""
SMALLEST = 'name = "maze"\nenvironment = "maze:Maze"\n'


def written(folder, text, name="ludus.toml"):
    (folder / name).write_text(text, encoding="utf8")
    return folder


def test_a_manifest_is_a_spec_with_arguments_and_permissions(tmp_path):
    manifest = read_manifest(written(tmp_path, LUDUS))
    spec = manifest.target
    assert (manifest.kind, manifest.name, manifest.version, manifest.license) == ("env", "maze", "1.2.0", "MIT")
    assert (spec.id, spec.entry_point, spec.kwargs, spec.max_episode_steps) == ("maze", "maze:Maze", {"size": 5}, 50)
    assert (spec.security.network, spec.security.isolation) == (("api.example.org:443",), "sandbox")
    assert manifest.resources == ServiceResources(memory_mb=256)


def test_the_smallest_has_two_lines(tmp_path):
    manifest = read_manifest(str(written(tmp_path, SMALLEST)))
    assert (manifest.version, manifest.arguments, manifest.resources) == ("0.1.0", {}, ServiceResources())


def test_the_folder_is_where_its_code_is_found(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr(sys, "meta_path", list(sys.meta_path))
    manifest = read_manifest(written(tmp_path, SMALLEST))
    assert manifest.paths == (str(tmp_path),)
    (tmp_path / "src").mkdir()
    assert manifest.paths == (str(tmp_path / "src"), str(tmp_path))
    manifest.enter()
    manifest.enter()
    assert sys.path[:2] == [str(tmp_path / "src"), str(tmp_path)]
    assert sys.path.count(str(tmp_path)) == 1


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ('naem = "x"', "naem: expected one of the keys name, environment, "),
        ("name = 3", "name: expected letters, digits, '-' and '_', beginning with a letter, got 3"),
        ('name = "../x"', "name: expected letters"),
        ('environment = "maze"', "environment: expected 'module:Class', as in 'maze:Maze', got 'maze'"),
        ('version = "new"', "version: expected a version like '0.1.0', got 'new'"),
        ("description = []", "description: expected text, got []"),
        ("max_episode_steps = true", "max_episode_steps: expected a whole number above 0, got True"),
        ("reward_range = [1, 0]", "reward_range: expected two numbers, the lower one first, got [1, 0]"),
        ("reward_range = [true, 3]", "reward_range: expected two numbers"),
        ("arguments = 1", "arguments: expected a table of keyword arguments, got 1"),
        ("permissions = {nettwork = []}", "permissions: expected the fields network, "),
        ('permissions = {network = "a:1"}', "security.network: expected a sequence of text, got 'a:1'"),
        ('permissions = {isolation = "moon"}', "isolation: expected one of none, process, sandbox, container"),
        ("resources = {memory_mb = 0}", "resources.memory_mb: expected a whole number above 0, got 0"),
        ("resources = {cpus = true}", "resources.cpus: expected a number above 0, got True"),
        ("resources = {gpus = 1}", "resources: expected the fields memory_mb, "),
        ("= =", "expected TOML, got DecodeError: "),
    ],
)
def test_what_is_wrong_is_told_with_file_and_key(tmp_path, line, told):
    key = line.partition(" ")[0]
    rest = "\n".join(one for one in SMALLEST.splitlines() if not one.startswith(f"{key} "))
    with pytest.raises(InvalidSpec) as failure:
        read_manifest(written(tmp_path, f"{rest}\n{line}\n"))
    assert str(failure.value).startswith(f"{tmp_path}/ludus.toml: ")
    assert told in str(failure.value)


@pytest.mark.parametrize("key", ["name", "environment"])
def test_name_and_environment_are_needed(tmp_path, key):
    rest = "\n".join(one for one in SMALLEST.splitlines() if not one.startswith(key))
    with pytest.raises(InvalidSpec, match=f"{key}: expected .*, got no such key; add `{key} = …`"):
        read_manifest(written(tmp_path, rest))


def test_a_folder_without_a_manifest_is_told_what_to_do(tmp_path):
    for folder, there in ((tmp_path, "a folder without either"), (tmp_path / "no", "no such folder")):
        with pytest.raises(InvalidSpec, match=f"with ludus.toml or openenv.yaml, got {there}; `ludus new NAME`"):
            read_manifest(folder)


def test_a_folder_made_for_openenv_is_an_application(tmp_path):
    manifest = read_manifest(written(tmp_path, OPENENV, "openenv.yaml"))
    assert (manifest.kind, manifest.target, manifest.port) == ("asgi", "server.app:app", 8123)
    assert manifest.resources == ServiceResources(memory_mb=2048, disk_mb=512, cpus=2.0)
    assert manifest.security.network == ("pypi.example",)
    with pytest.raises(InvalidSpec, match="expected an environment, got the application"):
        _ = manifest.spec


def test_an_old_openenv_manifest_is_read_too(tmp_path):
    text = "name: echo_env\nversion: '0.1.0'\ndescription: Echo\naction: EchoAction\nobservation: EchoObservation\n"
    manifest = read_manifest(written(tmp_path, text, "openenv.yaml"))
    assert (manifest.app, manifest.port, manifest.description) == ("server.app:app", 8000, "Echo")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[]", "expected YAML with names as keys, got []"),
        ("name: [", "expected YAML, got "),
        ("app: a:b", "name: expected letters"),
        ("name: x\nspec_version: 9", "spec_version: expected 1, got 9"),
        ("name: x\napp: ../x", "app: expected 'module:name' of an application, got '../x'"),
        ("name: x\nport: 99999", "port: expected a number from 1 to 65535, got 99999"),
        ("name: x\nvalidation: 3", "validation: expected a mapping, got 3"),
        ("name: x\nvalidation: {network: {mode: all}}", "validation.network.mode: expected public, no-network or"),
    ],
)
def test_what_is_wrong_with_an_openenv_manifest_is_told(tmp_path, text, told):
    with pytest.raises(InvalidSpec) as failure:
        read_manifest(written(tmp_path, text, "openenv.yaml"))
    assert told in str(failure.value)


def test_aliases_that_make_billions_of_values_are_refused(tmp_path):
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 12)]
    with pytest.raises(InvalidSpec, match="expected at most 10000 values"):
        read_manifest(written(tmp_path, "\n".join(lines), "openenv.yaml"))


def test_a_manifest_of_megabytes_is_refused(tmp_path):
    with pytest.raises(InvalidSpec, match="expected at most"):
        read_manifest(written(tmp_path, SMALLEST + "#" * (2 << 20)))


def test_ours_goes_before_openenvs_and_openenvs_is_written_from_it(tmp_path):
    manifest = read_manifest(written(written(tmp_path, LUDUS), OPENENV, "openenv.yaml"))
    assert manifest.file == "ludus.toml"
    (tmp_path / "ludus.toml").unlink()
    (tmp_path / "openenv.yaml").write_text(openenv_text(manifest))
    again = read_manifest(tmp_path)
    assert (again.name, again.version, again.description) == (manifest.name, manifest.version, manifest.description)
    assert (again.app, again.resources.memory_mb, again.security.network) == (APP, 256, manifest.security.network)


@pytest.mark.parametrize(("hosts", "mode"), [((), "no-network"), (("*",), "public"), (("a:1",), "allowlist")])
def test_the_network_is_told_in_openenvs_words(tmp_path, hosts, mode):
    manifest = Manifest(tmp_path, "maze", "maze:Maze")
    manifest = Manifest(tmp_path, "maze", "maze:Maze", security=type(manifest.security)(network=hosts))
    assert f"mode: {mode}" in openenv_text(manifest)


def test_what_counts_as_a_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "maze").mkdir()
    assert not is_folder("maze")
    written(tmp_path / "maze", SMALLEST)
    assert is_folder("maze")
    assert is_folder(tmp_path / "maze")
    assert [is_folder(one) for one in ("CartPole-v1", "maze:Maze", "my/Maze-v0", 3)] == [False] * 4
    assert [is_folder(one) for one in (".", "./maze", "/nowhere", "~/maze", "maze/")] == [True] * 5
