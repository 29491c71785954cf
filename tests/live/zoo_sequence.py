"""Small networks over text, sound, tables, graphs and time series, written the way they are written for real."""

import math

import torch
from make_torch_case import case, ints, rand
from torch import nn
from torch.nn import functional as F

SEQ = "batch=3 seq=12; batch=1 seq=12; batch=2 seq=5; batch=4 seq=20; batch=1 seq=3"
BATCH = "batch=3; batch=1; batch=2; batch=7"


def tokens(words):
    return lambda batch, seq: {"tokens": ints(words, batch, seq)}


def series(width):
    return lambda batch, seq: {"x": rand(batch, seq, width)}


class StackedLstm(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm, self.lstm = nn.LayerNorm(4), nn.LSTM(4, 8, 2, batch_first=True, dropout=0.2)
        self.attend, self.head = nn.Linear(8, 1), nn.Linear(8, 2)

    def forward(self, x):
        out, _ = self.lstm(self.norm(x))
        weights = torch.softmax(self.attend(out).squeeze(-1), dim=1)
        return self.head(torch.bmm(weights.unsqueeze(1), out).squeeze(1)), weights


class CharTagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.conv = nn.Embedding(30, 8, padding_idx=0), nn.Conv1d(8, 8, 3, padding=1)
        self.lstm, self.head = nn.LSTM(8, 6, batch_first=True, bidirectional=True), nn.Linear(12, 5)

    def forward(self, tokens):
        x = self.embed(tokens)
        x = torch.relu(self.conv(x.transpose(1, 2))).transpose(1, 2)
        return self.head(self.lstm(x)[0]).argmax(-1), (tokens != 0).sum(1)


class GruStack(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.GRU(6 if i == 0 else 8, 8, batch_first=True) for i in range(3)])

    def forward(self, x):
        for i, layer in enumerate(self.layers):
            y, h = layer(x)
            x = y if i == 0 else x + y
        return x[:, -1], h


class Wavenet(nn.Module):
    def __init__(self):
        super().__init__()
        self.start, self.end = nn.Conv1d(1, 6, 1), nn.Conv1d(6, 3, 1)
        self.filters = nn.ModuleList([nn.Conv1d(6, 12, 2, dilation=2 ** i) for i in range(3)])
        self.skips = nn.ModuleList([nn.Conv1d(6, 6, 1) for _ in range(3)])

    def forward(self, x):
        x, total = self.start(x), 0
        for i, (conv, skip) in enumerate(zip(self.filters, self.skips)):
            a, b = conv(F.pad(x, (2 ** i, 0))).chunk(2, dim=1)
            y = torch.tanh(a) * torch.sigmoid(b)
            total = total + skip(y)
            x = x + y
        return self.end(F.relu(total))


class MelFront(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("window", torch.hann_window(32))
        self.register_buffer("mel", torch.rand(17, 8))

    def forward(self, wave):
        spectrum = torch.stft(wave, 32, 16, window=self.window, return_complex=True)
        power = spectrum.abs().pow(2).transpose(1, 2)
        mel = torch.log(torch.clamp(power @ self.mel, min=1e-5))
        return (mel - mel.mean(1, keepdim=True)) / (mel.std(1, keepdim=True) + 1e-5)


class Conformer(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm, self.mix = nn.LayerNorm(8), nn.MultiheadAttention(8, 2, batch_first=True)
        self.point, self.depth = nn.Conv1d(8, 16, 1), nn.Conv1d(8, 8, 5, padding=2, groups=8)
        self.bn, self.out = nn.BatchNorm1d(8), nn.Conv1d(8, 8, 1)

    def forward(self, x):
        y = self.norm(x)
        x = x + self.mix(y, y, y, need_weights=False)[0]
        y = F.glu(self.point(x.transpose(1, 2)), dim=1)
        return x + self.out(F.silu(self.bn(self.depth(y)))).transpose(1, 2)


class Subsample(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Sequential(nn.Conv2d(1, 4, 3, 2), nn.ReLU(), nn.Conv2d(4, 4, 3, 2), nn.ReLU())
        self.rnn, self.out = nn.GRU(4 * 4, 8, batch_first=True, bidirectional=True), nn.Linear(16, 6)

    def forward(self, x):
        y = self.conv(x.unsqueeze(1))
        b, c, t, f = y.size()
        y = y.transpose(1, 2).contiguous().view(b, t, c * f)
        return self.out(self.rnn(y)[0]).log_softmax(-1)


class FullTransformer(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(20, 8)
        self.net = nn.Transformer(8, 2, 1, 1, 16, batch_first=True)
        self.head = nn.Linear(8, 20)
        place = torch.arange(64).unsqueeze(1) * torch.exp(torch.arange(0, 8, 2) * (-math.log(1e4) / 8))
        self.register_buffer("places", torch.stack([place.sin(), place.cos()], 2).flatten(1).unsqueeze(0))

    def forward(self, source, target):
        a = self.embed(source) * math.sqrt(8) + self.places[:, :source.size(1)]
        b = self.embed(target) * math.sqrt(8) + self.places[:, :target.size(1)]
        mask = self.net.generate_square_subsequent_mask(target.size(1))
        return self.head(self.net(a, b, tgt_mask=mask, src_key_padding_mask=source == 0))


class Llama(nn.Module):
    """Grouped-query attention, rotary places, SwiGLU, RMS norms."""

    def __init__(self):
        super().__init__()
        self.embed, self.norm, self.norm2 = nn.Embedding(32, 16), nn.RMSNorm(16), nn.RMSNorm(16)
        self.q, self.k, self.v = nn.Linear(16, 16, False), nn.Linear(16, 8, False), nn.Linear(16, 8, False)
        self.gate, self.up, self.down = nn.Linear(16, 24, False), nn.Linear(16, 24, False), nn.Linear(24, 16, False)
        self.register_buffer("speeds", 1.0 / 1e4 ** (torch.arange(0, 4, 2).float() / 4), persistent=False)

    def turn(self, x):
        angles = torch.outer(torch.arange(x.shape[2], device=x.device).float(), self.speeds)
        c, s = torch.cat([angles.cos()] * 2, -1), torch.cat([angles.sin()] * 2, -1)
        a, b = x.chunk(2, dim=-1)
        return x * c + torch.cat((-b, a), -1) * s

    def forward(self, tokens):
        x = self.embed(tokens)
        b, t, _ = x.shape
        y = self.norm(x)
        q, k, v = [p(y).view(b, t, -1, 4).transpose(1, 2) for p in (self.q, self.k, self.v)]
        k, v = [z[:, :, None].expand(b, 2, 2, t, 4).reshape(b, 4, t, 4) for z in (self.turn(k), v)]
        y = F.scaled_dot_product_attention(self.turn(q), k, v, is_causal=True)
        x = x + y.transpose(1, 2).reshape(b, t, 16)
        y = self.norm2(x)
        return F.linear(x + self.down(F.silu(self.gate(y)) * self.up(y)), self.embed.weight)


class Alibi(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.qkv = nn.Embedding(20, 8), nn.Linear(8, 24)
        self.register_buffer("slopes", torch.tensor([0.5, 0.25]))

    def forward(self, tokens):
        x = self.embed(tokens)
        b, t, _ = x.shape
        q, k, v = self.qkv(x).view(b, t, 3, 2, 4).permute(2, 0, 3, 1, 4)
        place = torch.arange(t)
        bias = -(place[:, None] - place[None, :]).abs()[None] * self.slopes[:, None, None]
        scores = (q @ k.transpose(-1, -2)) / 2 + bias
        scores = scores.masked_fill(torch.ones(t, t, dtype=torch.bool).triu(1), float("-inf"))
        return (scores.softmax(-1) @ v).transpose(1, 2).flatten(2)


class RelativeBias(nn.Module):
    """T5's buckets: logarithms of distances, as integers."""

    def __init__(self):
        super().__init__()
        self.bias = nn.Embedding(16, 2)

    def forward(self, x):
        place = torch.arange(x.shape[1])
        distance = place[None, :] - place[:, None]
        bucket = (distance > 0).long() * 8
        distance = distance.abs()
        large = 4 + (torch.log(distance.float() / 4) / math.log(32 / 4) * 4).to(torch.long)
        large = torch.min(large, torch.full_like(large, 7))
        bucket = bucket + torch.where(distance < 4, distance, large)
        return self.bias(bucket).permute(2, 0, 1).unsqueeze(0) + x.sum(-1)[:, None, None, :]


class Pooler(nn.Module):
    """A sentence encoder: the mask pools."""

    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(40, 12, padding_idx=0)
        self.layer = nn.TransformerEncoderLayer(12, 3, 24, batch_first=True, activation="gelu")

    def forward(self, tokens):
        mask = tokens.ne(0)
        x = self.layer(self.embed(tokens), src_key_padding_mask=~mask)
        weight = mask.unsqueeze(-1).to(x.dtype)
        return F.normalize((x * weight).sum(1) / weight.sum(1).clamp(min=1e-6), dim=-1)


class LocalAttention(nn.Module):
    """Blocks of four with what precedes them; the sequence is padded to whole blocks."""

    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(8, 24)

    def forward(self, x):
        b, t, c = x.shape
        x = F.pad(x, (0, 0, 0, (-t) % 4))
        q, k, v = self.qkv(x).view(b, -1, 4, 24).chunk(3, -1)
        before = F.pad(k, (0, 0, 0, 0, 1, 0))[:, :-1]
        weights = (q @ torch.cat([before, k], 2).transpose(-1, -2) / 3).softmax(-1)
        y = weights @ torch.cat([F.pad(v, (0, 0, 0, 0, 1, 0))[:, :-1], v], 2)
        return y.reshape(b, -1, c)[:, :t]


class NBeats(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList([nn.Sequential(nn.Linear(24, 16), nn.ReLU(), nn.Linear(16, 24 + 6)) for _ in range(2)])

    def forward(self, x):
        forecast = torch.zeros(x.size(0), 6)
        for block in self.blocks:
            back, ahead = block(x).split([24, 6], dim=1)
            x = x - back
            forecast = forecast + ahead
        return forecast


class DLinear(nn.Module):
    def __init__(self):
        super().__init__()
        self.trend, self.season = nn.Linear(24, 6), nn.Linear(24, 6)

    def forward(self, x):
        front, end = x[:, :1].repeat(1, 2, 1), x[:, -1:].repeat(1, 2, 1)
        mean = F.avg_pool1d(torch.cat([front, x, end], 1).permute(0, 2, 1), 5, 1)
        rest = x.permute(0, 2, 1) - mean
        return (self.trend(mean) + self.season(rest)).permute(0, 2, 1)


class PatchForecaster(nn.Module):
    """Reversible normalisation, overlapping patches, a transformer over them."""

    def __init__(self):
        super().__init__()
        self.patch = nn.Linear(8, 12)
        self.layer, self.head = nn.TransformerEncoderLayer(12, 2, 24, batch_first=True), nn.Linear(12, 4)

    def forward(self, x):
        mean, scale = x.mean(1, keepdim=True), torch.sqrt(x.var(1, keepdim=True, unbiased=False) + 1e-5)
        x = ((x - mean) / scale).permute(0, 2, 1)
        b, channels, _ = x.shape
        x = F.pad(x, (0, 4), mode="replicate").unfold(-1, 8, 4)
        x = self.layer(self.patch(x).flatten(0, 1)).mean(1)
        return self.head(x).view(b, channels, 4).permute(0, 2, 1) * scale + mean


class SpectralMixer(nn.Module):
    """A Fourier layer: the lowest modes through a complex weight."""

    def __init__(self):
        super().__init__()
        self.real, self.imag = nn.Parameter(torch.randn(3, 3, 4)), nn.Parameter(torch.randn(3, 3, 4))

    def forward(self, x):
        spectrum = torch.fft.rfft(x, dim=-1)
        a, b = spectrum.real[..., :4], spectrum.imag[..., :4]
        real = torch.einsum("bim,iom->bom", a, self.real) - torch.einsum("bim,iom->bom", b, self.imag)
        imag = torch.einsum("bim,iom->bom", a, self.imag) + torch.einsum("bim,iom->bom", b, self.real)
        return torch.fft.irfft(torch.complex(real, imag), n=x.size(-1), dim=-1)


class MixtureOfExperts(nn.Module):
    def __init__(self):
        super().__init__()
        self.gate = nn.Linear(8, 4)
        self.experts = nn.ModuleList([nn.Sequential(nn.Linear(8, 12), nn.GELU(), nn.Linear(12, 8)) for _ in range(4)])

    def forward(self, x):
        weights, places = torch.topk(self.gate(x).softmax(-1), 2, dim=-1)
        spread = torch.zeros(*x.shape[:-1], 4).scatter(-1, places, weights / weights.sum(-1, keepdim=True))
        return torch.einsum("bte,betc->btc", spread, torch.stack([e(x) for e in self.experts], 1))


class DeepFM(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear, self.embed = nn.Embedding(50, 1), nn.Embedding(50, 6)
        self.register_buffer("offsets", torch.tensor([0, 10, 20, 30]))
        self.deep = nn.Sequential(nn.Linear(24, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Linear(16, 1))

    def forward(self, fields):
        fields = fields + self.offsets
        x = self.embed(fields)
        cross = 0.5 * (x.sum(1).pow(2) - x.pow(2).sum(1)).sum(1, keepdim=True)
        return torch.sigmoid(self.linear(fields).sum(1) + cross + self.deep(x.flatten(1))).squeeze(1)


class Dlrm(nn.Module):
    def __init__(self):
        super().__init__()
        self.bags = nn.ModuleList([nn.EmbeddingBag(20, 8, mode="sum") for _ in range(3)])
        self.bottom, self.top = nn.Linear(5, 8), nn.Linear(8 + 6, 1)
        self.register_buffer("rows", torch.tril_indices(4, 4, -1)[0])
        self.register_buffer("cols", torch.tril_indices(4, 4, -1)[1])

    def forward(self, dense, sparse):
        x = F.relu(self.bottom(dense))
        all_parts = torch.stack([x] + [bag(sparse[:, i]) for i, bag in enumerate(self.bags)], 1)
        pairs = torch.bmm(all_parts, all_parts.transpose(1, 2))[:, self.rows, self.cols]
        return self.top(torch.cat([x, pairs], 1)).sigmoid()


class GraphConv(nn.Module):
    """Messages along edges, summed at their targets."""

    def __init__(self):
        super().__init__()
        self.message, self.own = nn.Linear(5, 6), nn.Linear(5, 6)

    def forward(self, nodes, edges):
        source, target = edges[0], edges[1]
        degree = torch.zeros(nodes.size(0)).index_add(0, target, torch.ones(target.size(0)))
        sent = self.message(nodes).index_select(0, source) / degree.clamp(min=1)[target].unsqueeze(-1)
        out = torch.zeros(nodes.size(0), 6).scatter_add(0, target.unsqueeze(-1).expand(-1, 6), sent)
        return F.elu(self.own(nodes) + out)


class GraphAttention(nn.Module):
    def __init__(self):
        super().__init__()
        self.map, self.left, self.right = nn.Linear(5, 8), nn.Linear(8, 1), nn.Linear(8, 1)

    def forward(self, nodes, adjacent):
        h = self.map(nodes)
        scores = F.leaky_relu(self.left(h) + self.right(h).transpose(-1, -2), 0.2)
        scores = torch.where(adjacent > 0, scores, torch.full_like(scores, -9e15))
        return F.elu(torch.softmax(scores, -1) @ h)


class Vae(nn.Module):
    def __init__(self):
        super().__init__()
        self.encode, self.mean, self.spread = nn.Linear(12, 8), nn.Linear(8, 3), nn.Linear(8, 3)
        self.decode = nn.Sequential(nn.Linear(3, 8), nn.Softplus(), nn.Linear(8, 12), nn.Sigmoid())

    def forward(self, x, noise):
        h = torch.tanh(self.encode(x))
        mean, spread = self.mean(h), self.spread(h).clamp(-5, 5)
        z = mean + torch.exp(0.5 * spread) * noise
        return self.decode(z), -0.5 * torch.sum(1 + spread - mean.pow(2) - spread.exp(), dim=1)


class Siren(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(3 * 2 * 4 + 3, 16), nn.Linear(16, 4)

    def forward(self, points):
        scales = 2.0 ** torch.arange(4)
        angles = (points.unsqueeze(-1) * scales).flatten(-2)
        y = torch.sin(30.0 * self.a(torch.cat([points, angles.sin(), angles.cos()], -1)))
        out = self.b(y)
        return torch.sigmoid(out[..., :3]), F.relu(out[..., 3:])


class Scan(nn.Module):
    """A linear recurrence in closed form: cumulative sums of logarithms."""

    def __init__(self):
        super().__init__()
        self.decay, self.value = nn.Linear(4, 4), nn.Linear(4, 4)

    def forward(self, x):
        decay = F.logsigmoid(self.decay(x)).cumsum(1)
        return torch.exp(decay) * torch.cumsum(torch.exp(-decay) * self.value(x), dim=1)


class Crf(nn.Module):
    """Scores of given tags: gathers along time."""

    def __init__(self):
        super().__init__()
        self.moves, self.start = nn.Parameter(torch.randn(5, 5)), nn.Parameter(torch.randn(5))

    def forward(self, scores, tags):
        here = scores.gather(2, tags.unsqueeze(-1)).squeeze(-1).sum(1)
        moves = self.moves[tags[:, :-1], tags[:, 1:]].sum(1)
        return self.start[tags[:, 0]] + here + moves


class Highway(nn.Module):
    def __init__(self):
        super().__init__()
        self.words, self.chars = nn.Embedding(20, 6), nn.Embedding(12, 4)
        self.convs = nn.ModuleList([nn.Conv1d(4, 3, k) for k in (2, 3)])
        self.gate, self.turn = nn.Linear(12, 12), nn.Linear(12, 12)

    def forward(self, words, chars):
        b, t, n = chars.shape
        c = self.chars(chars).view(b * t, n, 4).transpose(1, 2)
        c = torch.cat([conv(c).max(dim=-1)[0] for conv in self.convs], 1).view(b, t, 6)
        x = torch.cat([self.words(words), c], -1)
        gate = torch.sigmoid(self.gate(x))
        return gate * F.relu(self.turn(x)) + (1 - gate) * x


class Quantiser(nn.Module):
    """The nearest entry of a code book."""

    def __init__(self):
        super().__init__()
        self.book = nn.Embedding(16, 6)

    def forward(self, x):
        flat = x.reshape(-1, 6)
        far = flat.pow(2).sum(1, keepdim=True) + self.book.weight.pow(2).sum(1) - 2 * flat @ self.book.weight.t()
        place = far.argmin(1)
        near = F.one_hot(place, 16).to(x.dtype) @ self.book.weight
        return near.view_as(x), place.view(x.shape[:-1])


case("stacked_lstm", StackedLstm, series(4), "x:0=batch,1=seq", SEQ, whole_rnn=True)
case("char_tagger", CharTagger, tokens(30), "tokens:0=batch,1=seq", SEQ, whole_rnn=True)
case("gru_stack", GruStack, series(6), "x:0=batch,1=seq", SEQ, whole_rnn=True)
case("wavenet", Wavenet, lambda batch, seq: {"x": rand(batch, 1, seq)}, "x:0=batch,2=seq", SEQ)
case("mel_front", MelFront, lambda batch, n: {"wave": rand(batch, n)}, "wave:0=batch,1=n",
     "batch=2 n=128; batch=1 n=128; batch=3 n=100; batch=1 n=64", rtol=1e-3, atol=1e-3)
case("conformer", Conformer, series(8), "x:0=batch,1=seq", SEQ)
case("subsample", Subsample, lambda batch, seq: {"x": rand(batch, seq, 20)}, "x:0=batch,1=seq",
     "batch=2 seq=30; batch=1 seq=30; batch=3 seq=11; batch=1 seq=7", whole_rnn=True)
case("full_transformer", FullTransformer,
     lambda batch, rows, cols: {"source": ints(20, batch, rows, low=1), "target": ints(20, batch, cols, low=1)},
     "source:0=batch,1=rows target:0=batch,1=cols",
     "batch=2 rows=6 cols=5; batch=1 rows=6 cols=5; batch=3 rows=9 cols=1; batch=1 rows=1 cols=7")
case("llama_block", Llama, tokens(32), "tokens:0=batch,1=seq", SEQ)
case("alibi", Alibi, tokens(20), "tokens:0=batch,1=seq", SEQ)
case("relative_bias", RelativeBias, series(4), "x:0=batch,1=seq", SEQ)
case("pooler", Pooler, lambda batch, seq: {"tokens": ints(40, batch, seq, low=1)}, "tokens:0=batch,1=seq", SEQ)
case("local_attention", LocalAttention, series(8), "x:0=batch,1=seq", SEQ)
case("nbeats", NBeats, lambda batch: {"x": rand(batch, 24)}, "x:0=batch", BATCH)
case("dlinear", DLinear, lambda batch: {"x": rand(batch, 24, 3)}, "x:0=batch", BATCH)
case("patch_forecaster", PatchForecaster, series(3), "x:0=batch,1=seq",
     "batch=3 seq=24; batch=1 seq=24; batch=2 seq=8; batch=4 seq=37")
case("spectral_mixer", SpectralMixer, lambda batch, n: {"x": rand(batch, 3, n)}, "x:0=batch,2=n",
     "batch=2 n=16; batch=1 n=16; batch=3 n=9; batch=1 n=12", atol=1e-4)
case("mixture_of_experts", MixtureOfExperts, series(8), "x:0=batch,1=seq", SEQ)
case("deepfm", DeepFM, lambda batch: {"fields": ints(10, batch, 4)}, "fields:0=batch", BATCH)
case("dlrm", Dlrm, lambda batch: {"dense": rand(batch, 5), "sparse": ints(20, batch, 3, 2)}, "dense:0=batch sparse:0=batch",
     BATCH)
case("graph_conv", GraphConv, lambda n, edges: {"nodes": rand(n, 5), "edges": ints(n, 2, edges)}, "nodes:0=n edges:1=edges",
     "n=6 edges=9; n=2 edges=9; n=12 edges=4; n=3 edges=1")
case("graph_attention", GraphAttention, lambda batch, n: {"nodes": rand(batch, n, 5), "adjacent": ints(2, batch, n, n)},
     "nodes:0=batch,1=n adjacent:0=batch,1=n,2=n", "batch=2 n=6; batch=1 n=6; batch=3 n=2; batch=1 n=9")
case("vae", Vae, lambda batch: {"x": rand(batch, 12), "noise": rand(batch, 3)}, "x:0=batch noise:0=batch", BATCH)
case("siren", Siren, lambda rays, n: {"points": rand(rays, n, 3)}, "points:0=rays,1=n",
     "rays=3 n=5; rays=1 n=5; rays=4 n=1; rays=2 n=9", atol=1e-4)
case("scan", Scan, series(4), "x:0=batch,1=seq", SEQ, rtol=1e-3)
case("crf", Crf, lambda batch, seq: {"scores": rand(batch, seq, 5), "tags": ints(5, batch, seq)},
     "scores:0=batch,1=seq tags:0=batch,1=seq", SEQ)
case("highway", Highway, lambda batch, seq, n: {"words": ints(20, batch, seq), "chars": ints(12, batch, seq, n)},
     "words:0=batch,1=seq chars:0=batch,1=seq,2=n",
     "batch=2 seq=4 n=6; batch=1 seq=4 n=6; batch=3 seq=1 n=3; batch=1 seq=7 n=9")
case("quantiser", Quantiser, series(6), "x:0=batch,1=seq", SEQ)
