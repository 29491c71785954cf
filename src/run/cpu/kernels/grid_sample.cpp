#include <algorithm>
#include <cmath>

#include "run/cpu/kernels/common.h"
#include "run/cpu/kernels/places.h"

// GridSample of f32 over two spatial axes by bilinear interpolation, with zeros or the border around.
namespace anyshape::cpu {
namespace {

struct Prepared {
  bool align_corners = false, border = false;
};

std::string_view accepts(const Call& call) {
  if (!is_f32(call, 0) || !is_f32(call, 1)) return "its element type is not f32";
  if (!call.in(0).dims || call.in(0).rank() != 4) return "it has not two spatial axes";
  const std::string_view mode = call.s("mode"), padding = call.s("padding_mode");
  if (mode != "bilinear" && mode != "linear") return "it is not bilinear";
  return padding == "zeros" || padding == "border" ? "" : "it reflects";
}

Result<std::shared_ptr<const void>> prepare(const Call& call) {
  return std::make_shared<Prepared>(Prepared{call.i("align_corners") != 0, call.s("padding_mode") == "border"});
}

const Prepared& prepared_of(const ViewArgs& args) { return *static_cast<const Prepared*>(args.prepared); }

// Two neighbouring cells of one axis and their weights; a weight of 0 is that of a cell which is not there.
struct Pair {
  int64_t cells[2];
  float weights[2];
};

Pair pair_at(const Prepared& p, float x, int64_t size) {
  const auto n = static_cast<float>(size);
  float at = p.align_corners ? (x + 1) / 2 * (n - 1) : ((x + 1) * n - 1) / 2;
  if (p.border) at = std::clamp(at, 0.0f, n - 1);
  // Far away, or no number.
  if (!(std::fabs(at) < 0x1p31f)) at = -100;
  const float left = std::floor(at);
  const auto first = static_cast<int64_t>(left);
  Pair out{{first, first + 1}, {1 - (at - left), at - left}};
  for (int k = 0; k < 2; ++k)
    if (out.cells[k] < 0 || out.cells[k] >= size) {
      if (!p.border) out.weights[k] = 0;
      out.cells[k] = std::clamp<int64_t>(out.cells[k], 0, size - 1);
    }
  return out;
}

// Where in a plane the four cells of a place are.
struct Place {
  int64_t at[4];
  float weights[4];
};

Place place_of(const ViewArgs& args, int64_t point) {
  const View& in = args.in[0];
  const int64_t height = in.dims[2], width = in.dims[3];
  const float* where = args.in[1].as<const float>() + 2 * point;
  const Pair x = pair_at(prepared_of(args), where[0], width), y = pair_at(prepared_of(args), where[1], height);
  Place out;
  for (int k = 0; k < 4; ++k) {
    out.at[k] = y.cells[k / 2] * width + x.cells[k % 2];
    out.weights[k] = y.weights[k / 2] * x.weights[k % 2];
  }
  return out;
}

int64_t points_of(const ViewArgs& args) { return args.out[0].dims[2] * args.out[0].dims[3]; }

// Points are cut into pieces; each is worked on for all channels.
constexpr int64_t kPiece = 256;

int64_t pieces_of(const ViewArgs& args) { return args.out[0].dims[0] * ((points_of(args) + kPiece - 1) / kPiece); }

int64_t tasks(const ViewArgs& args) {
  return tasks_for(pieces_of(args), 8.0 * kPiece * static_cast<double>(args.out[0].dims[1]) + 1);
}

// Weights of what is not there do not meet its entry, which may be infinite.
float blend(const float* plane, const Place& p) {
  float sum = 0;
  for (int k = 0; k < 4; ++k) sum += p.weights[k] == 0 ? 0 : p.weights[k] * plane[p.at[k]];
  return sum;
}

void run_piece(const ViewArgs& args, int64_t piece) {
  const View &in = args.in[0], &out = args.out[0];
  const int64_t channels = out.dims[1], points = points_of(args), each = (points + kPiece - 1) / kPiece;
  const int64_t image = piece / each, first = piece % each * kPiece, last = std::min(points, first + kPiece);
  const int64_t plane = in.dims[2] * in.dims[3];
  Place places[kPiece];
  for (int64_t i = first; i < last; ++i) places[i - first] = place_of(args, image * points + i);
  for (int64_t c = image * channels; c < (image + 1) * channels; ++c) {
    const float* from = in.as<const float>() + c * plane;
    float* to = out.as<float>() + c * points;
    for (int64_t i = first; i < last; ++i) to[i] = blend(from, places[i - first]);
  }
}

Status run(const ViewArgs& args, int64_t first, int64_t last) {
  if (args.out[0].count() == 0) return {};
  const int64_t pieces = pieces_of(args), all = tasks(args), end = share_of(pieces, all, last - 1).last;
  for (int64_t piece = share_of(pieces, all, first).first; piece < end; ++piece) run_piece(args, piece);
  return {};
}

}  // namespace

constexpr EngineKernel kGridSample = {
    .name = "f32 bilinear", .accepts = accepts, .prepare = prepare, .tasks = tasks, .run = run};

}  // namespace anyshape::cpu
