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
    r"shifted)|^linalg_(ldl|lu|solve|lstsq|svd|eig|qr|cholesky|inv|det|slogdet|matrix_(exp|power|rank))"
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
        if space != "aten" or "out" in schema.overload_name.split("_") or SKIPPED.search(name):
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


def main():
    print(HEAD.format(version=torch.__version__.partition("+")[0]), end="")
    rows = list(texts())
    for name, text in sorted(rows, key=lambda row: row[0]):
        print("    " + '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '",')
    print(TAIL, end="")


if __name__ == "__main__":
    main()
