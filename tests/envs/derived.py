"""Subclasses as programs write them, each as a function of the class that it derives from."""

import math

import numpy as np


def rewarded_step(base):
    class Shaped(base):
        def step(self, action):
            observation, reward, terminated, truncated, info = super().step(action)
            position = self.state[0]
            return observation, reward - abs(position), terminated, truncated, {**info, "at": float(position)}

    return Shaped


def own_reset(base):
    class Centred(base):
        def reset(self, *, seed=None, options=None):
            super().reset(seed=seed)
            self.state = self.np_random.uniform(-0.01, 0.01, size=len(self.state))
            self.steps_beyond_terminated = None
            return np.array(self.state, dtype=np.float32), {}

    return Centred


def nudged_in_place(base):
    class Windy(base):
        def step(self, action):
            self.state[0] += 0.01
            return super().step(action)

    return Windy


def other_parameters(base):
    class Heavy(base):
        def __init__(self):
            super().__init__()
            self.gravity = 3
            self.masspole = 0.3
            self.length = 0.8
            self.theta_threshold_radians = 0.1
            self.kinematics_integrator = "semi-implicit"

    return Heavy


def whole_step(base):
    """CartPole's step written out, as many programs have it, with friction added."""

    class Friction(base):
        def step(self, action):
            x, x_dot, theta, theta_dot = self.state
            force = self.force_mag if action == 1 else -self.force_mag
            cos, sin = np.cos(theta), np.sin(theta)
            temp = (force - 0.1 * x_dot + self.polemass_length * theta_dot**2 * sin) / self.total_mass
            turn = (self.gravity * sin - cos * temp) / (
                self.length * (4.0 / 3.0 - self.masspole * cos**2 / self.total_mass)
            )
            push = temp - self.polemass_length * turn * cos / self.total_mass
            self.state = np.array(
                (
                    x + self.tau * x_dot,
                    x_dot + self.tau * push,
                    theta + self.tau * theta_dot,
                    theta_dot + self.tau * turn,
                )
            )
            over = bool(abs(self.state[0]) > self.x_threshold or abs(self.state[2]) > self.theta_threshold_radians)
            reward = 0.0 if self._sutton_barto_reward else 1.0
            return np.array(self.state, dtype=np.float32), reward, over, False, {}

    return Friction


def sixth_number(base):
    class Counted(base):
        def reset(self, *, seed=None, options=None):
            super().reset(seed=seed)
            self.state = np.append(self.state, [0.0, 1.0])
            return self.state.astype(np.float32), {}

        def step(self, action):
            self.state = self.state + (action - 0.5) * self.tau
            return self.state.astype(np.float32), 1.0, bool(self.state[4] > 0.1), False, {}

    return Counted


def own_observation(base):
    class Noisy(base):
        def _get_obs(self):
            theta, speed = self.state
            return np.array([theta, speed, self.g, self.max_speed], dtype=np.float64)

    return Noisy


def called_observation(base):
    class Held(base):
        def step(self, u):
            angle, speed = self.state
            self.last_u = np.clip(u, -self.max_torque, self.max_torque)[0]
            self.state = np.array([angle + speed * self.dt, speed * 0.99])
            return self._get_obs(), -abs(angle), False, False, {}

    return Held


def doubled_observation(base):
    class Doubled(base):
        def _get_obs(self):
            return super()._get_obs() * np.float32(2)

    return Doubled


def class_attributes(base):
    class Long(base):
        LINK_LENGTH_1 = 2.0
        LINK_MASS_2 = 0.7
        MAX_VEL_1 = 3 * math.pi
        AVAIL_TORQUE = [-2.0, 0.5, 2.0]
        dt = 0.05
        torque_noise_max = 0.3
        book_or_nips = "nips"

    return Long


def mixed_in_attributes(base):
    class Moon:
        LINK_MOI = 0.4

    class MoonBot(Moon, base):
        pass

    return MoonBot


def own_end(base):
    class Low(base):
        def _terminal(self):
            return bool(-math.cos(self.state[0]) > -0.9)

    return Low


def own_angles(base):
    class Angles(base):
        def _get_ob(self):
            return np.array([*self.state[:2], 0.0, 0.0, *self.state[2:]], dtype=np.float32)

    return Angles


def own_derivative(base):
    class Damped(base):
        def _dsdt(self, s_augmented):
            first, second, third, fourth, _ = super()._dsdt(s_augmented)
            return first, second, third - 0.1 * first, fourth, 0.0

    return Damped


def counted_hands(base):
    class Rich(base):
        def _get_obs(self):
            return (sum(self.player), self.dealer[0], len(self.player))

    return Rich


def stacked_deck(base):
    class Stacked(base):
        def step(self, action):
            if action and len(self.player) == 2:
                self.player.append(1)
                self.dealer[1] = 7
            return super().step(action)

    return Stacked


def set_hands(base):
    class Fixed(base):
        def reset(self, *, seed=None, options=None):
            super().reset(seed=seed)
            self.player, self.dealer = [10, 4], [5, 6]
            return self._get_obs(), {}

    return Fixed


def changed_table(base):
    class Paved(base):
        def __init__(self):
            super().__init__()
            state = int(np.argmax(self.initial_state_distrib))
            self.P[state][1] = [(0.25, state, -7.0, False), (0.75, state + 1, 3.5, False)]
            for actions in self.P.values():
                actions[0] = [(chance, place, reward - 0.125, end) for chance, place, reward, end in actions[0]]

    return Paved


def other_starts(base):
    class Anywhere(base):
        def __init__(self):
            super().__init__()
            self.initial_state_distrib = np.ones(len(self.P)) / len(self.P)

    return Anywhere


def other_starts_in_place(base):
    class Elsewhere(base):
        def __init__(self):
            super().__init__()
            self.initial_state_distrib[:] = 0.0
            self.initial_state_distrib[[1, 2, 4]] = 1 / 4, 1 / 4, 1 / 2

    return Elsewhere


def step_by_table(base):
    class Slow(base):
        def step(self, a):
            outcomes = self.P[self.s][a]
            chance, place, reward, ends = outcomes[int(self.np_random.integers(len(outcomes)))]
            self.s, self.lastaction = place, a
            return int(place), reward * 2, ends, False, {"prob": chance, "action_mask": np.ones(6, np.int8)}

    return Slow


def shorter_border(base):
    class Narrow(base):
        def _limit_coordinates(self, coord):
            coord = super()._limit_coordinates(coord)
            coord[0] = max(coord[0], 1)
            return coord

    return Narrow


def costly_cliff(base):
    class Costly(base):
        def _calculate_transition_prob(self, current, move):
            return [(p, s, r * 2, end) for p, s, r, end in super()._calculate_transition_prob(current, move)]

    return Costly


def generous_taxi(base):
    class Generous(base):
        def _dropoff(self, taxi_loc, pass_idx, dest_idx, default_reward):
            place, reward, ends = super()._dropoff(taxi_loc, pass_idx, dest_idx, default_reward)
            return place, (50 if ends else reward), ends

        def _pickup(self, taxi_loc, pass_idx, reward):
            return super()._pickup(taxi_loc, pass_idx, reward + 1)

        def action_mask(self, state):
            return 1 - super().action_mask(state)

    return Generous


def rebuilt_taxi(base):
    class Rebuilt(base):
        def __init__(self):
            super().__init__(is_rainy=True, fickle_passenger=True, fickle_probability=0.8)

        def _calc_new_position(self, row, col, movement):
            return row, col

        def _build_rainy_transitions(self, row, col, pass_idx, dest_idx, action):
            super()._build_rainy_transitions(row, col, pass_idx, dest_idx, action)
            if action == 0:
                state = self.encode(row, col, pass_idx, dest_idx)
                self.P[state][action] = [(p, s, r - 2, end) for p, s, r, end in self.P[state][action]]

    return Rebuilt
