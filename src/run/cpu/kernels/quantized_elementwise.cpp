#include <algorithm>
#include <limits>
#include <optional>

#include "kernels/scores.h"
#include "run/cpu/kernels/all.h"
#include "run/cpu/kernels/byte_table.h"
#include "run/cpu/simd/binary_bytes.h"

// QLinearAdd and QLinearMul; those that a table of all bytes serves: QLinearLeakyRelu, QLinearSigmoid, QLinearConcat.
namespace anyshape::cpu {
namespace {

using simd::ByteBinary;
using simd::ByteOperand;

constexpr int64_t kPiece = 4096;

std::string_view accepts_binary(const Call& call) {
  for (size_t i : {size_t{0}, size_t{3}})
    if (!is_byte(call, i) || call.in(i).dtype != call.in(0).dtype) return "its inputs are not of one 8-bit type";
  for (size_t i : {size_t{0}, size_t{3}, size_t{5}})
    if (const auto why = accepts_parameters(call, i + 1, i + 2); !why.empty()) return why;
  return {};
}

struct Binary {
  bool sum = true;
};

Result<std::shared_ptr<const void>> prepare_binary(const Call& call) {
  return std::make_shared<Binary>(Binary{call.type() == "QLinearAdd"});
}

// The output as rows in which each operand has one entry or all of them, in pieces.
struct QuantizedElementwiseRows {
  size_t axes = 0;  // in front of a row
  int64_t count = 1, row = 1, pieces = 1;
  bool one[2] = {};

  int64_t items() const { return count * pieces; }
  int64_t tasks() const { return tasks_for(items(), static_cast<double>(std::min(row, kPiece)) * 2); }
};

int64_t size_at(const View& view, size_t axis, size_t rank) {
  return axis + view.rank() < rank ? 1 : view.dims[axis + view.rank() - rank];
}

QuantizedElementwiseRows rows_of_quantized_elementwise(const ViewArgs& args) {
  const View& out = args.out[0];
  const View* in[] = {&args.in[0], &args.in[3]};
  const size_t rank = out.rank();
  QuantizedElementwiseRows rows;
  rows.axes = rank;
  bool decided[2] = {};
  for (; rows.axes > 0; --rows.axes) {
    const size_t axis = rows.axes - 1;
    bool fits = true, single[2];
    for (size_t i : {size_t{0}, size_t{1}}) {
      single[i] = size_at(*in[i], axis, rank) == 1;
      fits &= out.dims[axis] == 1 || !decided[i] || rows.one[i] == single[i];
    }
    if (!fits) break;
    rows.row *= out.dims[axis];
    for (size_t i : {size_t{0}, size_t{1}})
      if (out.dims[axis] != 1) decided[i] = true, rows.one[i] = single[i];
  }
  for (size_t axis = 0; axis < rows.axes; ++axis) rows.count *= out.dims[axis];
  rows.pieces = (rows.row + kPiece - 1) / kPiece;
  return rows;
}

// Where the entries of an operand for row r begin.
int64_t start_of(const View& in, const View& out, const QuantizedElementwiseRows& rows, bool one, int64_t r) {
  int64_t at = 0, step = one ? 1 : rows.row;
  for (size_t axis = rows.axes; axis-- > 0; r /= out.dims[axis]) {
    const int64_t size = size_at(in, axis, out.rank());
    if (size != 1) at += r % out.dims[axis] * step;
    step *= size;
  }
  return at;
}

ByteBinary binary_of(const ViewArgs& args) {
  const auto scale = [&](size_t i) { return *args.in[i].as<const float>(); };
  const auto zero = [&](int i) { return static_cast<float>(integer_at(view_at(args.in, i), 0)); };
  ByteBinary how{.sum = prepared_as<Binary>(args).sum, .is_signed = args.out[0].dtype == DType::i8};
  how.a_zero = zero(2), how.b_zero = zero(5), how.zero = zero(7);
  how.left = scale(1) / scale(6), how.right = scale(4) / scale(6), how.both = scale(1) * scale(4) / scale(6);
  how.fixed = how.zero - (how.left * how.a_zero + how.right * how.b_zero);
  return how;
}

int64_t tasks_binary(const ViewArgs& args) {
  return args.out[0].count() == 0 ? 1 : rows_of_quantized_elementwise(args).tasks();
}

Status run_binary(const ViewArgs& args, int64_t first, int64_t last) {
  const View& out = args.out[0];
  if (out.count() == 0) return {};
  const QuantizedElementwiseRows rows = rows_of_quantized_elementwise(args);
  const ByteBinary how = binary_of(args);
  const int64_t tasks = rows.tasks(), end = share_of(rows.items(), tasks, last - 1).last;
  for (int64_t item = share_of(rows.items(), tasks, first).first; item < end; ++item) {
    const int64_t r = item / rows.pieces, from = item % rows.pieces * kPiece;
    const auto operand = [&](const View& in, bool one) {
      return ByteOperand{in.data + start_of(in, out, rows, one, r) + (one ? 0 : from), one};
    };
    simd::byte_binary(how, operand(args.in[0], rows.one[0]), operand(args.in[3], rows.one[1]),
                      std::min(kPiece, rows.row - from), out.data + r * rows.row + from);
  }
  return {};
}

// LeakyRelu where alpha is there, else Sigmoid.
struct Unary {
  std::optional<double> alpha;

  double operator()(double x) const {
    if (!alpha) return kernels::logistic(x);
    return x < 0 ? *alpha * x : x;
  }
};

std::string_view accepts_unary(const Call& call) {
  if (!is_byte(call, 0)) return "its element type has not 8 bits";
  if (const auto why = accepts_parameters(call, 1, 2); !why.empty()) return why;
  return accepts_parameters(call, 3, 4);
}

Result<std::shared_ptr<const void>> prepare_unary(const Call& call) {
  auto out = std::make_shared<Unary>();
  if (call.type() == "QLinearLeakyRelu") out->alpha = static_cast<double>(call.f("alpha"));
  return out;
}

int64_t scratch_unary(const ViewArgs&) { return kByteTable; }

Status begin_unary(const ViewArgs& args) {
  const bool is_signed = args.in[0].dtype == DType::i8;
  fill_table(parameters_at(args, 1, 2), parameters_at(args, 3, 4), is_signed, prepared_as<Unary>(args), args.scratch);
  return {};
}

int64_t tasks_unary(const ViewArgs& args) { return tasks_for((args.out[0].count() + kPiece - 1) / kPiece, kPiece * 2); }

Status run_unary(const ViewArgs& args, int64_t first, int64_t last) {
  const int64_t n = args.out[0].count(), all = tasks_unary(args);
  const int64_t begin = share_of(n, all, first).first, end = share_of(n, all, last - 1).last;
  by_table(args.scratch, args.in[0].data + begin, end - begin, args.out[0].data + begin);
  return {};
}

struct Concat {
  int64_t axis = 0;
};

std::string_view accepts_concat(const Call& call) {
  if (const auto why = accepts_parameters(call, 0, 1); !why.empty()) return why;
  if (call.inputs() < 5 || (call.inputs() - 2) % 3 != 0) return "it has not three inputs for each part";
  for (size_t i = 2; i < call.inputs(); i += 3) {
    if (!is_byte(call, i) || call.in(i).dtype != call.in(2).dtype) return "its parts are not of one 8-bit type";
    if (const auto why = accepts_parameters(call, i + 1, i + 2); !why.empty()) return why;
  }
  return {};
}

Result<std::shared_ptr<const void>> prepare_concat(const Call& call) {
  return std::make_shared<Concat>(Concat{call.i("axis")});
}

int64_t parts_of(const ViewArgs& args) { return static_cast<int64_t>(args.in.size() - 2) / 3; }
int64_t scratch_concat(const ViewArgs& args) { return parts_of(args) * kByteTable; }

Status begin_concat(const ViewArgs& args) {
  const bool is_signed = args.out[0].dtype == DType::i8;
  for (int64_t i = 0; i < parts_of(args); ++i) {
    const auto at = static_cast<int>(2 + 3 * i);
    fill_table(
        parameters_at(args, at + 1, at + 2), parameters_at(args, 0, 1), is_signed, [](double x) { return x; },
        args.scratch + i * kByteTable);
  }
  return {};
}

// The output as rows: all entries from the axis on.
int64_t rows_of_concat(const ViewArgs& args) {
  int64_t axis = prepared_as<Concat>(args).axis, outer = 1;
  if (axis < 0) axis += static_cast<int64_t>(args.out[0].rank());
  for (int64_t i = 0; i < axis; ++i) outer *= args.out[0].dims[static_cast<size_t>(i)];
  return outer;
}

int64_t tasks_concat(const ViewArgs& args) {
  const int64_t count = args.out[0].count();
  if (count == 0) return 1;
  const int64_t outer = rows_of_concat(args);
  return tasks_for(outer, static_cast<double>(count / outer) * 2);
}

Status run_concat(const ViewArgs& args, int64_t first, int64_t last) {
  const View& out = args.out[0];
  if (out.count() == 0) return {};
  const int64_t outer = rows_of_concat(args), step = out.count() / outer, tasks = tasks_concat(args);
  const int64_t begin = share_of(outer, tasks, first).first, end = share_of(outer, tasks, last - 1).last;
  const ByteParameters whole = parameters_at(args, 0, 1);
  int64_t at = 0;
  for (int64_t i = 0; i < parts_of(args); ++i) {
    const auto part = static_cast<size_t>(2 + 3 * i);
    const std::byte* from = args.in[part].data;
    const int64_t run = args.in[part].count() / outer;
    const ByteParameters own = parameters_at(args, static_cast<int>(part) + 1, static_cast<int>(part) + 2);
    const bool normal = own.scale >= std::numeric_limits<float>::min() && own.scale <= 1e30f;
    const bool same = normal && own.scale == whole.scale && own.zero == whole.zero;
    for (int64_t o = begin; o < end; ++o)
      if (same)
        std::copy_n(from + o * run, run, out.data + o * step + at);
      else
        by_table(args.scratch + i * kByteTable, from + o * run, run, out.data + o * step + at);
    at += run;
  }
  return {};
}

}  // namespace

constexpr EngineKernel kQLinearBinary = {.name = "8-bit rows",
                                         .accepts = accepts_binary,
                                         .prepare = prepare_binary,
                                         .tasks = tasks_binary,
                                         .run = run_binary};
constexpr EngineKernel kQLinearUnary = {.name = "8-bit table",
                                        .accepts = accepts_unary,
                                        .prepare = prepare_unary,
                                        .scratch = scratch_unary,
                                        .tasks = tasks_unary,
                                        .begin = begin_unary,
                                        .run = run_unary};
constexpr EngineKernel kQLinearConcat = {.name = "8-bit table",
                                         .accepts = accepts_concat,
                                         .prepare = prepare_concat,
                                         .scratch = scratch_concat,
                                         .tasks = tasks_concat,
                                         .begin = begin_concat,
                                         .run = run_concat};

}  // namespace anyshape::cpu
