#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "mqh/fill.h"
#include "mqh/names.h"
#include "mqh/parts.h"
#include "tensor/dtype.h"

namespace anyshape::mqh {
namespace {

enum class Container { number, array, vector, matrix };

// Vectors and matrices hold floats only; a matrix needs two axes.
Container container_of(const Port& port, Container wanted) {
  if (wanted == Container::number || !is_float(port.type))
    return wanted == Container::number ? wanted : Container::array;
  return wanted == Container::matrix && port.dims.size() < 2 ? Container::vector : wanted;
}

// "vectorf &x", "float &x[]", "float &x".
std::string parameter(const Port& port, Container container) {
  const std::string_view type = mql5_type(port.type), letter = port.type == DType::f64 ? "" : "f";
  switch (container) {
    case Container::number:
      return fmt::format("{} &{}", type, port.id);
    case Container::array:
      return fmt::format("{} &{}[]", type, port.id);
    case Container::vector:
      return fmt::format("vector{} &{}", letter, port.id);
    case Container::matrix:
      return fmt::format("matrix{} &{}", letter, port.id);
  }
  return {};
}

// Whether what the caller gave holds as many entries as the shape.
std::string input_fits(const Writer& w, const Port& port, Container container) {
  const std::string name = quoted(port.name), count = w.count(port);
  switch (container) {
    case Container::matrix:
      return fmt::format("FitsMatrix({},{}.Rows(),{}.Cols(),{},{},{})", name, port.id, port.id, w.size(port.dims[0]),
                         w.size(port.dims.back()), count);
    case Container::vector:
      return fmt::format("Fits({},(long){}.Size(),{})", name, port.id, count);
    default:
      return fmt::format("Fits({},ArraySize({}),{})", name, port.id, count);
  }
}

// The container of an output gets its size before the run.
std::string sized_output(const Writer& w, const Port& port, Container container, size_t index) {
  const Dim count = product(port.dims);
  switch (container) {
    case Container::number:
      return fmt::format("      {} Number{}[1];\n", mql5_type(port.type), index);
    case Container::vector:
      return fmt::format("      {}.Resize({});\n", port.id, w.size_as("ulong", count));
    case Container::matrix:
      return fmt::format("      {}.Resize({},{});\n", port.id,
                         w.size_as("ulong", product(Dims(port.dims.begin(), port.dims.end() - 1))),
                         w.size_as("ulong", port.dims.back()));
    case Container::array:
      return fmt::format(
          "      ArrayResize({},{});\n"
          "      if(!Fits({},ArraySize({}),{}))\n         return(false);\n",
          port.id, w.size_as("int", count), quoted(port.name), port.id, w.size(count));
  }
  return {};
}

// Entries of f16 are converted from and to float; all other types are those of the containers.
std::string_view run_flags(const ClassDescription& described) {
  const auto half = [](const Port& port) { return port.type == DType::f16; };
  const bool any = std::any_of(described.inputs.begin(), described.inputs.end(), half) ||
                   std::any_of(described.outputs.begin(), described.outputs.end(), half);
  return any ? "ONNX_DEFAULT" : "ONNX_NO_CONVERSION";
}

constexpr std::string_view kPredict = R"(
   bool              Predict($PARAMETERS)
     {
      if(!Ready()$FITS)
         return(false);
$SIZED      if(!OnnxRun(m_handle,$FLAGS,$ARGUMENTS))
         return(Failed("OnnxRun"));
$NUMBERS      return(true);
     }
)";

struct Overload {
  Container inputs, outputs;
};

std::vector<std::string> parameters_of(const ClassDescription& described, const Overload& form) {
  std::vector<std::string> out;
  for (const Port& port : described.inputs) out.push_back("const " + parameter(port, container_of(port, form.inputs)));
  for (const Port& port : described.outputs) out.push_back(parameter(port, container_of(port, form.outputs)));
  return out;
}

std::string predict_method(const Writer& w, const Overload& form) {
  std::string fits, sized, numbers;
  std::vector<std::string> arguments;
  for (const Port& port : w.described.inputs) {
    fits += " || !" + input_fits(w, port, container_of(port, form.inputs));
    arguments.push_back(port.id);
  }
  for (size_t i = 0; i < w.described.outputs.size(); ++i) {
    const Port& port = w.described.outputs[i];
    const bool number = form.outputs == Container::number;
    sized += sized_output(w, port, container_of(port, form.outputs), i);
    arguments.push_back(number ? fmt::format("Number{}", i) : port.id);
    if (number) numbers += fmt::format("      {}=Number{}[0];\n", port.id, i);
  }
  return fill(kPredict, {{"PARAMETERS", fmt::format("{}", fmt::join(parameters_of(w.described, form), ","))},
                         {"FITS", fits},
                         {"SIZED", sized},
                         {"FLAGS", std::string(run_flags(w.described))},
                         {"ARGUMENTS", fmt::format("{}", fmt::join(arguments, ","))},
                         {"NUMBERS", numbers}});
}

bool one_number_each(const ClassDescription& described) {
  return std::all_of(described.outputs.begin(), described.outputs.end(),
                     [](const Port& port) { return product(port.dims) == Dim(1); });
}

// All containers of one kind, and a plain number for an output of one entry.
std::vector<Overload> overloads(const ClassDescription& described) {
  std::vector<Overload> all, out;
  for (const Container kind : {Container::vector, Container::matrix, Container::array}) all.push_back({kind, kind});
  if (one_number_each(described))
    for (const Container kind : {Container::vector, Container::matrix, Container::array})
      all.push_back({kind, Container::number});
  std::set<std::vector<std::string>> seen;
  for (const Overload& form : all)
    if (seen.insert(parameters_of(described, form)).second) out.push_back(form);
  return out;
}

// "vectorf x(120)".
std::string declaration(const Writer& w, const Port& port, bool input) {
  const std::string count = input ? w.count(port) : "";
  if (!is_float(port.type))
    return fmt::format("{} {}[{}];", mql5_type(port.type), port.id, w.is_dynamic() ? "" : count);
  const std::string size = count.empty() || w.is_dynamic() ? "" : fmt::format("({})", count);
  return fmt::format("vector{} {}{};", port.type == DType::f64 ? "" : "f", port.id, size);
}

}  // namespace

std::string predict_methods(const Writer& w) {
  std::string out =
      "\n   // Entries lie as in the file, the last axis first to change. Outputs are sized here; an array indexed as "
      "a\n"
      "   // series is read in the order of memory.";
  for (const Overload& form : overloads(w.described)) out += predict_method(w, form);
  return out;
}

std::pair<std::string, std::string> example_call(const Writer& w) {
  std::vector<std::string> declared, arguments;
  for (const Port& port : w.described.inputs) declared.push_back(declaration(w, port, true));
  for (const Port& port : w.described.outputs) declared.push_back(declaration(w, port, false));
  for (const Port& port : w.described.inputs) arguments.push_back(port.id);
  for (const Port& port : w.described.outputs) arguments.push_back(port.id);
  return {fmt::format("{}", fmt::join(declared, " ")), fmt::format("model.Predict({})", fmt::join(arguments, ","))};
}

}  // namespace anyshape::mqh
