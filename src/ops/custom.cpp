#include "ops/custom.h"

#include <algorithm>
#include <deque>
#include <limits>
#include <map>
#include <mutex>

#include "ops/all.h"
#include "ops/custom_rule.h"

namespace anyshape {
namespace {

constexpr size_t kMostRules = 1000;

using Key = std::pair<std::string_view, std::string_view>;
using Newest = std::map<Key, const OpDef*>;

Key key_of(const OpDef& op) { return {op.domain, op.name}; }

// Operators above those of another table, with what they are made of.
struct Layer {
  Layer(std::shared_ptr<const OpTable> under, const Newest& newest) : below(std::move(under)) {
    for (const auto& [key, op] : newest) records.push_back(op);
    table = OpTable(records, below.get());
  }
  Layer(const Layer&) = delete;

  std::shared_ptr<const OpTable> below;
  std::vector<std::unique_ptr<CustomOp>> ops;  // those of `records` that live with the layer
  std::vector<const OpDef*> records;
  OpTable table;
};

std::shared_ptr<const OpTable> table_of(std::shared_ptr<const Layer> layer) { return {layer, &layer->table}; }

std::shared_ptr<const OpTable> layer_over(std::shared_ptr<const OpTable> below,
                                          std::vector<std::unique_ptr<CustomOp>> ops) {
  if (ops.empty()) return below;
  Newest newest;
  for (const auto& op : ops) newest[key_of(*op)] = op.get();
  auto layer = std::make_shared<Layer>(std::move(below), newest);
  layer->ops = std::move(ops);
  return table_of(std::move(layer));
}

// What the program registered.
struct Registry {
  std::mutex mutex;
  std::deque<std::unique_ptr<CustomOp>> ops;  // never freed: their kernels are the program's own
  Newest newest;
  std::shared_ptr<const OpTable> table;  // null: to be made of `newest`
};

Registry& registry() {
  static Registry& one = *new Registry;
  return one;
}

bool knows(const OpTable& ops, const CustomRule& rule) {
  return ops.find(rule.domain, rule.name, std::numeric_limits<int64_t>::max()) != nullptr;
}

CustomKernel kernel_of(const CustomRule& rule, std::span<const NamedKernel> kernels) {
  const std::string name = fmt::format("{}::{}", rule.domain, rule.name);
  const auto found = std::find_if(kernels.begin(), kernels.end(), [&](const auto& one) { return one.name == name; });
  return found == kernels.end() ? nullptr : found->kernel;
}

Result<std::vector<std::string_view>> lines_of(std::span<const std::string_view> entries) {
  std::vector<std::string_view> out;
  for (std::string_view entry : entries)
    while (!entry.empty()) {
      const size_t end = std::min(entry.find('\n'), entry.size());
      const std::string_view line = entry.substr(0, end);
      entry.remove_prefix(std::min(end + 1, entry.size()));
      if (line.empty()) continue;
      if (out.size() == kMostRules)
        return refuse("custom.limit", "the file carries more than {} rules of custom operators", kMostRules);
      if (line.size() > kLongestRule)
        return refuse("custom.limit", "a rule of a custom operator has {} characters, at most {} are read", line.size(),
                      kLongestRule);
      out.push_back(line);
    }
  return out;
}

}  // namespace

Status register_custom_op(std::string_view domain, std::string_view name, std::string_view rule, CustomKernel kernel) {
  TRY(auto op, make_custom_op({domain, name, rule}, std::move(kernel)));
  Registry& all = registry();
  std::lock_guard lock(all.mutex);
  all.newest[key_of(*op)] = op.get();
  all.ops.push_back(std::move(op));
  all.table = nullptr;
  return {};
}

std::shared_ptr<const OpTable> current_ops() {
  static const std::shared_ptr<const OpTable> built_in(std::shared_ptr<const void>(), &all_ops());
  Registry& all = registry();
  std::lock_guard lock(all.mutex);
  if (all.newest.empty()) return built_in;
  if (!all.table) all.table = table_of(std::make_shared<Layer>(built_in, all.newest));
  return all.table;
}

Result<std::shared_ptr<const OpTable>> ops_with(std::span<const CustomRule> rules) {
  std::vector<std::unique_ptr<CustomOp>> ops;
  for (const CustomRule& rule : rules) {
    TRY(auto op, make_custom_op(rule, nullptr));
    ops.push_back(std::move(op));
  }
  return layer_over(current_ops(), std::move(ops));
}

Result<std::shared_ptr<const OpTable>> ops_of_model(std::span<const std::string_view> entries,
                                                    std::span<const NamedKernel> kernels) {
  TRY(const auto lines, lines_of(entries));
  auto below = current_ops();
  std::vector<std::unique_ptr<CustomOp>> ops;  // the first rule of an operator last, where it holds
  for (auto line = lines.rbegin(); line != lines.rend(); ++line) {
    const auto rule = split_custom_rule(*line);
    if (!rule || knows(*below, *rule)) continue;
    // A rule that cannot be read leaves the operator unknown.
    if (auto op = make_custom_op(*rule, kernel_of(*rule, kernels))) ops.push_back(*std::move(op));
  }
  return layer_over(std::move(below), std::move(ops));
}

}  // namespace anyshape
