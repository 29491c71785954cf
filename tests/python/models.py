"""Small models from text, for the tests of this folder."""

import onnx
import onnx.parser

_HEAD = '<ir_version: 8, opset_import: ["" : 17, "test" : 1]>\n'

# As many rounds as the first input says.
SPIN = """spin (int64 rounds, float[n] x) => (float[n] y) {
    go = Constant <value = bool {1}> ()
    y = Loop (rounds, go, x) <body = turn (int64 i, bool go_in, float[n] v) => (bool go_out, float[n] w) {
        go_out = Identity (go_in)
        w = Neg (v)
    }>
}"""

# Large enough that several threads share the work.
PRODUCT = """product (float[n, 256] x) => (float[n, n] y) {
    t = Transpose <perm = [1, 0]> (x)
    y = MatMul (x, t)
}"""


def model(text, **weights):
    """The bytes of a model; `weights`: initializers by name, as arrays."""
    parsed = onnx.parser.parse_model(_HEAD + text)
    parsed.graph.initializer.extend(onnx.numpy_helper.from_array(value, name) for name, value in weights.items())
    return parsed.SerializeToString()
