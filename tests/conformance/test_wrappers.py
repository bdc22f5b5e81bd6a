"""Wrappers around a batch, wherever its lanes run: lane by lane what they do around one environment in process."""

from ludus import wrappers as w
from ludus.core import AutoresetMode
from ludus.wrappers.atari import AtariPreprocessing
from tests.conformance.histories import SEED, assert_same, batch_history
from tests.conformance.laws import law
from tests.conformance.places import LANES, REFERENCE
from tests.wrappers.equivalence import Lane, Trial, drive

MODES = tuple(AutoresetMode)
NOT_IN_THE_SAME_STEP = (AutoresetMode.NEXT_STEP, AutoresetMode.DISABLED)
BOTH = ("arrays", "pydantic")


def check_wrapper(wrapper, place, kind, mode, **kwargs):
    """The shared batch of a place in a wrapper, beside wrapped single environments; it is not closed."""
    trial = Trial(mode, lanes=LANES, steps=25, resets={5: [1], 12: [0, 3]})
    source = REFERENCE if place.same_classes else place
    lanes = [Lane(wrapper(source.own(kind, **kwargs)), number, trial) for number in range(LANES)]
    batch = wrapper(place.batch(kind, mode, **kwargs))
    try:
        assert batch.single_observation_space == lanes[0].env.observation_space
        drive(batch, lanes, trial)
    finally:
        for lane in lanes:
            lane.env.close()


@law("TimeLimit around a batch", batch=True, kinds=BOTH, modes=MODES)
def test_time_limit(place, kind, mode):
    check_wrapper(w.TimeLimit.using(3), place, kind, mode)


@law("StickyAction around a batch", batch=True, kinds=BOTH, modes=MODES)
def test_sticky_action(place, kind, mode):
    check_wrapper(w.StickyAction.using(0.4, (1, 3)), place, kind, mode)


@law("RepeatAction around a batch", batch=True, kinds=BOTH, modes=MODES)
def test_repeat_action(place, kind, mode):
    check_wrapper(w.RepeatAction.using(3), place, kind, mode)


@law("MaxAndSkipObservation around a batch", batch=True, kinds=("arrays",), modes=MODES)
def test_max_and_skip(place, kind, mode):
    check_wrapper(w.MaxAndSkipObservation.using(3), place, kind, mode)


@law("AddRenderObservation around a batch", batch=True, kinds=("arrays",), modes=NOT_IN_THE_SAME_STEP)
def test_add_render_observation(place, kind, mode):
    check_wrapper(w.AddRenderObservation.using(render_only=False), place, kind, mode, render_mode="rgb_array")


@law("AtariPreprocessing around a batch", batch=True, kinds=("screens",), modes=MODES)
def test_atari_preprocessing(place, kind, mode):
    wrapper = AtariPreprocessing.using(noop_max=3, frame_skip=2, screen_size=(10, 12), terminal_on_life_loss=True)
    check_wrapper(wrapper, place, kind, mode)


@law("RecordEpisodeStatistics around a batch", batch=True, kinds=BOTH, modes=MODES)
def test_record_episode_statistics(place, kind, mode):
    check_wrapper(w.RecordEpisodeStatistics.using(), place, kind, mode)


@law("FrameStackObservation around a batch", batch=True, kinds=("arrays",), modes=MODES)
def test_frame_stack(place, kind, mode):
    check_wrapper(w.FrameStackObservation.using(3), place, kind, mode)


@law("ClipReward around a batch", batch=True, kinds=BOTH, modes=MODES)
def test_clip_reward(place, kind, mode):
    check_wrapper(w.ClipReward.using(-0.5, 0.5), place, kind, mode)


@law("NormalizeObservation around a batch, as around one in process", batch=True, kinds=("arrays",), modes=MODES)
def test_normalize_observation(place, kind, mode):
    """Its statistics are of all lanes, so that a batch is compared with a batch."""
    found = batch_history(w.NormalizeObservation(place.batch(kind, mode)), kind, seed=SEED)
    assert_same(place, found, batch_history(w.NormalizeObservation(REFERENCE.batch(kind, mode)), kind, seed=SEED))
