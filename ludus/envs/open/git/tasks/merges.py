"""Tasks of bringing work together: merges, conflicts, picks, reverts."""

from ludus.envs.open.git.tasks.task import Checks, Draw, Found, GitTask

__all__ = ["MERGES"]


def resolve_conflict(draw: Draw) -> GitTask:
    """Merge a branch that changed the same line."""
    repository, files = draw.repository, draw.begin()
    lines = files["settings.ini"].splitlines()
    at = draw.number(1, 4)
    key = lines[at].partition(" ")[0]
    ours, theirs, both = draw.number(100, 199), draw.number(200, 299), draw.number(300, 399)
    base, name = repository.tip("main"), draw.words[10]

    def changed(value: int) -> dict[str, str]:
        return files | {"settings.ini": "\n".join([*lines[:at], f"{key} = {value}", *lines[at + 1 :]]) + "\n"}

    theirs_files = changed(theirs) | {f"src/{name}.py": f"{name.upper()} = {theirs}\n"}
    tip = draw.commit(name, theirs_files, f"Add {name}", parents=[base])
    main = draw.commit("main", changed(ours), f"Tune {key}")
    expected = changed(both) | {f"src/{name}.py": theirs_files[f"src/{name}.py"]}

    def check(found: Found) -> Checks:
        seen = found.forge[draw.project]
        now = seen.tip("main")
        checks = Checks(merged=set(seen.read(now).parents) == {main, tip}, content=seen.files(now) == expected)
        checks.kept(history=main in seen.ancestors(now), branch=seen.tip(name) == tip)
        return checks

    prompt = (
        f"In the repository {draw.project}, merge the branch {name} into main with a merge commit. Both changed "
        f"`{key}` in settings.ini: set it to {both}. Change nothing else, and push main."
    )
    solution = [
        ["merge", f"origin/{name}"],
        ["!write", "settings.ini", expected["settings.ini"]],
        ["commit", "-a", "--no-edit"],
        ["push", "origin", "main"],
    ]
    return GitTask(draw.project, prompt, {draw.project: repository}, check, solution)


def fast_forward(draw: Draw) -> GitTask:
    """Bring main to a branch without a merge commit."""
    repository, files = draw.repository, draw.begin()
    name, base = draw.words[10], repository.tip("main")
    repository.branch(name, base)
    for count in range(draw.number(2, 4)):
        files[f"src/{name}{count}.py"] = draw.lines(2, count)
        draw.commit(name, files, f"Write part {count + 1} of {name}")
    tip = repository.tip(name)

    def check(found: Found) -> Checks:
        return Checks(forwarded=found.forge[draw.project].tip("main") == tip)

    prompt = (
        f"In the repository {draw.project}, the branch {name} is ready. Bring main up to it without a merge "
        "commit, and push main."
    )
    solution = [["merge", "--ff-only", f"origin/{name}"], ["push", "origin", "main"]]
    return GitTask(draw.project, prompt, {draw.project: repository}, check, solution)


def cherry_pick(draw: Draw) -> GitTask:
    """One commit of a branch onto another."""
    repository, files = draw.repository, draw.begin()
    repository.branch("release", repository.tip("main"))
    before = dict(files)
    words, chosen = draw.words[10:14], draw.number(0, 3)
    changes = {word: {f"src/{word}.py": draw.lines(2, at)} for at, word in enumerate(words)}
    made: list[str] = []
    for word, change in changes.items():
        files |= change
        made.append(draw.commit("main", files, f"Fix {word}"))
    subject, expected, old = f"Fix {words[chosen]}", before | changes[words[chosen]], repository.tip("release")

    def check(found: Found) -> Checks:
        seen = found.forge[draw.project]
        now = seen.tip("release")
        checks = Checks(
            one_commit=seen.line(now)[1:2] == [old],
            content=seen.files(now) == expected,
            message=seen.read(now).subject == subject,
        )
        checks.kept(main=seen.tip("main") == repository.tip("main"))
        return checks

    prompt = (
        f"In the repository {draw.project}, bring the commit with the subject '{subject}' from main onto the "
        "branch release, alone and with its message, and push release."
    )
    solution = [["checkout", "-q", "release"], ["cherry-pick", made[chosen]], ["push", "origin", "release"]]
    return GitTask(draw.project, prompt, {draw.project: repository}, check, solution)


def backport(draw: Draw) -> GitTask:
    """One fix onto two older releases, with a note of where it came from."""
    repository, files = draw.repository, draw.begin()
    old: dict[str, dict[str, str]] = {}
    for name in ("1.x", "2.x"):
        files[f"docs/{name}.md"] = f"Notes on {name}\n"
        draw.commit("main", files, f"Prepare {name}")
        repository.branch(name, repository.tip("main"))
        old[name] = dict(files)
    word = draw.words[12]
    fix = {f"src/{word}.py": draw.lines(3)}
    files |= fix
    sha = draw.commit("main", files, f"Fix {word}")
    tips = {name: repository.tip(name) for name in old}

    def check(found: Found) -> Checks:
        seen, checks = found.forge[draw.project], Checks()
        for name, before in old.items():
            now = seen.tip(name)
            release = name[0]
            checks[f"on_{release}"] = seen.line(now)[1:2] == [tips[name]] and seen.files(now) == before | fix
            checks[f"note_on_{release}"] = f"cherry picked from commit {sha}" in seen.read(now).message
        checks.kept(main=seen.tip("main") == sha)
        return checks

    prompt = (
        f"In the repository {draw.project}, backport the last commit of main to the branches 1.x and 2.x. Each "
        "message must say '(cherry picked from commit …)' as git writes it. Push both."
    )
    solution: list[list[str]] = []
    for name in old:
        solution += [["checkout", "-q", name], ["cherry-pick", "-x", sha]]
    return GitTask(
        draw.project, prompt, {draw.project: repository}, check, [*solution, ["push", "origin", "1.x", "2.x"]]
    )


def revert_commit(draw: Draw) -> GitTask:
    """Undo one commit that others came after."""
    repository, files = draw.repository, draw.begin()
    bad = draw.words[11]
    settings = files["settings.ini"]
    files["settings.ini"] = settings + f"{bad} = broken\n"
    sha = draw.commit("main", files, f"Set {bad}")
    for word in draw.words[14:16]:
        files[f"src/{word}.py"] = draw.lines(2)
        draw.commit("main", files, f"Add {word}")
    main, expected = repository.tip("main"), files | {"settings.ini": settings}

    def check(found: Found) -> Checks:
        seen = found.forge[draw.project]
        now = seen.tip("main")
        checks = Checks(content=seen.files(now) == expected, one_commit=seen.line(now)[1:2] == [main])
        checks.kept(history=main in seen.ancestors(now))
        return checks

    prompt = (
        f"In the repository {draw.project}, the commit 'Set {bad}' broke things. Undo it with one new commit on "
        "main that keeps all history, and push main."
    )
    solution = [["revert", "--no-edit", sha], ["push", "origin", "main"]]
    return GitTask(draw.project, prompt, {draw.project: repository}, check, solution)


def revert_merge(draw: Draw) -> GitTask:
    """Undo a whole branch after it was merged."""
    repository, files = draw.repository, draw.begin()
    name, base = draw.words[10], repository.tip("main")
    part = {f"src/{name}.py": draw.lines(2), f"docs/{name}.md": f"How to {name}\n"}
    repository.branch(name, base)
    draw.commit(name, files | {f"src/{name}.py": part[f"src/{name}.py"]}, f"Add {name}")
    tip = draw.commit(name, files | part, f"Describe {name}")
    files["NOTES"] = draw.lines(1)
    other = draw.commit("main", files, "Take notes")
    merge = draw.commit("main", files | part, f"Merge branch '{name}'", parents=[other, tip])
    files["LICENSE"] = "Use it as you like.\n"
    main = draw.commit("main", files | part, "Add a license")

    def check(found: Found) -> Checks:
        seen = found.forge[draw.project]
        now = seen.tip("main")
        checks = Checks(content=seen.files(now) == files, one_commit=seen.line(now)[1:2] == [main])
        checks.kept(history=main in seen.ancestors(now))
        return checks

    prompt = (
        f"In the repository {draw.project}, the merge of the branch {name} was a mistake. Undo all that it "
        "brought with one new commit on main, which keeps all history, and push main."
    )
    solution = [["revert", "--no-edit", "-m", "1", merge], ["push", "origin", "main"]]
    return GitTask(draw.project, prompt, {draw.project: repository}, check, solution)


def review_branches(draw: Draw) -> GitTask:
    """Merge those branches that keep a rule, and leave the others."""
    repository, files = draw.repository, draw.begin()
    base, tips, good = repository.tip("main"), dict[str, str](), list[str]()
    bad = {draw.number(0, 3), draw.number(0, 3)}
    for count in range(4):
        name = draw.words[8 + count]
        content = draw.lines(3, count) + (
            f"password = '{draw.words[20]}'\n" if count in bad else "password = read_secret()\n"
        )
        tips[name] = draw.commit(name, files | {f"src/{name}.py": content}, f"Add {name}", parents=[base])
        good += [] if count in bad else [name]

    def check(found: Found) -> Checks:
        seen, checks = found.forge[draw.project], Checks()
        reached = seen.ancestors(seen.tip("main"))
        checks["merged"] = all(tips[name] in reached for name in good)
        checks["content"] = set(seen.files(seen.tip("main"))) == {*files, *(f"src/{name}.py" for name in good)}
        checks.kept(
            refused=not any(tips[name] in reached for name in tips if name not in good), history=base in reached
        )
        return checks

    prompt = (
        f"Review the four branches {', '.join(tips)} of the repository {draw.project}. A password must never be "
        "written into the code. Merge the branches that keep to that into main, leave the others alone, and push "
        "main."
    )
    solution = [["merge", "--no-edit", f"origin/{name}"] for name in good] + [["push", "origin", "main"]]
    return GitTask(draw.project, prompt, {draw.project: repository}, check, solution)


MERGES = [resolve_conflict, fast_forward, cherry_pick, backport, revert_commit, revert_merge, review_branches]
