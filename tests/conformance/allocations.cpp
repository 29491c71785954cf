// allocations DIR [--op NAME] [--list]: plans every model.onnx below DIR that has a test_data_set_0,
// with no size known but those of constants, reserves memory for the sizes of its data, runs it, and counts what each
// step allocates. Inputs whose entries decide sizes are constants. Not counted, as the plan says: steps whose sizes
// depend on data and those after them, and those with strings, containers or elements smaller than a byte. Prints each
// case that allocates and `N of M operators, ...`.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <string>

#include "../counting_malloc.h"
#include "anyshape/test_folder.h"
#include "format/onnx/datum.h"
#include "format/onnx/file.h"
#include "format/onnx/import.h"
#include "ops/all.h"
#include "passes/body.h"
#include "run/cpu/engine.h"
#include "run/cpu/target.h"

namespace fs = std::filesystem;
using namespace anyshape;
using anyshape::testing::allocations;
using anyshape::testing::counting;

namespace {

struct Options {
  fs::path data;
  std::string op;
  bool list = false;
};

struct Tally {
  int cases = 0, steps = 0, allocating = 0;
};

struct Found {
  std::map<std::string, Tally> by_op;
  int cases = 0, outside = 0, failed = 0, bookkeeping = 0;
};

Result<Datum> read_data(const Graph& graph, ValueId id, const fs::path& file) {
  const auto& declared = graph.values[id].declared;
  return onnx::read_datum(file, declared ? declared->kind : Fact::Kind::tensor);
}

struct Case {
  std::shared_ptr<const Graph> graph;
  std::vector<Datum> inputs, outputs;
};

Result<Case> read_case(const TestFolder& folder) {
  TRY(const auto file, onnx::read_model(folder.model()));
  TRY(const auto imported, onnx::import_model(file, all_ops()));
  auto graph = std::make_shared<Graph>(*imported);
  Case c;
  const auto required = graph->required_inputs();
  for (size_t i = 0; i < required.size(); ++i) {
    Value& value = graph->values[required[i]];
    TRY(Datum datum, read_data(*graph, required[i], value_file(folder.sets[0], "input", i)));
    if (value.shape_relevant && datum.is_tensor()) {
      value.constant = std::make_shared<const Fact>(Fact::of(datum));
      value.is_initializer = true;
    } else {
      if (value.declared && value.declared->dims) value.declared->dims->assign(value.declared->dims->size(), {});
      c.inputs.push_back(std::move(datum));
    }
  }
  for (size_t i = 0; i < graph->outputs.size(); ++i) {
    TRY(Datum datum, read_data(*graph, graph->outputs[i], value_file(folder.sets[0], "output", i)));
    c.outputs.push_back(std::move(datum));
    if (graph->values[graph->outputs[i]].declared) graph->values[graph->outputs[i]].declared->dims.reset();
  }
  c.graph = std::move(graph);
  return c;
}

bool has_dynamic(const Plan& plan, const PlanStep& step) {
  const auto dynamic = [&](uint32_t value) {
    return value != kNone && plan.values[value].kind == PlanValue::Kind::dynamic;
  };
  return std::any_of(step.in.begin(), step.in.end(), dynamic) || std::any_of(step.out.begin(), step.out.end(), dynamic);
}

// Outside of the promise: what the plan itself says depends on data or comes after it, or is no tensor of numbers.
bool is_outside(const Plan& plan, const PlanStep& step) {
  const bool later = plan.stages.size() > 1 && &step - plan.steps.data() >= plan.stages[1].first_step;
  return later || step.kind == PlanStep::Kind::dynamic || has_dynamic(plan, step);
}

struct Counts {
  std::vector<std::pair<const PlanStep*, int64_t>> steps;
  int64_t all = 0;
};

Result<Counts> count_run(Executor& executor, const Case& c) {
  Counts counts;
  counts.steps.reserve(executor.plan().steps.size());
  int64_t seen = 0;
  const StepObserver observer = [&](const StepTime& time) {
    counts.steps.emplace_back(&executor.plan().steps[time.index], allocations - seen);
    seen = allocations;
  };
  std::vector<Datum> outputs = c.outputs;
  Run run;
  run.inputs = c.inputs;
  run.outputs = outputs;
  run.own_outputs = false;
  run.observer = &observer;
  anyshape::testing::Counted counted;
  const Status ran = executor.run(run);
  counts.all = anyshape::testing::Counted::stop();
  TRY_OK(ran);
  return counts;
}

Result<Counts> run_case(const Case& c, std::shared_ptr<const Plan>& plan) {
  EngineModel given;
  given.graph = c.graph;
  given.typed = std::make_shared<const Typed>(solve(inline_functions(c.graph)));
  TRY(const PlannedModel model, PlannedModel::make(cpu::target(), given, {}));
  plan = model.plan();
  const auto queue = cpu::make_queue(1);
  Executor executor(plan, *queue, [&](std::span<const Datum> inputs, const PlanStage::Guard* guard) {
    return model.judge(inputs, guard);
  });
  TRY_OK(executor.reserve(c.inputs));
  return count_run(executor, c);
}

void judge(const std::string& name, const Plan& plan, const Counts& counts, Found& found) {
  int64_t in_steps = 0;
  bool outside = false;
  std::set<std::string> seen;
  for (const auto& [step, made] : counts.steps) {
    in_steps += made;
    if (is_outside(plan, *step)) {
      outside = true;
      continue;
    }
    Tally& tally = found.by_op[step->type.empty() ? "(copy)" : step->type];
    tally.steps++;
    if (seen.insert(step->type).second) tally.cases++;
    if (made == 0) continue;
    tally.allocating++;
    fmt::print("{}: {} {} makes {}\n", name, step->type, step->label, made);
  }
  found.outside += outside;
  // Outputs of containers and strings are handed over by handles.
  if (outside || std::any_of(plan.outputs.begin(), plan.outputs.end(), [&](uint32_t value) {
        return plan.values[value].kind == PlanValue::Kind::dynamic || !fits_view(plan.values[value].dtype);
      }))
    return;
  if (counts.all == in_steps) return;
  found.bookkeeping++;
  fmt::print("{}: {} beside the steps\n", name, counts.all - in_steps);
}

Options parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string_view arg = argv[i];
    if (arg == "--op" && i + 1 < argc)
      options.op = argv[++i];
    else if (arg == "--list")
      options.list = true;
    else
      options.data = arg;
  }
  return options;
}

bool has_node(const Graph& graph, const std::string& op) {
  return std::any_of(graph.nodes.begin(), graph.nodes.end(), [&](const Node& node) { return node.type == op; });
}

int report(const Options& options, const Found& found) {
  int clean = 0;
  for (const auto& [op, tally] : found.by_op) {
    if (options.list) fmt::print("{:32} {:5} steps {:5} allocate\n", op, tally.steps, tally.allocating);
    clean += tally.allocating == 0;
    if (tally.allocating > 0) fmt::print("FAIL {} allocates\n", op);
  }
  fmt::print("{} of {} operators allocate nothing, {} cases, {} of them in part outside, {} failed, {} beside steps\n",
             clean, found.by_op.size(), found.cases, found.outside, found.failed, found.bookkeeping);
  const bool all = clean > 0 && clean == static_cast<int>(found.by_op.size());
  return all && found.failed == 0 && found.bookkeeping == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const Options options = parse(argc, argv);
  if (options.data.empty()) return 2;
  Found found;
  const auto folders = find_test_folders(options.data);
  if (!folders) return 2;
  for (const TestFolder& folder : *folders) {
    if (folder.sets.empty()) continue;
    const std::string name = fs::relative(folder.path, options.data).string();
    const auto c = read_case(folder);
    if (c && !options.op.empty() && !has_node(*c->graph, options.op)) continue;
    std::shared_ptr<const Plan> plan;
    const Result<Counts> counts = c ? run_case(*c, plan) : tl::unexpected(c.error());
    if (!counts && counts.error().code == "run.missing") continue;
    found.cases++;
    if (!counts) {
      found.failed++;
      fmt::print("{}: {}\n", name, counts.error().text());
      continue;
    }
    judge(name, *plan, *counts, found);
  }
  return report(options, found);
}
