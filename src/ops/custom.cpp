#include "ops/custom.h"

#include <algorithm>
#include <atomic>
#include <cctype>
#include <deque>
#include <limits>
#include <memory>
#include <mutex>
#include <tuple>

#include "ir/infer.h"
#include "ops/all.h"
#include "ops/common.h"

namespace anyshape {
namespace {

// An expression over sizes of inputs. `uses` says what each of its symbols stands for; they are quoted in the text,
// with the operator's name in them, so that they never meet a symbol of a model.
struct RuleText {
  std::string text;
  std::string written;  // as the user did
  struct Use {
    std::string symbol;
    size_t input, axis;
  };
  std::vector<Use> uses;
};

struct RuleOutput {
  std::string name;
  DType dtype = DType::undefined;  // undefined: of the first input
  size_t copies = ~size_t{0};      // the input whose type it has
  std::vector<RuleText> dims;
};

struct CustomOp : OpDef {
  std::string domain_text, name_text, doc_text;
  std::vector<std::string> input_names;
  std::vector<RuleOutput> outputs;
  std::vector<RuleText> conditions;
  std::vector<Port> in_ports, out_ports;
  CustomKernel kernel;
  Kernel kernels_of_op[1];
};

std::string_view trim(std::string_view text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front()))) text.remove_prefix(1);
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back()))) text.remove_suffix(1);
  return text;
}

// Cuts at `separator` outside of brackets.
std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> out;
  int depth = 0;
  size_t start = 0;
  for (size_t i = 0; i <= text.size(); ++i) {
    if (i == text.size() || (text[i] == separator && depth == 0)) {
      out.push_back(trim(text.substr(start, i - start)));
      start = i + 1;
    } else {
      depth += text[i] == '(' || text[i] == '[';
      depth -= text[i] == ')' || text[i] == ']';
    }
  }
  return out;
}

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

// What x12 stands for, if some input is called x.
std::optional<RuleText::Use> use_of(const CustomOp& op, std::string_view word) {
  const size_t digits =
      word.size() -
      static_cast<size_t>(std::find_if_not(word.rbegin(), word.rend(),
                                           [](char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }) -
                          word.rbegin());
  if (digits == word.size() || word.size() - digits > 3) return std::nullopt;
  const auto it = std::find(op.input_names.begin(), op.input_names.end(), word.substr(0, digits));
  if (it == op.input_names.end()) return std::nullopt;
  size_t axis = 0;
  for (char c : word.substr(digits)) axis = axis * 10 + static_cast<size_t>(c - '0');
  return RuleText::Use{fmt::format("{}.{} {}", op.domain_text, op.name_text, word),
                       static_cast<size_t>(it - op.input_names.begin()), axis};
}

constexpr std::string_view kFunctions[] = {"min", "max", "broadcast", "select", "and", "or", "in"};

Result<RuleText> parse_text(const CustomOp& op, std::string_view text) {
  RuleText out;
  out.written = text;
  for (size_t i = 0; i < text.size();) {
    if (!is_word(text[i]) || std::isdigit(static_cast<unsigned char>(text[i]))) {
      out.text += text[i++];
      continue;
    }
    size_t end = i;
    while (end < text.size() && is_word(text[end])) ++end;
    const std::string_view word = text.substr(i, end - i);
    i = end;
    if (std::find(std::begin(kFunctions), std::end(kFunctions), word) != std::end(kFunctions)) {
      out.text += word;
      continue;
    }
    auto use = use_of(op, word);
    if (!use)
      return usage("custom.rule", "\"{}\" in \"{}\" is no axis of an input; the inputs are {}", word, text,
                   fmt::join(op.input_names, ", "));
    out.text += fmt::format("'{}'", use->symbol);
    out.uses.push_back(*std::move(use));
  }
  return out;
}

Result<RuleOutput> parse_output(const CustomOp& op, std::string_view text) {
  const size_t equals = text.find('=');
  if (equals == std::string_view::npos) return usage("custom.rule", "\"{}\" is not NAME = DTYPE[DIMS]", text);
  RuleOutput out;
  out.name = trim(text.substr(0, equals));
  if (out.name.empty() || !std::all_of(out.name.begin(), out.name.end(), is_word))
    return usage("custom.rule", "\"{}\" is no name of an output", out.name);
  const std::string_view type = trim(text.substr(equals + 1));
  const size_t open = type.find('[');
  if (open == std::string_view::npos) {
    const auto it = std::find(op.input_names.begin(), op.input_names.end(), type);
    if (it == op.input_names.end()) return usage("custom.rule", "\"{}\" is neither DTYPE[DIMS] nor an input", type);
    out.copies = static_cast<size_t>(it - op.input_names.begin());
    return out;
  }
  if (type.back() != ']') return usage("custom.rule", "\"{}\" does not end with ]", type);
  if (open > 0) {
    const auto dtype = parse_dtype(trim(type.substr(0, open)));
    if (!dtype) return usage("custom.rule", "\"{}\" is no element type", type.substr(0, open));
    out.dtype = *dtype;
  }
  const std::string_view list = trim(type.substr(open + 1, type.size() - open - 2));
  if (list.empty()) return out;
  for (std::string_view dim : split(list, ',')) {
    TRY(RuleText one, parse_text(op, dim));
    Symbols symbols;
    std::string why;
    if (!parse_dim(one.text, symbols, &why)) return usage("custom.rule", "\"{}\": {}", dim, why);
    out.dims.push_back(std::move(one));
  }
  return out;
}

Status parse_rule(CustomOp& op, std::string_view rule) {
  op.input_names = {"x"};
  if (const size_t arrow = rule.find("->"); arrow != std::string_view::npos) {
    std::string_view list = trim(rule.substr(0, arrow));
    rule = rule.substr(arrow + 2);
    if (list.starts_with('(') && list.ends_with(')')) list = list.substr(1, list.size() - 2);
    op.input_names.clear();
    for (std::string_view name : split(list, ',')) {
      if (std::find(op.input_names.begin(), op.input_names.end(), name) != op.input_names.end())
        return usage("custom.rule", "two inputs are called \"{}\"", name);
      if (name.empty() || !std::all_of(name.begin(), name.end(), is_word))
        return usage("custom.rule", "\"{}\" is no name of an input", name);
      op.input_names.emplace_back(name);
    }
  }
  if (const size_t where = rule.find(" where "); where != std::string_view::npos) {
    for (std::string_view condition : split(rule.substr(where + 7), ';')) {
      TRY(RuleText one, parse_text(op, condition));
      Symbols symbols;
      std::string why;
      if (!parse_condition(one.text, symbols, &why)) return usage("custom.rule", "\"{}\": {}", condition, why);
      op.conditions.push_back(std::move(one));
    }
    rule = rule.substr(0, where);
  }
  for (std::string_view output : split(rule, ';')) {
    if (output.empty()) continue;
    TRY(RuleOutput one, parse_output(op, output));
    op.outputs.push_back(std::move(one));
  }
  if (op.outputs.empty()) return usage("custom.rule", "the rule names no output");
  return {};
}

// What the symbols of a rule stand for in this call.
Result<std::vector<std::pair<Dim, Dim>>> values_of(const RuleText& text, const Call& call, InferContext& context) {
  std::vector<std::pair<Dim, Dim>> out;
  for (const auto& use : text.uses) {
    if (!call.has(use.input)) return refuse("custom.input", "{} needs its input {}", call.type(), use.input);
    TRY(const Dims dims, call.dims(use.input));
    if (use.axis >= dims.size())
      return refuse("custom.rank", "the rule of {} reads axis {} of input {}, which has {} axes", call.type(), use.axis,
                    use.input, dims.size());
    out.emplace_back(context.symbols().symbol(use.symbol), dims[use.axis]);
  }
  return out;
}

Result<Facts> infer(const Call& call, InferContext& context) {
  const auto& op = static_cast<const CustomOp&>(*call.op());
  for (const RuleText& text : op.conditions) {
    TRY(const auto values, values_of(text, call, context));
    const auto condition = parse_condition(text.text, context.symbols());
    TRY_OK(context.require(substitute(*condition, values), "custom.where", "the rule of {} needs {}", call.type(),
                           text.written));
  }
  Facts out;
  for (const RuleOutput& output : op.outputs) {
    if (output.copies != ~size_t{0}) {
      if (!call.has(output.copies)) return refuse("custom.input", "{} needs its input {}", call.type(), output.copies);
      out.push_back(call.in(output.copies).type_only());
      continue;
    }
    Dims dims;
    for (const RuleText& text : output.dims) {
      TRY(const auto values, values_of(text, call, context));
      const Dim dim = context.simplify(substitute(*parse_dim(text.text, context.symbols()), values));
      TRY_OK(context.require(Condition::ge(dim, 0), "custom.size", "the rule of {} gives an axis of {}", call.type(),
                             print(dim)));
      dims.push_back(dim);
    }
    const DType first = call.has(0) ? call.in(0).dtype : DType::undefined;
    out.push_back(Fact::tensor(output.dtype == DType::undefined ? first : output.dtype, std::move(dims)));
  }
  return out;
}

Status run_custom(const Call& call, KernelArgs& args) {
  return static_cast<const CustomOp&>(*call.op()).kernel(call, args);
}

struct Registry {
  std::mutex mutex;
  std::deque<std::unique_ptr<CustomOp>> ops;  // never freed: models point at them
  std::deque<std::vector<const OpDef*>> lists;
  std::deque<OpTable> tables;
  std::atomic<const OpTable*> current = nullptr;
};

Registry& registry() {
  static Registry& one = *new Registry;
  return one;
}

void fill_record(CustomOp& op) {
  for (const std::string& input : op.input_names) op.in_ports.push_back({input});
  for (const RuleOutput& output : op.outputs) op.out_ports.push_back({output.name});
  op.doc_text = "registered by the program";
  op.name = op.name_text;
  op.domain = op.domain_text;
  op.since = 1;
  op.sig = {op.in_ports, op.out_ports, op.doc_text};
  op.infer = infer;
  op.kernels_of_op[0] = {"reference", run_custom};
  if (op.kernel) op.kernels = op.kernels_of_op;
}

}  // namespace

Status register_custom_op(std::string_view domain, std::string_view name, std::string_view rule, CustomKernel kernel) {
  if (domain == "ai.onnx") domain = "";
  if (name.empty() || all_ops().find(domain, name, std::numeric_limits<int64_t>::max()))
    return usage("custom.name", "\"{}\" of domain \"{}\" is an operator already", name, domain);
  auto op = std::make_unique<CustomOp>();
  op->domain_text = domain;
  op->name_text = name;
  op->kernel = std::move(kernel);
  TRY_OK(parse_rule(*op, rule));
  fill_record(*op);
  Registry& all = registry();
  std::lock_guard lock(all.mutex);
  const auto records = current_ops().records();
  std::vector<const OpDef*> list(records.begin(), records.end());
  std::erase_if(list, [&](const OpDef* known) { return known->domain == domain && known->name == name; });
  list.push_back(op.get());
  std::sort(list.begin(), list.end(), [](const OpDef* a, const OpDef* b) {
    return std::tie(a->domain, a->name, a->since) < std::tie(b->domain, b->name, b->since);
  });
  all.ops.push_back(std::move(op));
  all.lists.push_back(std::move(list));
  all.tables.emplace_back(all.lists.back());
  all.current = &all.tables.back();
  return {};
}

bool is_custom(const OpDef& op) { return !op.kernels.empty() && op.kernels.back().run == run_custom; }

Result<CustomRule> split_custom_rule(std::string_view text) {
  const size_t scope = text.find("::");
  const size_t colon = scope == std::string_view::npos ? scope : text.find(':', scope + 2);
  if (colon == std::string_view::npos)
    return usage("custom.rule", "\"{}\" is not of the form ns::op: y = [x0, 2*x1]", text);
  return CustomRule{text.substr(0, scope), text.substr(scope + 2, colon - scope - 2), text.substr(colon + 1)};
}

void register_rules_of_model(std::string_view entry) {
  while (!entry.empty()) {
    const size_t end = std::min(entry.find('\n'), entry.size());
    const std::string_view line = entry.substr(0, end);
    entry.remove_prefix(std::min(end + 1, entry.size()));
    const auto rule = split_custom_rule(line);
    if (!rule || current_ops().find(rule->domain, rule->name, std::numeric_limits<int64_t>::max())) continue;
    // A rule that cannot be read leaves the operator unknown, as it was.
    if (auto registered = register_custom_op(rule->domain, rule->name, rule->rule, nullptr); !registered) continue;
  }
}

const OpTable& current_ops() {
  const OpTable* table = registry().current;
  return table ? *table : all_ops();
}

}  // namespace anyshape
