#include "inputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "anyshape/check.h"
#include "anyshape/process.h"
#include "cli.h"

namespace anyshape::cli {
namespace {

// The number a dim is; nothing for a symbol or an expression.
std::optional<int64_t> number_of(const std::string& dim) {
  int64_t value = 0;
  const auto [end, wrong] = std::from_chars(dim.data(), dim.data() + dim.size(), value);
  if (wrong != std::errc() || end != dim.data() + dim.size()) return std::nullopt;
  return value;
}

// The longest name before an `=` of each text, or the whole text.
std::vector<std::string> names_in(const std::vector<std::string>& known, const std::vector<std::string>& texts) {
  std::vector<std::string> out;
  for (const std::string& text : texts) {
    std::string longest;
    for (const std::string& name : known)
      if ((text == name || text.starts_with(name + "=")) && name.size() > longest.size()) longest = name;
    if (!longest.empty()) out.push_back(std::move(longest));
  }
  return out;
}

// Collects one value for each input of a session.
class Collector {
 public:
  Collector(const Model& model, const Session& session) : model_(model), session_(session) {
    values_.resize(session.inputs().size());
  }

  Status add_npz(const std::string& path);
  Status add_file(const std::string& text);
  Status add_random(const std::string& text, int64_t seed);
  Status add_shape(const std::string& name, const std::vector<int64_t>& sizes, int64_t seed);
  Result<std::vector<AnyValue>> finish(std::string_view option);

 private:
  struct Split {
    size_t input;
    std::string rest;
  };

  std::optional<size_t> find(std::string_view name) const {
    const auto& inputs = session_.inputs();
    const auto it = std::find_if(inputs.begin(), inputs.end(), [&](const IoInfo& input) { return input.name == name; });
    if (it == inputs.end()) return std::nullopt;
    return static_cast<size_t>(it - inputs.begin());
  }

  Error unknown(std::string_view option, const std::string& name, const std::string& rest) const {
    const std::string near = nearest_input(model_, name);
    const auto meant = find(near);
    const bool given = meant && std::find(named_.begin(), named_.end(), *meant) != named_.end();
    return usage_error_in(model_, "input.unknown", fmt::format("the model has no input {:?}", name),
                          near.empty() || given ? "" : told_command_with(option.substr(2), name + rest, near + rest));
  }

  std::optional<std::vector<int64_t>> smallest_sizes(const std::string& input) const;
  Result<Split> split(std::string_view option, const std::string& text) const;
  Status set_random(size_t input, const std::vector<int64_t>& wanted, int64_t seed);
  Status set(size_t input, AnyValue value);

  const Model& model_;
  const Session& session_;
  std::vector<AnyValue> values_;
  std::vector<size_t> named_;  // inputs given by name
};

// Names and files may hold `=`: of the places to split at, the last one with an input's name before it.
Result<Collector::Split> Collector::split(std::string_view option, const std::string& text) const {
  const size_t last = text.rfind('=');
  if (last == std::string::npos)
    return fail(usage_error("input.syntax", fmt::format("{:?} has no NAME= before the file", text),
                            "the name of an input before it, NAME=FILE.npy"));
  for (size_t at = last; at != std::string::npos && at > 0; at = text.rfind('=', at - 1))
    if (const auto input = find(std::string_view(text).substr(0, at))) return Split{*input, text.substr(at + 1)};
  return fail(unknown(option, text.substr(0, last), text.substr(last)));
}

// Of this input in the smallest shape that goes with the inputs given so far. Nothing where the rank is not known.
std::optional<std::vector<int64_t>> Collector::smallest_sizes(const std::string& input) const {
  Shapes given;
  for (size_t i = 0; i < values_.size(); ++i)
    if (values_[i].kind() == AnyValue::Kind::tensor) given[session_.inputs()[i].name] = values_[i].shape();
  const Shapes shapes = smallest_shapes(model_, given);
  const auto known = shapes.find(input);
  if (known == shapes.end()) return std::nullopt;
  return known->second;
}

Status Collector::set(size_t input, AnyValue value) {
  if (std::find(named_.begin(), named_.end(), input) != named_.end())
    return fail(usage_error_in(model_, "input.twice",
                               fmt::format("the input {:?} is given twice", session_.inputs()[input].name)));
  named_.push_back(input);
  values_[input] = std::move(value);
  return {};
}

Status Collector::add_npz(const std::string& path) {
  std::vector<std::pair<std::string, DType>> wanted;
  for (const IoInfo& input : session_.inputs()) wanted.emplace_back(input.name, input.type);
  auto arrays = read_npz(path, wanted);
  if (!arrays) return fail(arrays.error());
  for (auto& [name, value] : *arrays)
    if (const auto input = find(name)) values_[*input] = std::move(value);
  return {};
}

Status Collector::add_file(const std::string& text) {
  const auto parts = split("--input", text);
  if (!parts) return fail(parts.error());
  const IoInfo& input = session_.inputs()[parts->input];
  auto value = AnyValue::read(parts->rest, input.kind, input.type);
  if (!value) return fail(value.error());
  return set(parts->input, *std::move(value));
}

Status Collector::add_random(const std::string& text, int64_t seed) {
  auto input = find(text);
  std::vector<int64_t> sizes;
  if (input) {
    const auto declared = smallest_sizes(text);
    if (!declared)
      return fail(usage_error_in(model_, "input.rank", fmt::format("the rank of the input {:?} is not known", text),
                                 told_command_with("random", text, text + "=1x2x3")));
    sizes = *declared;
  } else {
    if (text.find('=') == std::string::npos) return fail(unknown("--random", text, ""));
    auto shape = parse_shape(text);
    if (!shape) return fail(shape.error());
    input = find(shape->first);
    if (!input) return fail(unknown("--random", shape->first, text.substr(shape->first.size())));
    sizes = std::move(shape->second);
  }
  return set_random(*input, sizes, seed);
}

Status Collector::add_shape(const std::string& name, const std::vector<int64_t>& sizes, int64_t seed) {
  const auto input = find(name);
  if (!input) return fail(unknown("--shape", name, to_text(Shapes{{"", sizes}})));
  return set_random(*input, sizes, seed);
}

Status Collector::set_random(size_t input, const std::vector<int64_t>& wanted, int64_t seed) {
  const IoInfo& info = session_.inputs()[input];
  if (info.kind != AnyValue::Kind::tensor || info.type == DType::undefined)
    return fail(usage_error_in(model_, "input.kind",
                               fmt::format("the input {:?} is no tensor of a known type", info.name),
                               fmt::format("a file with its value: {:?} behind --input", info.name + "=FILE.pb")));
  auto value = AnyValue::random(info.type, wanted, static_cast<uint64_t>(seed) + input);
  if (!value) {
    // A shape the model refuses is refused for that, however large it is.
    const Answer answer = accepts(model_, {{info.name, wanted}});
    if (answer.kind == Answer::Kind::refuse && answer.code != "input.missing")
      return fail(
          {Error::Kind::refused, answer.code, fmt::format("{}: {}", model_.name(), answer.place), answer.sentence, ""});
    Error error = value.error();
    error.place = fmt::format("{}: input {:?}", model_.name(), info.name);
    return fail(std::move(error));
  }
  return set(input, *std::move(value));
}

Result<std::vector<AnyValue>> Collector::finish(std::string_view option) {
  for (size_t i = 0; i < values_.size(); ++i) {
    if (values_[i]) continue;
    const std::string& name = session_.inputs()[i].name;
    const auto types = model_.inputs();
    const auto it = std::find_if(types.begin(), types.end(), [&](const ValueType& type) { return type.name == name; });
    const auto sizes = smallest_sizes(name);
    const bool tensor = session_.inputs()[i].kind == AnyValue::Kind::tensor;
    const std::string hint =
        sizes ? told_command_with(fmt::format("{} {}", option, shell_word(to_text(Shapes{{name, *sizes}}))))
              : fmt::format("a file with its value: {:?} behind --input", name + (tensor ? "=FILE.npy" : "=FILE.pb"));
    return fail(usage_error_in(
        model_, "input.missing",
        fmt::format("the input {:?} is not given, it is {}", name, it == types.end() ? "?" : it->type), hint));
  }
  return std::move(values_);
}

}  // namespace

Error usage_error(std::string code, std::string message, std::string hint) {
  return {Error::Kind::usage, std::move(code), {}, std::move(message), std::move(hint)};
}

Error usage_error_in(const Model& model, std::string code, std::string message, std::string hint) {
  Error error = usage_error(std::move(code), std::move(message), std::move(hint));
  error.place = model.name();
  return error;
}

Result<Model> fed_with(const Model& model, const InputArguments& arguments) {
  const auto optional = model.optional_inputs();
  if (optional.empty()) return model;
  std::vector<std::string> known, fed;
  for (const ValueType& input : model.inputs()) known.push_back(input.name);
  for (const ValueType& input : optional) known.push_back(input.name);
  std::vector<std::string> named = names_in(known, arguments.files);
  for (std::string& name : names_in(known, arguments.random)) named.push_back(std::move(name));
  if (!arguments.npz.empty()) {
    const auto arrays = read_npz(arguments.npz);
    if (!arrays) return fail(arrays.error());
    for (const auto& [name, value] : *arrays) named.push_back(name);
  }
  for (const ValueType& input : optional)
    if (std::find(named.begin(), named.end(), input.name) != named.end()) fed.push_back(input.name);
  return fed.empty() ? model : model.overriding(fed);
}

Result<Model> fed_with(const Model& model, const Shapes& shapes) {
  std::vector<std::string> fed;
  for (const ValueType& input : model.optional_inputs())
    if (shapes.contains(input.name)) fed.push_back(input.name);
  return fed.empty() ? model : model.overriding(fed);
}

Result<std::vector<AnyValue>> read_inputs(const Model& model, const Session& session, const InputArguments& arguments) {
  Collector collector(model, session);
  if (!arguments.npz.empty())
    if (const auto read = collector.add_npz(arguments.npz); !read) return fail(read.error());
  for (const std::string& text : arguments.files)
    if (const auto read = collector.add_file(text); !read) return fail(read.error());
  for (const std::string& text : arguments.random)
    if (const auto made = collector.add_random(text, arguments.seed); !made) return fail(made.error());
  return collector.finish("--random");
}

Result<std::vector<AnyValue>> random_inputs(const Model& model, const Session& session, const Shapes& shapes,
                                            int64_t seed, std::string_view option) {
  Collector collector(model, session);
  for (const auto& [name, sizes] : shapes)
    if (const auto made = collector.add_shape(name, sizes, seed); !made) return fail(made.error());
  for (const ValueType& type : model.inputs()) {
    if (shapes.contains(type.name) || !type.dims) continue;
    const auto is_number = [](const std::string& dim) { return number_of(dim).has_value(); };
    if (!std::all_of(type.dims->begin(), type.dims->end(), is_number)) continue;
    if (const auto made = collector.add_random(type.name, seed); !made) return fail(made.error());
  }
  return collector.finish(option);
}

}  // namespace anyshape::cli
