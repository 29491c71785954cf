#include <algorithm>

#include "ops/records.h"
#include "ops/window.h"

namespace anyshape::ops {
namespace {

constexpr Port kInDft17[] = {{"input"}, {"dft_length", Port::optional | Port::value}};
constexpr Port kInDft20[] = {
    {"input"}, {"dft_length", Port::optional | Port::value}, {"axis", Port::optional | Port::value}};
constexpr Port kInStft[] = {{"signal"},
                            {"frame_step", Port::value},
                            {"window", Port::optional},
                            {"frame_length", Port::optional | Port::value}};
constexpr Port kOut[] = {{"output"}};

// A size given as a one-entry tensor, at least 1.
Result<Dim> size_input(const Call& call, InferContext& context, size_t input, std::string_view code,
                       std::string_view what) {
  const auto size = call.in(input).single();
  if (!size) return context.fresh(call.in(input), what, 1);
  TRY_OK(context.require(Condition::ge(*size, 1), code, "{} is {}, at least 1 is needed", what, print(*size)));
  return *size;
}

// nullopt: not known before the model runs.
Result<std::optional<size_t>> dft_axis(const Call& call, size_t rank) {
  int64_t axis = call.version() < 20 ? call.i("axis", 1) : -2;
  if (call.has(2)) {
    const auto given = call.in(2).single();
    if (!given || !given->is_constant()) return std::optional<size_t>();
    axis = *given->constant();
  }
  TRY(const size_t found, normalize_axis(axis, rank));
  if (found + 1 == rank)
    return refuse("dft.axis", "axis {} is the one of real and imaginary parts, no axis of the signal", axis);
  return std::optional(found);
}

Status require_parts(InferContext& context, Dim parts, bool onesided, bool inverse) {
  if (onesided && inverse)
    return context.require(Condition::eq(parts, 2), "dft.parts",
                           "the one-sided inverse needs complex input: the last axis is {}, not 2", print(parts));
  TRY_OK(context.require(Condition::eq(parts, 1) || Condition::eq(parts, 2), "dft.parts",
                         "the last axis must be 1 (real) or 2 (complex), it is {}", print(parts)));
  if (!onesided) return {};
  return context.require(Condition::eq(parts, 1), "lenient.dft",
                         "the one-sided transform needs real input: the last axis is {}, not 1", print(parts));
}

Result<Facts> infer_dft(const Call& call, InferContext& context) {
  TRY(const Dims x, call.dims(0));
  if (x.size() < 2) return refuse("rank", "DFT takes an input of rank 2 or more, it is {}", text(x));
  const bool onesided = call.i("onesided", 0) != 0, inverse = call.i("inverse", 0) != 0;
  TRY_OK(require_parts(context, x.back(), onesided, inverse));
  TRY(const auto axis, dft_axis(call, x.size()));
  Dims out = x;
  out.back() = onesided && inverse ? 1 : 2;
  if (!axis) {
    for (size_t i = 0; i + 1 < out.size(); ++i) out[i] = context.fresh(call.in(2), "dft");
    return Facts{Fact::tensor(call.in(0).dtype, std::move(out))};
  }
  Dim length = x[*axis];
  if (call.has(1)) {
    TRY(length, size_input(call, context, 1, "dft.length", "dft_length"));
  } else if (onesided && inverse) {
    TRY_OK(context.require(Condition::ge(length, 1), "dft.length", "the one-sided inverse of an empty axis"));
    length = (length - 1) * Dim(2);
  }
  out[*axis] = onesided && !inverse ? floordiv(length, 2) + 1 : length;
  Condition legal = Condition::ge(x[*axis], 1);
  for (size_t i = 0; i + 1 < out.size(); ++i)
    if (i != *axis || !onesided || inverse) legal = legal || Condition::eq(out[i], 0);
  TRY_OK(
      context.require(legal, "dft.empty", "axis {} of {} is empty, the output {} is not", *axis, text(x), text(out)));
  return Facts{Fact::tensor(call.in(0).dtype, std::move(out))};
}

Result<Dim> frame_length(const Call& call, InferContext& context, Dim signal) {
  std::optional<Dim> window;
  if (call.has(2)) {
    TRY(const Dims dims, dims_of_rank(call, 2, 1));
    window = dims[0];
  }
  Dim length = window.value_or(signal);
  if (call.has(3)) {
    TRY(length, size_input(call, context, 3, "stft.length", "frame_length"));
    if (window)
      TRY_OK(context.require(Condition::eq(*window, length), "stft.window",
                             "the window has {} entries, frame_length is {}", print(*window), print(length)));
  }
  TRY_OK(context.require(Condition::ge(length, 1), "stft.length", "a frame of {} samples", print(length)));
  TRY_OK(context.require(Condition::ge(signal, length), "stft.signal", "{} samples are less than one frame of {}",
                         print(signal), print(length)));
  return length;
}

Result<Facts> infer_stft(const Call& call, InferContext& context) {
  TRY(const Dims x, call.dims(0));
  if (x.size() == 2) return refuse("lenient.stft", "STFT takes a signal of rank 3, it is {}", text(x));
  TRY_OK(require_rank(call, 0, 3));
  const bool onesided = call.i("onesided", 1) != 0;
  TRY_OK(require_parts(context, x[2], onesided, false));
  TRY(const Dim length, frame_length(call, context, x[1]));
  TRY(const Dim step, size_input(call, context, 1, "stft.step", "frame_step"));
  const Dim frames = floordiv(x[1] - length, step) + 1;
  const Dim bins = onesided ? floordiv(length, 2) + 1 : length;
  return Facts{Fact::tensor(call.in(0).dtype, {x[0], frames, bins, 2})};
}

}  // namespace

constexpr OpDef kDFT17{
    .name = "DFT", .since = 17, .sig = {kInDft17, kOut, "discrete Fourier transform"}, .infer = infer_dft};
constexpr OpDef kDFT20{
    .name = "DFT", .since = 20, .sig = {kInDft20, kOut, "discrete Fourier transform"}, .infer = infer_dft};
constexpr OpDef kSTFT17{
    .name = "STFT", .since = 17, .sig = {kInStft, kOut, "Fourier transforms of sliding frames"}, .infer = infer_stft};

}  // namespace anyshape::ops
