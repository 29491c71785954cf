#include "check/baseline.h"

#include <simdjson.h>

namespace anyshape {
namespace {

using Object = simdjson::dom::object;

// True when the object was a report.
bool add_report(const Object& report, std::vector<KnownFinding>& out) {
  std::string_view model;
  simdjson::dom::array findings;
  int64_t version = 0;
  if (report["version"].get_int64().get(version) || version != 1) return false;
  if (report["model"].get_string().get(model) || report["findings"].get_array().get(findings)) return false;
  for (const auto entry : findings) {
    std::string_view rule, node, message;
    if (entry["rule"].get_string().get(rule) || entry["node"].get_string().get(node) ||
        entry["message"].get_string().get(message))
      return false;
    out.push_back({std::string(model), std::string(rule), std::string(node), std::string(message)});
  }
  return true;
}

}  // namespace

Result<std::vector<KnownFinding>> parse_baseline(std::string_view file, std::string_view text) {
  const auto wrong = [&]() -> tl::unexpected<Error> {
    Error error = usage("baseline.syntax", "this is no report of check").value();
    error.place = std::string(file);
    error.hint = "a report of the model in the format json";
    return tl::unexpected(std::move(error));
  };
  simdjson::dom::parser parser;
  simdjson::dom::element root;
  std::vector<KnownFinding> out;
  if (parser.parse(text.data(), text.size()).get(root)) return wrong();
  Object one;
  if (!root.get_object().get(one)) {
    if (!add_report(one, out)) return wrong();
    return out;
  }
  simdjson::dom::array all;
  if (root.get_array().get(all)) return wrong();
  for (const auto entry : all)
    if (entry.get_object().get(one) || !add_report(one, out)) return wrong();
  return out;
}

}  // namespace anyshape
