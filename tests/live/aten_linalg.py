"""Inverses, solutions and factors of small matrices, areas and counts, for aten_live.py."""

# Positive definite, and far from singular.
DEFINITE = "a = torch.tanh(x) @ torch.tanh(x).mT + 2 * torch.eye(x.shape[-1], dtype=x.dtype); "

ROWS = [
    ("x:f32[b,4,4] y:f32[b,4,2]", [DEFINITE + text for text in (
        "torch.linalg.inv(a)", "torch.inverse(a)", "a.inverse()", "torch.linalg.inv_ex(a)",
        "torch.linalg.solve(a, y)", "torch.linalg.solve(a, y[..., 0])", "torch.linalg.solve(a[0], y[0, :, 1])",
        "torch.linalg.solve(a, y.mT, left=False)", "torch.linalg.solve_ex(a, y)[0]",
        "torch.linalg.cholesky(a)", "torch.linalg.cholesky(a, upper=True)", "torch.cholesky(a)",
        "torch.linalg.cholesky_ex(a)[0]", "torch.cholesky_solve(y, torch.linalg.cholesky(a))",
        "torch.cholesky_solve(y, torch.linalg.cholesky(a).mT, upper=True)", "torch.cholesky_inverse(torch.linalg.cholesky(a[0]))",
        "torch.linalg.solve_triangular(a, y, upper=False)", "torch.linalg.solve_triangular(a, y, upper=True)",
        "torch.linalg.solve_triangular(a, y, upper=True, unitriangular=True)",
        "torch.linalg.solve_triangular(a, y.mT, upper=False, left=False)",
        "torch.linalg.det(a)", "torch.det(a[0])", "torch.logdet(a)", "torch.slogdet(a)", "torch.linalg.slogdet(-a)",
        "torch.linalg.matrix_power(a, 3)", "torch.matrix_power(a, 1)", "torch.linalg.matrix_power(a, -2)",
        "torch.linalg.matrix_power(a, 0)", "torch.matrix_exp(x)", "torch.linalg.matrix_exp(-a)",
    )]),
    # The largest entry of a column is not the first.
    ("x:f32[b,3,3]", ["torch.linalg.inv(x.tanh() + 3 * torch.eye(3).flip(0))",
                      "torch.linalg.solve(x.tanh() + 3 * torch.eye(3).roll(1, 0), x)"]),
    ("x:f64[b,2,3,3]", [DEFINITE + "torch.linalg.inv(a)", DEFINITE + "torch.linalg.cholesky(a)"]),
    ("x:f32[1,1]", ["torch.linalg.inv(x.abs() + 1)"]),
    ("x:f32[3,s] i:i64+[s]", ["torch.trapz(x, dim=1)", "torch.trapezoid(x, dx=0.5)", "torch.trapz(x, x.cumsum(1), dim=1)",
                              "torch.trapz(x, torch.arange(3.0), dim=0)", "torch.bincount(i)", "torch.bincount(i, minlength=20)",
                              "torch.bincount(i, weights=x[0])"]),
]
