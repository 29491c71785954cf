"""Quantised modules: dynamic, static, trained with fake quantisation, and integers by hand."""

import warnings

import torch
from make_torch_case import case, ints, rand
from torch import nn
from torch.ao import quantization

SEQ = "batch=3 seq=12; batch=1 seq=12; batch=2 seq=5; batch=4 seq=20; batch=1 seq=3"
IMAGE = "batch=2 h=16 w=24; batch=1 h=16 w=16; batch=3 h=24 w=8; batch=1 h=10 w=18"
# One step of a tensor that has 128 of them, where a sum lies between two.
STEP = {"rtol": 0.02, "atol": 0.08}


class Apply(nn.Module):
    def __init__(self, function, **layers):
        super().__init__()
        self.function = function
        for name, layer in layers.items():
            setattr(self, name, layer)

    def forward(self, x):
        return self.function(self, x)


def quietly(function):
    def call():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return function()

    return call


def over_series(name, make, **options):
    case(name, quietly(make), lambda batch, seq: {"x": rand(batch, seq, 6)}, "x:0=batch,1=seq", SEQ, **options)


def over_images(name, make, **options):
    case(name, quietly(make), lambda batch, h, w: {"x": rand(batch, 3, h, w)}, "x:0=batch,2=h,3=w", IMAGE, **options)


def dynamic(model):
    return quantization.quantize_dynamic(model.eval(), {nn.Linear}, dtype=torch.qint8)


class Net(nn.Module):
    """What is to be quantised, between two stubs."""

    def __init__(self, body):
        super().__init__()
        self.before, self.body, self.after = quantization.QuantStub(), body, quantization.DeQuantStub()

    def forward(self, x):
        return self.after(self.body(self.before(x)))


class Skip(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b, self.add = nn.Conv2d(3, 4, 3, padding=1), nn.Conv2d(4, 4, 3, padding=1), nn.quantized.FloatFunctional()

    def forward(self, x):
        x = self.a(x)
        return self.add.add(x, self.b(x))


def static(body, example, fuse=()):
    model = Net(body).eval()
    model.qconfig = quantization.get_default_qconfig("fbgemm")
    if fuse:
        model = quantization.fuse_modules(model, [[f"body.{name}" for name in group] for group in fuse])
    quantization.prepare(model, inplace=True)
    model(example)
    return quantization.convert(model)


def image():
    return torch.randn(4, 3, 16, 16)


over_series("quantized_dynamic", lambda: dynamic(nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 3))), **STEP)
over_images("quantized_static_conv", lambda: static(nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU(), nn.Conv2d(8, 4, 3, 2, 1)),
                                                    image(), [["0", "1"]]), **STEP)
over_images("quantized_static_skip", lambda: static(Skip(), image()), **STEP)
over_series("fake_quantized", lambda: Apply(lambda m, x: torch.fake_quantize_per_tensor_affine(m.fc(x), 0.05, 3, -128, 127),
                                            fc=nn.Linear(6, 4)), **STEP)
over_series("fake_quantized_narrow", lambda: Apply(lambda m, x: torch.fake_quantize_per_tensor_affine(m.fc(x), 0.2, 0, -7, 7),
                                                   fc=nn.Linear(6, 4)))
over_series("fake_quantized_channels", lambda: Apply(lambda m, x: nn.functional.linear(x, torch.fake_quantize_per_channel_affine(
    m.fc.weight, m.scales, m.zeros, 0, -128, 127)), fc=nn.Linear(6, 4), scales=nn.Buffer(torch.rand(4) * 0.01 + 0.01),
    zeros=nn.Buffer(torch.zeros(4, dtype=torch.int32))))
over_series("integers_by_hand", lambda: Apply(lambda m, x: integers(x)))
case("integer_weights", lambda: Apply(lambda m, x: x @ ((m.weight.float() - m.zero) * m.scale),
                                      weight=nn.Buffer(ints(256, 6, 4, dtype=torch.uint8)), zero=nn.Buffer(torch.tensor(128.0)),
                                      scale=nn.Buffer(torch.rand(4) * 0.01)),
     lambda batch, seq: {"x": rand(batch, seq, 6)}, "x:0=batch,1=seq", SEQ)


def integers(x):
    scale = x.abs().amax(-1, keepdim=True) / 127
    return torch.clamp(torch.round(x / scale), -128, 127).to(torch.int8).float() * scale
