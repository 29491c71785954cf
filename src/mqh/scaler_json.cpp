#include <simdjson.h>

#include "mqh/scaler.h"

namespace anyshape::mqh {
namespace {

namespace dom = simdjson::dom;

tl::unexpected<Error> wrong_scaler_json(std::string_view name, std::string_view what) {
  if (name.empty()) return refuse("mql5.scaler", "{}", what);
  return refuse("mql5.scaler", "{:?}: {}", name, what);
}

// A list of numbers, or a single one.
Result<std::vector<double>> numbers(dom::element element, std::string_view name, std::string_view key) {
  double number = 0;
  if (!element.get_double().get(number)) return std::vector<double>{number};
  dom::array list;
  std::vector<double> out;
  if (element.get_array().get(list)) return wrong_scaler_json(name, fmt::format("{:?} is no list of numbers", key));
  for (const dom::element entry : list) {
    if (entry.get_double().get(number))
      return wrong_scaler_json(name, fmt::format("{:?} has an entry that is no number", key));
    out.push_back(number);
  }
  return out;
}

Status read_entry(std::string_view key, dom::element value, Scaling& into) {
  if (key == "mean") {
    TRY(into.mean, numbers(value, into.name, key));
  } else if (key == "std" || key == "scale") {
    TRY(into.std, numbers(value, into.name, key));
  } else if (key == "axis") {
    if (value.get_int64().get(into.axis)) return wrong_scaler_json(into.name, "\"axis\" is no whole number");
  } else {
    return wrong_scaler_json(into.name, fmt::format("{:?} is none of \"mean\", \"std\", \"scale\" and \"axis\"", key));
  }
  return {};
}

Result<Scaling> read_scaling(std::string_view name, bool output, dom::element element) {
  Scaling out{std::string(name), output, {}, {}, -1};
  dom::object object;
  if (element.get_object().get(object)) return wrong_scaler_json(name, "it is no object with \"mean\" and \"std\"");
  for (const dom::key_value_pair field : object) TRY_OK(read_entry(field.key, field.value, out));
  if (out.mean.empty() || out.std.empty()) return wrong_scaler_json(name, "it needs \"mean\" and \"std\"");
  return out;
}

Status read_named(dom::element element, bool output, std::vector<Scaling>& out) {
  dom::object object;
  if (element.get_object().get(object)) return wrong_scaler_json("", "it is no object with a name for each input");
  for (const dom::key_value_pair field : object) {
    if (!output && field.key == "outputs") {
      TRY_OK(read_named(field.value, true, out));
      continue;
    }
    TRY(Scaling one, read_scaling(field.key, output, field.value));
    out.push_back(std::move(one));
  }
  return {};
}

// The only input is meant where the object itself has a list.
bool is_single(dom::element element) {
  dom::element mean;
  return !element["mean"].get(mean) && !mean.is_object();
}

Status read_single(dom::object object, std::vector<Scaling>& out) {
  Scaling& one = out.emplace_back();
  for (const dom::key_value_pair field : object) {
    if (field.key != "outputs") TRY_OK(read_entry(field.key, field.value, one));
  }
  if (one.mean.empty() || one.std.empty()) return wrong_scaler_json("", "it needs \"mean\" and \"std\"");
  dom::element outputs;
  return object["outputs"].get(outputs) ? Status() : read_named(outputs, true, out);
}

}  // namespace

Result<std::vector<Scaling>> parse_scaler(std::string_view json) {
  dom::parser parser;
  dom::element root;
  dom::object object;
  if (const auto failed = parser.parse(json.data(), json.size()).get(root))
    return wrong_scaler_json("", fmt::format("this is no JSON: {}", simdjson::error_message(failed)));
  if (root.get_object().get(object)) return wrong_scaler_json("", "it is no object with a name for each input");
  std::vector<Scaling> out;
  TRY_OK(is_single(root) ? read_single(object, out) : read_named(root, false, out));
  if (out.empty()) return wrong_scaler_json("", "it names no input and no output");
  return out;
}

}  // namespace anyshape::mqh
