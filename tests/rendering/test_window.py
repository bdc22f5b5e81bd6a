"""The window, on a screen that SDL makes up; and what is said where there is none."""

import builtins
import copy
import os
import pickle
import subprocess
import sys
import types

import numpy as np
import pytest

from ludus.errors import InvalidArgument, MissingExtra, RenderError, ResetNeeded
from ludus.rendering import Canvas, Drawn, Window
from ludus.rendering.pace import Pace, as_fps
from tests.core.wording import says
from tests.rendering.walk import Walk

pygame = pytest.importorskip("pygame")

FRAME = np.full((40, 60, 3), (10, 200, 30), np.uint8)


@pytest.fixture
def screen(monkeypatch):
    """A display without a screen."""
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")


@pytest.fixture
def window(screen):
    window = Window("test")
    yield window
    window.close()


def shown(window):
    """What stands in the window, as a frame."""
    surface = window._window.get_surface()
    return pygame.surfarray.array3d(surface).swapaxes(0, 1)


def press(key, kind=None):
    pygame.event.post(pygame.event.Event(kind or pygame.KEYDOWN, key=key))


# --- showing ---


def test_a_window_opens_with_its_first_picture_and_shows_it(window):
    assert not window.is_open
    assert window.show(FRAME)
    assert window.is_open
    assert np.array_equal(shown(window), FRAME)


def test_a_drawing_is_shown_as_its_pixels(window):
    canvas = Canvas(50, 30, background="red")
    canvas.circle(20, 15, 9, fill="white")
    window.show(canvas)
    assert np.array_equal(shown(window), canvas.to_rgb())


def test_a_window_takes_the_size_of_its_picture(window):
    window.show(FRAME)
    window.show(FRAME[:20])
    assert shown(window).shape == (20, 60, 3)


def test_closing_twice_is_harmless_and_a_picture_opens_it_again(window):
    window.close()
    window.show(FRAME)
    window.close()
    window.close()
    assert not window.is_open
    assert not pygame.display.get_init()
    assert window.show(FRAME)


def test_two_windows_live_side_by_side(window):
    other = Window("other")
    window.show(FRAME)
    other.show(FRAME[:, :30])
    window.close()
    assert other.is_open
    assert shown(other).shape == (40, 30, 3)
    other.close()


def test_a_window_that_its_user_closed_stays_closed_and_drops_pictures(window):
    window.show(FRAME)
    pygame.event.post(pygame.event.Event(pygame.WINDOWCLOSE, window=window._window))
    assert not window.show(FRAME)
    assert window.dismissed
    assert not window.is_open
    assert not window.show(FRAME)


def test_an_event_goes_to_its_own_window(window):
    other = Window("other")
    window.show(FRAME)
    other.show(FRAME)
    pygame.event.post(pygame.event.Event(pygame.WINDOWCLOSE, window=other._window))
    window.pump()
    assert (window.is_open, other.is_open) == (True, False)


def test_a_copy_of_a_window_is_not_open(window):
    window.show(FRAME)
    for copied in (copy.deepcopy(window), pickle.loads(pickle.dumps(window))):
        assert (copied.title, copied.is_open) == ("test", False)


# --- keys ---


def test_keys_are_named_in_the_order_they_went_down(window):
    window.show(FRAME)
    window.keys()
    for key in (pygame.K_LEFT, pygame.K_a, pygame.K_SPACE, pygame.K_RETURN, pygame.K_ESCAPE):
        press(key)
    assert window.keys() == ["left", "a", "space", "enter", "escape"]
    assert window.keys() == []


def test_a_key_is_held_until_it_comes_up_or_the_window_loses_the_keyboard(window):
    window.show(FRAME)
    window.keys()
    press(pygame.K_LEFT)
    press(pygame.K_a)
    window.pump()
    assert window.held() == {"left", "a"}
    press(pygame.K_a, pygame.KEYUP)
    window.pump()
    assert window.held() == {"left"}
    pygame.event.post(pygame.event.Event(pygame.WINDOWFOCUSLOST, window=window._window))
    window.pump()
    assert window.held() == set()


def test_a_window_that_is_not_open_has_no_keys(window):
    assert window.keys() == []


# --- where it cannot be had ---

NO_DISPLAY = (
    'use render_mode="ansi" to watch in the terminal or render_mode="rgb_array" for pixels, or set DISPLAY, '
    "or SDL_VIDEODRIVER=dummy for a window without a screen"
)


def headless(program):
    """Run a program where there is no display."""
    hidden = ("DISPLAY", "WAYLAND_DISPLAY", "SDL_VIDEODRIVER")
    environment = {name: value for name, value in os.environ.items() if name not in hidden}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=environment, check=False)
    return done.stdout.strip()


def test_without_a_display_the_error_says_what_to_do():
    said = headless(
        "import numpy as np\n"
        "from ludus.rendering import Window\n"
        "from ludus.errors import RenderError\n"
        "try:\n"
        "    Window().show(np.zeros((4, 4, 3), np.uint8))\n"
        "except RenderError as error:\n"
        "    print(error)\n"
    )
    assert said.startswith("window: expected a display, got none (")
    assert said.endswith(f"); {NO_DISPLAY}")


def test_a_driver_that_nobody_asked_for_is_no_display(monkeypatch):
    monkeypatch.delenv("SDL_VIDEODRIVER", raising=False)
    monkeypatch.setattr(pygame.display, "get_driver", lambda: "offscreen")
    monkeypatch.setattr(pygame.display, "init", lambda: None)
    with says(RenderError, f"window: expected a display, got none (a screen that nobody sees); {NO_DISPLAY}"):
        Window().show(FRAME)


def test_a_driver_that_fails_is_reported(monkeypatch):
    monkeypatch.setenv("SDL_VIDEODRIVER", "no_such_driver")
    with says(RenderError, f"window: expected a display, got none (no_such_driver not available); {NO_DISPLAY}"):
        Window().show(FRAME)


def test_without_pygame_the_error_names_the_extra(monkeypatch):
    load = builtins.__import__

    def missing(name, *arguments, **options):
        if name == "pygame":
            raise ImportError(name)
        return load(name, *arguments, **options)

    monkeypatch.setattr(builtins, "__import__", missing)
    with says(
        MissingExtra,
        'window: expected pygame-ce to be installed, got no such package; pip install "ludus-rl[window]", '
        'or use render_mode="rgb_array" or "ansi", which need nothing',
    ):
        Window().show(FRAME)


def test_the_other_pygame_is_told_from_the_right_one(monkeypatch):
    old = types.SimpleNamespace(version=types.SimpleNamespace(ver="2.6.1"))
    monkeypatch.setitem(sys.modules, "pygame", old)
    with says(
        MissingExtra,
        "window: expected pygame-ce 2.5 or later, got pygame 2.6.1; "
        'pip uninstall pygame, then pip install "ludus-rl[window]"',
    ):
        Window().show(FRAME)


# --- pace ---


class Clock:
    """Time that passes only when somebody sleeps or works."""

    def __init__(self):
        self.now, self.slept = 100.0, []

    def __call__(self):
        return self.now

    def sleep(self, seconds):
        self.slept.append(round(seconds, 6))
        self.now += seconds

    def pace(self):
        return Pace(self, self.sleep)


def test_a_fast_program_is_slowed_to_the_pace():
    clock = Clock()
    pace = clock.pace()
    assert [pace.wait(10) for _ in range(4)] == [True] * 4
    assert clock.slept == [0.1] * 3


def test_it_sleeps_only_for_what_is_left():
    clock = Clock()
    pace = clock.pace()
    pace.wait(10)
    clock.now += 0.07
    pace.wait(10)
    assert clock.slept == [0.03]


def test_a_late_program_leaves_pictures_out_until_it_has_caught_up():
    clock = Clock()
    pace = clock.pace()
    pace.wait(50)
    clock.now += 0.09
    assert not pace.wait(50)
    assert [pace.wait(50) for _ in range(5)] == [False, False, True, True, True]
    assert clock.now == pytest.approx(100.0 + 6 * 0.02)


def test_a_slow_program_still_shows_a_picture_now_and_then():
    clock = Clock()
    pace = clock.pace()
    seen = []
    for _ in range(100):
        seen.append(pace.wait(100))
        clock.now += 0.03
    assert 15 <= sum(seen) <= 60
    assert clock.slept == []


def test_time_spent_at_a_breakpoint_is_forgiven():
    clock = Clock()
    pace = clock.pace()
    pace.wait(10)
    clock.now += 60
    assert pace.wait(10)
    assert pace.wait(10)
    assert clock.slept == [0.1]


def test_without_a_pace_nobody_waits():
    clock = Clock()
    pace = clock.pace()
    assert [pace.wait(None) for _ in range(3)] == [True] * 3
    assert clock.slept == []


@pytest.mark.parametrize("fps", [0, -1, "30", True, float("nan"), 1001])
def test_fps_is_a_number_above_zero(fps):
    with says(InvalidArgument, f"fps: expected a number above 0 and up to 1000, got {fps!r}"):
        as_fps(fps)


# --- environments ---


def test_each_mode_has_its_form():
    pictures = {mode: Walk(render_mode=mode).render() for mode in ("rgb_array", "ansi", "svg")}
    assert pictures["rgb_array"].shape == (60, 180, 3)
    assert "\x1b[" in pictures["ansi"] or "place 4" in pictures["ansi"]
    assert pictures["svg"].startswith("<svg")


def test_human_mode_shows_a_window_and_close_closes_it(screen):
    env = Walk(render_mode="human")
    env.reset()
    assert env.render() is None
    window = env._window
    assert window.title == "Walk"
    assert np.array_equal(shown(window), env.draw().to_rgb())
    env.close()
    assert not window.is_open
    env.close()


def test_a_snapshot_leaves_the_window_alone(screen):
    env = Walk(render_mode="human")
    env.reset()
    env.render()
    window = env._window
    before = env.snapshot()
    env.step(1)
    env.restore(before)
    assert env.place == 4
    assert env._window is window
    assert window.is_open
    env.close()


def test_looking_does_not_change_what_happens():
    class Noisy(Walk):
        def draw(self):
            canvas = Canvas(10, 10)
            canvas.circle(self.stream("render").uniform(0, 10), 5, 3, fill="red")
            return canvas

    seen, unseen = Noisy(render_mode="rgb_array"), Noisy()
    for env in (seen, unseen):
        env.reset(seed=3)
    seen.render()
    assert seen.np_random.random() == unseen.np_random.random()


def test_without_a_mode_there_is_no_picture():
    with says(
        RenderError,
        "render: expected a render_mode, got None; make the environment with make(…, render_mode=…), "
        "one of human, rgb_array, ansi, svg",
    ):
        Walk().render()


@pytest.mark.parametrize("mode", ["depth_array", "rgb_array_list"])
def test_an_unknown_mode_is_refused(mode):
    with says(RenderError, f"render_mode: expected one of human, rgb_array, ansi, svg, got {mode!r}"):
        Walk(render_mode=mode).render()


def test_a_mode_that_the_author_did_not_list_is_refused():
    class Silent(Walk):
        metadata = {"render_modes": ["rgb_array"]}

    with says(RenderError, "render_mode: expected one of rgb_array, got 'ansi'"):
        Silent(render_mode="ansi").render()


def test_before_the_first_reset_there_is_nothing_to_see():
    class Begun(Walk):
        state = None

    with says(ResetNeeded, "render: expected reset() first, got an environment that has not begun"):
        Begun(render_mode="rgb_array").render()


def test_an_author_who_forgot_to_draw_is_told():
    class Undrawn(Drawn):
        render_mode = "rgb_array"

    with says(NotImplementedError, "Undrawn defines no draw()"):
        Undrawn().render()
