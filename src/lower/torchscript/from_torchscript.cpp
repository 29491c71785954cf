#include "lower/torchscript/from_torchscript.h"

#include <algorithm>

#include "base/among.h"
#include "lower/assemble.h"
#include "lower/torchscript/inputs.h"

namespace anyshape::lower {

using script::Evaluator;
using script::Value;

namespace {

struct Output {
  std::string path;
  Ref ref;
};

// The whole way from a module to a graph.
class FromTorchscriptDriver {
 public:
  FromTorchscriptDriver(const torchscript::Script& script, const Request& request, const OpTable& ops)
      : script_(script),
        request_(request),
        symbols_(std::make_shared<Symbols>()),
        assumptions_(*symbols_),
        lowering_(ops, assumptions_, request.opset, LoweringOptions::of(request)),
        evaluator_(script, lowering_) {
    evaluator_.library().set_custom(request.custom);
  }

  Result<Lowered> run();

 private:
  Status find_forward();
  Status name_inputs();
  Status call_forward();
  Result<Value> argument(const script::Argument& argument);
  Status flatten(const Value& value, const std::string& path, std::vector<Output>& out);
  Result<NamedRefs> outputs(Assembly& assembly);
  void add_state(NamedRefs& out, Assembly& assembly);
  Status check_dynamic(const NamedRefs& outputs) const;

  const torchscript::Script& script_;
  Request request_;
  std::shared_ptr<Symbols> symbols_;
  Assumptions assumptions_;
  Lowering lowering_;
  Evaluator evaluator_;
  const torchscript::Function* forward_ = nullptr;
  script::Inputs inputs_;
  Axes axes_;
  Refs tensors_;
  Value result_;
};

Status FromTorchscriptDriver::find_forward() {
  const torchscript::Class& type = script_.classes.at(script_.data.root->text);
  for (const char* name : {"forward", "forward__0"}) {
    const auto found = type.methods.find(name);
    if (found == type.methods.end()) continue;
    forward_ = &found->second;
    return {};
  }
  return refuse("script.forward", "the module {} has no method forward", script_.data.root->text);
}

Status FromTorchscriptDriver::name_inputs() {
  TRY(inputs_, script::inputs_of(script_, *forward_, request_));
  request_.dynamic.insert(request_.dynamic.end(), inputs_.dynamic.begin(), inputs_.dynamic.end());
  std::vector<RecordedInput> recorded;
  for (const auto& tensor : inputs_.tensors) recorded.push_back({tensor.name, tensor.axes});
  // Outputs are known after the run: keys that are no inputs are taken to be outputs until then.
  constexpr size_t kAnyRank = 64;
  std::vector<std::pair<std::string, size_t>> outputs;
  for (const DynamicAxis& key : request_.dynamic) {
    const bool input =
        std::any_of(recorded.begin(), recorded.end(), [&](const auto& r) { return r.name == key.value; });
    if (!input) outputs.emplace_back(key.value, kAnyRank);
  }
  TRY(axes_, name_axes(recorded, outputs, request_, *symbols_));
  return {};
}

Result<Value> FromTorchscriptDriver::argument(const script::Argument& given) {
  using Kind = script::Argument::Kind;
  switch (given.kind) {
    case Kind::tensor:
      return Value(lowering_.memory().variable(tensors_[given.tensor], inputs_.tensors[given.tensor].name));
    case Kind::plain:
      return evaluator_.literal(given.plain);
    case Kind::absent:
      return Value(script::None{});
    default:
      break;
  }
  script::Values items;
  for (const script::Argument& item : given.items) {
    TRY(Value value, argument(item));
    items.push_back(std::move(value));
  }
  if (given.kind == Kind::list) return script::list_of(std::move(items));
  if (given.kind == Kind::tuple) return script::tuple_of(std::move(items));
  auto dict = std::make_shared<script::Dict>();
  for (size_t i = 0; i < items.size(); ++i) dict->entries.emplace_back(given.keys[i], std::move(items[i]));
  return Value(std::move(dict));
}

Status FromTorchscriptDriver::call_forward() {
  lowering_.captured().watch(axes_.freed);
  for (size_t i = 0; i < inputs_.tensors.size(); ++i) {
    const auto& tensor = inputs_.tensors[i];
    for (Dim d : axes_.dims[i]) {
      if (!d.is_symbol()) continue;
      assumptions_.assume(Condition::ge(d, 0));
      evaluator_.undecided().add_input_symbol(d);
    }
    tensors_.push_back(lowering_.input(tensor.name, Fact::tensor(tensor.dtype, axes_.dims[i])));
  }
  for (const auto& [path, given] : inputs_.state) {
    TRY(Value value, argument(given));
    evaluator_.modules().set_state(path, std::move(value));
  }
  script::Call call;
  for (const auto& [name, given] : inputs_.arguments) {
    TRY(Value value, argument(given));
    call.named.emplace_back(name, std::move(value));
  }
  TRY(result_, evaluator_.call_method(evaluator_.modules().root(), forward_->name, std::move(call)));
  return lowering_->status();
}

Status FromTorchscriptDriver::flatten(const Value& value, const std::string& path, std::vector<Output>& out) {
  if (value.is_none()) return {};
  if (const Var* tensor = value.get<Var>()) {
    out.push_back({path, lowering_.memory().read(*tensor)});
    return {};
  }
  if (value.is_number() && !value.get<std::complex<double>>()) {
    out.push_back({path, evaluator_.numbers().ref(value)});
    return {};
  }
  if (const script::List* list = value.list(); list && !list->stacked) {
    for (size_t i = 0; i < list->items.size(); ++i) {
      const bool named = list->named && i < list->named->attributes.size();
      TRY_OK(flatten(
          list->items[i],
          named ? fmt::format("{}['{}']", path, list->named->attributes[i].name) : fmt::format("{}[{}]", path, i),
          out));
    }
    return {};
  }
  if (const script::Dict* dict = value.dict()) {
    for (size_t i = 0; i < dict->entries.size(); ++i) {
      const std::string* key = dict->entries[i].first.text();
      TRY_OK(flatten(dict->entries[i].second,
                     key ? fmt::format("{}['{}']", path, *key) : fmt::format("{}[{}]", path, i), out));
    }
    return {};
  }
  if (value.text()) return {};
  const bool list = value.list() != nullptr;
  return refuse("script.output", "forward gives back {}, which no ONNX model can",
                list ? "a list whose length only the running model knows" : script::kind_of(value));
}

Result<NamedRefs> FromTorchscriptDriver::outputs(Assembly& assembly) {
  std::vector<Output> found;
  lowering_->set_place("");
  TRY_OK(flatten(result_, "", found));
  if (found.empty()) return refuse("script.output", "forward gives back no tensor");
  NamedRefs out;
  for (size_t i = 0; i < found.size(); ++i)
    out.emplace_back(output_name(request_, i, found.size(), found[i].path), found[i].ref);
  add_state(out, assembly);
  TRY_OK(assembly.check_names(out, found.size()));
  return out;
}

// What the module will find in its attributes when it is called again.
void FromTorchscriptDriver::add_state(NamedRefs& out, Assembly& assembly) {
  for (const script::Change& change : evaluator_.modules().changes()) {
    // What is always set before it is read says nothing to the next call.
    if (!change.read_first) continue;
    const auto is_given = [&](const auto& given) { return given.first == change.path; };
    const bool given = std::any_of(inputs_.state.begin(), inputs_.state.end(), is_given);
    const Var* tensor = change.owner->attributes.at(change.attribute).get<Var>();
    if (tensor != nullptr) {
      const Ref value = lowering_.memory().read(*tensor);
      const std::string dims = print(lowering_->dims(value));
      const std::string how =
          fmt::format(", --input \"{}={}{}\" makes it an input", change.path, name(lowering_->dtype(value)), dims);
      assembly.state(out, change.path, value, given, how);
    } else if (!given) {
      assembly.note(
          fmt::format("the module changes its attribute {0}: the exported model begins with the archive's value each "
                      "time; --input \"{0}=VALUE\" makes it an input",
                      change.path));
    }
  }
}

Status FromTorchscriptDriver::check_dynamic(const NamedRefs& outputs) const {
  std::vector<std::string> names;
  for (const auto& tensor : inputs_.tensors) names.push_back(tensor.name);
  for (const auto& [name, ref] : outputs) names.push_back(name);
  for (const DynamicAxis& key : request_.dynamic)
    if (!among(key.value, names)) return unknown_value(key.value, names);
  return {};
}

Result<Lowered> FromTorchscriptDriver::run() {
  TRY_OK(find_forward());
  TRY_OK(name_inputs());
  TRY_OK(call_forward());
  Assembly assembly(lowering_, symbols_, request_, axes_);
  TRY(NamedRefs results, outputs(assembly));
  TRY_OK(check_dynamic(results));
  for (const script::Checked& checked : evaluator_.checked())
    assembly.guard(checked.condition, fmt::format("{}: {}", checked.place, checked.message));
  assembly.notes(evaluator_.library().notes());
  assembly.notes(lowering_.captured().suspects());
  TRY(Lowered out, assembly.finish(std::move(results)));
  out.unrolled = lowering_.captured().unrolled();
  out.frozen = lowering_.captured().frozen();
  out.custom_shapes = request_.custom_shapes;
  return out;
}

}  // namespace

Result<Lowered> from_torchscript(const torchscript::Script& script, const Request& request, const OpTable& ops) {
  return FromTorchscriptDriver(script, request, ops).run();
}

}  // namespace anyshape::lower
