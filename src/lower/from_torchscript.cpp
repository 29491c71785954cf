#include "lower/from_torchscript.h"

#include <algorithm>
#include <set>

#include "base/nearest.h"
#include "lower/axes.h"
#include "lower/lowering.h"
#include "lower/naming.h"
#include "lower/torchscript_inputs.h"
#include "lower/torchscript_state.h"

namespace anyshape::lower {

using script::Evaluator;
using script::Value;

namespace {

struct Output {
  std::string path;
  Ref ref;
};

// The whole way from a module to a graph. The program may be run several times: what it keeps from call to call is
// only known after a run.
class Driver {
 public:
  Driver(const torchscript::Script& script, const Request& request, const OpTable& ops)
      : script_(script), request_(request), ops_(ops), symbols_(std::make_shared<Symbols>()), assumptions_(*symbols_) {}

  Result<Lowered> run();

 private:
  struct Pass;
  Status find_forward();
  Status name_inputs();
  Result<Pass> run_once();
  Result<Value> argument(Pass& pass, const script::Argument& argument);
  Status flatten(Pass& pass, const Value& value, const std::string& path, std::vector<Output>& out);
  Result<std::vector<std::pair<std::string, Ref>>> outputs(Pass& pass, std::vector<std::string>& notes);
  std::string output_name(size_t index, size_t count, const std::string& path) const;
  Status check_dynamic(const Graph& graph) const;
  void add_guards(const Pass& pass, Lowered& out) const;

  const torchscript::Script& script_;
  Request request_;
  const OpTable& ops_;
  std::shared_ptr<Symbols> symbols_;
  Assumptions assumptions_;
  const torchscript::Function* forward_ = nullptr;
  script::Inputs inputs_;
  Axes axes_;
  script::State state_;
};

struct Driver::Pass {
  std::unique_ptr<Assumptions::Scope> scope;
  std::unique_ptr<Lowering> lowering;
  std::unique_ptr<Evaluator> evaluator;
  std::vector<Ref> tensors;
  Value result;
};

Status Driver::find_forward() {
  const torchscript::Class& type = script_.classes.at(script_.data.root->text);
  for (const char* name : {"forward", "forward__0"}) {
    const auto found = type.methods.find(name);
    if (found == type.methods.end()) continue;
    forward_ = &found->second;
    return {};
  }
  return refuse("script.forward", "the module {} has no method forward", script_.data.root->text);
}

Status Driver::name_inputs() {
  TRY(inputs_, script::inputs_of(script_, *forward_, request_));
  request_.dynamic.insert(request_.dynamic.end(), inputs_.dynamic.begin(), inputs_.dynamic.end());
  std::vector<RecordedInput> recorded;
  for (const auto& tensor : inputs_.tensors) recorded.push_back({tensor.name, tensor.axes});
  // Outputs are known after the run: keys that are no inputs are taken to be outputs until then.
  constexpr size_t kAnyRank = 64;
  std::vector<std::pair<std::string, size_t>> outputs;
  for (const AxisName& key : request_.dynamic) {
    const bool input =
        std::any_of(recorded.begin(), recorded.end(), [&](const auto& r) { return r.name == key.value; });
    if (!input) outputs.emplace_back(key.value, kAnyRank);
  }
  TRY(axes_, name_axes(recorded, outputs, request_, *symbols_));
  return {};
}

Result<Value> Driver::argument(Pass& pass, const script::Argument& given) {
  using Kind = script::Argument::Kind;
  switch (given.kind) {
    case Kind::tensor:
      return Value(pass.lowering->variable(pass.tensors[given.tensor], inputs_.tensors[given.tensor].name));
    case Kind::plain:
      return pass.evaluator->literal(given.plain);
    case Kind::absent:
      return Value(script::None{});
    default:
      break;
  }
  script::Values items;
  for (const script::Argument& item : given.items) {
    TRY(Value value, argument(pass, item));
    items.push_back(std::move(value));
  }
  if (given.kind == Kind::list) return script::list_of(std::move(items));
  if (given.kind == Kind::tuple) return script::tuple_of(std::move(items));
  auto dict = std::make_shared<script::Dict>();
  for (size_t i = 0; i < items.size(); ++i) dict->entries.emplace_back(given.keys[i], std::move(items[i]));
  return Value(std::move(dict));
}

Result<Driver::Pass> Driver::run_once() {
  Pass pass;
  pass.scope = std::make_unique<Assumptions::Scope>(assumptions_);
  pass.lowering =
      std::make_unique<Lowering>(ops_, assumptions_, request_.opset, LoweringOptions{.training = request_.training});
  pass.evaluator = std::make_unique<Evaluator>(script_, *pass.lowering);
  std::vector<Watched> watched;
  for (const auto& [symbol, number] : axes_.freed) watched.push_back({symbol, number});
  pass.lowering->watch(std::move(watched));
  for (size_t i = 0; i < inputs_.tensors.size(); ++i) {
    const auto& tensor = inputs_.tensors[i];
    for (Dim d : axes_.dims[i]) {
      if (!d.is_symbol()) continue;
      assumptions_.assume(Condition::ge(d, 0));
      pass.evaluator->add_input_symbol(d);
    }
    pass.tensors.push_back(pass.lowering->input(tensor.name, Fact::tensor(tensor.dtype, axes_.dims[i])));
  }
  state_.give(*pass.lowering, *pass.evaluator);
  script::Call call;
  for (const auto& [name, given] : inputs_.arguments) {
    TRY(Value value, argument(pass, given));
    call.named.emplace_back(name, std::move(value));
  }
  TRY(pass.result, pass.evaluator->call_method(pass.evaluator->root(), forward_->name, std::move(call)));
  if (pass.lowering->failed()) return tl::unexpected(pass.lowering->status().error());
  return pass;
}

Status Driver::flatten(Pass& pass, const Value& value, const std::string& path, std::vector<Output>& out) {
  if (value.is_none()) return {};
  if (const Var* tensor = value.get<Var>()) {
    out.push_back({path, pass.lowering->read(*tensor)});
    return {};
  }
  if (value.is_number() && !value.get<std::complex<double>>()) {
    out.push_back({path, pass.evaluator->numbers().ref(value)});
    return {};
  }
  if (const script::List* list = value.list(); list && !list->stacked) {
    for (size_t i = 0; i < list->items.size(); ++i) {
      const bool named = list->named && i < list->named->attributes.size();
      TRY_OK(flatten(
          pass, list->items[i],
          named ? fmt::format("{}['{}']", path, list->named->attributes[i].name) : fmt::format("{}[{}]", path, i),
          out));
    }
    return {};
  }
  if (const script::Dict* dict = value.dict()) {
    for (size_t i = 0; i < dict->entries.size(); ++i) {
      const std::string* key = dict->entries[i].first.text();
      TRY_OK(flatten(pass, dict->entries[i].second,
                     key ? fmt::format("{}['{}']", path, *key) : fmt::format("{}[{}]", path, i), out));
    }
    return {};
  }
  if (value.text()) return {};
  const bool list = value.list() != nullptr;
  return refuse("script.output", "forward gives back {}, which no ONNX model can",
                list ? "a list whose length only the running model knows" : script::kind_of(value));
}

std::string Driver::output_name(size_t index, size_t count, const std::string& path) const {
  if (index < request_.output_names.size()) return request_.output_names[index];
  const std::string named = name_of_path(path);
  if (!named.empty()) return named;
  return count == 1 ? "output" : fmt::format("output_{}", index);
}

Result<std::vector<std::pair<std::string, Ref>>> Driver::outputs(Pass& pass, std::vector<std::string>& notes) {
  std::vector<Output> found;
  pass.lowering->set_place("");
  TRY_OK(flatten(pass, pass.result, "", found));
  if (found.empty()) return refuse("script.output", "forward gives back no tensor");
  if (request_.output_names.size() > found.size()) {
    return usage("names.outputs", "{} output names are given, forward has {} outputs", request_.output_names.size(),
                 found.size());
  }
  std::vector<std::pair<std::string, Ref>> out;
  for (size_t i = 0; i < found.size(); ++i) out.emplace_back(output_name(i, found.size(), found[i].path), found[i].ref);
  for (auto& [name, ref] : state_.results(*pass.lowering, *pass.evaluator)) out.emplace_back(name, ref);
  for (const std::string& note : state_.notes()) notes.push_back(note);
  return out;
}

Status Driver::check_dynamic(const Graph& graph) const {
  for (const AxisName& key : request_.dynamic) {
    std::vector<std::string> names;
    for (ValueId id : graph.inputs) names.push_back(graph.values[id].name);
    for (ValueId id : graph.outputs) names.push_back(graph.values[id].name);
    if (std::find(names.begin(), names.end(), key.value) != names.end()) continue;
    const std::string near = nearest(key.value, names);
    return usage("dynamic.unknown", "\"{}\" is neither an input nor an output{}; there are: {}", key.value,
                 near.empty() ? "" : fmt::format(", did you mean \"{}\"?", near), fmt::join(names, ", "));
  }
  return {};
}

// What the program checks by raising an exception.
void Driver::add_guards(const Pass& pass, Lowered& out) const {
  for (const script::Checked& checked : pass.evaluator->checked()) {
    Guard guard;
    guard.condition = checked.condition;
    guard.text = print(checked.condition);
    guard.origin = fmt::format("{}: {}", checked.place, checked.message);
    bool known = !checked.condition.is_opaque();
    for (Dim symbol : checked.condition.symbols()) {
      const auto place = axes_.places.find(std::string(symbols_->name(symbol)));
      known = known && place != axes_.places.end();
      if (known) guard.symbols.insert(*place);
    }
    const auto same = [&](const Guard& other) { return other.text == guard.text; };
    if (known && std::none_of(out.guards.begin(), out.guards.end(), same)) out.guards.push_back(std::move(guard));
  }
}

Result<Lowered> Driver::run() {
  TRY_OK(find_forward());
  TRY_OK(name_inputs());
  Lowered out;
  for (bool settled = false; !settled;) {
    TRY(Pass pass, run_once());
    TRY(settled, state_.learn(*pass.lowering, *pass.evaluator));
    if (!settled) continue;
    std::vector<std::string> notes;
    TRY(const auto results, outputs(pass, notes));
    TRY(out.graph, pass.lowering->finish(results));
    if (state_.drop_dead(*out.graph)) {
      settled = false;
      continue;
    }
    out.facts = pass.lowering->facts();
    out.notes = axes_.notes;
    out.notes.insert(out.notes.end(), notes.begin(), notes.end());
    std::set<std::string> seen;
    for (const auto* more : {&pass.evaluator->notes(), &pass.lowering->suspects()}) {
      for (const std::string& note : *more) {
        if (seen.insert(note).second) out.notes.push_back(note);
      }
    }
    for (const auto& [domain, version] : pass.lowering->domains()) out.opsets.emplace_back(domain, version);
    std::sort(out.opsets.begin(), out.opsets.end());
    add_guards(pass, out);
    TRY_OK(check_dynamic(*out.graph));
    TRY_OK(name_outputs(*out.graph, request_, assumptions_, out.facts, out.notes));
  }
  out.symbols = symbols_;
  out.freed = axes_.freed;
  out.example = axes_.example;
  return out;
}

}  // namespace

Result<Lowered> from_torchscript(const torchscript::Script& script, const Request& request, const OpTable& ops) {
  return Driver(script, request, ops).run();
}

}  // namespace anyshape::lower
