#include "passes/recurrent_cell.h"

#include <algorithm>
#include <array>
#include <memory>
#include <unordered_map>
#include <utility>

namespace anyshape {
namespace {

constexpr int64_t kMostWork = int64_t{1} << 30;

// Columns that are linear in the input of the step, its state, and the state behind the reset gate, plus a constant.
// Column j is sum_k from[s][j][k] * source_s[k] + bias[j].
struct Linear {
  enum Source : uint8_t { row, state, reset, sources };
  int64_t columns = 0;
  std::array<std::vector<float>, sources> from;  // empty: zero
  std::vector<float> bias;

  bool reads(Source s) const {
    return std::any_of(from[s].begin(), from[s].end(), [](float x) { return x != 0; });
  }
};

// What a value of the body is: linear, or an operator on such.
struct Term {
  enum class Kind : uint8_t { linear, memory, sigmoid, tanh, relu, mul, add, sub, one_minus };
  Kind kind = Kind::linear;
  Linear linear;
  const Term *a = nullptr, *b = nullptr;

  bool is(Kind of) const { return kind == of; }
};
using Kind = Term::Kind;

std::optional<std::vector<float>> floats_of(const Tensor& tensor) {
  if (tensor.dtype() != DType::f32) return std::nullopt;
  std::vector<float> out(static_cast<size_t>(tensor.count()));
  for (int64_t i = 0; i < tensor.count(); ++i) out[static_cast<size_t>(i)] = tensor.at<float>(i);
  return out;
}

class Reader {
 public:
  explicit Reader(const Step& step) : step_(step) { widths_ = {step.inputs, step.units, step.units}; }

  const Term* read(ValueId id) {
    if (id == kNoValue) return nullptr;
    const auto [it, first] = known_.try_emplace(id, nullptr);
    if (!first) return it->second;  // also while it is being read: a body has no cycles
    const Term* made = make_term(id);
    return known_[id] = made;
  }
  // The gate of Linear::reset, once something was linear behind it.
  const Linear* reset() const { return reset_; }
  // The input of the step as a whole stands for the state behind the gate.
  bool is_state(const Term& term) const { return &term == state_; }

 private:
  const Term* keep(Term term) {
    terms_.push_back(std::make_unique<Term>(std::move(term)));
    return terms_.back().get();
  }
  const Term* keep(std::optional<Linear> linear) {
    return linear ? keep(Term{Kind::linear, *std::move(linear)}) : nullptr;
  }
  const Term* keep(Kind kind, const Term* a, const Term* b = nullptr) { return keep(Term{kind, {}, a, b}); }

  Linear zero(int64_t columns) const {
    Linear out;
    out.columns = columns;
    out.bias.assign(static_cast<size_t>(columns), 0);
    return out;
  }
  std::vector<float>& block(Linear& linear, size_t source) const {
    auto& entries = linear.from[source];
    if (entries.empty()) entries.assign(static_cast<size_t>(linear.columns * widths_[source]), 0);
    return entries;
  }
  Linear whole(Linear::Source source) const {
    Linear out = zero(widths_[source]);
    auto& entries = block(out, source);
    for (int64_t i = 0; i < out.columns; ++i) entries[static_cast<size_t>(i * out.columns + i)] = 1;
    return out;
  }

  const Term* make_term(ValueId id) {
    if (id == step_.row) return keep(whole(Linear::row));
    if (id == step_.state) return state_ = keep(whole(Linear::state));
    if (id == step_.memory) return keep(Kind::memory, nullptr);
    const uint32_t producer = step_.body.values[id].producer;
    return producer == kNoValue ? nullptr : of_node(step_.body.nodes[producer], id);
  }

  const Term* of_node(const Node& node, ValueId id) {
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

  const Term* unary(Kind kind, const Node& node) {
    const Term* a = read(node.in[0]);
    return a ? keep(kind, a) : nullptr;
  }

  // A term as a linear one: the state behind a gate is what it is linear in, too, for one gate.
  std::optional<Linear> linear(ValueId id) {
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

  // linear * matrix[columns, n]; `turned`: the matrix is [n, columns].
  std::optional<Linear> times(const Linear& x, const Tensor& matrix, bool turned) {
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

  std::optional<Linear> product(const Node& node) {
    const Tensor* matrix = step_.constant(node.in[1]);
    const auto x = matrix ? linear(node.in[0]) : std::nullopt;
    return x ? times(*x, *matrix, false) : std::nullopt;
  }

  std::optional<Linear> general_product(const Node& node) {
    const Tensor* matrix = step_.constant(node.in[1]);
    if (!matrix || node.integer("transA") != 0 || node.real("alpha") != 1 || node.real("beta") != 1)
      return std::nullopt;
    const auto x = linear(node.in[0]);
    auto out = x ? times(*x, *matrix, node.integer("transB") != 0) : std::nullopt;
    if (!out || !has_input(node, 2)) return out;
    const auto c = added(*out, node.in[2]);
    return c ? combined(*out, *c, 1) : std::nullopt;
  }

  static bool is_last(int64_t axis) { return axis == 1 || axis == -1; }

  std::optional<Linear> joined(const Node& node) {
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

  std::optional<Linear> columns(const Linear& x, int64_t first, int64_t count) const {
    if (first < 0 || count < 1 || first + count > x.columns) return std::nullopt;
    Linear out = zero(count);
    std::copy_n(x.bias.begin() + first, count, out.bias.begin());
    for (size_t s = 0; s < Linear::sources; ++s)
      if (!x.from[s].empty())
        std::copy_n(x.from[s].begin() + first * widths_[s], count * widths_[s], block(out, s).begin());
    return out;
  }

  // Columns of a linear term, or of a function of one.
  const Term* part(const Term& of, int64_t first, int64_t count) {
    if (of.is(Kind::linear)) return keep(columns(of.linear, first, count));
    const Term* inside = of.a && !of.b ? part(*of.a, first, count) : nullptr;
    return inside ? keep(of.kind, inside) : nullptr;
  }
  static int64_t width(const Term& of) {
    if (of.is(Kind::linear)) return of.linear.columns;
    return of.a && !of.b ? width(*of.a) : 0;
  }

  const Term* part_of_split(const Node& node, ValueId id) {
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

  const Term* part_of_slice(const Node& node) {
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

  std::optional<std::vector<int64_t>> ints(ValueId id) const {
    const Tensor* tensor = step_.constant(id);
    if (!tensor || !is_integer(tensor->dtype())) return std::nullopt;
    std::vector<int64_t> out;
    for (int64_t i = 0; i < tensor->count(); ++i) out.push_back(tensor->int_at(i));
    return out;
  }

  // A constant that is added to each row of a linear term, as one.
  std::optional<Linear> added(const Linear& to, ValueId id) {
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

  std::optional<Linear> combined(const Linear& a, const Linear& b, float sign) const {
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

  bool is_one(ValueId id) const {
    const Tensor* tensor = step_.constant(id);
    const auto entries = tensor && tensor->rank() < 2 ? floats_of(*tensor) : std::nullopt;
    return entries && !entries->empty() &&
           std::all_of(entries->begin(), entries->end(), [](float x) { return x == 1; });
  }

  const Term* sum(const Node& node, float sign) {
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

  const Term* scaled_or_gated(const Node& node) {
    const Term *a = read(node.in[0]), *b = read(node.in[1]);
    return a && b ? keep(Kind::mul, a, b) : nullptr;
  }

  const Step& step_;
  std::array<int64_t, Linear::sources> widths_{};
  std::unordered_map<ValueId, const Term*> known_;
  std::vector<std::unique_ptr<Term>> terms_;
  const Term* state_ = nullptr;
  const Linear* reset_ = nullptr;
  int64_t work_ = 0;
};

// Writes gates one below the other, as the operators take them.
class Weights {
 public:
  Weights(const Step& step, Cell& cell) : step_(step), cell_(cell) {}

  // False where the gate is not one of this layer: of another width, or behind a reset.
  bool add(const Linear& gate, float sign = 1) { return add(gate, gate, Linear::state, sign); }
  // The two sides apart: what the input gives, and what the state gives, be it behind the reset gate.
  bool add(const Linear& of_row, const Linear& of_state, Linear::Source state, float sign = 1) {
    const bool one = &of_row == &of_state;
    if (of_row.columns != step_.units || of_state.columns != step_.units) return false;
    if (of_row.reads(state == Linear::state ? Linear::reset : Linear::state)) return false;
    if (!one && (of_row.reads(Linear::state) || of_row.reads(Linear::reset) || of_state.reads(Linear::row) ||
                 of_state.reads(Linear::reset)))
      return false;
    append(cell_.w, of_row.from[Linear::row], step_.units * step_.inputs, sign);
    append(cell_.r, of_state.from[state], step_.units * step_.units, sign);
    append(row_bias_, of_row.bias, step_.units, sign);
    append(state_bias_, one ? std::vector<float>() : of_state.bias, step_.units, sign);
    return true;
  }
  void finish() {
    cell_.b = row_bias_;
    cell_.b.insert(cell_.b.end(), state_bias_.begin(), state_bias_.end());
  }

 private:
  static void append(std::vector<float>& to, const std::vector<float>& entries, int64_t count, float sign) {
    if (entries.empty()) to.insert(to.end(), static_cast<size_t>(count), 0);
    for (float x : entries) to.push_back(sign * x);
  }

  const Step& step_;
  Cell& cell_;
  std::vector<float> row_bias_, state_bias_;
};

bool is_gate(const Term& term) { return term.is(Kind::sigmoid) && term.a->is(Kind::linear); }

// The other factor of a product with `term`, or null.
const Term* other(const Term& product, const Term* term) {
  if (!product.is(Kind::mul)) return nullptr;
  return product.a == term ? product.b : product.b == term ? product.a : nullptr;
}

Cell cell_of(const Step& step, std::string_view type) {
  Cell out;
  out.type = type;
  out.units = step.units;
  out.inputs = step.inputs;
  return out;
}

// c' = f * c + i * tanh(g), h' = o * tanh(c').
std::optional<Cell> lstm(const Step& step, Reader& reader) {
  const Term *h = reader.read(step.next_state), *c = reader.read(step.next_memory);
  if (!h || !c || !h->is(Kind::mul) || !c->is(Kind::add)) return std::nullopt;
  const Term* memory = reader.read(step.memory);
  const bool swapped = other(*c->a, memory) == nullptr;
  const Term *kept = swapped ? c->b : c->a, *made = swapped ? c->a : c->b;
  const Term* forget = other(*kept, memory);
  if (!forget || !is_gate(*forget) || !made->is(Kind::mul)) return std::nullopt;
  const bool first = made->a->is(Kind::tanh);
  const Term *candidate = first ? made->a : made->b, *input = first ? made->b : made->a;
  if (!candidate->is(Kind::tanh) || !candidate->a->is(Kind::linear) || !is_gate(*input)) return std::nullopt;
  const bool squashed_first = h->a->is(Kind::tanh);
  const Term *squashed = squashed_first ? h->a : h->b, *output = squashed_first ? h->b : h->a;
  if (!squashed->is(Kind::tanh) || squashed->a != c || !is_gate(*output)) return std::nullopt;
  Cell cell = cell_of(step, "LSTM");
  Weights weights(step, cell);
  for (const Term* gate : {input, output, forget, candidate})
    if (!weights.add(gate->a->linear)) return std::nullopt;
  weights.finish();
  return cell;
}

struct Update {
  const Term *gate = nullptr, *candidate = nullptr;
  float sign = 1;  // -1: the gate that keeps the state is one minus this one
};

// h' = z * h + (1 - z) * n, however it is written.
std::optional<Update> update_of(const Term& next, const Term* state) {
  if (!next.is(Kind::add)) return std::nullopt;
  for (const auto& [one, two] : {std::pair(next.a, next.b), std::pair(next.b, next.a)}) {
    // n + z * (h - n)
    const Term* change = two->is(Kind::mul) ? (two->a->is(Kind::sub) ? two->a : two->b) : nullptr;
    if (change && change->is(Kind::sub) && change->a == state && change->b == one && other(*two, change))
      return Update{other(*two, change), one, 1};
    const Term* keeps = other(*one, state);
    if (!keeps || !two->is(Kind::mul)) continue;
    const bool inverted = keeps->is(Kind::one_minus);
    const Term* gate = inverted ? keeps->a : keeps;
    for (const auto& [lets, candidate] : {std::pair(two->a, two->b), std::pair(two->b, two->a)}) {
      const bool fits = inverted ? lets == gate : lets->is(Kind::one_minus) && lets->a == gate;
      if (fits) return Update{gate, candidate, inverted ? -1.0f : 1.0f};
    }
  }
  return std::nullopt;
}

// n = tanh(x + r * h), the product with the weights of the state before or behind the reset gate.
std::optional<Cell> gru(const Step& step, Reader& reader) {
  const Term* h = reader.read(step.next_state);
  const Term* state = reader.read(step.state);
  const auto update = h && state ? update_of(*h, state) : std::nullopt;
  if (!update || !is_gate(*update->gate) || !update->candidate->is(Kind::tanh)) return std::nullopt;
  const Term& inside = *update->candidate->a;
  Cell cell = cell_of(step, "GRU");
  Weights weights(step, cell);
  if (!weights.add(update->gate->a->linear, update->sign)) return std::nullopt;
  if (inside.is(Kind::linear)) {
    if (!reader.reset() || !weights.add(*reader.reset())) return std::nullopt;
    if (!weights.add(inside.linear, inside.linear, Linear::reset)) return std::nullopt;
    weights.finish();
    return cell;
  }
  if (!inside.is(Kind::add)) return std::nullopt;
  const Term *row = inside.a->is(Kind::linear) ? inside.a : inside.b, *gated = row == inside.a ? inside.b : inside.a;
  if (!row->is(Kind::linear) || !gated->is(Kind::mul)) return std::nullopt;
  const Term *reset = is_gate(*gated->a) ? gated->a : gated->b, *of_state = reset == gated->a ? gated->b : gated->a;
  if (!is_gate(*reset) || !of_state->is(Kind::linear) || !weights.add(reset->a->linear)) return std::nullopt;
  if (!weights.add(row->linear, of_state->linear, Linear::state)) return std::nullopt;
  cell.linear_before_reset = true;
  weights.finish();
  return cell;
}

std::optional<Cell> simple(const Step& step, Reader& reader) {
  const Term* h = reader.read(step.next_state);
  if (!h || h->a == nullptr || !h->a->is(Kind::linear)) return std::nullopt;
  const char* activation = h->is(Kind::tanh)      ? "Tanh"
                           : h->is(Kind::sigmoid) ? "Sigmoid"
                           : h->is(Kind::relu)    ? "Relu"
                                                  : nullptr;
  if (!activation || !h->a->linear.reads(Linear::state)) return std::nullopt;
  Cell cell = cell_of(step, "RNN");
  cell.activations = {activation};
  Weights weights(step, cell);
  if (!weights.add(h->a->linear)) return std::nullopt;
  weights.finish();
  return cell;
}

}  // namespace

std::optional<Cell> recurrent_cell(const Step& step) {
  Reader reader(step);
  if (step.memory != kNoValue) return lstm(step, reader);
  if (auto cell = gru(step, reader)) return cell;
  return simple(step, reader);
}

}  // namespace anyshape
