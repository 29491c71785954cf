"""Functions of two tensors and their mixed types: rows of aten_live.py."""

import re

BINARY = [
    "x + y", "x - y", "x * y", "torch.add(x, y, alpha=2)", "torch.sub(x, y, alpha=3)", "torch.rsub(x, y)", "x + 1",
    "x - 2", "3 - x", "x * 2", "x + 1.5", "x * 0.5", "2.5 - x", "x / y", "x / 2", "2 / x",
    "torch.div(x, y, rounding_mode='floor')", "torch.div(x, y, rounding_mode='trunc')", "x // y", "x // 2", "x // -3",
    "x // 2.5", "torch.div(x, 3, rounding_mode='trunc')", "x % y", "x % 3", "x % -4", "x % 2.5", "torch.fmod(x, y)",
    "torch.fmod(x, 3)", "torch.remainder(7, y)", "x.maximum(y)", "x.minimum(y)", "torch.max(x, y)", "torch.min(x, y)",
    "torch.fmax(x, y)", "torch.fmin(x, y)", "x == y", "x != y", "x < y", "x <= y", "x > y", "x >= y", "x == 1",
    "x < 2.5", "x >= 0", "x > -1", "x != 0", "torch.where(x > y, x, y)", "torch.where(x > 0, x, 0)",
    "torch.where(x > 0, 1, x)", "torch.where(x > 0, 1.0, 0.0)", "torch.where(x > 0, x, 0.5)",
    "x.masked_fill(y > 0, 3)", "torch.clamp(x, y, y + 2)", "torch.clamp(x, min=y)", "torch.clamp(x, -1, 2)",
    "torch.clamp(x, max=1)", "torch.clamp(x, 0.5)", "x.clamp_min(0)", "x.clamp_max(1)", "torch.clip(x, -2, 2)",
    "torch.lerp(x.float(), y.float(), 0.3)", "torch.lerp(x.float(), y.float(), 0.8)",
    "torch.lerp(x.float(), y.float(), torch.sigmoid(x.float()))", "torch.addcmul(x, x, y, value=2)",
    "x.float().addcdiv(x.float(), y.float() + 0.01, value=0.5)", "torch.logical_and(x, y)", "torch.logical_or(x, y)",
    "torch.logical_xor(x, y)", "torch.logical_not(x)", "torch.isclose(x, y)", "torch.atan2(x, y)",
    "torch.heaviside(x, y)", "torch.multiply(x, y)", "torch.subtract(x, y)", "torch.divide(x, y)",
    "torch.true_divide(x, y)", "torch.float_power(x.abs() + 1, y)", "x.type_as(y)", "x.to(y)", "torch.isin(x, y)",
    "torch.isin(x, y, invert=True)", "torch.ge(x, y)", "torch.less(x, y)", "torch.not_equal(x, y)",
    "torch.greater_equal(x, 1)", "torch.eq(x, y).any()", "torch.hypot(x.float(), y.float())",
]

FLOATS = [
    "torch.pow(x.abs() + 0.1, y)", "x ** 2", "x ** 3", "(x.abs() + 0.1) ** 0.5", "(x.abs() + 0.1) ** -0.5",
    "(x.abs()+0.1) ** -1", "(x.abs()+0.1) ** 1.7", "2 ** x", "torch.xlogy(x, y.abs())", "torch.xlogy(x, 2.0)",
    "torch.logaddexp(x, y)", "torch.logaddexp2(x, y)", "torch.copysign(x, y)", "torch.ldexp(x, y.int())", "x.pow(0)",
    "torch.dist(x, y)", "torch.special.xlog1py(x, y.abs())", "x ** 1", "torch.sub(x, 1, alpha=0.5)",
]

WHOLE = [
    "x ** 2", "x ** 3", "2 ** y.abs()", "x & y", "x | y", "x ^ y", "x & 7", "x | 1", "x ^ 5", "x & 6", "~x", "x << 2",
    "x >> 1", "x >> y.abs()", "torch.bitwise_and(x, y)", "torch.bitwise_left_shift(x, y.abs())",
    "torch.pow(x, y.abs())", "x & 1 == 1", "torch.bitwise_not(x)", "torch.logical_and(x > 0, y > 0)",
    "(x > 0) & (y > 0)", "(x > 0) | (y > 1)", "(x > 0) ^ (y > 0)", "~(x > 0)",
]

TRUTHS = [
    "x & y", "x | y", "x ^ y", "~x", "x + y", "x * y", "x == y", "x != y", "torch.logical_and(x, y)",
    "torch.where(x, x, y)", "x.masked_fill(y, True)", "x + 1", "x * 2.5", "x / y.float().add(1)", "x < y",
    "x.maximum(y)", "torch.where(x, 1, 2)", "x & True", "torch.where(x, 1.5, y)", "x.float() - y.float()",
]

MIXED = [
    "x + y", "x * y", "x / y", "x - y", "torch.where(x > 0, x, y)", "x < y", "x // y", "torch.maximum(x, y)",
]

ROWS = [
    ("x:f32[b,s] y:f32[b,s]", BINARY + FLOATS),
    ("x:f64[b,s] y:f64[b,s]", BINARY + FLOATS),
    # Half precision: what is rounded down jumps with the last bit, and ONNX Runtime leaves casts out before a power.
    ("x:f16[b,s] y:f16[b,s]", [text for text in BINARY + FLOATS if not re.search("//|floor|_power", text)]),
    ("x:bf16[b,s] y:bf16[b,s]", [text for text in BINARY if not re.search("//|%|rounding", text)]),
    ("x:f32[b,s] y:f32[s]", BINARY[:20]),
    ("x:f32[b,s] y:f32[]", BINARY[:40]),
    ("x:i64[b,s] y:i64+[b,s]", BINARY + WHOLE),
    ("x:i32[b,s] y:i32+[b,1]", BINARY + WHOLE),
    ("x:i16[b,s] y:i16+[b,s]", BINARY),
    ("x:i8[b,s] y:i8+[b,s]", BINARY + WHOLE),
    ("x:u8[b,s] y:u8+[b,s]", [text for text in BINARY + WHOLE if "-" not in text]),
    ("x:bool[b,s] y:bool[b,s]", TRUTHS),
    ("x:bool[b,s] y:f32[b,s]", ["x + y", "x * y", "torch.where(x, y, 0)", "y.masked_fill(x, -inf)", "y * x", "(y > 0) & x"]),
    ("x:f32[b,s] y:i64+[b,s]", MIXED),
    ("x:i64[b,s] y:f32+[b,s]", MIXED),
    ("x:i32[b,s] y:i64+[b,s]", MIXED),
    ("x:f16[b,s] y:f32+[b,s]", MIXED[:-2]),
    ("x:i64[b,s] y:f32+[]", MIXED),
    ("x:f32[b,s] y:f64+[]", MIXED),
    ("x:u8[b,s] y:i8+[b,s]", MIXED),
]
