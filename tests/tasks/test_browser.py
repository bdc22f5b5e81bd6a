"""A person does a task in a browser: the page of `ludus task run --agent human --browser`, in a real one."""

from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest
from playwright.sync_api import expect

from ludus.tasks import find_task
from ludus.tasks.agents.result import read_result
from ludus.tasks.agents.run import RunOptions, run_task
from ludus.web.task import BrowserAgent
from tests.browsers import chromium, new_page
from tests.patience import PATIENCE_S
from tests.tasks.conftest import SOLUTION
from tests.web.watched import Watched

pytestmark = pytest.mark.xdist_group("browser")


@pytest.fixture
def page():
    """A page of a browser; what it says to its console is nothing, at the end."""
    with chromium() as browser:
        page = new_page(browser, viewport={"width": 1280, "height": 860})
        watched = Watched(page)
        yield page
    assert watched.said == []


def test_a_person_does_a_task_in_a_page_and_it_is_a_run_like_any_other(parity, tmp_path, page):
    task = find_task(parity)
    with BrowserAgent(task.spec) as agent, ThreadPoolExecutor(1) as pool:
        options = RunOptions(folder=tmp_path / "run")
        run = pool.submit(run_task, task, agent, 1, options=options, watch=agent.watch)
        page.goto(agent.url)
        expect(page.locator(".asked-of-me")).to_contain_text("Write answer.json, a list of true and false.")
        expect(page.locator("#run")).to_be_enabled()  # the run waits for a call
        page.fill("#command", "ls data; printf '\\033[31mred\\033[0m <b>no markup</b>'")
        page.keyboard.press("Enter")
        expect(page.locator(".calls li pre")).to_have_text("numbers.json\nred <b>no markup</b>")
        page.get_by_role("tab", name="A file").click()
        page.fill("#path", "rules.txt")
        page.click("#open")
        expect(page.locator("#content")).to_have_value("no rules\n")
        page.fill("#path", "solution.py")
        page.fill("#content", SOLUTION)
        page.click("#save")
        expect(page.locator(".calls li").nth(2)).to_contain_text("bytes written")
        page.fill("#command", "python3 solution.py")
        page.click("#run")
        expect(page.locator(".calls li").nth(3)).to_contain_text("(nothing printed)")
        page.click("#validate")
        expect(page.locator(".calls li").nth(4)).to_contain_text("valid, better than before: 1.00")
        page.reload()  # whoever comes later sees all of it
        expect(page.locator(".calls li")).to_have_count(5)
        page.click("#submit")
        page.click("#submit-now")
        expect(page.locator("#score")).to_have_text("accuracy 1 on data that you have not seen, 1 normalised.")
        episode = run.result()
    found = read_result(tmp_path / "run")
    assert (episode.agent, episode.outcome, found.outcome, found.steps) == ("human", "success", "success", 6)


def test_a_call_that_is_none_is_told_and_costs_nothing_and_strangers_reach_no_page(parity, tmp_path):
    task = find_task(parity)
    with BrowserAgent(task.spec) as agent, ThreadPoolExecutor(1) as pool, httpx.Client(timeout=PATIENCE_S) as client:
        early = client.post(f"{agent.url}act", content=b'{"tool": "submit", "arguments": {}}')
        run = pool.submit(run_task, task, agent, 1)
        version = 0
        while not (told := client.get(f"{agent.url}news?version={version}").json())["waiting"]:
            version = told["version"]
        refused = [
            client.post(f"{agent.url}act", content=body) for body in (b"{", b'{"tool": "fly"}', b'{"tool": "read"}')
        ]
        root = agent.url.rsplit("/", 2)[0]
        strangers = [client.get(f"{root}/{where}").status_code for where in ("", "news", "act", "wrong/news")]
        foreign = client.get(f"{agent.url}news", headers={"origin": "http://evil.example"})
        assert client.post(f"{agent.url}act", content=b'{"tool": "submit", "arguments": {}}').status_code == 200
        episode = run.result()
    assert "expected a run that has begun" in early.json()["error"]
    assert [one.status_code for one in refused] == [422, 422, 422]
    assert "expected one of" in refused[1].json()["error"]
    assert strangers == [404] * 4
    assert foreign.status_code == 403
    assert episode.steps == 1
