#include "ir/attribute.h"

#include <utility>

namespace anyshape {

ANYSHAPE_DEFINE_SPECIAL_MEMBERS(Attribute)
Attribute::Attribute(std::string of_name, Value of_value) : name(std::move(of_name)), value(std::move(of_value)) {}

}  // namespace anyshape
