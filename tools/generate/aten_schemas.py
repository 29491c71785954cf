#!/usr/bin/env python3
"""aten_schemas.py > src/lower/schema_table.cpp: PyTorch's own list of operators (run with the pinned PyTorch).

A .pt2 leaves out arguments that have their default value and a TorchScript file names no overload, so a reader needs
the declarations. Left out: variants that write into `out=`, gradients, and families no exported model calls.
"""

import re

import torch

SKIPPED = re.compile(
    r"_backward|backward_|_foreach|_fused|sparse|mkldnn|cudnn|miopen|quantize|fbgemm|_cuda|_mps|_nested(?!_tensor_from_mask)|_out$|"
    r"^_test|^_cslt|^_make_per|named_|^_thnn_diff|^q_|^sym_(?!constrain)|^special_chebyshev|^special_(hermite|laguerre|legendre|"
    r"shifted)|^linalg_(ldl|lu|lstsq|svd|eig|qr|matrix_rank)"
)

KEPT = re.compile(r"^(dequantize|int_repr|q_scale|q_zero_point|quantize_per_(tensor|channel|tensor_dynamic)|"
                  r"_?fake_quantize_per_\w+affine(_cachemask(_tensor_qparams)?)?)$")

# Of quantised modules, whose packed weights are given here as what they were packed from; and of torch.ao, which need not
# be there when this runs.
LINEAR = "Tensor X, Tensor W, Tensor? B"
CONV = "Tensor X, Tensor W, Tensor? B, int[] stride, int[] padding, int[] dilation, int groups"
RANGE = "int quant_min, int quant_max"
QUANTIZED = (
    *(f"quantized::{name}({LINEAR}, float Y_scale_i, int Y_zero_point_i) -> Tensor" for name in ("linear", "linear_relu")),
    *(f"quantized::{name}({LINEAR}, bool reduce_range=False) -> Tensor" for name in ("linear_dynamic", "linear_relu_dynamic")),
    *(f"quantized::conv{n}d{relu}({CONV}, float output_scale, int output_zero_point) -> Tensor"
      for n in (1, 2, 3) for relu in ("", "_relu")),
    *(f"quantized::{name}(Tensor qa, Tensor qb, float scale, int zero_point) -> Tensor"
      for name in ("add", "add_relu", "mul", "mul_relu", "matmul")),
    *(f"quantized::{name}(Tensor[] qx, int dim, float? scale, int? zero_point) -> Tensor" for name in ("cat", "cat_relu")),
    "quantized::celu(Tensor self, float output_scale, int output_zero_point, Scalar alpha=1) -> Tensor",
    "quantized::elu(Tensor self, float output_scale, int output_zero_point, Scalar alpha=1, Scalar scale=1, "
    "Scalar input_scale=1) -> Tensor",
    "quantized::hardswish(Tensor input, float output_scale, int output_zero_point) -> Tensor",
    "quantized::leaky_relu(Tensor qx, Scalar negative_slope, bool inplace, float output_scale, int output_zero_point) -> Tensor",
    "quantized::relu6(Tensor qx, bool inplace=False) -> Tensor",
    "quantized::sigmoid(Tensor qx, float output_scale, int output_zero_point) -> Tensor",
    "quantized::layer_norm(Tensor input, int[] normalized_shape, Tensor? weight, Tensor? bias, float eps, "
    "float output_scale, int output_zero_point) -> Tensor",
    "quantized::batch_norm2d(Tensor qx, Tensor? weight, Tensor? bias, Tensor mean, Tensor var, float eps, "
    "float output_scale, int output_zero_point) -> Tensor",
    *(f"quantized_decomposed::{way}_per_tensor{kind}(Tensor input, {scale} scale, {zero} zero_point, {size}, ScalarType dtype{out}) "
      "-> Tensor"
      for way, out in (("quantize", ""), ("dequantize", ", *, ScalarType? out_dtype=None"))
      for kind, scale, zero, size in (("", "float", "int", RANGE), (".tensor", "Tensor", "Tensor", RANGE),
                                      (".tensor2", "Tensor", "Tensor", "Tensor quant_min, Tensor quant_max"))),
    f"quantized_decomposed::quantize_per_channel(Tensor input, Tensor scales, Tensor zero_points, int axis, {RANGE}, "
    "ScalarType dtype) -> Tensor",
    f"quantized_decomposed::dequantize_per_channel(Tensor input, Tensor scales, Tensor? zero_points, int axis, {RANGE}, "
    "ScalarType dtype, *, ScalarType? out_dtype=None) -> Tensor",
    f"quantized_decomposed::choose_qparams.tensor(Tensor input, {RANGE}, float eps, ScalarType dtype) -> (Tensor, Tensor)",
)

# Of torchvision, which need not be there when this runs.
TORCHVISION = (
    "deform_conv2d(Tensor input, Tensor weight, Tensor offset, Tensor mask, Tensor bias, SymInt stride_h, SymInt stride_w, "
    "SymInt pad_h, SymInt pad_w, SymInt dilation_h, SymInt dilation_w, SymInt groups, SymInt offset_groups, bool use_mask) "
    "-> Tensor",
    "nms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor",
    "ps_roi_align(Tensor input, Tensor rois, float spatial_scale, SymInt pooled_height, SymInt pooled_width, "
    "int sampling_ratio) -> (Tensor, Tensor)",
    "roi_align(Tensor input, Tensor rois, float spatial_scale, SymInt pooled_height, SymInt pooled_width, "
    "int sampling_ratio, bool aligned) -> Tensor",
    "roi_pool(Tensor input, Tensor rois, float spatial_scale, SymInt pooled_height, SymInt pooled_width) "
    "-> (Tensor, Tensor)",
)

HEAD = """// Written by tools/generate/aten_schemas.py from PyTorch {version}. Do not edit.
#include "lower/schema_table.h"

namespace anyshape::lower {{

// clang-format off
constexpr std::string_view kTable[] = {{
"""
TAIL = """};
// clang-format on

std::span<const std::string_view> schema_table() { return kTable; }

}  // namespace anyshape::lower
"""


def texts():
    for schema in torch._C._jit_get_all_schemas():
        space, _, name = schema.name.partition("::")
        if space != "aten" or "out" in schema.overload_name.split("_"):
            continue
        if SKIPPED.search(name) and not KEPT.search(name):
            continue
        text = str(schema).removeprefix("aten::")
        types = " ".join(str(argument.type) for argument in schema.arguments)
        if re.search(r"\b(Any|Dict|t1?\b|AnyEnumType|Stream|QScheme|Storage)\b", types):
            continue
        if any(ord(c) > 126 for c in text) or "out" in [a.name for a in schema.arguments if a.kwarg_only]:
            continue
        yield name, text
    for text in TORCHVISION:
        yield "torchvision::" + text.partition("(")[0], "torchvision::" + text
    for text in QUANTIZED:
        yield re.split(r"[.(]", text)[0], text


def main():
    print(HEAD.format(version=torch.__version__.partition("+")[0]), end="")
    rows = list(texts())
    for name, text in sorted(rows, key=lambda row: row[0]):
        print("    " + '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '",')
    print(TAIL, end="")


if __name__ == "__main__":
    main()
