#include "ops/image/resize.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "run/cpu/kernels/all.h"
#include "run/cpu/kernels/common.h"
#include "run/cpu/simd/resize_f32.h"

// Resize and Upsample of f32: rows along the last axis that is resized are mixed or picked by a table, then rows with
// each other by the tables of the axes before it.
namespace anyshape::cpu {
namespace {

using kernels::Interpolation;
using kernels::SampledAxis;

constexpr size_t kMostAxes = 8;
constexpr int64_t kFewFloats = 8;  // entries of fewer floats side by side are looked up one by one

struct Resizing {
  kernels::Resample how;  // without axes
  std::vector<size_t> axes;
  std::vector<double> scales;  // empty: only a run tells
  std::vector<bool> moves;     // by axis: entries may move though the size stays
  ops::AspectRatio ratio = ops::AspectRatio::stretch;
  size_t scales_at = 1, sizes_at = 0;  // inputs; 0: none
};

bool has_sizes(const Call& call) { return call.type() == "Resize" && call.version() >= 11; }

// An empty list is what old exporters write for an absent one.
bool is_given(const Call& call, size_t input) {
  return call.has(input) && !(call.in(input).dims && *call.in(input).dims == Dims{0});
}

std::string_view accepts_resize(const Call& call) {
  if (!is_f32(call, 0)) return "its element type is not f32";
  if (!call.in(0).dims || call.in(0).rank() < 1 || call.in(0).rank() > kMostAxes)
    return "its rank is not known to be 1 to 8";
  const auto how = ops::read_resize_modes(call);
  if (!how || !ops::resized_axes(call, call.in(0).rank())) return "its attributes are not legal";
  if (how->antialias) return "it smoothes (antialias)";
  if (ops::has_scale_attributes(call)) return {};
  const size_t scales = has_sizes(call) ? 2 : 1;
  if (call.has(scales) && !is_f32(call, scales)) return "its scales are not f32";
  if (has_sizes(call) && call.has(3) && (!call.in(3).is_tensor() || call.in(3).dtype != DType::i64))
    return "its sizes are not i64";
  const bool crops = how->coordinates == kernels::Coordinates::tf_crop_and_resize;
  return crops && !is_f32(call, 1) ? "its region is not f32" : "";
}

void read_scales(const Call& call, Resizing& p) {
  if (ops::has_scale_attributes(call)) {
    const auto scales = ops::scales_of_attributes(call);
    p.scales.assign(scales.begin(), scales.end());
  } else if (is_constant(call, p.scales_at)) {
    for (float scale : floats_of(call, p.scales_at)) p.scales.push_back(scale);
  }
  if (p.scales.size() != p.axes.size()) p.scales.clear();
}

Result<std::shared_ptr<const void>> prepare_resize(const Call& call) {
  auto p = std::make_shared<Resizing>();
  TRY(p->how, ops::read_resize_modes(call));
  TRY(const auto axes, ops::resized_axes(call, call.in(0).rank()));
  p->axes.assign(axes.begin(), axes.end());
  p->ratio = ops::aspect_ratio_of(call);
  if (has_sizes(call)) p->scales_at = 2, p->sizes_at = 3;
  read_scales(call, *p);
  const auto at = p->how.coordinates;
  const bool any = at == kernels::Coordinates::tf_crop_and_resize || at == kernels::Coordinates::tf_half_pixel_for_nn;
  const bool by_sizes = p->scales.empty() && p->sizes_at != 0 && !is_given(call, p->scales_at);
  p->moves.assign(call.in(0).rank(), false);
  for (size_t i = 0; i < p->axes.size(); ++i) {
    const bool stays = p->scales.empty() ? by_sizes && p->ratio == ops::AspectRatio::stretch : p->scales[i] == 1;
    p->moves[p->axes[i]] = any || !stays;
  }
  return p;
}

// How the sizes lay the work out; the same for all runs of a binding.
struct Shape {
  size_t x = 0;             // the last axis that is resized
  size_t outer[kMostAxes];  // those before it
  size_t outers = 0;
  int64_t inner = 1, rows = 1;  // floats of an entry of x; rows of the output
  int64_t places = 0;           // of the table of x
  int64_t step = 1;             // floats from place to place
  int64_t row() const { return places * step; }
};

Shape shape_of(const ViewArgs& args) {
  const Resizing& p = prepared_as<Resizing>(args);
  const auto in = args.in[0].dims, out = args.out[0].dims;
  Shape s;
  s.x = in.size() - 1;
  while (s.x > 0 && in[s.x] == out[s.x] && !p.moves[s.x]) --s.x;
  for (size_t i = 0; i < s.x; ++i) {
    s.rows *= out[i];
    if (in[i] != out[i] || p.moves[i]) s.outer[s.outers++] = i;
  }
  for (size_t i = s.x + 1; i < in.size(); ++i) s.inner *= in[i];
  const bool by_float = s.inner < kFewFloats && in[s.x] * s.inner <= std::numeric_limits<int32_t>::max();
  s.places = out[s.x] * (by_float ? s.inner : 1);
  s.step = by_float ? 1 : s.inner;
  return s;
}

// Tables of one task in its scratch.
struct Tables {
  struct Axis {
    int32_t* from = nullptr;
    float* weights = nullptr;
    uint8_t* outside = nullptr;
    bool any_outside = false, in_order = true;
  };
  Axis x, outer[kMostAxes];
  float* rows = nullptr;               // resized along x, one for each tap
  int64_t kept[4] = {-1, -1, -1, -1};  // which row of the input each is
  bool mixed_first = false;            // rows of the input are mixed before that
  int64_t bytes = 0;
};

template <class T>
T* carve(std::byte* scratch, int64_t& bytes, int64_t count) {
  T* at = scratch ? reinterpret_cast<T*>(scratch + bytes) : nullptr;
  bytes += round_up(count * static_cast<int64_t>(sizeof(T)), 64);
  return at;
}

Tables tables_at(const ViewArgs& args, const Shape& s, std::byte* scratch) {
  const int64_t taps = kernels::most_taps(prepared_as<Resizing>(args).how.interpolation);
  Tables t;
  const auto axis = [&](int64_t places) {
    Tables::Axis a;
    a.from = carve<int32_t>(scratch, t.bytes, places * taps);
    a.weights = carve<float>(scratch, t.bytes, places * taps);
    a.outside = carve<uint8_t>(scratch, t.bytes, places);
    return a;
  };
  t.x = axis(s.places);
  for (size_t i = 0; i < s.outers; ++i) t.outer[i] = axis(args.out[0].dims[s.outer[i]]);
  if (s.outers == 0 || taps == 1) return t;
  const size_t last = s.outer[s.outers - 1];
  // Rows of an axis that gets shorter are hardly met twice.
  t.mixed_first = args.out[0].dims[last] < args.in[0].dims[last];
  t.rows = carve<float>(scratch, t.bytes, t.mixed_first ? args.in[0].dims[s.x] * s.inner : taps * s.row());
  return t;
}

int64_t row_tasks(const ViewArgs& args) {
  const Shape s = shape_of(args);
  const int64_t taps = kernels::most_taps(prepared_as<Resizing>(args).how.interpolation);
  const double row = 3.0 * static_cast<double>(s.row() * taps);
  // Each task makes its own tables.
  double tables = 100.0 * static_cast<double>(s.places);
  for (size_t i = 0; i < s.outers; ++i) tables += 100.0 * static_cast<double>(args.out[0].dims[s.outer[i]]);
  const double most = static_cast<double>(s.rows) * row / (8 * tables + 1);
  return tasks_for(s.rows, row, std::clamp<int64_t>(static_cast<int64_t>(std::min(most, 1e6)), 1, kMostTasks));
}

int64_t scratch_resize(const ViewArgs& args) {
  return row_tasks(args) * tables_at(args, shape_of(args), nullptr).bytes;
}

// The scales in the order of the axes, from what a run is given.
Status read_scales(const ViewArgs& args, double* scales) {
  const Resizing& p = prepared_as<Resizing>(args);
  const size_t count = p.axes.size();
  std::copy(p.scales.begin(), p.scales.end(), scales);
  if (!p.scales.empty()) return {};
  const auto length = [&](size_t i) { return i < args.in.size() && args.in[i] ? args.in[i].count() : 0; };
  const bool by_sizes = p.sizes_at != 0 && length(p.scales_at) == 0;
  const size_t from = by_sizes ? p.sizes_at : p.scales_at;
  if (length(from) != static_cast<int64_t>(count))
    return refuse("resize.length", "{} {} are given for {} axes", length(from), by_sizes ? "sizes" : "scales", count);
  for (size_t i = 0; i < count; ++i) {
    const int64_t size = args.in[0].dims[p.axes[i]];
    scales[i] = !by_sizes   ? args.in[from].as<const float>()[i]
                : size == 0 ? 1
                            : static_cast<double>(args.in[from].as<const int64_t>()[i]) / static_cast<double>(size);
  }
  if (!by_sizes || p.ratio == ops::AspectRatio::stretch || count == 0) return {};
  const auto [least, most] = std::minmax_element(scales, scales + count);
  std::fill_n(scales, count, p.ratio == ops::AspectRatio::not_larger ? *least : *most);
  return {};
}

// What run knows of each axis of the input.
Status read_axes(const ViewArgs& args, SampledAxis* axes) {
  const Resizing& p = prepared_as<Resizing>(args);
  for (size_t i = 0; i < args.in[0].rank(); ++i) axes[i] = {args.in[0].dims[i], args.out[0].dims[i], {i, 1}};
  double scales[kMostAxes];
  TRY_OK(read_scales(args, scales));
  const bool crops = p.how.coordinates == kernels::Coordinates::tf_crop_and_resize;
  const size_t count = p.axes.size();
  if (crops && args.in[1].count() != static_cast<int64_t>(2 * count))
    return refuse("resize.roi", "roi has {} numbers, {} are needed", args.in[1].count(), 2 * count);
  for (size_t i = 0; i < count; ++i) {
    const size_t axis = p.axes[i];
    if (!(scales[i] > 0)) return refuse("resize.scale", "the scale {} of axis {} is not allowed", scales[i], axis);
    kernels::ResampledAxis how{axis, scales[i]};
    if (crops) how.roi_start = args.in[1].as<const float>()[i], how.roi_end = args.in[1].as<const float>()[count + i];
    axes[axis] = {args.in[0].dims[axis], args.out[0].dims[axis], how};
  }
  return {};
}

// `each`: entries of the table for one place of the axis, side by side.
Status fill_table(const Resizing& p, const SampledAxis& axis, int64_t each, Tables::Axis& to) {
  if (axis.in > std::numeric_limits<int32_t>::max())
    return unknown("kernel.size", "an axis of more than {} entries", std::numeric_limits<int32_t>::max());
  const int64_t taps = kernels::most_taps(p.how.interpolation), places = axis.out * each;
  const bool stays = taps > 1 && axis.unchanged();
  // Where places share an entry of the axis, what lies side by side there begins anew.
  to.in_order = each == 1;
  int64_t before = std::numeric_limits<int64_t>::min();
  for (int64_t i = 0; i < axis.out; ++i) {
    kernels::Sample sample{.first = i};
    if (!stays) {
      TRY(sample, kernels::sample_at(p.how, axis, i));
    }
    to.any_outside |= sample.outside;
    to.in_order &= sample.first >= before;
    before = sample.first;
    for (int64_t j = 0; j < each; ++j) {
      const int64_t place = i * each + j;
      to.outside[place] = sample.outside;
      for (int64_t k = 0; k < taps; ++k) {
        const int64_t at = std::clamp<int64_t>(sample.first + k, 0, axis.in - 1);
        to.from[k * places + place] = static_cast<int32_t>(at * each + j);
        to.weights[k * places + place] = static_cast<float>(sample.weights[k]);
      }
    }
  }
  return {};
}

// Rows of the output of one task.
class ResizeRows {
 public:
  ResizeRows(const ViewArgs& args, const Shape& shape, Tables& tables)
      : shape_(shape),
        tables_(tables),
        how_(prepared_as<Resizing>(args).how),
        taps_(kernels::most_taps(how_.interpolation)),
        in_(args.in[0].as<const float>()),
        out_(args.out[0].as<float>()),
        in_dims_(args.in[0].dims),
        out_dims_(args.out[0].dims),
        in_row_(in_dims_[shape.x] * shape.inner) {
    int64_t step = in_row_;
    for (size_t i = shape.x; i-- > 0; step *= in_dims_[i]) steps_[i] = step;
  }

  void run(int64_t first, int64_t last) {
    int64_t before = -1;
    for (int64_t row = first; row < last; ++row) {
      float* to = out_ + row * shape_.row();
      if (!place(row)) {
        std::fill_n(to, shape_.row(), static_cast<float>(how_.extrapolation));
        before = -1;
      } else if (shape_.outers > 0 && taps_ > 1) {
        mix(tables_.mixed_first ? tables_.rows : to);
        if (tables_.mixed_first) along_x(tables_.rows, to);
      } else {
        const int64_t from = picked();
        if (from == before)
          std::memcpy(to, to - shape_.row(), static_cast<size_t>(shape_.row()) * sizeof(float));
        else
          along_x(in_ + from, to);
        before = from;
      }
    }
  }

 private:
  // Finds where a row of the output is; false: outside of the input.
  bool place(int64_t row) {
    base_ = 0;
    size_t outer = shape_.outers;
    bool inside = true;
    for (size_t i = shape_.x; i-- > 0; row /= out_dims_[i]) {
      const int64_t at = row % out_dims_[i];
      if (outer > 0 && shape_.outer[outer - 1] == i) {
        at_[--outer] = at;
        inside &= !tables_.outer[outer].outside[at];
      } else {
        base_ += at * steps_[i];
      }
    }
    return inside;
  }

  int64_t source(size_t outer, int64_t tap) const {
    const size_t axis = shape_.outer[outer];
    return tables_.outer[outer].from[tap * out_dims_[axis] + at_[outer]];
  }
  float weight(size_t outer, int64_t tap) const {
    return tables_.outer[outer].weights[tap * out_dims_[shape_.outer[outer]] + at_[outer]];
  }

  int64_t picked() const {
    int64_t from = base_;
    for (size_t i = 0; i < shape_.outers; ++i) from += source(i, 0) * steps_[shape_.outer[i]];
    return from;
  }

  void along_x(const float* from, float* to) const {
    const simd::ResizeTable table{shape_.places, taps_, tables_.x.from, taps_ > 1 ? tables_.x.weights : nullptr,
                                  shape_.step == 1 && tables_.x.in_order ? in_row_ : 0};
    if (shape_.step == 1)
      simd::resize_row(table, from, to);
    else
      simd::resize_row_of(table, from, shape_.step, to);
    for (int64_t i = 0; tables_.x.any_outside && i < shape_.places; ++i)
      if (tables_.x.outside[i]) std::fill_n(to + i * shape_.step, shape_.step, static_cast<float>(how_.extrapolation));
  }

  // A row of the input resized along x, made or still there. Neighbours along the last outer axis have places of
  // their own.
  const float* kept(int64_t from, int64_t index) {
    const int64_t slot = index % taps_;
    float* to = tables_.rows + slot * shape_.row();
    if (tables_.kept[slot] != from) along_x(in_ + from, to);
    tables_.kept[slot] = from;
    return to;
  }

  // All combinations of taps of the axes before the last outer one, each with those of the last in one go.
  void mix(float* to) {
    const size_t last = shape_.outers - 1;
    int64_t combinations = 1;
    for (size_t i = 0; i < last; ++i) combinations *= taps_;
    bool add = false;
    for (int64_t c = 0; c < combinations; ++c) {
      int64_t from = base_, rest = c;
      float by = 1;
      for (size_t i = 0; i < last; ++i, rest /= taps_) {
        by *= weight(i, rest % taps_);
        from += source(i, rest % taps_) * steps_[shape_.outer[i]];
      }
      if (by == 0) continue;
      mix_last(from, by, add, to);
      add = true;
    }
    if (!add) std::fill_n(to, tables_.mixed_first ? in_row_ : shape_.row(), 0.0f);
  }

  void mix_last(int64_t from, float by, bool add, float* to) {
    const size_t last = shape_.outers - 1;
    const float* rows[4];
    float weights[4];
    int64_t count = 0;
    for (int64_t k = 0; k < taps_; ++k) {
      const float w = weight(last, k) * by;
      if (w == 0) continue;
      const int64_t row = from + source(last, k) * steps_[shape_.outer[last]];
      rows[count] = tables_.mixed_first ? in_ + row : kept(row, source(last, k));
      weights[count++] = w;
    }
    simd::mix_rows(rows, weights, count, tables_.mixed_first ? in_row_ : shape_.row(), add, to);
  }

  const Shape& shape_;
  Tables& tables_;
  const kernels::Resample& how_;
  const int64_t taps_;
  const float* const in_;
  float* const out_;
  const std::span<const int64_t> in_dims_, out_dims_;
  const int64_t in_row_;
  int64_t steps_[kMostAxes] = {}, at_[kMostAxes] = {}, base_ = 0;
};

Status run_resize(const ViewArgs& args, int64_t first, int64_t last) {
  if (args.out[0].count() == 0) return {};
  const Shape s = shape_of(args);
  SampledAxis axes[kMostAxes];
  TRY_OK(read_axes(args, axes));
  Tables t = tables_at(args, s, nullptr);
  t = tables_at(args, s, args.scratch + first * t.bytes);
  TRY_OK(fill_table(prepared_as<Resizing>(args), axes[s.x], s.places / axes[s.x].out, t.x));
  for (size_t i = 0; i < s.outers; ++i)
    TRY_OK(fill_table(prepared_as<Resizing>(args), axes[s.outer[i]], 1, t.outer[i]));
  const int64_t all = row_tasks(args);
  ResizeRows(args, s, t).run(share_of(s.rows, all, first).first, share_of(s.rows, all, last - 1).last);
  return {};
}

}  // namespace

constexpr EngineKernel kResize = {.name = "f32 rows",
                                  .accepts = accepts_resize,
                                  .prepare = prepare_resize,
                                  .scratch = scratch_resize,
                                  .tasks = row_tasks,
                                  .run = run_resize};

}  // namespace anyshape::cpu
