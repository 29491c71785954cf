#include "ir/attribute.h"

#include <utility>

namespace anyshape {

ANYSHAPE_DEFINE_SPECIAL_MEMBERS(Attribute)
Attribute::Attribute(std::string of_name, Value of_value) : name(std::move(of_name)), value(std::move(of_value)) {}

Attribute attr(std::string_view name, int64_t value) { return {std::string(name), value}; }
Attribute attr(std::string_view name, double value) { return {std::string(name), static_cast<float>(value)}; }
Attribute attr(std::string_view name, std::string_view value) { return {std::string(name), std::string(value)}; }
Attribute attr(std::string_view name, std::vector<int64_t> value) { return {std::string(name), std::move(value)}; }
Attribute attr(std::string_view name, std::vector<double> value) {
  return {std::string(name), std::vector<float>(value.begin(), value.end())};
}
Attribute attr(std::string_view name, Tensor value) { return {std::string(name), std::move(value)}; }
Attribute attr(std::string_view name, std::shared_ptr<Graph> value) { return {std::string(name), std::move(value)}; }

}  // namespace anyshape
