"""Every way to tell a better story than what happened is found, and the file that is honest is confirmed."""

import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest

from ludus.core import Env, Outcome, Step
from ludus.evaluate import Agent, ResultFile, derived_seeds, evaluate, read_evaluation, verify
from ludus.spaces import Box, Dict, Discrete, Record
from ludus.wrappers import ClipReward
from tests.evaluate.forgery import Forgery


@dataclass
class Bid:
    word: str
    coins: int = 1


class Auction(Env):
    """A stranger's: typed bids, odd names, an outcome, and arrays of 12 bytes that fill no word."""

    observation_space = Dict({"größe": Box(-9, 9, (3,), np.float32), "left": Discrete(9)})
    action_space = Record(Bid)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.left = int(self.np_random.integers(2, 7))
        return self._seen(), {}

    def _seen(self):
        return {"größe": self.np_random.normal(size=3).clip(-9, 9).astype(np.float32), "left": self.left}

    def step(self, action):
        self.left -= 1
        over = self.left == 0
        won = over and action.coins > 1
        info = {"outcome": "success" if won else "failure"} if over else {}
        return Step(self._seen(), float(won) + 0.1, over, False, info)


class Bidder(Agent):
    """Bids by what it sees."""

    def act(self, observation, info, lane):
        return Bid("mine", 1 + int(observation["größe"][0] > 0))


@pytest.fixture
def path(tmp_path):
    return tmp_path / "result.ludus"


@cache
def played(env, agent, episodes, level):
    with TemporaryDirectory() as folder:
        file = Path(folder) / "result.ludus"
        evaluate(env, agent, episodes=episodes, out=ResultFile(file, level))
        return file.read_bytes()


def honest(env, episodes, path, agent="random", level="seeds"):
    """An honest result, played once and written for each test."""
    path.write_bytes(played(env, agent, episodes, level))
    return path


@pytest.fixture
def lake(path):
    """A result of FrozenLake, whose episodes end in unlike ways, with rewards."""
    return honest("FrozenLake-v1", 8, path, level="steps")


@pytest.fixture
def pole(path):
    return honest("CartPole-v1", 6, path)


@pytest.fixture
def auction(path):
    return honest(Auction, 6, path, Bidder)


def findings(path, *arguments, **options):
    found = verify(path, *arguments, **options)
    assert not found
    return [str(one) for one in found.findings]


def first(path, *arguments, **options):
    return findings(path, *arguments, **options)[0]


# --- honest results ---


@pytest.mark.parametrize("executor", [None, "serial", "process"])
def test_an_honest_result_is_confirmed_in_every_executor(pole, executor):
    found = verify(pole, executor=executor)
    assert found, str(found)
    assert found.episodes == 6
    assert found.steps == sum(one.length for one in read_evaluation(pole).episodes)


def test_a_strangers_environment_is_confirmed_from_its_own_class_and_agent(auction):
    found = verify(auction, Auction, agent=Bidder, num_envs=4)
    assert found, str(found)


def test_a_copy_that_changes_nothing_is_confirmed(lake, tmp_path):
    assert verify(Forgery(lake).save(tmp_path / "copy.ludus"))


def test_chosen_seeds_are_allowed_and_marked(path):
    found = evaluate("CartPole-v1", "random", seed=[5, 9, 11], out=path)
    assert found.marks == ("seeds chosen by hand",)
    checked = verify(path)
    assert checked
    assert checked.notes == ("seeds chosen by hand",)


def test_another_seed_is_a_note(path):
    evaluate("CartPole-v1", "random", episodes=2, seed=4, out=path)
    assert verify(path).notes == ("seed 4",)


# --- what happened ---


def test_an_edited_reward_is_found(lake):
    forged = Forgery(lake)
    row = forged.rows(2).start + 2
    forged.column("steps/reward")[row] = 1.0
    assert first(forged.save(lake)).startswith("episode 2, step 2: reward: recorded")


def test_an_edited_return_is_found(pole):
    forged = Forgery(pole)
    forged.column("episodes/return")[3] += 1
    forged.claims["mean"] += 1 / 6
    assert first(forged.save(pole)).startswith("episode 3, step ")
    assert ": return: recorded" in first(pole)


def test_an_edited_action_is_found(pole):
    forged = Forgery(pole)
    actions = forged.column("steps/action")
    row = forged.rows(1).start + 4
    actions[row] = 1 - actions[row]
    assert first(forged.save(pole)).startswith("episode 1, step 4: ")
    forged.declaration["agent"] = "somebody's"
    assert first(forged.save(pole)).startswith("episode 1, step 4: observation: recorded")


def test_an_edited_action_of_a_strangers_is_found(auction):
    forged = Forgery(auction)
    last = forged.rows(0).stop - 1
    name = next(iter(forged.objects))
    bid = dict(forged.objects[name][last][0])
    bid["coins"] = 3 - bid["coins"]
    forged.objects[name][last] = [bid]
    found = first(forged.save(auction), Auction)
    assert found.startswith(f"episode 0, step {last}: ")
    assert ": return: " in found or ": outcome: " in found


def test_an_edited_length_is_found(pole):
    forged = Forgery(pole)
    forged.column("episodes/length")[2] -= 1
    forged.column("episodes/end")[2] -= 1
    assert "episode 2" in first(forged.save(pole))


def test_an_episode_cut_before_its_end_is_found(pole):
    forged = Forgery(pole)
    rows = forged.rows(5)
    for name in [one for one in forged.arrays if one.startswith("steps/")]:
        forged.arrays[name] = forged.arrays[name][: rows.stop - 2]
    for name in ("length", "end", "return"):
        forged.column(f"episodes/{name}")[5] -= 2
    forged.digests = [(len(forged.arrays["steps/op"]), "0" * 32)]
    assert first(forged.save(pole)).startswith("episode 5, step ")
    assert ": terminated: recorded True, executed again False" in first(pole)


def test_an_edited_end_is_found(pole):
    forged = Forgery(pole)
    forged.column("episodes/terminated")[0] = False
    forged.column("episodes/truncated")[0] = True
    assert ": terminated: recorded False, executed again True" in first(forged.save(pole))


def test_an_edited_outcome_is_found(auction):
    forged = Forgery(auction)
    codes = forged.column("episodes/outcome")
    lost = int(np.flatnonzero(codes == Outcome.FAILURE.code)[0])
    codes[lost] = Outcome.SUCCESS.code
    found = first(forged.save(auction), Auction)
    assert found.startswith(f"episode {lost}, step ")
    assert "outcome: recorded 'success', executed again 'failure'" in found


def test_a_bad_episode_that_is_called_a_failure_of_the_environment_is_found(pole):
    forged = Forgery(pole)
    forged.arrays["episodes/outcome"] = np.zeros(6, np.uint8)
    forged.arrays["episodes/outcome"][4] = Outcome.ENVIRONMENT_FAILED.code
    assert first(forged.save(pole)).startswith("episode 4, step ")


def test_what_is_no_number_is_found(pole):
    forged = Forgery(pole)
    forged.column("episodes/return")[1] = np.nan
    assert first(forged.save(pole)) == "episode 1: return: expected a finite number, got nan"


def test_edited_digests_are_found(pole):
    forged = Forgery(pole)
    forged.column("steps/seen")[forged.rows(0).start] ^= 1
    assert first(forged.save(pole)).startswith("episode 0, step 0: observation: recorded 'digest")
    forged = Forgery(pole)
    forged.column("steps/seen")[forged.rows(0).start] ^= 1
    forged.digests = [(forged.digests[0][0], "ab" * 16)]
    assert "observation" in findings(forged.save(pole))[-1]


# --- which episodes ---


def declared(path, seeds, **changes):
    """A result of chosen seeds, executed honestly, that says they were derived."""
    evaluate("CartPole-v1", lambda seen: 0, seed=[int(one) for one in seeds], out=path)
    forged = Forgery(path)
    forged.declaration.update({"seeds": "derived", **changes})
    return forged.save(path)


def test_a_dropped_episode_is_found(path):
    seeds = np.delete(derived_seeds("CartPole-v1", 0, 0, 6), 2)
    found = findings(declared(path, seeds, episodes=6))
    assert found[0] == "episodes: expected all 6 that are declared, got 5"
    assert found[1].startswith("episode 2: seed: expected ")
    assert found[1].endswith("of episode 3")


def test_episodes_picked_out_of_a_larger_range_are_found(path):
    seeds = derived_seeds("CartPole-v1", 0, 0, 20)[[0, 3, 7, 12]]
    assert first(declared(path, seeds)).endswith("of episode 3")


def test_seeds_that_are_not_the_derived_ones_are_found(path):
    assert first(declared(path, [1, 2, 3])).endswith("got 1, of no episode of this evaluation")


def test_seeds_of_another_evaluation_are_found(path):
    seeds = derived_seeds("CartPole-v1", 1, 0, 3)
    assert "of no episode of this evaluation" in first(declared(path, seeds))


def test_swapped_episodes_are_found(path):
    seeds = derived_seeds("CartPole-v1", 0, 0, 4)[[0, 2, 1, 3]]
    assert first(declared(path, seeds)).startswith("episode 1: seed: ")


def test_an_episode_that_is_there_twice_is_found(path):
    seeds = derived_seeds("CartPole-v1", 0, 0, 4)[[0, 1, 1, 3]]
    assert first(declared(path, seeds)).endswith("of episode 1, which is there already as episode 1")
    path.unlink()
    evaluate("CartPole-v1", lambda seen: 0, seed=[3, 3], out=path)
    assert first(path) == "seed: expected each seed once, got some again"


def test_seeds_changed_in_the_file_alone_are_found(pole):
    forged = Forgery(pole)
    forged.resets[1].seed = 12
    found = findings(forged.save(pole))
    assert found[0].startswith("episode 1: seed: ")
    assert any(one.startswith("episode 1, step 0: observation") for one in found)


def test_a_declaration_that_is_gone_is_found(pole):
    forged = Forgery(pole)
    forged.header["metadata"] = {}
    assert "expected the result of an evaluation, got a run that declares none" in first(forged.save(pole))


# --- what was evaluated ---


def test_a_swapped_environment_is_found(pole, tmp_path):
    other = tmp_path / "other.ludus"
    evaluate("MountainCar-v0", "random", episodes=6, max_steps=20, out=other)
    forged = Forgery(pole)
    forged.header["spec"] = Forgery(other).header["spec"]
    assert first(forged.save(pole)).startswith("environment: expected 'CartPole-v1', as is declared, got the spec of")
    forged.spec["id"] = "CartPole-v1"
    assert first(forged.save(pole)).startswith("environment: expected 'CartPole-v1' to be ludus.envs.classic.cartpole")


def test_changed_parameters_are_found(lake):
    forged = Forgery(lake)
    forged.spec["kwargs"] = {"map_name": "4x4", "is_slippery": False}
    assert first(forged.save(lake)).startswith("episode 0, step ")


def test_a_wrapper_that_was_removed_is_found(path):
    evaluate("CartPole-v1", "random", episodes=3, out=path, wrappers=[ClipReward.using(max_reward=0.5)])
    assert verify(path)
    forged = Forgery(path)
    assert forged.spec.pop("additional_wrappers")
    assert any(": return: recorded" in one for one in findings(forged.save(path)))


def test_a_version_that_is_lied_about_is_found(pole):
    forged = Forgery(pole)
    forged.header["versions"]["ludus"] = "9.9.9"
    assert first(forged.save(pole)).startswith("version: expected a result of Ludus ")


def test_other_rules_are_found(pole):
    forged = Forgery(pole)
    forged.header["rules"] = "00" * 16
    assert first(forged.save(pole)).startswith("rules: expected source files with the hash 000000000000…, got ")


def test_a_suite_that_is_lied_about_is_found(pole):
    forged = Forgery(pole)
    forged.declaration.update(suite="classic", suite_version=1)
    found = findings(forged.save(pole))
    assert any(one == "suite: classic: episodes: expected 100, got 6" for one in found)
    assert any(": seed: expected" in one for one in found)
    forged.declaration.update(suite="classics")
    assert any(one.startswith("suite: expected classic") for one in findings(forged.save(pole)))


def test_another_agent_or_another_seed_of_it_is_found(pole, tmp_path):
    forged = Forgery(pole)
    forged.declaration["agent"] = "nop"
    assert ": action: recorded" in first(forged.save(pole))
    other = tmp_path / "other.ludus"
    seeds = [int(one) for one in derived_seeds("CartPole-v1", 0, 0, 4)]

    class Lucky(Agent):
        def act(self, observation, info, lane):
            return int(observation[2] > 0)

    evaluate("CartPole-v1", Lucky, seed=seeds, out=other)
    forged = Forgery(other)
    forged.declaration.update(seeds="derived", agent="random")
    assert ": action: recorded" in first(forged.save(other))


# --- the file ---


def test_edited_statistics_are_found(pole):
    forged = Forgery(pole)
    mean = forged.claims["mean"]
    forged.claims["mean"] = 500.0
    assert first(forged.save(pole)) == f"statistics: mean: expected {mean}, as its episodes come to, got 500.0"


def test_masked_episodes_that_are_not_counted_are_found(pole):
    forged = Forgery(pole)
    forged.claims["masked"] = 3
    assert first(forged.save(pole)) == "statistics: masked: expected 0, as its episodes come to, got 3"


def test_a_digest_that_was_not_made_again_is_found(pole):
    forged = Forgery(pole)
    forged.declaration["agent"] = "somebody better"
    assert first(forged.save(pole, right_digest=False)).startswith("digest: result.json: expected that of the file")


def test_a_truncated_file_is_found(pole):
    data = pole.read_bytes()
    pole.write_bytes(data[: len(data) * 2 // 3])
    assert first(pole).startswith("file: ")


@pytest.mark.parametrize("data", [b"", b"PK\x03\x04", b"x" * 1000])
def test_what_is_no_file_of_ours_is_told(path, data):
    path.write_bytes(data)
    assert first(path).startswith("file: ")


def test_a_signature_over_another_file_is_found(pole, tmp_path):
    serialization = pytest.importorskip("cryptography.hazmat.primitives.serialization")
    ed25519 = pytest.importorskip("cryptography.hazmat.primitives.asymmetric.ed25519")
    private = ed25519.Ed25519PrivateKey.generate()
    key = tmp_path / "key.pem"
    form = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    key.write_bytes(private.private_bytes(*form))
    signed = tmp_path / "signed.ludus"
    evaluate("CartPole-v1", "random", episodes=2, out=ResultFile(signed, key=key))
    public = private.public_key().public_bytes_raw().hex()
    found = verify(signed, signed_by=public)
    assert found, str(found)
    assert f"signed by {public}" in found.notes
    assert first(pole, signed_by=public) == f"signature: expected one by {public[:12]}…, got none"
    forged = Forgery(pole)
    forged.signature = Forgery(signed).signature
    assert first(forged.save(pole)) == "signature: it was made over another file, or by another key"
    assert first(signed, signed_by="00" * 32).startswith("signature: expected 000000000000…, got ")


def test_nothing_that_a_file_names_is_imported(pole, tmp_path, monkeypatch):
    (tmp_path / "evil_module.py").write_text("raise SystemExit('imported')\n")
    monkeypatch.syspath_prepend(tmp_path)
    forged = Forgery(pole)
    forged.spec["entry_point"] = "evil_module:Env"
    assert "which is not imported" in first(forged.save(pole))
    forged.spec["id"] = forged.declaration["id"] = "Unheard-v0"
    assert any("which is not imported" in one for one in findings(forged.save(pole)))
    forged = Forgery(honest("CartPole-v1", 6, pole))
    forged.spec["additional_wrappers"] = [{"name": "W", "entry_point": "evil_module:W", "kwargs": {}}]
    assert "which is not imported" in first(forged.save(pole))
    assert "evil_module" not in sys.modules


@pytest.mark.parametrize(
    "change",
    [
        {"additional_wrappers": [{"name": "W", "entry_point": "named_only:Wrapper", "kwargs": {}}]},
        {"additional_wrappers": [{"name": "V", "entry_point": "ludus.wrappers:RecordVideo", "kwargs": {}}]},
        {"kwargs": {"map": "/etc/passwd"}},
    ],
)
def test_nothing_that_a_file_names_beside_a_given_environment_is_imported(pole, tmp_path, monkeypatch, change):
    """Wrappers of the file were put around the environment that somebody named themselves."""
    (tmp_path / "named_only.py").write_text("raise SystemExit('imported')")
    monkeypatch.syspath_prepend(str(tmp_path))
    forged = Forgery(pole)
    forged.spec.update(change)
    found = findings(forged.save(pole), "CartPole-v1")
    assert any("beside it by the file's own word" in one for one in found)
    assert "named_only" not in sys.modules
