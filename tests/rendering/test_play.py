"""Playing: the game without a screen, in a made-up window, and in a real terminal at the other end of a pty."""

import contextlib
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import threading
import time
from fcntl import ioctl
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from ludus.core import Env, Step
from ludus.errors import InvalidType, RenderError
from ludus.rendering import Canvas, TerminalScreen, WindowScreen, play
from ludus.rendering.drawing import Drawing
from ludus.spaces import Discrete
from ludus.vector import SerialVectorEnv
from tests.core.wording import says
from tests.patience import PATIENCE_S
from tests.rendering.walk import FastWalk, Walk

ROOT = Path(__file__).resolve().parents[2]


class Script:
    """A screen whose player types what is written down; a number waits for so many calls, then the keys follow."""

    def __init__(self, *typed, held=()):
        self.typed, self.now = list(typed), frozenset(held)
        self.pictures, self.lines, self.waits, self.open = [], [], [], 0
        self.gone = False

    def __enter__(self):
        self.open += 1
        return self

    def __exit__(self, *error):
        self.open -= 1

    def show(self, picture, lines):
        self.pictures.append(picture)
        self.lines.append(lines)

    def keys(self, timeout):
        self.waits.append(timeout)
        if not self.typed:
            self.gone = True
            return []
        keys = self.typed.pop(0)
        if isinstance(keys, type):
            raise keys
        if not keys and timeout:
            time.sleep(timeout)
        return keys.split()

    def held(self):
        return self.now


class Box3(Env):
    """Shows pixels, draws nothing."""

    metadata = {"render_modes": ["rgb_array"], "render_fps": 5}
    action_space = observation_space = Discrete(2)
    picture = np.zeros((6, 8, 3), np.uint8)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        return 0, {}

    def step(self, action):
        return Step.truncation(0, 2.5)

    def render(self):
        return self.picture


# --- turns ---


def test_each_key_is_one_step_until_the_player_quits():
    screen = Script("right", "right left", "d d", "q")
    assert play(Walk(), screen=screen) == [0.0]
    assert screen.lines[-1][0] == "Walk   score 0   step 5   episode 1"
    assert all(isinstance(picture, Drawing) for picture in screen.pictures)
    assert set(screen.waits) == {None}
    assert screen.open == 0


def test_keys_without_meaning_do_nothing():
    screen = Script("x y tab", "q")
    play(Walk(), screen=screen)
    assert "step 0" in screen.lines[-1][0]


def test_at_the_end_only_restart_and_quit_are_left():
    screen = Script("d d d d", "d", "r", "a a a a", "r", "q")
    assert play(Walk(), screen=screen) == [1.0, 0.0, 0.0]
    assert screen.lines[1] == ["Walk   score 1   step 4   episode 1", "the episode is over: r plays again   q quits"]
    assert screen.lines[2] == screen.lines[1]
    assert screen.lines[3] == ["Walk   score 0   step 0   episode 2   best 1", "←/a 0   →/d 1   r restart   q quit"]


def test_an_episode_cut_by_time_says_so():
    screen = Script("left", "q")
    assert play(Box3(), screen=screen) == [2.5]
    assert screen.lines[-1][1].startswith("time is up")


def test_the_seed_is_for_the_first_episode_only():
    seeds = []

    class Seeded(Walk):
        def reset(self, *, seed=None, options=None):
            seeds.append(seed)
            return super().reset(seed=seed)

    play(Seeded(), screen=Script("r r", "escape"), seed=7)
    assert seeds == [7, None, None]


def test_own_keys_are_used_and_shown():
    screen = Script("p", "q")
    play(Walk(), {"p": 1}, screen=screen)
    assert screen.lines[-1][1] == "p 1   r restart   q quit"
    assert "step 1" in screen.lines[-1][0]


@pytest.mark.parametrize("leave", ["q", "escape", KeyboardInterrupt])
def test_there_are_three_ways_to_quit(leave):
    screen = Script("right", leave)
    assert play(Walk(), screen=screen) == [0.0]
    assert screen.open == 0


def test_a_screen_that_is_gone_ends_the_game():
    assert play(Walk(), screen=Script()) == [0.0]
    assert play(FastWalk(), screen=Script("right")) == [0.0]


def test_an_error_of_the_environment_leaves_the_screen_clean():
    class Broken(Walk):
        def step(self, action):
            raise ZeroDivisionError

    screen = Script("right")
    with pytest.raises(ZeroDivisionError):
        play(Broken(), screen=screen)
    assert screen.open == 0


# --- by the clock ---


def test_by_the_clock_the_last_key_stays_in_force_and_the_first_is_waited_for():
    screen = Script("right", *[""] * 40)
    assert play(FastWalk(), screen=screen, fps=500) == [1.0]
    assert screen.waits[0] is None, "nothing moves before the first key"
    assert "step 4" in screen.lines[-1][0]


def test_by_the_clock_r_begins_again_and_waits_again():
    screen = Script("right", "", "", "r", "left", *[""] * 30)
    scores = play(FastWalk(), screen=screen, fps=500)
    assert len(scores) == 2
    assert screen.waits.count(None) >= 2


def test_a_held_key_acts_and_an_idle_action_needs_none():
    screen = Script(*[""] * 30, held={"right"})
    assert play(FastWalk(), {"right": 1, "": 0}, screen=screen, fps=500) == [1.0]
    idle = Script(*[""] * 30)
    assert play(FastWalk(), {"right": 1, "": 0}, screen=idle, fps=500) == [0.0]
    assert "the episode is over" in idle.lines[-1][1]


def test_by_the_clock_q_quits():
    assert play(FastWalk(), screen=Script("right", "q"), fps=500) == [0.0]


@pytest.mark.parametrize(
    ("env", "turns", "by_clock"),
    [(Walk, None, False), (FastWalk, None, True), (Walk, False, True), (FastWalk, True, False)],
)
def test_slow_environments_wait_for_the_player_unless_told_otherwise(env, turns, by_clock):
    screen = Script("right", "", "", "q")
    play(env(), screen=screen, turns=turns, fps=500)
    assert any(wait is not None for wait in screen.waits) is by_clock


# --- recording ---


def test_a_game_is_recorded_frame_by_frame(tmp_path):
    play(Walk(), screen=Script("right right", "left", "q"), record=tmp_path / "a.gif")
    with Image.open(tmp_path / "a.gif") as image:
        assert (image.n_frames, image.size, image.info["duration"]) == (4, (180, 60), 250)


def test_pixels_of_other_environments_are_recorded_too(tmp_path):
    play(Box3(), screen=Script("right", "q"), record=tmp_path / "a.gif")
    with Image.open(tmp_path / "a.gif") as image:
        assert (image.n_frames, image.size) == (2, (8, 6))


def test_text_cannot_be_recorded(tmp_path):
    class Texts(Box3):
        picture = "a map"

    with says(RenderError, "record: expected pixels, got text; make the environment with render_mode='rgb_array'"):
        play(Texts(), screen=Script("q"), record=tmp_path / "a.gif")


# --- what cannot be played ---


def test_a_batch_cannot_be_played():
    with says(InvalidType, "play: expected one environment, got a batch of (2,)"):
        play(SerialVectorEnv([Walk, Walk]), screen=Script())


def test_an_environment_without_a_picture_cannot_be_played():
    class Blind(Box3):
        picture = None

    with says(
        RenderError,
        "play: expected an environment that draws, or render_mode 'rgb_array' or 'ansi', got NoneType from render()",
    ):
        play(Blind(), screen=Script("q"))


# --- the window ---


@pytest.fixture
def window(monkeypatch):
    pytest.importorskip("pygame")
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    with WindowScreen("test") as screen:
        yield screen


def press(key):
    import pygame

    pygame.event.post(pygame.event.Event(pygame.KEYDOWN, key=getattr(pygame, f"K_{key}")))


def shown(screen):
    import pygame

    return pygame.surfarray.array3d(screen._window._window.get_surface()).swapaxes(0, 1)


def test_the_window_shows_the_picture_above_the_lines(window):
    canvas = Canvas(500, 100, background="red")
    window.show(canvas, ["score 1   step 2", "a left"])
    frame = shown(window)
    assert frame.shape[1] == 500
    assert np.array_equal(frame[:100], canvas.to_rgb())
    assert frame[100:].max() > 200, "there is text"


def test_small_pictures_are_enlarged_by_a_whole_factor(window):
    window.show(np.arange(100 * 160 * 3, dtype=np.uint8).reshape(100, 160, 3), ["x"])
    assert shown(window).shape[1] == 480
    window.show(Canvas(100, 50), ["x"])
    assert shown(window).shape[1] == 500


def test_long_lines_are_broken_between_entries(window):
    window.show(Canvas(500, 50), ["   ".join(f"key {number} does something" for number in range(9))])
    assert shown(window).shape[0] > 50 + 3 * 20


def test_keys_of_the_window_reach_the_game(window):
    window.show(Canvas(50, 50), ["x"])
    window.keys(0.0)
    press("LEFT")
    assert window.keys(None) == ["left"]
    assert window.held() == {"left"}
    start = time.monotonic()
    assert window.keys(0.05) == []
    assert time.monotonic() - start >= 0.05


def test_text_has_no_place_in_the_window(window):
    with says(RenderError, "window: expected a picture, got text; this environment can be played in the terminal"):
        window.show("a map", [])


def test_a_window_that_was_closed_is_gone(window):
    window.show(Canvas(50, 50), ["x"])
    import pygame

    pygame.event.post(pygame.event.Event(pygame.QUIT))
    assert window.keys(None) == []
    assert window.gone


# --- the terminal ---


class Terminal:
    """A terminal emulator that only remembers what was written to it."""

    def __init__(self, columns=80, rows=24):
        self.master, self.slave = pty.openpty()
        self.resize(columns, rows)
        self.before = termios.tcgetattr(self.slave)
        self.seen = ""

    def resize(self, columns, rows):
        ioctl(self.slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def type(self, text):
        os.write(self.master, text.encode())

    def read(self, timeout=0.0):
        while select.select([self.master], [], [], timeout)[0]:
            try:
                data = os.read(self.master, 65536)
            except OSError:
                return self.seen
            self.seen += data.decode(errors="replace")
            timeout = 0.0
        return self.seen

    def wait_for(self, text, seconds=PATIENCE_S):
        """Until the text was written, the newest part of what came."""
        end = time.monotonic() + seconds
        while text not in self.read(0.05):
            assert time.monotonic() < end, f"no {text!r} in {self.seen[-500:]!r}"
        before, _, self.seen = self.seen.partition(text)
        return before

    def close(self):
        for descriptor in (self.master, self.slave):
            with contextlib.suppress(OSError):
                os.close(descriptor)


@pytest.fixture
def terminal():
    terminal = Terminal()
    yield terminal
    terminal.close()


@pytest.fixture
def screen(terminal):
    return TerminalScreen(terminal.slave, terminal.slave)


def restored(terminal):
    return termios.tcgetattr(terminal.slave) == terminal.before and terminal.read(0.05).endswith("\x1b[?25h\x1b[?1049l")


def rows(terminal):
    """What was written to each row."""
    found = re.findall(r"\x1b\[(\d+);1H(.*?)\x1b\[K", terminal.read(0.05))
    assert [int(row) for row, _ in found] == list(range(1, len(found) + 1))
    return [text for _, text in found]


def test_the_terminal_is_given_back_as_it_was(terminal, screen):
    with screen:
        flags = termios.tcgetattr(terminal.slave)[3]
        assert not flags & (termios.ECHO | termios.ICANON)
        assert flags & termios.ISIG, "Ctrl-C still ends a program that hangs"
    assert restored(terminal)


def test_the_terminal_is_given_back_after_an_error(terminal, screen):
    with pytest.raises(ZeroDivisionError), screen:
        raise ZeroDivisionError
    assert restored(terminal)


def test_the_terminal_is_given_back_when_it_cannot_be_taken(terminal, screen, monkeypatch):
    def fail(descriptor):
        raise KeyboardInterrupt

    monkeypatch.setattr("tty.setcbreak", fail)
    with pytest.raises(KeyboardInterrupt), screen:
        pytest.fail("never entered")
    assert restored(terminal)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_signals_that_end_a_program_unwind_it(terminal, screen, number):
    before = signal.getsignal(number)
    with pytest.raises(SystemExit) as caught, screen:
        signal.raise_signal(number)
    assert caught.value.code == 128 + number
    assert signal.getsignal(number) == before
    assert restored(terminal)


def test_another_thread_can_play_too(terminal, screen):
    def visit():
        with screen:
            pass

    thread = threading.Thread(target=visit)
    thread.start()
    thread.join()
    assert restored(terminal)


def test_a_picture_is_as_large_as_fits_and_the_lines_are_below(terminal, screen):
    with screen:
        screen.show(Canvas(160, 80, background="red"), ["score 1", "keys"])
        lines = rows(terminal)
    assert len(lines) == 22
    assert lines[0] == f"\x1b[48;2;224;49;49m{' ' * 80}\x1b[0m"
    assert lines[-2:] == ["score 1", "keys"]


def test_a_tall_picture_is_in_the_middle(terminal, screen):
    with screen:
        screen.show(np.zeros((80, 80, 3), np.uint8), ["x"])
        first = rows(terminal)[0]
    assert first == f"{' ' * 17}\x1b[48;2;0;0;0m{' ' * 46}\x1b[0m"


def test_text_is_shown_as_it_is_and_cut_where_it_does_not_fit(terminal, screen):
    terminal.resize(10, 3)
    with screen:
        screen.show("one\ntwo\nthree", ["a line that is long"])
        assert rows(terminal) == ["one", "two", "a line tha"]


def test_a_text_of_an_environment_gives_the_terminal_no_orders_but_colours(terminal, screen):
    """A title, a clipboard, text that is written over: a sandbox kept none of that from the terminal."""
    with screen:
        screen.show("a\x1b]0;title\x07b \x1b[31mred\x1b[2J\n\x9b5nc\x1b]52;c;bWU=\x1b\\\td", ["Maze\x1b]0;x\x07"])
        told = terminal.wait_for("Maze]0;x") + "Maze]0;x"
    told = told.partition("\x1b[2J")[2]  # its own
    assert "a]0;titleb \x1b[31mred[2J\x1b[0m" in told
    assert "5nc]52;c;bWU=\\" in told
    assert "Maze]0;x" in told
    assert not set(told) & {"\x07", "\x9b"}
    assert "\x1b]" not in told


def test_a_resized_terminal_is_wiped(terminal, screen):
    with screen:
        screen.show("one", [])
        terminal.read(0.05)
        terminal.seen = ""
        screen.show("one", [])
        assert "\x1b[2J" not in terminal.read(0.05)
        terminal.resize(40, 10)
        screen.show("one", [])
        assert "\x1b[2J" in terminal.read(0.05)


def test_keys_come_with_names_and_count_as_held_for_a_moment(terminal, screen):
    with screen:
        terminal.type("a\x1b[D")
        assert screen.keys(None) == ["a", "left"]
        assert screen.held() == {"a", "left"}
        screen._seen = dict.fromkeys(screen._seen, 0.0)
        assert screen.held() == set()
        assert screen.keys(0.01) == []


def test_a_lone_escape_is_a_key_and_a_split_sequence_is_one(terminal, screen):
    with screen:
        terminal.type("\x1b")
        assert screen.keys(None) == ["escape"]
        terminal.type("\x1b[")
        typist = threading.Timer(0.005, terminal.type, ["C"])
        typist.start()
        assert screen.keys(None) in (["right"], ["escape"])
        typist.join()


def test_a_terminal_that_hangs_up_is_gone(terminal, screen):
    with screen:
        os.close(terminal.master)
        assert screen.keys(None) == []
        assert screen.gone


@pytest.mark.parametrize("fate", [OSError("gone"), b""])
def test_a_terminal_that_cannot_be_read_is_gone(terminal, screen, monkeypatch, fate):
    def read(descriptor, count):
        if isinstance(fate, OSError):
            raise fate
        return fate

    with screen:
        terminal.type("x")
        with monkeypatch.context() as patch:
            patch.setattr("os.read", read)
            assert screen.keys(None) == []
        assert screen.gone


def test_a_pipe_is_no_terminal():
    reader, writer = os.pipe()
    with (
        says(
            RenderError,
            "play: expected a terminal, got input or output that is a file or a pipe; "
            "run it in a terminal, or use --render window",
        ),
        TerminalScreen(reader, writer),
    ):
        pytest.fail("never entered")
    os.close(reader)
    os.close(writer)


# --- a whole program in a terminal ---

PROGRAM = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored in what was started in the background, or by nohup
signal.signal(signal.SIGTERM, signal.SIG_DFL)
signal.signal(signal.SIGHUP, signal.SIG_DFL)
from ludus.rendering import play
from tests.rendering.walk import Walk
print("scores", play(Walk(), seed=1, record={record!r}))
"""


@pytest.fixture
def program(terminal):
    """Start a program in the terminal; it ends with the test at the latest."""
    started = []

    def start(source):
        environment = os.environ | {"TERM": "xterm-256color", "PYTHONPATH": str(ROOT)}
        environment.pop("NO_COLOR", None)
        files = dict.fromkeys(("stdin", "stdout", "stderr"), terminal.slave)
        process = subprocess.Popen([sys.executable, "-c", source], env=environment, start_new_session=True, **files)
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.wait()


def test_a_person_plays_in_a_terminal(terminal, program, tmp_path):
    process = program(PROGRAM.format(record=str(tmp_path / "game.gif")))
    terminal.wait_for("step 0   episode 1")
    terminal.type("\x1b[C")
    terminal.wait_for("step 1   episode 1")
    terminal.type("ddd")
    terminal.wait_for("r plays again")
    terminal.type("r")
    terminal.wait_for("step 0   episode 2   best 1")
    terminal.type("q")
    terminal.wait_for("\x1b[?1049l")
    terminal.wait_for("scores [1.0, 0.0]")
    assert process.wait(60) == 0
    assert termios.tcgetattr(terminal.slave) == terminal.before
    with Image.open(tmp_path / "game.gif") as image:
        assert image.n_frames == 6


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 0), (signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_a_program_that_is_ended_gives_the_terminal_back(terminal, program, number, code):
    process = program(PROGRAM.format(record=None))
    terminal.wait_for("step 0   episode 1")
    process.send_signal(number)
    terminal.wait_for("\x1b[?25h\x1b[?1049l")
    assert process.wait(60) == code
    assert termios.tcgetattr(terminal.slave) == terminal.before
