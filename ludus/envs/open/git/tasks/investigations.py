"""Tasks of finding something out in history: the answer is handed in."""

from collections.abc import Callable

from ludus.envs.open.git.tasks.task import Checks, Draw, Found, GitTask

__all__ = ["INVESTIGATIONS"]

MIN_HASH_CHARS = 7


def _is(expected: str) -> Callable[[Found], Checks]:
    """Whether the answer is a commit, by its name or the beginning of it."""

    def check(found: Found) -> Checks:
        answer = found.answer.strip().strip("`'\".").lower()
        return Checks(answer=len(answer) >= MIN_HASH_CHARS and expected.startswith(answer))

    return check


def bisect(draw: Draw) -> GitTask:
    """The first commit in which a rule is broken, among many."""
    files = draw.begin()
    count, bad, limit = draw.number(16, 24), draw.number(5, 14), 100
    made = ""
    for at in range(count):
        rows = [f"{word} = {draw.number(1, 30)}" for word in draw.words[:8]]
        if at >= bad:
            rows[draw.number(0, 7)] = f"{draw.words[at % 8]} = {draw.number(101, 400)}"
        files["load.ini"] = "\n".join(rows) + "\n"
        commit = draw.commit("main", files, f"Measure the load, part {at + 1}")
        made = commit if at == bad else made
    prompt = (
        f"In the repository {draw.project}, no number in load.ini may be above {limit}. Since some commit of main "
        "one always is. Which one was the first? Submit its hash."
    )
    return GitTask(draw.project, prompt, {draw.project: draw.repository}, _is(made), [["!submit", made]])


def blame(draw: Draw) -> GitTask:
    """Who wrote a line first, though it was moved and indented since."""
    files = draw.begin()
    word, number = draw.words[10], draw.number(1000, 9999)
    line = f"{word} = {number}"
    sources = [f"{other} = {draw.number(1, 99)}" for other in draw.words[11:17]]
    made, at = "", draw.number(1, 3)
    for count in range(6):
        rows = sources[: count + 1]
        if count == at:
            rows = [*rows, line]
        elif count > at:
            rows = ["if True:", f"    {line}", *(f"    {one}" for one in rows)]
        files["src/table.py"] = "\n".join(rows) + "\n"
        commit = draw.commit("main", files, f"Work on the table, {count + 1}")
        made = commit if count == at else made
    prompt = (
        f"In the repository {draw.project}, which commit of main brought `{line}` into src/table.py first? It was "
        "moved and indented since. Submit its hash."
    )
    return GitTask(draw.project, prompt, {draw.project: draw.repository}, _is(made), [["!submit", made]])


def removed_line(draw: Draw) -> GitTask:
    """The commit that took something away."""
    files = draw.begin()
    word = draw.words[10]
    text = f"def {word}():\n    return {draw.number(1, 99)}\n"
    made, at = "", draw.number(2, 6)
    for count in range(9):
        files["src/tools.py"] = draw.lines(3, count) + (text if count < at else "")
        commit = draw.commit("main", files, f"Sharpen the tools, {count + 1}")
        made = commit if count == at else made
    prompt = (
        f"In the repository {draw.project}, src/tools.py once had a function `{word}`. Which commit of main "
        "removed it? Submit its hash."
    )
    return GitTask(draw.project, prompt, {draw.project: draw.repository}, _is(made), [["!submit", made]])


def branch_point(draw: Draw) -> GitTask:
    """Where two branches parted."""
    files, repository = draw.begin(), draw.repository
    at, fork = draw.number(1, 4), ""
    for count in range(6):
        files[f"src/part{count}.py"] = draw.lines(1, count)
        made = draw.commit("main", files, f"Write part {count}")
        if count == at:
            fork = made
            repository.branch("topic", made)
            for word in draw.words[10:13]:
                draw.commit("topic", files | {f"src/{word}.py": draw.lines(2)}, f"Try {word}")
    prompt = (
        f"In the repository {draw.project}, which is the last commit that main and topic have in common? Submit "
        "its hash."
    )
    return GitTask(draw.project, prompt, {draw.project: repository}, _is(fork), [["!submit", fork]])


def most_commits(draw: Draw) -> GitTask:
    """Who wrote most of a history."""
    files = draw.begin()
    most = draw.people[draw.number(0, 3)]
    for count in range(12):
        author = most if count % 2 else draw.people[count // 2 % 4]
        files["src/log.py"] = draw.lines(3, count % 8)
        draw.commit("main", files, f"Entry {count + 1}", author=author)
    for count in range(3):
        draw.commit("main", files | {"src/log.py": draw.lines(2, count)}, f"Late entry {count + 1}", author=most)
    mail = most.partition("<")[2].rstrip(">")

    def check(found: Found) -> Checks:
        return Checks(answer=found.answer.strip().strip("<>`'\".").lower() == mail)

    prompt = f"In the repository {draw.project}, who is the author of most commits of main? Submit the e-mail address."
    return GitTask(draw.project, prompt, {draw.project: draw.repository}, check, [["!submit", mail]])


INVESTIGATIONS = [bisect, blame, removed_line, branch_point, most_commits]
