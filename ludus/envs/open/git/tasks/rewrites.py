"""Tasks of writing history anew: rebases, squashes, splits, and what must not be in it."""

from ludus.envs.open.git.tasks.task import Checks, Draw, Found, GitTask

__all__ = ["REWRITES"]


def _feature(draw: Draw, count: int) -> tuple[str, dict[str, str], list[str]]:
    """A branch with some commits, one file each; its name, its files, and the subjects in order."""
    files, name, subjects = draw.begin(), draw.words[9], list[str]()
    draw.repository.branch(name, draw.repository.tip("main"))
    for word in draw.words[12 : 12 + count]:
        files[f"src/{word}.py"] = draw.lines(2, count)
        subjects.append(f"Add {word}")
        draw.commit(name, files, subjects[-1])
    return name, files, subjects


def rebase(draw: Draw) -> GitTask:
    """A branch onto what main has become."""
    name, files, subjects = _feature(draw, draw.number(2, 3))
    repository = draw.repository
    before = repository.files(repository.tip("main"))
    more = {"CHANGES": draw.lines(2)}
    main = draw.commit("main", before | more, "Keep a list of changes")

    def check(found: Found) -> Checks:
        seen = found.forge[draw.project]
        line = seen.line(seen.tip(name))
        new = line[: len(subjects)]
        checks = Checks(
            on_main=line[len(subjects) : len(subjects) + 1] == [main],
            content=bool(line) and seen.files(line[0]) == files | more,
        )
        actual = [seen.read(one).subject for one in reversed(new)]
        checks.kept(main=seen.tip("main") == main, commits=actual == subjects)
        return checks

    prompt = (
        f"In the repository {draw.project}, rebase the branch {name} onto main, so that its {len(subjects)} "
        "commits follow the last one of main in a line, and push it."
    )
    solution = [["checkout", "-q", name], ["rebase", "origin/main"], ["push", "--force", "origin", name]]
    return GitTask(draw.project, prompt, {draw.project: repository}, check, solution)


def squash(draw: Draw) -> GitTask:
    """All commits of a branch as one."""
    name, files, subjects = _feature(draw, draw.number(3, 5))
    repository, title = draw.repository, f"Add {draw.words[20]} and {draw.words[21]}"
    main = repository.tip("main")

    def check(found: Found) -> Checks:
        seen = found.forge[draw.project]
        now = seen.tip(name)
        checks = Checks(
            one_commit=seen.line(now)[1:2] == [main],
            message=bool(now) and seen.read(now).message.strip() == title,
        )
        checks.kept(content=bool(now) and seen.files(now) == files, main=seen.tip("main") == main)
        return checks

    prompt = (
        f"In the repository {draw.project}, make one commit of the {len(subjects)} commits of the branch {name}, "
        f"with the message '{title}' and the same files, on top of main, and push it."
    )
    solution = [
        ["checkout", "-q", name],
        ["reset", "-q", "--soft", "origin/main"],
        ["commit", "-q", "-m", title],
        ["push", "--force", "origin", name],
    ]
    return GitTask(draw.project, prompt, {draw.project: repository}, check, solution)


def split_commit(draw: Draw) -> GitTask:
    """One commit with two changes as two."""
    repository, files = draw.repository, draw.begin()
    first, second = draw.words[10], draw.words[11]
    main = repository.tip("main")
    one, two = {f"src/{first}.py": draw.lines(2)}, {f"src/{second}.py": draw.lines(2, 3)}
    repository.branch("work", main)
    draw.commit("work", files | one | two, f"Add {first} and {second}")

    def check(found: Found) -> Checks:
        seen = found.forge[draw.project]
        line = seen.line(seen.tip("work"))
        checks = Checks(
            two_commits=line[2:3] == [main],
            first=len(line) > 2 and seen.files(line[1]) == files | one and seen.read(line[1]).subject == f"Add {first}",
            second=len(line) > 2 and seen.read(line[0]).subject == f"Add {second}",
        )
        checks.kept(content=bool(line) and seen.files(line[0]) == files | one | two)
        return checks

    prompt = (
        f"In the repository {draw.project}, the last commit of the branch work does two things. Split it into "
        f"two: 'Add {first}' with src/{first}.py, then 'Add {second}' with src/{second}.py. Push the branch."
    )
    solution = [
        ["checkout", "-q", "work"],
        ["reset", "-q", "HEAD~1"],
        ["add", f"src/{first}.py"],
        ["commit", "-q", "-m", f"Add {first}"],
        ["add", f"src/{second}.py"],
        ["commit", "-q", "-m", f"Add {second}"],
        ["push", "--force", "origin", "work"],
    ]
    return GitTask(draw.project, prompt, {draw.project: repository}, check, solution)


def reword(draw: Draw) -> GitTask:
    """The message of a commit that is not the last."""
    name, files, subjects = _feature(draw, draw.number(3, 4))
    repository, at = draw.repository, draw.number(0, 1)
    new = f"Add {draw.words[20]}, as was agreed"
    expected = [*subjects[:at], new, *subjects[at + 1 :]]
    main, back = repository.tip("main"), len(subjects) - at

    def check(found: Found) -> Checks:
        seen = found.forge[draw.project]
        line = seen.line(seen.tip(name))
        actual = [seen.read(one).message.strip() for one in reversed(line[: len(subjects)])]
        checks = Checks(messages=actual == expected)
        checks.kept(
            base=line[len(subjects) : len(subjects) + 1] == [main],
            content=bool(line) and seen.files(line[0]) == files,
        )
        return checks

    prompt = (
        f"In the repository {draw.project}, change the message of the commit '{subjects[at]}' of the branch "
        f"{name} to '{new}'. All other commits keep message and content, in the same order. Push the branch."
    )
    later = subjects[at + 1 :]
    tip = repository.tip(name)
    picks = list(reversed(repository.line(tip)[: len(later)]))
    solution = [
        ["checkout", "-q", "-B", name, repository.line(tip)[back - 1]],
        ["commit", "-q", "--amend", "-m", new],
        ["cherry-pick", *picks],
        ["push", "--force", "origin", name],
    ]
    return GitTask(draw.project, prompt, {draw.project: repository}, check, solution)


def amend_author(draw: Draw) -> GitTask:
    """The last commit, by somebody else."""
    repository, files = draw.repository, draw.begin()
    wrong, right = draw.people[0], draw.people[1]
    word = draw.words[12]
    files[f"src/{word}.py"] = draw.lines(2)
    before = repository.tip("main")
    draw.commit("main", files, f"Add {word}", author=wrong)

    def check(found: Found) -> Checks:
        seen = found.forge[draw.project]
        line = seen.line(seen.tip("main"))
        checks = Checks(author=bool(line) and seen.read(line[0]).author_name == right)
        checks.kept(
            parent=line[1:2] == [before],
            message=bool(line) and seen.read(line[0]).subject == f"Add {word}",
            content=bool(line) and seen.files(line[0]) == files,
        )
        return checks

    prompt = (
        f"In the repository {draw.project}, the last commit of main has the wrong author: it is by {right}. "
        "Correct that, change nothing else, and push main."
    )
    solution = [
        ["commit", "-q", "--amend", "--no-edit", f"--author={right}"],
        ["push", "--force", "origin", "main"],
    ]
    return GitTask(draw.project, prompt, {draw.project: repository}, check, solution)


def purge_file(draw: Draw) -> GitTask:
    """A secret out of all history."""
    repository, files = draw.repository, draw.begin()
    secret = f"token = {draw.rng.integers(1 << 40):010x}\n"
    name = draw.pick(["secrets.env", "deploy.key", "token.txt"])
    draw.commit("main", files | {name: secret}, "Set up deployment")
    subjects = ["Set up deployment"]
    for word in draw.words[12 : 12 + draw.number(2, 3)]:
        files[f"src/{word}.py"] = draw.lines(2)
        subjects.append(f"Add {word}")
        draw.commit("main", files | {name: secret}, subjects[-1])
    blob = repository.entries(repository.read(repository.tip("main")).tree)[name].id

    def check(found: Found) -> Checks:
        seen = found.forge[draw.project]
        reached = seen.ancestors(*seen.refs.values())
        hidden = all(one.id != blob for commit in reached for one in seen.entries(seen.read(commit).tree).values())
        line = seen.line(seen.tip("main"))
        actual = [seen.read(one).subject for one in reversed(line)]
        checks = Checks(gone=hidden)
        checks.kept(
            content={path: text for path, text in (seen.files(line[0]) if line else {}).items() if path != name}
            == files,
            commits=[one for one in actual if one in subjects[1:]] == subjects[1:] and len(actual) >= len(subjects) + 2,
        )
        return checks

    prompt = (
        f"In the repository {draw.project}, the file {name} must never have been committed. Take it out of every "
        "commit of main; commits that hold something else keep their order, messages and other files. Push main."
    )
    solution = [
        ["filter-branch", "-f", "--index-filter", f"git rm -q --cached --ignore-unmatch {name}", "main"],
        ["push", "--force", "origin", "main"],
    ]
    return GitTask(draw.project, prompt, {draw.project: repository}, check, solution)


def drop_commit(draw: Draw) -> GitTask:
    """One commit of a branch out of it."""
    name, files, subjects = _feature(draw, 4)
    repository, at = draw.repository, draw.number(0, 2)
    main, tip = repository.tip("main"), repository.tip(name)
    gone = f"src/{subjects[at].removeprefix('Add ')}.py"
    expected = {path: text for path, text in files.items() if path != gone}
    rest = [*subjects[:at], *subjects[at + 1 :]]
    line = repository.line(tip)
    before, after = line[len(subjects) - at], line[len(subjects) - at - 1]

    def check(found: Found) -> Checks:
        seen = found.forge[draw.project]
        now = seen.line(seen.tip(name))
        checks = Checks(
            commits=[seen.read(one).subject for one in reversed(now[: len(rest)])] == rest
            and now[len(rest) : len(rest) + 1] == [main],
            content=bool(now) and seen.files(now[0]) == expected,
        )
        checks.kept(main=seen.tip("main") == main)
        return checks

    prompt = (
        f"In the repository {draw.project}, drop the commit '{subjects[at]}' from the branch {name}: no commit "
        "may undo it, it must not be there. The others stay in order. Push the branch."
    )
    solution = [
        ["checkout", "-q", name],
        ["rebase", "--onto", before, after],
        ["push", "--force", "origin", name],
    ]
    return GitTask(draw.project, prompt, {draw.project: repository}, check, solution)


REWRITES = [rebase, squash, split_commit, reword, amend_author, purge_file, drop_commit]
