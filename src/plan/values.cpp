#include <algorithm>

#include "ir/call.h"
#include "plan/planner.h"

// Where the values of a plan are: constants, integers that follow from sizes, windows, copies.
namespace anyshape {

using Kind = PlanValue::Kind;
using Op = Formulas::Op;

void Planner::add_constants() {
  for (ValueId id = 0; id < graph_.values.size(); ++id) {
    const Value& value = graph_.values[id];
    if (!value.is_initializer || !value.constant->constant) continue;
    PlanValue& planned = plan_->values[id];
    planned.kind = Kind::constant;
    planned.dtype = value.constant->dtype;
    planned.constant = *value.constant->constant;
    set_sizes(id, *value.constant->dims);
  }
}

// As print(dims); values of one model have few different sizes.
std::string Planner::text_of(const Dims& dims) {
  std::string out;
  for (Dim d : dims) {
    const auto [text, first] = size_texts_.try_emplace(d);
    if (first) text->second = print(d);
    out += out.empty() ? "[" : ", ";
    out += text->second;
  }
  return out.empty() ? "[]" : out + "]";
}

void Planner::set_sizes(uint32_t value, const Dims& dims) {
  PlanValue& planned = plan_->values[value];
  planned.dims.clear();
  for (Dim d : dims) planned.dims.push_back(plan_->formulas.compile(d));
  planned.has_sizes = true;
  planned.stage = static_cast<uint32_t>(plan_->stages.size() - 1);
  value_bytes_[value] = bytes_of(planned);
  value_formula_[value] = formula_of(dims, planned.dtype);
  value_dims_[value] = dims;
  planned.text = text_of(dims);
  plan_->stages.back().values.push_back(value);
}

Register Planner::bytes_of(const PlanValue& value) {
  Formulas& f = plan_->formulas;
  Register count = f.constant(1);
  for (Register dim : value.dims) count = f.apply(Op::multiply, count, dim);
  const int width = std::max(1, bits(value.dtype));
  if (width % 8 == 0) return width == 8 ? count : f.apply(Op::multiply, count, f.constant(width / 8));
  const Register all = f.apply(Op::add, f.apply(Op::multiply, count, f.constant(width)), f.constant(7));
  return f.apply(Op::floordiv, all, f.constant(8));
}

Dim Planner::formula_of(const Dims& dims, DType dtype) const {
  const int width = std::max(1, bits(dtype));
  const Dim count = product(dims);
  return width % 8 == 0 ? count * Dim(width / 8) : ceildiv(count * Dim(width), Dim(8));
}

bool Planner::constant_outputs(const Node& node) {
  const auto known = [&](ValueId id) { return id == kNoValue || facts_[id].constant != nullptr; };
  if (!std::all_of(node.out.begin(), node.out.end(), known)) return false;
  for (ValueId id : node.out) {
    if (id == kNoValue) continue;
    PlanValue& value = plan_->values[id];
    value.kind = Kind::constant;
    value.dtype = facts_[id].dtype;
    value.constant = *facts_[id].constant;
    set_sizes(id, *facts_[id].dims);
  }
  return true;
}

bool Planner::computed_outputs(const Node& node) {
  if (!node.op->pure || node.has_graph_attribute()) return false;
  const auto follows = [&](ValueId id) {
    if (id == kNoValue) return true;
    const Fact& fact = facts_[id];
    const bool whole = fact.is_tensor() && fact.elements && fact.denominator == 1 && fact.numeric_dims() &&
                       (is_integer(fact.dtype) || fact.dtype == DType::boolean) && fits_view(fact.dtype);
    return whole &&
           std::all_of(fact.elements->begin(), fact.elements->end(), [&](Dim d) { return plan_->formulas.knows(d); });
  };
  if (!std::all_of(node.out.begin(), node.out.end(), follows)) return false;
  settle_sizes();
  for (ValueId id : node.out) {
    if (id == kNoValue) continue;
    PlanValue& value = plan_->values[id];
    value.kind = Kind::computed;
    value.dtype = facts_[id].dtype;
    for (Dim entry : *facts_[id].elements) value.entries.push_back(plan_->formulas.compile(entry));
    set_sizes(id, *facts_[id].dims);
  }
  return true;
}

bool Planner::static_outputs(const Node& node) const {
  return std::all_of(node.out.begin(), node.out.end(), [&](ValueId id) {
    if (id == kNoValue) return true;
    const Fact& fact = facts_[id];
    return fact.is_tensor() && fact.has_rank() && fact.dtype != DType::string && fact.dtype != DType::undefined &&
           std::all_of(fact.dims->begin(), fact.dims->end(), [&](Dim d) { return plan_->formulas.knows(d); });
  });
}

bool Planner::is_view(uint32_t value) const {
  const PlanValue& planned = plan_->values[value];
  return planned.has_sizes && fits_view(planned.dtype);
}

namespace {

// A Reshape that keeps axes or splits them into constant sizes, as strides on its input whatever those are; nothing
// for all others.
std::optional<ViewRule> split_axes(const Dims& from, const Dims& to) {
  constexpr int64_t kFar = int64_t{1} << 31;
  ViewRule rule;
  rule.start.assign(from.size(), 0);
  rule.axis.assign(to.size(), ViewRule::kNewAxis);
  rule.step.assign(to.size(), 1);
  size_t axis = 0;
  for (size_t k = 0; k < to.size();) {
    if (to[k] == Dim(1)) {
      ++k;
      continue;
    }
    while (axis < from.size() && from[axis] == Dim(1)) ++axis;
    if (axis == from.size()) return std::nullopt;
    size_t end = k + 1;
    for (Dim product = to[k]; product != from[axis]; product = product * to[end++])
      if (end == to.size() || !to[end].constant() || *to[end].constant() > kFar) return std::nullopt;
    int64_t step = 1;
    for (size_t i = end; i-- > k; step *= i == k ? 1 : *to[i].constant()) {
      if (step > kFar) return std::nullopt;
      rule.axis[i] = to[i] == Dim(1) ? ViewRule::kNewAxis : axis;
      rule.step[i] = step;
    }
    k = end;
    ++axis;
  }
  return std::all_of(from.begin() + static_cast<ptrdiff_t>(axis), from.end(), [](Dim d) { return d == Dim(1); })
             ? std::optional(rule)
             : std::nullopt;
}

}  // namespace

bool Planner::window_outputs(const Node& node, const Call& call) {
  if (!node.op->view || node.in.empty() || node.in[0] == kNoValue || !static_outputs(node)) return false;
  settle_sizes();
  if (!is_view(node.in[0])) return false;
  Facts out;
  for (ValueId id : node.out) out.push_back(id == kNoValue ? Fact() : facts_[id]);
  std::vector<ViewRule> rules = node.op->view(call, out);
  if (rules.size() < node.out.size()) return false;
  if (rules[0].reshape && !plan_->values[node.in[0]].dense && facts_[node.in[0]].dims)
    rules[0] = split_axes(*facts_[node.in[0]].dims, *out[0].dims).value_or(rules[0]);
  const auto compiles = [&](const ViewRule& rule) {
    return std::all_of(rule.start.begin(), rule.start.end(), [&](Dim d) { return plan_->formulas.knows(d); });
  };
  if (!std::all_of(rules.begin(), rules.end(), compiles)) return false;
  for (size_t i = 0; i < node.out.size(); ++i) {
    if (node.out[i] == kNoValue) continue;
    const uint32_t base = rules[i].reshape ? dense(node.in[0]) : node.in[0];
    PlanValue& value = plan_->values[node.out[i]];
    value.kind = Kind::window;
    value.dtype = facts_[node.out[i]].dtype;
    value.index = base;
    value.space = plan_->values[base].space;
    value.dense = rules[i].reshape;
    for (size_t axis : rules[i].axis)
      value.axis.push_back(axis == ViewRule::kNewAxis ? kNone : static_cast<uint32_t>(axis));
    value.step = rules[i].step;
    for (Dim start : rules[i].start) value.start.push_back(plan_->formulas.compile(start));
    set_sizes(node.out[i], *facts_[node.out[i]].dims);
  }
  return true;
}

uint32_t Planner::add_value(PlanValue planned, const Dims& dims) {
  const auto id = static_cast<uint32_t>(plan_->values.size());
  plan_->types.push_back(Fact::tensor_of_unknown_rank(planned.dtype));
  plan_->values.push_back(std::move(planned));
  value_bytes_.emplace_back();
  value_formula_.emplace_back();
  value_dims_.emplace_back();
  set_sizes(id, dims);
  return id;
}

void Planner::add_copy(PlanStep::Kind kind, uint32_t from, uint32_t to, std::string label, std::string reason) {
  PlanStep step;
  step.kind = kind;
  step.in = {from};
  step.out = {to};
  step.label = std::move(label);
  step.type = "copy";
  step.reason = std::move(reason);
  plan_->steps.push_back(std::move(step));
}

void Planner::set_place(PlanValue& planned, ValueId id, Space space) const {
  const auto output = output_index_.find(id);
  const bool gives_out = space == Space::host && output != output_index_.end();
  planned.kind = gives_out ? Kind::output : Kind::slot;
  if (gives_out) planned.index = output->second;
  planned.space = space;
}

uint32_t Planner::dense(uint32_t value) {
  if (plan_->values[value].dense) return value;
  if (plan_->values[value].copy != kNone) return plan_->values[value].copy;
  PlanValue planned;
  planned.kind = Kind::slot;
  planned.space = plan_->values[value].space;
  planned.dtype = plan_->values[value].dtype;
  const uint32_t copy = add_value(std::move(planned), Dims(value_dims_[value]));
  add_copy(PlanStep::Kind::copy, value, copy, graph_.values[value].name, "the next kernel takes dense tensors");
  return plan_->values[value].copy = copy;
}

Result<uint32_t> Planner::in_space(uint32_t value, Space space) {
  if (plan_->values[value].space == space) return value;
  const uint32_t from = dense(value);
  if (plan_->values[from].twin != kNone) return plan_->values[from].twin;
  PlanValue planned;
  set_place(planned, value, space);
  planned.dtype = plan_->values[from].dtype;
  planned.twin = from;
  const bool constant = plan_->values[from].kind == Kind::constant;
  if (constant) {
    planned.kind = Kind::constant;
    TRY(planned.resident, target_.memory->place(plan_->values[from].constant.tensor()));
  }
  const uint32_t twin = add_value(std::move(planned), Dims(value_dims_[from]));
  if (!constant)
    add_copy(PlanStep::Kind::transfer, from, twin, graph_.values[value].name,
             space == Space::host ? "the host reads it" : "the next kernel works in the engine's memory");
  return plan_->values[from].twin = twin;
}

Status Planner::on_host(std::vector<uint32_t>& values) {
  for (uint32_t& value : values) {
    if (value == kNone) continue;
    TRY(const uint32_t there, in_space(value, Space::host));
    value = dense(there);
  }
  return {};
}

Status Planner::finish_outputs() {
  for (ValueId id : graph_.outputs) {
    plan_->output_names.push_back(graph_.values[id].name);
    TRY(const uint32_t given, in_space(id, Space::host));
    plan_->outputs.push_back(given);
  }
  return {};
}

}  // namespace anyshape
