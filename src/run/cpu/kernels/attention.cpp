#include <algorithm>

#include "run/cpu/kernels/all.h"
#include "run/cpu/kernels/common.h"
#include "run/cpu/simd/attention_f32.h"

// anyshape.Attention: queries, keys, values and masks with any strides, f32.
namespace anyshape::cpu {
namespace {

using simd::AttentionHead;
using simd::AttentionSpec;

struct AttentionPrepared {
  AttentionSpec spec;
  std::vector<size_t> place;  // of each axis of [..., queries, values] in the output; empty: as it is
};

std::string_view accepts_attention(const Call& call) {
  for (size_t i = 0; i < 4; ++i)
    if (call.has(i) && !is_f32(call, i)) return "its element type is not f32";
  const auto* perm = call.ints("perm");
  if (perm && (perm->empty() || perm->back() + 1 != static_cast<int64_t>(perm->size())))
    return "the values of a row are not neighbours in its output";
  return {};
}

Result<std::shared_ptr<const void>> prepare_attention(const Call& call) {
  auto p = std::make_shared<AttentionPrepared>();
  p->spec.scale = call.f("scale");
  p->spec.fill = call.f("fill");
  p->spec.keep = call.i("keep") != 0;
  p->spec.where_first = call.i("where_first") != 0;
  p->spec.nan_to_zero = call.i("nan_to_zero") != 0;
  if (const auto* perm = call.ints("perm")) {
    p->place.resize(perm->size());
    for (size_t i = 0; i < perm->size(); ++i) p->place[static_cast<size_t>((*perm)[i])] = i;
  }
  return p;
}

// Sizes of the products, and where the matrices of each operand are.
struct Work {
  AttentionSpec spec;
  AttentionHead head;  // the strides
  int64_t heads = 1, queries = 0;

  // Rows of queries in one item of work.
  static constexpr int64_t kRows = 24;
  int64_t blocks() const { return (queries + kRows - 1) / kRows; }
  int64_t items() const { return heads * blocks(); }
  int64_t slot() const { return round_up(simd::attention_scratch(spec, head), 16); }
  int64_t tasks() const {
    const double cost = static_cast<double>(std::min(kRows, queries)) * static_cast<double>(spec.keys) *
                        static_cast<double>(spec.size + spec.values + 16);
    // All tasks together take at most some megabytes of scratch.
    const int64_t most = std::clamp<int64_t>((int64_t{4} << 20) / std::max<int64_t>(slot(), 1), 4, kMostTasks);
    return tasks_for(items(), cost, most);
  }
};

// The axis of the output that axis `axis` of [..., queries, values] is.
size_t place_of(const ViewArgs& args, size_t axis) {
  const auto& place = prepared_as<AttentionPrepared>(args).place;
  return place.empty() ? axis : place[axis];
}

size_t rank_of(const ViewArgs& args) { return args.out[0].rank(); }

// Axis `from_back` of a view, counted from the back; a stride of 0 where it broadcasts.
int64_t stride_of(const View& v, size_t from_back) {
  if (v.rank() < from_back || v.dims[v.rank() - from_back] == 1) return 0;
  return v.strides[v.rank() - from_back];
}

bool has(const ViewArgs& args, size_t i) { return i < args.in.size() && args.in[i]; }

Work work_of(const ViewArgs& args) {
  const View &q = args.in[0], &k = args.in[1], &v = args.in[2];
  Work w;
  w.spec = prepared_as<AttentionPrepared>(args).spec;
  w.queries = q.dims[q.rank() - 2];
  w.spec.size = q.dims[q.rank() - 1];
  w.spec.keys = k.dims[k.rank() - 1];
  w.spec.values = v.dims[v.rank() - 1];
  for (size_t axis = 0; axis + 2 < rank_of(args); ++axis) w.heads *= args.out[0].dims[place_of(args, axis)];
  const auto set = [](const View& view, int64_t& row, int64_t& column) {
    row = stride_of(view, 2);
    column = stride_of(view, 1);
  };
  AttentionHead& h = w.head;
  set(q, h.q_row, h.q_column);
  set(k, h.k_row, h.k_column);
  set(v, h.v_row, h.v_column);
  if (has(args, 3)) set(args.in[3], h.mask_row, h.mask_column);
  if (has(args, 4)) set(args.in[4], h.where_row, h.where_column);
  h.out_row = args.out[0].strides[place_of(args, rank_of(args) - 2)];
  return w;
}

// Head number `index` of the leading axes.
AttentionHead head_of(const ViewArgs& args, const Work& w, int64_t index) {
  int64_t at[6] = {};
  const size_t rank = rank_of(args);
  for (size_t axis = rank - 2; axis-- > 0;) {
    const size_t place = place_of(args, axis);
    const int64_t i = index % args.out[0].dims[place];
    index /= args.out[0].dims[place];
    for (size_t n = 0; n < args.in.size(); ++n)
      if (args.in[n]) at[n] += i * stride_of(args.in[n], rank - axis);
    at[5] += i * args.out[0].strides[place];
  }
  AttentionHead h = w.head;
  h.q = args.in[0].as<const float>() + at[0];
  h.k = args.in[1].as<const float>() + at[1];
  h.v = args.in[2].as<const float>() + at[2];
  if (has(args, 3)) h.mask = args.in[3].as<const float>() + at[3];
  if (has(args, 4)) h.where = args.in[4].as<const uint8_t>() + at[4];
  h.out = args.out[0].as<float>() + at[5];
  return h;
}

int64_t tasks_attention(const ViewArgs& args) { return work_of(args).tasks(); }

int64_t scratch_attention(const ViewArgs& args) {
  const Work w = work_of(args);
  return w.tasks() * w.slot() * static_cast<int64_t>(sizeof(float));
}

// The memory of the first of these tasks serves them all: a head is laid out once for those that share it.
Status run_attention(const ViewArgs& args, int64_t first, int64_t last) {
  const Work w = work_of(args);
  const int64_t tasks = w.tasks();
  float* scratch = reinterpret_cast<float*>(args.scratch) + first * w.slot();
  AttentionHead head;
  int64_t current = -1;
  const Share share{share_of(w.items(), tasks, first).first, share_of(w.items(), tasks, last - 1).last};
  for (int64_t item = share.first; item < share.last; ++item) {
    if (item / w.blocks() != current) {
      current = item / w.blocks();
      head = head_of(args, w, current);
      simd::attention_pack(w.spec, head, scratch);
    }
    const int64_t row = item % w.blocks() * Work::kRows;
    simd::attention_rows(w.spec, head, row, std::min(w.queries, row + Work::kRows), scratch);
  }
  return {};
}

}  // namespace

constexpr EngineKernel kAttention = {.name = "f32 rows of heads",
                                     .accepts = accepts_attention,
                                     .prepare = prepare_attention,
                                     .scratch = scratch_attention,
                                     .tasks = tasks_attention,
                                     .run = run_attention,
                                     .strided = 0b11111};

}  // namespace anyshape::cpu
