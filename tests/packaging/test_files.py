"""What is derived from a folder: what belongs, Containerfile, workflow, requirements."""

import json
import sys
from importlib.metadata import Distribution
from pathlib import Path

import msgspec
import pytest

from ludus import __version__
from ludus.errors import InvalidArgument, InvalidSpec, MissingExtra
from ludus.packaging import packages, scaffold
from ludus.packaging.containerfile import Base, containerfile, ignore_text
from ludus.packaging.contents import contents
from ludus.packaging.image import check_tag
from ludus.packaging.manifest import Manifest, read_manifest
from ludus.packaging.packages import closure, copy_packages
from ludus.packaging.requirements import requirements
from ludus.packaging.workflow import workflow_text
from ludus.server import asgi

ROOT = Path(__file__).resolve().parents[2]
FILES = {
    "maze.py": "x = 1",
    "data/levels.json": "[]",
    ".env": "KEY=1",
    "data/server.key": "k",
    "id_rsa": "k",
    ".git/config": "c",
    "__pycache__/maze.cpython-311.pyc": "p",
    "dist/maze.whl": "w",
    "my_venv/pyvenv.cfg": "home = /",
    "my_venv/lib/x.py": "y",
}


@pytest.fixture
def folder(tmp_path):
    """A folder in which somebody has worked."""
    for name, text in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (tmp_path / "link.py").symlink_to("/etc/passwd")
    return tmp_path


@pytest.fixture
def manifest(tmp_path):
    """Of a new environment."""
    return read_manifest(scaffold("my_maze_game", tmp_path)[0].parent)


def test_only_what_belongs_is_taken_and_the_rest_is_told(folder):
    found = contents(folder)
    assert found.files == ("data/levels.json", "maze.py")
    assert found.size == 7
    assert found.left_out == {
        ".env": "likely a secret",
        ".git": "left by tools",
        "__pycache__": "left by tools",
        "data/server.key": "likely a secret",
        "dist": "left by tools",
        "id_rsa": "likely a secret",
        "link.py": "a link",
        "my_venv": "a virtual environment",
    }


def test_what_git_ignores_and_what_is_hidden_stays_here(tmp_path):
    texts = {
        ".gitignore": "private/\n*.csv\n!kept.csv\n/top.txt\n",
        "data/.gitignore": "!table.csv\n",
        **dict.fromkeys(("private/a.py", "a.csv", "kept.csv", "top.txt", "data/top.txt", "data/table.csv"), "x"),
        **dict.fromkeys((".envrc", ".pgpass", "service-account.json", "prod.env", "my.ppk", ".bash_history"), "x"),
        **dict.fromkeys(("terraform.tfstate", "kubeconfig", ".hidden", "maze.py"), "x"),
    }
    for name, text in texts.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    found = contents(tmp_path)
    assert found.files == ("data/table.csv", "data/top.txt", "kept.csv", "maze.py")
    assert {found.left_out[one] for one in ("private", "a.csv", "top.txt")} == {"in .gitignore"}
    assert found.left_out[".hidden"] == "hidden"
    assert found.left_out["service-account.json"] == found.left_out["prod.env"] == "likely a secret"


def test_a_folder_that_is_far_too_large_is_refused(folder, monkeypatch):
    monkeypatch.setattr("ludus.packaging.contents.MAX_FILES", 1)
    with pytest.raises(InvalidArgument, match="expected at most 1 files"):
        contents(folder)


def words(text, instruction):
    """The words of an instruction in the form of a list."""
    [line] = [line for line in text.splitlines() if line.startswith(f"{instruction} ")]
    return json.loads(line.partition(" ")[2])


def test_the_containerfile_has_a_user_without_rights_and_starts_the_server(manifest):
    text = containerfile(manifest)
    lines = text.splitlines()
    assert lines[0] == "FROM python:3.11-slim"
    assert lines.index("USER 10001:10001") > lines.index("COPY . /app/")
    assert "EXPOSE 8000" in lines
    assert words(text, "RUN")[-1] == f"ludus-rl[serve]=={__version__}"
    shell, option, script, name = words(text, "ENTRYPOINT")
    assert (shell, option, name) == ("/bin/sh", "-c", "ludus")
    assert '[ -n "$LUDUS_TOKENS" ] || set -- --insecure' in script
    assert "ludus serve /app --host 0.0.0.0 --port 8000 --max-sessions 64 --deadline 30" in script


def test_a_complete_base_needs_no_installation(manifest):
    text = containerfile(manifest, Base("localhost/base", "/usr/bin/python3", complete=True))
    assert "RUN" not in text
    assert "exec /usr/bin/python3 -m ludus" in text


@pytest.mark.parametrize("base", ["", "a b", "x\nRUN evil"])
def test_a_base_that_is_no_name_is_refused(manifest, base):
    with pytest.raises(InvalidArgument, match="base: expected the name of an image"):
        containerfile(manifest, Base(base))


def test_nothing_in_a_manifest_becomes_an_instruction(tmp_path):
    evil = 'It\'s "$HOME"\nRUN evil'
    text = containerfile(Manifest(tmp_path, "maze", "maze:Maze", description=evil))
    [line] = [line for line in text.splitlines() if "description" in line]
    assert line.endswith('description="It\'s \\"\\$HOME\\" RUN evil"')
    assert not [line for line in text.splitlines() if line.startswith("RUN evil")]


def test_requirements_come_from_manifest_package_and_openenv(tmp_path):
    (tmp_path / "pyproject.toml").write_text('[project]\ndependencies = ["ludus-rl", "httpx>=0.27", "numpy>=2"]\n')
    (tmp_path / "server").mkdir()
    (tmp_path / "server" / "requirements.txt").write_text("# what it needs\nopenenv>=0.2  # itself\nfastapi\n-r x\n")
    security = {"dependencies": ("NumPy>=1", "chess[uci] ; python_version > '3'")}
    kind = type(Manifest(tmp_path, "x", "a:B").security)
    ours = Manifest(tmp_path, "maze", "maze:Maze", security=kind(**security))
    assert requirements(ours)[1:] == ["NumPy>=1", "chess[uci] ; python_version > '3'", "httpx>=0.27"]
    theirs = Manifest(tmp_path, "maze", app="server.app:app")
    assert requirements(theirs)[1:] == ["httpx>=0.27", "numpy>=2", "fastapi", "openenv>=0.2"]


@pytest.mark.parametrize("one", ["--index-url=x", "a b", "../x", "x; rm -rf", ""])
def test_a_requirement_that_is_an_option_or_a_path_is_refused(tmp_path, one):
    kind = type(Manifest(tmp_path, "x", "a:B").security)
    manifest = Manifest(tmp_path, "maze", "maze:Maze", security=kind(dependencies=(one,)))
    if one == "x; rm -rf":  # a marker, which pip refuses; no shell ever sees it
        assert words(containerfile(manifest), "RUN")[-1] == one
        return
    with pytest.raises(InvalidSpec, match="dependencies: expected a requirement"):
        requirements(manifest)


def test_the_package_that_has_our_modules_name_is_refused(tmp_path):
    """`ludus` in the package index is somebody else's, and would lie over ours."""
    kind = type(Manifest(tmp_path, "x", "a:B").security)
    manifest = Manifest(tmp_path, "maze", "maze:Maze", security=kind(dependencies=("Ludus>=0.1",)))
    with pytest.raises(InvalidSpec, match="dependencies: expected 'ludus-rl', got 'ludus', which is another's package"):
        requirements(manifest)


def test_the_packages_of_the_host_are_found_with_what_they_need():
    found = {one.metadata["Name"].lower() for one in closure(["ludus-rl[serve]", "nowhere; sys_platform == 'moon'"])}
    assert {"ludus-rl", "numpy", "msgspec", "starlette", "uvicorn", "anyio", "rich", "pygments"} <= found
    assert not {"pytest", "torch", "huggingface-hub"} & found
    with pytest.raises(MissingExtra, match="expected 'nowhere>=1' to be installed in this interpreter"):
        closure(["nowhere>=1"])


def test_the_ignore_file_names_secrets_and_leftovers():
    lines = ignore_text().splitlines()
    assert {"**/.git", "**/.env", "**/__pycache__", "**/*.pem"} <= set(lines)


def test_the_workflow_checks_and_builds(manifest):
    data = msgspec.yaml.decode(workflow_text(manifest))
    steps = [step["run"] for step in data["jobs"]["check"]["steps"] if "run" in step]
    assert steps[1:] == [
        "ludus check .",
        "python -m pytest -q",
        "ludus build . -t my_maze_game:${{ github.sha }} --engine docker",
    ]
    assert data["permissions"] == {"contents": "read"}


@pytest.mark.parametrize("tag", ["maze", "maze:0.1.0", "localhost/maze:1", "127.0.0.1:5000/a/b-c:x_1", "r.example/m"])
def test_the_name_of_an_image(tag):
    assert check_tag(tag) == tag


@pytest.mark.parametrize("tag", ["", "Maze", "a b", "-t", "a:b:c", "a/../b", "maze:", "x" * 500])
def test_what_is_no_name_of_an_image_is_refused(tag):
    with pytest.raises(InvalidArgument, match="tag: expected"):
        check_tag(tag)


def test_any_asgi_server_serves_the_folder_that_it_is_started_in(manifest, monkeypatch):
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr(sys, "meta_path", list(sys.meta_path))
    monkeypatch.setenv("LUDUS_FOLDER", str(manifest.folder))
    asgi.folder_app.cache_clear()
    server = asgi.app.state.server
    assert (server.sessions.served().name, server.access.open) == ("my_maze_game", True)
    assert asgi.app is asgi.app
    asgi.folder_app.cache_clear()
    monkeypatch.setenv("LUDUS_TOKENS", "agent=a-token-of-sixteen, orchestrator=b-token-of-sixteen")
    access = asgi.app.state.server.access
    assert access.principal("b-token-of-sixteen").role == "orchestrator"
    asgi.folder_app.cache_clear()
    monkeypatch.setenv("LUDUS_TOKENS", "just-a-token-of-sixteen")
    with pytest.raises(InvalidArgument, match="LUDUS_TOKENS: expected ROLE=TOKEN,ROLE=TOKEN"):
        asgi.folder_app()
    sys.modules.pop("my_maze_game", None)


def test_ludus_is_copied_from_where_it_runs_though_it_is_installed_there(tmp_path, monkeypatch):
    installed = tmp_path / "site-packages"
    (installed / "ludus").mkdir(parents=True)
    (installed / "ludus" / "errors.py").write_text("x = 1")
    about = installed / "ludus_rl-1.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: ludus-rl\nVersion: 1\n")
    (about / "RECORD").write_text("ludus/errors.py,,\nludus_rl-1.dist-info/METADATA,,\n")
    monkeypatch.setattr(packages, "PACKAGE", installed / "ludus")
    copy_packages([Distribution.at(about)], tmp_path / "copy")
    assert (tmp_path / "copy" / "ludus" / "errors.py").read_text() == "x = 1"
    assert (tmp_path / "copy" / "ludus_rl-1.dist-info" / "METADATA").is_file()
