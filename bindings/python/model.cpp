#include <nanobind/nanobind.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include <charconv>
#include <cstring>

#include "errors.h"
#include "limits.h"
#include "parts.h"
#include "text.h"

namespace nb = nanobind;

namespace anyshape::python {
namespace {

// Sizes as Python has them; the map of report.h has a comparison that nanobind does not know.
using Sizes = std::map<std::string, std::vector<int64_t>>;

Shapes shapes_of(const Sizes& sizes) { return {sizes.begin(), sizes.end()}; }
Sizes sizes_of(const Shapes& shapes) { return {shapes.begin(), shapes.end()}; }

CheckOptions options_of(bool batch_only, std::vector<std::string> allow, std::vector<std::string> ignore,
                        bool ignore_assumed, std::string target) {
  return {batch_only, std::move(allow), std::move(ignore), ignore_assumed, std::move(target)};
}

nb::dict reason_dict(const Reason& reason) {
  nb::dict out;
  out["node"] = reason.node;
  out["op"] = reason.op;
  out["code"] = reason.code;
  out["sentence"] = reason.sentence;
  return out;
}

nb::dict answer_dict(const Answer& answer) {
  constexpr const char* kKinds[] = {"accept", "refuse", "unknown"};
  nb::dict out;
  out["kind"] = kKinds[static_cast<size_t>(answer.kind)];
  out["code"] = answer.code;
  out["place"] = answer.place;
  out["sentence"] = answer.sentence;
  out["outputs"] = to_python(answer.outputs);
  nb::list data;
  for (const Reason& reason : answer.data_conditions) data.append(reason_dict(reason));
  out["data_conditions"] = data;
  nb::list leniencies;
  for (const Reason& reason : answer.leniencies) leniencies.append(reason_dict(reason));
  out["leniencies"] = leniencies;
  return out;
}

nb::dict proof_dict(const Proof& proof) {
  constexpr const char* kKinds[] = {"proved", "refuted", "unproved"};
  nb::dict out;
  out["kind"] = kKinds[static_cast<size_t>(proof.kind)];
  out["shapes"] = sizes_of(proof.shapes);
  out["answer"] = answer_dict(proof.answer);
  out["why"] = proof.why;
  return out;
}

nb::dict info_dict(const ModelInfo& info) {
  nb::dict out;
  out["producer"] = info.producer;
  out["producer_version"] = info.producer_version;
  out["graph"] = to_text(info.graph);
  out["domain"] = to_text(info.domain);
  out["description"] = to_text(info.description);
  out["graph_description"] = to_text(info.graph_description);
  out["ir_version"] = info.ir_version;
  out["model_version"] = info.model_version;
  out["opsets"] = info.opsets;
  out["inputs"] = to_python(info.inputs);
  out["outputs"] = to_python(info.outputs);
  out["operators"] = info.operators;
  out["nodes"] = info.nodes;
  out["parameters"] = info.parameters;
  out["parameter_bytes"] = info.parameter_bytes;
  out["functions"] = info.functions;
  nb::dict metadata;
  for (const auto& [key, value] : info.metadata) metadata[to_text(key)] = value;
  out["metadata"] = metadata;
  return out;
}

Report report_of(SharedModel& self, const CheckOptions& options) {
  Report report = with_model(self, [&](const Model& model) { return check(model, options); });
  for (Finding& finding : report.findings) finding.fix = in_python(finding.fix);
  return report;
}

nb::dict check_model(SharedModel& self, bool batch_only, std::vector<std::string> allow,
                     std::vector<std::string> ignore, bool ignore_assumed, std::string target) {
  const Report report =
      report_of(self, options_of(batch_only, std::move(allow), std::move(ignore), ignore_assumed, std::move(target)));
  nb::dict out;
  out["text"] = to_text(report);
  out["json"] = to_json({report});
  return out;
}

std::string page_of(SharedModel& self, bool batch_only, std::vector<std::string> allow, std::vector<std::string> ignore,
                    bool ignore_assumed, std::string target) {
  const Report report =
      report_of(self, options_of(batch_only, std::move(allow), std::move(ignore), ignore_assumed, std::move(target)));
  return with_model(self, [&](const Model& model) { return to_html(model, report); });
}

nb::dict accepts_shapes(SharedModel& self, const Sizes& sizes, bool ignore_assumed) {
  CheckOptions options;
  options.ignore_assumed = ignore_assumed;
  const Shapes shapes = shapes_of(sizes);
  with_model(self, [&](const Model& model) { return check_input_names(model, shapes); });
  const Answer answer = with_model(self, [&](const Model& model) { return accepts(model, shapes, options); });
  if (answer.code == "work.cancelled" || answer.code == "work.timeout")
    raise({Error::Kind::system, answer.code, answer.place, answer.sentence, {}});
  return answer_dict(answer);
}

nb::dict require_shapes(SharedModel& self, const std::vector<std::string>& wanted, bool ignore_assumed) {
  CheckOptions options;
  options.ignore_assumed = ignore_assumed;
  return proof_dict(with_model(self, [&](const Model& model) { return accepts_all(model, wanted, options); }));
}

nb::dict against_model(SharedModel& self, SharedModel& old) {
  return proof_dict(
      with_models(self, old, [](const Model& model, const Model& other) { return against(model, other); }));
}

std::vector<std::string> explain_value(SharedModel& self, const std::string& value) {
  const auto stories = with_model(self, [&](const Model& model) { return explain(model, value); });
  std::vector<std::string> out;
  for (const AxisStory& story : stories) out.push_back(to_text(story));
  return out;
}

void save_model(SharedModel& self, nb::handle path, const std::string& external_data) {
  const auto file = path_of(path);
  with_model(self, [&](const Model& model) {
    return external_data.empty() ? model.save(file) : model.save(file, external_data);
  });
}

nb::list rule_list() {
  nb::list out;
  for (const RuleInfo& rule : rules())
    out.append(nb::make_tuple(to_text(rule.id), to_text(name(rule.severity)), in_python(rule.sentence)));
  return out;
}

}  // namespace

nb::dict to_python(const ValueType& value) {
  nb::dict out;
  out["name"] = value.name;
  out["type"] = value.type;
  out["dtype"] = value.dtype;
  if (!value.dims) {
    out["dims"] = nb::none();
    return out;
  }
  nb::list dims;
  for (const std::string& dim : *value.dims) {
    int64_t number = 0;
    const auto [end, error] = std::from_chars(dim.data(), dim.data() + dim.size(), number);
    if (error == std::errc() && end == dim.data() + dim.size()) {
      dims.append(number);
    } else {
      dims.append(dim);
    }
  }
  out["dims"] = dims;
  return out;
}

nb::list to_python(const std::vector<ValueType>& values) {
  nb::list out;
  for (const ValueType& value : values) out.append(to_python(value));
  return out;
}

std::filesystem::path path_of(nb::handle object) {
  PyObject* encoded = nullptr;
  if (!PyUnicode_FSConverter(object.ptr(), &encoded)) throw nb::python_error();
  const auto bytes = nb::steal<nb::bytes>(encoded);
  return std::string(bytes.c_str(), bytes.size());
}

std::vector<std::byte> bytes_of(nb::handle buffer) {
  Py_buffer view;
  if (PyObject_GetBuffer(buffer.ptr(), &view, PyBUF_SIMPLE) != 0) throw nb::python_error();
  std::vector<std::byte> out(static_cast<size_t>(view.len));
  if (view.len > 0) std::memcpy(out.data(), view.buf, out.size());
  PyBuffer_Release(&view);
  return out;
}

void bind_model(nb::module_& m) {
  m.def("rules", rule_list);
  nb::class_<SharedModel>(m, "Model", "An ONNX model, its names resolved; weights stay in the file.")
      .def_static(
          "load",
          [](nb::handle path, bool strict) {
            const auto file = path_of(path);
            return new SharedModel(working([&] { return Model::load(file, {.strict = strict}); }));
          },
          nb::arg("path"), nb::arg("strict") = false)
      .def_static(
          "from_bytes",
          [](nb::handle data, const std::string& name, bool strict) {
            auto bytes = bytes_of(data);
            return new SharedModel(
                working([&] { return Model::from_bytes(std::move(bytes), name, {.strict = strict}); }));
          },
          nb::arg("data"), nb::arg("name") = "model", nb::arg("strict") = false)
      .def("check", check_model, nb::arg("batch_only") = false, nb::arg("allow") = std::vector<std::string>(),
           nb::arg("ignore") = std::vector<std::string>(), nb::arg("ignore_assumed") = false, nb::arg("target") = "")
      .def("page", page_of, nb::arg("batch_only") = false, nb::arg("allow") = std::vector<std::string>(),
           nb::arg("ignore") = std::vector<std::string>(), nb::arg("ignore_assumed") = false, nb::arg("target") = "")
      .def("accepts", accepts_shapes, nb::arg("shapes"), nb::arg("ignore_assumed") = false)
      .def("require", require_shapes, nb::arg("wanted"), nb::arg("ignore_assumed") = false)
      .def("against", against_model, nb::arg("old"))
      .def(
          "smallest_shapes",
          [](SharedModel& self, const Sizes& given) {
            return sizes_of(
                with_model(self, [&](const Model& model) { return smallest_shapes(model, shapes_of(given)); }));
          },
          nb::arg("given") = Sizes())
      .def("explain", explain_value, nb::arg("value"))
      .def("optional_inputs",
           [](SharedModel& self) {
             return to_python(with_model(self, [](const Model& model) { return model.optional_inputs(); }));
           })
      .def("inputs",
           [](SharedModel& self) {
             return to_python(with_model(self, [](const Model& model) { return model.inputs(); }));
           })
      .def("outputs",
           [](SharedModel& self) {
             return to_python(with_model(self, [](const Model& model) { return model.outputs(); }));
           })
      .def("info",
           [](SharedModel& self) {
             return info_dict(with_model(self, [](const Model& model) { return model.info(); }));
           })
      .def("save", save_model, nb::arg("path"), nb::arg("external_data") = "");
}

}  // namespace anyshape::python
