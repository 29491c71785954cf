"""Settings of check, and reports that are baselines."""

FILES = {
    "all.toml": """# Settings of all models.
fail-on = "warning"
ignore = ["anonymous-axis"]   # axes of `anonymous.onnx`
""",
    "models.toml": """
[[model]]
path = '../every.onnx'
require = [
  "batch in 1..64",  # and any seq
  "seq <= 512",
]

[[model]]
path = "../pin*.onnx"
require = ["x=[1..4, 100..120]"]
""",
    "of_folder/.anyshape.toml": """
fail-on = "warning"
[[model]]
path = "**/*.onnx"
policy = "batch-only"
allow = ["x:1"]
""",
    "baseline.toml": """
fail-on = "warning"
baseline = "known.json"
""",
    "key.toml": 'ignores = ["pinned-axis"]\n',
    "value.toml": "\n\nfail-on = 3\n",
    "choice.toml": 'fail-on = "info"\n',
    "table.toml": "[models]\n",
    "no_path.toml": '[[model]]\nrequire = ["x"]\n',
    "twice.toml": 'ignore = []\nignore = []\n',
    "float.toml": "ignore = 1.5\n",
    "open.toml": 'ignore = ["a",\n"b"\n',
    "long.toml": 'fail-on = """error"""\n',
    "rest.toml": 'fail-on = "error" "warning"\n',
    "no_baseline.toml": 'baseline = "missing.json"\n',
    "broken_baseline.toml": 'baseline = "all.toml"\n',
}


def write_all(folder):
    for name, content in FILES.items():
        path = folder / "configs" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")
