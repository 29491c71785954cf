#include "lower/argument.h"

namespace anyshape::lower {

bool Arg::is_number() const {
  return get<Dim>() || get<double>() || get<Ratio>() || get<bool>() || get<Condition>() || get<std::complex<double>>();
}

ANYSHAPE_DEFINE_SPECIAL_MEMBERS(Arg)

std::string kind_of(const Arg& arg) {
  struct Name {
    std::string operator()(const Arg::None&) const { return "None"; }
    std::string operator()(const Arg::Ignored&) const { return "a device or layout"; }
    std::string operator()(const Var&) const { return "a tensor"; }
    std::string operator()(const Ref&) const { return "a tensor"; }
    std::string operator()(const Dim&) const { return "an int"; }
    std::string operator()(const double&) const { return "a float"; }
    std::string operator()(const Ratio&) const { return "a float"; }
    std::string operator()(const bool&) const { return "a bool"; }
    std::string operator()(const Condition&) const { return "a bool"; }
    std::string operator()(const std::complex<double>&) const { return "a complex number"; }
    std::string operator()(const DType&) const { return "a dtype"; }
    std::string operator()(const std::string&) const { return "a string"; }
    std::string operator()(const Arguments&) const { return "a list"; }
  };
  return std::visit(Name(), arg.value);
}

}  // namespace anyshape::lower
