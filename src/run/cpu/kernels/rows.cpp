#include "run/cpu/simd/rows.h"

#include <algorithm>

#include "ops/common.h"
#include "ops/given.h"
#include "run/cpu/kernels/all.h"
#include "run/cpu/kernels/common.h"

// Softmax, LogSoftmax, LayerNormalization, RMSNormalization and reductions of f32.
namespace anyshape::cpu {
namespace {

int64_t product_of(std::span<const int64_t> dims) {
  int64_t n = 1;
  for (int64_t d : dims) n *= d;
  return n;
}

std::optional<size_t> normal_row_axis(int64_t axis, size_t rank) {
  const auto found = ops::normalize_axis(axis, rank);
  return found ? std::optional<size_t>(*found) : std::nullopt;
}

// The axes of input 0 from `from` to `to` - 1 are worked on as one row.
struct Range {
  size_t from = 0, to = 0;
};

const Range& range_of(const ViewArgs& args) { return prepared_as<Range>(args); }

std::optional<Range> softmax_range(const Call& call) {
  if (!call.in(0).dims) return std::nullopt;
  const size_t rank = call.in(0).rank();
  const auto axis = normal_row_axis(call.i("axis"), rank);
  if (!axis) return std::nullopt;
  return Range{*axis, call.version() >= 13 ? *axis + 1 : rank};
}

std::string_view accepts_softmax(const Call& call) {
  if (!is_f32(call, 0)) return "its element type is not f32";
  return softmax_range(call) ? "" : "its axis is not there";
}

Result<std::shared_ptr<const void>> prepare_softmax(const Call& call) {
  return std::make_shared<Range>(softmax_range(call).value());
}

// Outer rows, entries of one, and entries from one entry of a row to the next.
struct Rows {
  int64_t outer, n, inner;
};
Rows row_layout(const ViewArgs& args, const Range& range) {
  const auto dims = args.in[0].dims;
  return {product_of(dims.first(range.from)), product_of(dims.subspan(range.from, range.to - range.from)),
          product_of(dims.subspan(range.to))};
}

int64_t row_tasks(const Rows& rows, double cost) {
  return tasks_for(rows.outer, cost * static_cast<double>(rows.n * rows.inner));
}

int64_t softmax_tasks(const ViewArgs& args) { return row_tasks(row_layout(args, range_of(args)), 20); }

template <bool logarithm>
Status run_softmax(const ViewArgs& args, int64_t first, int64_t last) {
  const Rows rows = row_layout(args, range_of(args));
  const int64_t tasks = softmax_tasks(args);
  const Share begin = share_of(rows.outer, tasks, first), end = share_of(rows.outer, tasks, last - 1);
  const float* in = args.in[0].as<const float>();
  float* out = args.out[0].as<float>();
  if (rows.inner == 1)
    simd::softmax_rows(in, out, begin.first, end.last, rows.n, logarithm);
  else
    simd::softmax_columns(in, out, begin.first, end.last, rows.n, rows.inner, logarithm);
  return {};
}

struct Norm {
  Range range;
  float epsilon = 1e-5f;
  bool subtract_mean = true;
};

// The parameter has one entry for all, or one for each entry of a row.
bool fits_row(const Fact& parameter, const Dims& x, size_t axis) {
  if (!parameter.dims) return false;
  const auto trimmed = [](auto first, auto last) {
    while (first != last && *first == Dim(1)) ++first;
    return Dims(first, last);
  };
  const Dims own = trimmed(parameter.dims->begin(), parameter.dims->end());
  return own.empty() || own == trimmed(x.begin() + static_cast<ptrdiff_t>(axis), x.end());
}

std::string_view accepts_norm(const Call& call) {
  for (size_t i = 0; i < call.inputs(); ++i)
    if (call.has(i) && !is_f32(call, i)) return "its element type is not f32";
  if (call.i("stash_type") != 1) return "its statistics are not f32";
  if (!call.in(0).dims) return "the rank of its input is not known";
  const auto axis = normal_row_axis(call.i("axis"), call.in(0).rank());
  if (!axis) return "its axis is not there";
  for (size_t i = 1; i < call.inputs(); ++i)
    if (call.has(i) && !fits_row(call.in(i), *call.in(0).dims, *axis))
      return "its scale and bias are not the same for every row";
  return {};
}

Result<std::shared_ptr<const void>> prepare_norm(const Call& call) {
  auto p = std::make_shared<Norm>();
  TRY(p->range.from, ops::normalize_axis(call.i("axis"), call.in(0).rank()));
  p->range.to = call.in(0).rank();
  p->epsilon = call.f("epsilon");
  p->subtract_mean = call.type() == "LayerNormalization";
  return p;
}

int64_t norm_tasks(const ViewArgs& args) { return row_tasks(row_layout(args, prepared_as<Norm>(args).range), 10); }

Status run_norm(const ViewArgs& args, int64_t first, int64_t last) {
  const Norm& p = prepared_as<Norm>(args);
  const Rows rows = row_layout(args, p.range);
  const int64_t tasks = norm_tasks(args);
  const auto optional = [](std::span<const View> views, size_t i) {
    return i < views.size() && views[i] ? views[i].as<float>() : nullptr;
  };
  simd::LayerNorm norm;
  norm.in = args.in[0].as<const float>();
  norm.out = args.out[0].as<float>();
  norm.n = rows.n;
  norm.scale = optional(args.in, 1);
  norm.bias = optional(args.in, 2);
  norm.scale_step = norm.scale && args.in[1].count() == rows.n ? 1 : 0;
  norm.bias_step = norm.bias && args.in[2].count() == rows.n ? 1 : 0;
  norm.epsilon = p.epsilon;
  norm.subtract_mean = p.subtract_mean;
  norm.mean = optional(args.out, 1);
  norm.deviation = optional(args.out, 2);
  const Share begin = share_of(rows.outer, tasks, first), end = share_of(rows.outer, tasks, last - 1);
  simd::layer_norm_rows(norm, begin.first, end.last);
  return {};
}

// Neighbouring axes that go together, and what becomes of them.
struct Stage {
  Range range;
  simd::Reduction kind = simd::Reduction::sum;
};
// The last axes first.
struct Reducing {
  std::vector<Stage> stages;
};

std::optional<simd::Reduction> kind_of(std::string_view type) {
  using simd::Reduction;
  constexpr std::pair<std::string_view, Reduction> kKinds[] = {{"ReduceSum", Reduction::sum},
                                                               {"ReduceMean", Reduction::mean},
                                                               {"ReduceMax", Reduction::max},
                                                               {"ReduceMin", Reduction::min},
                                                               {"ReduceSumSquare", Reduction::sum_square},
                                                               {"ReduceL1", Reduction::l1},
                                                               {"ReduceL2", Reduction::l2},
                                                               {"ReduceLogSum", Reduction::log_sum},
                                                               {"ReduceLogSumExp", Reduction::log_sum_exp},
                                                               {"GlobalAveragePool", Reduction::mean},
                                                               {"GlobalMaxPool", Reduction::max}};
  for (const auto& [name, kind] : kKinds)
    if (name == type) return kind;
  return std::nullopt;
}

// Of axes reduced apart from each other: of all stages but the last, and of all but the first.
simd::Reduction before_others(simd::Reduction kind) {
  return kind == simd::Reduction::log_sum ? simd::Reduction::sum : kind;
}
simd::Reduction after_others(simd::Reduction kind) {
  return kind == simd::Reduction::sum_square ? simd::Reduction::sum : kind;
}

// Which axes go; nullopt: not known.
std::optional<std::vector<bool>> reduced_axes(const Call& call) {
  if (!call.in(0).dims) return std::nullopt;
  const size_t rank = call.in(0).rank();
  std::vector<bool> gone(rank, false);
  if (call.type().starts_with("Global")) {
    std::fill(gone.begin() + static_cast<ptrdiff_t>(std::min<size_t>(2, rank)), gone.end(), true);
    return gone;
  }
  std::vector<int64_t> written;
  if (call.has(1)) {
    const auto known = ops::known_numbers(call, 1);
    if (!known) return std::nullopt;
    written = *known;
  } else if (const auto* axes = call.given<std::vector<int64_t>>("axes")) {
    written = *axes;
  }
  if (written.empty() && ops::is_set(call, "noop_with_empty_axes")) return std::nullopt;
  if (written.empty()) gone.assign(rank, true);
  for (int64_t axis : written) {
    const auto normal = normal_row_axis(axis, rank);
    if (!normal) return std::nullopt;
    gone[*normal] = true;
  }
  return gone;
}

// Runs of neighbouring axes, the last first; one without axes where none goes.
std::vector<Stage> stages_of(const std::vector<bool>& gone, simd::Reduction kind) {
  std::vector<Stage> stages;
  for (size_t to = gone.size(); to > 0;) {
    size_t from = to;
    while (from > 0 && gone[from - 1]) --from;
    if (from < to) stages.push_back({{from, to}, stages.empty() ? kind : after_others(kind)});
    to = from == to ? to - 1 : from;
  }
  if (stages.empty()) stages.push_back({{}, kind});
  for (size_t i = 0; i + 1 < stages.size(); ++i) stages[i].kind = before_others(stages[i].kind);
  return stages;
}

std::string_view accepts_reduce(const Call& call) {
  if (!is_f32(call, 0)) return "its element type is not f32";
  if (!kind_of(call.type())) return "there is no such reduction";
  return reduced_axes(call) ? "" : "its axes are not known";
}

Result<std::shared_ptr<const void>> prepare_reduce(const Call& call) {
  return std::make_shared<Reducing>(Reducing{stages_of(reduced_axes(call).value(), kind_of(call.type()).value())});
}

const std::vector<Stage>& stages_of(const ViewArgs& args) {
  return static_cast<const Reducing*>(args.prepared)->stages;
}

int64_t reduce_tasks(const ViewArgs& args) {
  const auto& stages = stages_of(args);
  return stages.size() > 1 ? 1 : row_tasks(row_layout(args, stages[0].range), 4);
}

// The rows of a stage: axes behind it are as they came, but for those that went before. REQUIRES: no axis is empty.
Rows rows_of_stage(const ViewArgs& args, size_t stage) {
  const auto& stages = stages_of(args);
  Rows rows = row_layout(args, stages[stage].range);
  for (size_t i = 0; i < stage; ++i) rows.inner /= row_layout(args, stages[i].range).n;
  return rows;
}

bool nothing_in(const ViewArgs& args) { return args.in[0].count() == 0; }

int64_t stage_floats(const ViewArgs& args, size_t stage) {
  const Rows rows = rows_of_stage(args, stage);
  return round_up(rows.outer * rows.inner, 16);
}

int64_t reduce_scratch(const ViewArgs& args) {
  const size_t stages = stages_of(args).size();
  if (nothing_in(args)) return 0;
  int64_t floats = 0;
  for (size_t i = 0; i + 1 < stages; ++i) floats += stage_floats(args, i);
  return floats * static_cast<int64_t>(sizeof(float));
}

Status run_stages(const ViewArgs& args) {
  const auto& stages = stages_of(args);
  const float* from = args.in[0].as<const float>();
  float* room = reinterpret_cast<float*>(args.scratch);
  for (size_t i = 0; i < stages.size(); ++i) {
    const bool last = i + 1 == stages.size();
    const Rows rows = rows_of_stage(args, i);
    float* to = last ? args.out[0].as<float>() : std::exchange(room, room + stage_floats(args, i));
    simd::reduce_rows(stages[i].kind, from, to, 0, rows.outer, rows.n, rows.inner);
    from = to;
  }
  return {};
}

Status run_reduce(const ViewArgs& args, int64_t first, int64_t last) {
  const auto& stages = stages_of(args);
  if (stages.size() > 1 && !nothing_in(args)) return run_stages(args);
  Rows rows = row_layout(args, stages[0].range);
  // All entries of nothing.
  if (stages.size() > 1) rows = {1, 0, args.out[0].count()};
  const int64_t tasks = reduce_tasks(args);
  const Share begin = share_of(rows.outer, tasks, first), end = share_of(rows.outer, tasks, last - 1);
  simd::reduce_rows(stages.back().kind, args.in[0].as<const float>(), args.out[0].as<float>(), begin.first, end.last,
                    rows.n, rows.inner);
  return {};
}

}  // namespace

constexpr EngineKernel kSoftmax = {.name = "f32 rows",
                                   .accepts = accepts_softmax,
                                   .prepare = prepare_softmax,
                                   .tasks = softmax_tasks,
                                   .run = run_softmax<false>,
                                   .in_place = 1};
constexpr EngineKernel kLogSoftmax = {.name = "f32 rows",
                                      .accepts = accepts_softmax,
                                      .prepare = prepare_softmax,
                                      .tasks = softmax_tasks,
                                      .run = run_softmax<true>,
                                      .in_place = 1};
constexpr EngineKernel kNorm = {.name = "f32 rows",
                                .accepts = accepts_norm,
                                .prepare = prepare_norm,
                                .tasks = norm_tasks,
                                .run = run_norm,
                                .in_place = 1};
constexpr EngineKernel kReduce = {.name = "f32 rows",
                                  .accepts = accepts_reduce,
                                  .prepare = prepare_reduce,
                                  .scratch = reduce_scratch,
                                  .tasks = reduce_tasks,
                                  .run = run_reduce};

}  // namespace anyshape::cpu
