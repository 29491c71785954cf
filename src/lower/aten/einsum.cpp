#include <algorithm>
#include <numeric>

#include "lower/aten/nn.h"

namespace anyshape::lower {
namespace {

// Axes by label; a label is a letter, or a number past them for an axis of an ellipsis.
using Labels = std::vector<int>;

struct Equation {
  std::vector<Labels> in;
  Labels out;
};

constexpr int kDots = 256;

struct Text {
  std::vector<std::string> in;
  std::optional<std::string> out;
};

Text split_text(std::string_view given) {
  std::string text;
  for (char c : given)
    if (c != ' ') text += c;
  Text parts;
  std::string_view rest = text;
  if (const size_t arrow = rest.find("->"); arrow != std::string_view::npos) {
    parts.out = std::string(rest.substr(arrow + 2));
    rest = rest.substr(0, arrow);
  }
  for (;;) {
    const size_t comma = rest.find(',');
    parts.in.emplace_back(rest.substr(0, comma));
    if (comma == std::string_view::npos) return parts;
    rest.remove_prefix(comma + 1);
  }
}

size_t letters_in(std::string_view term) {
  return static_cast<size_t>(std::count_if(term.begin(), term.end(), [](char c) { return c != '.'; }));
}

// The axes of an ellipsis are aligned at the end: the last one is always kDots + width - 1.
Labels labels_of(std::string_view term, size_t dots, size_t width) {
  Labels out;
  for (size_t i = 0; i < term.size(); ++i) {
    if (term[i] != '.') {
      out.push_back(static_cast<unsigned char>(term[i]));
      continue;
    }
    for (size_t d = width - dots; d < width; ++d) out.push_back(kDots + static_cast<int>(d));
    i += 2;
  }
  return out;
}

Labels implied(const std::vector<Labels>& in, size_t width) {
  std::vector<int> count(kDots);
  for (const Labels& term : in)
    for (int label : term)
      if (label < kDots) ++count[static_cast<size_t>(label)];
  Labels out;
  for (size_t d = 0; d < width; ++d) out.push_back(kDots + static_cast<int>(d));
  for (int c = 0; c < kDots; ++c)
    if (count[static_cast<size_t>(c)] == 1) out.push_back(c);
  return out;
}

std::optional<Equation> parse(Lowering& l, std::string_view text, const Refs& operands) {
  const Text parts = split_text(text);
  const auto malformed = [&]() -> std::optional<Equation> {
    if (!l->failed()) l->refuse("aten.einsum", "the equation {:?} does not fit its {} operands", text, operands.size());
    return std::nullopt;
  };
  if (parts.in.size() != operands.size()) return malformed();
  std::vector<size_t> dots;
  for (size_t i = 0; i < operands.size(); ++i) {
    const size_t letters = letters_in(parts.in[i]);
    const bool open = parts.in[i].find('.') != std::string::npos;
    if (l->rank(operands[i]) < letters || (!open && l->rank(operands[i]) != letters)) return malformed();
    dots.push_back(l->rank(operands[i]) - letters);
  }
  const size_t width = *std::max_element(dots.begin(), dots.end());
  Equation equation;
  for (size_t i = 0; i < operands.size(); ++i) equation.in.push_back(labels_of(parts.in[i], dots[i], width));
  equation.out = parts.out ? labels_of(*parts.out, width, width) : implied(equation.in, width);
  return equation;
}

bool has(const Labels& labels, int label) { return std::find(labels.begin(), labels.end(), label) != labels.end(); }

bool distinct(Labels labels) {
  std::sort(labels.begin(), labels.end());
  return std::adjacent_find(labels.begin(), labels.end()) == labels.end();
}

struct Operand {
  Ref value;
  Labels labels;
};

Operand arranged(Lowering& l, const Operand& x, const Labels& wanted) {
  std::vector<int64_t> order;
  for (int label : wanted) order.push_back(std::find(x.labels.begin(), x.labels.end(), label) - x.labels.begin());
  return {permuted(l, x.value, order), wanted};
}

// Labels of two operands by what becomes of them.
struct Groups {
  Labels batch, left, right, summed;
};

Groups groups_of(const Labels& a, const Labels& b, const Labels& out) {
  Groups groups;
  for (int label : a) {
    if (has(b, label))
      (has(out, label) ? groups.batch : groups.summed).push_back(label);
    else
      groups.left.push_back(label);
  }
  for (int label : b)
    if (!has(a, label)) groups.right.push_back(label);
  return groups;
}

Labels joined_einsum(const Labels& a, const Labels& b, const Labels& c = {}) {
  Labels out = a;
  out.insert(out.end(), b.begin(), b.end());
  out.insert(out.end(), c.begin(), c.end());
  return out;
}

bool same_sizes(Lowering& l, const Operand& a, const Operand& b) {
  for (size_t i = 0; i < a.labels.size(); ++i)
    for (size_t j = 0; j < b.labels.size(); ++j)
      if (a.labels[i] == b.labels[j] && !l->same(l->dim(a.value, i), l->dim(b.value, j))) return false;
  return true;
}

// A product of matrices as it is: one summed axis, at most one axis of its own on each side.
std::optional<Operand> as_matmul(Lowering& l, const Operand& a, const Operand& b, const Labels& out) {
  if (!distinct(a.labels) || !distinct(b.labels) || !same_sizes(l, a, b)) return std::nullopt;
  const Groups g = groups_of(a.labels, b.labels, out);
  const bool kept = std::all_of(g.left.begin(), g.left.end(), [&](int c) { return has(out, c); }) &&
                    std::all_of(g.right.begin(), g.right.end(), [&](int c) { return has(out, c); });
  // Axes of the left side may stay several where the right side is one matrix.
  const bool plain = g.batch.empty() && g.right.size() == 1;
  if (!kept || g.summed.size() != 1 || g.right.size() != 1 || g.left.empty() || (g.left.size() > 1 && !plain))
    return std::nullopt;
  Labels batch, left;
  for (int label : out) {
    if (has(g.batch, label)) batch.push_back(label);
    if (has(g.left, label)) left.push_back(label);
  }
  const Operand x = arranged(l, a, joined_einsum(batch, left, g.summed)),
                y = arranged(l, b, joined_einsum(batch, g.summed, g.right));
  return arranged(l, {l.op("MatMul", {x.value, y.value}), joined_einsum(batch, left, g.right)}, out);
}

Dims sizes_of(Lowering& l, const Operand& x, const Labels& wanted) {
  Dims out;
  for (int label : wanted)
    out.push_back(
        l->dim(x.value, static_cast<size_t>(std::find(x.labels.begin(), x.labels.end(), label) - x.labels.begin())));
  return out;
}

Operand summed_over(Lowering& l, const Operand& x, const Labels& kept) {
  std::vector<int64_t> gone;
  Labels rest;
  for (size_t i = 0; i < x.labels.size(); ++i) {
    if (has(kept, x.labels[i]))
      rest.push_back(x.labels[i]);
    else
      gone.push_back(static_cast<int64_t>(i));
  }
  return {gone.empty() ? x.value : l.reduce("ReduceSum", x.value, gone, false), rest};
}

// Any product of two operands, with axes joined so that it is one of matrices.
Operand multiplied_einsum(Lowering& l, Operand a, Operand b, const Labels& kept) {
  const auto needed = [&](const Operand& other) { return joined_einsum(other.labels, kept); };
  a = summed_over(l, a, needed(b));
  b = summed_over(l, b, needed(a));
  const Groups g = groups_of(a.labels, b.labels, kept);
  const Operand x = arranged(l, a, joined_einsum(g.batch, g.left, g.summed)),
                y = arranged(l, b, joined_einsum(g.batch, g.summed, g.right));
  const Dims batch = sizes_of(l, x, g.batch), left = sizes_of(l, x, g.left), right = sizes_of(l, y, g.right);
  const Dim inner = product(sizes_of(l, x, g.summed));
  const auto shaped = [&](Dim rows, Dim columns) {
    Dims out = batch;
    out.push_back(rows);
    out.push_back(columns);
    return out;
  };
  const Ref flat = l.op("MatMul", {l->reshape(x.value, shaped(product(left), inner)),
                                   l->reshape(y.value, shaped(inner, product(right)))});
  Dims out = batch;
  out.insert(out.end(), left.begin(), left.end());
  out.insert(out.end(), right.begin(), right.end());
  return {l->reshape(flat, out), joined_einsum(g.batch, g.left, g.right)};
}

Arg decomposed(Lowering& l, const Equation& equation, const Refs& operands) {
  Operand result{operands[0], equation.in[0]};
  for (const Labels& term : equation.in)
    if (!distinct(term)) {
      l->refuse(kOpsetCode, "einsum with a repeated label needs opset 12 or later");
      return {};
    }
  for (size_t i = 1; i < operands.size(); ++i) {
    Labels kept = equation.out;
    for (size_t k = i + 1; k < operands.size(); ++k) kept = joined_einsum(kept, equation.in[k]);
    const Operand next{operands[i], equation.in[i]};
    if (!same_sizes(l, result, next)) {
      l->refuse(kOpsetCode, "einsum whose axes may broadcast needs opset 12 or later");
      return {};
    }
    result = multiplied_einsum(l, result, next, kept);
  }
  return arranged(l, summed_over(l, result, equation.out), equation.out).value;
}

// Letters as ONNX wants them: every label one lower-case or upper-case letter, the output written out.
std::string written(const Equation& equation) {
  std::vector<int> known;
  const auto letter = [&](int label) {
    auto it = std::find(known.begin(), known.end(), label);
    const auto index = static_cast<size_t>(it - known.begin());
    if (it == known.end()) known.push_back(label);
    return static_cast<char>(index < 26 ? 'a' + static_cast<int>(index) : 'A' + static_cast<int>(index) - 26);
  };
  std::string text;
  for (const Labels& term : equation.in) {
    if (!text.empty()) text += ',';
    for (int label : term) text += letter(label);
  }
  text += "->";
  for (int label : equation.out) text += letter(label);
  return text;
}

bool runs(DType dtype) {
  return dtype == DType::f32 || dtype == DType::f64 || dtype == DType::f16 || dtype == DType::i32 ||
         dtype == DType::i64;
}

Arg einsum(Lowering& l, const Args& a) {
  Refs operands = a.tensors("tensors");
  if (operands.empty()) return {};
  const auto equation = parse(l, a.s("equation"), operands);
  if (!equation || l->failed()) return {};
  if (operands.size() == 2)
    if (auto done = as_matmul(l, {operands[0], equation->in[0]}, {operands[1], equation->in[1]}, equation->out))
      return done->value;
  if (operands.size() == 1 && distinct(equation->in[0]))
    return arranged(l, summed_over(l, {operands[0], equation->in[0]}, equation->out), equation->out).value;
  if (l->opset() < 12) return decomposed(l, *equation, operands);
  const DType given = l->dtype(operands[0]);
  if (runs(given)) return l.op("Einsum", operands, {attr("equation", written(*equation))});
  const DType wide = is_float(given) ? DType::f32 : DType::i64;
  for (Ref& operand : operands) operand = l->cast(operand, wide);
  return l->cast(l.op("Einsum", operands, {attr("equation", written(*equation))}), given);
}

constexpr AtenOp kEinsumOps[] = {{"einsum", einsum}};

}  // namespace

std::span<const AtenOp> einsum_ops() { return kEinsumOps; }

}  // namespace anyshape::lower
