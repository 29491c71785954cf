#include "check/narrowed_axis.h"

#include <algorithm>
#include <charconv>

#include "check/rules.h"
#include "ir/note.h"
#include "sym/assumptions.h"

namespace anyshape {
namespace {

const Node* find_node(const Graph& graph, std::string_view name) {
  const auto it = std::find_if(graph.nodes.begin(), graph.nodes.end(), [&](const Node& n) { return n.name == name; });
  return name.empty() || it == graph.nodes.end() ? nullptr : &*it;
}

std::string source_of(const Node* node) {
  const std::string* source = node ? note(*node, "source") : nullptr;
  return source ? *source : std::string();
}

// The numbers a condition compares with or divides by.
std::vector<int64_t> numbers_of(const Condition& condition) {
  std::vector<int64_t> out;
  for (const auto& conjunction : condition.any_of())
    for (const Relation& relation : conjunction) {
      if (relation.kind == Relation::Kind::divisible && relation.divisor.constant())
        out.push_back(*relation.divisor.constant());
      std::vector<std::pair<Dim, Dim>> zero;
      for (Dim symbol : relation.expr.symbols()) zero.emplace_back(symbol, 0);
      if (const auto constant = substitute(relation.expr, zero).constant()) out.push_back(std::abs(*constant));
    }
  return out;
}

// The axis of the node's first input that the symbol is part of.
std::optional<size_t> axis_with(const Typed& typed, const Node& node, Dim symbol) {
  if (node.in.empty() || node.in[0] == kNoValue) return std::nullopt;
  const auto& dims = typed.facts()[node.in[0]].dims;
  for (size_t i = 0; dims && i < dims->size(); ++i)
    if ((*dims)[i] == symbol) return i;
  return std::nullopt;
}

// Where the parenthesis that is open at `from` is closed.
size_t closing(std::string_view text, size_t from) {
  int open = 1;
  for (size_t i = from; i < text.size(); ++i) {
    open += text[i] == '(' ? 1 : text[i] == ')' ? -1 : 0;
    if (open == 0) return i;
  }
  return std::string_view::npos;
}

// The first of these numbers, separated by commas, that is `number` put in other words; nullopt: there is none.
std::optional<std::string> with_number_as(std::string numbers, int64_t number, const std::string& words) {
  for (size_t from = 0; from <= numbers.size();) {
    const size_t comma = std::min(numbers.find(',', from), numbers.size());
    const size_t begin = std::min(numbers.find_first_not_of(" ([", from), comma);
    const size_t end = std::min(numbers.find_first_of(" )]", begin), comma);
    int64_t value = 0;
    const auto [stop, error] = std::from_chars(numbers.data() + begin, numbers.data() + end, value);
    if (error == std::errc() && stop == numbers.data() + end && value == number)
      return numbers.replace(begin, end - begin, words);
    from = comma + 1;
  }
  return std::nullopt;
}

std::string advice_for(const Typed& typed, const AcceptedCondition& condition, Dim symbol, const std::string& source) {
  const Reason& because = condition.because.front();
  const Node* node = find_node(typed.graph(), because.node);
  if (node && note(*node, kGuardNote))
    return "capture the program for more sizes, or --guards drop where the condition does not matter";
  if (const auto axis = node ? axis_with(typed, *node, symbol) : std::nullopt)
    for (int64_t number : numbers_of(condition.condition))
      if (std::string line = with_size_of_axis(source, number, *axis); !line.empty())
        return fmt::format("write {} there", line);
  if (because.op == "Gather" || because.op == "GatherElements")
    return "the table has no more entries: make it larger, or ask for no larger sizes";
  if (because.op == "Reshape")
    return "take the size from the tensor where the model has the number, e.g. x.view(x.shape[0], -1)";
  return "what it meets there has a fixed size: make that axis dynamic under the same name if it is an input, cut it "
         "to x.shape[...] if it is a table of the model";
}

}  // namespace

bool only_bounds_below(const Condition& condition, Dim symbol) {
  if (condition.is_opaque() || condition.is_never()) return false;
  if (condition.symbols().size() == 1) {
    const auto holds = PeriodicSet::solve(condition, symbol, 1, std::nullopt);
    const auto least = holds ? holds->smallest() : std::nullopt;
    if (!least) return false;
    const auto missing = PeriodicSet::solve(!condition, symbol, *least, std::nullopt);
    return missing && missing->empty();
  }
  for (const auto& conjunction : condition.any_of())
    for (const Relation& relation : conjunction) {
      const auto used = relation.expr.symbols();
      if (std::find(used.begin(), used.end(), symbol) == used.end()) continue;
      const auto step = (substitute(relation.expr, {{symbol, symbol + 1}}) - relation.expr).constant();
      if (relation.kind != Relation::Kind::ge || !step || *step < 0) return false;
    }
  return true;
}

std::string with_size_of_axis(std::string_view source, int64_t number, size_t axis) {
  for (const std::string_view call : {".view(", ".reshape(", ".expand(", ".repeat("}) {
    const size_t at = source.find(call);
    if (at == std::string_view::npos) continue;
    const auto is_name = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.'; };
    size_t first = at;
    while (first > 0 && is_name(source[first - 1])) --first;
    const std::string receiver(source.substr(first, at - first));
    const size_t open = at + call.size(), close = closing(source, open);
    if (receiver.empty() || close == std::string_view::npos) continue;
    const auto inside = with_number_as(std::string(source.substr(open, close - open)), number,
                                       fmt::format("{}.shape[{}]", receiver, axis));
    if (inside) return fmt::format("{}{}{})", receiver, call, *inside);
  }
  return {};
}

std::vector<Narrowed> narrowed_axes(const Typed& typed, const AcceptedSet& accepted) {
  std::vector<Narrowed> out;
  for (const AxisSymbol& axis : typed.axes())
    for (const AcceptedCondition& condition : accepted.conditions) {
      if (!condition.condition.mentions(axis.symbol) || condition.because.empty()) continue;
      if (condition.condition.is_opaque() || only_bounds_below(condition.condition, axis.symbol)) continue;
      Narrowed one{&axis, &condition, source_of(find_node(typed.graph(), condition.because.front().node)), {}};
      one.advice = advice_for(typed, condition, axis.symbol, one.source);
      out.push_back(std::move(one));
    }
  return out;
}

void rules::narrowed_axis(const LintContext& context, Findings& out) {
  for (const Narrowed& one : narrowed_axes(context.typed, context.accepted)) {
    if (context.world.simplify(one.axis->symbol).constant()) continue;  // pinned-axis
    const Reason& because = one.condition->because.front();
    // Others are as often what the model is for (a stride, the end of a table or of what is cut).
    const bool ends = only_bounds_below(!one.condition->condition, one.axis->symbol);
    if (one.source.empty() && (ends || because.code != "reshape.count")) continue;
    out.add(because.node,
            fmt::format("{} is declared dynamic, but takes only {}{}", describe(*one.axis),
                        print(one.condition->condition), one.source.empty() ? "" : fmt::format(" ({})", one.source)),
            one.advice);
  }
}

}  // namespace anyshape
