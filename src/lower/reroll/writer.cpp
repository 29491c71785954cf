#include "lower/reroll/writer.h"

#include <algorithm>

#include "lower/reroll/match.h"
#include "lower/reroll/write.h"

namespace anyshape::lower::reroll {
namespace {

int64_t opset_of(const Lowered& captured) {
  for (const auto& [domain, version] : captured.opsets)
    if (domain.empty()) return version;
  return 17;
}

int64_t concat_axis(const Item& item, size_t rank) {
  const int64_t axis = item.node->integer("axis");
  return axis < 0 ? axis + static_cast<int64_t>(rank) : axis;
}

}  // namespace

Writer::Writer(const Form& form, const CapturedSteps& shorter, const CapturedSteps& longer, std::string_view axis,
               const Lowered& captured, const OpTable& ops)
    : form_(form),
      shorter_(shorter),
      longer_(longer),
      short_layout_(form.parts, shorter.length),
      long_layout_(form.parts, longer.length),
      captured_(captured),
      assumptions_(*captured.symbols),
      builder_(ops, assumptions_, opset_of(captured)),
      length_(captured.symbols->symbol(axis)),
      constants_(builder_, length_, shorter),
      made_(form.parts.size()) {
  for (const auto& [domain, version] : captured.opsets) builder_.import_domain(domain, version);
  assumptions_.assume(Condition::ge(length_, 0));
}

namespace {

// The sizes at any length, from those at two; unknown() where they follow no rule.
Dims sizes_between(const Dims& shorter, const Dims& longer, int64_t at, Dim length) {
  Dims out = longer;
  for (size_t k = 0; k < out.size(); ++k) {
    if (!out[k].is_constant() || shorter[k] == out[k]) continue;
    const auto a = shorter[k].constant(), b = out[k].constant();
    out[k] = a ? (length - at) * Dim(*b - *a) + *a : Dim::unknown();
  }
  return out;
}

}  // namespace

void Writer::bind_inputs() {
  const Graph& graph = *longer_.graph;
  for (size_t i = 0; i < graph.inputs.size(); ++i) {
    const std::string& name = graph.values[graph.inputs[i]].name;
    if (const auto weight = captured_.weights.find(name); weight != captured_.weights.end()) {
      inputs_.push_back(builder_.constant(weight->second.tensor, weight->second.name));
      continue;
    }
    const Fact& fact = longer_.facts[graph.inputs[i]];
    const Fact& other = shorter_.facts[shorter_.graph->inputs[i]];
    const Dims dims = sizes_between(*other.dims, *fact.dims, shorter_.length, length_);
    for (Dim size : dims) {
      if (size.is_symbol()) assumptions_.assume(Condition::ge(size, 0));
      if (!size.is_constant() && !size.is_symbol())
        builder_.refuse("reroll.axis", "an axis of input {:?} follows the length, and is not the length", name);
    }
    inputs_.push_back(builder_.input(name, Fact::tensor(fact.dtype, dims)));
  }
}

Dims Writer::dims_of(const Member& member) {
  const Label label{member.part, member.item, 0};
  const Fact& a = shorter_.fact(short_layout_.step(label), member.output);
  const Fact& b = longer_.fact(long_layout_.step(label), member.output);
  if (a.dims && b.dims && a.rank() == b.rank()) return sizes_between(*a.dims, *b.dims, shorter_.length, length_);
  builder_.refuse("reroll.rank", "the rank of a value that crosses steps is not known");
  return {};
}

// The last step's value, and a state of the loop.
bool Writer::is_last(const Place& place) const {
  if (place.step.length != 1 || place.step.rest != static_cast<double>(form_.parts[place.index].more) - 1) return false;
  const auto reads = [&](const Operand& operand) {
    return !operand.first.empty() && member_of(operand.place) == member_of(place);
  };
  return std::ranges::any_of(form_.items[place.index],
                             [&](const Item& item) { return std::ranges::any_of(item.in, reads); });
}

int64_t Writer::joined_axis(const Operand& operand, const Item& reader) {
  const Dims dims = dims_of(member_of(operand.place));
  const int64_t axis = concat_axis(reader, dims.size());
  return static_cast<size_t>(axis) < dims.size() && dims[static_cast<size_t>(axis)] == Dim(1) ? axis : Stack::kNewAxis;
}

void Writer::want(const Operand& operand, const Item* reader, size_t part) {
  for (const Place& place : operand.first)
    if (is_loop(place) && !is_last(place)) stacks_[{member_of(place)}];
  if (!is_loop(operand.place) || operand.place.index == part) return;
  if (operand.count && reader) {
    if (reader->node->type != "Concat" || !reader->node->domain.empty())
      builder_.refuse("reroll.reader", "{} reads a loop's values all at once", reader->node->type);
    stacks_[{member_of(operand.place), joined_axis(operand, *reader), operand.direction < 0}];
  } else if (operand.place.step.step != 0 || !is_last(operand.place)) {
    stacks_[{member_of(operand.place)}];
  }
}

void Writer::want_all() {
  for (size_t part = 0; part < form_.parts.size(); ++part)
    for (const Item& item : form_.items[part])
      for (const Operand& operand : item.in) want(operand, &item, form_.parts[part].loop ? part : form_.parts.size());
  for (const Operand& operand : form_.outputs) want(operand, nullptr, form_.parts.size());
}

std::vector<Stack> Writer::wanted_of(size_t part) const {
  std::vector<Stack> out;
  for (const auto& [wanted, made] : stacks_)
    if (wanted.member.part == part) out.push_back(wanted);
  return out;
}

Ref Writer::outer(const Place& place) {
  switch (place.kind) {
    case Place::absent:
      return {};
    case Place::input:
      return inputs_[place.index];
    case Place::constant:
      return constants_.at_start(*place.pattern);
    case Place::item:
      break;
  }
  if (!is_loop(place)) return made_[place.index][place.item_][place.output];
  const Member member = member_of(place);
  if (const auto it = last_.find(member); is_last(place) && it != last_.end()) return it->second;
  return builder_.gather(stacks_[{member}], builder_.scalar(constants_.size(place.step)), 0);
}

// [steps, ..., m, ...] to [..., steps*m, ...].
Ref Writer::merged(Ref stack, int64_t axis, const Dims& dims) {
  std::vector<int64_t> order;
  Dims target = dims;
  for (int64_t k = 0; k <= static_cast<int64_t>(dims.size()); ++k)
    if (k != 0) order.push_back(k);
  order.insert(order.begin() + axis, 0);
  target[static_cast<size_t>(axis)] = target[static_cast<size_t>(axis)] * builder_.dim(stack, 0);
  return builder_.reshape(builder_.transpose(stack, order), target);
}

Ref Writer::spread(const Operand& operand, const Item& reader) {
  const Member member = member_of(operand.place);
  const bool backwards = operand.direction < 0;
  const int64_t joined = joined_axis(operand, reader);
  const Dim count = constants_.size(*operand.count), first = constants_.size(operand.place.step);
  const Dim start = backwards ? trips(member.part) - 1 - first : first;
  Ref all = stacks_[{member, joined, backwards}];
  all = builder_.slice(all, std::max(joined, int64_t{0}), start, start + count);
  if (joined != Stack::kNewAxis) return all;
  const Dims dims = dims_of(member);
  return merged(all, concat_axis(reader, dims.size()), dims);
}

Refs Writer::emit(const Item& item, const Refs& in) {
  const Node& node = *item.node;
  builder_.set_place(node.name.substr(0, std::min(node.name.rfind('/'), node.name.size())),
                     node.metadata ? *node.metadata : std::vector<std::pair<std::string, std::string>>());
  if (node.type == "Reshape" && node.domain.empty() && item.in[1].place.kind == Place::constant &&
      item.in[1].place.pattern->kind != Pattern::same && node.integer("allowzero") == 0)
    if (auto target = constants_.sizes(*item.in[1].place.pattern)) {
      for (size_t k = 0; k < target->size(); ++k)
        if ((*target)[k] == Dim(0)) (*target)[k] = builder_.dim(in[0], k);
      return {builder_.reshape(in[0], *target)};
    }
  return builder_.emit(node.type, in, node.attributes, node.out.size(), node.domain);
}

void Writer::write_straight(size_t part) {
  for (const Item& item : form_.items[part]) {
    Refs in;
    for (const Operand& operand : item.in) in.push_back(operand.count ? spread(operand, item) : outer(operand.place));
    const bool alone = item.in.size() == 1 && item.in[0].count;
    made_[part].push_back(alone ? in : emit(item, in));
  }
}

Result<std::shared_ptr<Graph>> Writer::run(Facts& facts) {
  bind_inputs();
  want_all();
  for (size_t part = 0; part < form_.parts.size() && !builder_.failed(); ++part) {
    if (form_.parts[part].loop)
      write_loop(*this, part);
    else
      write_straight(part);
  }
  if (builder_.failed()) return tl::unexpected(builder_.status().error());
  std::vector<std::pair<std::string, Ref>> outputs;
  for (size_t i = 0; i < form_.outputs.size(); ++i) {
    const Operand& output = form_.outputs[i];
    if (output.count) return refuse("reroll.outputs", "the number of outputs follows the length");
    outputs.emplace_back(longer_.graph->values[longer_.graph->outputs[i]].name, outer(output.place));
  }
  TRY(auto graph, builder_.finish(outputs));
  facts = builder_.facts();
  return graph;
}

Result<std::shared_ptr<Graph>> write(const Form& form, const CapturedSteps& shorter, const CapturedSteps& longer,
                                     std::string_view axis, const Lowered& captured, const OpTable& ops, Facts& facts) {
  return Writer(form, shorter, longer, axis, captured, ops).run(facts);
}

}  // namespace anyshape::lower::reroll
