#include <algorithm>

#include "lower/naming.h"
#include "lower/pt2/interpreter.h"

namespace anyshape::lower {
namespace {

using pt2::Argument;
using Kind = pt2::Argument::Kind;

}  // namespace

// The outputs' types are those the archive recorded.
Arg Pt2Interpreter::call_custom(const pt2::Graph& graph, const pt2::Node& node, std::string_view space,
                                std::string_view name) {
  Refs in;
  std::vector<Attribute> attributes;
  const auto add_attribute = [&](const std::string& key, const Argument& given) {
    if (given.kind == Kind::integer || given.kind == Kind::boolean) attributes.push_back(attr(key, given.integer));
    if (given.kind == Kind::real) attributes.push_back(attr(key, given.real));
    if (given.kind == Kind::text) attributes.push_back(attr(key, std::string_view(given.text)));
    if (given.kind != Kind::list || given.items.empty()) return;
    std::vector<int64_t> whole;
    std::vector<double> real;
    for (const Argument& item : given.items) {
      if (item.kind == Kind::integer || item.kind == Kind::boolean) whole.push_back(item.integer);
      if (item.kind == Kind::real) real.push_back(item.real);
    }
    if (whole.size() == given.items.size()) attributes.push_back(attr(key, whole));
    if (real.size() == given.items.size()) attributes.push_back(attr(key, real));
  };
  for (const pt2::NamedArgument& input : node.inputs) {
    const bool tensors = input.value.kind == Kind::list && !input.value.items.empty() &&
                         (input.value.items[0].kind == Kind::tensor || input.value.items[0].kind == Kind::none);
    if (input.value.kind == Kind::tensor) {
      in.push_back(l_.ref(value(input.value)));
    } else if (tensors) {
      for (const Argument& item : input.value.items) in.push_back(l_.ref(value(item)));
    } else if (input.value.kind == Kind::symbol) {
      const Arg number = value(input.value);
      in.push_back(l_.operand(number, l_.common_type({&number})));
    } else {
      add_attribute(input.name, input.value);
    }
  }
  Facts out;
  for (const Argument& output : node.outputs) {
    const auto it = graph.tensors.find(output.text);
    if (output.kind != Kind::tensor || it == graph.tensors.end()) {
      l_->refuse("export.custom", "the custom operator {}::{} gives something else than tensors", space, name);
      return {};
    }
    Dims dims;
    for (const pt2::Size& size : it->second.sizes) {
      const auto known = recorded(size);
      dims.push_back(known ? *known : l_->walk().data_symbol("u", 0, std::nullopt));
    }
    out.push_back(Fact::tensor(it->second.dtype, std::move(dims)));
  }
  const auto [domain, type] = custom_name(request_.custom, space, name);
  const bool known = (domain != space || type != name) && l_->record(domain, type);
  if (!known) note_rule(fmt::format("{}::{}", domain, type), in, out);
  const Refs results = known ? l_->emit(type, in, std::move(attributes), out.size(), domain)
                             : l_->emit_opaque(domain, type, in, std::move(attributes), std::move(out));
  if (results.size() == 1) return results[0];
  return results;
}

// The shapes PyTorch recorded for a custom operator as a rule over its inputs, so that others can prove with it: the
// one given by the user, else one in which every size is an expression of input sizes.
void Pt2Interpreter::note_rule(const std::string& name, const Refs& in, const Facts& out) {
  constexpr size_t kLetters = 13;
  const auto is_it = [&](const auto& known) { return known.first == name; };
  if (std::any_of(custom_shapes_.begin(), custom_shapes_.end(), is_it)) return;
  const auto given = std::find_if(request_.custom_shapes.begin(), request_.custom_shapes.end(), is_it);
  if (given != request_.custom_shapes.end()) {
    custom_shapes_.push_back(*given);
    return;
  }
  if (in.empty() || in.size() > kLetters || out.size() > kLetters) return;
  std::vector<std::string> inputs;
  std::vector<std::pair<Dim, Dim>> places;
  for (size_t i = 0; i < in.size(); ++i) {
    inputs.emplace_back(1, static_cast<char>('a' + i));
    const Dims dims = l_->dims(in[i]);
    for (size_t k = 0; k < dims.size(); ++k)
      if (dims[k].is_symbol())
        places.emplace_back(dims[k], l_->symbols().symbol(fmt::format("{}{}", inputs.back(), k)));
  }
  const auto is_size = [&](Dim symbol) {
    return std::any_of(places.begin(), places.end(), [&](const auto& place) { return place.first == symbol; });
  };
  std::vector<std::string> outputs;
  for (size_t i = 0; i < out.size(); ++i) {
    std::vector<std::string> sizes;
    for (Dim dim : *out[i].dims) {
      const auto used = dim.symbols();
      if (!std::all_of(used.begin(), used.end(), is_size)) return;
      sizes.push_back(print(substitute(dim, places)));
    }
    outputs.push_back(
        fmt::format("{} = {}[{}]", static_cast<char>('n' + i), anyshape::name(out[i].dtype), fmt::join(sizes, ", ")));
  }
  custom_shapes_.emplace_back(name, fmt::format(" ({}) -> {}", fmt::join(inputs, ", "), fmt::join(outputs, "; ")));
}

}  // namespace anyshape::lower
