#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <tuple>

#include "anyshape/fix.h"
#include "limits.h"
#include "parts.h"
#include "text.h"

namespace nb = nanobind;

namespace anyshape::python {
namespace {

DimText dim_text(bool expressions) { return expressions ? DimText::expressions : DimText::names; }

nb::object shared(Model model) { return nb::cast(new SharedModel(std::move(model)), nb::rv_policy::take_ownership); }

nb::tuple fix_model(SharedModel& self, const std::vector<std::tuple<std::string, int64_t, std::string>>& dynamic,
                    std::vector<std::pair<std::string, int64_t>> freeze,
                    std::vector<std::pair<std::string, std::string>> rename, bool simplify, bool batch_only,
                    std::vector<std::string> allow, bool expressions, std::string target) {
  FixOptions options;
  for (const auto& [value, axis, name] : dynamic) options.dynamic.push_back({value, axis, name});
  options.freeze = std::move(freeze);
  options.rename = std::move(rename);
  options.simplify = simplify;
  options.batch_only = batch_only;
  options.allow = std::move(allow);
  options.dims = dim_text(expressions);
  options.target = std::move(target);
  Fixed fixed = with_model(self, [&](const Model& model) { return fix(model, options); });
  return nb::make_tuple(shared(std::move(fixed.model)), fixed.changes);
}

nb::object infer_model(SharedModel& self, bool expressions) {
  return shared(with_model(self, [&](const Model& model) { return model.with_value_info(dim_text(expressions)); }));
}

}  // namespace

void bind_change(nb::module_& m) {
  m.def("fix", fix_model, nb::arg("model"), nb::arg("dynamic"), nb::arg("freeze"), nb::arg("rename"),
        nb::arg("simplify"), nb::arg("batch_only"), nb::arg("allow"), nb::arg("expressions"), nb::arg("target"),
        "The model with other axes, and a sentence for each change: (Model, changes).");
  m.def("infer_shapes", infer_model, nb::arg("model"), nb::arg("expressions"),
        "The model with the inferred type of every value.");
}

}  // namespace anyshape::python
