"""Layers of torch.nn that other lists lack, packed sequences, and what forward methods do beside calling layers."""

import numpy as np
import torch
from make_torch_case import bools, case, ints, rand
from torch import nn
from torch.nn import functional as F
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

SEQ = "batch=3 seq=12; batch=1 seq=12; batch=2 seq=5; batch=4 seq=20; batch=1 seq=3"
IMAGE = "batch=2 h=32 w=48; batch=1 h=32 w=32; batch=3 h=48 w=16; batch=1 h=20 w=36"


def series(width):
    return lambda batch, seq: {"x": rand(batch, seq, width)}


def image(channels=3):
    return lambda batch, h, w: {"x": rand(batch, channels, h, w)}


class Apply(nn.Module):
    """A function as a module, with the layers it uses."""

    def __init__(self, function, **layers):
        super().__init__()
        self.function = function
        for name, layer in layers.items():
            setattr(self, name, layer)

    def forward(self, *inputs):
        return self.function(self, *inputs)


def over_images(name, function, channels=3, sizes=IMAGE, layers=dict, **options):
    case(name, lambda: Apply(function, **layers()), image(channels), "x:0=batch,2=h,3=w", sizes, **options)


def over_series(name, function, width=6, sizes=SEQ, layers=dict, **options):
    case(name, lambda: Apply(function, **layers()), series(width), "x:0=batch,1=seq", sizes, **options)


class Packed(nn.Module):
    """A recurrent layer over sequences of their own lengths."""

    def __init__(self, kind, batch_first=True, sort=True, total=False, state=False, **options):
        super().__init__()
        self.rnn = kind(4, 6, batch_first=batch_first, **options)
        self.batch_first, self.sort, self.total, self.state = batch_first, sort, total, state

    def forward(self, x, lengths):
        packed = pack_padded_sequence(x, lengths, batch_first=self.batch_first, enforce_sorted=self.sort)
        out, state = self.rnn(packed)
        steps = x.shape[1 if self.batch_first else 0] if self.total else None
        padded, sizes = pad_packed_sequence(out, batch_first=self.batch_first, total_length=steps,
                                            padding_value=-1.0 if self.total else 0.0)
        return (padded, sizes, state) if self.state else (padded, state[0] if isinstance(state, tuple) else state)


def packed(name, kind, **options):
    first, sort = options.get("batch_first", True), options.get("sort", True)

    def inputs(batch, seq):
        lengths = torch.randint(1, seq + 1, (batch,))
        lengths[batch // 2] = seq
        return {"x": rand(batch, seq, 4) if first else rand(seq, batch, 4),
                "lengths": lengths.sort(descending=True)[0] if sort else lengths}

    case(name, lambda: Packed(kind, **options), inputs,
         ("x:0=batch,1=seq" if first else "x:0=seq,1=batch") + " lengths:0=batch", SEQ)


packed("packed_lstm", nn.LSTM)
packed("packed_lstm_all", nn.LSTM, state=True)
packed("packed_lstm_both", nn.LSTM, bidirectional=True, state=True)
packed("packed_lstm_deep", nn.LSTM, num_layers=2, bidirectional=True, sort=False)
packed("packed_lstm_total", nn.LSTM, total=True)
packed("packed_lstm_time_first", nn.LSTM, batch_first=False)
packed("packed_gru", nn.GRU)
packed("packed_gru_both_unsorted", nn.GRU, bidirectional=True, sort=False, state=True)
packed("packed_gru_time_first", nn.GRU, batch_first=False, sort=False)


class PackedEmbedding(nn.Module):
    """Entries are changed while they are packed."""

    def __init__(self):
        super().__init__()
        self.embed, self.rnn, self.out = nn.Embedding(20, 4), nn.GRU(4, 6, batch_first=True), nn.Linear(6, 3)

    def forward(self, tokens, lengths):
        packed = pack_padded_sequence(self.embed(tokens), lengths, batch_first=True, enforce_sorted=False)
        packed = nn.utils.rnn.PackedSequence(torch.tanh(packed.data), packed.batch_sizes, packed.sorted_indices,
                                             packed.unsorted_indices)
        return self.out(self.rnn(packed)[1][-1])


case("packed_entries", PackedEmbedding,
     lambda batch, seq: {"tokens": ints(20, batch, seq), "lengths": torch.randint(1, seq + 1, (batch,))},
     "tokens:0=batch,1=seq lengths:0=batch", SEQ)


class Rounded(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return torch.round(x * 8) / 8

    @staticmethod
    def backward(ctx, grad):
        return grad


class Swish(torch.autograd.Function):
    @staticmethod
    def forward(x):
        return x * torch.sigmoid(x)

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx, grad):
        return grad


over_series("autograd_round", lambda m, x: Rounded.apply(m.fc(x)), layers=lambda: {"fc": nn.Linear(6, 4)})
over_series("autograd_swish", lambda m, x: Swish.apply(m.fc(x)).sum(1), layers=lambda: {"fc": nn.Linear(6, 4)})
over_series("numpy_constant", lambda m, x: x * torch.from_numpy(np.linspace(0.0, 1.0, 6, dtype=np.float32)))
over_series("numpy_positions",
            lambda m, x: x + torch.from_numpy(np.sin(np.arange(6)[None] / np.float32(3)).astype(np.float32)).to(x.dtype))
over_series("numpy_scalar", lambda m, x: x * np.sqrt(x.shape[-1]) + np.float32(0.5))
over_series("numpy_prod", lambda m, x: x.reshape(x.shape[0], int(np.prod(x.shape[1:]))))
over_series("list_of_rows", lambda m, x: torch.stack([row * (i + 1) for i, row in enumerate(x.unbind(-1))], -1))
over_series("named_dict", lambda m, x: {"sum": x.sum(1), "rows": [x[:, 0], x[:, -1]]})
over_series("in_place_slices", lambda m, x: in_place(x.clone()))
over_series("in_place_views", lambda m, x: in_place_views(x * 1))
over_series("in_place_mask", lambda m, x: masked_in_place(x.clone()))
over_series("assert_finite", lambda m, x: checked(x))
over_series("cumulative", lambda m, x: (x.cumsum(1), x.cummax(1)[0], x.logcumsumexp(1), x.cumprod(2)))
over_series("einsum_heads", lambda m, x: torch.einsum("bthd,bshd->bhts", x.view(*x.shape[:2], 2, 3), x.view(*x.shape[:2], 2, 3)))
over_series("outer_products", lambda m, x: (torch.einsum("bi,bj->bij", x[:, 0], x[:, -1]), torch.kron(x[0], m.eye)),
            layers=lambda: {"eye": nn.Parameter(torch.eye(2))})
over_series("bincount_like", lambda m, x: F.one_hot(x.argmax(-1), 6).sum(1))
over_series("buckets", lambda m, x: torch.bucketize(x, m.edges), layers=lambda: {"edges": nn.Parameter(torch.linspace(-1, 1, 5))})
over_series("gather_last", lambda m, x: x.gather(1, (x.sum(-1) > 0).sum(1).clamp(max=x.shape[1] - 1).view(-1, 1, 1).expand(-1, 1, 6)))
over_series("flip_roll", lambda m, x: torch.cat([x.flip(1), x.roll(1, 1), x.rot90(1, (1, 2)).transpose(1, 2)], -1))
over_series("meshgrid", lambda m, x: torch.stack(torch.meshgrid(torch.arange(x.shape[0]), torch.arange(x.shape[1]), indexing="ij"))
            * x.sum(-1))
over_series("logsumexp", lambda m, x: torch.logsumexp(x, (1, 2)) + x.softmax(1).amax((1, 2)))
over_series("complex_rotary", lambda m, x: torch.view_as_real(torch.view_as_complex(x.view(*x.shape[:2], 3, 2).contiguous())
                                                            * torch.polar(torch.ones(3), torch.arange(3.0))).flatten(2))
over_series("fft_filter", lambda m, x: torch.fft.irfft(torch.fft.rfft(x, dim=2) * m.gain, n=6, dim=2),
            layers=lambda: {"gain": nn.Parameter(rand(4))})
over_series("bilinear_layer", lambda m, x: m.layer(x, x.flip(1)), layers=lambda: {"layer": nn.Bilinear(6, 6, 3)})
over_series("embedding_bag", lambda m, x: m.bag((x.abs() * 3).long().clamp(max=9).flatten(1)),
            layers=lambda: {"bag": nn.EmbeddingBag(10, 4, mode="mean")})
over_series("attention_weights", lambda m, x: m.layer(x, x, x, average_attn_weights=False),
            layers=lambda: {"layer": nn.MultiheadAttention(6, 2, batch_first=True)})
over_series("lstm_projected", lambda m, x: m.layer(x)[0], layers=lambda: {"layer": nn.LSTM(6, 8, proj_size=3, batch_first=True)})
over_series("lstm_state", lambda m, x: m.layer(x, (m.h.expand(1, x.shape[0], 8).contiguous(), m.h.expand(1, x.shape[0], 8) * 2)),
            layers=lambda: {"layer": nn.LSTM(6, 8, batch_first=True), "h": nn.Parameter(rand(1, 1, 8))})
over_series("gated_conv", lambda m, x: F.glu(m.conv(x.transpose(1, 2)), 1).transpose(1, 2),
            layers=lambda: {"conv": nn.Conv1d(6, 12, 3, padding="same", dilation=2)})
over_series("conv_transpose_1d", lambda m, x: m.conv(x.transpose(1, 2)),
            layers=lambda: {"conv": nn.ConvTranspose1d(6, 4, 4, 2, 1, output_padding=1)})
over_series("adaptive_1d", lambda m, x: F.adaptive_avg_pool1d(x.transpose(1, 2), 3) + F.adaptive_max_pool1d(x.transpose(1, 2), 3))
over_series("instance_norm", lambda m, x: F.instance_norm(x.transpose(1, 2)),
            sizes="batch=3 seq=12; batch=1 seq=12; batch=2 seq=5; batch=4 seq=20")
over_series("gumbel_free_quantizer", lambda m, x: m.codes[torch.cdist(x.flatten(0, 1), m.codes).argmin(1)].view_as(x),
            layers=lambda: {"codes": nn.Parameter(rand(8, 6))})

over_images("adaptive_pools", lambda m, x: (F.adaptive_avg_pool2d(x, (3, 4)), F.adaptive_max_pool2d(x, (2, None))))
over_images("norms", lambda m, x: m.group(x) + F.local_response_norm(x, 3) + F.normalize(x, dim=1), channels=4,
            layers=lambda: {"group": nn.GroupNorm(2, 4)})
over_images("grid_points", lambda m, x: F.grid_sample(x, torch.stack(torch.meshgrid(
    torch.linspace(-1, 1, x.shape[2]), torch.linspace(-1, 1, x.shape[3]), indexing="ij")[::-1], -1).expand(x.shape[0], -1, -1, -1),
    align_corners=True), rtol=1e-3, atol=1e-4)
over_images("depthwise_same", lambda m, x: m.conv(x), layers=lambda: {"conv": nn.Conv2d(3, 6, 3, padding="same", groups=3,
                                                                                       padding_mode="reflect")})
over_images("crop_to_match", lambda m, x: crop_to_match(x))
over_images("activations", lambda m, x: sum(f(x) for f in (
    F.celu, F.selu, F.mish, F.softsign, F.hardtanh, F.hardshrink, F.softshrink, F.tanhshrink, F.logsigmoid, F.silu, F.relu6)))
over_images("argmax_scores", lambda m, x: (x.argmax(1), x.softmax(1).amax(1), x.flatten(2).topk(3)[0]))
over_images("histogram_like", lambda m, x: (x.unsqueeze(-1) > m.edges).float().mean((2, 3)),
            layers=lambda: {"edges": nn.Parameter(torch.linspace(-1, 1, 4))})
over_images("integral_image", lambda m, x: x.cumsum(2).cumsum(3)[..., 1:, 1:])
case("masked_mean", lambda: Apply(lambda m, x, mask: (x * mask[..., None]).sum(1) / mask.sum(1, keepdim=True).clamp(min=1)),
     lambda batch, seq: {"x": rand(batch, seq, 6), "mask": bools(batch, seq)}, "x:0=batch,1=seq mask:0=batch,1=seq", SEQ)
case("masked_attention", lambda: Apply(lambda m, x, mask: F.scaled_dot_product_attention(
    x[:, None], x[:, None], x[:, None], attn_mask=mask[:, None, None])[:, 0]),
     lambda batch, seq: {"x": rand(batch, seq, 6), "mask": torch.ones(batch, seq, dtype=torch.bool)},
     "x:0=batch,1=seq mask:0=batch,1=seq", SEQ)


def in_place(x):
    x[:, 1:] += x[:, :-1].clone()
    x[:, 0, ::2] = 0
    x[..., -1].mul_(2)
    x[:, -1].add_(x[:, 0])
    return x


def in_place_views(x):
    flat = x.view(x.shape[0], -1)
    flat[:, 0] = 1
    turned = x.transpose(1, 2)
    turned[:, :2].neg_()
    left, right = x.chunk(2, -1)
    left += right
    return x, flat.sum(1)


def masked_in_place(x):
    x[x < 0] = 0
    x[:, :, 1][x[:, :, 0] > 1] = -1
    x.masked_fill_(x > 2, 2.0)
    x.clamp_(max=1.5)
    return x


def checked(x):
    torch._assert(x.shape[-1] == 6, "six features")
    assert x.dim() == 3
    torch._assert_async((x == x).all())
    return x / x.abs().amax(-1, keepdim=True)


def crop_to_match(x):
    small = F.interpolate(F.avg_pool2d(x, 3, 2), scale_factor=2)
    h, w = min(small.shape[2], x.shape[2]), min(small.shape[3], x.shape[3])
    return small[:, :, :h, :w] + x[:, :, :h, :w]
