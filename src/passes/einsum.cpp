#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "passes/draft.h"

namespace anyshape {
namespace {

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

bool has(std::string_view letters, char c) { return letters.find(c) != std::string_view::npos; }

// The letters for which `keep` holds, in their order.
template <class Keep>
std::string only(std::string_view letters, Keep keep) {
  std::string out;
  std::copy_if(letters.begin(), letters.end(), std::back_inserter(out), keep);
  return out;
}

// One or two terms of different letters each, and what is left of them.
struct Equation {
  std::vector<std::string> terms;
  std::string out;
};

std::optional<Equation> equation_of(const Node& node) {
  const Attribute* attribute = node.attribute("equation");
  const auto* written = attribute ? std::get_if<std::string>(&attribute->value) : nullptr;
  if (!written || node.in.empty() || node.in.size() > 2) return std::nullopt;
  const std::string text = only(*written, [](char c) { return c != ' '; });
  const size_t arrow = text.find("->");
  Equation out{{std::string()}, {}};
  for (char c : std::string_view(text).substr(0, arrow)) {
    if (c == ',')
      out.terms.emplace_back();
    else if (is_letter(c) && !has(out.terms.back(), c))
      out.terms.back() += c;
    else
      return std::nullopt;
  }
  if (out.terms.size() != node.in.size()) return std::nullopt;
  if (arrow != std::string::npos) {
    out.out = text.substr(arrow + 2);
    return out;
  }
  const std::string all = out.terms.front() + (out.terms.size() == 2 ? out.terms.back() : std::string());
  for (char c = 'A'; c <= 'z'; ++c)
    if (std::count(all.begin(), all.end(), c) == 1) out.out += c;
  return out;
}

// A value and the letters of its axes.
struct Term {
  ValueId id = kNoValue;
  std::string letters;
};

// Writes one Einsum as transposes, sums, and one product at most.
class Writer {
 public:
  Writer(Draft& draft, const Node& node, Equation equation)
      : draft_(draft), node_(node), equation_(std::move(equation)), dtype_(draft.facts[node.out[0]].dtype) {}

  // Nothing: it stays.
  std::optional<std::vector<Node>> run() {
    if (!read_sizes()) return std::nullopt;
    std::vector<Term> terms;
    for (size_t i = 0; i < node_.in.size(); ++i) terms.push_back(without_own({node_.in[i], equation_.terms[i]}, 1 - i));
    std::optional<Term> made = terms.size() == 1 ? std::optional(terms[0]) : product(terms[0], terms[1]);
    if (!made) return std::nullopt;
    transposed(*made, equation_.out);
    if (nodes_.empty())
      nodes_.push_back(identity(node_.in[0], node_.out[0], node_.name));
    else
      nodes_.back().out = {node_.out[0]};
    nodes_.back().name = node_.name;
    return std::move(nodes_);
  }

 private:
  bool read_sizes() {
    for (size_t i = 0; i < node_.in.size(); ++i) {
      const Fact& fact = draft_.facts[node_.in[i]];
      if (!fact.is_tensor() || !fact.dims || fact.rank() != equation_.terms[i].size()) return false;
      for (size_t k = 0; k < fact.rank(); ++k) {
        const auto [known, first] = sizes_.try_emplace(equation_.terms[i][k], (*fact.dims)[k]);
        if (!first && known->second != (*fact.dims)[k]) return false;
      }
    }
    return std::all_of(equation_.out.begin(), equation_.out.end(), [&](char c) { return sizes_.contains(c); });
  }

  const std::string& name() const { return draft_.graph.values[node_.out[0]].name; }

  bool read_by(size_t term, char c) const { return term < equation_.terms.size() && has(equation_.terms[term], c); }

  Dims dims_of(std::string_view letters) const {
    Dims out;
    for (char c : letters) out.push_back(c == '1' ? Dim(1) : sizes_.at(c));
    return out;
  }

  ValueId ints(std::span<const int64_t> entries) {
    return draft_.add_constant(name() + ".axes", Tensor::of_ints({static_cast<int64_t>(entries.size())}, entries));
  }

  // The letters say what the sizes of the result are; '1' is an axis of one place.
  Term add(std::string_view op, int64_t version, std::vector<ValueId> in, std::string letters, const Dims& dims) {
    Node node;
    set_op(node, "", op, version);
    node.name = node_.name;
    node.in = std::move(in);
    node.out = {draft_.add_value(name() + "." + std::string(op), Fact::tensor(dtype_, dims))};
    nodes_.push_back(std::move(node));
    return {nodes_.back().out[0], std::move(letters)};
  }
  Term add(std::string_view op, int64_t version, std::vector<ValueId> in, std::string letters) {
    const Dims dims = dims_of(letters);
    return add(op, version, std::move(in), std::move(letters), dims);
  }

  // Summed over the letters that nobody else has.
  Term without_own(const Term& term, size_t other) {
    std::vector<int64_t> axes;
    const auto stays = [&](char c) { return has(equation_.out, c) || read_by(other, c); };
    for (size_t i = 0; i < term.letters.size(); ++i)
      if (!stays(term.letters[i])) axes.push_back(static_cast<int64_t>(i));
    if (axes.empty()) return term;
    Term out = add("ReduceSum", 13, {term.id, ints(axes)}, only(term.letters, stays));
    nodes_.back().attributes.push_back({"keepdims", int64_t{0}});
    return out;
  }

  Term transposed(const Term& term, const std::string& letters) {
    if (term.letters == letters) return term;
    std::vector<int64_t> perm;
    for (char c : letters) perm.push_back(static_cast<int64_t>(term.letters.find(c)));
    Term out = add("Transpose", 13, {term.id}, letters);
    nodes_.back().attributes.push_back({"perm", std::move(perm)});
    return out;
  }

  // Axes of one place put in, where `letters` has a '1'.
  Term spread(const Term& term, const std::string& letters) {
    std::vector<int64_t> axes;
    for (size_t i = 0; i < letters.size(); ++i)
      if (letters[i] == '1') axes.push_back(static_cast<int64_t>(i));
    return axes.empty() ? term : add("Unsqueeze", 13, {term.id, ints(axes)}, letters);
  }

  std::optional<Term> product(const Term& a, const Term& b) {
    const std::string summed = only(a.letters, [&](char c) { return !has(equation_.out, c); });
    if (summed.empty()) return entries(a, b);
    // Columns of the product are the last axis where that can be.
    const bool swap = !equation_.out.empty() && !has(b.letters, equation_.out.back());
    const auto made = matrices(swap ? b : a, swap ? a : b, summed);
    return made ? made : matrices(swap ? a : b, swap ? b : a, summed);
  }

  // Nothing is summed.
  Term entries(const Term& a, const Term& b) {
    std::vector<ValueId> in;
    for (const Term& term : {a, b}) {
      const auto own = [&](char c) { return has(term.letters, c); };
      std::string wide;
      for (char c : equation_.out) wide += own(c) ? c : '1';
      in.push_back(spread(transposed(term, only(equation_.out, own)), wide).id);
    }
    return add("Mul", 14, std::move(in), equation_.out);
  }

  std::optional<int64_t> count(std::string_view letters) const {
    int64_t n = 1;
    for (char c : letters) {
      const auto size = sizes_.at(c).constant();
      if (!size || *size <= 0 || __builtin_mul_overflow(n, *size, &n)) return std::nullopt;
    }
    return n;
  }

  // The last `letters` axes of a term as one; the others stay as they are.
  Term joined(const Term& term, size_t letters, char name) {
    if (letters == 1) return term;
    const size_t kept = term.letters.size() - letters;
    std::vector<int64_t> to(kept, 0);
    to.push_back(*count(std::string_view(term.letters).substr(kept)));
    sizes_.insert_or_assign(name, Dim(to.back()));
    return add("Reshape", 14, {term.id, ints(to)}, term.letters.substr(0, kept) + name);
  }

  // [batch, rows, summed] times [batch, summed, columns]; nothing where sizes that are not known would have to be one
  // axis.
  std::optional<Term> matrices(const Term& left, const Term& right, const std::string& summed) {
    const auto in = [](const Term& term) { return [&](char c) { return has(term.letters, c); }; };
    const std::string both = only(equation_.out, [&](char c) { return has(left.letters, c) && has(right.letters, c); });
    const std::string rows = only(only(equation_.out, in(left)), [&](char c) { return !has(both, c); });
    const std::string columns = only(only(equation_.out, in(right)), [&](char c) { return !has(both, c); });
    if ((summed.size() > 1 && !count(summed)) || (columns.size() > 1 && !count(columns))) return std::nullopt;
    const Term a = left_matrix(left, both, rows, summed), b = right_matrix(right, both, rows, columns, summed);
    return parted(multiplied(a, b, both, rows, columns), both + rows, columns);
  }

  Term left_matrix(const Term& left, const std::string& both, const std::string& rows, const std::string& summed) {
    const Term a = joined(transposed(left, both + rows + summed), summed.size(), kSummed);
    return rows.empty() ? spread(a, both + "1" + a.letters.back()) : a;
  }

  // Rows of more than one letter are matrices of their own, all of them times the same.
  Term right_matrix(const Term& right, const std::string& both, const std::string& rows, const std::string& columns,
                    const std::string& summed) {
    Term b = right;
    if (columns.size() > 1) {
      b = joined(transposed(b, both + summed + columns), columns.size(), kColumns);
    } else if (summed.size() == 1) {
      b = transposed(b, both + summed + columns);
    }
    const std::string column = columns.size() > 1 ? std::string(1, kColumns) : columns;
    if (summed.size() > 1) b = joined(transposed(b, both + column + summed), summed.size(), kSummed);
    const std::string sum = summed.size() > 1 ? std::string(1, kSummed) : summed;
    b = transposed(b, both + sum + column);
    const size_t more = both.empty() || rows.size() < 2 ? 0 : rows.size() - 1;
    return spread(b, both + std::string(more, '1') + sum + (column.empty() ? "1" : column));
  }

  Term multiplied(const Term& a, const Term& b, const std::string& both, const std::string& rows,
                  const std::string& columns) {
    const std::string column = columns.empty() ? "1" : std::string(1, b.letters.back());
    const Term made = add("MatMul", 13, {a.id, b.id}, both + (rows.empty() ? "1" : rows) + column);
    std::vector<int64_t> axes;
    if (rows.empty()) axes.push_back(static_cast<int64_t>(both.size()));
    if (columns.empty()) axes.push_back(static_cast<int64_t>(made.letters.size()) - 1);
    if (axes.empty()) return made;
    return add("Squeeze", 13, {made.id, ints(axes)}, only(made.letters, [](char c) { return c != '1'; }));
  }

  // Columns of several letters apart again.
  Term parted(const Term& made, const std::string& first, const std::string& columns) {
    if (columns.size() < 2) return made;
    std::vector<int64_t> to(first.size(), 0);
    for (char c : columns) to.push_back(*sizes_.at(c).constant());
    return add("Reshape", 14, {made.id, ints(to)}, first + columns);
  }

  static constexpr char kSummed = '+', kColumns = '|';  // axes that are several letters

  Draft& draft_;
  const Node& node_;
  Equation equation_;
  DType dtype_;
  std::map<char, Dim> sizes_;
  std::vector<Node> nodes_;
};

// The types that a product of matrices and a sum have, too.
bool is_multiplied(DType dtype) {
  return dtype == DType::f32 || dtype == DType::f64 || dtype == DType::f16 || dtype == DType::bf16;
}

}  // namespace

Status spell_out_einsums(Draft& draft) {
  const auto is_einsum = [](const Node& node) { return is_op(node, "Einsum"); };
  if (std::none_of(draft.graph.nodes.begin(), draft.graph.nodes.end(), is_einsum)) return {};
  std::vector<Node> nodes;
  for (Node& node : draft.graph.nodes) {
    const auto equation = is_einsum(node) && !draft.is_demanding(node) ? equation_of(node) : std::nullopt;
    auto written =
        equation && is_multiplied(draft.facts[node.out[0]].dtype) ? Writer(draft, node, *equation).run() : std::nullopt;
    if (!written)
      nodes.push_back(std::move(node));
    else
      std::move(written->begin(), written->end(), std::back_inserter(nodes));
  }
  draft.graph.nodes = std::move(nodes);
  return {};
}

}  // namespace anyshape
