#include <map>

#include "ops/control/bodies.h"
#include "ops/records.h"

namespace anyshape::ops {
namespace {

constexpr Port kIfIn[] = {{"cond", Port::value}};
constexpr Port kIfOut[] = {{"outputs", Port::variadic}};
constexpr AttributeDef kIfAttributes[] = {
    {"else_branch", AttributeDef::graph, AttributeDef::required},
    {"then_branch", AttributeDef::graph, AttributeDef::required},
};

struct Branch {
  const Graph* graph;
  Condition path;
  std::optional<Facts> outputs;  // absent: refused, and the path required not to be taken
  std::optional<Error> refusal;
};

Status check_outputs(const Call& call, const Graph& branch, std::string_view name) {
  if (branch.outputs.size() == call.outputs()) return {};
  return refuse("if.outputs", "{} gives {} outputs, the node has {}", name, branch.outputs.size(), call.outputs());
}

Result<Facts> walk_taken(InferContext& context, const Graph& graph, bool from_shapes) {
  TRY(Facts out, context.infer_body(graph, {}));
  assume_sizes(context, out);
  for (Fact& fact : out) fact.from_shapes = fact.from_shapes && from_shapes;
  return out;
}

// A branch that cannot be taken is no error as long as its path is not taken.
Status walk_branch(InferContext& context, Branch& branch) {
  auto out = context.infer_body(*branch.graph, {}, branch.path);
  if (out) {
    branch.outputs = *std::move(out);
    return {};
  }
  branch.refusal = std::move(out).error();
  return forbid(context, branch.path, *branch.refusal);
}

// Joins sizes by a formula where the condition is one of shapes, by a size of its own where it is one of data.
Joiner joiner_for(InferContext& context, const Condition& taken, bool on_data) {
  if (!on_data) {
    // Where the two are equal on one path, the other one says it all.
    const JoinDim choose = [&context, &taken](Dim a, Dim b) {
      const auto equal_on = [&](const Condition& path) {
        Assumptions::Scope scope(context.assumptions());
        context.assumptions().assume(path);
        return context.simplify(a - b) == Dim(0);
      };
      if (equal_on(taken)) return b;
      if (equal_on(!taken)) return a;
      return select(taken, a, b);
    };
    return {choose, choose};
  }
  auto known = std::make_shared<std::map<std::pair<std::string, std::string>, Dim>>();
  const JoinDim size = [&context, &taken, known](Dim a, Dim b) {
    const auto [it, added] = known->try_emplace({print(a), print(b)});
    if (!added) return it->second;
    const Dim joined = it->second = context.data_dim("if", min(a, b), max(a, b));
    context.bound(!taken || Condition::eq(joined, a));
    context.bound(taken || Condition::eq(joined, b));
    return joined;
  };
  return {size, std::nullopt};
}

Result<Facts> walk_both(const Call& call, InferContext& context, const Condition& taken, bool on_data) {
  Branch then_branch{call.graph("then_branch"), taken, std::nullopt, std::nullopt};
  Branch else_branch{call.graph("else_branch"), !taken, std::nullopt, std::nullopt};
  TRY_OK(walk_branch(context, then_branch));
  TRY_OK(walk_branch(context, else_branch));
  for (const Branch* branch : {&then_branch, &else_branch})
    if (branch->outputs) assume_sizes(context, *branch->outputs);
  if (!then_branch.outputs && !else_branch.outputs) return tl::unexpected(*std::move(else_branch.refusal));
  if (!then_branch.outputs || !else_branch.outputs) {
    Facts out = then_branch.outputs ? *std::move(then_branch.outputs) : *std::move(else_branch.outputs);
    for (Fact& fact : out) fact.from_shapes = fact.from_shapes && call.in(0).from_shapes;
    return out;
  }
  const Joiner joiner = joiner_for(context, taken, on_data);
  Facts out;
  for (size_t i = 0; i < call.outputs(); ++i) {
    TRY(Fact fact, join(context, (*then_branch.outputs)[i], (*else_branch.outputs)[i], joiner));
    if (!on_data && !fact.dims && (*then_branch.outputs)[i].dims && (*else_branch.outputs)[i].dims)
      context.offer_split(taken);
    fact.from_shapes = fact.from_shapes && call.in(0).from_shapes;
    if (!fact.from_shapes && on_data) fact.constant = nullptr;
    out.push_back(std::move(fact));
  }
  return out;
}

Result<Facts> infer_if(const Call& call, InferContext& context) {
  const Graph *then_graph = call.graph("then_branch"), *else_graph = call.graph("else_branch");
  if (!then_graph || !else_graph) return refuse("if.branch", "then_branch and else_branch must both be given");
  TRY_OK(check_outputs(call, *then_graph, "then_branch"));
  TRY_OK(check_outputs(call, *else_graph, "else_branch"));
  const Fact& cond = call.in(0);
  if (cond.is_tensor() && cond.dtype != DType::boolean && cond.dtype != DType::undefined)
    return refuse("if.cond", "the condition must be bool, it is {}", print(cond));
  if (cond.dims)
    TRY_OK(context.require(Condition::eq(product(*cond.dims), 1), "if.cond",
                           "the condition must be one entry, it is {}", print(cond)));
  Condition taken = Condition::opaque();
  bool on_data = false;
  if (const auto entry = cond.single()) {
    taken = Condition::ne(context.simplify(*entry), 0);
    on_data = context.on_data(*entry);
  }
  if (taken.is_opaque()) {
    taken = Condition::eq(context.fresh(cond, "cond", 0, 1), 1);
    on_data = !cond.from_shapes;
  }
  const Tri answer = context.assumptions().prove(taken);
  if (answer == Tri::yes) return walk_taken(context, *then_graph, true);
  if (answer == Tri::no) return walk_taken(context, *else_graph, true);
  return walk_both(call, context, taken, on_data);
}

Status reference_if(const Call& call, KernelArgs& args) {
  TRY(const bool taken, single_bool(args.in(0), "if.cond"));
  const std::string_view name = taken ? "then_branch" : "else_branch";
  const Graph* branch = call.graph(name);
  if (!branch) return refuse("if.branch", "{} is missing", name);
  TRY_OK(check_outputs(call, *branch, name));
  TRY(std::vector<Datum> out, args.bodies->run(*branch, {}));
  std::move(out.begin(), out.end(), args.outputs.begin());
  return {};
}

constexpr Kernel kIfKernels[] = {{"reference", reference_if}};

}  // namespace

constexpr OpDef kIf1{.name = "If",
                     .since = 1,
                     .sig = {kIfIn, kIfOut, "one of two bodies, chosen by a condition", kIfAttributes},
                     .infer = infer_if,
                     .kernels = kIfKernels};

}  // namespace anyshape::ops
