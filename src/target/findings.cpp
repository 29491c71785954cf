#include "target/findings.h"

#include <algorithm>

#include "format/onnx/walk.h"
#include "target/kernel_check.h"
#include "target/lower.h"

namespace anyshape::target {
namespace {

class Finder {
 public:
  Finder(const Profile& profile, const Typed& typed, const onnx::ModelFile& file, std::string_view fix_command)
      : profile_(profile), typed_(typed), file_(file), fix_command_(fix_command) {}
  std::vector<Finding> run();

 private:
  void error(std::string_view rule, std::string node, std::string message, std::string fix) {
    out_.push_back({std::string(rule), Severity::error, std::move(node), std::move(message), std::move(fix)});
  }
  void warn(std::string_view rule, std::string message, std::string fix) {
    out_.push_back({std::string(rule), Severity::warning, "", std::move(message), std::move(fix)});
  }
  std::string fix_command() const { return std::string(fix_command_); }
  void versions();
  void operators();
  void value(std::string_view role, const Value& value, const Fact& fact);
  void output_size(const Value& value, const Fact& fact);
  void data();

  const Profile& profile_;
  const Typed& typed_;
  const onnx::ModelFile& file_;
  std::string_view fix_command_;
  std::vector<Finding> out_;
};

void Finder::versions() {
  for (const auto& import : file_.proto.opset_import) {
    const int64_t highest = highest_version(profile_, import.domain), version = import.version.value_or(1);
    if (highest > 0 && version > highest)
      error("target.opset", "",
            fmt::format("the file is of opset {} of {}, {} reads up to {}", version,
                        import.domain.empty() ? "ai.onnx" : import.domain, profile_.runtime, highest),
            fix_command());
  }
  if (const int64_t version = file_.proto.ir_version.value_or(0); version > profile_.ir_version)
    error(
        "target.ir", "",
        fmt::format("the file is of IR version {}, {} reads up to {}", version, profile_.runtime, profile_.ir_version),
        fix_command());
}

void Finder::operators() {
  fixes::Edit copy(file_.proto);
  for (Finding& finding : lower(profile_, typed_, copy).refused) out_.push_back(std::move(finding));
  for (const MissingKernel& missing : missing_kernels(profile_, typed_))
    error("target.operator", missing.node, missing.sentence, missing.fix);
}

void Finder::value(std::string_view role, const Value& value, const Fact& fact) {
  if (fact.kind == Fact::Kind::unknown) return;
  if (!fact.is_tensor()) {
    error("target.container", "",
          fmt::format("the {} {:?} is no tensor ({}), {} takes tensors only", role, value.name, print(fact),
                      profile_.host),
          role == "input"        ? "export with tensors as inputs"
          : fix_command_.empty() ? "export with tensors as outputs"
                                 : fmt::format("where it is a ZipMap: {}, or export without it", fix_command_));
    return;
  }
  if (fact.dtype == DType::undefined || profile_.held.contains(fact.dtype)) return;
  if (profile_.converted.contains(fact.dtype))
    warn("target.conversion",
         fmt::format("the {} {:?} is {}, which {} has no type for: it is converted at every call", role, value.name,
                     name(fact.dtype), profile_.host),
         "cast it to f32 inside of the model");
  else
    error("target.type", "",
          fmt::format("the {} {:?} is {}, which {} cannot hold", role, value.name, name(fact.dtype), profile_.host),
          fact.dtype == DType::string ? "train with numbers as labels, or leave the texts outside of the model"
                                      : "cast it to f32 inside of the model");
}

void Finder::output_size(const Value& value, const Fact& fact) {
  if (!fact.is_tensor()) return;
  const auto told = [&](Dim dim) {
    const auto symbols = dim.symbols();
    return !dim.is_unknown() &&
           std::none_of(symbols.begin(), symbols.end(), [&](Dim s) { return typed_.kind(s) == SymbolKind::data; });
  };
  if (fact.dims && std::all_of(fact.dims->begin(), fact.dims->end(), told)) return;
  error("target.output-size", "",
        fmt::format("the output {:?} is {}: its size is known only when the model has run, {} must be told before",
                    value.name, print(fact.type_only()), profile_.host),
        "pad it to a size that follows from the inputs");
}

void Finder::data() {
  int64_t bytes = static_cast<int64_t>(onnx::serialized_size(file_.proto));
  bool external = false;
  onnx::for_each_tensor(file_.proto, [&](const onnx::TensorProto& tensor, onnx::TensorRole) {
    if (!onnx::is_external(tensor)) return;
    external = true;
    const auto count = onnx::element_count(tensor.dims);
    bytes +=
        count ? onnx::packed_bytes(static_cast<onnx::DataType>(tensor.data_type.value_or(0)), *count).value_or(0) : 0;
  });
  if (external)
    error("target.external-data", "", fmt::format("weights lie in other files, {} loads one file", profile_.host),
          fix_command());
  constexpr int64_t kMega = int64_t{1} << 20;
  if (bytes > profile_.most_bytes)
    error("target.too-large", "",
          fmt::format("the model has {} MB, {} embeds at most {} MB", bytes / kMega, profile_.host,
                      profile_.most_bytes / kMega),
          "a smaller model, or weights of 8 bits");
  else if (bytes > profile_.large_bytes)
    warn("target.size",
         fmt::format("the model has {} MB, older builds of {} embed at most {} MB", bytes / kMega, profile_.host,
                     profile_.large_bytes / kMega),
         "a newer build, or a smaller model");
}

std::vector<Finding> Finder::run() {
  versions();
  operators();
  const Graph& graph = typed_.graph();
  const auto required = graph.required_inputs();
  for (size_t i = 0; i < required.size(); ++i) value("input", graph.values[required[i]], typed_.input_facts()[i]);
  for (ValueId id : graph.outputs) {
    value("output", graph.values[id], typed_.facts()[id]);
    output_size(graph.values[id], typed_.facts()[id]);
  }
  data();
  return std::move(out_);
}

}  // namespace

std::vector<Finding> findings(const Profile& profile, const Typed& typed, const onnx::ModelFile& file,
                              std::string_view fix_command) {
  return Finder(profile, typed, file, fix_command).run();
}

}  // namespace anyshape::target
