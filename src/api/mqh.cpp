#include "anyshape/mqh.h"

#include <algorithm>

#include "anyshape/check.h"
#include "anyshape/fix.h"
#include "api/model_impl.h"
#include "api/mqh_pair.h"
#include "base/os/file.h"
#include "base/printable.h"
#include "base/sha256.h"
#include "check/lint.h"
#include "check/report.h"
#include "fix/fixer.h"
#include "mqh/class_description.h"
#include "mqh/names.h"
#include "mqh/scaler.h"

namespace anyshape {
namespace {

constexpr size_t kLongestResource = 63;
constexpr std::string_view kTarget = "mql5";

bool is_plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
         c == '.' || c == ' ';
}

Status check_name(std::string_view name) {
  const std::string file = fmt::format("{}.onnx", name);
  if (file.size() > kLongestResource)
    return usage("mql5.name", "{:?} has {} characters, MetaTrader takes resources of up to {}", file, file.size(),
                 kLongestResource);
  const bool plain = std::all_of(name.begin(), name.end(), is_plain) && name.find("..") == std::string_view::npos;
  if (!plain || mqh::camel_case(name).empty())
    return usage("mql5.name", "{:?} is no name for a class and its resource: use letters, digits, _ and -", name);
  return {};
}

bool among(const std::vector<InputAxis>& axes, const InputAxis& one) {
  return std::any_of(axes.begin(), axes.end(),
                     [&](const InputAxis& a) { return a.input == one.input && a.axis == one.axis; });
}

// The command that makes a batch of the first axis of each input; empty where it would be refused.
std::string batch_command(const CheckedModel& model) {
  std::vector<DynamicAxis> axes;
  std::string words;
  for (ValueId id : model.typed().graph().required_inputs()) {
    axes.push_back({model.typed().graph().values[id].name, 0, "batch"});
    words += " --dynamic " + shell_word(axes.back().value + ":0=batch");
  }
  if (model.file.path.empty() || !fixes::Fixer(model).make_dynamic(axes)) return "";
  std::filesystem::path fixed = model.file.path;
  fixed.replace_extension(".fixed.onnx");
  return fmt::format("anyshape fix {} -o {}{}", shell_word(model.file.path.string()), shell_word(fixed.string()),
                     words);
}

tl::unexpected<Error> no_batch(const CheckedModel& model, int64_t wanted) {
  Error error = refuse("mql5.batch", "no axis is a dynamic batch that could be {}", wanted).value();
  error.hint = batch_command(model);
  return tl::unexpected(std::move(error));
}

// The sizes to freeze: those asked for, and the batch, but for axes that may stay dynamic.
Result<std::vector<std::pair<std::string, int64_t>>> sizes_to_freeze(const Model& model, const MqhOptions& options) {
  const Typed& typed = model.impl().typed();
  std::vector<InputAxis> allowed;
  for (const std::string& text : options.allow) {
    TRY(InputAxis axis, parse_allow(typed, text));
    allowed.push_back(std::move(axis));
  }
  auto out = options.freeze;
  for (const AxisSymbol& symbol : batch_symbols(typed, model.impl().accepted())) {
    const auto names_it = [&](const auto& frozen) { return frozen.first == symbol.name; };
    const bool given = std::any_of(options.freeze.begin(), options.freeze.end(), names_it);
    if (given && options.batch)
      return usage("mql5.batch", "the size of the batch is given twice, as {} and for {:?}", *options.batch,
                   symbol.name);
    if (!given && !among(allowed, symbol.axes.front())) out.emplace_back(symbol.name, options.batch.value_or(1));
  }
  if (options.batch && out.size() == options.freeze.size()) return no_batch(model.impl(), *options.batch);
  return out;
}

Status check_ranks(const Typed& typed) {
  const auto inputs = typed.graph().required_inputs();
  for (size_t i = 0; i < inputs.size(); ++i)
    if (typed.input_facts()[i].is_tensor() && !typed.input_facts()[i].dims)
      return refuse("mql5.rank", "the file does not say how many axes the input {:?} has: export it with its shape",
                    typed.graph().values[inputs[i]].name);
  return {};
}

struct Prepared {
  Model model;
  std::vector<std::string> changes;
  std::vector<mqh::Scaling> scalings;
};

Status fold_scaler(const std::string& json, Prepared& into) {
  TRY(auto scalings, mqh::parse_scaler(json));
  const Model::Impl& before = into.model.impl();
  fixes::Edit edit(before.file.proto);
  TRY(into.scalings, mqh::fold(before.typed(), std::move(scalings), edit));
  onnx::ModelFile file = before.file;
  file.proto = std::move(edit.proto);
  auto owners = before.owners;
  owners.push_back(edit.owner());
  TRY(into.model, Model::Impl::make(std::move(file), before.name, std::move(owners)));
  for (const mqh::Scaling& one : into.scalings)
    into.changes.push_back(fmt::format("{} {:?} is {} inside of the model", one.output ? "output" : "input", one.name,
                                       one.output ? "y * std + mean" : "(x - mean) / std"));
  return {};
}

// An error of it is one of the model, which fix() says by itself.
template <typename T>
Result<T> of_model(const Model& model, Result<T> result) {
  return result ? std::move(result) : at(model.name(), std::move(result).error());
}

// Frozen, normalised, brought to the target.
Result<Prepared> prepare(const Model& model, const MqhOptions& options) {
  if (const auto& refusal = model.impl().typed().refusal()) return at(model.name(), *refusal);
  TRY_OK(of_model(model, check_ranks(model.impl().typed())));
  FixOptions frozen, target;
  TRY(frozen.freeze, of_model(model, sizes_to_freeze(model, options)));
  TRY(Fixed first, fix(model, frozen));
  Prepared out{std::move(first.model), std::move(first.changes), {}};
  if (!options.scaler.empty()) TRY_OK(of_model(model, fold_scaler(options.scaler, out)));
  target.target = kTarget;
  target.allow = options.allow;
  TRY(Fixed last, fix(out.model, target));
  out.model = std::move(last.model);
  out.changes.insert(out.changes.end(), last.changes.begin(), last.changes.end());
  return out;
}

Status add_port(std::string_view kind, std::string_view name, const Fact& fact, mqh::Names& names,
                std::vector<mqh::Port>& ports) {
  if (!fact.is_tensor() || mqh::mql5_type(fact.dtype).empty())
    return refuse("mql5.type", "the {} {:?} is {}: the class holds tensors of numbers", kind, name, print(fact));
  if (!fact.dims) return refuse("mql5.rank", "nobody knows how many axes the {} {:?} has", kind, name);
  ports.push_back({std::string(name), names.unique(name), fact.dtype, *fact.dims});
  return {};
}

Status add_ports(const Model::Impl& model, mqh::Names& names, mqh::ClassDescription& described) {
  const Typed& typed = model.typed();
  const auto& values = typed.graph().values;
  const auto inputs = typed.graph().required_inputs();
  for (size_t i = 0; i < inputs.size(); ++i)
    TRY_OK(add_port("input", values[inputs[i]].name, typed.input_facts()[i], names, described.inputs));
  const Facts outputs = output_facts(typed, model.accepted());
  for (size_t i = 0; i < outputs.size(); ++i)
    TRY_OK(add_port("output", values[typed.graph().outputs[i]].name, outputs[i], names, described.outputs));
  return {};
}

void add_demands(const Model::Impl& model, mqh::ClassDescription& described) {
  for (const AcceptedCondition& one : model.accepted().conditions)
    described.demands.push_back(
        {one.condition, fmt::format("{} does not hold: {}", print(one.condition), one.because.front().sentence)});
  for (const Assumed::Entry& entry : model.assumed().entries)
    if (entry.text.binding) described.demands.push_back({entry.condition, assumed_sentence(entry.text)});
}

Result<std::string> accepted_text(const Model& model) {
  TRY(Report report, check(model));
  report.findings.clear();
  return to_text(report);
}

Result<mqh::ClassDescription> described_class(const Model& model, const MqhOptions& options, const Prepared& prepared,
                                              std::span<const std::byte> bytes) {
  mqh::ClassDescription out;
  out.stem = options.name;
  out.hash = sha256_hex(bytes);
  TRY(out.report, accepted_text(model));
  mqh::Names names;
  TRY_OK(add_ports(model.impl(), names, out));
  for (const AxisSymbol& axis : model.impl().typed().axes())
    out.sizes.push_back({axis.symbol, axis.name, names.unique(axis.name), 0});
  add_demands(model.impl(), out);
  TRY_OK(add_stored_pair(model, prepared.scalings, out));
  return out;
}

Result<AtomicFile> written(const std::filesystem::path& path, std::span<const std::byte> bytes) {
  TRY(AtomicFile file, AtomicFile::create(path));
  TRY_OK(file.write(bytes));
  TRY_OK(file.flush());
  return file;
}

}  // namespace

Result<MqhFiles> make_mqh(const Model& model, const MqhOptions& options) {
  TRY_OK(check_name(options.name));
  TRY(Prepared prepared, prepare(model, options));
  MqhFiles out;
  out.model = onnx::serialize(prepared.model.impl().file.proto).bytes();
  TRY(const Model embedded, of_model(model, Model::from_bytes(out.model, options.name + ".onnx")));
  TRY(const auto described, of_model(model, described_class(embedded, options, prepared, out.model)));
  TRY(out.text, of_model(model, mqh::class_text(described)));
  out.changes = std::move(prepared.changes);
  return out;
}

Status write_mqh(const MqhFiles& files, const std::filesystem::path& path) {
  TRY_OK(mqh_name(path));
  TRY(AtomicFile model, written(std::filesystem::path(path).replace_extension(".onnx"), files.model));
  TRY(AtomicFile text, written(path, std::as_bytes(std::span(files.text))));
  TRY_OK(model.commit());
  return text.commit();
}

Result<std::string> mqh_name(const std::filesystem::path& path) {
  if (path.extension() != ".mqh") return usage("mql5.name", "{:?} does not end in .mqh", path.string());
  std::string name = path.stem().string();
  TRY_OK(check_name(name));
  return name;
}

std::string sha256(std::span<const std::byte> bytes) { return sha256_hex(bytes); }

}  // namespace anyshape
