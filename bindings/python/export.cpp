#include "anyshape/export.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <memory>

#include "errors.h"
#include "limits.h"
#include "parts.h"
#include "text.h"

namespace nb = nanobind;

namespace anyshape::python {
namespace {

template <class T>
T get(const nb::dict& options, const char* key, T otherwise) {
  return options.contains(key) ? nb::cast<T>(options[key]) : std::move(otherwise);
}

Guards guards_of(const std::string& text) {
  if (text == "embed") return Guards::embed;
  if (text == "drop") return Guards::drop;
  return Guards::record;
}

ExportOptions options_of(const nb::dict& given) {
  ExportOptions out;
  out.opset = get(given, "opset", out.opset);
  out.ir_version = get(given, "ir_version", out.ir_version);
  for (auto& [value, axis, name] :
       get<std::vector<std::tuple<std::string, int64_t, std::string>>>(given, "dynamic", {}))
    out.dynamic.push_back({value, axis, name});
  for (const std::string& text : get<std::vector<std::string>>(given, "inputs", {}))
    out.inputs.push_back(value_of(parse_input_type(text)));
  out.input_names = get<std::vector<std::string>>(given, "input_names", {});
  out.output_names = get<std::vector<std::string>>(given, "output_names", {});
  out.all_static = get(given, "static", false);
  out.freeze = get<std::vector<std::pair<std::string, int64_t>>>(given, "freeze", {});
  out.batch_only = get(given, "batch_only", false);
  out.allow = get<std::vector<std::string>>(given, "allow", {});
  out.guards = guards_of(get<std::string>(given, "guards", "record"));
  out.forget = get<std::vector<std::string>>(given, "forget", {});
  out.record = get<std::vector<std::string>>(given, "record", {});
  out.insist = get<std::vector<std::string>>(given, "insist", {});
  out.custom = get<std::vector<std::pair<std::string, std::string>>>(given, "custom", {});
  out.custom_shapes = get<std::vector<std::pair<std::string, std::string>>>(given, "custom_shapes", {});
  out.custom_opsets = get<std::vector<std::pair<std::string, int64_t>>>(given, "custom_opsets", {});
  for (auto& [name, kernel] : get<std::vector<std::pair<std::string, nb::object>>>(given, "kernels", {}))
    out.kernels.emplace_back(name, kernel_of(std::move(kernel)));
  out.training = get(given, "training", false);
  out.target = get<std::string>(given, "target", "");
  out.strict_axes = get(given, "strict_axes", false);
  out.name = get<std::string>(given, "name", "");
  return out;
}

nb::dict report_dict(const ExportReport& report) {
  nb::dict out;
  out["opset"] = report.opset;
  out["nodes"] = report.nodes;
  out["shape_nodes"] = report.shape_nodes;
  out["shape_reasons"] = report.shape_reasons;
  std::vector<std::string> notes = report.notes;
  notes.insert(notes.end(), report.unrolled.begin(), report.unrolled.end());
  notes.insert(notes.end(), report.frozen.begin(), report.frozen.end());
  for (std::string& note : notes) note = in_python(note);
  out["notes"] = notes;
  out["custom"] = report.custom;
  out["rerolled"] = report.rerolled;
  nb::list assumed;
  for (const AssumedCondition& condition : report.assumed) {
    nb::dict one;
    one["text"] = condition.text;
    one["symbols"] = condition.symbols;
    one["origin"] = condition.origin;
    one["binding"] = condition.binding;
    assumed.append(one);
  }
  out["assumed"] = assumed;
  nb::list narrowed;
  for (const NarrowedAxis& axis : report.narrowed) {
    nb::dict one;
    one["input"] = axis.input;
    one["axis"] = axis.axis;
    one["name"] = axis.name;
    one["condition"] = axis.condition;
    one["symbols"] = axis.symbols;
    one["node"] = axis.because.node;
    one["text"] = in_python(to_text(axis));
    one["advice"] = in_python(axis.advice);
    narrowed.append(one);
  }
  out["narrowed"] = narrowed;
  return out;
}

nb::tuple result_of(Exported exported) {
  const nb::dict report = report_dict(exported.report);
  return nb::make_tuple(nb::cast(new SharedModel(std::move(exported.model)), nb::rv_policy::take_ownership), report);
}

nb::tuple run_export(nb::handle path, const nb::dict& options) {
  const auto file = path_of(path);
  const ExportOptions wanted = options_of(options);
  return result_of(working([&] { return export_program(file, wanted); }));
}

nb::tuple run_rerolled(const std::vector<std::pair<std::string, int64_t>>& captures, const std::string& axis,
                       const nb::dict& options) {
  std::vector<CapturedAt> files;
  for (const auto& [path, length] : captures) files.push_back({std::filesystem::path(path), length});
  const ExportOptions wanted = options_of(options);
  return result_of(working([&] { return export_rerolled(files, axis, wanted); }));
}

}  // namespace

void bind_export(nb::module_& m) {
  m.def("export_program", run_export, nb::arg("path"), nb::arg("options") = nb::dict(),
        "A saved PyTorch program (.pt2, .pt) as an ONNX model: (Model, report).");
  m.def("export_rerolled", run_rerolled, nb::arg("captures"), nb::arg("axis"), nb::arg("options") = nb::dict(),
        "Captures of one program at lengths n, n + 1 and more of an axis it loops over, (path, length) each, as one "
        "model: (Model, report).");
}

}  // namespace anyshape::python
