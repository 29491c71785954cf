#include <algorithm>
#include <string>

#include "solve/rows_rule.h"

namespace anyshape::row_rules {
namespace {

std::string text_of(const Node& node, std::string_view attribute) {
  const Attribute* found = node.attribute(attribute);
  const auto* text = found ? std::get_if<std::string>(&found->value) : nullptr;
  return text ? *text : std::string();
}

struct Factor {
  size_t input;
  std::vector<size_t> parameters;  // that it may have for each row or column of it
};

bool belongs(const Factor& factor, size_t input) {
  return std::find(factor.parameters.begin(), factor.parameters.end(), input) != factor.parameters.end();
}

// All inputs that are no factors are parameters.
std::optional<RowLayout> product(const RowCall& call, size_t output, const Factor& factor_a, const Factor& factor_b) {
  const size_t a = factor_a.input, b = factor_b.input;
  const auto rank_a = call.rank(a), rank_b = call.rank(b), out_rank = call.out_rank(output);
  if (!rank_a || !rank_b || !out_rank || *rank_a < 2 || *rank_b < 1) return std::nullopt;
  const RowLayout *rows_a = call.layout(a), *rows_b = call.layout(b);
  if (!rows_a && !rows_b) return std::nullopt;
  if ((!rows_a && !call.same(a)) || (!rows_b && !call.same(b))) return std::nullopt;
  for (size_t i = 0; i < call.node.in.size(); ++i) {
    if (i == a || i == b || !call.has(i)) continue;
    const bool of_other = (!rows_a && belongs(factor_a, i)) || (!rows_b && belongs(factor_b, i));
    if (!call.same(i) || !(of_other || call.single(i))) return std::nullopt;
  }
  RowLayout out = rows_a ? *rows_a : *rows_b;
  if (*rank_b == 1) {
    if (rows_b || out.axis + 1 == *rank_a) return std::nullopt;
    return out;
  }
  const size_t right_a = rows_a ? *rank_a - rows_a->axis : 0, right_b = rows_b ? *rank_b - rows_b->axis : 0;
  if (right_a == 1 || right_b == 2) return std::nullopt;  // summed over
  const size_t right = rows_a ? right_a : right_b;
  if (rows_a && rows_b && (right_a != right_b || rows_a->outer != rows_b->outer || rows_a->inner != rows_b->inner))
    return std::nullopt;
  // The other factor is the same for all rows, which its axis at that place must not tell apart.
  const size_t other = rows_a ? b : a, other_rank = rows_a ? *rank_b : *rank_a;
  if (!(rows_a && rows_b) && right > 2 && other_rank >= right && (*call.in(other).dims)[other_rank - right] != Dim(1))
    return std::nullopt;
  out.axis = *out_rank - right;
  return out;
}

// "bij,bjk->bik" as its parts; nullopt: it is of another form.
struct Equation {
  std::vector<std::string> in;
  std::string out;
};

std::optional<Equation> parse_equation(std::string text) {
  std::erase(text, ' ');
  const size_t arrow = text.find("->");
  if (arrow == std::string::npos) return std::nullopt;
  Equation out;
  out.out = text.substr(arrow + 2);
  std::string left = text.substr(0, arrow);
  for (size_t comma; (comma = left.find(',')) != std::string::npos; left.erase(0, comma + 1))
    out.in.push_back(left.substr(0, comma));
  out.in.push_back(left);
  return out;
}

// For each axis its letter, or minus its place from the right among those that "..." stands for.
using Places = std::vector<int>;

std::optional<Places> places(std::string_view term, std::optional<size_t> rank) {
  constexpr std::string_view kDots = "...";
  const size_t dots = term.find(kDots);
  const size_t letters = term.size() - (dots == std::string_view::npos ? 0 : kDots.size());
  if (!rank || letters > *rank || (dots == std::string_view::npos && letters < *rank)) return std::nullopt;
  Places out(term.begin(), dots == std::string_view::npos ? term.end() : term.begin() + static_cast<ptrdiff_t>(dots));
  if (dots == std::string_view::npos) return out;
  for (size_t from_right = *rank - letters; from_right > 0; --from_right) out.push_back(-static_cast<int>(from_right));
  out.insert(out.end(), term.begin() + static_cast<ptrdiff_t>(dots + kDots.size()), term.end());
  return out;
}

}  // namespace

std::optional<RowLayout> matmul(const RowCall& call, size_t output) {
  return product(call, output, {0, {2}}, {1, {3}});
}

std::optional<RowLayout> qlinear_matmul(const RowCall& call, size_t output) {
  return product(call, output, {0, {1, 2}}, {3, {4, 5}});
}

std::optional<RowLayout> gemm(const RowCall& call, size_t) {
  const RowLayout* layout = call.layout(0);
  const size_t free_axis = call.node.integer("transA") ? 1 : 0;
  if (!layout || layout->axis != free_axis || !call.same_from(1)) return std::nullopt;
  if (call.has(2)) {
    const auto rank = call.rank(2);
    if (!rank || (*rank > 1 && (*call.in(2).dims)[*rank - 2] != Dim(1))) return std::nullopt;
  }
  RowLayout out = *layout;
  out.axis = 0;
  return out;
}

std::optional<RowLayout> einsum(const RowCall& call, size_t output) {
  const auto equation = parse_equation(text_of(call.node, "equation"));
  if (!equation || equation->in.size() != call.node.in.size()) return std::nullopt;
  const auto to = places(equation->out, call.out_rank(output));
  std::vector<Places> from;
  std::optional<RowLayout> out;
  int place = 0;
  for (size_t i = 0; i < call.node.in.size(); ++i) {
    const auto here = places(equation->in[i], call.rank(i));
    if (!here) return std::nullopt;
    from.push_back(*here);
    const RowLayout* layout = call.layout(i);
    if (!layout) continue;
    if (out && ((*here)[layout->axis] != place || layout->outer != out->outer || layout->inner != out->inner))
      return std::nullopt;
    place = (*here)[layout->axis];
    out = *layout;
  }
  if (!out || !to || std::count(to->begin(), to->end(), place) != 1) return std::nullopt;
  for (size_t i = 0; i < from.size(); ++i) {
    const auto at = std::find(from[i].begin(), from[i].end(), place);
    const auto times = std::count(from[i].begin(), from[i].end(), place);
    // What "..." stands for is broadcast, a letter is not.
    const bool one = place < 0 && times == 1 && (*call.in(i).dims)[static_cast<size_t>(at - from[i].begin())] == Dim(1);
    if (times > 1 || (!call.layout(i) && ((times > 0 && !one) || !call.same(i)))) return std::nullopt;
  }
  out->axis = static_cast<size_t>(std::find(to->begin(), to->end(), place) - to->begin());
  return out;
}

std::optional<RowLayout> recurrent(const RowCall& call, size_t output) {
  constexpr size_t kX = 0, kLengths = 4, kStateH = 5, kStateC = 6;
  const bool batch_first = call.node.integer("layout") == 1;
  const RowLayout* x = call.layout(kX);
  if (!x || x->axis != (batch_first ? 0 : 1)) return std::nullopt;
  RowLayout lengths = *x, state = *x, all = *x;
  lengths.axis = 0;
  state.axis = batch_first ? 0 : 1;
  all.axis = batch_first ? 0 : 2;
  for (size_t i = 1; i < call.node.in.size(); ++i) {
    const RowLayout* wanted = i == kLengths ? &lengths : i == kStateH || i == kStateC ? &state : nullptr;
    if (!call.has(i)) continue;
    if (wanted ? !call.layout(i) || *call.layout(i) != *wanted : !call.same(i)) return std::nullopt;
  }
  return output == 0 ? all : state;
}

std::optional<RowLayout> resize(const RowCall& call, size_t) {
  constexpr size_t kRoi = 1, kScales = 2, kSizes = 3;
  const RowLayout* layout = call.layout(0);
  if (!layout || layout->axis != 0 || (call.node.version >= 11 && !call.same(kRoi))) return std::nullopt;
  const std::string policy = text_of(call.node, "keep_aspect_ratio_policy");
  if (text_of(call.node, "coordinate_transformation_mode") == "tf_crop_and_resize" ||
      !(policy.empty() || policy == "stretch"))
    return std::nullopt;
  // Sizes may have the number of rows among them, which the check of the output's sizes looks at.
  const bool by_scales = call.node.version < 11 ? !call.same(1) : !call.same(kScales);
  if (by_scales || (call.has(kSizes) && call.layout(kSizes))) return std::nullopt;
  return *layout;
}

std::optional<RowLayout> reverse_sequence(const RowCall& call, size_t) {
  const RowLayout* layout = call.layout(0);
  RowLayout lengths = layout ? *layout : RowLayout();
  lengths.axis = 0;
  if (!layout || static_cast<int64_t>(layout->axis) == call.node.integer("time_axis")) return std::nullopt;
  const bool is_batch = static_cast<int64_t>(layout->axis) == call.node.integer("batch_axis");
  if (is_batch ? !(call.layout(1) && *call.layout(1) == lengths) : !call.same(1)) return std::nullopt;
  return *layout;
}

std::optional<RowLayout> gather(const RowCall& call, size_t) {
  const auto rank = call.rank(0), index_rank = call.rank(1);
  const auto axis = rank ? call.axis("axis", *rank) : std::nullopt;
  if (!axis || !index_rank) return std::nullopt;
  if (const RowLayout* indices = call.layout(1)) {
    if (!call.same(0)) return std::nullopt;
    RowLayout out = *indices;
    out.axis += *axis;
    return out;
  }
  const RowLayout* data = call.layout(0);
  if (!data || !call.same(1) || data->axis == *axis) return std::nullopt;
  RowLayout out = *data;
  if (data->axis > *axis) out.axis = data->axis + *index_rank - 1;
  return out;
}

// All inputs have the same axes, and one of them is mixed.
std::optional<RowLayout> gather_elements(const RowCall& call, size_t) {
  const RowLayout* data = call.layout(0);
  const auto rank = call.rank(0);
  const auto axis = rank ? call.axis("axis", *rank) : std::nullopt;
  if (!data || !axis || *axis == data->axis) return std::nullopt;
  for (size_t i = 1; i < call.node.in.size(); ++i)
    if (!call.layout(i) || *call.layout(i) != *data) return std::nullopt;
  return *data;
}

std::optional<RowLayout> gather_nd(const RowCall& call, size_t) {
  const auto batch = static_cast<size_t>(std::max<int64_t>(call.node.integer("batch_dims"), 0));
  const RowLayout* indices = call.layout(1);
  const auto rank = call.rank(1);
  if (!indices || !rank || indices->axis + 1 >= *rank) return std::nullopt;
  if (const RowLayout* data = call.layout(0)) {
    if (*data != *indices || data->axis >= batch) return std::nullopt;
    return *data;
  }
  if (!call.same(0) || indices->axis < batch) return std::nullopt;
  return *indices;
}

std::optional<RowLayout> one_hot(const RowCall& call, size_t output) {
  const RowLayout* layout = call.layout(0);
  const auto rank = call.out_rank(output);
  const auto axis = rank ? call.axis("axis", *rank) : std::nullopt;
  if (!layout || !axis || !call.same_from(1)) return std::nullopt;
  RowLayout out = *layout;
  out.axis += *axis <= layout->axis ? 1 : 0;
  return out;
}

}  // namespace anyshape::row_rules
