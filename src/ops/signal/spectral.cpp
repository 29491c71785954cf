#include <algorithm>
#include <complex>

#include "kernels/fft.h"
#include "kernels/reals.h"
#include "ops/nn/window.h"
#include "ops/records.h"

namespace anyshape::ops {
namespace {

constexpr Port kInDft17[] = {{"input"}, {"dft_length", Port::optional | Port::value}};
constexpr Port kInDft20[] = {
    {"input"}, {"dft_length", Port::optional | Port::value}, {"axis", Port::optional | Port::value}};
constexpr Port kInStft[] = {{"signal"},
                            {"frame_step", Port::value},
                            {"window", Port::optional},
                            {"frame_length", Port::optional | Port::value}};
constexpr Port kSpectralOut[] = {{"output"}};
constexpr AttributeDef kDFT17Attributes[] = {
    {"axis", 1},
    {"inverse", 0},
    {"onesided", 0},
};
constexpr AttributeDef kDFT20Attributes[] = {
    {"inverse", 0},
    {"onesided", 0},
};
constexpr AttributeDef kSTFTAttributes[] = {
    {"onesided", 1},
};

// A size given as a one-entry tensor, at least 1.
Result<Dim> size_input_spectral(const Call& call, InferContext& context, size_t input, std::string_view code,
                                std::string_view what) {
  const auto size = call.in(input).single();
  if (!size) return context.fresh(call.in(input), what, 1);
  TRY_OK(context.require(Condition::ge(*size, 1), code, "{} must be at least 1, it is {}", what, print(*size)));
  return *size;
}

// nullopt: not known before the model runs.
Result<std::optional<size_t>> dft_axis(const Call& call, size_t rank) {
  int64_t axis = call.version() < 20 ? call.i("axis") : -2;
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
                           "the one-sided inverse needs complex input: the last axis must be 2, it is {}",
                           print(parts));
  TRY_OK(context.require(Condition::eq(parts, 1) || Condition::eq(parts, 2), "dft.parts",
                         "the last axis must be 1 (real) or 2 (complex), it is {}", print(parts)));
  if (!onesided) return {};
  return context.require(Condition::eq(parts, 1), lenient("lenient.dft"),
                         "the one-sided transform needs real input: the last axis must be 1, it is {}", print(parts));
}

Result<Facts> infer_dft(const Call& call, InferContext& context) {
  TRY(const Dims x, call.dims(0));
  if (x.size() < 2) return refuse("rank", "DFT takes an input of rank 2 or more, it is {}", text(x));
  const bool onesided = call.i("onesided") != 0, inverse = call.i("inverse") != 0;
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
    TRY(length, size_input_spectral(call, context, 1, "dft.length", "dft_length"));
  } else if (onesided && inverse) {
    TRY_OK(context.require(Condition::ge(length, 1), "dft.length",
                           "the one-sided inverse needs an axis that is not empty"));
    length = (length - 1) * Dim(2);
  }
  out[*axis] = onesided && !inverse ? floordiv(length, 2) + 1 : length;
  Condition legal = Condition::ge(x[*axis], 1);
  for (size_t i = 0; i + 1 < out.size(); ++i)
    if (i != *axis || !onesided || inverse) legal = legal || Condition::eq(out[i], 0);
  TRY_OK(context.require(legal, "dft.empty", "axis {} of {} must not be empty where the output {} is not", *axis,
                         text(x), text(out)));
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
    TRY(length, size_input_spectral(call, context, 3, "stft.length", "frame_length"));
    if (window)
      TRY_OK(context.require(Condition::eq(*window, length), "stft.window",
                             "the window must have frame_length entries: {} and {}", print(*window), print(length)));
  }
  TRY_OK(context.require(Condition::ge(length, 1), "stft.length", "a frame must have at least 1 sample, it has {}",
                         print(length)));
  TRY_OK(context.require(Condition::ge(signal, length), "stft.signal", "{} samples must be at least one frame of {}",
                         print(signal), print(length)));
  return length;
}

Result<Facts> infer_stft(const Call& call, InferContext& context) {
  TRY(const Dims x, call.dims(0));
  // Exporters leave out the axis of parts of a real signal.
  const bool real = x.size() == 2;
  if (real) {
    TRY_OK(context.expect(Condition::never(), "lenient.stft",
                          "STFT takes a signal of rank 3, [batch, samples, 1 or 2], it is {}", text(x)));
  } else {
    TRY_OK(require_rank(call, 0, 3));
  }
  const bool onesided = call.i("onesided") != 0;
  TRY_OK(require_parts(context, real ? Dim(1) : x[2], onesided, false));
  TRY(const Dim length, frame_length(call, context, x[1]));
  TRY(const Dim step, size_input_spectral(call, context, 1, "stft.step", "frame_step"));
  const Dim frames = floordiv(x[1] - length, step) + 1;
  const Dim bins = onesided ? floordiv(length, 2) + 1 : length;
  return Facts{Fact::tensor(call.in(0).dtype, {x[0], frames, bins, 2})};
}

constexpr int64_t kLongest = int64_t{1} << 23;

using Complex = std::complex<double>;

Result<int64_t> number_in_spectral(const Tensor& tensor, std::string_view code) {
  if (!is_integer(tensor.dtype()) || tensor.count() != 1) return refuse(code, "one integer is needed");
  return tensor.int_at(0);
}

Status check_length(int64_t length) {
  if (length >= 0 && length <= kLongest) return {};
  return refuse("dft.length", "a transform of length {}", length);
}

// The numbers of one line of the input, cut or filled up with zeros to `length`.
Temporary<Complex> line_of(const Temporary<double>& in, size_t parts, int64_t base, int64_t stride, int64_t size,
                           int64_t length) {
  Temporary<Complex> line(static_cast<size_t>(length));
  for (int64_t i = 0; i < std::min(size, length); ++i) {
    const size_t at = static_cast<size_t>(base + i * stride) * parts;
    line[static_cast<size_t>(i)] = {in[at], parts == 2 ? in[at + 1] : 0};
  }
  return line;
}

// The other half of the spectrum of a real signal. Its first entry is real, and the middle one of an even length.
void complete_spectrum(Temporary<Complex>& line) {
  const size_t n = line.size();
  if (n > 0) line[0] = line[0].real();
  if (n % 2 == 0 && n > 0) line[n / 2] = line[n / 2].real();
  for (size_t k = n / 2 + 1; k < n; ++k) line[k] = std::conj(line[n - k]);
}

struct Dft {
  size_t axis = 0;
  int64_t length = 0;
  bool onesided = false, inverse = false;
};

Result<Dft> read_dft(const Call& call, const KernelArgs& args) {
  const Tensor& x = args.in(0);
  Dft how{0, 0, call.i("onesided") != 0, call.i("inverse") != 0};
  int64_t axis = call.version() < 20 ? call.i("axis") : -2;
  if (call.version() >= 20 && args.in(2)) {
    TRY(axis, number_in_spectral(args.in(2), "dft.axis"));
  }
  TRY(how.axis, normalize_axis(axis, x.rank()));
  if (how.axis + 1 == x.rank()) return refuse("dft.axis", "axis {} is the one of real and imaginary parts", axis);
  how.length = x.dims()[how.axis];
  if (args.in(1)) {
    TRY(how.length, number_in_spectral(args.in(1), "dft.length"));
  } else if (how.onesided && how.inverse) {
    how.length = 2 * (how.length - 1);
  }
  TRY_OK(check_length(how.length));
  return how;
}

Status run_dft(const Call& call, KernelArgs& args) {
  const Tensor& x = args.in(0);
  if (!args.out(0)) return unknown("dft.length", "the length is not known");
  TRY(const Dft how, read_dft(call, args));
  TRY(const auto in, kernels::to_reals(x));
  const auto parts = static_cast<size_t>(x.dims().back()), out_parts = static_cast<size_t>(args.out(0).dims().back());
  const int64_t size = x.dims()[how.axis], out_size = args.out(0).dims()[how.axis];
  int64_t outer = 1, inner = 1;
  for (size_t i = 0; i < how.axis; ++i) outer *= x.dims()[i];
  for (size_t i = how.axis + 1; i + 1 < x.rank(); ++i) inner *= x.dims()[i];
  const kernels::Fft fft(static_cast<size_t>(how.length));
  Temporary<double> out(static_cast<size_t>(args.out(0).count()));
  const bool real = how.onesided && how.inverse;
  for (int64_t o = 0; o < outer; ++o)
    for (int64_t i = 0; i < inner; ++i) {
      const int64_t given = real ? std::min(size, how.length / 2 + 1) : size;
      auto line = line_of(in, parts, o * size * inner + i, inner, given, how.length);
      if (real) complete_spectrum(line);
      fft.run(line, how.inverse);
      for (int64_t k = 0; k < out_size; ++k) {
        const size_t at = static_cast<size_t>((o * out_size + k) * inner + i) * out_parts;
        out[at] = line[static_cast<size_t>(k)].real();
        if (out_parts == 2) out[at + 1] = line[static_cast<size_t>(k)].imag();
      }
    }
  return kernels::from_reals(out, args.out(0));
}

Status run_stft(const Call&, KernelArgs& args) {
  const Tensor &x = args.in(0), &window = args.in(2);
  if (!args.out(0)) return unknown("stft.length", "the length is not known");
  TRY(const int64_t step, number_in_spectral(args.in(1), "stft.step"));
  int64_t length = window ? window.count() : x.dims()[1];
  if (args.in(3)) {
    TRY(length, number_in_spectral(args.in(3), "stft.length"));
  }
  TRY_OK(check_length(length));
  TRY(const auto in, kernels::to_reals(x));
  Temporary<double> weights(static_cast<size_t>(length), 1);
  if (window) {
    TRY(weights, kernels::to_reals(window));
  }
  const size_t parts = x.rank() == 2 ? 1 : static_cast<size_t>(x.dims()[2]);
  const int64_t samples = x.dims()[1], frames = args.out(0).dims()[1], bins = args.out(0).dims()[2];
  const kernels::Fft fft(static_cast<size_t>(length));
  Temporary<double> out;
  for (int64_t row = 0; row < x.dims()[0] * frames; ++row) {
    const int64_t start = row / frames * samples + row % frames * step;
    auto line = line_of(in, parts, start, 1, length, length);
    for (size_t i = 0; i < line.size(); ++i) line[i] *= weights[i];
    fft.run(line, false);
    for (int64_t k = 0; k < bins; ++k) {
      out.push_back(line[static_cast<size_t>(k)].real());
      out.push_back(line[static_cast<size_t>(k)].imag());
    }
  }
  return kernels::from_reals(out, args.out(0));
}

constexpr Kernel kDftKernels[] = {{"reference", run_dft}};
constexpr Kernel kStftKernels[] = {{"reference", run_stft}};

}  // namespace

constexpr OpDef kDFT17{.name = "DFT",
                       .since = 17,
                       .sig = {kInDft17, kSpectralOut, "discrete Fourier transform", kDFT17Attributes},
                       .infer = infer_dft,
                       .kernels = kDftKernels};
constexpr OpDef kDFT20{.name = "DFT",
                       .since = 20,
                       .sig = {kInDft20, kSpectralOut, "discrete Fourier transform", kDFT20Attributes},
                       .infer = infer_dft,
                       .kernels = kDftKernels};
constexpr OpDef kSTFT17{.name = "STFT",
                        .since = 17,
                        .sig = {kInStft, kSpectralOut, "Fourier transforms of sliding frames", kSTFTAttributes},
                        .infer = infer_stft,
                        .kernels = kStftKernels};

}  // namespace anyshape::ops
