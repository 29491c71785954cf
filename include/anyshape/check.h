#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "anyshape/api.h"
#include "anyshape/error.h"
#include "anyshape/model.h"
#include "anyshape/report.h"

namespace anyshape {

struct CheckOptions {
  bool batch_only = false;          // policy: only the batch may be dynamic (docs/check.md)
  std::vector<std::string> allow;   // waivers of the policy, "NAME:AXIS"
  std::vector<std::string> ignore;  // findings to leave out, "RULE" or "RULE@NODE"
  bool ignore_assumed = false;      // conditions recorded by the exporter are listed but demand nothing
  std::string target = {};          // "mql5": also what that target does not take, and the policy batch_only
  bool findings = true;             // false: only which shapes and why, no rule is asked
};

// Which shapes the model takes, why, and what is wrong with its axes. Usage errors: check.rule, check.allow,
// target.unknown.
ANYSHAPE_API Result<Report> check(const Model& model, const CheckOptions& options = {});

// The report beside the model's graph as one HTML file that needs no other and no network; docs/picture.md.
ANYSHAPE_API std::string to_html(const Model& model, const Report& report);

// The exact answer for one shape.
ANYSHAPE_API Answer accepts(const Model& model, const Shapes& shapes, const CheckOptions& options = {});

// Is every shape of a set accepted? Each text is `x=[1..64, 1..512, 80]` or a condition on the model's symbols,
// `batch in 1..64, h % 32 == 0`; all hold together. Symbols are 1 and more,
// and 0 where a text names it, `h in 0..64`. Usage errors: require.*.
ANYSHAPE_API Result<Proof> accepts_all(const Model& model, const std::vector<std::string>& wanted,
                                       const CheckOptions& options = {});
// The same, by the name of the program's option.
inline Result<Proof> require(const Model& model, const std::vector<std::string>& wanted,
                             const CheckOptions& options = {}) {
  return accepts_all(model, wanted, options);
}

// The smallest shape the model takes where some inputs have these sizes, axes of 1 and more: an example to start from.
// Where none is found, the declared numbers with 1 for all others. Inputs that are no tensors of known rank are left
// out.
ANYSHAPE_API Shapes smallest_shapes(const Model& model, const Shapes& given = {});

// Does `model` accept every shape that `old` accepts? Inputs are matched by name.
ANYSHAPE_API Result<Proof> against(const Model& model, const Model& old);

// Why an axis is what it is: `value` is "VALUE:AXIS" (one story) or "VALUE" (one for each axis).
// Usage errors: explain.value, explain.axis.
ANYSHAPE_API Result<std::vector<AxisStory>> explain(const Model& model, std::string_view value);

// The findings in a file of to_json(). Usage errors file.open, baseline.syntax.
ANYSHAPE_API Result<std::vector<KnownFinding>> read_baseline(const std::filesystem::path& path);
// Leaves them out of the report, and counts them. Folders of models do not matter.
ANYSHAPE_API void leave_out_known(Report& report, const std::vector<KnownFinding>& known);

// Every lint rule, by id.
ANYSHAPE_API std::vector<RuleInfo> rules();

// "NAME=1x120x1", "NAME=1,120,1", "NAME=[1, 120, 1]", "NAME=scalar"; the name is what stands before the last `=`. Usage
// error shape.syntax.
ANYSHAPE_API Result<std::pair<std::string, std::vector<int64_t>>> parse_shape(std::string_view text);
// One JSON object per line, {"x": [1, 120, 1]}; empty lines are skipped. Usage errors file.open, shapes.line with the
// place FILE:LINE.
ANYSHAPE_API Result<std::vector<Shapes>> read_shapes_file(const std::filesystem::path& path);
// Usage error input.unknown, with the nearest name, if the model has no input of that name.
ANYSHAPE_API Status check_input_names(const Model& model, const Shapes& shapes);
// The name of an input that somebody who wrote `name` most likely meant; empty: none is near.
ANYSHAPE_API std::string nearest_input(const Model& model, std::string_view name);

}  // namespace anyshape
