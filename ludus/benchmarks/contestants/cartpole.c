/* CartPole, many lanes, one loop: the arithmetic of ludus/envs/classic/cartpole.py in the same order.
   A lane that has ended is reset by its next step. Each lane draws from a PCG64 stream of its own. */

#include <math.h>
#include <stdint.h>

#define LIMIT 500

typedef unsigned __int128 wide;

static double uniform(uint64_t *stream, double low, double high)
{
    const wide multiplier = ((wide)0x2360ED051FC65DA4u << 64) | 0x4385DF649FCCF645u;
    wide state = ((wide)stream[0] << 64) | stream[1];
    wide increment = ((wide)stream[2] << 64) | stream[3];
    state = state * multiplier + increment;
    stream[0] = (uint64_t)(state >> 64);
    stream[1] = (uint64_t)state;
    uint64_t mixed = stream[0] ^ stream[1];
    unsigned turn = (unsigned)(stream[0] >> 58);
    mixed = (mixed >> turn) | (mixed << ((64 - turn) & 63));
    return low + (high - low) * ((double)(mixed >> 11) * (1.0 / 9007199254740992.0));
}

void step_lanes(long lanes, const int64_t *actions, double *state, uint64_t *streams, int32_t *elapsed, uint8_t *ended,
                float *observations, double *rewards, uint8_t *terminated, uint8_t *truncated)
{
    const double gravity = 9.8, masspole = 0.1, mass = 1.1, length = 0.5, polemass = 0.05, push = 10.0, tau = 0.02;
    const double steepest = 12 * 2 * M_PI / 360, farthest = 2.4;
    double *xs = state, *x_dots = state + lanes, *thetas = state + 2 * lanes, *theta_dots = state + 3 * lanes;
    for (long lane = 0; lane < lanes; lane++) {
        double x, x_dot, theta, theta_dot;
        if (ended[lane]) {
            uint64_t *stream = streams + 4 * lane;
            x = uniform(stream, -0.05, 0.05);
            x_dot = uniform(stream, -0.05, 0.05);
            theta = uniform(stream, -0.05, 0.05);
            theta_dot = uniform(stream, -0.05, 0.05);
            elapsed[lane] = 0;
            rewards[lane] = 0.0;
            terminated[lane] = truncated[lane] = ended[lane] = 0;
        } else {
            x = xs[lane], x_dot = x_dots[lane], theta = thetas[lane], theta_dot = theta_dots[lane];
            double force = actions[lane] == 1 ? push : -push;
            double costheta = cos(theta), sintheta = sin(theta);
            double temp = (force + polemass * (theta_dot * theta_dot) * sintheta) / mass;
            double thetaacc = (gravity * sintheta - costheta * temp)
                              / (length * (4.0 / 3.0 - masspole * (costheta * costheta) / mass));
            double xacc = temp - polemass * thetaacc * costheta / mass;
            x = x + tau * x_dot;
            x_dot = x_dot + tau * xacc;
            theta = theta + tau * theta_dot;
            theta_dot = theta_dot + tau * thetaacc;
            elapsed[lane] += 1;
            rewards[lane] = 1.0;
            terminated[lane] = x < -farthest || x > farthest || theta < -steepest || theta > steepest;
            truncated[lane] = elapsed[lane] >= LIMIT;
            ended[lane] = terminated[lane] | truncated[lane];
        }
        xs[lane] = x, x_dots[lane] = x_dot, thetas[lane] = theta, theta_dots[lane] = theta_dot;
        float *row = observations + 4 * lane;
        row[0] = (float)x, row[1] = (float)x_dot, row[2] = (float)theta, row[3] = (float)theta_dot;
    }
}
