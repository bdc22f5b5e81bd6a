"""Task files and agent files of strangers: they name nothing of yours, neither files nor keys."""

import pytest

from ludus.errors import InvalidArgument
from ludus.tasks import find_task
from ludus.tasks.agents.choice import chosen_agent
from ludus.tasks.agents.model import ModelOptions
from ludus.tasks.folder import check_links
from ludus.tasks.grading import make_data
from ludus.tasks.new import new_task
from ludus.tasks.task_file import TaskFileError, read_task_text
from ludus.tasks.workspace import TaskWorkspace

TASK = "id: Guess\nname: Guess\ndescription: A game.\nevaluation: {metric: accuracy}\n"
AGENT = "agent: model\nmodel: {{url: {url}, model: theirs, key_variable: {variable}}}\n"


@pytest.mark.parametrize("which", ["baseline", "reference"])
@pytest.mark.parametrize("folder", ["/home/me/.ssh", "../../.ssh", "a/../../b"])
def test_a_solution_is_in_the_folder_of_its_task(which, folder):
    """`baseline: {folder: /home/me/.ssh}` put those files into a sandbox whose network the same file opens."""
    with pytest.raises(TaskFileError, match=rf"{which}.folder: expected a relative path without '..', got"):
        read_task_text(f"{TASK}{which}: {{folder: {folder}}}\n")


@pytest.mark.parametrize("place", ["starter/key", "data/key", "baseline/deep/key", "key", "starter"])
def test_a_link_that_leads_out_of_a_task_is_not_followed(tmp_path, place):
    secret = tmp_path / "secret"
    secret.mkdir()
    (secret / "id").write_text("mine")
    folder = tmp_path / "task"
    new_task(folder)
    link = folder / place
    if place == "starter":
        (folder / place).rename(folder / "before")
    link.parent.mkdir(parents=True, exist_ok=True)
    link.symlink_to(secret if place == "starter" else secret / "id")
    task, base = find_task(folder), tmp_path / "episode"
    for begin in (
        lambda: TaskWorkspace(task.spec, task.folder, base).begin(0),
        lambda: make_data(task.spec, task.folder, base, seed=0),
    ):
        with pytest.raises(InvalidArgument, match=rf"links within the task's folder, got {place}, which leads"):
            begin()
    assert not base.exists()


def test_a_link_within_a_task_is_as_good_as_a_file(tmp_path):
    new_task(tmp_path / "task")
    (tmp_path / "task" / "again.py").symlink_to("grader.py")
    check_links(tmp_path / "task")


@pytest.mark.parametrize("url", ["https://models.example/v1", "http://127.0.0.1.example/v1", "http://a@b.example/v1"])
@pytest.mark.parametrize("variable", ["AWS_SECRET_ACCESS_KEY", "OPENAI_API_KEY"])
def test_an_agents_file_sends_no_key_to_an_address_that_only_it_names(tmp_path, monkeypatch, url, variable):
    monkeypatch.setenv(variable, "mine")
    file = tmp_path / "agent.yaml"
    file.write_text(AGENT.format(url=url, variable=variable))
    task = find_task("sat_heuristic")
    with pytest.raises(InvalidArgument, match=rf"expected your word before the value of {variable} is sent to '"):
        chosen_agent(str(file), task)
    assert chosen_agent(str(file), task, model=ModelOptions(url=url, model="")).name == "theirs"
    monkeypatch.delenv(variable)
    assert chosen_agent(str(file), task).name == "theirs"


@pytest.mark.parametrize("url", ["http://127.0.0.1:8000/v1", "http://localhost/v1", "https://api.openai.com/v1"])
def test_a_key_goes_to_this_machine_and_to_whom_it_is_of(tmp_path, monkeypatch, url):
    monkeypatch.setenv("OPENAI_API_KEY", "mine")
    file = tmp_path / "agent.yaml"
    file.write_text(AGENT.format(url=url, variable="OPENAI_API_KEY"))
    assert chosen_agent(str(file), find_task("sat_heuristic")).name == "theirs"
