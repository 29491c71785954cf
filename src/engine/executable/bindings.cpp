#include "engine/executable/bindings.h"

#include <algorithm>

#include "solve/walk_shape.h"

namespace anyshape {
namespace {

std::string kind_text(Fact::Kind kind) {
  switch (kind) {
    case Fact::Kind::sequence:
      return "a sequence";
    case Fact::Kind::optional:
      return "an optional";
    case Fact::Kind::map:
      return "a map";
    default:
      return "a tensor";
  }
}

bool same_kind(Datum::Kind given, Fact::Kind wanted) {
  switch (wanted) {
    case Fact::Kind::tensor:
      return given == Datum::Kind::tensor;
    case Fact::Kind::sequence:
      return given == Datum::Kind::sequence;
    case Fact::Kind::map:
      return given == Datum::Kind::map;
    default:
      return true;
  }
}

}  // namespace

Bindings::Bindings(const Plan& plan) : plan_(plan) {
  size_t axes = 0;
  for (const PlanInput& input : plan.inputs) axes += input.axes.size();
  key_.reserve(axes);
  bindings_.reserve(kKept);
}

Status Bindings::check(std::span<const Datum> inputs) const {
  if (inputs.size() != plan_.inputs.size())
    return refuse("run.inputs", "{} inputs are needed, {} are given", plan_.inputs.size(), inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    const PlanInput& wanted = plan_.inputs[i];
    const auto place = [&] { return fmt::format("input {:?}", wanted.name); };
    if (!same_kind(inputs[i].kind(), wanted.kind))
      return at(place(), refuse("input.kind", "the model takes {} here", kind_text(wanted.kind)).value());
    // An empty sequence read from a file has no element type.
    const bool typed = wanted.kind == Fact::Kind::tensor ||
                       (wanted.kind == Fact::Kind::sequence && inputs[i].dtype() != DType::undefined);
    if (typed && wanted.dtype != DType::undefined && inputs[i].dtype() != wanted.dtype)
      return at(place(), refuse("input.dtype", "the model takes elements of type {}, not {}", name(wanted.dtype),
                                name(inputs[i].dtype()))
                             .value());
  }
  return {};
}

bool Bindings::read_sizes(std::span<const Datum> inputs, BoundPlan& binding) const {
  for (size_t i = 0; i < inputs.size(); ++i) {
    const PlanInput& wanted = plan_.inputs[i];
    if (!wanted.has_rank) continue;
    const auto& dims = inputs[i].tensor().dims();
    if (dims.size() != wanted.axes.size()) return false;
    for (size_t k = 0; k < dims.size(); ++k) {
      if (!wanted.axes[k].reads) {
        if (binding.at(wanted.axes[k].size) != dims[k]) return false;
        continue;
      }
      if (plan_.largest_axis != 0 && dims[k] > plan_.largest_axis) return false;
      binding.at(wanted.axes[k].size) = dims[k];
    }
  }
  return true;
}

void Bindings::make_all() {
  while (bindings_.size() < kKept) bindings_.push_back(std::make_unique<BoundPlan>(plan_));
}

BoundPlan& Bindings::next() {
  if (bindings_.size() < kKept) {
    bindings_.push_back(std::make_unique<BoundPlan>(plan_));
    return *bindings_.back();
  }
  return **std::min_element(bindings_.begin(), bindings_.end(),
                            [](const auto& a, const auto& b) { return a->last_used < b->last_used; });
}

void Bindings::read_key(std::span<const Datum> inputs) {
  key_.clear();
  for (size_t i = 0; i < inputs.size(); ++i) {
    const bool walked = plan_.walked && inputs[i].is_tensor();
    if (!plan_.inputs[i].has_rank && !walked) continue;
    const auto& dims = inputs[i].tensor().dims();
    if (!plan_.inputs[i].has_rank) key_.push_back(static_cast<int64_t>(dims.size()));
    key_.insert(key_.end(), dims.begin(), dims.end());
  }
}

bool Bindings::walk_accepts(std::span<const Datum> inputs) const {
  if (!plan_.walked) return true;
  Shapes shapes;
  for (size_t i = 0; i < inputs.size(); ++i)
    if (inputs[i].is_tensor()) shapes[plan_.inputs[i].name] = inputs[i].tensor().dims();
  const Walked walked = walk_shape(*plan_.walked, shapes);
  if (walked.refuses()) return false;
  return !plan_.walk_decides || (walked.accepts() && walked.on_data == 0);
}

Result<BoundPlan*> Bindings::bind(std::span<const Datum> inputs, const Judge& judge) {
  read_key(inputs);
  for (const auto& binding : bindings_)
    if (binding->matches(key_)) {
      binding->last_used = ++clock_;
      return binding.get();
    }
  BoundPlan& binding = next();
  binding.begin(key_, ++clock_);
  const bool fits = read_sizes(inputs, binding);
  const PlanStage::Guard* failed = fits ? binding.evaluate(0) : nullptr;
  const bool sized = fits && !failed && binding.has_sizes(0);
  if (!sized || !plan_.only_source.empty() || !walk_accepts(inputs)) {
    if (judge) TRY_OK(judge(inputs, failed));
    return nullptr;
  }
  TRY_OK(binding.lay_out(0));
  binding.accept();
  binding.last_used = ++clock_;
  return &binding;
}

}  // namespace anyshape
