#include "check/checked_model.h"

#include <algorithm>

#include "base/work.h"
#include "format/onnx/import.h"
#include "ir/defaults.h"
#include "ops/custom.h"

namespace anyshape {
namespace {

// The last entry of that key; empty: there is none.
std::string_view metadata(const onnx::ModelProto& proto, std::string_view key) {
  std::string_view text;
  for (const auto& entry : proto.metadata_props)
    if (entry.key == key) text = entry.value;
  return text;
}

}  // namespace

template <class T, class Find>
const T& CheckedModel::found(Found<T>& kept, Find find) {
  if (!kept.now || (kept.cut && !Work::budget_spent())) {
    kept.before = std::move(kept.now);
    kept.now = std::make_shared<const T>(find());
    kept.cut = Work::budget_spent();
  }
  return *kept.now;
}

const Typed& CheckedModel::typed() const {
  return found(typed_, [this] { return solve(graph); });
}

const AcceptedSet& CheckedModel::accepted() const {
  return found(accepted_, [this] { return accepted_set(typed()); });
}

const Assumed& CheckedModel::assumed() const {
  const std::string_view text = metadata(file.proto, kAssumedKey);
  return found(assumed_, [&] { return text.empty() ? Assumed() : read_assumed(typed(), text); });
}

std::optional<int64_t> CheckedModel::opset() const {
  for (const auto& import : file.proto.opset_import)
    if (import.domain.empty() || import.domain == "ai.onnx") return import.version;
  return std::nullopt;
}

Result<CheckedModel> CheckedModel::make(onnx::ModelFile file, std::vector<std::shared_ptr<const void>> owners) {
  CheckedModel out;
  out.file = std::move(file);
  out.owners = std::move(owners);
  std::vector<std::string_view> rules;
  for (const auto& entry : out.file.proto.metadata_props)
    if (entry.key == kCustomRulesKey) rules.push_back(entry.value);
  TRY(auto ops, ops_of_model(rules));
  TRY(out.graph, onnx::import_model(out.file, std::move(ops)));
  TRY_OK(Work::check());
  return out;
}

Result<CheckedModel> CheckedModel::with(onnx::ModelProto proto, std::shared_ptr<const void> owner) const {
  onnx::ModelFile changed{file.file, std::move(proto), file.path, file.external};
  auto all = owners;
  all.push_back(std::move(owner));
  return make(std::move(changed), std::move(all));
}

Result<CheckedModel> CheckedModel::overriding(const std::vector<std::string>& names) const {
  const auto optional = optional_inputs(*graph);
  std::vector<ValueId> fed;
  for (const std::string& wanted : names) {
    const auto it =
        std::find_if(optional.begin(), optional.end(), [&](ValueId id) { return graph->values[id].name == wanted; });
    if (it == optional.end()) return usage("input.unknown", "the model has no input {:?} with a default", wanted);
    fed.push_back(*it);
  }
  CheckedModel out;
  out.file = file;
  out.owners = owners;
  out.graph = without_defaults(*graph, fed);
  return out;
}

}  // namespace anyshape
