#include <algorithm>
#include <cmath>
#include <limits>

#include "ops/elementwise/program_of.h"
#include "ops/given.h"
#include "run/cpu/kernels/all.h"
#include "run/cpu/kernels/common.h"
#include "run/cpu/simd/program.h"

// Every operator that is a short elementwise program.
namespace anyshape::cpu {
namespace {

using simd::ElementwisePlan;

struct ElementwisePrepared {
  ElementwisePlan plan;
  DType type = DType::undefined;
};

DType type_of(const Call& call, const ElementwiseProgram& program) {
  std::vector<DType> types;
  for (size_t i = 0; i < call.inputs(); ++i) types.push_back(call.has(i) ? call.in(i).dtype : DType::undefined);
  return compute_type(program, types);
}

std::string_view accepts_elementwise(const Call& call) {
  if (call.inputs() > kMostElementwiseInputs) return "it has more than 16 inputs";
  for (size_t i = 0; i < call.inputs(); ++i)
    if (call.has(i) && !call.in(i).is_tensor()) return "an input is no tensor";
  const bool old = call.version() < 7 && call.op()->domain.empty();
  if (old && (ops::is_set(call, "broadcast") || call.type() == "PRelu")) return "it broadcasts as before opset 7";
  const auto program = ops::program_of(call);
  if (!program) return "its attributes are not understood";
  if (type_of(call, *program) == DType::undefined)
    return "not all inputs have one type out of f32, f64, i32, i64, bool";
  return {};
}

Result<std::shared_ptr<const void>> prepare_elementwise(const Call& call) {
  TRY(auto program, ops::program_of(call));
  auto p = std::make_shared<ElementwisePrepared>();
  p->type = type_of(call, program);
  p->plan = simd::plan_program(std::move(program));
  return p;
}

constexpr int64_t kPiece = 2048;  // entries of one item of work

int64_t items_of(const ViewArgs& args) { return (args.out[0].count() + kPiece - 1) / kPiece; }

int64_t tasks_elementwise(const ViewArgs& args) {
  const double cost = 4.0 * static_cast<double>(prepared_as<ElementwisePrepared>(args).plan.program.code.size() + 2);
  return tasks_for(items_of(args), cost * kPiece);
}

int64_t slot_of_elementwise(const ViewArgs& args) {
  return round_up(simd::elementwise_scratch(prepared_as<ElementwisePrepared>(args).plan), 64);
}

int64_t scratch_elementwise(const ViewArgs& args) { return tasks_elementwise(args) * slot_of_elementwise(args); }

Status run_elementwise(const ViewArgs& args, int64_t first, int64_t last) {
  const ElementwisePrepared& p = prepared_as<ElementwisePrepared>(args);
  const int64_t all = tasks_elementwise(args), items = items_of(args), count = args.out[0].count();
  for (int64_t t = first; t < last; ++t) {
    const Share share = share_of(items, all, t);
    TRY_OK(simd::run_elementwise(p.plan, p.type, args.in, args.out[0], share.first * kPiece,
                                 std::min(count, share.last * kPiece), args.scratch + t * slot_of_elementwise(args)));
  }
  return {};
}

}  // namespace

constexpr EngineKernel kElementwise = {.name = "elementwise",
                                       .accepts = accepts_elementwise,
                                       .prepare = prepare_elementwise,
                                       .scratch = scratch_elementwise,
                                       .tasks = tasks_elementwise,
                                       .run = run_elementwise,
                                       .strided = 0xffff,
                                       .in_place = 0xffff};

}  // namespace anyshape::cpu
