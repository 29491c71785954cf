#include "ops/custom_rule.h"

#include <algorithm>
#include <cctype>
#include <limits>

#include "base/among.h"
#include "ir/infer.h"
#include "ops/all.h"
#include "ops/common.h"

namespace anyshape {
namespace {

// Of inputs, outputs, and conditions of one rule.
constexpr size_t kMostParts = 256;

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

// Cuts at `separator`. Usage error: too many parts.
Result<std::vector<std::string_view>> parts_of(std::string_view text, char separator, std::string_view what) {
  auto out = split(text, separator);
  if (out.size() > kMostParts)
    return usage("custom.rule", "the rule has {} {}, at most {} are allowed", out.size(), what, kMostParts);
  return out;
}

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

// What x12 stands for, if some input is called x.
std::optional<RuleUse> use_of(CustomOp& op, std::string_view word) {
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
  return RuleUse{op.symbols.symbol(word), static_cast<size_t>(it - op.input_names.begin()), axis};
}

constexpr std::string_view kFunctions[] = {"min", "max", "broadcast", "select", "and", "or", "in"};

Result<std::vector<RuleUse>> uses_in(CustomOp& op, std::string_view text) {
  std::vector<RuleUse> out;
  for (size_t i = 0; i < text.size();) {
    const size_t begin = i;
    while (i < text.size() && is_word(text[i])) ++i;
    const std::string_view word = text.substr(begin, i - begin);
    if (word.empty()) ++i;
    if (word.empty() || std::isdigit(static_cast<unsigned char>(word[0])) || among(word, kFunctions)) continue;
    const auto use = use_of(op, word);
    if (!use)
      return usage("custom.rule", "{:?} in {:?} is no axis of an input; the inputs are {}", word, text,
                   fmt::join(op.input_names, ", "));
    const auto same = [&](const RuleUse& known) { return known.symbol == use->symbol; };
    if (std::none_of(out.begin(), out.end(), same)) out.push_back(*use);
  }
  return out;
}

template <class Expression, class Parse>
Result<RuleText<Expression>> parse_text(CustomOp& op, std::string_view text, Parse parse) {
  TRY(auto uses, uses_in(op, text));
  std::string why;
  auto expression = parse(text, op.symbols, &why);
  if (!expression) return usage("custom.rule", "{:?}: {}", text, why);
  for (Dim symbol : expression->symbols())
    if (std::none_of(uses.begin(), uses.end(), [&](const RuleUse& use) { return use.symbol == symbol; }))
      return usage("custom.rule", "{:?} in {:?} is no axis of an input", op.symbols.name(symbol), text);
  return RuleText<Expression>{*std::move(expression), std::string(text), std::move(uses)};
}

Result<RuleOutput> parse_output(CustomOp& op, std::string_view text) {
  const size_t equals = text.find('=');
  if (equals == std::string_view::npos) return usage("custom.rule", "{:?} is not NAME = DTYPE[DIMS]", text);
  RuleOutput out;
  out.name = trim(text.substr(0, equals));
  if (out.name.empty() || !std::all_of(out.name.begin(), out.name.end(), is_word))
    return usage("custom.rule", "{:?} is no name of an output", out.name);
  const std::string_view type = trim(text.substr(equals + 1));
  const size_t open = type.find('[');
  if (open == std::string_view::npos) {
    const auto it = std::find(op.input_names.begin(), op.input_names.end(), type);
    if (it == op.input_names.end()) return usage("custom.rule", "{:?} is neither DTYPE[DIMS] nor an input", type);
    out.copies = static_cast<size_t>(it - op.input_names.begin());
    return out;
  }
  if (type.back() != ']') return usage("custom.rule", "{:?} does not end with ]", type);
  if (open > 0) {
    const auto dtype = parse_dtype(trim(type.substr(0, open)));
    if (!dtype) return usage("custom.rule", "{:?} is no element type", type.substr(0, open));
    out.dtype = *dtype;
  }
  const std::string_view list = trim(type.substr(open + 1, type.size() - open - 2));
  if (list.empty()) return out;
  TRY(const auto dims, parts_of(list, ',', "axes"));
  for (std::string_view dim : dims) {
    TRY(auto one, parse_text<Dim>(op, dim, parse_dim));
    out.dims.push_back(std::move(one));
  }
  return out;
}

Status parse_inputs(CustomOp& op, std::string_view list) {
  list = trim(list);
  if (list.starts_with('(') && list.ends_with(')')) list = list.substr(1, list.size() - 2);
  TRY(const auto names, parts_of(list, ',', "inputs"));
  op.input_names.clear();
  for (std::string_view name : names) {
    if (std::find(op.input_names.begin(), op.input_names.end(), name) != op.input_names.end())
      return usage("custom.rule", "two inputs are called {:?}", name);
    if (name.empty() || !std::all_of(name.begin(), name.end(), is_word))
      return usage("custom.rule", "{:?} is no name of an input", name);
    op.input_names.emplace_back(name);
  }
  return {};
}

Status parse_conditions(CustomOp& op, std::string_view list) {
  TRY(const auto conditions, parts_of(list, ';', "conditions"));
  for (std::string_view condition : conditions) {
    TRY(auto one, parse_text<Condition>(op, condition, parse_condition));
    op.conditions.push_back(std::move(one));
  }
  return {};
}

Status parse_rule(CustomOp& op, std::string_view rule) {
  if (rule.size() > kLongestRule)
    return usage("custom.rule", "the rule has {} characters, at most {} are allowed", rule.size(), kLongestRule);
  op.input_names = {"x"};
  if (const size_t arrow = rule.find("->"); arrow != std::string_view::npos) {
    TRY_OK(parse_inputs(op, rule.substr(0, arrow)));
    rule = rule.substr(arrow + 2);
  }
  if (const size_t where = rule.find(" where "); where != std::string_view::npos) {
    TRY_OK(parse_conditions(op, rule.substr(where + 7)));
    rule = rule.substr(0, where);
  }
  TRY(const auto outputs, parts_of(rule, ';', "outputs"));
  for (std::string_view output : outputs) {
    if (output.empty()) continue;
    TRY(RuleOutput one, parse_output(op, output));
    op.outputs.push_back(std::move(one));
  }
  if (op.outputs.empty()) return usage("custom.rule", "the rule names no output");
  return {};
}

// The expression with the sizes of this call for its symbols.
template <class Expression>
Result<Expression> in_call(const RuleText<Expression>& text, const Call& call) {
  std::vector<std::pair<Dim, Dim>> values;
  for (const RuleUse& use : text.uses) {
    if (!call.has(use.input)) return refuse("custom.input", "{} needs its input {}", call.type(), use.input);
    TRY(const Dims dims, call.dims(use.input));
    if (use.axis >= dims.size())
      return refuse("custom.rank", "the rule of {} reads axis {} of input {}, which has {} axes", call.type(), use.axis,
                    use.input, dims.size());
    values.emplace_back(use.symbol, dims[use.axis]);
  }
  return substitute(text.expression, values);
}

Result<Fact> infer_output(const RuleOutput& output, const Call& call, InferContext& context) {
  if (output.copies != ~size_t{0}) {
    if (!call.has(output.copies)) return refuse("custom.input", "{} needs its input {}", call.type(), output.copies);
    return call.in(output.copies).type_only();
  }
  Dims dims;
  for (const auto& text : output.dims) {
    TRY(const Dim size, in_call(text, call));
    const Dim dim = context.simplify(size);
    TRY_OK(context.require(Condition::ge(dim, 0), "custom.size",
                           "the rule of {} must give no negative size: it gives {}", call.type(), print(dim)));
    dims.push_back(dim);
  }
  const DType first = call.has(0) ? call.in(0).dtype : DType::undefined;
  return Fact::tensor(output.dtype == DType::undefined ? first : output.dtype, std::move(dims));
}

Result<Facts> infer_custom_rule(const Call& call, InferContext& context) {
  const auto& op = static_cast<const CustomOp&>(*call.op());
  for (const auto& text : op.conditions) {
    TRY(const Condition condition, in_call(text, call));
    TRY_OK(context.require(condition, "custom.where", "the rule of {} needs {}", call.type(), text.written));
  }
  Facts out;
  for (const RuleOutput& output : op.outputs) {
    TRY(Fact fact, infer_output(output, call, context));
    out.push_back(std::move(fact));
  }
  return out;
}

Status run_custom(const Call& call, KernelArgs& args) {
  return static_cast<const CustomOp&>(*call.op()).kernel(call, args);
}

void fill_record(CustomOp& op) {
  for (const std::string& input : op.input_names) op.in_ports.push_back({input});
  for (const RuleOutput& output : op.outputs) op.out_ports.push_back({output.name});
  op.doc_text = "by a rule of the program or of a file";
  op.name = op.name_text;
  op.domain = op.domain_text;
  op.since = 1;
  op.sig = {op.in_ports, op.out_ports, op.doc_text};
  op.infer = infer_custom_rule;
  op.kernels_of_op[0] = {"reference", run_custom};
  if (op.kernel) op.kernels = op.kernels_of_op;
}

}  // namespace

Result<std::unique_ptr<CustomOp>> make_custom_op(const CustomRule& rule, CustomKernel kernel) {
  const std::string_view domain = rule.domain == "ai.onnx" ? std::string_view("") : rule.domain;
  if (rule.name.empty() || all_ops().find(domain, rule.name, std::numeric_limits<int64_t>::max()))
    return usage("custom.name", "{:?} of domain {:?} is an operator already", rule.name, domain);
  auto op = std::make_unique<CustomOp>();
  op->domain_text = domain;
  op->name_text = rule.name;
  op->kernel = std::move(kernel);
  TRY_OK(parse_rule(*op, rule.rule));
  fill_record(*op);
  return op;
}

bool is_custom(const OpDef& op) { return !op.kernels.empty() && op.kernels.back().run == run_custom; }

Result<CustomRule> split_custom_rule(std::string_view text) {
  const size_t scope = text.find("::");
  const size_t colon = scope == std::string_view::npos ? scope : text.find(':', scope + 2);
  if (colon == std::string_view::npos)
    return usage("custom.rule", "{:?} is not of the form ns::op: y = [x0, 2*x1]", text);
  return CustomRule{text.substr(0, scope), text.substr(scope + 2, colon - scope - 2), text.substr(colon + 1)};
}

}  // namespace anyshape
