"""Several players: whose turn it is, a reward and an observation for each, and opponents that the rules play.

Rules with `turn` are seen by the player to move; without it all players move at once, and actions and observations are
tuples. An `opponent` plays every player but the first, so that what is left is an environment for one.
Interpreted and compiled rules are adapted alike, here: functions for one environment, and text for the loop of a batch.
"""

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from ludus.errors import InvalidArgument, shorten
from ludus.kernels.kinds import is_dict
from ludus.kernels.rules import Rule, Rules
from ludus.kernels.state_arrays import own_copy
from ludus.spaces import Discrete, Space, Tuple

__all__ = ["Play", "adapter_text", "check_spaces", "play_of"]


class Play(NamedTuple):
    """What one environment calls: the rules' own functions, or what several players make of them."""

    reset: Rule
    step: Rule
    observe: Rule
    renew: Rule | None


def check_spaces(owner: str, rules: Rules, spaces: dict[str, Space[object]]) -> None:
    """Refuse a space of one player's where all players move at once."""
    if rules.players == 1 or rules.turn is not None:
        return
    for name, space in spaces.items():
        if isinstance(space, Discrete) or (isinstance(space, Tuple) and len(space.spaces) != rules.players):
            raise InvalidArgument(
                f"{owner} {name}: expected a Tuple of {rules.players} spaces, one for each of the players, who move at "
                f"once, got {shorten(space)}; write Tuple((space,) * {rules.players}), or give the rules a `turn`"
            )


def play_of(rules: Rules) -> Play:
    """The functions for one environment."""
    if rules.players == 1:
        return Play(rules.reset, rules.step, rules.observe, rules.renew)
    if rules.opponent is not None:
        return _opposed(rules)
    return _together(rules) if rules.turn is None else _in_turn(rules)


def _in_turn(rules: Rules) -> Play:
    turn, advance, see = rules.functions["turn"], rules.step, rules.observe

    def step(state: object, action: object, rng: object, params: object) -> tuple[object, ...]:
        mover = turn(state, params)
        given = advance(state, action, rng, params)
        return _with_rewards(given, float(given[1][mover]))

    def observe(state: object, params: object) -> object:
        return see(state, params, turn(state, params))

    return Play(rules.reset, step, observe, rules.renew)


def _together(rules: Rules) -> Play:
    advance, see, players = rules.step, rules.observe, range(rules.players)

    def step(state: object, action: object, rng: object, params: object) -> tuple[object, ...]:
        given = advance(state, action, rng, params)
        total = 0.0
        for reward in given[1]:
            total += float(reward)
        return _with_rewards(given, total)

    def observe(state: object, params: object) -> object:
        return tuple(see(state, params, player) for player in players)

    return Play(rules.reset, step, observe, rules.renew)


def _with_rewards(given: Any, reward: float) -> tuple[object, ...]:
    """What `step` gave, with one reward, and those of all players in its info."""
    info: Any = given[4] if len(given) == 5 else {}
    facts: dict[str, object] = dict(info if is_dict(info) else info._asdict())
    truncated = len(given) > 3 and given[3]
    return given[0], reward, given[2], truncated, {"rewards": np.array(given[1], np.float64), **facts}


def _opposed(rules: Rules) -> Play:
    turn, opponent, advance, see = rules.functions["turn"], rules.functions["opponent"], rules.step, rules.observe

    def others(state: object, ends: object, rng: object, params: object) -> tuple[object, float, object, object]:
        """The opponents' moves, until it is the first player's turn."""
        gained, cuts = 0.0, False
        while not ends and not cuts and turn(state, params) != 0:
            given = advance(state, opponent(state, rng, params), rng, params)
            state, ends, cuts = rules.state._make(given[0]), given[2], len(given) > 3 and given[3]
            gained += float(given[1][0])
        return state, gained, ends, cuts

    def step(state: object, action: object, rng: object, params: object) -> tuple[object, ...]:
        given = advance(state, action, rng, params)
        if given[2] or (len(given) > 3 and given[3]):
            return given[0], float(given[1][0]), *given[2:]
        after, gained, ends, cuts = others(rules.state._make(given[0]), False, rng, params)
        return after, float(given[1][0]) + gained, ends, *((cuts, *given[4:]) if len(given) > 3 else ())

    def observe(state: object, params: object) -> object:
        return see(state, params, 0)

    def begun(first: Iterable[object], rng: object, params: object) -> object:
        return others(rules.state._make(own_copy(tuple(first))), False, rng, params)[0]

    def reset(rng: object, params: object, *options: object) -> object:
        return begun(rules.reset(rng, params, *options), rng, params)

    def renew(state: object, rng: object, params: object, *options: object) -> object:
        return begun(rules.functions["renew"](state, rng, params, *options), rng, params)

    return Play(reset, step, observe, None if rules.renew is None else renew)


# --- the same for compiled code ---


def adapter_text(rules: Rules, returns: int, facts: int, state: str, own: str) -> str:
    """The text of `play_step`, `play_observe` and, with an opponent, `play_reset` and `play_renew`.

    `returns` is how many values `step` gives, `facts` how many of an info, and `state` the text of a State made of
    what is called `after`; `own` is the same with copies of its arrays, which may be those of the options.
    """
    names = ("after", "gain", "ends", "cuts", "facts")[:returns]
    known = {
        "GIVEN": ", ".join(names),
        "STATE": state,
        "OWN": own,
        "CUTS": "bool(cuts)" if returns > 3 else "False",
        "REWARDS": "".join(f"np.float64(gain[{player}]), " for player in range(rules.players)),
        "SUM": " + ".join(f"np.float64(gain[{player}])" for player in range(rules.players)),
        "SEEN": "".join(f"rule_observe(state, params, {player}), " for player in range(rules.players)),
        "FACTS": "".join(f"facts[{place}], " for place in range(facts)),
        "OTHERS": "bool(others_cut)" if returns > 3 else "False",
        "OTHERS_GIVEN": ", ".join(("after", "more", "ends", "others_cut", "_")[:returns]),
        "TOLD": "".join((", others_cut", ", facts")[: returns - 3]),
        "OPTIONS": "" if rules.options is None else ", options",
    }
    text = OPPOSED if rules.opponent is not None else TOGETHER if rules.turn is None else IN_TURN
    if rules.opponent is not None and rules.renew is not None:
        text += RENEWED
    for name, value in known.items():
        text = text.replace(f"<{name}>", value)
    return text


IN_TURN = """
@inner
def play_step(state, action, rng, params):
    mover = rule_turn(state, params)
    <GIVEN> = rule_step(state, action, rng, params)
    rewards = (<REWARDS>)
    return after, rewards[mover], bool(ends), <CUTS>, (rewards, <FACTS>)

@inner
def play_observe(state, params):
    return rule_observe(state, params, rule_turn(state, params))
"""

TOGETHER = """
@inner
def play_step(state, action, rng, params):
    <GIVEN> = rule_step(state, action, rng, params)
    return after, 0.0 + <SUM>, bool(ends), <CUTS>, ((<REWARDS>), <FACTS>)

@inner
def play_observe(state, params):
    return (<SEEN>)
"""

OPPOSED = """
@inner
def play_others(after, rng, params):
    gained, ends, cuts = 0.0, False, False
    while not ends and not cuts and rule_turn(after, params) != 0:
        <OTHERS_GIVEN> = rule_step(after, rule_opponent(after, rng, params), rng, params)
        after = <STATE>
        gained += np.float64(more[0])
        ends, cuts = bool(ends), <OTHERS>
    return after, gained, ends, cuts

@inner
def play_step(state, action, rng, params):
    <GIVEN> = rule_step(state, action, rng, params)
    after = <STATE>
    total, ends, others_cut = np.float64(gain[0]), bool(ends), <CUTS>
    if not ends and not others_cut:
        after, gained, ends, others_cut = play_others(after, rng, params)
        total += gained
    return after, total, ends<TOLD>

@inner
def play_reset(rng, params<OPTIONS>):
    after = rule_reset(rng, params<OPTIONS>)
    return play_others(<OWN>, rng, params)[0]

@inner
def play_observe(state, params):
    return rule_observe(state, params, 0)
"""

RENEWED = """
@inner
def play_renew(state, rng, params<OPTIONS>):
    after = rule_renew(state, rng, params<OPTIONS>)
    return play_others(<OWN>, rng, params)[0]
"""
