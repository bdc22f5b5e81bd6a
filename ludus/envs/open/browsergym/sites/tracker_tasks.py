"""Tasks of the tracker."""

from collections.abc import Callable

from ludus.envs.open.browsergym.sites.site import SiteTask
from ludus.envs.open.browsergym.sites.tracker import LABELS, NOBODY, PRIORITIES, PROJECTS, TEAM, Issue, Tracker

__all__ = ["TRACKER_TASKS"]

Task = SiteTask[Tracker]
REMARKS = ("Fixed on the main branch.", "Waiting for the supplier.", "Please add a screenshot.", "Same on my machine.")


def _one(tracker: Tracker, fits: Callable[[Issue], bool] = lambda _: True) -> Issue:
    fitting = [one.id for one in tracker.issues.values() if fits(one)]
    return tracker.issues[int(tracker.rng.choice(fitting))]


def _open(issue: Issue) -> tuple[str, ...]:
    return (f"fill [name=q] {issue.title}", "click [css=header button]", f'click [css=a[href="/issues/{issue.id}"]]')


def _submit(name: str) -> str:
    return f'click [css=form[action$="/{name}"] button]'


def _did(*changes: tuple[object, ...]) -> Callable[[Tracker, list[str]], bool]:
    return lambda tracker, _: sorted(map(str, tracker.changes)) == sorted(map(str, changes))


def create_issue(tracker: Tracker) -> Task:
    project, title = str(tracker.rng.choice(PROJECTS)), f"Room {tracker.rng.integers(100, 999)} is not listed"
    priority = str(tracker.rng.choice(PRIORITIES))
    actions = (
        'click [css=a[href="/new"]]',
        f"select [name=project] {project}",
        f"fill [name=title] {title}",
        f"select [name=priority] {priority}",
        _submit("new"),
    )
    goal = f'Create an issue "{title}" in the project {project} with priority {priority}.'
    return Task(goal, _did(("create", project, title, priority)), actions)


def _state(tracker: Tracker, before: Callable[[Issue], bool], state: str, verb: str) -> Task:
    one = _one(tracker, before)
    actions = (*_open(one), f"select [name=state] {state}", _submit("state"))
    return Task(f'{verb} the issue "{one.title}".', _did(("state", one.id, state)), actions)


def close_issue(tracker: Tracker) -> Task:
    return _state(tracker, lambda one: one.state != "closed", "closed", "Close")


def reopen_issue(tracker: Tracker) -> Task:
    return _state(tracker, lambda one: one.state == "closed", "open", "Reopen")


def start_issue(tracker: Tracker) -> Task:
    return _state(tracker, lambda one: one.state == "open", "in progress", 'Set to "in progress"')


def assign_issue(tracker: Tracker) -> Task:
    who = str(tracker.rng.choice(TEAM))
    one = _one(tracker, lambda it: it.assignee != who)
    actions = (*_open(one), f"select [name=assignee] {who}", _submit("details"))
    return Task(f'Assign the issue "{one.title}" to {who}.', _did(("assignee", one.id, who)), actions)


def unassign_issue(tracker: Tracker) -> Task:
    one = _one(tracker, lambda it: it.assignee != NOBODY)
    actions = (*_open(one), f"select [name=assignee] {NOBODY}", _submit("details"))
    return Task(f"Issue #{one.id} should be assigned to nobody.", _did(("assignee", one.id, NOBODY)), actions)


def set_priority(tracker: Tracker) -> Task:
    priority = str(tracker.rng.choice(PRIORITIES))
    one = _one(tracker, lambda it: it.priority != priority)
    actions = (*_open(one), f"select [name=priority] {priority}", _submit("details"))
    goal = f'Set the priority of the issue "{one.title}" to {priority}.'
    return Task(goal, _did(("priority", one.id, priority)), actions)


def set_milestone(tracker: Tracker) -> Task:
    milestone = str(tracker.rng.choice(tracker.milestones))
    one = _one(tracker, lambda it: it.milestone != milestone)
    actions = (*_open(one), f"select [name=milestone] {milestone}", _submit("details"))
    return Task(f'Move "{one.title}" to the milestone {milestone}.', _did(("milestone", one.id, milestone)), actions)


def add_label(tracker: Tracker) -> Task:
    label = str(tracker.rng.choice(LABELS))
    one = _one(tracker, lambda it: label not in it.labels)
    actions = (*_open(one), f'select [css=form[action$="/label"] select] {label}', _submit("label"))
    return Task(f'Add the label {label} to the issue "{one.title}".', _did(("label", one.id, label)), actions)


def remove_label(tracker: Tracker) -> Task:
    one = _one(tracker, lambda it: bool(it.labels))
    label = one.labels[0]
    actions = (*_open(one), f'select [css=form[action$="/unlabel"] select] {label}', _submit("unlabel"))
    return Task(f'Remove the label {label} from "{one.title}".', _did(("unlabel", one.id, label)), actions)


def comment_on_issue(tracker: Tracker) -> Task:
    one, text = _one(tracker), str(tracker.rng.choice(REMARKS))
    actions = (*_open(one), f"fill [name=text] {text}", _submit("comment"))
    return Task(f'Comment on the issue "{one.title}" with "{text}"', _did(("comment", one.id, text)), actions)


def rename_issue(tracker: Tracker) -> Task:
    one, title = _one(tracker), f"Review {tracker.rng.integers(100, 999)}"
    actions = (*_open(one), f"fill [name=title] {title}", _submit("title"))
    return Task(f'Rename the issue "{one.title}" to "{title}".', _did(("title", one.id, title)), actions)


def create_milestone(tracker: Tracker) -> Task:
    name = f"2028.{tracker.rng.integers(1, 9)}"
    actions = ('click [css=a[href="/milestones"]]', f"fill [name=name] {name}", _submit("milestones"))
    return Task(f"Create a milestone {name}.", _did(("new milestone", name)), actions)


def close_all_wontfix(tracker: Tracker) -> Task:
    still = [one.id for one in tracker.issues.values() if one.state != "closed"]
    chosen = [tracker.issues[int(one)] for one in tracker.rng.choice(still, 2, replace=False)]
    for one in chosen:
        one.labels = sorted([*one.labels, "wontfix"])
    actions = ["select [name=label] wontfix", "click [css=main form button]"]
    for one in chosen:
        actions += [f"goto('/issues/{one.id}')", "select [name=state] closed", _submit("state")]
    goal = "Close every issue that has the label wontfix."
    return Task(goal, _did(*(("state", one.id, "closed") for one in chosen)), tuple(actions))


def tell_assignee(tracker: Tracker) -> Task:
    one = _one(tracker, lambda it: it.assignee != NOBODY)
    actions = (*_open(one)[:2], f"send_msg_to_user('{one.assignee}')")
    goal = f'To whom is the issue "{one.title}" assigned? Answer with the name alone.'
    return Task(goal, lambda _, messages: messages[-1].strip().lower() == one.assignee, actions, answer=True)


def count_issues(tracker: Tracker) -> Task:
    project = str(tracker.rng.choice(PROJECTS))
    count = str(sum(one.project == project and one.state == "open" for one in tracker.issues.values()))
    actions = (
        f"select [name=project] {project}",
        "select [name=state] open",
        "click [css=main form button]",
        f"send_msg_to_user('{count}')",
    )
    goal = f'How many issues of the project {project} are in the state "open"? Answer with the number alone.'
    return Task(goal, lambda _, messages: messages[-1].strip() == count, actions, answer=True)


def assign_to_stranger(tracker: Tracker) -> Task:
    one, who = _one(tracker), str(tracker.rng.choice(("gustav", "hana", "igor")))
    actions = (*_open(one), f"report_infeasible('{who} is not on the team')")
    goal = f'Assign the issue "{one.title}" to {who}; where that cannot be done, report that it is infeasible.'
    return Task(goal, lambda it, _: not it.changes, actions, infeasible=True)


TRACKER_TASKS: dict[str, Callable[[Tracker], Task]] = {
    maker.__name__.replace("_", "-"): maker
    for maker in (
        create_issue, close_issue, reopen_issue, start_issue, assign_issue, unassign_issue, set_priority,
        set_milestone, add_label, remove_label, comment_on_issue, rename_issue, create_milestone, close_all_wontfix,
        tell_assignee, count_issues, assign_to_stranger,
    )
}  # fmt: skip
"""By name; each draws its particulars from the tracker's own generator."""
