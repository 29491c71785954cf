#include "anyshape/check.h"
#include "anyshape/session.h"
#include "cli.h"

namespace anyshape::cli {

int run_plan(const std::string& model, const std::vector<std::string>& shapes) {
  const auto wanted = parse_shapes(shapes);
  if (!wanted) return report_error(wanted.error());
  const auto loaded = Model::load(model);
  if (!loaded) return report_error(loaded.error());
  if (const auto known = check_input_names(*loaded, *wanted); !known) return report_error(known.error());
  const auto model_fed = fed_with(*loaded, *wanted);
  if (!model_fed) return report_error(model_fed.error());
  const auto session = Session::from_model(*model_fed);
  if (!session) return report_error(session.error());
  const auto text = session->plan_text(*wanted);
  if (!text) return report_error(text.error());
  return write_output("", *text);
}

}  // namespace anyshape::cli
