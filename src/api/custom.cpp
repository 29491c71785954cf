#include "anyshape/custom.h"

#include <memory>

#include "api/custom_kernel.h"

namespace anyshape {
namespace {

template <class T>
std::optional<T> value_or_nothing(const T* value) {
  return value ? std::optional(*value) : std::nullopt;
}

template <class T>
std::vector<T> list_or_nothing(const std::vector<T>* list) {
  return list ? *list : std::vector<T>();
}

}  // namespace

CustomKernel custom_kernel(CustomKernelFunction function) {
  if (!function) return nullptr;
  return [function = std::move(function)](const Call& call, KernelArgs& args) -> Status {
    std::vector<AnyValue> inputs, outputs;
    for (const Datum& input : args.inputs) inputs.emplace_back(std::make_shared<Datum>(input));
    for (const Datum& output : args.outputs) outputs.emplace_back(std::make_shared<Datum>(output));
    TRY_OK(function(inputs, outputs, CustomNode(call)));
    for (size_t i = 0; i < outputs.size(); ++i) args.outputs[i] = outputs[i].datum();
    return {};
  };
}

std::string_view CustomNode::name() const { return call_.label(); }

std::optional<int64_t> CustomNode::integer(std::string_view attribute) const {
  return value_or_nothing(call_.given<int64_t>(attribute));
}

std::optional<float> CustomNode::number(std::string_view attribute) const {
  return value_or_nothing(call_.given<float>(attribute));
}

std::optional<std::string> CustomNode::text(std::string_view attribute) const {
  return value_or_nothing(call_.given<std::string>(attribute));
}

std::vector<int64_t> CustomNode::integers(std::string_view attribute) const {
  return list_or_nothing(call_.given<std::vector<int64_t>>(attribute));
}

std::vector<float> CustomNode::numbers(std::string_view attribute) const {
  return list_or_nothing(call_.given<std::vector<float>>(attribute));
}

Status register_op(std::string_view domain, std::string_view name, std::string_view rule, CustomKernelFunction kernel) {
  return register_custom_op(domain, name, rule, custom_kernel(std::move(kernel)));
}

Status register_shape_rule(std::string_view text) {
  TRY(const CustomRule rule, split_custom_rule(text));
  return register_custom_op(rule.domain, rule.name, rule.rule, nullptr);
}

}  // namespace anyshape
