#include "passes/recurrent_terms.h"

#include <utility>

namespace anyshape {
namespace {

using Kind = Term::Kind;

constexpr int64_t kMostWork = int64_t{1} << 30;

std::optional<std::vector<float>> floats_of(const Tensor& tensor) {
  if (tensor.dtype() != DType::f32) return std::nullopt;
  std::vector<float> out(static_cast<size_t>(tensor.count()));
  for (int64_t i = 0; i < tensor.count(); ++i) out[static_cast<size_t>(i)] = tensor.at<float>(i);
  return out;
}

}  // namespace

const Term* TermReader::read(ValueId id) {
  if (id == kNoValue) return nullptr;
  const auto [it, first] = known_.try_emplace(id, nullptr);
  if (!first) return it->second;  // also while it is being read: a body has no cycles
  const Term* made = make_term(id);
  return known_[id] = made;
}

const Term* TermReader::keep(Term term) {
  terms_.push_back(std::make_unique<Term>(std::move(term)));
  return terms_.back().get();
}

const Term* TermReader::keep(std::optional<Linear> linear) {
  return linear ? keep(Term{Kind::linear, *std::move(linear)}) : nullptr;
}

Linear TermReader::zero(int64_t columns) const {
  Linear out;
  out.columns = columns;
  out.bias.assign(static_cast<size_t>(columns), 0);
  return out;
}

std::vector<float>& TermReader::block(Linear& linear, size_t source) const {
  auto& entries = linear.from[source];
  if (entries.empty()) entries.assign(static_cast<size_t>(linear.columns * widths_[source]), 0);
  return entries;
}

Linear TermReader::whole(Linear::Source source) const {
  Linear out = zero(widths_[source]);
  auto& entries = block(out, source);
  for (int64_t i = 0; i < out.columns; ++i) entries[static_cast<size_t>(i * out.columns + i)] = 1;
  return out;
}

const Term* TermReader::make_term(ValueId id) {
  if (id == step_.row) return keep(whole(Linear::row));
  if (id == step_.state) return state_ = keep(whole(Linear::state));
  if (id == step_.memory) return keep(Kind::memory, nullptr);
  const uint32_t producer = step_.body.values[id].producer;
  return producer == kNoValue ? nullptr : of_node(step_.body.nodes[producer], id);
}

const Term* TermReader::of_node(const Node& node, ValueId id) {
  if (is_op(node, "Identity")) return read(node.in[0]);
  if (is_op(node, "Sigmoid")) return unary(Kind::sigmoid, node);
  if (is_op(node, "Tanh")) return unary(Kind::tanh, node);
  if (is_op(node, "Relu")) return unary(Kind::relu, node);
  if (is_op(node, "MatMul")) return keep(product(node));
  if (is_op(node, "Gemm")) return keep(general_product(node));
  if (is_op(node, "Concat")) return keep(joined(node));
  if (is_op(node, "Split")) return part_of_split(node, id);
  if (is_op(node, "Slice")) return part_of_slice(node);
  if (is_op(node, "Add")) return sum(node, 1);
  if (is_op(node, "Sub")) return sum(node, -1);
  if (is_op(node, "Mul")) return scaled_or_gated(node);
  return nullptr;
}

const Term* TermReader::unary(Kind kind, const Node& node) {
  const Term* a = read(node.in[0]);
  return a ? keep(kind, a) : nullptr;
}

std::optional<Linear> TermReader::linear(ValueId id) {
  const Term* term = read(id);
  if (!term) return std::nullopt;
  if (term->is(Kind::linear)) return term->linear;
  if (!term->is(Kind::mul)) return std::nullopt;
  for (const auto& [gate, gated] : {std::pair(term->a, term->b), std::pair(term->b, term->a)}) {
    if (!gate->is(Kind::sigmoid) || !gate->a->is(Kind::linear) || !is_state(*gated)) continue;
    if (reset_ && reset_ != &gate->a->linear) return std::nullopt;
    reset_ = &gate->a->linear;
    return whole(Linear::reset);
  }
  return std::nullopt;
}

std::optional<Linear> TermReader::times(const Linear& x, const Tensor& matrix, bool turned) {
  if (matrix.rank() != 2 || matrix.dims()[turned ? 1 : 0] != x.columns) return std::nullopt;
  const auto entries = floats_of(matrix);
  const int64_t n = matrix.dims()[turned ? 0 : 1];
  work_ += x.columns * n;
  if (!entries || work_ > kMostWork) return std::nullopt;
  const auto factor_of = [&](int64_t i, int64_t j) {
    return (*entries)[static_cast<size_t>(turned ? j * x.columns + i : i * n + j)];
  };
  Linear out = zero(n);
  for (size_t s = 0; s < Linear::sources; ++s) {
    if (x.from[s].empty()) continue;
    auto& to = block(out, s);
    for (int64_t i = 0; i < x.columns; ++i)
      for (int64_t k = 0; k < widths_[s]; ++k) {
        const float factor = x.from[s][static_cast<size_t>(i * widths_[s] + k)];
        if (factor == 0) continue;
        if ((work_ += n) > kMostWork) return std::nullopt;
        for (int64_t j = 0; j < n; ++j) to[static_cast<size_t>(j * widths_[s] + k)] += factor * factor_of(i, j);
      }
  }
  for (int64_t i = 0; i < x.columns; ++i)
    for (int64_t j = 0; j < n && x.bias[static_cast<size_t>(i)] != 0; ++j)
      out.bias[static_cast<size_t>(j)] += x.bias[static_cast<size_t>(i)] * factor_of(i, j);
  return out;
}

std::optional<Linear> TermReader::product(const Node& node) {
  const Tensor* matrix = step_.constant(node.in[1]);
  const auto x = matrix ? linear(node.in[0]) : std::nullopt;
  return x ? times(*x, *matrix, false) : std::nullopt;
}

std::optional<Linear> TermReader::general_product(const Node& node) {
  const Tensor* matrix = step_.constant(node.in[1]);
  if (!matrix || node.integer("transA") != 0 || node.real("alpha") != 1 || node.real("beta") != 1) return std::nullopt;
  const auto x = linear(node.in[0]);
  auto out = x ? times(*x, *matrix, node.integer("transB") != 0) : std::nullopt;
  if (!out || !has_input(node, 2)) return out;
  const auto c = added(*out, node.in[2]);
  return c ? combined(*out, *c, 1) : std::nullopt;
}

std::optional<Linear> TermReader::joined(const Node& node) {
  if (!is_last(node.integer("axis"))) return std::nullopt;
  std::vector<Linear> parts;
  int64_t columns = 0;
  for (ValueId in : node.in) {
    auto part = linear(in);
    if (!part) return std::nullopt;
    columns += part->columns;
    parts.push_back(*std::move(part));
  }
  Linear out = zero(columns);
  out.bias.clear();
  for (const Linear& part : parts) {
    const size_t before = out.bias.size();
    out.bias.insert(out.bias.end(), part.bias.begin(), part.bias.end());
    for (size_t s = 0; s < Linear::sources; ++s) {
      if (part.from[s].empty()) continue;
      std::copy(part.from[s].begin(), part.from[s].end(),
                block(out, s).begin() + static_cast<ptrdiff_t>(before) * widths_[s]);
    }
  }
  return out;
}

std::optional<Linear> TermReader::columns(const Linear& x, int64_t first, int64_t count) const {
  if (first < 0 || count < 1 || first + count > x.columns) return std::nullopt;
  Linear out = zero(count);
  std::copy_n(x.bias.begin() + first, count, out.bias.begin());
  for (size_t s = 0; s < Linear::sources; ++s)
    if (!x.from[s].empty())
      std::copy_n(x.from[s].begin() + first * widths_[s], count * widths_[s], block(out, s).begin());
  return out;
}

const Term* TermReader::part(const Term& of, int64_t first, int64_t count) {
  if (of.is(Kind::linear)) return keep(columns(of.linear, first, count));
  const Term* inside = of.a && !of.b ? part(*of.a, first, count) : nullptr;
  return inside ? keep(of.kind, inside) : nullptr;
}

int64_t TermReader::width(const Term& of) {
  if (of.is(Kind::linear)) return of.linear.columns;
  return of.a && !of.b ? width(*of.a) : 0;
}

const Term* TermReader::part_of_split(const Node& node, ValueId id) {
  const Term* x = is_last(node.integer("axis")) ? read(node.in[0]) : nullptr;
  if (!x) return nullptr;
  const auto index = static_cast<size_t>(std::find(node.out.begin(), node.out.end(), id) - node.out.begin());
  const auto parts = static_cast<int64_t>(node.out.size());
  std::vector<int64_t> sizes;
  if (has_input(node, 1)) {
    const auto given = ints(node.in[1]);
    if (!given) return nullptr;
    sizes = *given;
  } else if (const Attribute* split = node.attribute("split")) {
    const auto* given = std::get_if<std::vector<int64_t>>(&split->value);
    if (given) sizes = *given;
  }
  if (sizes.empty() && width(*x) % parts == 0) sizes.assign(node.out.size(), width(*x) / parts);
  if (sizes.size() != node.out.size()) return nullptr;
  int64_t first = 0;
  for (size_t i = 0; i < index; ++i) first += sizes[i];
  return part(*x, first, sizes[index]);
}

const Term* TermReader::part_of_slice(const Node& node) {
  if (node.version < 10 || node.in.size() < 4) return nullptr;
  const auto starts = ints(node.in[1]), ends = ints(node.in[2]), axes = ints(node.in[3]);
  const auto steps = has_input(node, 4) ? ints(node.in[4]) : std::optional(std::vector<int64_t>{1});
  const auto single = [](const auto& list) { return list && list->size() == 1; };
  if (!single(starts) || !single(ends) || !single(axes) || !single(steps)) return nullptr;
  const Term* x = (*steps)[0] == 1 && is_last((*axes)[0]) ? read(node.in[0]) : nullptr;
  if (!x) return nullptr;
  const int64_t all = width(*x);
  const auto place = [&](int64_t at) { return std::clamp<int64_t>(at < 0 ? at + all : at, 0, all); };
  const int64_t first = place((*starts)[0]);
  return part(*x, first, place((*ends)[0]) - first);
}

std::optional<std::vector<int64_t>> TermReader::ints(ValueId id) const {
  const Tensor* tensor = step_.constant(id);
  if (!tensor || !is_integer(tensor->dtype())) return std::nullopt;
  std::vector<int64_t> out;
  for (int64_t i = 0; i < tensor->count(); ++i) out.push_back(tensor->int_at(i));
  return out;
}

std::optional<Linear> TermReader::added(const Linear& to, ValueId id) {
  const Tensor* tensor = step_.constant(id);
  if (!tensor) return linear(id);
  const auto entries = floats_of(*tensor);
  const bool fits = entries && (tensor->count() == 1 || tensor->count() == to.columns) && tensor->rank() <= 2 &&
                    (tensor->rank() < 2 || tensor->dims()[0] == 1);
  if (!fits) return std::nullopt;
  Linear out = zero(to.columns);
  for (size_t i = 0; i < out.bias.size(); ++i) out.bias[i] = (*entries)[entries->size() == 1 ? 0 : i];
  return out;
}

std::optional<Linear> TermReader::combined(const Linear& a, const Linear& b, float sign) const {
  if (a.columns != b.columns) return std::nullopt;
  Linear out = a;
  for (size_t i = 0; i < out.bias.size(); ++i) out.bias[i] += sign * b.bias[i];
  for (size_t s = 0; s < Linear::sources; ++s) {
    if (b.from[s].empty()) continue;
    auto& to = block(out, s);
    for (size_t i = 0; i < to.size(); ++i) to[i] += sign * b.from[s][i];
  }
  return out;
}

bool TermReader::is_one(ValueId id) const {
  const Tensor* tensor = step_.constant(id);
  const auto entries = tensor && tensor->rank() < 2 ? floats_of(*tensor) : std::nullopt;
  return entries && !entries->empty() && std::all_of(entries->begin(), entries->end(), [](float x) { return x == 1; });
}

const Term* TermReader::sum(const Node& node, float sign) {
  const ValueId left = node.in[0], right = node.in[1];
  if (sign < 0 && is_one(left)) {
    const Term* rest = read(right);
    return rest ? keep(Kind::one_minus, rest) : nullptr;
  }
  const bool swapped = sign > 0 && step_.constant(left);
  const ValueId first = swapped ? right : left, second = swapped ? left : right;
  const Term* a = read(first);
  if (!a) return nullptr;
  if (step_.constant(second)) {
    const auto bias = a->is(Kind::linear) ? added(a->linear, second) : std::nullopt;
    return bias ? keep(combined(a->linear, *bias, sign)) : nullptr;
  }
  const Term* b = read(second);
  if (!b) return nullptr;
  if (a->is(Kind::linear) && b->is(Kind::linear)) return keep(combined(a->linear, b->linear, sign));
  return keep(sign > 0 ? Kind::add : Kind::sub, a, b);
}

const Term* TermReader::scaled_or_gated(const Node& node) {
  const Term *a = read(node.in[0]), *b = read(node.in[1]);
  return a && b ? keep(Kind::mul, a, b) : nullptr;
}

}  // namespace anyshape
