"""Tasks that begin in a workspace where something went wrong: lost commits, stashes, half a merge."""

from ludus.envs.open.git.objects import Repository
from ludus.envs.open.git.tasks.task import Checkout, Checks, Draw, Found, GitTask

__all__ = ["RECOVERIES"]

ZERO = "0" * 40


def _log(rows: list[tuple[str, str, str]], clock: int) -> str:
    """A reflog: before, after and what was done, row by row."""
    return "".join(
        f"{old} {new} Agent <agent@example.com> {clock + at * 60} +0000\t{text}\n"
        for at, (old, new, text) in enumerate(rows)
    )


def _local(draw: Draw, prompt: str, checkout: Checkout, check: object, solution: list[list[str]]) -> GitTask:
    return GitTask(draw.project, prompt, {}, check, solution, {draw.project: checkout})  # pyright: ignore[reportArgumentType]


def lost_commits(draw: Draw) -> GitTask:
    """Commits that a reset took away, by the reflog."""
    repository, files = draw.repository, draw.begin()
    kept, rows = repository.tip("main"), list[tuple[str, str, str]]()
    for word in draw.words[10:12]:
        files[f"src/{word}.py"] = draw.lines(2)
        before = repository.tip("main")
        rows.append((before, draw.commit("main", files, f"Add {word}"), f"commit: Add {word}"))
    lost = repository.tip("main")
    rows.append((lost, kept, f"reset: moving to {kept[:7]}"))
    repository.branch("main", kept)
    log = _log([(ZERO, kept, "clone: from the forge"), *rows], repository.clock)

    def check(found: Found) -> Checks:
        seen = found.workspace[draw.project]
        checks = Checks(recovered=seen.tip("recovered") == lost)
        checks.kept(main=seen.tip("main") == kept)
        return checks

    prompt = (
        f"In /workspace/{draw.project} somebody ran `git reset --hard` on main and lost the last two commits. "
        "Have a branch recovered with them, exactly as they were, and leave main as it is."
    )
    checkout = Checkout(repository, logs={"HEAD": log, "refs/heads/main": log})
    return _local(draw, prompt, checkout, check, [["branch", "recovered", lost]])


def _stash(draw: Draw, files: dict[str, str], title: str) -> str:
    """A stash as git makes one: a commit of the files whose second parent is the index."""
    repository, base = draw.repository, draw.repository.tip("main")
    index = repository.commit(
        "hidden", repository.files(base), f"index on main: {title}", author=draw.who(), parents=[base]
    )
    made = repository.commit("hidden", files, f"On main: {title}", author=draw.who(), parents=[base, index])
    del repository.refs["refs/heads/hidden"]
    return made


def apply_stash(draw: Draw) -> GitTask:
    """The right one of several stashes."""
    repository, files = draw.repository, draw.begin()
    words, chosen = draw.words[10:13], draw.number(0, 2)
    changed = {
        word: files | {"settings.ini": files["settings.ini"] + f"{word} = {draw.number(1, 99)}\n"} for word in words
    }
    stashes = {word: _stash(draw, changed[word], f"half of {word}") for word in words}
    rows, last = list[tuple[str, str, str]](), ZERO
    for word in words:
        rows.append((last, stashes[word], f"On main: half of {word}"))
        last = stashes[word]
    repository.refs["refs/stash"] = last
    word, base = words[chosen], repository.tip("main")

    def check(found: Found) -> Checks:
        seen = found.workspace[draw.project]
        now = seen.tip("main")
        checks = Checks(
            committed=seen.line(now)[1:2] == [base] and seen.files(now) == changed[word],
            message=bool(now) and seen.read(now).subject == f"Finish {word}",
        )
        others = [stashes[one] for one in words if one != word]
        checks.kept(others=all(one in seen.objects for one in others) and seen.refs.get("refs/stash", "") != "")
        return checks

    prompt = (
        f"In /workspace/{draw.project} there are three stashes. Commit to main what is in the one called 'half of "
        f"{word}', with the message 'Finish {word}'. Keep the other two."
    )
    checkout = Checkout(repository, logs={"refs/stash": _log(rows, repository.clock)})
    solution = [["stash", "apply", f"stash@{{{2 - chosen}}}"], ["commit", "-q", "-a", "-m", f"Finish {word}"]]
    return _local(draw, prompt, checkout, check, solution)


def dropped_stash(draw: Draw) -> GitTask:
    """A stash that no ref leads to any more."""
    repository, files = draw.repository, draw.begin()
    word = draw.words[10]
    changed = files | {f"src/{word}.py": draw.lines(3), "settings.ini": files["settings.ini"] + f"{word} = 1\n"}
    stash = _stash(draw, changed, f"half of {word}")

    def check(found: Found) -> Checks:
        seen = found.workspace[draw.project]
        now = seen.tip("rescued")
        checks = Checks(branch=bool(now), content=bool(now) and seen.files(now) == changed)
        checks.kept(main=seen.tip("main") == repository.tip("main"))
        return checks

    prompt = (
        f"In /workspace/{draw.project} a stash called 'half of {word}' was dropped by mistake. Find it, and have "
        "a branch rescued whose last commit has the files that were in it."
    )
    return _local(draw, prompt, Checkout(repository), check, [["branch", "rescued", stash]])


def detached_head(draw: Draw) -> GitTask:
    """Work that is on no branch."""
    repository, files = draw.repository, draw.begin()
    main, name = repository.tip("main"), draw.words[9]
    for word in draw.words[10:12]:
        files[f"src/{word}.py"] = draw.lines(2)
        repository.commit("hidden", files, f"Add {word}", author=draw.who(), parents=[repository.tip("hidden") or main])
    tip = repository.refs.pop("refs/heads/hidden")

    def check(found: Found) -> Checks:
        seen = found.workspace[draw.project]
        checks = Checks(branch=seen.tip(name) == tip, on_main=seen.head == "refs/heads/main" and not seen.detached)
        checks.kept(main=seen.tip("main") == main)
        return checks

    prompt = (
        f"In /workspace/{draw.project} HEAD is detached, and two commits were made there. Put them on a new "
        f"branch {name}, then check out main, which stays as it is."
    )
    checkout = Checkout(repository, setup=[["checkout", "-q", tip]])
    return _local(draw, prompt, checkout, check, [["branch", name], ["checkout", "-q", "main"]])


def clean_untracked(draw: Draw) -> GitTask:
    """What is not tracked, without what is ignored or changed."""
    repository, files = draw.repository, draw.begin()
    files[".gitignore"] = ".env\n"
    draw.commit("main", files, "Ignore secrets")
    rubbish = {f"tmp/{word}.txt": f"{word}\n" for word in draw.words[10:13]} | {f"{draw.words[13]}.orig": "old\n"}
    changed = files["settings.ini"] + f"{draw.words[14]} = 7\n"
    secret = f"KEY={draw.number(1000, 9999)}\n"

    def check(found: Found) -> Checks:
        seen = found.workspace[draw.project]
        beside = seen.beside
        checks = Checks(removed=not set(beside) & set(rubbish))
        checks.kept(
            ignored=beside.get(".env") == secret,
            change=beside.get("settings.ini") == changed,
            others=all(beside.get(path) == text for path, text in files.items() if path != "settings.ini"),
            main=seen.tip("main") == repository.tip("main"),
        )
        return checks

    prompt = (
        f"In /workspace/{draw.project} remove all files and folders that are not tracked. What is ignored stays, "
        "and so does the change in settings.ini, which is not to be committed."
    )
    checkout = Checkout(repository, files=rubbish | {".env": secret, "settings.ini": changed})
    return _local(draw, prompt, checkout, check, [["clean", "-f", "-d"]])


def partial_commit(draw: Draw) -> GitTask:
    """One of two changes, though both are staged."""
    repository, files = draw.repository, draw.begin()
    base, word = repository.tip("main"), draw.words[10]
    one = {"settings.ini": files["settings.ini"] + f"{word} = 3\n"}
    two = {"docs/guide.md": files["docs/guide.md"] + f"See {word}.\n"}

    def check(found: Found) -> Checks:
        seen = found.workspace[draw.project]
        now = seen.tip("main")
        staged = seen.index.get(("docs/guide.md", 0))
        checks = Checks(
            committed=seen.line(now)[1:2] == [base] and seen.files(now) == files | one,
            message=bool(now) and seen.read(now).subject == f"Set {word}",
            unstaged=staged is not None and seen.text(staged.id) == files["docs/guide.md"],
        )
        checks.kept(change=seen.beside.get("docs/guide.md") == two["docs/guide.md"])
        return checks

    prompt = (
        f"In /workspace/{draw.project} two files are staged. Commit only settings.ini to main, with the message "
        f"'Set {word}'. The change in docs/guide.md stays in the file, but is no longer staged."
    )
    checkout = Checkout(repository, setup=[], files=one | two, staged=True)
    solution = [["reset", "-q", "docs/guide.md"], ["commit", "-q", "-m", f"Set {word}"]]
    return _local(draw, prompt, checkout, check, solution)


def _conflicting(draw: Draw) -> tuple[Repository, str, str]:
    repository, files = draw.repository, draw.begin()
    name, base = draw.words[9], repository.tip("main")
    key = files["settings.ini"].partition(" ")[0]
    rest = files["settings.ini"].partition("\n")[2]
    draw.commit(name, files | {"settings.ini": f"{key} = 500\n{rest}"}, f"Raise {key}", parents=[base])
    main = draw.commit("main", files | {"settings.ini": f"{key} = 400\n{rest}"}, f"Tune {key}")
    return repository, name, main


def abort_merge(draw: Draw) -> GitTask:
    """Out of a merge that was begun by mistake."""
    repository, name, main = _conflicting(draw)

    def check(found: Found) -> Checks:
        seen = found.workspace[draw.project]
        checks = Checks(no_merge=not seen.states, clean=seen.clean())
        checks.kept(main=seen.tip("main") == main, branch=seen.tip(name) == repository.tip(name))
        return checks

    prompt = (
        f"In /workspace/{draw.project} a merge of {name} was begun by mistake, and has a conflict. Get out of it: "
        "main and all files as they were before."
    )
    checkout = Checkout(repository, setup=[["merge", name]])
    return _local(draw, prompt, checkout, check, [["merge", "--abort"]])


def continue_rebase(draw: Draw) -> GitTask:
    """Through a rebase that stopped."""
    repository, name, main = _conflicting(draw)
    key = repository.files(main)["settings.ini"].partition(" ")[0]
    rest = repository.files(main)["settings.ini"].partition("\n")[2]
    expected = repository.files(main) | {"settings.ini": f"{key} = 450\n{rest}"}

    def check(found: Found) -> Checks:
        seen = found.workspace[draw.project]
        now = seen.tip(name)
        checks = Checks(
            finished=not seen.states and not seen.detached,
            on_main=seen.line(now)[1:2] == [main],
            content=bool(now) and seen.files(now) == expected,
        )
        checks.kept(main=seen.tip("main") == main)
        return checks

    prompt = (
        f"In /workspace/{draw.project} the branch {name} is being rebased onto main, and it stopped at a "
        f"conflict. Set {key} to 450, keep the rest, and finish the rebase."
    )
    checkout = Checkout(repository, setup=[["checkout", "-q", name], ["rebase", "main"]])
    solution = [["!write", "settings.ini", expected["settings.ini"]], ["add", "settings.ini"], ["rebase", "--continue"]]
    return _local(draw, prompt, checkout, check, solution)


def wrong_branch(draw: Draw) -> GitTask:
    """A commit that went to main instead of a branch."""
    repository, files = draw.repository, draw.begin()
    before, name, word = repository.tip("main"), draw.words[9], draw.words[10]
    files[f"src/{word}.py"] = draw.lines(2)
    made = draw.commit("main", files, f"Add {word}")

    def check(found: Found) -> Checks:
        seen = found.workspace[draw.project]
        return Checks(moved=seen.tip(name) == made, main=seen.tip("main") == before)

    prompt = (
        f"In /workspace/{draw.project} the last commit of main was meant for a branch {name}, which is not there "
        "yet. Have it there, the very same commit, and main one commit back."
    )
    solution = [["branch", name], ["reset", "-q", "--hard", "HEAD~1"]]
    return _local(draw, prompt, Checkout(repository), check, solution)


RECOVERIES = [
    lost_commits, apply_stash, dropped_stash, detached_head, clean_untracked, partial_commit, abort_merge,
    continue_rebase, wrong_branch,
]  # fmt: skip
