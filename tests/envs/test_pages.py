"""The environments' pages: each id has one, its programs run, and its picture is what is drawn today."""

import inspect
import re
import runpy
from pathlib import Path

import pytest

import ludus

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted(ROOT.joinpath("docs", "envs").glob("*.md"))
DRAW = runpy.run_path(str(ROOT / "docs" / "envs" / "draw.py"))
FAMILIES = {"classic", "toy_text", "algorithmic", "teaching"}
IDS = [spec.id for spec in ludus.list_envs() if spec.family in FAMILIES]

every_page = pytest.mark.parametrize("page", PAGES, ids=[page.stem for page in PAGES])


@every_page
def test_the_programs_on_a_page_run(page, capsys):
    blocks = re.findall(r"^```python\n(.*?)^```$", page.read_text(encoding="utf8"), flags=re.DOTALL | re.MULTILINE)
    assert blocks or page.stem == "pictures"
    if blocks:
        exec(compile("\n".join(blocks), str(page), "exec"), {"__name__": "__main__"})
        assert capsys.readouterr().out.strip()


@every_page
def test_a_page_is_in_the_navigation(page):
    assert f"envs/{page.name}" in (ROOT / "mkdocs.yml").read_text(encoding="utf8")


@pytest.mark.parametrize("name", IDS)
def test_an_id_is_on_the_overview_and_on_exactly_one_page(name):
    overview = (ROOT / "docs" / "envs.md").read_text(encoding="utf8")
    assert f"`{name}`" in overview
    assert len([page for page in PAGES if f"| `{name}` |" in page.read_text(encoding="utf8")]) == 1


@pytest.mark.parametrize("name", IDS)
def test_a_page_names_every_argument_and_the_time_limit(name):
    spec = ludus.spec(name) if name != "CartPole-v0" else ludus.registry.registry[name]
    [page] = [page for page in PAGES if f"| `{name}` |" in page.read_text(encoding="utf8")]
    text = page.read_text(encoding="utf8")
    assert spec.max_episode_steps is None or f"{spec.max_episode_steps} steps" in text
    env = ludus.registry.registry[name].make().unwrapped
    for argument in type(env).__init__.__annotations__:
        assert argument == "return" or f"| `{argument}` |" in text, argument


OPEN = {
    "Echo": "echo",
    "OpenSpiel": "openspiel",
    "Connect4": "connect4",
    "Atari": "atari",
    "BrowserGym": "browsergym",
    "Coding": "coding",
    "Chat": "chat",
    "Git": "git",
    "FinRL": "finrl",
    "SumoRL": "sumo_rl",
    "TextArena": "textarena",
    "DIPGSafety": "dipg_safety",
    "ReasoningGym": "reasoning_gym",
}
"""Pages of the open environments, which are of ids in the hundreds."""
ROW = re.compile(r"^\| (`\w+`(?:, `\w+`)*) \|", re.MULTILINE)


@pytest.mark.parametrize(("name", "page"), OPEN.items())
def test_the_page_of_an_open_environment_has_arguments_limit_picture_example_and_where_to_play(name, page):
    text = (ROOT / "docs" / "envs" / f"{page}.md").read_text(encoding="utf8")
    spec = ludus.spec(f"open/{name}-v0")
    assert f"| `{spec.id}` |" in text
    assert f"`{spec.id}`" in (ROOT / "docs" / "envs.md").read_text(encoding="utf8")
    assert spec.max_episode_steps is None or f"{spec.max_episode_steps} steps" in text
    named = {one for row in ROW.findall(text) for one in re.findall(r"\w+", row)}
    arguments = inspect.signature(type(spec.make().unwrapped)).parameters.values()
    assert {one.name for one in arguments if one.kind is not one.VAR_KEYWORD} <= named
    assert re.search(rf"\(assets/{page}\.(svg|png)\)", text)
    examples = re.findall(r"`examples/(\w+\.py)`", text)
    assert examples
    assert all((ROOT / "examples" / one).is_file() for one in examples)
    assert re.search("ludus (ui|play)", text)


@pytest.mark.parametrize("name", DRAW["PICTURES"])
def test_a_picture_on_a_page_is_up_to_date(name):
    kept = (ROOT / "docs" / "envs" / "assets" / f"{name}.svg").read_text(encoding="utf8")
    assert kept == DRAW["PICTURES"][name]().to_svg(), "run `python docs/envs/draw.py`"
    assert f"assets/{name}.svg" in (ROOT / "docs" / "envs" / f"{name}.md").read_text(encoding="utf8")
