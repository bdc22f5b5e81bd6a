"""What rules know is not what an agent may know."""

import ludus


def test_the_state_of_rules_is_private_as_a_whole():
    with ludus.make("Blackjack-v1") as env:
        env.reset(seed=0)
        assert env.state_data() == {}
        assert env.state_data(private=True)["dealer_total"] == env.unwrapped.state.dealer_total
