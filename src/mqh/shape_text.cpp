#include <fmt/format.h>

#include <algorithm>

#include "mqh/fill.h"
#include "mqh/names.h"
#include "mqh/parts.h"

namespace anyshape::mqh {
namespace {

// An array with the sizes of a tensor.
std::string shape_array(const Writer& w, const Port& port, std::string_view name) {
  if (std::all_of(port.dims.begin(), port.dims.end(), [](Dim dim) { return dim.is_constant(); })) {
    std::vector<int64_t> sizes;
    for (const Dim dim : port.dims) sizes.push_back(*dim.constant());
    return fmt::format("      const ulong {}[]={{{}}};\n", name, fmt::join(sizes, ","));
  }
  std::string out = fmt::format("      ulong {}[{}];\n", name, port.dims.size());
  for (size_t i = 0; i < port.dims.size(); ++i)
    out += fmt::format("      {}[{}]={};\n", name, i, w.size_as("ulong", port.dims[i]));
  return out;
}

// A scalar has no axes to set.
std::string set_shape(const Writer& w, const Port& port, std::string_view kind, size_t index) {
  if (port.dims.empty()) return {};
  const std::string name = fmt::format("{}{}", kind, index);
  return shape_array(w, port, name) + fmt::format(
                                          "      if(!OnnxSet{}Shape(m_handle,{},{}))\n"
                                          "         return(Failed({}));\n",
                                          kind, index, name,
                                          quoted(fmt::format("OnnxSet{}Shape of {}", kind, port.name)));
}

constexpr std::string_view kSetSizes = R"(
   // The sizes of the next runs, as often as they change.
   bool              SetSizes($PARAMETERS)
     {
$CHECKS$SETS      m_sized=true;
      if(m_handle==INVALID_HANDLE || SetShapes() || Create())
         return(true);
      m_sized=false;
      return(false);
     }
)";

std::string range_check(const Size& size) {
  return fmt::format(
      "      if({}<1 || {}>{})\n"
      "         return(Refused({}+IntegerToString({})));\n",
      size.id, size.id, kLargestSize, quoted(fmt::format("{} must be 1 to {}, it is ", size.name, kLargestSize)),
      size.id);
}

// An array of MQL5 has an int of entries.
std::string count_check(const Port& port, const Spelling& parameters) {
  if (product(port.dims).is_constant()) return {};
  const std::string count = *mql5_expression(product(port.dims), parameters);
  return fmt::format(
      "      if({}<1 || {}>2147483647)\n"
      "         return(Refused({}+IntegerToString({})+\" entries\"));\n",
      count, count, quoted(fmt::format("{} would have ", port.name)), count);
}

// What cannot be written as an expression is left to the run.
std::string demand_check(const Demand& demand, const Spelling& parameters) {
  const auto holds = mql5_condition(demand.condition, parameters);
  if (!holds) return {};
  return fmt::format("      if(!({}))\n         return(Refused({}));\n", *holds, quoted(demand.sentence));
}

}  // namespace

std::string shape_members(const Writer& w) {
  std::string out = w.is_dynamic() ? std::string(kSizeFunctions) : "";
  out += "   bool              SetShapes(void)\n     {\n";
  for (size_t i = 0; i < w.described.inputs.size(); ++i) out += set_shape(w, w.described.inputs[i], "Input", i);
  for (size_t i = 0; i < w.described.outputs.size(); ++i) out += set_shape(w, w.described.outputs[i], "Output", i);
  return out + "      return(true);\n     }\n";
}

std::string size_methods(const Writer& w) {
  if (!w.is_dynamic()) return {};
  Spelling parameters;
  std::string list, checks, sets;
  for (const Size& size : w.described.sizes) {
    parameters.emplace(size.symbol, size.id);
    list += fmt::format("{}const long {}", list.empty() ? "" : ",", size.id);
    checks += range_check(size);
    sets += fmt::format("      {}={};\n", w.members.at(size.symbol), size.id);
  }
  for (const Demand& demand : w.described.demands) checks += demand_check(demand, parameters);
  for (const Port& port : w.described.inputs) checks += count_check(port, parameters);
  for (const Port& port : w.described.outputs) checks += count_check(port, parameters);
  return fill(kSetSizes, {{"PARAMETERS", list}, {"CHECKS", checks}, {"SETS", sets}});
}

}  // namespace anyshape::mqh
