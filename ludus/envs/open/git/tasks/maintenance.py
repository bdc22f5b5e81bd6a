"""Tasks of keeping a forge in order: tags, branches, files, modules, forks."""

from ludus.envs.open.git.objects import MODULE, Entry, Repository
from ludus.envs.open.git.tasks.task import Checks, Draw, Found, GitTask

__all__ = ["MAINTENANCE"]


def tag_release(draw: Draw) -> GitTask:
    """An annotated tag at a commit that is not the last."""
    repository, files = draw.repository, draw.begin()
    version = f"v{draw.number(1, 9)}.{draw.number(0, 9)}.{draw.number(0, 9)}"
    files["VERSION"] = version[1:] + "\n"
    at = draw.commit("main", files, f"Prepare {version}")
    for word in draw.words[10:12]:
        files[f"src/{word}.py"] = draw.lines(2)
        draw.commit("main", files, f"Add {word}")
    title = f"Release {version} of {draw.project}"
    main = repository.tip("main")

    def check(found: Found) -> Checks:
        seen = found.forge[draw.project]
        target, message = seen.tagged(version)
        checks = Checks(tag=target == at, message=message == title)
        checks.kept(main=seen.tip("main") == main)
        return checks

    prompt = (
        f"In the repository {draw.project}, tag the commit 'Prepare {version}' as {version}: an annotated tag "
        f"with the message '{title}'. Push the tag."
    )
    solution = [["tag", "-a", version, "-m", title, at], ["push", "origin", version]]
    return GitTask(draw.project, prompt, {draw.project: repository}, check, solution)


def rename_branch(draw: Draw) -> GitTask:
    """A branch of the forge, under another name."""
    repository, files = draw.repository, draw.begin()
    old, new = f"wip-{draw.words[9]}", f"feature/{draw.words[10]}"
    tip = draw.commit(old, files | {"src/new.py": draw.lines(2)}, "Try something", parents=[repository.tip("main")])

    def check(found: Found) -> Checks:
        seen = found.forge[draw.project]
        checks = Checks(new=seen.tip(new) == tip, old=not seen.tip(old))
        checks.kept(main=seen.tip("main") == repository.tip("main"))
        return checks

    prompt = (
        f"In the repository {draw.project}, rename the branch {old} to {new}, on the forge too: the old name must "
        "be gone."
    )
    solution = [["push", "origin", f"origin/{old}:refs/heads/{new}"], ["push", "origin", "--delete", old]]
    return GitTask(draw.project, prompt, {draw.project: repository}, check, solution)


def delete_merged(draw: Draw) -> GitTask:
    """Branches that are part of main, and those that are not."""
    repository, files = draw.repository, draw.begin()
    base, merged, tips = repository.tip("main"), list[str](), dict[str, str]()
    done = {int(one) for one in draw.rng.permutation(5)[:3]}
    for count, name in enumerate(draw.words[8:13]):
        part = {f"src/{name}.py": draw.lines(2, count)}
        tips[name] = draw.commit(name, repository.files(base) | part, f"Add {name}", parents=[base])
        if count in done:
            files |= part
            merged.append(name)
            draw.commit("main", files, f"Merge branch '{name}'", parents=[repository.tip("main"), tips[name]])

    def check(found: Found) -> Checks:
        seen = found.forge[draw.project]
        checks = Checks(deleted=not any(seen.tip(name) for name in merged))
        checks.kept(
            others=all(seen.tip(name) == tips[name] for name in tips if name not in merged),
            main=seen.tip("main") == repository.tip("main"),
        )
        return checks

    prompt = (
        f"In the repository {draw.project}, delete every branch of the forge that is merged into main, and no other."
    )
    solution = [["push", "origin", "--delete", *merged]]
    return GitTask(draw.project, prompt, {draw.project: repository}, check, solution)


def restore_file(draw: Draw) -> GitTask:
    """A file that was deleted some time ago."""
    repository, files = draw.repository, draw.begin()
    name = f"docs/{draw.words[9]}.md"
    for count in range(2):
        files[name] = draw.lines(3 + count, count)
        draw.commit("main", files, f"Describe {draw.words[9]}, {count + 1}")
    text, last = files.pop(name), repository.tip("main")
    draw.commit("main", files, "Remove what nobody reads")
    for word in draw.words[12:14]:
        files[f"src/{word}.py"] = draw.lines(2)
        draw.commit("main", files, f"Add {word}")
    main = repository.tip("main")

    def check(found: Found) -> Checks:
        seen = found.forge[draw.project]
        now = seen.tip("main")
        checks = Checks(restored=seen.files(now) == files | {name: text})
        checks.kept(history=main in seen.ancestors(now))
        return checks

    prompt = (
        f"In the repository {draw.project}, {name} was deleted some time ago. Bring it back as it was last, with "
        "one new commit on main, and push main."
    )
    solution = [["checkout", last, "--", name], ["commit", "-q", "-m", f"Restore {name}"], ["push", "origin", "main"]]
    return GitTask(draw.project, prompt, {draw.project: repository}, check, solution)


def ignore_files(draw: Draw) -> GitTask:
    """What a build made, out of the repository and ignored."""
    repository, files = draw.repository, draw.begin()
    made = {f"build/{word}.o": f"{draw.number(1000, 9999)}\n" for word in draw.words[8 : 8 + draw.number(2, 4)]}
    draw.commit("main", files | made, "Commit everything")
    main = repository.tip("main")

    def check(found: Found) -> Checks:
        seen = found.forge[draw.project]
        now = seen.files(seen.tip("main"))
        rules = {line.strip() for line in now.pop(".gitignore", "").splitlines()}
        checks = Checks(removed=not any(path.startswith("build/") for path in now), ignored=bool(rules & IGNORING))
        checks.kept(
            others={path: text for path, text in now.items() if not path.startswith("build/")} == files,
            history=main in seen.ancestors(seen.tip("main")),
        )
        return checks

    prompt = (
        f"In the repository {draw.project}, what is in build/ was committed by mistake. Remove it from main with "
        "a new commit, and have a .gitignore that ignores the folder build/. Push main."
    )
    solution = [
        ["rm", "-r", "-q", "--cached", "build"],
        ["!write", ".gitignore", "build/\n"],
        ["add", ".gitignore"],
        ["commit", "-q", "-m", "Ignore what a build makes"],
        ["push", "origin", "main"],
    ]
    return GitTask(draw.project, prompt, {draw.project: repository}, check, solution)


IGNORING = {"build", "build/", "/build", "/build/", "build/*", "/build/*", "build/**", "**/build/"}


def sync_fork(draw: Draw) -> GitTask:
    """A fork up to date with where it came from."""
    repository, files = draw.repository, draw.begin()
    fork = Repository(repository.clock, dict(repository.objects), dict(repository.refs))
    own = fork.commit("topic", files | {"src/own.py": draw.lines(2)}, "Work of our own", author=draw.who(),
                      parents=[fork.tip("main")])  # fmt: skip
    for word in draw.words[10 : 10 + draw.number(2, 4)]:
        files[f"src/{word}.py"] = draw.lines(2)
        draw.commit("main", files, f"Add {word}")
    name, main = f"{draw.project}-fork", repository.tip("main")

    def check(found: Found) -> Checks:
        seen = found.forge[name]
        checks = Checks(synced=seen.tip("main") == main)
        checks.kept(topic=seen.tip("topic") == own, upstream=found.forge[draw.project].tip("main") == main)
        return checks

    prompt = (
        f"{name} is a fork of {draw.project}, which went on since. Bring main of the fork up to main of "
        f"{draw.project}, without a merge commit, and push it to the fork. Leave its branch topic alone."
    )
    solution = [
        ["pull", "-q", "--ff-only", f"http://forge.local/team/{draw.project}.git", "main"],
        ["push", "origin", "main"],
    ]
    return GitTask(name, prompt, {draw.project: repository, name: fork}, check, solution)


def update_module(draw: Draw) -> GitTask:
    """A submodule at another of its commits."""
    library, name = Repository(clock=draw.repository.clock), f"{draw.words[9]}-lib"
    versions = [
        library.commit("main", {"lib.py": draw.lines(2, at)}, f"Release {at + 1}.0", author=draw.who())
        for at in range(3)
    ]
    for at, one in enumerate(versions):
        library.refs[f"refs/tags/v{at + 1}.0"] = one
    repository, files = draw.repository, dict[str, str | Entry](draw.begin())
    url = f'[submodule "lib"]\n\tpath = lib\n\turl = ../{name}.git\n'
    files |= {".gitmodules": url, "lib": Entry(MODULE, versions[0])}
    main = repository.commit("main", files, "Use the library", author=draw.who())
    at = draw.number(1, 2)

    def check(found: Found) -> Checks:
        seen = found.forge[draw.project]
        now = seen.tip("main")
        entries = seen.entries(seen.read(now).tree)
        before = repository.entries(repository.read(main).tree)
        checks = Checks(module=entries.get("lib") == Entry(MODULE, versions[at]))
        checks.kept(others={**entries, "lib": None} == {**before, "lib": None}, history=main in seen.ancestors(now))
        return checks

    prompt = (
        f"The repository {draw.project} uses {name} as a submodule in lib/. Let it use the commit that is tagged "
        f"v{at + 1}.0, with a new commit on main, and push main."
    )
    solution = [
        ["submodule", "update", "--init"],
        ["-C", "lib", "checkout", "-q", f"v{at + 1}.0"],
        ["commit", "-q", "-a", "-m", f"Use v{at + 1}.0 of the library"],
        ["push", "origin", "main"],
    ]
    return GitTask(draw.project, prompt, {draw.project: repository, name: library}, check, solution)


def orphan_branch(draw: Draw) -> GitTask:
    """A branch without a past."""
    repository = draw.repository
    draw.begin()
    text = f"<h1>{draw.project} {draw.words[10]}</h1>\n"

    def check(found: Found) -> Checks:
        seen = found.forge[draw.project]
        now = seen.tip("pages")
        checks = Checks(
            branch=bool(now),
            rootless=bool(now) and seen.line(now) == [now],
            content=bool(now) and seen.files(now) == {"index.html": text},
        )
        checks.kept(main=seen.tip("main") == repository.tip("main"))
        return checks

    prompt = (
        f"In the repository {draw.project}, push a branch pages that has one commit, without a parent, and in it "
        f"only the file index.html with the line `{text.strip()}`."
    )
    solution = [
        ["checkout", "-q", "--orphan", "pages"],
        ["rm", "-r", "-q", "-f", "."],
        ["!write", "index.html", text],
        ["add", "index.html"],
        ["commit", "-q", "-m", "Begin the pages"],
        ["push", "origin", "pages"],
    ]
    return GitTask(draw.project, prompt, {draw.project: repository}, check, solution)


MAINTENANCE = [
    tag_release,
    rename_branch,
    delete_merged,
    restore_file,
    ignore_files,
    sync_fork,
    update_module,
    orphan_branch,
]
