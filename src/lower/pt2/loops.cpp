#include "lower/pt2/interpreter.h"

namespace anyshape::lower {
namespace {

Arguments items_of(const Arg& arg) { return arg.get<Arguments>() ? *arg.get<Arguments>() : Arguments(); }

}  // namespace

// while_loop(condition, body, carried, additional): a Loop without a bound whose body ends by asking the condition.
Arg Pt2Interpreter::while_loop(const pt2::Node& node) {
  if (node.inputs.size() < 4 || !node.inputs[0].value.graph || !node.inputs[1].value.graph) {
    l_->refuse("pt2.schema", "a while_loop needs two graphs and its operands");
    return {};
  }
  const pt2::Graph &condition = *node.inputs[0].value.graph, &body = *node.inputs[1].value.graph;
  const Arguments carried = items_of(value(node.inputs[2].value)), more = items_of(value(node.inputs[3].value));
  const auto as_tensor = [&](const Arg& arg) {
    return arg.is_tensor() ? l_.ref(arg) : l_.operand(arg, l_.common_type({&arg}));
  };
  const auto with_more = [&](Arguments values) {
    values.insert(values.end(), more.begin(), more.end());
    return values;
  };
  const auto ask = [&](const Arguments& values) {
    const Arguments answer = run_subgraph(condition, with_more(values));
    return answer.empty() ? Ref() : l_->cast(as_tensor(answer[0]), DType::boolean);
  };
  Refs in{Ref(), ask(carried)};
  std::vector<std::pair<std::string, Fact>> inputs{{"iteration", Fact::scalar(DType::i64)},
                                                   {"go_on", Fact::scalar(DType::boolean)}};
  for (const Arg& arg : carried) {
    in.push_back(as_tensor(arg));
    inputs.emplace_back("carried", l_->fact(in.back()).type_only());
  }
  if (l_->failed()) return {};
  l_->begin_body("body", inputs);
  Arguments now;
  for (size_t i = 0; i < carried.size(); ++i) now.push_back(l_.memory().variable(l_->body_input(i + 2)));
  const Arguments next = run_subgraph(body, with_more(now));
  Refs out{ask(next)};
  for (const Arg& arg : next) out.push_back(as_tensor(arg));
  auto graph = l_->end_body(out);
  if (l_->failed()) return {};
  return l_->emit("Loop", in, {attr("body", std::move(graph))}, carried.size());
}

// scan(body, states, sequences, additional): sequences are cut along axis 0.
Arg Pt2Interpreter::scan(const pt2::Node& node) {
  if (node.inputs.size() < 3 || !node.inputs[0].value.graph) {
    l_->refuse("pt2.schema", "a scan needs a graph and its operands");
    return {};
  }
  const pt2::Graph& body = *node.inputs[0].value.graph;
  const Arguments states = items_of(value(node.inputs[1].value)), cut = items_of(value(node.inputs[2].value));
  const Arguments more = node.inputs.size() > 3 ? items_of(value(node.inputs.back().value)) : Arguments();
  return scan_over(body, states, cut, more);
}

// map_impl(body, sequences, additional): a scan without a state.
Arg Pt2Interpreter::map(const pt2::Node& node) {
  if (node.inputs.size() < 2 || !node.inputs[0].value.graph) {
    l_->refuse("pt2.schema", "a map needs a graph and its operands");
    return {};
  }
  const Arguments more = node.inputs.size() > 2 ? items_of(value(node.inputs[2].value)) : Arguments();
  return scan_over(*node.inputs[0].value.graph, {}, items_of(value(node.inputs[1].value)), more);
}

Arg Pt2Interpreter::scan_over(const pt2::Graph& body, const Arguments& states, const Arguments& cut,
                              const Arguments& more) {
  Refs in;
  std::vector<std::pair<std::string, Fact>> inputs;
  for (const Arg& arg : states) {
    in.push_back(l_.ref(arg));
    inputs.emplace_back("state", l_->fact(in.back()).type_only());
  }
  for (const Arg& arg : cut) {
    in.push_back(l_.ref(arg));
    Dims dims = l_->dims(in.back());
    if (!dims.empty()) dims.erase(dims.begin());
    inputs.emplace_back("step", Fact::tensor(l_->dtype(in.back()), dims));
  }
  if (l_->failed()) return {};
  l_->begin_body("body", inputs);
  Arguments now;
  for (size_t i = 0; i < inputs.size(); ++i) now.push_back(l_.memory().variable(l_->body_input(i)));
  now.insert(now.end(), more.begin(), more.end());
  Refs out;
  for (const Arg& arg : run_subgraph(body, now)) out.push_back(l_.ref(arg));
  auto graph = l_->end_body(out);
  if (l_->failed()) return {};
  return l_->emit("Scan", in,
                  {attr("body", std::move(graph)), attr("num_scan_inputs", static_cast<int64_t>(cut.size()))},
                  out.size());
}

}  // namespace anyshape::lower
