"""Tasks of the forum."""

from collections.abc import Callable

from ludus.envs.open.browsergym.sites.forum import BOARDS, PEOPLE, REMARKS, SPAM, Forum, ForumThread, Post
from ludus.envs.open.browsergym.sites.site import SiteTask

__all__ = ["FORUM_TASKS"]

Task = SiteTask[Forum]
TEXTS = ("Thank you all, that settles it.", "I will try this at the weekend.", "Has anybody measured it?", "Well said.")


def _one(forum: Forum) -> ForumThread:
    return forum.threads[int(forum.rng.choice(list(forum.threads)))]


def _mine(forum: Forum) -> ForumThread:
    return next(one for one in forum.threads.values() if one.author == forum.user)


def _text(forum: Forum) -> str:
    return str(forum.rng.choice(TEXTS))


def _open(thread: ForumThread) -> tuple[str, ...]:
    return (f"fill [name=q] {thread.title}", "click [css=header button]", f'click [css=a[href="/thread/{thread.id}"]]')


def _did(*changes: tuple[object, ...]) -> Callable[[Forum, list[str]], bool]:
    """Whether exactly this was changed."""
    return lambda forum, _: forum.changes == list(changes)


def create_thread(forum: Forum) -> Task:
    at, title, text = int(forum.rng.integers(len(BOARDS))), f"Meeting {forum.rng.integers(10, 99)}", _text(forum)
    actions = (
        f'click [css=a[href="/board/{at}"]]',
        f'click [css=a[href="/board/{at}/new"]]',
        f"fill [name=title] {title}",
        f"fill [name=text] {text}",
        "click [css=main form button]",
    )

    def check(it: Forum, _: list[str]) -> bool:
        made = [one for one in it.threads.values() if one.title == title]
        return len(it.changes) == 1 == len(made) and made[0].board == BOARDS[at] and made[0].posts[0].text == text

    return Task(f'Create a thread titled "{title}" in the board {BOARDS[at]}, with the text "{text}"', check, actions)


def reply_to_thread(forum: Forum) -> Task:
    one, text = _one(forum), _text(forum)
    actions = (*_open(one), f"fill [name=text] {text}", "click [css=form[action$=reply] button]")
    return Task(f'Reply to the thread "{one.title}" with "{text}"', _did(("reply", one.id, text)), actions)


def upvote_first_post(forum: Forum) -> Task:
    one = _one(forum)
    actions = (*_open(one), f"click [css=#post-{one.posts[0].id} form[action$=vote] button]")
    return Task(f'Upvote the first post of the thread "{one.title}".', _did(("vote", one.posts[0].id)), actions)


def upvote_member(forum: Forum) -> Task:
    one = _one(forum)
    post = one.posts[int(forum.rng.integers(1, len(one.posts)))]
    actions = (*_open(one), f"click [css=#post-{post.id} form[action$=vote] button]")
    goal = f'Upvote what {post.author} wrote in the thread "{one.title}".'
    return Task(goal, _did(("vote", post.id)), actions)


def subscribe_to_board(forum: Forum) -> Task:
    at = int(forum.rng.integers(len(BOARDS)))
    actions = (f'click [css=a[href="/board/{at}"]]', "click [css=form[action$=subscribe] button]")
    return Task(f"Subscribe to the board {BOARDS[at]}.", _did(("subscribe", BOARDS[at])), actions)


def edit_own_post(forum: Forum) -> Task:
    one, text = _mine(forum), _text(forum)
    post = one.posts[0]
    actions = (
        *_open(one),
        f'click [css=a[href="/post/{post.id}/edit"]]',
        f"fill [name=text] {text}",
        "click [css=main form button]",
    )
    return Task(f'Change your post in the thread "{one.title}" to: {text}', _did(("edit", post.id, text)), actions)


def delete_own_thread(forum: Forum) -> Task:
    one = _mine(forum)
    actions = (*_open(one), "click [css=form[action$=delete] button]")
    return Task(f'Delete your thread "{one.title}".', _did(("delete", one.id)), actions)


def message_member(forum: Forum) -> Task:
    at, text = int(forum.rng.integers(len(PEOPLE))), _text(forum)
    actions = (f"goto('/member/{at}')", f"fill [name=text] {text}", "click [css=main form button]")
    return Task(f'Send {PEOPLE[at]} the private message "{text}"', _did(("message", PEOPLE[at], text)), actions)


def report_spam(forum: Forum) -> Task:
    one = _one(forum)
    forum.last_post += 1
    spam = Post(forum.last_post, "hugo" if one.author != "hugo" else "ines", SPAM)
    one.posts.append(spam)
    actions = (*_open(one), f"click [css=#post-{spam.id} form[action$=report] button]")
    return Task(
        f'Someone posted spam in the thread "{one.title}". Report that post.', _did(("report", spam.id)), actions
    )


def pin_thread(forum: Forum) -> Task:
    one = _one(forum)
    actions = (*_open(one), "click [css=form[action$=pin] button]")
    return Task(f'Pin the thread "{one.title}".', _did(("pin", one.id, True)), actions)


def pin_most_voted(forum: Forum) -> Task:
    at = int(forum.rng.integers(len(BOARDS)))
    of = [one for one in forum.threads.values() if one.board == BOARDS[at]]
    best = of[int(forum.rng.integers(len(of)))]
    best.posts[0].votes = 60 + int(forum.rng.integers(1, 40))
    actions = (f"goto('/board/{at}')", f"goto('/thread/{best.id}')", "click [css=form[action$=pin] button]")
    return Task(
        f"Pin the thread of the board {BOARDS[at]} that has the most votes.", _did(("pin", best.id, True)), actions
    )


def change_bio(forum: Forum) -> Task:
    text = f"{REMARKS[int(forum.rng.integers(len(REMARKS)))]}"
    actions = ('click [css=a[href="/account"]]', f"fill [name=bio] {text}", "click [css=main form button]")
    return Task(f'Change what your account says about you to "{text}"', _did(("bio", text)), actions)


def tell_author(forum: Forum) -> Task:
    one = _one(forum)
    actions = (*_open(one)[:2], f"send_msg_to_user('{one.author}')")
    goal = f'Who began the thread "{one.title}"? Answer with the user name alone.'
    return Task(goal, lambda _, messages: messages[-1].strip().lower() == one.author, actions, answer=True)


def count_replies(forum: Forum) -> Task:
    one = _one(forum)
    replies = str(len(one.posts) - 1)
    actions = (*_open(one), f"send_msg_to_user('{replies}')")
    goal = f'How many replies does the thread "{one.title}" have? Answer with the number alone.'
    return Task(goal, lambda _, messages: messages[-1].strip() == replies, actions, answer=True)


def delete_foreign_thread(forum: Forum) -> Task:
    one = next(thread for thread in forum.threads.values() if thread.author != forum.user)
    actions = (*_open(one), "report_infeasible('only its author can delete a thread')")
    goal = f'Delete the thread "{one.title}"; where that cannot be done, report that it is infeasible.'
    return Task(goal, lambda it, _: not it.changes, actions, infeasible=True)


FORUM_TASKS: dict[str, Callable[[Forum], Task]] = {
    maker.__name__.replace("_", "-"): maker
    for maker in (
        create_thread, reply_to_thread, upvote_first_post, upvote_member, subscribe_to_board, edit_own_post,
        delete_own_thread, message_member, report_spam, pin_thread, pin_most_voted, change_bio, tell_author,
        count_replies, delete_foreign_thread,
    )
}  # fmt: skip
"""By name; each draws its particulars from the forum's own generator."""
