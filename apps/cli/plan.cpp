#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <iterator>

#include "anyshape/check.h"
#include "anyshape/session.h"
#include "cli.h"

namespace anyshape::cli {

namespace {

// `profile`: a file of run --profile, or empty.
Result<std::string> page(const Session& session, const Shapes& shapes, const std::string& profile) {
  if (profile.empty()) return session.plan_html(shapes);
  std::ifstream file(profile, std::ios::binary);
  if (!file) return fail(usage_error("file.open", fmt::format("{:?} cannot be read", profile)));
  return session.plan_html(shapes, std::string(std::istreambuf_iterator<char>(file), {}));
}

}  // namespace

int run_plan(const PlanArguments& arguments) {
  const auto wanted = parse_shapes(arguments.shapes);
  if (!wanted) return report_error(wanted.error());
  const auto loaded = load_model(arguments.model);
  if (!loaded) return report_error(loaded.error());
  if (const auto known = check_input_names(*loaded, *wanted); !known) return report_error(known.error());
  const auto model_fed = fed_with(*loaded, *wanted);
  if (!model_fed) return report_error(model_fed.error());
  SessionOptions options;
  options.without = arguments.without;
  options.exact = arguments.exact;
  options.lanes = arguments.lanes;
  std::string dumps;
  const auto asked_for = [&](std::string_view pass) {
    return std::any_of(arguments.dump.begin(), arguments.dump.end(),
                       [&](const std::string& name) { return name == "all" || name == pass; });
  };
  if (!arguments.dump.empty())
    options.dump = [&](std::string_view pass, std::string_view graph) {
      if (asked_for(pass)) dumps += fmt::format("{}\n{}\n", pass, graph);
    };
  const auto session = Session::from_model(*model_fed, options);
  if (!session) return report_error(session.error());
  if (!arguments.dump.empty()) return write_output("", dumps);
  const auto text =
      arguments.format == "html" ? page(*session, *wanted, arguments.profile) : session->plan_text(*wanted);
  if (!text) return report_error(text.error());
  return write_output(arguments.output, *text);
}

}  // namespace anyshape::cli
