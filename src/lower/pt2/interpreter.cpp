#include "lower/pt2/interpreter.h"

#include <algorithm>

#include "base/among.h"
#include "base/work.h"
#include "lower/naming.h"
#include "lower/number.h"

namespace anyshape::lower {
namespace {

using pt2::Argument;
using Kind = pt2::Argument::Kind;

// "torch.ops.aten.add.Tensor" -> {"aten", "add", "Tensor"}.
struct Target {
  std::string_view space, name, overload;
};

std::optional<Target> aten_like(std::string_view target) {
  constexpr std::string_view kOps = "torch.ops.";
  if (!target.starts_with(kOps)) return std::nullopt;
  target.remove_prefix(kOps.size());
  Target out;
  const size_t first = target.find('.');
  if (first == std::string_view::npos) return std::nullopt;
  out.space = target.substr(0, first);
  out.name = target.substr(first + 1);
  if (const size_t second = out.name.rfind('.'); second != std::string_view::npos) {
    out.overload = out.name.substr(second + 1);
    out.name = out.name.substr(0, second);
  }
  return out;
}

// The name number_op knows the function by; empty: it is none of Python's arithmetic.
std::string_view number_name(std::string_view target) {
  for (const std::string_view prefix : {"_operator.", "math.", "torch.sym_", "builtins.", "torch._sym_"})
    if (target.starts_with(prefix)) {
      std::string_view name = target.substr(prefix.size());
      if (name == "and_") return "and";
      if (name == "or_") return "or";
      if (name == "not_") return "not";
      return is_number_op(name) ? name : std::string_view();
    }
  return {};
}

// They run a graph as it is, under a setting that changes no value.
constexpr std::string_view kWrappers[] = {"wrap", "wrap_activation_checkpoint", "wrap_with_autocast",
                                          "wrap_with_set_grad_enabled"};

}  // namespace

void Pt2Interpreter::set_sizes(pt2::Leaf leaf, std::vector<std::pair<Dim, int64_t>> example) {
  leaf_ = std::move(leaf);
  for (const auto& [symbol, number] : example) example_[symbol] = number;
}

Status Pt2Interpreter::bind_plain_input(const Argument& argument, const std::string& name) {
  if (argument.kind == Kind::symbol)
    return refuse("export.input", "the input {:?} is a number that may change; only tensors can be inputs of a model",
                  name);
  bind(name, literal(argument));
  return {};
}

Arg Pt2Interpreter::literal(const Argument& argument) const {
  switch (argument.kind) {
    case Kind::integer:
      return Dim(argument.integer);
    case Kind::real:
      return argument.real;
    case Kind::boolean:
      return argument.integer != 0;
    case Kind::complex:
      return Arg::of(std::complex<double>(argument.real, argument.imaginary));
    case Kind::text:
      return Arg::of(argument.text);
    case Kind::dtype:
      return Arg::of(argument.dtype);
    case Kind::device:
    case Kind::layout:
    case Kind::memory_format:
      return Arg::of(Arg::Ignored{});
    default:
      return {};
  }
}

Arg Pt2Interpreter::value(const Argument& argument) {
  if (argument.kind == Kind::list) {
    Arguments items;
    for (const Argument& item : argument.items) items.push_back(value(item));
    return items;
  }
  if (argument.kind != Kind::tensor && argument.kind != Kind::symbol) return literal(argument);
  const auto it = values_.find(argument.text);
  if (it != values_.end()) return it->second;
  l_->refuse("pt2.schema", "the value {:?} is used before it is made", argument.text);
  return {};
}

void Pt2Interpreter::set_place(const pt2::Node& node) {
  std::vector<std::string> paths;
  for (const pt2::ModuleFrame& frame : node.modules) paths.push_back(frame.path);
  std::vector<std::pair<std::string, std::string>> metadata;
  if (std::string line = source_line(node.stack_trace); !line.empty()) metadata.emplace_back("source", std::move(line));
  l_->set_place(node_prefix(paths), std::move(metadata));
}

void Pt2Interpreter::run(const pt2::Graph& graph) {
  for (const pt2::Node& node : graph.nodes) {
    if (l_->failed()) return;
    if (const Status going = Work::check(); !going) return l_->fail(going.error());
    run_node(graph, node);
  }
}

void Pt2Interpreter::run_node(const pt2::Graph& graph, const pt2::Node& node) {
  set_place(node);
  const Arg result = call(graph, node);
  if (!l_->failed() && !l_.captured().suspects().empty())
    l_->fail(
        {Error::Kind::refused,
         "export.baked",
         {},
         l_.captured().suspects().front(),
         "take the size from the tensor (x.shape[1]) where it can stay symbolic, and capture the axis as dynamic"});
  if (!l_->failed()) name_results(graph, node, result);
  if (!l_->failed()) return;
  if (!std::exchange(placed_, true)) place_error(node);
}

void Pt2Interpreter::place_error(const pt2::Node& node) {
  Error error = l_->take_error();
  const std::string line = source_line(node.stack_trace);
  const std::string module = node.modules.empty() ? "" : node.modules.back().path;
  error.place = fmt::format("{}{}{}", module.empty() ? "" : fmt::format("module {}: ", module), node.target,
                            line.empty() ? "" : fmt::format(" ({})", line));
  l_->fail(std::move(error));
}

Arg Pt2Interpreter::call(const pt2::Graph& graph, const pt2::Node& node) {
  Arguments positional;
  std::vector<NamedArg> keywords;
  const auto target = aten_like(node.target);
  if (target && target->space == "higher_order") return call_higher_order(node, target->name);
  for (const pt2::NamedArgument& input : node.inputs) {
    Arg given = value(input.value);
    if (input.keyword || (!keywords.empty() && !input.name.empty()))
      keywords.push_back({input.name, std::move(given)});
    else
      positional.push_back(std::move(given));
  }
  if (l_->failed()) return {};
  if (const std::string_view number = number_name(node.target); !number.empty()) {
    for (const NamedArg& keyword : keywords) positional.push_back(keyword.value);
    return number_op(l_, number, positional);
  }
  if (!target) {
    l_->refuse("export.target", "{} is no operator that can be exported", node.target);
    return {};
  }
  if (target->space == "rnnwhole") return l_.call(target->name, "input", std::move(positional), std::move(keywords));
  const std::string_view name = aten_name_of(target->space, target->name);
  if (name.empty()) return call_custom(graph, node, target->space, target->name);
  if (name != target->name) {
    for (NamedArg& keyword : keywords) positional.push_back(std::move(keyword.value));
    return l_.call(name, "", std::move(positional));
  }
  if (target->name == "sym_size" || target->name == "sym_numel") {
    const Ref x = l_.ref(positional.empty() ? Arg() : positional[0]);
    if (target->name == "sym_numel") return product(l_->dims(x));
    const auto* axis = positional.size() > 1 ? positional[1].get<Dim>() : nullptr;
    if (!axis && !keywords.empty()) axis = keywords[0].value.get<Dim>();
    return l_->dim(x, static_cast<size_t>(l_.axis(x, axis ? axis->constant().value_or(0) : 0)));
  }
  if (target->name == "sym_stride" && !positional.empty() && positional[0].get<Var>()) {
    const Ref x = l_.ref(positional[0]);
    const auto* axis = positional.size() > 1 ? positional[1].get<Dim>() : nullptr;
    const auto strides = l_.memory().strides(*positional[0].get<Var>());
    if (strides && axis) return (*strides)[static_cast<size_t>(l_.axis(x, axis->constant().value_or(0)))];
    l_->refuse("export.stride", "how a tensor lies in memory is not known; call .contiguous() before");
    return {};
  }
  // Where in memory a view begins is asked for assertions only.
  if (target->name == "sym_storage_offset") return l_->walk().data_symbol("u", 0, std::nullopt);
  if (target->name == "item" || target->name == "_local_scalar_dense") {
    const Ref x = l_.ref(positional.empty() ? Arg() : positional[0]);
    if (is_integer(l_->dtype(x))) return l_.item(x);
    return positional.empty() ? Arg() : positional[0];
  }
  accidents_.note_call(target->name, positional);
  return l_.call(target->name, target->overload, std::move(positional), std::move(keywords));
}

std::optional<Dim> Pt2Interpreter::recorded(const pt2::Size& size) const {
  if (size.number) return Dim(*size.number);
  return to_dim(size.expression, leaf_);
}

// The archive knows the type of every value: a difference is a mistake of ours and must not pass.
Arg Pt2Interpreter::checked(const pt2::Graph& graph, const std::string& name, Arg value) {
  const auto it = graph.tensors.find(name);
  if (it == graph.tensors.end() || !value.is_tensor() || l_->failed()) return value;
  const Fact& fact = l_->fact(l_.ref(value));
  if (l_->failed() || !fact.is_tensor() || Lowering::is_complex(it->second.dtype)) return value;
  const auto differs = [&](const std::string& what) {
    l_->fail({Error::Kind::refused,
              "export.crosscheck",
              {},
              fmt::format("{:?} comes out as {}, but PyTorch recorded {}; this is a mistake of anyshape", name,
                          print(fact), what),
              {}});
  };
  if (fact.dtype != it->second.dtype) {
    differs(fmt::format("element type {}", anyshape::name(it->second.dtype)));
    return value;
  }
  if (!fact.dims) return value;
  accidents_.note_sizes(*fact.dims);
  if (const auto* variable = value.get<Var>()) note_layout(*variable, *fact.dims, it->second);
  // A pinned axis makes sizes numbers that the archive holds as expressions of it, other than the example's.
  if (!request_.freeze.empty() && fact.dims->size() == it->second.sizes.size()) return value;
  if (fact.dims->size() != it->second.sizes.size()) {
    differs(fmt::format("{} axes", it->second.sizes.size()));
    return value;
  }
  const Binding at_example = [&](Dim symbol) -> std::optional<int64_t> {
    const auto known = example_.find(symbol);
    return known == example_.end() ? std::nullopt : std::optional(known->second);
  };
  for (size_t i = 0; i < fact.dims->size(); ++i) {
    const pt2::Size& size = it->second.sizes[i];
    const auto theirs = size.number ? size.number : size.hint;
    const auto ours = evaluate((*fact.dims)[i], at_example);
    if (ours && theirs && *ours != *theirs) differs(fmt::format("size {} on axis {} of the example", *theirs, i));
  }
  return value;
}

// The archive knows how tensors lie in memory. The order of the axes there is taken from it, the distances from the
// sizes.
void Pt2Interpreter::note_layout(const Var& variable, const Dims& dims, const pt2::TensorMeta& meta) {
  if (variable->base || meta.strides.size() != dims.size() || meta.sizes.size() != dims.size()) return;
  const auto number = [](const pt2::Size& size) { return size.number ? size.number : size.hint; };
  std::vector<size_t> order(dims.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  for (size_t i = 0; i < order.size(); ++i)
    if (!number(meta.strides[i]) || !number(meta.sizes[i])) return;
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return *number(meta.strides[a]) > *number(meta.strides[b]); });
  Dims strides(dims.size(), Dim(1));
  Dim step = 1;
  int64_t expected = 1;
  variable->ordered = true;
  for (size_t i = order.size(); i-- > 0;) {
    const size_t axis = order[i];
    strides[axis] = step;
    step = step * dims[axis];
    const int64_t size = *number(meta.sizes[axis]);
    if (size != 1 && *number(meta.strides[axis]) != expected) variable->ordered = false;
    if (__builtin_mul_overflow(expected, size, &expected)) return;
  }
  variable->layout.reset();
  if (variable->ordered && !std::is_sorted(order.begin(), order.end())) variable->layout = strides;
}

void Pt2Interpreter::name_results(const pt2::Graph& graph, const pt2::Node& node, const Arg& result) {
  const auto name_one = [&](const Argument& output, const Arg& given) {
    if (output.kind == Kind::tensor || output.kind == Kind::symbol)
      values_[output.text] = checked(graph, output.text, given);
  };
  const auto* many = result.get<Arguments>();
  if (node.outputs.size() == 1 && node.outputs[0].kind == Kind::list && many) {
    for (size_t i = 0; i < node.outputs[0].items.size() && i < many->size(); ++i)
      name_one(node.outputs[0].items[i], (*many)[i]);
    return;
  }
  if (node.outputs.size() == 1 && !(many && many->size() == 1))
    return name_one(node.outputs[0], many && !many->empty() ? (*many)[0] : result);
  for (size_t i = 0; many && i < node.outputs.size() && i < many->size(); ++i) name_one(node.outputs[i], (*many)[i]);
}

Arguments Pt2Interpreter::run_subgraph(const pt2::Graph& graph, const Arguments& inputs) {
  if (inputs.size() != graph.inputs.size()) {
    l_->refuse("pt2.schema", "a sub-graph takes {} values and gets {}", graph.inputs.size(), inputs.size());
    return {};
  }
  std::unordered_map<std::string, Arg> outer = values_;
  for (size_t i = 0; i < inputs.size(); ++i) values_[graph.inputs[i].text] = inputs[i];
  run(graph);
  Arguments out;
  for (const Argument& output : graph.outputs) out.push_back(value(output));
  values_ = std::move(outer);
  return out;
}

Arg Pt2Interpreter::cond(const pt2::Node& node) {
  if (node.inputs.size() < 4 || !node.inputs[1].value.graph || !node.inputs[2].value.graph) {
    l_->refuse("pt2.schema", "a cond needs a condition, two graphs and operands");
    return {};
  }
  const Arg predicate = value(node.inputs[0].value);
  const Arg operand_list = value(node.inputs[3].value);
  const Arguments operands = operand_list.get<Arguments>() ? *operand_list.get<Arguments>() : Arguments();
  const pt2::Graph* branches[] = {node.inputs[1].value.graph.get(), node.inputs[2].value.graph.get()};
  if (!predicate.is_tensor())
    if (const auto known = truth_of(l_, predicate)) return run_subgraph(*branches[*known ? 0 : 1], operands);
  const auto* sizes = predicate.get<Condition>();
  const Ref chosen = predicate.is_tensor() ? l_.ref(predicate) : l_.operand(predicate, DType::boolean);
  std::shared_ptr<Graph> bodies[2];
  size_t count = 0;
  for (size_t b = 0; b < 2 && !l_->failed(); ++b) {
    const Condition path = !sizes ? Condition::always() : b == 0 ? *sizes : !*sizes;
    l_->begin_body(b == 0 ? "then" : "else", {}, path);
    Refs results;
    for (const Arg& out : run_subgraph(*branches[b], operands))
      results.push_back(out.is_tensor() ? l_.ref(out) : l_.operand(out, l_.common_type({&out})));
    count = results.size();
    bodies[b] = l_->end_body(results);
  }
  if (l_->failed()) return {};
  const Ref flat = l_->rank(chosen) == 0 ? chosen : l_->reshape(chosen, {});
  return l_->emit("If", {l_->cast(flat, DType::boolean)},
                  {attr("then_branch", bodies[0]), attr("else_branch", bodies[1])}, count);
}

Arg Pt2Interpreter::call_higher_order(const pt2::Node& node, std::string_view name) {
  if (name == "cond") return cond(node);
  if (name == "while_loop") return while_loop(node);
  if (name == "scan") return scan(node);
  if (name == "map_impl") return map(node);
  if (among(name, kWrappers)) {
    const pt2::Graph* body = nullptr;
    Arguments operands;
    for (const pt2::NamedArgument& input : node.inputs) {
      if (input.value.graph)
        body = input.value.graph.get();
      else if (body)
        operands.push_back(value(input.value));
    }
    if (body) return run_subgraph(*body, operands);
  }
  l_->refuse("export.higher_order", "the higher-order operator {:?} cannot be exported yet", name);
  return {};
}

}  // namespace anyshape::lower
