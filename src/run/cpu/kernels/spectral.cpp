#include <cmath>
#include <numbers>
#include <optional>

#include "run/cpu/kernels/all.h"
#include "run/cpu/kernels/common.h"

// DFT and STFT of f32 as products with a constant matrix: rows are lines or frames of the signal, columns the real and
// imaginary parts of the bins. What is not finite in a line spreads over all its bins.
namespace anyshape::cpu {
namespace {

using simd::Gemm;
using simd::GemmTiles;

constexpr int64_t kMostEntries = int64_t{1} << 20;  // of the matrix

// A transform whose sizes are known before it runs.
struct Transform {
  int64_t length = 0, given = 0;  // entries of the transform, and those of a line; the others are 0
  int64_t parts = 1, step = 0;    // of an entry of the signal; from one frame to the next
  bool onesided = false, inverse = false;
  const Tensor* window = nullptr;

  int64_t bins() const { return onesided ? length / 2 + 1 : length; }
  int64_t rows() const { return given * parts; }
  int64_t columns() const { return bins() * 2; }
};

std::optional<int64_t> number_of(const Call& call, size_t input) {
  if (!is_constant(call, input) || call.in(input).constant->count() != 1) return std::nullopt;
  return call.in(input).constant->int_at(0);
}

// How many numbers an entry of the signal has; nothing: not known.
std::optional<int64_t> parts_of(const Call& call) { return call.in(0).dims->back().constant(); }

std::optional<Transform> read_stft(const Call& call) {
  Transform t;
  const auto step = number_of(call, 1), parts = call.in(0).rank() == 2 ? std::optional<int64_t>(1) : parts_of(call);
  if (!step || !parts || (call.has(2) && !is_constant(call, 2))) return std::nullopt;
  const auto length = call.has(3)   ? number_of(call, 3)
                      : call.has(2) ? std::optional(call.in(2).constant->count())
                                    : std::nullopt;
  if (!length) return std::nullopt;
  t.length = t.given = *length;
  t.parts = *parts;
  t.step = *step;
  t.onesided = call.i("onesided") != 0;
  t.window = call.has(2) ? call.in(2).constant.get() : nullptr;
  return t;
}

// Along the last axis of the signal.
std::optional<Transform> read_dft(const Call& call) {
  Transform t;
  const auto rank = static_cast<int64_t>(call.in(0).rank());
  const auto axis = call.version() < 20 ? call.i("axis")
                    : call.has(2)       ? number_of(call, 2)
                                        : std::optional<int64_t>(-2);
  if (!axis || (*axis != -2 && *axis != rank - 2)) return std::nullopt;
  const auto size = (*call.in(0).dims)[static_cast<size_t>(rank - 2)].constant(), parts = parts_of(call);
  const auto length = call.has(1) ? number_of(call, 1) : size;
  if (!size || !parts || !length) return std::nullopt;
  t.length = *length;
  t.given = std::min(*size, *length);
  t.parts = *parts;
  t.step = *size;
  t.onesided = call.i("onesided") != 0;
  t.inverse = call.i("inverse") != 0;
  return t;
}

std::string_view refusal(const Call& call, std::optional<Transform> (*read)(const Call&)) {
  if (!is_f32(call, 0) || !call.in(0).dims || call.in(0).rank() < 2) return "its element type is not f32";
  const auto t = read(call);
  if (!t) return "its lengths are not known before it runs, or it is not along the last axis";
  if (t->onesided && t->inverse) return "it makes reals of half a spectrum";
  if (t->length < 1 || t->parts < 1 || t->parts > 2 || t->step < 1) return "its lengths are out of range";
  if (t->length > kMostEntries || t->rows() * t->columns() > kMostEntries) return "it is long";
  return {};
}

std::string_view accepts_stft(const Call& call) { return refusal(call, read_stft); }
std::string_view accepts_dft(const Call& call) { return refusal(call, read_dft); }

// [entry, part][bin, part]
Floats matrix_of(const Transform& t) {
  Floats out;
  out.reserve(static_cast<size_t>(t.rows() * t.columns()));
  const double scale = t.inverse ? 1.0 / static_cast<double>(t.length) : 1.0, sign = t.inverse ? 1 : -1;
  for (int64_t i = 0; i < t.given; ++i) {
    const double weight = scale * (t.window ? static_cast<double>(t.window->at<float>(i)) : 1.0);
    for (int64_t part = 0; part < t.parts; ++part)
      for (int64_t k = 0; k < t.bins(); ++k) {
        const double angle =
            2 * std::numbers::pi * static_cast<double>(i * k % t.length) / static_cast<double>(t.length);
        const double real = weight * std::cos(angle), imaginary = weight * sign * std::sin(angle);
        out.push_back(static_cast<float>(part == 0 ? real : -imaginary));
        out.push_back(static_cast<float>(part == 0 ? imaginary : real));
      }
  }
  return out;
}

struct SpectralPrepared {
  Transform transform;
  Floats matrix;  // packed
};

Result<std::shared_ptr<const void>> prepared(Transform t) {
  auto p = std::make_shared<SpectralPrepared>();
  Tensor window;
  if (t.window) {
    TRY(window, t.window->aligned());
    t.window = &window;
  }
  const Floats matrix = matrix_of(t);
  t.window = nullptr;
  p->transform = t;
  p->matrix.resize(static_cast<size_t>(simd::gemm_packed_size(t.rows(), t.columns())));
  simd::gemm_pack(reinterpret_cast<const std::byte*>(matrix.data()), t.rows(), t.columns(), t.columns(), 1, 1,
                  p->matrix.data());
  return p;
}

Result<std::shared_ptr<const void>> prepare_stft(const Call& call) { return prepared(*read_stft(call)); }
Result<std::shared_ptr<const void>> prepare_dft(const Call& call) { return prepared(*read_dft(call)); }

// A product for each signal.
struct Products {
  Gemm g;  // of the first one
  int64_t signals = 1, samples = 0;
  GemmTiles tiles;
  int64_t slot = 0, tasks = 1;

  int64_t items() const { return signals * tiles.count(); }
};

Products products_of(const ViewArgs& args, bool frames) {
  const auto& p = prepared_as<SpectralPrepared>(args);
  const Transform& t = p.transform;
  const View &in = args.in[0], &out = args.out[0];
  Products x;
  Gemm& g = x.g;
  g.k = t.rows();
  g.n = g.c_row = t.columns();
  g.m = frames ? out.dims[1] : out.count() / g.n;
  g.a = in.as<const float>();
  g.a_row = t.step * t.parts;
  g.b = p.matrix.data();
  g.c = out.as<float>();
  x.signals = frames ? out.dims[0] : 1;
  x.samples = frames ? in.dims[1] * t.parts : 0;
  if (x.signals == 0 || g.m == 0) return x.signals = 0, x;
  x.tiles = simd::gemm_tiles(g.m, g.n, g.k, true);
  x.slot = round_up(simd::gemm_scratch(g), 16);
  x.tasks = tasks_for(x.items(), simd::gemm_cost(x.tiles.rows, x.tiles.columns, g.k));
  return x;
}

template <bool kFrames>
int64_t tasks_spectral(const ViewArgs& args) {
  return products_of(args, kFrames).tasks;
}

template <bool kFrames>
int64_t scratch_spectral(const ViewArgs& args) {
  const Products x = products_of(args, kFrames);
  return x.slot * x.tasks * static_cast<int64_t>(sizeof(float));
}

template <bool kFrames>
Status run_spectral(const ViewArgs& args, int64_t first, int64_t last) {
  const Products x = products_of(args, kFrames);
  if (x.signals == 0) return {};
  const GemmTiles& tiles = x.tiles;
  for (int64_t task = first; task < last; ++task) {
    const Share share = share_of(x.items(), x.tasks, task);
    for (int64_t item = share.first; item < share.last; ++item) {
      Gemm g = x.g;
      g.a += item / tiles.count() * x.samples;
      g.c += item / tiles.count() * g.m * g.n;
      const int64_t tile = item % tiles.count(), i = tile % tiles.down * tiles.rows,
                    j = tile / tiles.down * tiles.columns;
      simd::gemm_tile(g, i, std::min(g.m, i + tiles.rows), j, std::min(g.n, j + tiles.columns),
                      reinterpret_cast<float*>(args.scratch) + task * x.slot);
    }
  }
  return {};
}

}  // namespace

constexpr EngineKernel kDft = {.name = "f32 matrix",
                               .accepts = accepts_dft,
                               .prepare = prepare_dft,
                               .scratch = scratch_spectral<false>,
                               .tasks = tasks_spectral<false>,
                               .run = run_spectral<false>};
constexpr EngineKernel kStft = {.name = "f32 matrix",
                                .accepts = accepts_stft,
                                .prepare = prepare_stft,
                                .scratch = scratch_spectral<true>,
                                .tasks = tasks_spectral<true>,
                                .run = run_spectral<true>,
                                .packed = 1u << 2};

}  // namespace anyshape::cpu
