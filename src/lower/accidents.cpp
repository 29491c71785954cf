#include "lower/accidents.h"

#include <algorithm>

namespace anyshape::lower {
namespace {

constexpr size_t kMost = 2000;

// The sizes that are tried: of one symbol many, of two a square, of more none; always large ones, too, since a bound
// may lie far out.
std::vector<int64_t> tried_sizes(size_t symbols) {
  std::vector<int64_t> out;
  const int64_t small = symbols == 1 ? 512 : symbols == 2 ? 40 : 0;
  for (int64_t size = 2; size < small; ++size) out.push_back(size);
  for (int64_t power = int64_t{1} << 9; symbols <= 2 && power <= int64_t{1} << 24; power *= 2)
    for (const int64_t off : {-1, 0, 1}) out.push_back(power + off);
  return out;
}

const Dim* number(const Arguments& arguments, size_t index) {
  return index < arguments.size() ? arguments[index].get<Dim>() : nullptr;
}

bool agree(const Condition& a, const Condition& b, const std::vector<Dim>& symbols) {
  const std::vector<int64_t> sizes = tried_sizes(symbols.size());
  const std::vector<int64_t> once{2};
  for (const int64_t first : sizes) {
    for (const int64_t second : symbols.size() == 2 ? sizes : once) {
      const Binding binding = [&](Dim s) { return std::optional(s == symbols[0] ? first : second); };
      const Tri left = evaluate(a, binding);
      if (left == Tri::unknown || left != evaluate(b, binding)) return false;
    }
  }
  return !sizes.empty();
}

}  // namespace

void Accidents::note(const Condition& condition) {
  if (condition.is_always() || condition.is_never() || condition.is_opaque() || all_.size() >= kMost) return;
  if (std::find(all_.begin(), all_.end(), condition) == all_.end()) all_.push_back(condition);
}

void Accidents::note_sizes(const Dims& dims) {
  for (Dim d : dims)
    if (!d.is_constant() && !d.is_unknown()) note(Condition::ge(d, 2));
}

// slice(self, dim, start, end, step)
void Accidents::note_slice(const Arguments& arguments) {
  const Dim* axis = number(arguments, 1);
  if (arguments.empty() || !arguments[0].is_tensor()) return;
  const Ref x = l_.ref(arguments[0]);
  const Dims dims = l_->dims(x);
  const int64_t given = axis ? axis->constant().value_or(0) : 0;
  const int64_t index = given < 0 ? given + static_cast<int64_t>(dims.size()) : given;
  if (index < 0 || index >= static_cast<int64_t>(dims.size())) return;
  const Dim size = dims[static_cast<size_t>(index)];
  for (const size_t place : {2, 3}) {
    const Dim* bound = number(arguments, place);
    if (!bound || size.is_unknown() || bound->is_unknown()) continue;
    const auto constant = bound->constant();
    const Dim from_front = constant && *constant < 0 ? size + *bound : *bound;
    for (const Dim other : {size, Dim(0)}) {
      note(Condition::ge(from_front, other));
      note(Condition::le(from_front, other));
      note(Condition::eq(from_front, other));
      note(Condition::lt(from_front, other));
      note(Condition::gt(from_front, other));
    }
  }
}

void Accidents::note_call(std::string_view name, const Arguments& arguments) {
  if (name == "slice") note_slice(arguments);
  if ((name != "pad" && name != "constant_pad_nd") || arguments.size() < 2) return;
  const auto* amounts = arguments[1].get<Arguments>();
  for (size_t i = 0; amounts && i < amounts->size(); ++i) {
    const Dim* amount = number(*amounts, i);
    if (!amount || amount->is_constant() || amount->is_unknown()) continue;
    note(Condition::eq(*amount, 0));
    note(Condition::le(*amount, 0));
    note(Condition::gt(*amount, 0));
  }
}

bool Accidents::explain(const Condition& condition) const {
  const auto symbols = condition.symbols();
  if (agree(condition, Condition::always(), symbols)) return true;
  return std::any_of(all_.begin(), all_.end(), [&](const Condition& known) {
    const auto used = known.symbols();
    return used.size() == symbols.size() &&
           std::all_of(used.begin(), used.end(), [&](Dim s) { return condition.mentions(s); }) &&
           agree(condition, known, symbols);
  });
}

}  // namespace anyshape::lower
