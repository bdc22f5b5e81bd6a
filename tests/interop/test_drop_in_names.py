"""Every name of Gymnasium leads to Ludus, or says that it does not and where to read why."""

import ast
import json
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest

from ludus.interop.as_gymnasium import names
from ludus.interop.as_gymnasium.finder import Finder, virtual_module

ROOT = Path(find_spec("gymnasium").origin).parent
FAMILIES = ("envs.box2d", "envs.mujoco", "envs.phys2d", "envs.tabular", "envs.functional_jax_env")

MISSING = {
    *(f"envs.classic_control.acrobot.{name}" for name in ("wrap", "bound", "rk4")),
    "envs.classic_control.cartpole.CartPoleVectorEnv",
    "envs.classic_control.pendulum.angle_normalize",
    "envs.classic_control.utils",
    *(
        f"envs.toy_text.blackjack.{name}"
        for name in (
            "draw_table", "cmp", "draw_card", "draw_hand", "usable_ace", "sum_hand", "is_bust", "score", "is_natural",
        )
    ),
    "envs.toy_text.frozen_lake.is_valid",
    "envs.toy_text.utils",
    "spaces.box.array_short_repr",
    "spaces.box.is_float_integer",
    "utils.env_checker.check_reset_return_info_deprecation",
    "utils.env_checker.check_seed_deprecation",
    "utils.env_checker.check_space_limit",
    "utils.passive_env_checker.data_shares_objects",
    "utils.passive_env_checker.env_data_reuse_passive_checker",
    *(f"utils.play.{name}" for name in ("MissingKeysToAction", "PlayableGame", "PlayPlot", "display_arr")),
    "wrappers.array_conversion.module_name_to_namespace",
    "wrappers.jax_to_torch.Device",
    "wrappers.numpy_to_torch.Device",
    "wrappers.utils.update_mean_var_count_from_moments",
}  # fmt: skip
"""What Gymnasium 1.4.0 has in its public names and the drop-in has not: workings of single environments, mostly."""


def public_names(path: Path) -> list[str]:
    """The classes and functions a module defines, and what it lists in `__all__`."""
    found: list[str] = []
    for node in ast.parse(path.read_text(encoding="utf8")).body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef) and not node.name.startswith("_"):
            found.append(node.name)
        elif isinstance(node, ast.Assign) and [one.id for one in node.targets if isinstance(one, ast.Name)] == [
            "__all__"
        ]:
            found += ast.literal_eval(node.value)
    return list(dict.fromkeys(found))


def modules() -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for path in sorted(ROOT.rglob("*.py")):
        inside = ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix("__init__").rstrip(".")
        if not inside.startswith(FAMILIES):
            found[inside] = public_names(path)
    return found


ASK = """
    import json
    import sys
    from importlib import import_module

    missing, silent = [], []
    for inside, names in json.loads(sys.argv[1]).items():
        try:
            module = import_module(f"gymnasium.{inside}".rstrip("."))
        except ImportError as error:
            missing.append(inside)
            silent += [inside] if "docs/interop.md" not in str(error) else []
            continue
        for name in names:
            try:
                getattr(module, name)
            except AttributeError as error:
                missing.append(f"{inside}.{name}")
                silent += missing[-1:] if "docs/interop.md" not in str(error) else []
    print(json.dumps([missing, silent]))
"""


def test_every_public_name_of_gymnasium_is_there_or_says_where_to_read_why_not(on_ludus):
    missing, silent = json.loads(on_ludus(ASK, json.dumps(modules())))
    assert set(missing) == MISSING
    assert silent == []


def targets() -> list[tuple[str, str]]:
    return [
        (f"{inside}.{name.partition('=')[0]}", f"{module}:{name.partition('=')[2] or name}")
        for inside, groups in names.MODULES.items()
        for module, listed in groups
        for name in listed.split()
    ]


def leads_somewhere(target: str) -> bool:
    module, _, attribute = target.partition(":")
    return hasattr(import_module(module), attribute)


def test_each_name_in_the_table_leads_somewhere():
    assert len(targets()) > 300
    assert [(name, target) for name, target in targets() if not leads_somewhere(target)] == []


def test_what_is_missing_says_so_in_every_way_of_asking(on_ludus):
    program = """
        import gymnasium as gym

        for statement in (
            "gym.wrappers.Nowhere",
            "from gymnasium.wrappers import Nowhere",
            "import gymnasium.envs.mujoco",
            "from gymnasium.envs.classic_control import CartPoleVectorEnv",
            "gym.wrappers.FrameStack",
            "from gymnasium.wrappers import AutoResetWrapper",
        ):
            try:
                exec(statement)
            except (ImportError, AttributeError) as error:
                print(f"{type(error).__name__}: {error}")
        print(hasattr(gym.wrappers, "Nowhere"))
    """
    nowhere = (
        "module 'gymnasium.wrappers' has no attribute 'Nowhere': Ludus, which stands in for Gymnasium here, has none; "
        "docs/interop.md lists what differs"
    )
    assert on_ludus(program).splitlines() == [
        f"AttributeError: {nowhere}",
        f"ImportError: cannot import 'Nowhere' from 'gymnasium.wrappers': {nowhere}",
        "ImportError: cannot import 'mujoco' from 'gymnasium.envs': module 'gymnasium.envs' has no attribute 'mujoco': "
        "Ludus has no MuJoCo environments yet; docs/interop.md lists what differs",
        "ImportError: cannot import 'CartPoleVectorEnv' from 'gymnasium.envs.classic_control': module "
        "'gymnasium.envs.classic_control' has no attribute 'CartPoleVectorEnv': a batch of any environment is made by "
        "make_vec; docs/interop.md lists what differs",
        "AttributeError: 'FrameStack' has been renamed with 'wrappers.FrameStackObservation'",
        "ImportError: cannot import 'AutoResetWrapper' from 'gymnasium.wrappers': 'AutoResetWrapper' has been renamed "
        "with 'wrappers.Autoreset'",
        "False",
    ]


def test_a_function_and_the_module_it_is_in_may_have_one_name(on_ludus):
    program = """
        import gymnasium as gym
        import gymnasium.utils.colorize
        from gymnasium.utils.colorize import colorize
        from gymnasium.spaces import *

        print(callable(gym.utils.colorize), gym.utils.colorize is colorize, Box is gym.spaces.Box)
        print("SyncVectorEnv" in dir(gym.vector), "utils" in dir(gym.vector), "wrappers" in dir(gym))
    """
    assert on_ludus(program) == "True True True\nTrue True True\n"


def test_the_logger_can_be_silenced(on_ludus):
    program = """
        import warnings

        import gymnasium as gym

        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            gym.logger.warn("one %s", 1)
            gym.logger.min_level = gym.logger.ERROR
            gym.logger.warn("two")
            gym.logger.deprecation("three")
            gym.logger.error("four")
            gym.logger.own = 5
        print([str(one.message) for one in caught], gym.logger.own)
    """
    assert on_ludus(program) == "['\\x1b[33mWARN: one 1\\x1b[0m', '\\x1b[31mERROR: four\\x1b[0m'] 5\n"


def test_the_finder_leaves_other_modules_alone():
    assert Finder().find_spec("json") is None
    assert Finder().find_spec("gymnasium_robotics") is None
    with pytest.raises(ImportError, match="virtual module: expected 'gymnasium' or one under it, got 'json'"):
        virtual_module("json")
