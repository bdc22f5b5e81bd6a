"""The examples in Gymnasium's own docstrings, run on Ludus: read from the installed package, judged by doctest."""

import json
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(find_spec("gymnasium").origin).parent

WITHOUT_THE_ENVIRONMENT = {
    "wrappers",  # Hopper-v4
    "wrappers.atari_preprocessing.AtariPreprocessing",
    "wrappers.rendering.RenderCollection",  # these five: LunarLander-v3
    "wrappers.rendering.RecordVideo",
    "wrappers.rendering.HumanRendering",
    "wrappers.rendering.AddWhiteNoise",
    "wrappers.rendering.ObstructView",
    "wrappers.stateful_observation.FrameStackObservation",  # these: CarRacing-v3
    "wrappers.transform_observation.FlattenObservation",
    "wrappers.transform_observation.GrayscaleObservation",
    "wrappers.transform_observation.ResizeObservation",
    "wrappers.transform_observation.ReshapeObservation",
    "wrappers.vector.vectorize_observation.FlattenObservation",
    "wrappers.vector.vectorize_observation.GrayscaleObservation",
    "wrappers.vector.vectorize_observation.ResizeObservation",
    "wrappers.vector.vectorize_observation.ReshapeObservation",
    "wrappers.transform_action.ClipAction",  # these: Hopper-v4, Hopper-v5
    "wrappers.transform_action.RescaleAction",
    "wrappers.transform_action.DiscretizeAction",
    "wrappers.transform_observation.DiscretizeObservation",
    "wrappers.vector.dict_info_to_list.DictInfoToList",  # HalfCheetah
}
OTHER_WORDS = {
    "envs.classic_control.acrobot.AcrobotEnv",  # these six print the environment, whose wrappers show their arguments
    "envs.classic_control.cartpole.CartPoleEnv",
    "envs.classic_control.continuous_mountain_car.Continuous_MountainCarEnv",
    "envs.classic_control.mountain_car.MountainCarEnv",
    "envs.classic_control.pendulum.PendulumEnv",
    "vector.vector_env.VectorEnv",
    "wrappers.common.TimeLimit",
    "wrappers.common.PassiveEnvChecker",
    "wrappers.common.OrderEnforcing",  # prints an error
    "wrappers.stateful_action.StickyAction",  # these three print a step, which has names here
    "wrappers.stateful_observation.DelayObservation",
    "wrappers.transform_observation.FilterObservation",
    "wrappers.transform_reward.ClipReward",  # prints 0.5, not np.float64(0.5)
}
OTHERWISE = {
    "envs.classic_control.acrobot.rk4",
    "utils.play.play",  # PlayPlot
    "wrappers.stateful_observation.NormalizeObservation",  # these: the last digit of a sum
    "wrappers.stateful_reward.NormalizeReward",
    "wrappers.vector.stateful_observation.NormalizeObservation",
    "wrappers.vector.vectorize_action.RescaleAction",
    "wrappers.vector.stateful_reward.NormalizeReward",  # the step that resets a lane does not count
    "wrappers.transform_action.TransformAction",  # these three: an action of the wrong shape is an error
    "wrappers.vector.vectorize_action.ClipAction",
    "wrappers.vector.vectorize_action.VectorizeTransformAction",
    "wrappers.vector.common.RecordEpisodeStatistics",  # reset(123): the seed is given by name
    "wrappers.vector.rendering.RecordVideo",
}
JUDGE = """
    import ast, doctest, json, sys, warnings
    from importlib import import_module
    from pathlib import Path

    warnings.simplefilter("ignore")
    root, skipped = Path(sys.argv[1]), ("mujoco", "box2d", "phys2d", "tabular", "jax", "torch")
    flags = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


    def documented(node, name):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
            text = ast.get_docstring(node) or ""
            if ">>>" in text:
                yield name, text
        for inner in ast.iter_child_nodes(node):
            if isinstance(inner, ast.ClassDef | ast.FunctionDef):
                yield from documented(inner, f"{name}.{inner.name}".strip("."))


    passed, failed = [], []
    for path in sorted(root.rglob("*.py")):
        inside = ".".join(path.relative_to(root).with_suffix("").parts).removesuffix("__init__").strip(".")
        if any(word in inside for word in skipped):
            continue
        for name, text in documented(ast.parse(path.read_text()), inside):
            module = import_module(f"gymnasium.{inside}".rstrip("."))
            known = {one: getattr(module, one) for one in module.__all__} | {
                "np": import_module("numpy"),
                "gym": import_module("gymnasium"),
            }
            try:
                test = doctest.DocTestParser().get_doctest(text, known, name, None, 0)
            except ValueError:
                continue
            result = doctest.DocTestRunner(verbose=False, optionflags=flags).run(test, out=lambda text: None)
            (failed if result.failed else passed).append(name)
    sys.__stdout__.write(json.dumps([passed, failed]))
"""


def test_the_examples_of_gymnasiums_docstrings_give_what_they_say(on_ludus):
    passed, failed = json.loads(on_ludus(JUDGE, ROOT, flags=()))
    assert set(failed) - WITHOUT_THE_ENVIRONMENT - OTHER_WORDS - OTHERWISE == set()
    assert len(passed) >= 45
