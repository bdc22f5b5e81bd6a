"""The forum: boards, threads, posts, votes, private messages."""

from dataclasses import dataclass, field
from html import escape
from typing import ClassVar

from ludus.envs.open.browsergym.sites.site import (
    Redirect,
    Site,
    Visit,
    field_row,
    link,
    page_links,
    post_form,
    search_form,
)

__all__ = ["Forum", "Post", "ForumThread"]

BOARDS = ("Astronomy", "Baking", "Cycling", "Gardening", "Woodwork")
PEOPLE = ("ada", "bruno", "carla", "dmitri", "elin", "farid", "greta", "hugo", "ines", "jonas")
SUBJECTS = {
    "Astronomy": ("first telescope", "meteor shower", "dark skies", "lunar craters", "star charts", "eyepiece choice"),
    "Baking": ("sourdough starter", "rye flour", "oven spring", "pastry crust", "bread knife", "proofing baskets"),
    "Cycling": ("touring tyres", "gear ratios", "winter gloves", "saddle height", "chain wear", "bell tower loop"),
    "Gardening": ("tomato blight", "raised beds", "compost heat", "apple pruning", "slug fences", "seed saving"),
    "Woodwork": ("hand planes", "dovetail joints", "oil finish", "bench height", "sharpening stones", "oak boards"),
}
OPENINGS = ("Question about", "Advice on", "My notes on", "Troubles with", "A guide to")
REMARKS = (
    "I had the same trouble last year and waiting helped.",
    "Try it twice before you give up.",
    "The cheap ones are good enough to begin with.",
    "My neighbour swears by it.",
    "Could you post a picture?",
    "It depends on the weather.",
)
SPAM = "BUY CHEAP WATCHES NOW, visit our store for unbelievable prices!!!"
PER_PAGE = 8


@dataclass
class Post:
    """A contribution to a thread."""

    id: int
    author: str
    text: str
    votes: int = 0
    voted: bool = False
    reported: bool = False


@dataclass
class ForumThread:
    """A thread; its first post is the one it began with."""

    id: int
    board: str
    title: str
    posts: list[Post]
    pinned: bool = False

    @property
    def author(self) -> str:
        """Who began it."""
        return self.posts[0].author


@dataclass
class Forum(Site):
    """A forum of five boards and sixty threads, which a seed draws."""

    threads: dict[int, ForumThread] = field(default_factory=dict[int, ForumThread])
    messages: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    subscribed: list[str] = field(default_factory=list[str])
    bio: str = "Here to learn."
    last_post: int = 1000

    name: ClassVar[str] = "forum"
    title: ClassVar[str] = "Hearthside Forum"
    user: ClassVar[str] = "robin"
    routes: ClassVar[tuple[tuple[str, str, str], ...]] = (
        ("GET", "/", "boards"),
        ("GET", r"/board/(\d+)", "board"),
        ("POST", r"/board/(\d+)/subscribe", "subscribe"),
        ("GET", r"/board/(\d+)/new", "new_thread"),
        ("POST", r"/board/(\d+)/new", "create_thread"),
        ("GET", r"/thread/(\d+)", "thread"),
        ("POST", r"/thread/(\d+)/reply", "reply"),
        ("POST", r"/thread/(\d+)/delete", "delete"),
        ("POST", r"/thread/(\d+)/pin", "pin"),
        ("POST", r"/post/(\d+)/vote", "vote"),
        ("POST", r"/post/(\d+)/report", "report"),
        ("GET", r"/post/(\d+)/edit", "edit_form"),
        ("POST", r"/post/(\d+)/edit", "edit"),
        ("GET", r"/member/(\d+)", "member"),
        ("POST", r"/member/(\d+)/message", "send"),
        ("GET", "/search", "search"),
        ("GET", "/account", "account"),
        ("POST", "/account", "set_bio"),
        ("GET", "/login", "login"),
        ("POST", "/login", "sign_in"),
        ("POST", "/logout", "sign_out"),
    )

    def __post_init__(self) -> None:
        number = 10
        for board in BOARDS:
            titles = [f"{opening} {subject}" for subject in SUBJECTS[board] for opening in OPENINGS]
            for at in self.rng.choice(len(titles), 12, replace=False):
                number += int(self.rng.integers(1, 5))
                authors = [str(one) for one in self.rng.choice(PEOPLE, int(self.rng.integers(2, 7)), replace=False)]
                posts = [self._drawn(author) for author in authors]
                self.threads[number] = ForumThread(number, board, titles[int(at)], posts)
        own = list(self.threads)[int(self.rng.integers(len(self.threads)))]
        self.threads[own].posts[0].author = self.user

    def _drawn(self, author: str) -> Post:
        self.last_post += int(self.rng.integers(1, 4))
        return Post(self.last_post, author, str(self.rng.choice(REMARKS)), int(self.rng.integers(0, 60)))

    def navigation(self) -> str:
        form = search_form("/search", "Search threads")
        return form + link("/", "Boards")

    def found(self, post: int) -> tuple[ForumThread, Post] | None:
        """A post with its thread."""
        each = ((thread, one) for thread in self.threads.values() for one in thread.posts if one.id == post)
        return next(each, None)

    # --- looking ---

    def boards(self, visit: Visit) -> str:
        del visit
        cards = "".join(
            f'<div class="card">{link(f"/board/{at}", board)}<p class="meta">'
            f"{sum(one.board == board for one in self.threads.values())} threads"
            f"{' · subscribed' if board in self.subscribed else ''}</p></div>"
            for at, board in enumerate(BOARDS)
        )
        return f"Boards\0<div class='grid'>{cards}</div>"

    def board(self, visit: Visit, at: int) -> str | None:
        if at >= len(BOARDS):
            return None
        found = [one for one in self.threads.values() if one.board == BOARDS[at]]
        found.sort(key=lambda one: not one.pinned)
        pages = max(1, -(-len(found) // PER_PAGE))
        page = min(max(1, visit.number("page", 1)), pages)
        buttons = post_form(f"/board/{at}/subscribe", "", "Subscribe") + link(f"/board/{at}/new", "New thread")
        listed = _table(found[(page - 1) * PER_PAGE : page * PER_PAGE])
        return (
            f'{BOARDS[at]}\0<div class="card">{buttons}</div>{listed}{page_links(visit.path, visit.query, page, pages)}'
        )

    def search(self, visit: Visit) -> str:
        words = visit.query.get("q", "").lower().split()
        found = [one for one in self.threads.values() if all(word in one.title.lower() for word in words)]
        return f"{len(found)} threads found\0{_table(found[:30])}"

    def thread(self, visit: Visit, number: int) -> str | None:
        one = self.threads.get(number)
        if one is None:
            return None
        posts = "".join(self._post(post, visit.user) for post in one.posts)
        buttons = post_form(f"/thread/{number}/pin", "", "Unpin thread" if one.pinned else "Pin thread")
        if one.author == visit.user:
            buttons += post_form(f"/thread/{number}/delete", "", "Delete thread")
        text = '<textarea name="text" aria-label="Reply"></textarea>'
        reply = f'<div class="card">{post_form(f"/thread/{number}/reply", text, "Reply", kind="stack")}</div>'
        board = link(f"/board/{BOARDS.index(one.board)}", one.board)
        return f'{one.title}\0<p class="meta">In {board}</p>{posts}{reply}{buttons}'

    def _post(self, post: Post, user: str) -> str:
        buttons = (
            post_form(f"/post/{post.id}/vote", "", "Upvote") if not post.voted else '<span class="tag">voted</span>'
        )
        buttons += (
            post_form(f"/post/{post.id}/report", "", "Report")
            if not post.reported
            else '<span class="tag">reported</span>'
        )
        buttons += link(f"/post/{post.id}/edit", "Edit") if post.author == user else ""
        author = (
            link(f"/member/{PEOPLE.index(post.author)}", post.author) if post.author in PEOPLE else escape(post.author)
        )
        return (
            f'<article class="post" id="post-{post.id}"><p class="meta">{author} · {post.votes} votes</p>'
            f'<p>{escape(post.text)}</p><div class="row">{buttons}</div></article>'
        )

    def member(self, visit: Visit, at: int) -> str | None:
        del visit
        if at >= len(PEOPLE):
            return None
        begun = [one for one in self.threads.values() if one.author == PEOPLE[at]]
        text = '<textarea name="text" aria-label="Message"></textarea>'
        form = f'<div class="card">{post_form(f"/member/{at}/message", text, "Send message", kind="stack")}</div>'
        return f"{PEOPLE[at]}\0{form}<h2>Threads</h2>{_table(begun)}"

    # --- changing ---

    def subscribe(self, visit: Visit, at: int) -> Redirect:
        del visit
        if at < len(BOARDS) and BOARDS[at] not in self.subscribed:
            self.subscribed.append(BOARDS[at])
            self.change("subscribe", BOARDS[at], notice=f"You are subscribed to {BOARDS[at]}.")
        return Redirect(f"/board/{at}")

    def new_thread(self, visit: Visit, at: int) -> str | None:
        del visit
        fields = field_row("title", "Title") + '<textarea name="text" aria-label="Text"></textarea>'
        form = post_form(f"/board/{at}/new", fields, "Create thread", kind="stack card")
        return f"New thread in {BOARDS[at]}\0{form}" if at < len(BOARDS) else None

    def create_thread(self, visit: Visit, at: int) -> Redirect | None:
        title, text = visit.form.get("title", "").strip(), visit.form.get("text", "").strip()
        if at >= len(BOARDS):
            return None
        if not title or not text:
            self.notice = "A thread needs a title and a text."
            return Redirect(f"/board/{at}/new")
        number, self.last_post = max(self.threads) + 1, self.last_post + 1
        self.threads[number] = ForumThread(number, BOARDS[at], title, [Post(self.last_post, visit.user, text)])
        self.change("thread", number, notice="The thread was created.")
        return Redirect(f"/thread/{number}")

    def reply(self, visit: Visit, number: int) -> Redirect:
        text = visit.form.get("text", "").strip()
        if number in self.threads and text:
            self.last_post += 1
            self.threads[number].posts.append(Post(self.last_post, visit.user, text))
            self.change("reply", number, text, notice="The reply was posted.")
        return Redirect(f"/thread/{number}")

    def delete(self, visit: Visit, number: int) -> Redirect:
        if number in self.threads and self.threads[number].author == visit.user:
            del self.threads[number]
            self.change("delete", number, notice="The thread was deleted.")
        return Redirect("/")

    def pin(self, visit: Visit, number: int) -> Redirect:
        del visit
        if number in self.threads:
            self.threads[number].pinned = not self.threads[number].pinned
            self.change("pin", number, self.threads[number].pinned)
        return Redirect(f"/thread/{number}")

    def vote(self, visit: Visit, number: int) -> Redirect | None:
        del visit
        found = self.found(number)
        if found is None:
            return None
        if not found[1].voted:
            found[1].voted, found[1].votes = True, found[1].votes + 1
            self.change("vote", number)
        return Redirect(f"/thread/{found[0].id}")

    def report(self, visit: Visit, number: int) -> Redirect | None:
        del visit
        found = self.found(number)
        if found is None:
            return None
        found[1].reported = True
        self.change("report", number, notice="Thank you: a moderator will look at it.")
        return Redirect(f"/thread/{found[0].id}")

    def edit_form(self, visit: Visit, number: int) -> str | None:
        found = self.found(number)
        if found is None or found[1].author != visit.user:
            return None
        text = f'<textarea name="text" aria-label="Text">{escape(found[1].text)}</textarea>'
        return f"Edit post\0{post_form(f'/post/{number}/edit', text, 'Save', kind='stack card')}"

    def edit(self, visit: Visit, number: int) -> Redirect | None:
        found, text = self.found(number), visit.form.get("text", "").strip()
        if found is None or found[1].author != visit.user or not text:
            return None
        found[1].text = text
        self.change("edit", number, text, notice="The post was changed.")
        return Redirect(f"/thread/{found[0].id}")

    def send(self, visit: Visit, at: int) -> Redirect | None:
        text = visit.form.get("text", "").strip()
        if at >= len(PEOPLE):
            return None
        if text:
            self.messages.append((PEOPLE[at], text))
            self.change("message", PEOPLE[at], text, notice="The message was sent.")
        return Redirect(f"/member/{at}")

    def account(self, visit: Visit) -> str | Redirect:
        if not visit.user:
            return Redirect("/login")
        form = post_form("/account", field_row("bio", "About me", self.bio), "Save", kind="stack card")
        return f"Account of {visit.user}\0{form}"

    def set_bio(self, visit: Visit) -> Redirect:
        bio = visit.form.get("bio", "").strip()
        if bio != self.bio:
            self.bio = bio
            self.change("bio", bio, notice="Saved.")
        return Redirect("/account")


def _table(threads: list[ForumThread]) -> str:
    rows = "".join(
        f"<tr><td>{'<span class=tag>pinned</span>' if one.pinned else ''}{link(f'/thread/{one.id}', one.title)}</td>"
        f"<td>{escape(one.author)}</td><td>{len(one.posts) - 1}</td><td>{one.posts[0].votes}</td></tr>"
        for one in threads
    )
    return f"<table><tr><th>Thread</th><th>By</th><th>Replies</th><th>Votes</th></tr>{rows}</table>"
