#include "anyshape/export.h"

#include <fmt/format.h>

#include <chrono>

#include "anyshape/check.h"
#include "anyshape/terminal.h"
#include "anyshape/verify.h"
#include "cli.h"

namespace anyshape::cli {
namespace {

Status fill_options(ExportArguments& a) {
  const auto append = [&](Result<std::vector<DynamicAxis>> axes) -> Status {
    if (!axes) return tl::unexpected(axes.error());
    a.options.dynamic.insert(a.options.dynamic.end(), axes->begin(), axes->end());
    return {};
  };
  for (const std::string& text : a.dynamic)
    if (auto status = append(parse_dynamic(text)); !status) return status;
  if (!a.dynamic_axes.empty())
    if (auto status = append(read_dynamic_axes(a.dynamic_axes)); !status) return status;
  if (auto status = parse_each(a.inputs, parse_input_type, a.options.inputs); !status) return status;
  if (auto status = parse_each(a.freeze, parse_freeze, a.options.freeze); !status) return status;
  if (auto status = parse_each(a.custom_shapes, parse_custom_shape, a.options.custom_shapes); !status) return status;
  if (auto status = parse_each(a.custom, parse_custom, a.options.custom); !status) return status;
  a.options.batch_only = a.policy == "batch-only";
  a.options.guards = a.guards == "embed" ? Guards::embed : a.guards == "drop" ? Guards::drop : Guards::record;
  a.options.training = a.training == "preserve";
  return {};
}

void print_summary(const ExportArguments& a, const Exported& exported, double milliseconds, double writing) {
  CheckOptions shapes_only;
  shapes_only.findings = false;
  auto checked = check(exported.model, shapes_only);
  if (!checked) return;
  Report report = *std::move(checked);
  report.model = a.output;
  fmt::print("{}", to_text(report, {.colour = colour_wanted()}));
  const ExportReport& told = exported.report;
  fmt::print("{} nodes that compute sizes at run time\n", told.shape_nodes);
  for (const std::string& reason : told.shape_reasons) print_line(stdout, "  {}", reason);
  for (const std::string& note : told.notes) print_line(stdout, "note: {}", note);
  print_line(stdout, "exported {} to {} in {:.1f} ms, written in {:.1f} ms", a.program, a.output, milliseconds,
             writing);
}

Status compare_golden(const ExportArguments& a, const Model& model) {
  if (a.golden.empty()) return {};
  const auto session = Session::from_model(model);
  if (!session) return tl::unexpected(session.error());
  for (const std::string& golden : a.golden) {
    const auto match = verify_golden(*session, golden);
    if (!match) return tl::unexpected(match.error());
    if (!a.quiet)
      print_line(stdout, "verified: {} outputs equal those of {}, largest relative error {:.1e}", match->outputs,
                 golden, match->worst);
  }
  return {};
}

int verify(const ExportArguments& a, const Model& model) {
  if (const auto equal = compare_golden(a, model); !equal) return report_error(equal.error());
  if (!a.verify) return kDone;
  const auto shapes = verify_runs(model);
  if (!shapes) return report_error(shapes.error());
  if (!a.quiet) fmt::print("verified: runs at {} shapes give the inferred sizes and finite values\n", *shapes);
  return kDone;
}

}  // namespace

Status check_one_file(const std::string& target, const std::string& external_data) {
  if (target.empty() || external_data.empty()) return {};
  return fail(usage_error("target.external-data", "a model for --target is one file, --external-data asks for two"));
}

int run_export(ExportArguments arguments) {
  if (auto filled = fill_options(arguments); !filled) return report_error(filled.error());
  if (auto one = check_one_file(arguments.options.target, arguments.external_data); !one)
    return report_error(one.error());
  const auto start = std::chrono::steady_clock::now();
  const auto exported = export_program(arguments.program, arguments.options);
  if (!exported) return report_error(exported.error());
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
  const Status saved = arguments.external_data.empty()
                           ? exported->model.save(arguments.output)
                           : exported->model.save(arguments.output, arguments.external_data);
  if (!saved) return report_error(saved.error());
  const std::chrono::duration<double, std::milli> all = std::chrono::steady_clock::now() - start;
  for (const std::string& warning : warnings(exported->report, arguments.program)) print_line(stderr, "{}", warning);
  if (!arguments.quiet) print_summary(arguments, *exported, took.count(), all.count() - took.count());
  return verify(arguments, exported->model);
}

}  // namespace anyshape::cli
