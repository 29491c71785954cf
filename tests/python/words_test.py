"""Advice of the library in the words of the package."""

import re
import unittest
from pathlib import Path

import anyshape
from anyshape._words import pythonic

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples"

# Texts in the source: one literal may be several.
LITERAL = re.compile(r'"((?:[^"\\\n]|\\.)*)"')
JOINED = re.compile(r'"\s*\n\s*"')
OPTION = re.compile(r"(?:^|[\s(`])--[a-z]+")
# Files whose sentences never come to Python: they name the options, or are about what only the program does.
OF_THE_PROGRAM = ("api/options.cpp", "base/known_format.cpp", "check/baseline.cpp", "check/text.cpp",
                  "picture/plan_page.cpp")  # fmt: skip

ROWS = r"""
--target cuda, --target mql5 | target='cuda', target='mql5'
--allow in:put:0 | allow=['in:put:0']
--freeze batch=N instead of --allow | freeze={'batch': N} instead of allow=
--shape x=1x120x1, or x=scalar | shapes={'x': (1, 120, 1)}, or x=scalar
x:0=1x2 | {'x:0': (1, 2)}
--shape x=scalar | shapes={'x': ()}
--input "x=f32[batch,10]" with its sizes | inputs=['x=f32[batch,10]'] with its sizes
--custom-shape "a::b: y = [x0, x1]" | custom_shapes={'a::b': 'y = [x0, x1]'}
it stays so; --static pins it | it stays so; static=True pins it
export with --opset 18. | export with opset_version=18.
pip install onnxruntime, or --ort-lib FILE | pip install onnxruntime, or ort_library='FILE'
anyshape rules | anyshape.rules()
anyshape infer model.onnx -o out.onnx | anyshape.infer_shapes('model.onnx', output='out.onnx')
as is: anyshape fix m.onnx --rename a=b -o o.onnx, or | as is: anyshape.fix('m.onnx', rename={'a': 'b'}, output='o.onnx'), or
anyshape fix 'my model.onnx' --dynamic 'in put:0:1=s,-1=t' -o o.onnx | anyshape.fix('my model.onnx', dynamic={'in put:0': {1: 's', -1: 't'}}, output='o.onnx')
anyshape fix m.onnx --freeze a=1 --freeze b=2 --simplify -o o.onnx | anyshape.fix('m.onnx', freeze={'a': 1, 'b': 2}, simplify=True, output='o.onnx')
anyshape fix m.onnx --dynamic x:0=a --dynamic x:1=b -o o | anyshape.fix('m.onnx', dynamic={'x': {0: 'a', 1: 'b'}}, output='o')
anyshape fix $'m\xc3\xa4.onnx' --target mql5 | anyshape.fix('mä.onnx', target='mql5')
anyshape fix 'it'\''s.onnx' --simplify | anyshape.fix("it's.onnx", simplify=True)
(anyshape export --opset 17, torch.onnx.export opset_version=17) | (anyshape.export(opset_version=17), torch.onnx.export opset_version=17)
(anyshape export --dynamic x:1=s) | (anyshape.export(dynamic_axes={'x': {1: 's'}}))
git lfs pull --include m.onnx | git lfs pull --include m.onnx
anyshape check m.onnx --fail-on never | anyshape check m.onnx --fail-on never
--strict refuses the model | strict=True refuses the model
anyshape export -o model.onnx 'my program.pt2' | anyshape.export('my program.pt2', f='model.onnx')
anyshape export --opset 17 makes one | anyshape.export(opset_version=17) makes one
"it's" -- the model's | "it's" -- the model's
--dynamic x:one=s | --dynamic x:one=s
"""


class WordsTest(unittest.TestCase):
    def test_rows(self):
        for row in ROWS.strip().splitlines():
            given, wanted = row.split(" | ")
            with self.subTest(given):
                self.assertEqual(pythonic(given), wanted)

    def test_findings_are_calls_that_work(self):
        report = anyshape.check(EXAMPLES / "lstm_baked.onnx")
        (finding,) = report.findings
        self.assertNotIn("--", str(report))
        call = finding["fix"][finding["fix"].index("anyshape.fix(") :]
        call = call[: call.index(", output=")] + ")"
        made = eval(call, {"anyshape": anyshape})
        self.assertEqual(made.check().conditions, ["batch >= 1", "seq >= 1"])

    def test_sentences_of_the_library(self):
        """No text of it leaves an option of the program in a sentence, but where the command has no call here."""
        left, tried = [], 0
        for path in (ROOT / "src").rglob("*.cpp"):
            if path.name.endswith("_test.cpp") or path.relative_to(ROOT / "src").as_posix() in OF_THE_PROGRAM:
                continue
            lines = [line for line in path.read_text().splitlines() if not line.lstrip().startswith("//")]
            for literal in LITERAL.findall(JOINED.sub("", "\n".join(lines))):
                sentence = literal.replace('\\"', '"').replace("{}", "1")
                if sentence.endswith(" "):
                    continue  # what follows is in another literal
                if OPTION.search(sentence) and not sentence.startswith("python -m"):
                    tried += 1
                    left += [f"{path}: {sentence}"] if OPTION.search(pythonic(sentence)) else []
        self.assertEqual(left, [])
        self.assertGreater(tried, 20)

    def test_rules(self):
        for rule in anyshape.rules():
            self.assertNotIn("--", rule.sentence)


if __name__ == "__main__":
    unittest.main()
