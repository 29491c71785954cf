#include "ops/microsoft/ports.h"
#include "ops/records.h"

namespace anyshape::ops {
namespace {

constexpr Port kCropIn[] = {{"X"}, {"rois"}, {"batch_indices"}, {"crop_size", Port::value}};
constexpr Port kExpandIn[] = {{"X"}, {"axis", Port::value}};
constexpr Port kGatherIn[] = {{"data"}, {"indices", Port::value | Port::settled}};
constexpr Port kGridIn[] = {{"X"}, {"Grid"}};
constexpr Port kPadIn[] = {{"data"}, {"pads", Port::value}, {"value", kOpt}};
constexpr Port kRangeIn[] = {{"start", Port::value}, {"limit", Port::value}, {"delta", kOpt | Port::value}};
constexpr Port kTriluIn[] = {{"X"}, {"k", kOpt | Port::value | Port::settled}};
constexpr Port kUniqueOut[] = {{"y"}, {"idx"}, {"counts"}};
constexpr AttributeDef kCDistAttributes[] = {
    {"metric", "sqeuclidean"},
};
constexpr AttributeDef kCropAndResizeAttributes[] = {
    {"extrapolation_value", 0.0f},
    {"mode", "bilinear"},
};
constexpr AttributeDef kGridSampleAttributes[] = {
    {"align_corners", 0},
    {"mode", "bilinear"},
    {"padding_mode", "zeros"},
};
constexpr AttributeDef kMurmurHash3Attributes[] = {
    {"positive", 1},
    {"seed", 0},
};
constexpr AttributeDef kPadAttributes[] = {
    {"mode", "constant"},
};
constexpr AttributeDef kTokenizerAttributes[] = {
    {"mark", AttributeDef::integer, AttributeDef::required},
    {"mincharnum", 1},
    {"pad_value", AttributeDef::string, AttributeDef::required},
    {"separators", AttributeDef::strings},
    {"tokenexp", AttributeDef::string},
};
constexpr AttributeDef kTriluAttributes[] = {
    {"upper", 1},
};

Result<Facts> infer_cdist(const Call& call, InferContext& context) {
  TRY_OK(require_rank(call, 0, 2));
  TRY_OK(require_rank(call, 1, 2));
  const Dims &a = *call.in(0).dims, &b = *call.in(1).dims;
  TRY_OK(context.require(Condition::eq(a[1], b[1]), "cdist.features", "A is {}, B is {}: rows must be equally long",
                         text(a), text(b)));
  return Facts{Fact::tensor(call.in(0).dtype, {a[0], b[0]})};
}

// The last axis holds real and imaginary part.
Result<Facts> infer_complex_mul(const Call& call, InferContext& context) {
  Dims parts[2];
  for (size_t i = 0; i < 2; ++i) {
    TRY_OK(require_min_rank(call, i, 1));
    parts[i] = *call.in(i).dims;
    TRY_OK(context.require(Condition::eq(parts[i].back(), 2), "complexmul.parts",
                           "the last axis of {} must hold the two parts of a number", text(parts[i])));
    parts[i].pop_back();
  }
  TRY(Dims out, broadcast_dims(context, parts));
  out.push_back(2);
  return Facts{Fact::tensor(call.in(0).dtype, std::move(out))};
}

Result<Facts> infer_crop(const Call& call, InferContext& context) {
  TRY_OK(require_rank(call, 0, 4));
  TRY_OK(require_rank(call, 1, 2));
  const Dims &x = *call.in(0).dims, &rois = *call.in(1).dims;
  TRY_OK(context.require(Condition::eq(rois[1], 4), "cropandresize.rois",
                         "rois, which is {}, must have 4 numbers for each box", text(rois)));
  TRY_OK(require_entries(call, context, 2, rois[0], "cropandresize.rois"));
  TRY_OK(require_entries(call, context, 3, 2, "cropandresize.size"));
  const auto& size = call.in(3).elements;
  Dims dims{rois[0], x[1]};
  for (size_t i = 0; i < 2; ++i) {
    const bool known = size && size->size() == 2;
    if (known)
      TRY_OK(context.require(Condition::ge((*size)[i], 1), "cropandresize.size",
                             "crop_size must be at least 1, it is {}", text(*size)));
    dims.push_back(known ? (*size)[i] : context.fresh(call.in(3), "crop"));
  }
  return Facts{Fact::tensor(call.in(0).dtype, std::move(dims))};
}

Result<Facts> infer_expand_dims(const Call& call, InferContext& context) {
  TRY(Dims dims, call.dims(0));
  const auto axis = call.in(1).single();
  const auto number = axis ? context.simplify(*axis).constant() : std::nullopt;
  if (!number) return Facts{Fact::tensor_of_unknown_rank(call.in(0).dtype)};
  TRY(const size_t at, normalize_axis(*number, dims.size() + 1));
  Fact out = call.in(0);
  out.constant = nullptr;
  dims.insert(dims.begin() + static_cast<ptrdiff_t>(at), 1);
  out.dims = std::move(dims);
  return Facts{out};
}

Result<Facts> infer_inverse(const Call& call, InferContext& context) {
  TRY_OK(require_min_rank(call, 0, 2));
  const Dims& dims = *call.in(0).dims;
  TRY_OK(context.require(Condition::eq(dims[dims.size() - 1], dims[dims.size() - 2]), "inverse.square",
                         "the matrices of {} must be square", text(dims)));
  return Facts{like(call.in(0))};
}

Result<Facts> infer_hash(const Call& call, InferContext&) {
  return Facts{like(call.in(0), call.i("positive") == 1 ? DType::u32 : DType::i32)};
}

Result<Facts> infer_tokenizer(const Call& call, InferContext& context) {
  TRY(Dims dims, call.dims(0));
  if (dims.size() != 1 && dims.size() != 2)
    return refuse("rank", "Tokenizer takes [C] or [N, C], the input is {}", text(dims));
  dims.push_back(context.data_dim("tokens"));
  return Facts{Fact::tensor(DType::string, std::move(dims))};
}

Result<Facts> infer_unique(const Call& call, InferContext& context) {
  TRY_OK(require_rank(call, 0, 1));
  const Dim size = call.in(0).dims->front();
  const Dim count = context.data_dim("unique", min(size, 1), size);
  return Facts{Fact::tensor(call.in(0).dtype, {count}), Fact::tensor(DType::i64, {size}),
               Fact::tensor(DType::i64, {count})};
}

Result<Facts> infer_gather_nd(const Call& call, InferContext& context) {
  return rule_of(kGatherND11, 13, call, context, {0, 1});
}
Result<Facts> infer_grid_sample(const Call& call, InferContext& context) {
  return rule_of(kGridSample16, 16, call, context, {0, 1});
}
Result<Facts> infer_pad(const Call& call, InferContext& context) {
  return rule_of(kPad11, 13, call, context, {0, 1, 2});
}
Result<Facts> infer_trilu(const Call& call, InferContext& context) {
  return rule_of(kTrilu14, 14, call, context, {0, 1});
}

// Without a step it is 1.
Result<Facts> infer_range(const Call& call, InferContext& context) {
  Fact one = Fact::of_elements(call.in(0).dtype, {}, {1});
  one.from_shapes = true;
  const std::vector<const Fact*> in{&call.in(0), &call.in(1), call.has(2) ? &call.in(2) : &one};
  return kRange11.infer(Call(call, kRange11, 11, in), context);
}

constexpr Kernel kCdistKernels[] = {{"reference", run_ms_cdist}};
constexpr Kernel kComplexMulKernels[] = {{"reference", run_ms_complex_mul}};
constexpr Kernel kCropAndResizeKernels[] = {{"reference", run_ms_crop_and_resize}};
constexpr Kernel kExpandDimsKernels[] = {{"reference", run_ms_expand_dims}};
constexpr Kernel kGatherNdKernels[] = {{"reference", run_ms_gather_nd}};
constexpr Kernel kGridSampleKernels[] = {{"reference", run_ms_grid_sample}};
constexpr Kernel kInverseKernels[] = {{"reference", run_ms_inverse}};
constexpr Kernel kMurmurHashKernels[] = {{"reference", run_ms_murmur_hash}};
constexpr Kernel kPadKernels[] = {{"reference", run_ms_pad}};
constexpr Kernel kRangeKernels[] = {{"reference", run_ms_range}};
constexpr Kernel kTokenizerKernels[] = {{"reference", run_ms_tokenizer}};
constexpr Kernel kTriluKernels[] = {{"reference", run_ms_trilu}};
constexpr Kernel kUniqueKernels[] = {{"reference", run_ms_unique}};

}  // namespace

constexpr OpDef kMsCDist1{.name = "CDist",
                          .domain = kMs,
                          .sig = {kAB, kY, "distances between rows", kCDistAttributes},
                          .infer = infer_cdist,
                          .kernels = kCdistKernels};
constexpr OpDef kMsComplexMul1{.name = "ComplexMul",
                               .domain = kMs,
                               .sig = {kAB, kY, "product of complex numbers"},
                               .infer = infer_complex_mul,
                               .kernels = kComplexMulKernels};
constexpr OpDef kMsComplexMulConj1{.name = "ComplexMulConj",
                                   .domain = kMs,
                                   .sig = {kAB, kY, "product with the conjugate"},
                                   .infer = infer_complex_mul,
                                   .kernels = kComplexMulKernels};
constexpr OpDef kMsCropAndResize1{.name = "CropAndResize",
                                  .domain = kMs,
                                  .sig = {kCropIn, kY, "boxes cut out and resized", kCropAndResizeAttributes},
                                  .infer = infer_crop,
                                  .kernels = kCropAndResizeKernels};
constexpr OpDef kMsExpandDims1{.name = "ExpandDims",
                               .domain = kMs,
                               .sig = {kExpandIn, kY, "one axis more"},
                               .infer = infer_expand_dims,
                               .kernels = kExpandDimsKernels};
constexpr OpDef kMsGatherND1{.name = "GatherND",
                             .domain = kMs,
                             .sig = {kGatherIn, kY, "slices chosen by index"},
                             .infer = infer_gather_nd,
                             .kernels = kGatherNdKernels};
constexpr OpDef kMsGridSample1{.name = "GridSample",
                               .domain = kMs,
                               .sig = {kGridIn, kY, "samples at positions", kGridSampleAttributes},
                               .infer = infer_grid_sample,
                               .kernels = kGridSampleKernels};
constexpr OpDef kMsInverse1{.name = "Inverse",
                            .domain = kMs,
                            .sig = {kX, kY, "inverse of matrices"},
                            .infer = infer_inverse,
                            .kernels = kInverseKernels};
constexpr OpDef kMsMurmurHashThree1{.name = "MurmurHash3",
                                    .domain = kMs,
                                    .sig = {kX, kY, "hashes of the entries", kMurmurHash3Attributes},
                                    .infer = infer_hash,
                                    .kernels = kMurmurHashKernels};
constexpr OpDef kMsPad1{.name = "Pad",
                        .domain = kMs,
                        .sig = {kPadIn, kY, "borders around a tensor", kPadAttributes},
                        .infer = infer_pad,
                        .kernels = kPadKernels};
constexpr OpDef kMsRange1{.name = "Range",
                          .domain = kMs,
                          .sig = {kRangeIn, kY, "numbers from start to limit"},
                          .infer = infer_range,
                          .kernels = kRangeKernels};
constexpr OpDef kMsTokenizer1{.name = "Tokenizer",
                              .domain = kMs,
                              .sig = {kX, kY, "strings cut into tokens", kTokenizerAttributes},
                              .infer = infer_tokenizer,
                              .kernels = kTokenizerKernels};
constexpr OpDef kMsTrilu1{.name = "Trilu",
                          .domain = kMs,
                          .sig = {kTriluIn, kY, "one triangle of matrices", kTriluAttributes},
                          .infer = infer_trilu,
                          .kernels = kTriluKernels};
constexpr OpDef kMsUnique1{.name = "Unique",
                           .domain = kMs,
                           .sig = {kX, kUniqueOut, "each value once"},
                           .infer = infer_unique,
                           .kernels = kUniqueKernels};

}  // namespace anyshape::ops
