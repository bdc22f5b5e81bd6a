"""The tracker: issues of a few projects, with states, labels, assignees, milestones and comments."""

from dataclasses import dataclass, field
from html import escape
from typing import ClassVar

from ludus.envs.open.browsergym.sites.site import (
    Redirect,
    Site,
    Visit,
    field_row,
    link,
    options,
    page_links,
    post_form,
    search_form,
)

__all__ = ["Issue", "Tracker"]

PROJECTS = ("billing", "mobile-app", "search", "website")
TEAM = ("amara", "björn", "chen", "divya", "emil", "fatou")
LABELS = ("bug", "documentation", "feature", "performance", "security", "wontfix")
STATES = ("open", "in progress", "closed")
PRIORITIES = ("low", "normal", "high", "urgent")
VERBS = ("fails", "is slow", "shows the wrong text", "times out", "is not translated", "loses its settings")
PARTS = (
    "Login page", "Export to CSV", "Password reset", "Dark mode", "Invoice list", "Push notification", "Search box",
    "Image upload", "Date picker", "Billing address", "Help page", "Settings dialog", "Install script", "Cookie banner",
)  # fmt: skip
PER_PAGE = 10
NOBODY = "nobody"
NO_MILESTONE = "none"


@dataclass
class Issue:
    """Something to be done."""

    id: int
    project: str
    title: str
    author: str
    state: str
    assignee: str
    priority: str
    milestone: str
    labels: list[str]
    comments: list[tuple[str, str]]


@dataclass
class Tracker(Site):
    """A tracker with 44 issues, which a seed draws."""

    issues: dict[int, Issue] = field(default_factory=dict[int, Issue])
    milestones: list[str] = field(default_factory=list[str])

    name: ClassVar[str] = "tracker"
    title: ClassVar[str] = "Ledgerline Tracker"
    user: ClassVar[str] = "robin"
    routes: ClassVar[tuple[tuple[str, str, str], ...]] = (
        ("GET", "/", "issues_page"),
        ("GET", "/issues", "issues_page"),
        ("GET", r"/issues/(\d+)", "issue"),
        ("GET", "/new", "new_issue"),
        ("POST", "/new", "create"),
        ("POST", r"/issues/(\d+)/state", "set_state"),
        ("POST", r"/issues/(\d+)/details", "set_details"),
        ("POST", r"/issues/(\d+)/title", "set_title"),
        ("POST", r"/issues/(\d+)/label", "label"),
        ("POST", r"/issues/(\d+)/unlabel", "unlabel"),
        ("POST", r"/issues/(\d+)/comment", "comment"),
        ("GET", "/milestones", "milestones_page"),
        ("POST", "/milestones", "create_milestone"),
        ("GET", "/account", "account"),
        ("GET", "/login", "login"),
        ("POST", "/login", "sign_in"),
        ("POST", "/logout", "sign_out"),
    )

    def __post_init__(self) -> None:
        rng, number = self.rng, 200
        self.milestones = [f"{year}.{quarter}" for year in (2026, 2027) for quarter in (1, 2)]
        titles = [f"{part} {verb}" for part in PARTS for verb in VERBS]
        for at in rng.choice(len(titles), 44, replace=False):
            number += int(rng.integers(1, 6))
            labels = sorted(str(one) for one in rng.choice(LABELS[:-1], int(rng.integers(0, 3)), replace=False))
            self.issues[number] = Issue(
                number,
                str(rng.choice(PROJECTS)),
                titles[int(at)],
                str(rng.choice(TEAM)),
                str(rng.choice(STATES, p=(0.5, 0.25, 0.25))),
                str(rng.choice((*TEAM, NOBODY))),
                str(rng.choice(PRIORITIES)),
                str(rng.choice((*self.milestones, NO_MILESTONE))),
                labels,
                [(str(rng.choice(TEAM)), "I can reproduce this.")] * int(rng.integers(0, 2)),
            )

    def navigation(self) -> str:
        form = search_form("/issues", "Search issues")
        return f"{form}{link('/new', 'New issue')}{link('/milestones', 'Milestones')}"

    # --- looking ---

    def issues_page(self, visit: Visit) -> str:
        found = [one for one in self.issues.values() if self._matches(one, visit)]
        pages = max(1, -(-len(found) // PER_PAGE))
        page = min(max(1, visit.number("page", 1)), pages)
        chosen = "".join(
            options(name, ("any", *values), visit.query.get(name, "any"))
            for name, values in (
                ("project", PROJECTS),
                ("state", STATES),
                ("label", LABELS),
                ("assignee", (*TEAM, NOBODY)),
            )
        )
        query_field = f'<input type="hidden" name="q" value="{escape(visit.query.get("q", ""))}">'
        form = f'<form class="row card" action="/issues">{query_field}{chosen}<button>Filter</button></form>'
        rows = "".join(map(_row, found[(page - 1) * PER_PAGE : page * PER_PAGE]))
        head = "<tr><th>Issue</th><th>Project</th><th>State</th><th>Assignee</th><th>Labels</th></tr>"
        return (
            f"{len(found)} issues\0{form}<table>{head}{rows}</table>{page_links('/issues', visit.query, page, pages)}"
        )

    def _matches(self, one: Issue, visit: Visit) -> bool:
        words = visit.query.get("q", "").lower().split()
        plain = all(
            visit.query.get(name, "any") in ("any", getattr(one, name)) for name in ("project", "state", "assignee")
        )
        label = visit.query.get("label", "any")
        text = f"{one.id} {one.title}".lower()
        return plain and (label == "any" or label in one.labels) and all(word in text for word in words)

    def issue(self, visit: Visit, number: int) -> str | None:
        del visit
        one = self.issues.get(number)
        if one is None:
            return None
        path = f"/issues/{number}"
        tags = "".join(f'<span class="tag">{label}</span>' for label in one.labels) or "none"
        details = (
            options("assignee", (*TEAM, NOBODY), one.assignee)
            + options("priority", PRIORITIES, one.priority)
            + options("milestone", (*self.milestones, NO_MILESTONE), one.milestone)
        )
        forms = (
            post_form(f"{path}/state", options("state", STATES, one.state), "Change state")
            + post_form(f"{path}/details", details, "Save details")
            + post_form(f"{path}/label", options("label", LABELS, label="label to add"), "Add label")
        )
        if one.labels:
            forms += post_form(f"{path}/unlabel", options("label", one.labels, label="label to remove"), "Remove label")
        forms += post_form(f"{path}/title", field_row("title", "Title", one.title), "Rename")
        comments = "".join(
            f'<div class="post"><p class="meta">{who}</p>{escape(text)}</div>' for who, text in one.comments
        )
        write = post_form(
            f"{path}/comment", '<textarea name="text" aria-label="Comment"></textarea>', "Comment", kind="stack"
        )
        return (
            f"#{number} {one.title}\0<p class='meta'>{one.project} · opened by {one.author} · {one.state} "
            f"· assigned to {one.assignee} · priority {one.priority} · milestone {one.milestone}</p>"
            f"<p>Labels: {tags}</p>"
            f'<div class="card">{forms}</div><h2>Comments</h2>{comments}<div class="card">{write}</div>'
        )

    def new_issue(self, visit: Visit) -> str:
        del visit
        fields = options("project", PROJECTS) + field_row("title", "Title") + options("priority", PRIORITIES, "normal")
        return f"New issue\0{post_form('/new', fields, 'Create issue', kind='stack card')}"

    def milestones_page(self, visit: Visit) -> str:
        del visit
        rows = "".join(
            f"<tr><td>{escape(name)}</td><td>{sum(one.milestone == name for one in self.issues.values())}</td></tr>"
            for name in self.milestones
        )
        form = post_form("/milestones", field_row("name", "Name"), "Create milestone", kind="stack card")
        return f"Milestones\0<table><tr><th>Milestone</th><th>Issues</th></tr>{rows}</table>{form}"

    def account(self, visit: Visit) -> str | Redirect:
        return f"Account of {visit.user}\0<p>Member of the team.</p>" if visit.user else Redirect("/login")

    # --- changing ---

    def create(self, visit: Visit) -> Redirect:
        title, project = visit.form.get("title", "").strip(), visit.form.get("project", "")
        priority = visit.form.get("priority", "")
        if not title or project not in PROJECTS or priority not in PRIORITIES:
            self.notice = "An issue needs a title."
            return Redirect("/new")
        number = max(self.issues) + 1
        fresh = Issue(number, project, title, visit.user, "open", NOBODY, priority, NO_MILESTONE, [], [])
        self.issues[number] = fresh
        self.change("create", project, title, priority, notice=f"Issue #{number} was created.")
        return Redirect(f"/issues/{number}")

    def _set(self, number: int, name: str, value: str, allowed: tuple[str, ...]) -> None:
        one = self.issues.get(number)
        if one is not None and value in allowed and getattr(one, name) != value:
            setattr(one, name, value)
            self.change(name, number, value, notice="Saved.")

    def set_state(self, visit: Visit, number: int) -> Redirect:
        self._set(number, "state", visit.form.get("state", ""), STATES)
        return Redirect(f"/issues/{number}")

    def set_details(self, visit: Visit, number: int) -> Redirect:
        self._set(number, "assignee", visit.form.get("assignee", ""), (*TEAM, NOBODY))
        self._set(number, "priority", visit.form.get("priority", ""), PRIORITIES)
        self._set(number, "milestone", visit.form.get("milestone", ""), (*self.milestones, NO_MILESTONE))
        return Redirect(f"/issues/{number}")

    def set_title(self, visit: Visit, number: int) -> Redirect:
        title = visit.form.get("title", "").strip()
        self._set(number, "title", title, (title,) if title else ())
        return Redirect(f"/issues/{number}")

    def label(self, visit: Visit, number: int) -> Redirect:
        label, one = visit.form.get("label", ""), self.issues.get(number)
        if one is not None and label in LABELS and label not in one.labels:
            one.labels = sorted([*one.labels, label])
            self.change("label", number, label, notice="The label was added.")
        return Redirect(f"/issues/{number}")

    def unlabel(self, visit: Visit, number: int) -> Redirect:
        label, one = visit.form.get("label", ""), self.issues.get(number)
        if one is not None and label in one.labels:
            one.labels.remove(label)
            self.change("unlabel", number, label, notice="The label was removed.")
        return Redirect(f"/issues/{number}")

    def comment(self, visit: Visit, number: int) -> Redirect:
        text, one = visit.form.get("text", "").strip(), self.issues.get(number)
        if one is not None and text:
            one.comments = [*one.comments, (visit.user, text)]
            self.change("comment", number, text, notice="The comment was posted.")
        return Redirect(f"/issues/{number}")

    def create_milestone(self, visit: Visit) -> Redirect:
        name = visit.form.get("name", "").strip()
        if name and name not in self.milestones:
            self.milestones.append(name)
            self.change("new milestone", name, notice="The milestone was created.")
        return Redirect("/milestones")


def _row(one: Issue) -> str:
    tags = "".join(f'<span class="tag">{label}</span>' for label in one.labels)
    return (
        f"<tr><td>{link(f'/issues/{one.id}', f'#{one.id} {one.title}')}</td><td>{one.project}</td><td>{one.state}</td>"
        f"<td>{one.assignee}</td><td>{tags}</td></tr>"
    )
