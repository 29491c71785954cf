"""Functions of one tensor, activations, creation and casts: rows of aten_live.py."""

import re

UNARY = [
    "x.abs()", "-x", "x.exp()", "torch.exp2(x)", "torch.expm1(x)", "torch.expm1(x*1e-4)*1e4", "torch.reciprocal(x)",
    "x.square()", "x.sin()", "x.cos()", "x.tan()", "x.atan()", "x.sinh()", "x.cosh()", "x.asinh()", "torch.erf(x)",
    "torch.erfc(x)", "x.sigmoid()", "x.tanh()", "x.floor()", "x.ceil()", "x.round()", "torch.round(x, decimals=2)",
    "torch.round(x*1000, decimals=-2)", "x.trunc()", "x.frac()", "x.sign()", "x.sgn()", "x.isnan()", "x.isinf()",
    "x.isfinite()", "torch.isposinf(x)", "torch.isneginf(x)", "torch.nan_to_num(x)", "torch.angle(x)",
    "torch.positive(x)", "torch.deg2rad(x)", "torch.rad2deg(x)", "torch.sinc(x)", "torch.signbit(x)", "torch.fix(x)",
    "torch.absolute(x)", "torch.negative(x)", "torch.special.ndtr(x)",
]

ACTIVATIONS = [
    "F.relu(x)", "F.relu6(x)", "F.leaky_relu(x)", "F.leaky_relu(x, 0.3)", "F.elu(x)", "F.elu(x, 0.7)", "F.selu(x)",
    "F.celu(x)", "F.celu(x, 0.6)", "F.gelu(x)", "F.gelu(x, approximate='tanh')", "F.silu(x)", "F.mish(x)",
    "F.hardswish(x)", "F.hardsigmoid(x)", "F.hardtanh(x)", "F.hardtanh(x, -2.0, 0.5)", "F.softplus(x)",
    "F.softplus(x, 2.0, 1.0)", "F.softplus(x, 0.5)", "F.softsign(x)", "F.softshrink(x)", "F.softshrink(x, 0.2)",
    "F.hardshrink(x)", "F.hardshrink(x, 0.9)", "F.tanhshrink(x)", "F.threshold(x, 0.1, -3.0)", "F.logsigmoid(x)",
    "F.rrelu(x)", "F.softmax(x, 0)", "F.softmax(x, -1)", "F.log_softmax(x, 1)", "F.log_softmax(x, 0)",
    "F.softmin(x, 1)", "F.softmax(x, 1, dtype=torch.float64)",
]

POSITIVE = [
    "x.log()", "x.log2()", "x.log10()", "x.log1p()", "torch.log1p(x*1e-5)*1e5", "x.sqrt()", "x.rsqrt()",
    "torch.special.entr(x)",
]

UNIT = [
    "x.asin()", "x.acos()", "x.atanh()", "torch.logit(x)", "torch.logit(x, 0.1)", "(x + 1).acosh()",
    "torch.special.logit(x)",
]

WHOLE = [
    "x.abs()", "-x", "x.exp()", "x.sigmoid()", "x.floor()", "x.ceil()", "x.round()", "x.trunc()", "x.sign()",
    "x.isnan()", "x.isinf()", "x.isfinite()", "x.square()", "torch.nan_to_num(x)", "x.sin()", "x.tanh()",
    "torch.erf(x)", "F.relu(x)", "torch.clamp(x, -1, 2)", "torch.clamp(x, min=0)", "x.bool()", "x.float()",
    "x.to(torch.int32)", "x.to(torch.int8)", "x.to(torch.uint8)", "x.double()", "x.half()", "torch.atan(x)",
    "torch.rsqrt(x.abs()+1)", "~x", "torch.reciprocal(x + 10)", "torch.sign(x)", "torch.deg2rad(x)",
]

SPECIAL = [
    "x.isnan()", "x.isinf()", "x.isfinite()", "torch.isposinf(x)", "torch.isneginf(x)", "torch.nan_to_num(x)",
    "torch.nan_to_num(x, 1.0, 2.0, -3.0)", "torch.nan_to_num(x, posinf=7.0)", "torch.nansum(x)", "torch.signbit(x)",
    "x.relu()", "torch.angle(x)", "x.amax(1)", "x.maximum(torch.zeros(1))",
    "torch.fmax(x, torch.zeros(1))", "x.clamp(-1, 1)", "torch.nanmean(x)", "x.isnan().any()", "torch.sigmoid(x)",
    "torch.tanh(x)", "x.log1p()", "torch.expm1(x)", "x.trunc()", "torch.isclose(x, x)",
    "torch.isclose(x, x, equal_nan=True)",
]

CREATE = [
    "torch.zeros(x.shape[0], 3)", "torch.ones(x.shape)", "torch.full((x.shape[0], 2), 1.5)",
    "torch.full((x.shape[1],), 7)", "torch.full((2,), x.shape[0])", "torch.empty(x.shape[0]).zero_()",
    "x.new_zeros(x.shape[0])", "x.new_ones(2, x.shape[1], dtype=torch.int64)", "x.new_full((x.shape[0],), 3)",
    "torch.zeros_like(x)", "torch.ones_like(x, dtype=torch.bool)", "torch.full_like(x, 2)",
    "torch.full_like(x, 2, dtype=torch.int64)", "torch.arange(x.shape[0])",
    "torch.arange(x.shape[1], dtype=torch.float32)", "torch.arange(1, x.shape[0] + 1)",
    "torch.arange(0, x.shape[1], 2)", "torch.arange(x.shape[0], 0, -1)", "torch.arange(0, 1, 0.1)",
    "torch.arange(2.5)", "torch.arange(5, 1, -2)", "torch.arange(0, 2 * x.shape[1], 2, dtype=torch.int32)",
    "torch.arange(3, dtype=torch.float16)", "torch.linspace(0, 1, 5)",
    "torch.linspace(-1, 3, 8, dtype=torch.float64)", "torch.linspace(0, x.shape[0], 4)", "torch.logspace(0, 2, 5)",
    "torch.linspace(2, 3, 1)", "torch.eye(3)", "torch.eye(2, 4)", "torch.eye(x.shape[0])",
    "torch.eye(x.shape[0], x.shape[1], dtype=torch.int64)", "torch.tril_indices(3, 4)", "torch.triu_indices(4, 3, 1)",
    "torch.hann_window(8)", "torch.hamming_window(7, periodic=False)", "torch.blackman_window(9)",
    "torch.bartlett_window(6)", "torch.kaiser_window(8)", "torch.scalar_tensor(3.5)", "torch.tensor(2.0) + x",
    "torch.tensor([1, 2, 3])", "torch.as_tensor(x)", "x.to(torch.float64)", "x.to(x.dtype)", "x.to('cpu')",
    "x.float()", "x.int()", "x.bool()", "x.clone().fill_(3)", "x.clone().zero_()", "y = x.clone(); y[0] = 5; y",
    "y = x.clone(); y.add_(1); y.mul_(2); y", "y = x.clone(); z = y.to(y.dtype); z.add_(1); y",
    "y = x.clone(); z = y.to(torch.float64); z.add_(1); y", "y = x.clone(); y.copy_(x[0]); y",
    "F.dropout(x, 0.5, False)", "x.detach()",
    "y = x.clone(); z = F.dropout(y, 0.5, False); z.add_(1); y",
    "torch.searchsorted(torch.tensor([-1.0, 0.0, 1.0]), x)",
    "torch.bucketize(x, torch.tensor([-1.0, 0.0, 1.0]), right=True)",
    "torch.bucketize(x, torch.tensor([-1.0, 0.0, 1.0]), out_int32=True)", "torch.searchsorted(x.sort(1)[0], x)",
    "torch.searchsorted(x.sort(1)[0], x, side='right')", "y = x > 0; y &= x < 1; y", "y = x > 0; y |= x < -1; y",
    "y = x.clone(); y.clamp_(0, 1); y", "y = x.clone(); y.relu_(); y.neg_(); y",
    "y = x.clone(); y.masked_fill_(x > 0, 9.0); y", "torch.full((x.shape[0],), x.shape[1] * 0.5)", "x * x.shape[0]",
    "x / x.shape[1]", "x.shape[0] * torch.ones(2)", "torch.zeros(()) + x", "x.new_empty(2, 0)",
    "torch.zeros(x.shape[0], 0).sum(1)", "torch.zeros(x.shape[0], 0).any(1)",
    "torch.zeros(x.shape[0], 0).bool().all(1)", "torch.where(x > 0)[0].shape[0] * torch.ones(1)",
]

TRUTHS = [
    "~x", "x.sum()", "x.sum(1)", "x.any()", "x.all(1)", "x.any(1, keepdim=True)", "x.float()", "x.long()",
    "x.cumsum(1)", "x.exp()", "x.float().mean(1)", "torch.logical_not(x)",
    "x.argmax(1) if x.dtype != torch.bool else x.long().argmax(1)", "torch.count_nonzero(x)", "x.max()", "x.amax(1)",
    "x.sort()[0]", "x.prod(1)", "x.sigmoid()", "x.sqrt()",
]

RANK_0 = [
    "x.exp()", "x.sum()", "x.softmax(0)", "x.max(0)", "x.argmax()", "x.cumsum(0)", "x.sort()", "x.mean()", "x.norm()",
    "x.any()", "x.log_softmax(-1)", "x.var(correction=0)", "x.topk(1)", "x.cummax(0)", "F.relu(x)", "x.amax(0)",
]

ROWS = [
    ("x:f32[b,s]", UNARY + ACTIVATIONS + CREATE + ["F.prelu(x, torch.tensor([0.2]))"]),
    # ONNX Runtime's Erf is one for single precision.
    ("x:f64[b,s]", [text for text in UNARY + ACTIVATIONS if not re.search(r"erf|ndtr|gelu\(x\)", text)]),
    ("x:f16[b,s]", UNARY + ACTIVATIONS),
    ("x:bf16[b,s]", UNARY[:20] + ACTIVATIONS),
    ("x:f32+[b,s]", POSITIVE),
    ("x:f64+[b,s]", POSITIVE),
    ("x:f32~[b,s]", UNIT),
    ("x:f64~[b,s]", UNIT),
    ("x:i64[b,s]", WHOLE),
    ("x:i32[b,s]", WHOLE),
    ("x:i16[b,s]", WHOLE),
    ("x:i8[b,s]", WHOLE),
    ("x:u8[b,s]", WHOLE),
    ("x:bool[b,s]", TRUTHS),
    ("x:f32[]", RANK_0),
    ("x:f32![b,s]", SPECIAL),
    ("x:f32[b,4,s]", ["F.glu(x, 1)", "F.prelu(x, torch.tensor([0.1, 0.2, 0.3, 0.4]))", "F.softmax(x, 1)"]),
    ("x:f32[b,h]", ["F.glu(x)", "F.glu(x, -1)"]),
]
