"""The text of a batch kernel: one loop over lanes, written for a set of rules and compiled by Numba.

Text, not closures: a function in a file is what Numba keeps on disk between processes. The loop reads a lane's state
into the rules' NamedTuple, calls the rule and writes the result back; one array for each field, so that a field's lanes
lie together.
"""

from typing import NamedTuple

__all__ = ["Layout", "kernel_source"]


class Layout(NamedTuple):
    """What the loop has to know of a set of rules beyond its functions."""

    state: tuple[tuple[str, bool], ...]
    """The fields of the state, and whether each is an array."""
    width: int
    """How many numbers an observation has; 0 for a single integer."""
    information: tuple[str, ...]
    """The fields of `inform`."""
    parts: int
    """How many integers an action has, where it is a tuple of them; 0 for one integer, or a row of a Box."""
    chooses: bool
    """Whether an action is one of `first` to `last` integers: then the loop checks it."""
    renews: bool
    """Whether the next episode depends on the last one."""


def kernel_source(layout: Layout) -> str:
    """The module's text; `State`, `Stream`, `rule_…`, `compiled` and `kept` have to be there before it."""
    state = ", ".join(f"s_{name}" for name, _ in layout.state)
    informed = "".join(f"i_{name}, " for name in layout.information)
    last = "".join(f"l_{name}, " for name in layout.information)
    read = ", ".join(f"s_{name}[i]" for name, _ in layout.state)
    new = ", ".join(f"new[{place}]" for place in range(len(layout.state)))
    several = "".join(f"actions[i, {part}], " for part in range(layout.parts))
    known = {
        "CHECK": _block(CHECK, 1) if layout.chooses else "",
        "ACTION": f"({several})" if several else "actions[i]",
        "STATE": state,
        "INFORMED": informed,
        "LAST": last,
        "READ": read,
        "NEW": new,
        "WRITE": _block(_writes(layout), 1),
        "WRITE_DEEP": _block(_writes(layout), 3),
        "SHOW": _block(_shown(layout), 1),
        "KEEP": _block(["last[i] = out[i]", *(f"l_{name}[i] = i_{name}[i]" for name in layout.information)], 5),
        "RENEW": f"rule_renew(State({read}), stream, params)" if layout.renews else "rule_reset(stream, params)",
    }
    text = TEMPLATE
    for name, value in known.items():
        text = text.replace(f"<{name}>", value)
    return text


def _block(lines: list[str], depth: int) -> str:
    return ("\n" + "    " * depth).join(lines)


def _writes(layout: Layout) -> list[str]:
    return [f"s_{name}[i]{'[:]' if array else ''} = new[{place}]" for place, (name, array) in enumerate(layout.state)]


def _shown(layout: Layout) -> list[str]:
    lines = ["seen = rule_observe(state, params)"]
    lines += (
        [f"out[i, {place}] = seen[{place}]" for place in range(layout.width)] if layout.width else ["out[i] = seen"]
    )
    if layout.information:
        lines.append("told = rule_inform(state, params)")
        lines += [f"i_{name}[i] = told[{place}]" for place, name in enumerate(layout.information)]
    return lines


CHECK = [
    "for lane in range(first, stop):",
    "    if actions[lane] < least or actions[lane] > most:",
    "        return -1",
]

TEMPLATE = """
@compiled
def show(i, state, params, out, <INFORMED>unused):
    <SHOW>


@compiled
def begin(i, fresh, words, params, out, <INFORMED><STATE>):
    stream = Stream(words, i)
    if fresh:
        new = rule_reset(stream, params)
    else:
        new = <RENEW>
    <WRITE>
    show(i, State(<NEW>), params, out, <INFORMED>0)


@kept
def reset_lanes(first, stop, mask, fresh, words, params, elapsed, ended, out, <INFORMED><STATE>):
    for lane in range(first, stop):
        i = unsigned(lane)
        if mask[i]:
            begin(i, fresh[i], words, params, out, <INFORMED><STATE>)
            elapsed[i] = 0
            ended[i] = False
        else:
            show(i, State(<READ>), params, out, <INFORMED>0)


@kept
def step_lanes(
    first, stop, actions, least, most, mode, limit, words, params, elapsed, ended,
    out, last, rewards, terminated, truncated,
    <INFORMED><LAST><STATE>
):
    <CHECK>
    count = 0
    for lane in range(first, stop):
        i = unsigned(lane)
        if ended[i]:
            begin(i, False, words, params, out, <INFORMED><STATE>)
            elapsed[i] = 0
            ended[i] = terminated[i] = truncated[i] = False
            rewards[i] = 0.0
        else:
            new, reward, over = rule_step(State(<READ>), <ACTION>, Stream(words, i), params)
            <WRITE_DEEP>
            show(i, State(<NEW>), params, out, <INFORMED>0)
            elapsed[i] += 1
            cut = limit > 0 and elapsed[i] >= limit
            rewards[i], terminated[i], truncated[i] = reward, over, cut
            if over or cut:
                count += 1
                if mode == 1:
                    <KEEP>
                    begin(i, False, words, params, out, <INFORMED><STATE>)
                    elapsed[i] = 0
                else:
                    ended[i] = True
    return count
"""
