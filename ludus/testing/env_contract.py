"""The `Env` contract: every rule in the order in which it is judged, as a function and as a test class."""

import math

from ludus.testing.contract import Contract
from ludus.testing.env_rules import (
    api,
    close,
    compiled,
    leaks,
    outcomes,
    ownership,
    pictures,
    rewards,
    seeds,
    serialisation,
    snapshots,
    spaces,
)
from ludus.testing.report import Report
from ludus.testing.rule import Examination, Rule
from ludus.testing.subject import Subject, Target

__all__ = ["ENV_RULES", "EnvContract", "check_env"]

RUNS = (api.episodes_run,)
REPEATS = (seeds.same_seed_same_history,)
FRESH = (seeds.fresh_instance_same_history,)

ENV_RULES: tuple[Rule[Subject], ...] = (
    Rule(api.makes_an_env),
    Rule(spaces.spaces_are_spaces, needs=(api.makes_an_env,)),
    Rule(api.reset_takes_seed_and_options, needs=(api.makes_an_env,)),
    Rule(api.reset_returns_a_pair, needs=(api.reset_takes_seed_and_options,)),
    Rule(api.step_returns_five, needs=(spaces.spaces_are_spaces, api.reset_returns_a_pair)),
    Rule(api.episodes_run, needs=(api.step_returns_five,)),
    Rule(api.step_before_reset_fails, needs=(spaces.spaces_are_spaces,)),
    Rule(api.options_are_handled, needs=(api.reset_returns_a_pair,)),
    Rule(api.flags_are_bool, needs=RUNS),
    Rule(api.metadata_lists_render_modes, needs=(api.makes_an_env,)),
    Rule(api.spec_is_an_env_spec, needs=(api.makes_an_env,)),
    Rule(spaces.spaces_stay_equal, needs=RUNS),
    Rule(spaces.observations_in_space, needs=RUNS),
    Rule(spaces.observations_have_the_dtype, needs=RUNS),
    Rule(spaces.boxes_make_sense, needs=(spaces.spaces_are_spaces,)),
    Rule(rewards.rewards_are_numbers, needs=RUNS),
    Rule(rewards.rewards_are_finite, needs=RUNS),
    Rule(outcomes.outcomes_come_last, needs=RUNS),
    Rule(outcomes.reward_components_add_up, needs=(rewards.rewards_are_numbers,)),
    Rule(outcomes.trivial_agents_do_not_succeed, needs=(outcomes.outcomes_come_last,)),
    Rule(seeds.reset_seeds_np_random, needs=(api.reset_returns_a_pair,)),
    Rule(seeds.global_random_untouched, needs=RUNS),
    Rule(seeds.same_seed_same_history, needs=(seeds.reset_seeds_np_random, seeds.global_random_untouched)),
    Rule(seeds.fresh_instance_same_history, needs=REPEATS),
    Rule(seeds.another_seed_another_history, needs=REPEATS),
    Rule(seeds.reset_continues_the_stream, needs=REPEATS),
    Rule(seeds.numpy_seeds_are_accepted, needs=REPEATS),
    Rule(seeds.action_space_untouched, needs=RUNS),
    Rule(seeds.instances_are_independent, needs=FRESH),
    Rule(leaks.episodes_see_nothing_of_others, needs=REPEATS),
    Rule(leaks.episodes_leave_nothing_behind, needs=RUNS),
    Rule(ownership.observations_are_the_callers, needs=RUNS),
    Rule(ownership.infos_are_the_callers, needs=RUNS),
    Rule(ownership.actions_are_the_callers, needs=RUNS),
    Rule(snapshots.snapshot_can_be_taken, needs=RUNS),
    Rule(snapshots.snapshot_can_be_pickled, needs=(snapshots.snapshot_can_be_taken,)),
    Rule(snapshots.snapshot_is_exact, needs=(*REPEATS, snapshots.snapshot_can_be_taken)),
    Rule(snapshots.snapshot_fits_a_fresh_instance, needs=(*FRESH, snapshots.snapshot_is_exact)),
    Rule(pictures.render_mode_is_an_argument, needs=(api.metadata_lists_render_modes,)),
    Rule(pictures.render_gives_what_its_mode_says, needs=(pictures.render_mode_is_an_argument, api.episodes_run)),
    Rule(pictures.rendering_changes_nothing, needs=(pictures.render_gives_what_its_mode_says, *REPEATS)),
    Rule(close.close_runs, needs=(api.makes_an_env,)),
    Rule(close.close_twice_is_harmless, needs=(close.close_runs, api.reset_returns_a_pair)),
    Rule(compiled.rules_can_be_compiled, needs=REPEATS),
    Rule(compiled.a_compiled_batch_is_its_lanes, needs=(compiled.rules_can_be_compiled,)),
    Rule(serialisation.spaces_can_be_described, needs=(spaces.spaces_are_spaces,)),
    Rule(serialisation.values_travel_without_pickle, needs=(api.episodes_run, serialisation.spaces_can_be_described)),
)


def check_env(env: Target, *, seed: int = 0, steps: int = 100, full: bool = False, seconds: float = math.inf) -> Report:
    """Hold an environment to the contract, in histories of `steps` steps; a breach is a finding, never an exception.

    Compiled rules are played beside single environments for some seconds, with `full` to the end in every mode. After
    `seconds` no other rule is begun; the report names those that were not checked.

    Give its class, a function that makes it, its id, `module:Class` or its spec. Of a single instance without a spec
    the rules that need a fresh one cannot be checked, and the report says so; the instance is stepped, not closed.

    >>> from ludus.envs.teaching.grid_world import GridWorld
    >>> class Unlucky(GridWorld):
    ...     def step(self, action):
    ...         return super().step(action)._replace(reward=float("nan"))
    >>> for finding in check_env(Unlucky).findings:
    ...     print(finding.rule, "|", finding.message)
    rewards-are-finite | step 1 reward: expected a finite number, got nan
    """
    return Examination(ENV_RULES, Subject(env, seed=seed, steps=steps, full=full), seconds=seconds).report()


class EnvContract(Contract[Subject], rules=ENV_RULES):
    """The contract as tests, one for each rule: derive a test class and say what makes the environment.

    `seed`, `steps` and `full` may be set beside `make`. A rule that is not meant to hold is off by `test_… = None`.

    >>> from ludus.envs.teaching.grid_world import GridWorld
    >>> class TestGridWorld(EnvContract):
    ...     make = GridWorld
    >>> TestGridWorld().test_same_seed_same_history()
    """

    seed: int = 0
    steps: int = 100
    full: bool = False

    def subject(self) -> Subject:
        """What `make` makes."""
        return Subject(self.target(), seed=self.seed, steps=self.steps, full=self.full)
