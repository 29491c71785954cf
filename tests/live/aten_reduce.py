"""Reductions, norms, sorting and scans: rows of aten_live.py."""

REDUCE = [
    "x.sum()", "x.sum(0)", "x.sum((0,1))", "x.sum(-1, keepdim=True)",
    "x.mean(1) if x.is_floating_point() else x.float().mean(1)", "x.prod(1)", "x.prod()", "x.amax(1)",
    "x.amin((0,1))", "x.amax(0, keepdim=True)", "torch.aminmax(x, dim=1)", "torch.aminmax(x)", "x.max()", "x.min()",
    "x.max(1)", "x.min(0, keepdim=True)", "x.argmax(1)", "x.argmin(0)", "x.argmax()", "x.argmin(keepdim=True)",
    "x.any()", "x.all(1)", "x.any(0, keepdim=True)", "torch.any(x > 0, dim=(0,1))", "(x>0).all()",
    "torch.count_nonzero(x)", "torch.count_nonzero(x, dim=1)", "x.cumsum(1)", "x.cumsum(0)", "x.cumprod(1)",
    "torch.cummax(x, 1)", "torch.cummin(x, 0)", "x.sort()", "x.sort(0, descending=True)",
    "torch.sort(x, stable=True, dim=1)", "torch.argsort(x, 1)", "x.topk(1, 0)", "x.topk(1, largest=False)[0]",
    "torch.msort(x)", "torch.kthvalue(x, 1, 1)[0]", "x.median()", "x.median(1)[0]", "x.mode(1)[0]",
    "torch.diff(x, dim=1)", "x.sum(dtype=torch.float32)", "torch.nansum(x, 1)", "x.cumsum(1, dtype=torch.float64)",
    "x.sum([])",
]

FLOATS = [
    "x.mean()", "x.mean((0,1), keepdim=True)", "x.var()", "x.var(1)", "x.var(1, correction=0)",
    "x.std(0, keepdim=True)", "x.std((0,1), unbiased=False)", "torch.var_mean(x, 1, correction=0)",
    "torch.std_mean(x, 0, correction=2)", "torch.var(x, 1, correction=0.5)", "x.norm()", "x.norm(1)", "x.norm(2, 1)",
    "x.norm(inf, 1)", "x.norm(-inf, 0, keepdim=True)", "x.norm(0, 1)", "x.norm(3, 1)",
    "torch.linalg.vector_norm(x, 2, 1)", "torch.linalg.norm(x)", "torch.linalg.norm(x, 'fro')",
    "torch.linalg.norm(x, 2, dim=1)", "torch.linalg.matrix_norm(x)", "F.normalize(x, dim=1)", "torch.logsumexp(x, 1)",
    "torch.logsumexp(x, (0,1), keepdim=True)", "torch.logcumsumexp(x, 1)", "torch.logcumsumexp(x, 0)",
    "torch.nanmean(x, 1)", "torch.quantile(x, 0.3)", "torch.quantile(x, 0.3, dim=1)",
    "torch.quantile(x, torch.tensor([0.1, 0.5, 1.0]), dim=1)",
    "torch.quantile(x, torch.tensor([0.1, 0.5]), dim=0, keepdim=True)",
    "torch.quantile(x, 0.5, dim=1, interpolation='lower')", "torch.quantile(x, 0.6, dim=1, interpolation='midpoint')",
    "torch.dist(x, x*0.5)", "torch.dist(x, x*0.5, 1)", "x.float().cumsum(-1)",
]

THREE_AXES = [
    "x.sum((0,2))", "x.var((0,2), keepdim=True)", "x.max(1)", "x.argmax(1, keepdim=True)", "x.cumprod(1)",
    "x.cummax(2)", "x.sort(1)", "x.median(1)[0]", "x.mode(1)[0]", "torch.quantile(x, 0.5, dim=2)",
    "torch.quantile(x, 0.5, dim=1)", "torch.quantile(x, torch.tensor([0.2, 0.9]), dim=2, keepdim=True)",
    "x.topk(2, 1)", "x.topk(3, 1, largest=False)", "torch.linalg.matrix_norm(x, dim=(1,2))", "x.logsumexp((1,2))",
    "x.kthvalue(3, 1)", "torch.logcumsumexp(x, 1)", "x.norm(2, (1,2))",
]

ROWS = [
    ("x:f32[b,s]", FLOATS + REDUCE),
    ("x:f64[b,s]", [text for text in FLOATS if "torch.tensor" not in text] + REDUCE),
    ("x:f16[b,s]", [text for text in REDUCE if "prod" not in text]),
    ("x:bf16[b,s]", REDUCE[:30]),
    ("x:i64[b,s]", REDUCE),
    ("x:i32[b,s]", REDUCE),
    ("x:i16[b,s]", REDUCE),
    ("x:u8[b,s]", REDUCE),
    ("x:f32[b,4,s]", THREE_AXES),
    ("x:f32[3,4]", ["torch.linalg.norm(x, 1)", "torch.linalg.norm(x, inf)", "torch.linalg.norm(x, -1)",
                    "torch.linalg.matrix_norm(x, ord=-inf)"]),
]
