"""Models that loop over an axis in Python, for reroll_live.py: (name, module, example inputs, dynamic axes)."""

import numpy as np
import torch
from torch import nn


class Cells(nn.Module):
    """A cell in a for; `how` it is written."""

    def __init__(self, how="stack", cell=nn.GRUCell, width=4):
        super().__init__()
        self.how, self.cell, self.head = how, cell(3, width), nn.Linear(width, 2)
        self.width, self.pair = width, cell is nn.LSTMCell

    def start(self, x):
        zero = x.new_zeros(x.size(0), self.width)
        return (zero, zero) if self.pair else zero

    def forward(self, x):
        state, out = self.start(x), []
        for t in range(x.size(1)):
            state = self.cell(x[:, t], state)
            out.append(state[0] if self.pair else state)
        if self.how == "last":
            return self.head(out[-1])
        return self.head(torch.stack(out, 1))


class Written(nn.Module):
    """Writes its result entry by entry."""

    def forward(self, x):
        out, h = torch.zeros_like(x), torch.zeros(x.shape[0], x.shape[2])
        for t in range(x.size(1)):
            h = 0.9 * h + x[:, t]
            out[:, t] = h
        return out


class OwnInput(nn.Module):
    """Changes its input in place, each entry by the one before."""

    def forward(self, x):
        out = x.clone()
        for t in range(1, x.size(1)):
            out[:, t] = out[:, t] + 0.5 * out[:, t - 1]
        return out


class Unbound(nn.Module):
    def forward(self, x):
        h = torch.zeros(x.shape[0], x.shape[2])
        for entry in x.unbind(1):
            h = torch.tanh(0.9 * h + entry)
        return h


class Smoothing(nn.Module):
    """Begins with the first entry; a number of each step follows the step."""

    def forward(self, x):
        h = x[:, 0]
        out = [h]
        for t in range(1, x.size(1)):
            h = 0.5 * h + x[:, t] * (1 + 0.1 * t)
            out.append(h)
        return torch.stack(out, 1)


class Bidirectional(nn.Module):
    def __init__(self):
        super().__init__()
        self.forth, self.back = nn.LSTMCell(3, 4), nn.LSTMCell(3, 4)

    def forward(self, x):
        batch, length, _ = x.shape
        h = c = x.new_zeros(batch, 4)
        forth, back = [], []
        for t in range(length):
            h, c = self.forth(x[:, t], (h, c))
            forth.append(h)
        h = c = x.new_zeros(batch, 4)
        for t in reversed(range(length)):
            h, c = self.back(x[:, t], (h, c))
            back.append(h)
        return torch.cat([torch.stack(forth, 1), torch.stack(back[::-1], 1)], -1), h


class Layers(nn.Module):
    """Layer after layer, or all layers in each step."""

    def __init__(self, inner):
        super().__init__()
        self.inner = inner
        self.cells = nn.ModuleList([nn.GRUCell(3, 5), nn.GRUCell(5, 5), nn.GRUCell(5, 5)])

    def forward(self, x):
        start = x.new_zeros(x.size(0), 5)
        if not self.inner:
            entries = list(x.unbind(1))
            for cell in self.cells:
                h, out = start, []
                for entry in entries:
                    h = cell(entry, h)
                    out.append(h)
                entries = out
            return torch.stack(entries, 1), entries[-1]
        states, out = [start] * len(self.cells), []
        for t in range(x.size(1)):
            entry = x[:, t]
            for i, cell in enumerate(self.cells):
                entry = states[i] = cell(entry, states[i])
            out.append(entry.unsqueeze(1))
        return torch.cat(out, 1), torch.stack(states, 0)


class SecondOrder(nn.Module):
    """Reads the two values before."""

    def forward(self, x):
        a = b = torch.zeros(x.shape[0], x.shape[2])
        out = []
        for t in range(x.size(1)):
            a, b = 0.5 * a - 0.3 * b + x[:, t], a
            out.append(a)
        return torch.stack(out, 0)


class Growing(nn.Module):
    """Its result grows by a cat in each step."""

    def forward(self, x):
        h = out = x[:, 0:1]
        for t in range(1, x.size(1)):
            h = torch.tanh(h + x[:, t : t + 1])
            out = torch.cat([out, h], 1)
        return out.mean(1)


class Kalman(nn.Module):
    """A filter with a state and its covariance."""

    def __init__(self):
        super().__init__()
        self.f = nn.Parameter(torch.tensor([[1.0, 0.1], [0.0, 0.9]]))
        self.q = nn.Parameter(0.01 * torch.eye(2))
        self.h = nn.Parameter(torch.tensor([[1.0, 0.0]]))

    def forward(self, z):
        s = torch.zeros(z.shape[0], 2, 1)
        p = torch.eye(2).expand(z.shape[0], 2, 2)
        out = []
        for t in range(z.shape[1]):
            s, p = self.f @ s, self.f @ p @ self.f.T + self.q
            k = p @ self.h.T / (self.h @ p @ self.h.T + 0.1)
            s = s + k * (z[:, t].reshape(-1, 1, 1) - self.h @ s)
            p = (torch.eye(2) - k @ self.h) @ p
            out.append(s[:, :, 0])
        return torch.stack(out, dim=1)


class Selective(nn.Module):
    """A selective scan as Mamba's slow path has it."""

    def __init__(self, width=6, states=4):
        super().__init__()
        self.a = nn.Parameter(torch.rand(width, states))
        self.project, self.rate = nn.Linear(width, 2 * states), nn.Linear(width, width)
        self.skip = nn.Parameter(torch.ones(width))

    def forward(self, x):
        delta = nn.functional.softplus(self.rate(x))
        b, c = self.project(x).chunk(2, dim=-1)
        decay = torch.exp(-delta.unsqueeze(-1) * self.a)
        step = delta.unsqueeze(-1) * b.unsqueeze(2) * x.unsqueeze(-1)
        h = torch.zeros(x.shape[0], x.shape[2], self.a.shape[1])
        out = []
        for i in range(x.shape[1]):
            h = decay[:, i] * h + step[:, i]
            out.append(torch.matmul(h, c[:, i].unsqueeze(-1))[:, :, 0])
        return torch.stack(out, dim=1) + x * self.skip


class Tags(nn.Module):
    """The forward pass of a CRF with a mask."""

    def __init__(self, tags=5):
        super().__init__()
        self.moves, self.first = nn.Parameter(torch.randn(tags, tags)), nn.Parameter(torch.randn(tags))

    def forward(self, scores, mask):
        alpha = self.first + scores[:, 0]
        for t in range(1, scores.shape[1]):
            new = torch.logsumexp(alpha.unsqueeze(2) + self.moves + scores[:, t].unsqueeze(1), dim=1)
            alpha = torch.where(mask[:, t].unsqueeze(1), new, alpha)
        return torch.logsumexp(alpha, dim=1)


class Returns(nn.Module):
    """Discounted returns, from the last reward back."""

    def forward(self, rewards):
        total, out = torch.zeros(rewards.shape[0]), []
        for t in range(rewards.shape[1] - 1, -1, -1):
            total = rewards[:, t] + 0.99 * total
            out.insert(0, total)
        return torch.stack(out, 1)


class Timed(nn.Module):
    """Takes the step number and the length in its formulas."""

    def forward(self, x):
        h = torch.zeros(x.shape[0], x.shape[2])
        out = []
        for t in range(x.shape[1]):
            h = h + x[:, t] * (t + 1) - float(x.shape[1])
            out.append(h / (t + 1))
        return torch.cat(out, dim=1)


class Attending(nn.Module):
    """Attends to the whole input in each step."""

    def __init__(self):
        super().__init__()
        self.cell, self.key = nn.LSTMCell(6, 4), nn.Linear(3, 4)

    def forward(self, x):
        h = c = torch.zeros(x.shape[0], 4)
        keys, out = self.key(x), []
        for t in range(x.shape[1]):
            weights = torch.softmax(torch.einsum("bsk,bk->bs", keys, h), dim=1)
            context = torch.bmm(weights.unsqueeze(1), x).squeeze(1)
            h, c = self.cell(torch.cat([x[:, t], context], dim=1), (h, c))
            out.append(h)
        return torch.stack(out).transpose(0, 1)


class Masked(Cells):
    """Attends behind the loop, to what came before, and in a window: masks that grow with the length."""

    def forward(self, x):
        out = super().forward(x)
        apart = torch.arange(x.shape[1])[:, None] - torch.arange(x.shape[1])
        scores = out @ out.transpose(1, 2)
        near = scores.masked_fill((apart < 0) | (apart > 2), float("-inf")).softmax(-1)
        before = scores.masked_fill(torch.ones(x.shape[1], x.shape[1], dtype=torch.bool).triu(1), -1e9).softmax(-1)
        return near @ out, before @ out


class FixedBatch(Cells):
    """A batch of one that is written into the program."""

    def start(self, x):
        return torch.zeros(1, self.width)


# Its first two steps and its last are peeled off, so that one entry is not enough.
LEAST = {"second order": 2}
BATCH_SEQ = {"x": {0: "batch", 1: "seq"}}


def rows():
    x, wide = torch.randn(2, 5, 3), torch.randn(2, 5, 6)
    mask = torch.tensor([[True] * 5, [True] * 3 + [False] * 2])
    return [
        ("gru cell", Cells(), (x,), BATCH_SEQ),
        ("lstm cell", Cells(cell=nn.LSTMCell), (x,), BATCH_SEQ),
        ("last only", Cells("last"), (x,), BATCH_SEQ),
        ("fixed batch", FixedBatch(), (torch.randn(1, 5, 3),), {"x": {1: "seq"}}),
        ("written in place", Written(), (x,), BATCH_SEQ),
        ("unbind", Unbound(), (x,), BATCH_SEQ),
        ("smoothing", Smoothing(), (x,), BATCH_SEQ),
        ("bidirectional", Bidirectional(), (x,), BATCH_SEQ),
        ("layer by layer", Layers(False), (x,), BATCH_SEQ),
        ("layers in a step", Layers(True), (x,), BATCH_SEQ),
        ("second order", SecondOrder(), (x,), BATCH_SEQ),
        ("growing", Growing(), (x,), BATCH_SEQ),
        ("kalman", Kalman(), (torch.randn(2, 5),), {"z": {0: "batch", 1: "seq"}}),
        ("selective scan", Selective(), (wide,), BATCH_SEQ),
        ("crf", Tags(), (torch.randn(2, 5, 5), mask),
         {"scores": {0: "batch", 1: "seq"}, "mask": {0: "batch", 1: "seq"}}),
        ("returns", Returns(), (torch.randn(2, 5),), {"rewards": {0: "batch", 1: "seq"}}),
        ("timed", Timed(), (x,), BATCH_SEQ),
        ("attending", Attending(), (x,), BATCH_SEQ),
        ("masked", Masked(), (x,), BATCH_SEQ),
    ]  # fmt: skip


class Squares(nn.Module):
    """Numbers that follow no line."""

    def forward(self, x):
        h = torch.zeros(x.shape[0], x.shape[2])
        for t in range(x.shape[1]):
            h = h + x[:, t] * float(2**t)
        return h


class Stops(nn.Module):
    """Ends where the data say so."""

    def forward(self, x):
        h = torch.zeros(x.shape[0], x.shape[2])
        for t in range(x.shape[1]):
            h = h + x[:, t]
            if h.sum() > 3:
                break
        return h


class Alternating(nn.Module):
    """Every other step is another one."""

    def forward(self, x):
        h = torch.zeros(x.shape[0], x.shape[2])
        for t in range(x.shape[1]):
            h = torch.tanh(h + x[:, t]) if t % 2 else torch.sigmoid(h * x[:, t])
        return h


class Numbers(nn.Module):
    """Loops over nothing: numpy computes with its sizes."""

    def forward(self, x):
        return x.reshape(x.shape[0], int(np.prod(x.shape[1:])))


def without_loop():
    """Refused, and not captured at other lengths."""
    return [("numbers", Numbers(), (torch.rand(2, 5, 3),))]


def refused():
    x = torch.rand(2, 5, 3)
    return [("squares", Squares(), (x,)), ("stops", Stops(), (x,)), ("alternating", Alternating(), (x,)),
            ("own input", OwnInput(), (x,))]  # fmt: skip
