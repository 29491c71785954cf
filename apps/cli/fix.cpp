#include "anyshape/fix.h"

#include <fmt/format.h>

#include "anyshape/check.h"
#include "anyshape/terminal.h"
#include "cli.h"

namespace anyshape::cli {
namespace {

Status fill_options(FixArguments& a) {
  for (const std::string& text : a.dynamic) {
    auto axes = parse_dynamic(text);
    if (!axes) return fail(axes.error());
    a.options.dynamic.insert(a.options.dynamic.end(), axes->begin(), axes->end());
  }
  if (auto status = parse_each(a.freeze, parse_freeze, a.options.freeze); !status) return status;
  if (auto status = parse_each(a.rename, parse_rename, a.options.rename); !status) return status;
  a.options.batch_only = a.policy == "batch-only";
  return {};
}

Status fix_model(FixArguments& a) {
  if (auto filled = fill_options(a); !filled) return filled;
  const FixOptions& o = a.options;
  if (o.dynamic.empty() && o.freeze.empty() && o.rename.empty() && !o.simplify && !o.batch_only && o.target.empty())
    return fail(usage_error("fix.nothing", "nothing is asked for", "anyshape fix --help"));
  if (auto one = check_one_file(o.target, a.external_data); !one) return one;
  const auto model = load_model(a.model);
  if (!model) return fail(model.error());
  const auto fixed = fix(*model, o);
  if (!fixed) return fail(fixed.error());
  const Status saved =
      a.external_data.empty() ? fixed->model.save(a.output) : fixed->model.save(a.output, a.external_data);
  if (!saved || a.quiet) return saved;
  for (const std::string& change : fixed->changes) print_line(stdout, "changed: {}", change);
  auto report = check(fixed->model);
  if (!report) return fail(report.error());
  report->model = a.output;
  report->findings.clear();
  fmt::print("{}", to_text(*report, {.colour = colour_wanted()}));
  return {};
}

}  // namespace

int run_fix(FixArguments arguments) {
  const Status done = fix_model(arguments);
  return done ? kDone : report_error(done.error());
}

}  // namespace anyshape::cli
