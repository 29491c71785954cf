// infer_oracle DATA_DIR [--op NAME] [--kind node] [--list]: for every case under DATA_DIR/<kind>/<case>, the inferred
// dtype and dims of every output against the expected outputs, once with the numbers of the case's inputs and once with
// every input axis a symbol that is bound afterwards. Prints failures, a row per operator with --list, and `N passed, N
// failed`.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <string>

#include "anyshape/test_folder.h"
#include "format/onnx/datum.h"
#include "format/onnx/file.h"
#include "format/onnx/import.h"
#include "ir/infer.h"
#include "ops/all.h"

namespace fs = std::filesystem;
using namespace anyshape;

namespace {

struct Bound {
  std::vector<std::pair<Dim, int64_t>> values;
  std::optional<int64_t> operator()(Dim symbol) const {
    for (const auto& [s, v] : values)
      if (s == symbol) return v;
    return std::nullopt;
  }
};

// Empty when the inferred fact agrees with the real value.
std::string compare(const Fact& inferred, const Fact& real, const Walk& walk, const Bound& bound) {
  if (inferred.kind != real.kind)
    return fmt::format("kind: inferred {} for {}", print(inferred), print(real.type_only()));
  if (real.kind == Fact::Kind::sequence) {
    if (inferred.length && inferred.length->is_constant() && *inferred.length != *real.length)
      return "length of sequence";
    for (size_t i = 0; real.items && i < real.items->size(); ++i) {
      const Fact* item = inferred.items && i < inferred.items->size() ? &(*inferred.items)[i] : inferred.item.get();
      if (!item) return "no item type";
      if (item->kind == Fact::Kind::tensor && !item->dims) continue;
      if (auto wrong = compare(*item, (*real.items)[i], walk, bound); !wrong.empty()) return wrong;
    }
    return {};
  }
  if (real.kind == Fact::Kind::optional) return {};
  if (inferred.dtype != real.dtype) return fmt::format("dtype {} for {}", name(inferred.dtype), name(real.dtype));
  if (!inferred.dims) return "rank not inferred";
  if (inferred.dims->size() != real.dims->size())
    return fmt::format("rank: {} for {}", print(inferred.type_only()), print(real.type_only()));
  for (size_t i = 0; i < inferred.dims->size(); ++i) {
    const Dim d = (*inferred.dims)[i];
    if (d.is_unknown()) continue;  // differs between the items of a sequence
    const auto used = d.symbols();
    if (std::any_of(used.begin(), used.end(), [&](Dim s) { return walk.kind(s) != SymbolKind::axis; })) continue;
    if (evaluate(d, bound) != (*real.dims)[i].constant())
      return fmt::format("dims: {} for {}", print(*inferred.dims), print(*real.dims));
  }
  return {};
}

struct Case {
  std::shared_ptr<const Graph> graph;
  Facts inputs, outputs;
};

Result<Case> read_case(const TestFolder& folder, const fs::path& set) {
  TRY(const auto file, onnx::read_model(folder.model()));
  Case c;
  TRY(c.graph, onnx::import_model(file, all_ops()));
  const auto read_all = [&](const std::vector<ValueId>& ids, const char* stem, Facts& out) -> Status {
    for (size_t i = 0; i < ids.size(); ++i) {
      const fs::path path = value_file(set, stem, i);
      if (!fs::exists(path)) break;
      const auto& declared = c.graph->values[ids[i]].declared;
      TRY(const Datum datum, onnx::read_datum(path, declared ? declared->kind : Fact::Kind::tensor));
      out.push_back(Fact::of(datum));
    }
    return {};
  };
  // Old files list their initializers among the inputs; the data is for the others.
  TRY_OK(read_all(c.graph->required_inputs(), "input", c.inputs));
  TRY_OK(read_all(c.graph->outputs, "output", c.outputs));
  return c;
}

// The fact a case's input enters the walk with: entries only where some rule reads them.
Fact entering(const Fact& real, bool relevant, bool symbolic, Symbols& symbols, Bound& bound) {
  if (real.kind != Fact::Kind::tensor) {
    Fact fact = real;
    if (!real.items) return fact;
    Facts items;
    for (const Fact& item : *real.items) items.push_back(item.type_only());
    fact.items = std::make_shared<const Facts>(std::move(items));
    return fact;
  }
  if (relevant) return real;
  Fact fact = real.type_only();
  fact.from_shapes = false;
  if (!symbolic) return fact;
  for (Dim& d : *fact.dims) {
    const Dim symbol = symbols.fresh("a");
    bound.values.emplace_back(symbol, *d.constant());
    d = symbol;
  }
  return fact;
}

std::string check(const Case& c, bool symbolic) {
  Symbols symbols;
  Assumptions assumptions(symbols);
  Bound bound;
  Facts facts;
  const auto required = c.graph->required_inputs();
  if (c.inputs.size() != required.size()) return "input data missing";
  for (size_t i = 0; i < required.size(); ++i)
    facts.push_back(entering(c.inputs[i], c.graph->values[required[i]].shape_relevant, symbolic, symbols, bound));
  for (const auto& [symbol, value] : bound.values) assumptions.assume(Condition::ge(symbol, 0));
  Walk::Options options;
  options.numeric = !symbolic;
  Walk walk(assumptions, options);
  const auto inferred = walk.run(*c.graph, facts);
  if (!inferred) return inferred.error().text();
  if (!walk.undecided().empty()) {
    const Reason& r = walk.undecided().front().why;
    return fmt::format("undecided[{}] {}: {}", r.code, r.node, r.sentence);
  }
  for (const Requirement& r : walk.requirements())
    if (!r.on_data && !r.opaque && evaluate(!r.path || r.condition, bound) == Tri::no)
      return fmt::format("false refusal: {} ({})", print(r.condition), r.sentence);
  for (size_t i = 0; i < c.outputs.size(); ++i)
    if (auto wrong = compare((*inferred)[c.graph->outputs[i]], c.outputs[i], walk, bound); !wrong.empty())
      return fmt::format("output {}: {}", i, wrong);
  return {};
}

struct Tally {
  int passed = 0, failed = 0;
};

}  // namespace

int main(int argc, char** argv) {
  std::string only_op, only_kind;
  bool list = false;
  for (int i = 2; i < argc; ++i) {
    const std::string_view arg = argv[i];
    if (arg == "--op" && i + 1 < argc)
      only_op = argv[++i];
    else if (arg == "--kind" && i + 1 < argc)
      only_kind = argv[++i];
    else if (arg == "--list")
      list = true;
  }
  if (argc < 2) return 2;
  const auto folders = find_test_folders(argv[1]);
  if (!folders) return 2;
  std::map<std::string, Tally> by_op;
  Tally all;
  for (const TestFolder& folder : *folders) {
    if (!only_kind.empty() && folder.path.parent_path().filename() != only_kind) continue;
    for (const fs::path& set : folder.sets) {
      auto c = read_case(folder, set);
      const std::string op = c && !c->graph->nodes.empty() ? c->graph->nodes.back().type : "(none)";
      if (!only_op.empty() && op != only_op) continue;
      for (bool symbolic : {false, true}) {
        const std::string wrong = c ? check(*c, symbolic) : c.error().text();
        Tally& tally = by_op[op];
        wrong.empty() ? ++tally.passed : ++tally.failed;
        wrong.empty() ? ++all.passed : ++all.failed;
        if (!wrong.empty())
          fmt::print("{} {} ({}): {}\n", folder.path.filename().string(), symbolic ? "symbolic" : "concrete", op,
                     wrong);
      }
    }
  }
  if (list)
    for (const auto& [op, tally] : by_op) fmt::print("{:32} {:5} passed {:5} failed\n", op, tally.passed, tally.failed);
  fmt::print("{} passed, {} failed\n", all.passed, all.failed);
  return all.failed == 0 && all.passed > 0 ? 0 : 1;
}
