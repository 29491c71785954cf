"""Operators that read a tensor's memory, for aten_live.py."""

ROWS = [
    ("x:f32[b,6]", [
        "x.as_strided((x.shape[0], 2, 3), (6, 3, 1))",
        "x.as_strided((x.shape[0], 3, 2), (6, 2, 1))",
        "x.as_strided((x.shape[0], 5, 2), (6, 1, 1))",
        "x.as_strided((x.shape[0], 2), (6, 2), 1)",
        "x.as_strided((6, x.shape[0]), (1, 6))",
        "x.as_strided((x.shape[0], 6, 4), (6, 1, 0))",
        "x.as_strided((x.shape[0] * 6,), (1,))",
        "x.as_strided((3, 2), (1, 2))",
        "(x * 2).as_strided((x.shape[0], 2, 3), (6, 1, 2))",
        "torch.as_strided_copy(x, (x.shape[0], 4), (6, 1), 2)",
        "torch.as_strided_scatter(x, torch.ones(x.shape[0], 2), (x.shape[0], 2), (6, 3))",
        "y = x + 1; y.as_strided((x.shape[0], 2), (6, 1)).mul_(3); y",
        "y = x * 1; y.as_strided_((x.shape[0], 2), (6, 1)); y",
        "x.unsqueeze(1).as_strided((x.shape[0], 2, 3), (6, 3, 1))",
        "x[:, None, :, None].as_strided((x.shape[0], 3), (6, 1))",
    ]),
    ("x:f32[b,s]", [
        "x.as_strided((x.shape[0], x.shape[1]), (x.shape[1], 1))",
        "x.as_strided((x.shape[1], x.shape[0]), (1, x.shape[1]))",
        "x.t().as_strided((x.shape[0], x.shape[1]), (x.shape[1], 1))",
        "(x.t() * 2).as_strided((x.shape[0] * x.shape[1],), (1,))",
        "x.t().contiguous().as_strided((x.shape[0] * x.shape[1],), (1,))",
        "x.as_strided((x.shape[0], x.shape[1] - 1, 2), (x.shape[1], 1, 1))",
        "x.as_strided((min(x.shape[0], x.shape[1]),), (x.shape[1] + 1,))",
    ]),
]
