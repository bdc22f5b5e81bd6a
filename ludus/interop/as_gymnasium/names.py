"""The names of Gymnasium 1.4 and what they lead to in Ludus: for each module, groups of a Ludus module and its names.

`Shown=Name` shows a name of Ludus under another. A name whose target does not exist (yet) is missing, with a message.
"""

__all__ = ["ABSENT", "MIRRORS", "MODULES", "RENAMED", "VERSION"]

VERSION = "1.4.0"
"""The release whose programming interface this is."""

HERE = __name__.rpartition(".")[0]
CORE = "Env Wrapper ObservationWrapper ActionWrapper RewardWrapper"
SPACES = "Box Dict Discrete Graph GraphInstance MultiBinary MultiDiscrete OneOf Sequence Space Text Tuple"
FLAT = "flatdim flatten flatten_space unflatten is_space_dtype_shape_equiv"
BATCHES = "batch_space batch_differing_spaces iterate concatenate create_empty_array"
SHARED = "create_shared_memory read_from_shared_memory write_to_shared_memory"
COMMON = "TimeLimit Autoreset PassiveEnvChecker OrderEnforcing RecordEpisodeStatistics"
DRAWN = "RenderCollection RecordVideo HumanRendering AddWhiteNoise ObstructView"
STATEFUL = "DelayObservation TimeAwareObservation FrameStackObservation NormalizeObservation MaxAndSkipObservation"
ACTIONS = "TransformAction ClipAction RescaleAction DiscretizeAction"
OBSERVATIONS = (
    "TransformObservation FilterObservation FlattenObservation GrayscaleObservation ResizeObservation "
    "ReshapeObservation RescaleObservation DtypeObservation AddRenderObservation DiscretizeObservation"
)
CONVERSIONS = "ArrayConversion JaxToNumpy JaxToTorch NumpyToTorch"
BATCH_WRAPPERS = (
    "DictInfoToList FilterObservation FlattenObservation GrayscaleObservation ResizeObservation ReshapeObservation "
    "RescaleObservation DtypeObservation NormalizeObservation ClipAction RescaleAction ClipReward NormalizeReward "
    "RecordEpisodeStatistics RecordVideo HumanRendering"
)
VECTORIZED = "VectorizeTransformObservation VectorizeTransformAction VectorizeTransformReward"
TRANSFORMS = "TransformObservation TransformAction TransformReward"
VECTORS = "VectorEnv VectorWrapper VectorObservationWrapper VectorActionWrapper VectorRewardWrapper"
REGISTRY = "make make_vec spec register registry VectorizeMode pprint_registry register_envs"
CLASSIC = (
    "AcrobotEnv=Acrobot CartPoleEnv=CartPole Continuous_MountainCarEnv=MountainCarContinuous "
    "MountainCarEnv=MountainCar PendulumEnv=Pendulum"
)
TOY_TEXT = (
    "BlackjackEnv=Blackjack CliffWalkingEnv=CliffWalking FrozenLakeEnv=FrozenLake TaxiEnv=Taxi generate_random_map"
)
ERRORS = (
    "Error=LudusError UnregisteredEnv=UnknownEnvironment NamespaceNotFound NameNotFound VersionNotFound "
    "RegistrationError DependencyNotInstalled=MissingExtra UnsupportedMode=RenderError ResetNeeded InvalidAction "
    "InvalidProbability=InvalidArgument InvalidBound=InvalidArgument ClosedEnvironmentError=ClosedEnvironment "
    "CustomSpaceError=InvalidSpace"
)
OWN_ERRORS = "DeprecatedEnv InvalidMetadata MissingArgument DeprecatedWrapper AlreadyPendingCallError NoAsyncCallError"

MODULES: dict[str, tuple[tuple[str, str], ...]] = {
    "": (("ludus.core", CORE), ("ludus.spaces", "Space"), (f"{HERE}.registration", REGISTRY)),
    "core": (
        ("ludus.core", CORE),
        ("ludus.spaces", "Space"),
        (f"{HERE}.annotations", "ActType ObsType RenderFrame WrapperActType WrapperObsType"),
    ),
    "error": (("ludus.errors", ERRORS), (f"{HERE}.failures", OWN_ERRORS)),
    "spaces": (
        ("ludus.spaces", SPACES),
        (f"{HERE}.space_functions", FLAT),
    ),
    "spaces.box": (("ludus.spaces", "Box"),),
    "spaces.dict": (("ludus.spaces", "Dict"),),
    "spaces.discrete": (("ludus.spaces", "Discrete"),),
    "spaces.graph": (("ludus.spaces", "Graph GraphInstance"),),
    "spaces.multi_binary": (("ludus.spaces", "MultiBinary"),),
    "spaces.multi_discrete": (("ludus.spaces", "MultiDiscrete"),),
    "spaces.oneof": (("ludus.spaces", "OneOf"),),
    "spaces.sequence": (("ludus.spaces", "Sequence"),),
    "spaces.space": (("ludus.spaces", "Space"), (f"{HERE}.annotations", "MaskNDArray T_cov")),
    "spaces.text": (("ludus.spaces.text", "Text alphanumeric"),),
    "spaces.tuple": (("ludus.spaces", "Tuple"),),
    "spaces.utils": (
        ("ludus.spaces", SPACES),
        (f"{HERE}.space_functions", FLAT),
        (f"{HERE}.annotations", "FlatType T"),
    ),
    "vector": (
        ("ludus.core", "AutoresetMode"),
        (f"{HERE}.vectors", VECTORS),
        (f"{HERE}.executors", "SyncVectorEnv AsyncVectorEnv"),
    ),
    "vector.vector_env": (
        ("ludus.core", "AutoresetMode"),
        (f"{HERE}.vectors", VECTORS),
        (f"{HERE}.annotations", "ArrayType"),
    ),
    "vector.sync_vector_env": ((f"{HERE}.executors", "SyncVectorEnv"),),
    "vector.async_vector_env": ((f"{HERE}.executors", "AsyncVectorEnv AsyncState"),),
    "vector.utils": (
        (f"{HERE}.space_functions", f"{BATCHES} {SHARED}"),
        (f"{HERE}.pickles", "CloudpickleWrapper clear_mpi_env_vars"),
    ),
    "vector.utils.misc": ((f"{HERE}.pickles", "CloudpickleWrapper clear_mpi_env_vars"),),
    "vector.utils.shared_memory": ((f"{HERE}.space_functions", SHARED),),
    "vector.utils.space_utils": ((f"{HERE}.space_functions", BATCHES),),
    "wrappers": (
        (
            "ludus.wrappers",
            f"{OBSERVATIONS} {STATEFUL} {ACTIONS} StickyAction RepeatAction ClipReward TransformReward NormalizeReward "
            f"{COMMON} {DRAWN}",
        ),
        ("ludus.wrappers.atari", "AtariPreprocessing"),
        ("ludus.wrappers.conversion", CONVERSIONS),
    ),
    "wrappers.atari_preprocessing": (("ludus.wrappers.atari", "AtariPreprocessing"),),
    "wrappers.common": (("ludus.wrappers", COMMON),),
    "wrappers.rendering": (("ludus.wrappers", DRAWN),),
    "wrappers.stateful_action": (("ludus.wrappers", "StickyAction RepeatAction"),),
    "wrappers.stateful_observation": (("ludus.wrappers", STATEFUL),),
    "wrappers.stateful_reward": (("ludus.wrappers", "NormalizeReward"),),
    "wrappers.transform_action": (("ludus.wrappers", ACTIONS),),
    "wrappers.transform_observation": (("ludus.wrappers", OBSERVATIONS),),
    "wrappers.transform_reward": (("ludus.wrappers", "TransformReward ClipReward"),),
    "wrappers.array_conversion": (("ludus.wrappers.conversion", "ArrayConversion array_conversion module_namespace"),),
    "wrappers.jax_to_numpy": (
        ("ludus.wrappers.conversion", "JaxToNumpy"),
        (f"{HERE}.conversions", "jax_to_numpy numpy_to_jax"),
    ),
    "wrappers.jax_to_torch": (
        ("ludus.wrappers.conversion", "JaxToTorch"),
        (f"{HERE}.conversions", "jax_to_torch torch_to_jax"),
    ),
    "wrappers.numpy_to_torch": (
        ("ludus.wrappers.conversion", "NumpyToTorch"),
        (f"{HERE}.conversions", "numpy_to_torch torch_to_numpy"),
    ),
    "wrappers.utils": (
        ("ludus.wrappers", "RunningMeanStd"),
        (f"{HERE}.space_functions", "create_zero_array rescale_box"),
    ),
    "wrappers.vector": (
        ("ludus.wrappers", BATCH_WRAPPERS),
        ("ludus.wrappers.conversion", CONVERSIONS),
        ("ludus.wrappers.vectorize", VECTORIZED),
        (f"{HERE}.vector_wrappers", TRANSFORMS),
    ),
    "wrappers.vector.array_conversion": (("ludus.wrappers.conversion", "ArrayConversion"),),
    "wrappers.vector.common": (("ludus.wrappers", "RecordEpisodeStatistics"),),
    "wrappers.vector.dict_info_to_list": (("ludus.wrappers", "DictInfoToList"),),
    "wrappers.vector.jax_to_numpy": (("ludus.wrappers.conversion", "JaxToNumpy"),),
    "wrappers.vector.jax_to_torch": (("ludus.wrappers.conversion", "JaxToTorch"),),
    "wrappers.vector.numpy_to_torch": (("ludus.wrappers.conversion", "NumpyToTorch"),),
    "wrappers.vector.rendering": (("ludus.wrappers", "HumanRendering RecordVideo"),),
    "wrappers.vector.stateful_observation": (("ludus.wrappers", "NormalizeObservation"),),
    "wrappers.vector.stateful_reward": (("ludus.wrappers", "NormalizeReward"),),
    "wrappers.vector.vectorize_action": (
        ("ludus.wrappers", "ClipAction RescaleAction"),
        ("ludus.wrappers.vectorize", "VectorizeTransformAction"),
        (f"{HERE}.vector_wrappers", "TransformAction"),
    ),
    "wrappers.vector.vectorize_observation": (
        (
            "ludus.wrappers",
            "FilterObservation FlattenObservation GrayscaleObservation ResizeObservation ReshapeObservation "
            "RescaleObservation DtypeObservation",
        ),
        ("ludus.wrappers.vectorize", "VectorizeTransformObservation"),
        (f"{HERE}.vector_wrappers", "TransformObservation"),
    ),
    "wrappers.vector.vectorize_reward": (
        ("ludus.wrappers", "ClipReward"),
        ("ludus.wrappers.vectorize", "VectorizeTransformReward"),
        (f"{HERE}.vector_wrappers", "TransformReward"),
    ),
    "envs": ((f"{HERE}.registration", "make spec register registry pprint_registry"),),
    "envs.registration": (
        (
            f"{HERE}.registration",
            f"{REGISTRY} namespace parse_env_id get_env_id find_highest_version load_env_creator current_namespace",
        ),
        ("ludus.core", "EnvSpec WrapperSpec Env Wrapper"),
        (f"{HERE}.annotations", "EnvCreator VectorEnvCreator"),
    ),
    "envs.classic_control": (("ludus.envs.classic", CLASSIC),),
    "envs.classic_control.acrobot": (("ludus.envs.classic", "AcrobotEnv=Acrobot"),),
    "envs.classic_control.cartpole": (("ludus.envs.classic", "CartPoleEnv=CartPole"),),
    "envs.classic_control.continuous_mountain_car": (
        ("ludus.envs.classic", "Continuous_MountainCarEnv=MountainCarContinuous"),
    ),
    "envs.classic_control.mountain_car": (("ludus.envs.classic", "MountainCarEnv=MountainCar"),),
    "envs.classic_control.pendulum": (("ludus.envs.classic", "PendulumEnv=Pendulum"),),
    "envs.toy_text": (("ludus.envs.toy_text", TOY_TEXT),),
    "envs.toy_text.blackjack": (("ludus.envs.toy_text", "BlackjackEnv=Blackjack"),),
    "envs.toy_text.cliffwalking": (("ludus.envs.toy_text", "CliffWalkingEnv=CliffWalking"),),
    "envs.toy_text.frozen_lake": (
        ("ludus.envs.toy_text", "FrozenLakeEnv=FrozenLake"),
        ("ludus.envs.toy_text.frozen_lake_map", "MAPS generate_random_map"),
    ),
    "envs.toy_text.taxi": (("ludus.envs.toy_text", "TaxiEnv=Taxi"),),
    "utils": (
        (f"{HERE}.messages", "colorize"),
        (f"{HERE}.pickles", "EzPickle RecordConstructorArgs"),
    ),
    "utils.colorize": ((f"{HERE}.messages", "colorize color2num"),),
    "utils.ezpickle": ((f"{HERE}.pickles", "EzPickle"),),
    "utils.record_constructor": ((f"{HERE}.pickles", "RecordConstructorArgs"),),
    "utils.seeding": ((f"{HERE}.annotations", "np_random RNG RandomNumberGenerator"),),
    "utils.env_checker": (
        (
            f"{HERE}.checks",
            "check_env data_equivalence check_reset_seed_determinism check_reset_options check_step_determinism "
            "check_returned_data_not_reused check_reset_return_type",
        ),
    ),
    "utils.env_match": ((f"{HERE}.checks", "check_environments_match"),),
    "utils.passive_env_checker": (
        (
            f"{HERE}.passive_checks",
            "check_space check_observation_space check_action_space check_obs env_reset_passive_checker "
            "env_step_passive_checker env_render_passive_checker",
        ),
    ),
    "utils.performance": (
        (f"{HERE}.throughput", "benchmark_step benchmark_vector_step benchmark_init benchmark_render"),
    ),
    "utils.step_api_compatibility": (
        (
            f"{HERE}.old_steps",
            "convert_to_terminated_truncated_step_api convert_to_done_step_api step_api_compatibility",
        ),
        (f"{HERE}.annotations", "DoneStepType TerminatedTruncatedStepType"),
    ),
    "utils.save_video": ((f"{HERE}.playback", "save_video capped_cubic_video_schedule"),),
    "utils.play": ((f"{HERE}.playback", "play"),),
    "experimental": (),
    "experimental.functional": (
        (
            f"{HERE}.functional",
            "FuncEnv StateType ActType ObsType RewardType TerminalType RenderStateType Params",
        ),
    ),
}

MIRRORS = {"logger": f"{HERE}.messages"}
"""Modules that are shown as they are, because programs set their variables."""

RENAMED = {
    "wrappers.AutoResetWrapper": "wrappers.Autoreset",
    "wrappers.FrameStack": "wrappers.FrameStackObservation",
    "wrappers.PixelObservationWrapper": "wrappers.AddRenderObservation",
    "wrappers.VectorListInfo": "wrappers.vector.DictInfoToList",
}
"""Names that Gymnasium gave up, and those it gave instead."""

ABSENT = {
    "utils.play.PlayableGame": "games are played by play(), with a callback to follow them",
    "utils.play.PlayPlot": "games are played by play(), with a callback to follow them",
    "envs.mujoco": "Ludus has no MuJoCo environments yet",
    "envs.box2d": "Ludus has no Box2D environments yet",
    "envs.phys2d": "Ludus compiles its rules with Numba and has none in JAX",
    "envs.tabular": "Ludus compiles its rules with Numba and has none in JAX",
    "envs.functional_jax_env": "Ludus compiles its rules with Numba and has none in JAX",
    "envs.classic_control.CartPoleVectorEnv": "a batch of any environment is made by make_vec",
    "envs.classic_control.cartpole.CartPoleVectorEnv": "a batch of any environment is made by make_vec",
}
"""Why some names are missing."""
