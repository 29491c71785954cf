"""Networks and filters of control and finance, and what they need of linear algebra: small matrices are inverted, solved
and factored."""

import torch
from make_torch_case import bools, case, rand
from torch import nn
from torch.nn import functional as F

SEQ = "batch=3 seq=12; batch=1 seq=12; batch=2 seq=5; batch=4 seq=20; batch=1 seq=3"
BATCH = "batch=3; batch=1; batch=2; batch=7"
RETURNS = "batch=2 seq=12; batch=1 seq=12; batch=3 seq=7; batch=1 seq=30"
WINDOWS = "batch=3 seq=12; batch=1 seq=12; batch=2 seq=5; batch=4 seq=20; batch=1 seq=7"


def eye(n):
    return torch.eye(n)


class Rollout(nn.Module):
    """A linear regulator: Riccati's equation, then a few steps under its feedback."""

    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Parameter(eye(3) * 0.9), nn.Parameter(rand(3, 2))

    def forward(self, x):
        cost = eye(3)
        for _ in range(4):
            gain = torch.linalg.inv(eye(2) + self.b.T @ cost @ self.b) @ self.b.T @ cost @ self.a
            cost = eye(3) + self.a.T @ cost @ (self.a - self.b @ gain)
        states, controls = [x], []
        for _ in range(5):
            controls.append(-(states[-1] @ gain.T))
            states.append(states[-1] @ self.a.T + controls[-1] @ self.b.T)
        return torch.stack(states, 1), torch.stack(controls, 1)


class Portfolio(nn.Module):
    """Least variance."""

    def forward(self, returns):
        apart = returns - returns.mean(1, keepdim=True)
        spread = apart.mT @ apart / (returns.size(1) - 1) + 0.01 * eye(3)
        weights = torch.linalg.inv(spread).sum(2)
        return weights / weights.sum(1, keepdim=True), torch.logdet(spread)


class Gaussian(nn.Module):
    """A process with three points it is told at, and the density of a vector."""

    def __init__(self):
        super().__init__()
        self.known, self.values, self.root = nn.Parameter(rand(3, 2)), nn.Parameter(rand(3, 1)), nn.Parameter(rand(2, 2))

    def forward(self, x):
        kernel = lambda a, b: torch.exp(-(a.unsqueeze(-2) - b.unsqueeze(-3)).pow(2).sum(-1))  # noqa: E731
        factor = torch.linalg.cholesky(kernel(self.known, self.known) + 0.1 * eye(3))
        mean = kernel(x, self.known) @ torch.cholesky_solve(self.values, factor)
        spread = torch.linalg.cholesky(self.root @ self.root.T + eye(2))
        white = torch.linalg.solve_triangular(spread, x.unsqueeze(-1), upper=False)
        return mean, -0.5 * white.pow(2).sum((-2, -1)) - spread.diagonal().log().sum()


class Orthogonal(nn.Module):
    """A layer whose weight is orthogonal: the exponential of a matrix."""

    def __init__(self):
        super().__init__()
        self.fc = nn.utils.parametrizations.orthogonal(nn.Linear(6, 6))

    def forward(self, x):
        return self.fc(x)


class Rolling(nn.Module):
    """Windows of prices: means, deviations, the deepest fall."""

    def forward(self, x):
        window = x.unfold(1, 4, 1)
        moved = (x[:, 1:] - x[:, :-1]).cumsum(1)
        fall = (torch.cummax(moved, 1)[0] - moved).amax(1)
        return (x[:, 3:] - window.mean(-1)) / (window.std(-1) + 1e-6), fall, window.median(-1)[0], torch.trapz(x, dim=1)


class Advantages(nn.Module):
    """Backwards over rewards and values, of which there is one more."""

    def forward(self, rewards, values, ends):
        out, last = torch.zeros_like(rewards), torch.zeros(rewards.shape[0])
        for t in reversed(range(rewards.shape[1])):
            left = 1 - ends[:, t]
            last = rewards[:, t] + 0.99 * values[:, t + 1] * left - values[:, t] + 0.9 * left * last
            out[:, t] = last
        return out


class Trader(nn.Module):
    """What may be done is masked; recurrent, with attention over the past."""

    def __init__(self):
        super().__init__()
        self.past, self.attend = nn.LSTM(6, 8, 2, batch_first=True), nn.Linear(8, 1)
        self.policy, self.value = nn.Linear(9, 3), nn.Linear(9, 1)

    def forward(self, x, position, allowed):
        out, (h, c) = self.past(x)
        context = (F.softmax(self.attend(torch.tanh(out)), 1) * out).sum(1)
        state = torch.cat([context, position.unsqueeze(-1)], -1)
        odds = self.policy(state).masked_fill(~allowed, float("-inf")).softmax(-1)
        return odds, odds.argmax(-1), self.value(state).squeeze(-1), h, c


def may(batch):
    return torch.cat([torch.ones(batch, 1, dtype=torch.bool), bools(batch, 2)], 1)


case("control_rollout", Rollout, lambda batch: {"x": rand(batch, 3)}, "x:0=batch", BATCH, rtol=1e-3, atol=1e-4)
case("control_portfolio", Portfolio, lambda batch, seq: {"returns": rand(batch, seq, 3)}, "returns:0=batch,1=seq", RETURNS,
     rtol=1e-3, atol=1e-3)
case("control_gaussian", Gaussian, lambda batch: {"x": rand(batch, 2)}, "x:0=batch", BATCH, rtol=1e-3, atol=1e-4)
case("orthogonal_layer", Orthogonal, lambda batch, seq: {"x": rand(batch, seq, 6)}, "x:0=batch,1=seq", SEQ)
case("rolling_windows", Rolling, lambda batch, seq: {"x": rand(batch, seq, 6)}, "x:0=batch,1=seq", WINDOWS)
case("advantages", Advantages,
     lambda batch, seq: {"rewards": rand(batch, seq), "values": rand(batch, seq + 1), "ends": bools(batch, seq).float()},
     "rewards:0=batch,1=seq values:0=batch,1=seq+1 ends:0=batch,1=seq", SEQ)
case("trader", Trader, lambda batch, seq: {"x": rand(batch, seq, 6), "position": rand(batch), "allowed": may(batch)},
     "x:0=batch,1=seq position:0=batch allowed:0=batch", SEQ)
