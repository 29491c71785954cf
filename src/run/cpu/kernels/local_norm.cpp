#include <algorithm>

#include "run/cpu/kernels/all.h"
#include "run/cpu/kernels/common.h"
#include "run/cpu/simd/program_simd.h"

// LRN of f32: a run of places at a time, all channels of it one after the other.
namespace anyshape::cpu {
namespace {

using simd::kSplat;
using simd::Operand;
using simd::run_f32;

constexpr int64_t kPlaces = 256;  // squares of a window of channels stay in the L1 cache
constexpr int64_t kMostSize = 64;

struct LocalNormPrepared {
  int64_t size = 1;
  float scale = 0, beta = 0, bias = 0;
};

std::string_view accepts_local_norm(const Call& call) {
  if (!is_f32(call, 0) || !call.in(0).dims) return "its element type is not f32";
  if (call.in(0).rank() < 2) return "its input has no channels";
  const int64_t size = call.i("size");
  return size >= 1 && size <= kMostSize ? "" : "it adds up many channels";
}

Result<std::shared_ptr<const void>> prepare_local_norm(const Call& call) {
  const int64_t size = call.i("size");
  return std::make_shared<LocalNormPrepared>(
      LocalNormPrepared{size, call.f("alpha") / static_cast<float>(size), call.f("beta"), call.f("bias")});
}

struct Maps {
  int64_t batch = 0, channels = 0, plane = 1, runs = 0;  // runs of places of a plane
};
Maps maps_of(const ViewArgs& args) {
  const auto dims = args.in[0].dims;
  Maps m{dims[0], dims[1]};
  for (int64_t size : dims.subspan(2)) m.plane *= size;
  m.runs = (m.plane + kPlaces - 1) / kPlaces;
  return m;
}

int64_t tasks_local_norm(const ViewArgs& args) {
  const Maps m = maps_of(args);
  const auto cost = static_cast<double>(prepared_as<LocalNormPrepared>(args).size + 20);
  return tasks_for(m.batch * m.runs, cost * static_cast<double>(m.channels * std::min(m.plane, kPlaces)));
}

// Squares of a window of channels, and a run of sums.
int64_t slot_of_local_norm(const ViewArgs& args) { return (prepared_as<LocalNormPrepared>(args).size + 1) * kPlaces; }

int64_t scratch_local_norm(const ViewArgs& args) {
  return tasks_local_norm(args) * slot_of_local_norm(args) * static_cast<int64_t>(sizeof(float));
}

// One number, as operands are read.
struct Splat {
  alignas(64) float data[kSplat];
  explicit Splat(float value) { std::fill_n(data, kSplat, value); }
  Operand<float> operand() const { return {data, 0}; }
};

class Run {
 public:
  Run(const LocalNormPrepared& p, const Maps& maps, float* scratch)
      : p_(p),
        maps_(maps),
        scale_(p.scale),
        bias_(p.bias),
        beta_(p.beta),
        squares_(scratch),
        sums_(scratch + p.size * kPlaces) {}

  // `n` places of all channels of an image.
  void places(const float* in, int64_t n, float* out) {
    const int64_t before = (p_.size - 1) / 2, after = p_.size - 1 - before;
    for (int64_t c = 0; c < std::min(after, maps_.channels); ++c) square(in, c, n);
    for (int64_t c = 0; c < maps_.channels; ++c) {
      if (c + after < maps_.channels) square(in, c + after, n);
      const int64_t last = std::min(maps_.channels - 1, c + after);
      add_up(std::max<int64_t>(0, c - before), last, n);
      const Operand<float> sums{sums_};
      run_f32(ElementOp::mul, n, sums, scale_.operand(), {}, sums_);
      run_f32(ElementOp::add, n, sums, bias_.operand(), {}, sums_);
      run_f32(ElementOp::pow, n, sums, beta_.operand(), {}, sums_);
      run_f32(ElementOp::div, n, {in + c * maps_.plane}, sums, {}, out + c * maps_.plane);
    }
  }

 private:
  float* squares_of(int64_t channel) { return squares_ + channel % p_.size * kPlaces; }

  void square(const float* in, int64_t channel, int64_t n) {
    const Operand<float> x{in + channel * maps_.plane};
    run_f32(ElementOp::mul, n, x, x, {}, squares_of(channel));
  }

  void add_up(int64_t first, int64_t last, int64_t n) {
    std::copy_n(squares_of(first), n, sums_);
    for (int64_t c = first + 1; c <= last; ++c) run_f32(ElementOp::add, n, {sums_}, {squares_of(c)}, {}, sums_);
  }

  const LocalNormPrepared& p_;
  const Maps& maps_;
  Splat scale_, bias_, beta_;
  float *squares_, *sums_;
};

Status run_local_norm(const ViewArgs& args, int64_t first, int64_t last) {
  const Maps m = maps_of(args);
  if (args.out[0].count() == 0) return {};
  const int64_t all = tasks_local_norm(args);
  for (int64_t task = first; task < last; ++task) {
    Run run(prepared_as<LocalNormPrepared>(args), m,
            reinterpret_cast<float*>(args.scratch) + task * slot_of_local_norm(args));
    const Share share = share_of(m.batch * m.runs, all, task);
    for (int64_t item = share.first; item < share.last; ++item) {
      const int64_t place = item % m.runs * kPlaces, at = item / m.runs * m.channels * m.plane + place;
      run.places(args.in[0].as<const float>() + at, std::min(kPlaces, m.plane - place), args.out[0].as<float>() + at);
    }
  }
  return {};
}

}  // namespace

constexpr EngineKernel kLocalNorm = {.name = "f32 channels",
                                     .accepts = accepts_local_norm,
                                     .prepare = prepare_local_norm,
                                     .scratch = scratch_local_norm,
                                     .tasks = tasks_local_norm,
                                     .run = run_local_norm};

}  // namespace anyshape::cpu
