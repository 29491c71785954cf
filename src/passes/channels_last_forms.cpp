#include <algorithm>

#include "ir/call.h"
#include "ops/elementwise/program_of.h"
#include "passes/channels_last.h"

namespace anyshape::channels_last {
namespace {

bool is_image(const Fact& fact) {
  return fact.is_tensor() && fact.dims && (fact.rank() == 3 || fact.rank() == 4) && (*fact.dims)[1].is_constant();
}
bool is_byte(const Fact& fact) { return fact.dtype == DType::u8 || fact.dtype == DType::i8; }

bool is_single(const Fact& fact) {
  return fact.is_tensor() && fact.dims &&
         std::all_of(fact.dims->begin(), fact.dims->end(), [](Dim d) { return d == Dim(1); });
}

// One entry for each channel of values of that rank, and no others.
bool is_of_channels(const Fact& fact, size_t rank) {
  if (!fact.constant || fact.rank() > rank || fact.rank() + 1 < rank) return false;
  for (size_t i = 0; i < fact.rank(); ++i)
    if (i + rank - fact.rank() != 1 && (*fact.dims)[i] != Dim(1)) return false;
  return true;
}

void keep(const Node& from, Node& to, std::initializer_list<std::string_view> names) {
  for (std::string_view name : names)
    if (const Attribute* attribute = from.attribute(name)) to.attributes.push_back(*attribute);
}

Node renamed(const Node& node, std::string_view type, std::initializer_list<std::string_view> attributes) {
  Node out = node;
  out.attributes.clear();
  set_op(out, "com.microsoft", type, 1);
  keep(node, out, attributes);
  return out;
}

std::optional<Form> convolution(const Draft&, const Node& node) {
  Form form{renamed(node, "QLinearConv", {"auto_pad", "dilations", "group", "kernel_shape", "pads", "strides"}), {0}};
  form.node.attributes.push_back({"channels_last", int64_t{1}});
  form.begins = true;
  return form;
}

std::optional<Form> max_pool(const Draft& draft, const Node& node) {
  if (!is_byte(draft.facts[node.in[0]]) || (node.out.size() > 1 && node.out[1] != kNoValue)) return std::nullopt;
  return Form{renamed(node, "NhwcMaxPool", {"auto_pad", "ceil_mode", "dilations", "kernel_shape", "pads", "strides"}),
              {0}};
}

std::optional<Form> global_pool(const Draft&, const Node& node) {
  Form form{renamed(node, "QLinearGlobalAveragePool", {}), {0}};
  form.node.attributes.push_back({"channels_last", int64_t{1}});
  return form;
}

// With one scale.
std::optional<Form> linear(const Draft& draft, const Node& node) {
  if (node.in.size() < 2 || !is_single(draft.facts[node.in[1]])) return std::nullopt;
  Form form{node, {0}};
  form.ends = node.type == "QuantizeLinear";
  return form;
}

std::optional<Form> unary(const Draft&, const Node& node) { return Form{node, {0}}; }

std::optional<Form> requantize(const Draft&, const Node& node) {
  Form form{node, {0}};
  form.node.attributes.clear();
  keep(node, form.node, {"least", "most"});
  form.node.attributes.push_back({"axis", int64_t{-1}});
  return form;
}

// An operand of broadcasting goes along, has one entry, or one per channel; false: it has others.
bool add_operand(const Draft& draft, const Node& node, size_t input, Form& form) {
  const Fact& fact = draft.facts[node.in[input]];
  const size_t rank = draft.facts[node.out[0]].rank();
  if (!fact.is_tensor() || !fact.dims) return false;
  if (is_single(fact) && fact.rank() <= rank) return true;
  form.move.push_back(input);
  return is_of_channels(fact, rank) || (fact.rank() == rank && !fact.constant);
}

std::optional<Form> binary_channels_last_forms(const Draft& draft, const Node& node) {
  Form form{node, {}};
  for (size_t i : {size_t{0}, size_t{3}})
    if (!add_operand(draft, node, i, form)) return std::nullopt;
  return form;
}

std::optional<Form> concat(const Draft& draft, const Node& node) {
  Form form{node, {}};
  const auto rank = static_cast<int64_t>(draft.facts[node.out[0]].rank());
  int64_t axis = node.integer("axis");
  if (axis < 0) axis += rank;
  for (size_t i = 2; i < node.in.size(); i += 3) {
    if (draft.constant(node.in[i])) return std::nullopt;
    form.move.push_back(i);
  }
  form.node.attributes.clear();
  form.node.attributes.push_back({"axis", axis == 0 ? 0 : axis == 1 ? rank - 1 : axis - 1});
  return form;
}

std::optional<Form> elementwise(const Draft& draft, const Node& node) {
  if (node.out.size() != 1 || (node.op->domain.empty() && node.version < 7)) return std::nullopt;
  Form form{node, {}};
  form.ends = false;
  std::vector<const Fact*> facts;
  for (size_t i = 0; i < node.in.size(); ++i) {
    const bool there = node.in[i] != kNoValue;
    if (there && !add_operand(draft, node, i, form)) return std::nullopt;
    facts.push_back(there ? &draft.facts[node.in[i]] : nullptr);
  }
  return ops::program_of(Call(node, node.name, facts)) ? std::optional(std::move(form)) : std::nullopt;
}

struct Rule {
  std::string_view op;
  std::optional<Form> (*form)(const Draft&, const Node&);
};
constexpr Rule kRules[] = {
    {"QLinearConv", convolution},
    {"MaxPool", max_pool},
    {"QLinearGlobalAveragePool", global_pool},
    {"QuantizeLinear", linear},
    {"DequantizeLinear", linear},
    {"Requantize", requantize},
    {"QLinearLeakyRelu", unary},
    {"QLinearSigmoid", unary},
    {"QLinearAdd", binary_channels_last_forms},
    {"QLinearMul", binary_channels_last_forms},
    {"QLinearConcat", concat},
};

bool has_kernel(const Draft& draft, const Form& form) {
  std::vector<Fact> facts;
  for (ValueId id : form.node.in) facts.push_back(id == kNoValue ? Fact() : draft.facts[id]);
  const size_t rank = draft.facts[form.node.out[0]].rank();
  for (size_t i : form.move) {
    if (facts[i].constant) continue;
    if (!facts[i].is_tensor() || !facts[i].dims || facts[i].rank() != rank) return false;
    facts[i] = Fact::tensor(facts[i].dtype, moved(*facts[i].dims));
  }
  std::vector<const Fact*> in;
  for (size_t i = 0; i < facts.size(); ++i) in.push_back(form.node.in[i] == kNoValue ? nullptr : &facts[i]);
  return draft.target.choose(Call(form.node, form.node.name, in)).kernel != nullptr;
}

}  // namespace

Dims moved(const Dims& dims) {
  Dims out = dims;
  std::rotate(out.begin() + 1, out.begin() + 2, out.end());
  return out;
}

std::optional<Form> form_of(const Draft& draft, const Node& node) {
  if (!node.op || node.in.empty() || node.out.empty() || node.out[0] == kNoValue || draft.is_demanding(node))
    return std::nullopt;
  if (node.integer("channels_last") != 0 || !is_image(draft.facts[node.out[0]])) return std::nullopt;
  const auto rule =
      std::find_if(std::begin(kRules), std::end(kRules), [&](const Rule& r) { return r.op == node.op->name; });
  const bool by_rule = rule != std::end(kRules) && node.in[0] != kNoValue;
  auto form = by_rule ? rule->form(draft, node) : elementwise(draft, node);
  return form && has_kernel(draft, *form) ? form : std::nullopt;
}

}  // namespace anyshape::channels_last
