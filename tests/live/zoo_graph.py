"""Networks over graphs, sets and boxes: messages are gathered, scattered and reduced over indices."""

import torch
from make_torch_case import case, ints, rand
from torch import nn
from torch.nn import functional as F

EDGES = "n=9 e=20; n=5 e=7; n=12 e=40; n=3 e=1"
SETS = "batch=2 n=9; batch=1 n=9; batch=3 n=5; batch=2 n=14"


def graph(n, e):
    return {"x": rand(n, 6), "edges": torch.stack([ints(n, e), ints(n, e)])}


def case_graph(name, make, **options):
    case(name, make, graph, "x:0=n edges:1=e", EDGES, **options)


class Gcn(nn.Module):
    """Symmetric normalisation with self loops."""

    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(6, 4)

    def forward(self, x, edges):
        n = x.shape[0]
        loops = torch.arange(n)
        source, target = torch.cat([edges[0], loops]), torch.cat([edges[1], loops])
        degree = torch.zeros(n).scatter_add_(0, target, torch.ones(target.shape[0]))
        weight = degree[source].rsqrt() * degree[target].rsqrt()
        return torch.zeros(n, 4).index_add_(0, target, self.fc(x)[source] * weight[:, None])


class Gat(nn.Module):
    """Softmax over the edges that arrive at a node."""

    def __init__(self):
        super().__init__()
        self.fc, self.a, self.b = nn.Linear(6, 8), nn.Parameter(rand(2, 4)), nn.Parameter(rand(2, 4))

    def forward(self, x, edges):
        n, (source, target) = x.shape[0], edges
        h = self.fc(x).view(n, 2, 4)
        score = F.leaky_relu((h * self.a).sum(-1)[source] + (h * self.b).sum(-1)[target], 0.2)
        top = torch.full((n, 2), float("-inf")).scatter_reduce(0, target[:, None].expand(-1, 2), score, "amax")
        score = (score - top[target]).exp()
        total = torch.zeros(n, 2).index_add(0, target, score)
        weight = score / (total[target] + 1e-9)
        return torch.zeros(n, 2, 4).index_add(0, target, h[source] * weight[..., None]).flatten(1)


class Sage(nn.Module):
    def __init__(self, reduce):
        super().__init__()
        self.near, self.own, self.reduce = nn.Linear(6, 4), nn.Linear(6, 4), reduce

    def forward(self, x, edges):
        place = edges[1][:, None].expand(-1, x.shape[1])
        near = torch.zeros_like(x).scatter_reduce(0, place, x[edges[0]], self.reduce, include_self=False)
        return F.normalize(self.near(near) + self.own(x), dim=-1)


class Gin(nn.Module):
    def __init__(self):
        super().__init__()
        self.eps = nn.Parameter(torch.tensor(0.1))
        self.net = nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 4))

    def forward(self, x, edges):
        near = torch.zeros_like(x)
        near.index_add_(0, edges[1], x.index_select(0, edges[0]))
        return self.net((1 + self.eps) * x + near)


class GatedGraph(nn.Module):
    def __init__(self):
        super().__init__()
        self.message, self.cell = nn.Linear(6, 6), nn.GRUCell(6, 6)

    def forward(self, x, edges):
        for _ in range(3):
            sent = torch.zeros_like(x).index_add(0, edges[1], self.message(x)[edges[0]])
            x = self.cell(sent, x)
        return x


class EdgeNetwork(nn.Module):
    """Edges and nodes change in turn, as in models of molecules."""

    def __init__(self):
        super().__init__()
        self.edge, self.node = nn.Linear(13, 6), nn.Linear(12, 6)

    def forward(self, x, edges):
        source, target = edges[0], edges[1]
        distance = (x[source] - x[target]).pow(2).sum(-1, keepdim=True)
        e = F.silu(self.edge(torch.cat([x[source], x[target], distance], -1)))
        return x + self.node(torch.cat([x, torch.zeros(x.size(0), 6).index_add_(0, target, e)], -1)), e


class Chebyshev(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.ModuleList([nn.Linear(6, 4) for _ in range(3)])

    def forward(self, x, edges):
        n = x.shape[0]
        adjacent = torch.zeros(n, n)
        adjacent[edges[0], edges[1]] = 1.0
        degree = adjacent.sum(1).clamp(min=1)
        laplacian = torch.eye(n) - adjacent / degree[:, None]
        before, now = x, laplacian @ x
        out = self.fc[0](before) + self.fc[1](now)
        before, now = now, 2 * laplacian @ now - before
        return out + self.fc[2](now)


class PoolGraphs(nn.Module):
    """Nodes of several graphs, each graph's pooled."""

    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(6, 4)

    def forward(self, x, group):
        y = self.fc(x)
        count = torch.zeros(3).index_add(0, group, torch.ones(x.shape[0])).clamp(min=1)
        mean = torch.zeros(3, 4).index_add(0, group, y) / count[:, None]
        most = torch.full((3, 4), -1e9).scatter_reduce(0, group[:, None].expand(-1, 4), y, "amax")
        return torch.cat([mean, most], -1)


class DenseGraph(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc, self.pool = nn.Linear(6, 5), nn.Linear(6, 3)

    def forward(self, x, adjacent):
        adjacent = ((adjacent + adjacent.transpose(1, 2)) > 0).float() + torch.eye(x.shape[1])
        root = adjacent.sum(-1).rsqrt()
        y = F.relu((root[..., None] * adjacent * root[:, None]) @ self.fc(x))
        share = self.pool(x).softmax(-1)
        return share.transpose(1, 2) @ y, share.transpose(1, 2) @ adjacent @ share


class SetTransformer(nn.Module):
    def __init__(self):
        super().__init__()
        self.seeds, self.attend = nn.Parameter(rand(1, 3, 6)), nn.MultiheadAttention(6, 2, batch_first=True)
        self.phi, self.rho = nn.Linear(6, 8), nn.Linear(8, 4)

    def forward(self, x):
        pooled = self.attend(self.seeds.expand(x.shape[0], -1, -1), x, x)[0]
        return pooled, self.rho(F.relu(self.phi(x)).sum(1))


class PointNetPlus(nn.Module):
    """Neighbours within the nearest four, their offsets through a shared network, the most of each kept."""

    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Conv2d(9, 8, 1), nn.ReLU(), nn.Conv2d(8, 4, 1))

    def forward(self, x):
        b, n, _ = x.shape
        centre = x[:, ::2, :3]
        near = torch.cdist(centre, x[..., :3]).topk(3, largest=False)[1]
        grouped = torch.gather(x[:, None].expand(-1, centre.shape[1], -1, -1), 2, near[..., None].expand(-1, -1, -1, 6))
        local = torch.cat([grouped[..., :3] - centre[:, :, None], grouped], -1)
        return self.net(local.permute(0, 3, 1, 2)).amax(-1)


class Sinkhorn(nn.Module):
    def forward(self, x):
        scores = x @ x.transpose(1, 2)
        for _ in range(3):
            scores = scores - scores.logsumexp(2, keepdim=True)
            scores = scores - scores.logsumexp(1, keepdim=True)
        return scores.exp()


class BoxDecoder(nn.Module):
    """Anchors and offsets to boxes, clipped, the best kept."""

    def __init__(self):
        super().__init__()
        self.head = nn.Linear(6, 5)

    def forward(self, x, anchors):
        raw = self.head(x)
        middle = anchors[..., :2] + raw[..., :2] * anchors[..., 2:]
        size = anchors[..., 2:] * raw[..., 2:4].clamp(max=4).exp()
        boxes = torch.cat([middle - size / 2, middle + size / 2], -1).clamp(0, 100)
        score, place = raw[..., 4].sigmoid().topk(3, 1)
        return boxes.gather(1, place[..., None].expand(-1, -1, 4)), score


class BoxOverlap(nn.Module):
    def forward(self, a, b):
        low, high = torch.max(a[:, None, :2], b[None, :, :2]), torch.min(a[:, None, 2:], b[None, :, 2:])
        inside = (high - low).clamp(min=0).prod(-1)
        area = lambda boxes: (boxes[:, 2:] - boxes[:, :2]).prod(-1)  # noqa: E731
        return inside / (area(a)[:, None] + area(b)[None] - inside)


class Experts(nn.Module):
    """Tokens are sent to their experts and gathered again, expert by expert."""

    def __init__(self):
        super().__init__()
        self.gate, self.experts = nn.Linear(6, 3), nn.ModuleList([nn.Linear(6, 6) for _ in range(3)])

    def forward(self, x):
        flat = x.reshape(-1, 6)
        weights, chosen = self.gate(flat).softmax(-1).topk(2, -1)
        out = torch.zeros_like(flat)
        for i, expert in enumerate(self.experts):
            row, place = torch.where(chosen == i)
            out.index_add_(0, row, expert(flat[row]) * weights[row, place, None])
        return out.view_as(x)


class ExpertsOneHot(Experts):
    def forward(self, x):
        flat = x.reshape(-1, 6)
        weights, chosen = self.gate(flat).softmax(-1).topk(2, -1)
        mask = F.one_hot(chosen, 3).permute(2, 1, 0)
        out = torch.zeros_like(flat)
        for i, expert in enumerate(self.experts):
            place, row = torch.nonzero(mask[i], as_tuple=True)
            out[row] += expert(flat[row]) * weights[row, place].unsqueeze(-1)
        return out.view_as(x)


case_graph("gcn", Gcn)
case_graph("gat", Gat, opset=18)
case_graph("sage_sum", lambda: Sage("sum"))
case_graph("sage_mean", lambda: Sage("mean"))
case_graph("sage_max", lambda: Sage("amax"), opset=18)
case_graph("gin", Gin)
case_graph("gated_graph", GatedGraph)
case_graph("edge_network", EdgeNetwork)
case_graph("chebyshev", Chebyshev)
case("pool_graphs", PoolGraphs, lambda n: {"x": rand(n, 6), "group": ints(3, n)}, "x:0=n group:0=n", "n=9; n=4; n=20; n=1", opset=18)
case("dense_graph", DenseGraph, lambda batch, n: {"x": rand(batch, n, 6), "adjacent": rand(batch, n, n)},
     "x:0=batch,1=n adjacent:0=batch,1=n,2=n", SETS)
case("set_transformer", SetTransformer, lambda batch, n: {"x": rand(batch, n, 6)}, "x:0=batch,1=n", SETS)
case("point_net_plus", PointNetPlus, lambda batch, n: {"x": rand(batch, n, 6)}, "x:0=batch,1=n", SETS)
case("sinkhorn", Sinkhorn, lambda batch, n: {"x": rand(batch, n, 6) / 3}, "x:0=batch,1=n", SETS)
case("box_decoder", BoxDecoder, lambda batch, n: {"x": rand(batch, n, 6), "anchors": torch.rand(batch, n, 4) * 20 + 5},
     "x:0=batch,1=n anchors:0=batch,1=n", SETS)
case("box_overlap", BoxOverlap, lambda n, m: {"a": torch.rand(n, 4).sort(-1)[0], "b": torch.rand(m, 4).sort(-1)[0]},
     "a:0=n b:0=m", "n=5 m=3; n=1 m=3; n=4 m=9; n=7 m=1")
case("experts", Experts, lambda batch, n: {"x": rand(batch, n, 6)}, "x:0=batch,1=n", SETS)
case("experts_one_hot", ExpertsOneHot, lambda batch, n: {"x": rand(batch, n, 6)}, "x:0=batch,1=n", SETS)
