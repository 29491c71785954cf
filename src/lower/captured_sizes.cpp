#include "lower/captured_sizes.h"

#include <algorithm>
#include <cmath>

#include "base/among.h"
#include "lower/lowering.h"

namespace anyshape::lower {
namespace {

// Below this a number is far more often a factor than a size.
constexpr int64_t kTelling = 5;
// So many entries of an axis, taken one by one, are a loop over it.
constexpr int64_t kFewestPicks = 3;
// Larger tensors are tables, not lists of sizes.
constexpr size_t kMostFrozen = 64;

// Arguments that Python code computes from sizes and that leave no trace in the shapes of the results: factors, which
// are also roots and logarithms of sizes, and values.
constexpr std::string_view kFactors[] = {"other", "exponent", "alpha", "scale", "tensor1"};
constexpr std::string_view kValues[] = {"value", "fill_value", "min", "max"};
constexpr std::string_view kPlaces[] = {"start", "end", "output_size", "repeats", "index", "length", "k"};

bool near(double a, double b) { return std::abs(a - b) <= 1e-9 * std::abs(b); }

// How a number comes from a size.
enum class Origin { none, size, one_off, inverse, root, logarithm };

Origin origin_of(double value, double size, bool factor) {
  if (near(value, size)) return Origin::size;
  if (near(value, size - 1)) return Origin::one_off;
  if (!factor) return Origin::none;
  if (near(value, 1 / size)) return Origin::inverse;
  if (near(value, std::sqrt(size)) || near(value, 1 / std::sqrt(size))) return Origin::root;
  if (near(value, std::log(size))) return Origin::logarithm;
  return near(value, 1 / (size - 1)) ? Origin::one_off : Origin::none;
}

std::string_view words(Origin origin) {
  static constexpr std::string_view kWords[] = {
      "", "is", "is one off", "is one over", "comes from the root of", "is the logarithm of"};
  return kWords[static_cast<size_t>(origin)];
}

// Whether the places an operator is given are places on that axis: then the last one, too, tells of a loop over it that
// was unrolled.
bool is_along(Lowering& l, const Args& args, Dim symbol) {
  const auto& all = args.schema().parameters;
  const auto named = [&](std::string_view name) {
    return std::any_of(all.begin(), all.end(), [&](const Parameter& p) { return p.name == name; });
  };
  if (!named("self") || !named("dim") || !args.arg("self").is_tensor()) return false;
  const auto* given = args.arg("dim").get<Dim>();
  const Dims sizes = l->dims(l.ref(args.arg("self")));
  const int64_t dim = given ? given->constant().value_or(0) : 0, rank = static_cast<int64_t>(sizes.size());
  const int64_t place = dim < 0 ? dim + rank : dim;
  return place >= 0 && place < rank && sizes[static_cast<size_t>(place)] == symbol;
}

bool is_arithmetic(const Parameter& parameter) {
  return among(parameter.name, kFactors) || among(parameter.name, kValues);
}

// A number known now; a float only where it takes part in arithmetic.
std::optional<double> known_number_in(const Arg& arg, const Parameter& parameter) {
  if (const auto* whole = arg.get<Dim>(); whole && whole->is_constant()) return static_cast<double>(*whole->constant());
  const auto* real = arg.get<double>();
  return real && is_arithmetic(parameter) ? std::optional(*real) : std::nullopt;
}

bool contains(const std::vector<int64_t>& whole, const std::vector<int64_t>& part) {
  return std::search(whole.begin(), whole.end(), part.begin(), part.end()) != whole.end();
}

}  // namespace

void CapturedSizes::watch(std::vector<std::pair<Dim, int64_t>> sizes) {
  watched_.clear();
  for (const auto& [symbol, size] : sizes) watched_.push_back({symbol, size});
}

void CapturedSizes::suspect(Lowering& lowering, const Args& args, const Parameter& parameter, const Arg& arg) {
  const auto value = known_number_in(arg, parameter);
  if (!value) return;
  // A root is a float even where it is a whole number: sqrt(64) is 8.0, not 8.
  const bool factor = !arg.get<Dim>() && among(parameter.name, kFactors);
  for (const Watched& one : watched_) {
    if (one.size < kTelling) continue;
    const Origin origin = origin_of(*value, static_cast<double>(one.size), factor);
    if (origin == Origin::none) continue;
    const bool last = *value == static_cast<double>(one.size - 1);
    if (!is_arithmetic(parameter) && origin != Origin::size && !(last && is_along(lowering, args, one.symbol)))
      continue;
    suspects_.push_back(fmt::format(
        "aten::{} has {} as its argument {:?}, which {} {}, the size of {:?} when the program was captured: the "
        "result would be right for that size only",
        args.schema().name, *value, parameter.name, words(origin), one.size, print(one.symbol)));
  }
}

void CapturedSizes::pick(Lowering& lowering, const Args& args, int64_t entry) {
  for (Watched& one : watched_) {
    if (entry < 0 || entry >= one.size || one.size < kFewestPicks || !is_along(lowering, args, one.symbol)) continue;
    if (!one.picked.insert(entry).second || static_cast<int64_t>(one.picked.size()) < one.size) continue;
    unrolled_.push_back(
        fmt::format("the entries 0 to {} of {:?} are taken one by one, as many as there were when the program was "
                    "captured: a loop over the axis was unrolled, further entries are not looked at",
                    one.size - 1, print(one.symbol)));
  }
}

void CapturedSizes::look(Lowering& lowering, const Args& args) {
  if (watched_.empty()) return;
  for (const Parameter& parameter : args.schema().parameters) {
    if (!is_arithmetic(parameter) && !among(parameter.name, kPlaces)) continue;
    const Arg& arg = args.arg(parameter.name);
    if (const auto* entry = arg.get<Dim>(); entry && entry->is_constant() && parameter.name == "index")
      pick(lowering, args, *entry->constant());
    if (const auto* items = arg.get<Arguments>())
      for (const Arg& item : *items) suspect(lowering, args, parameter, item);
    else
      suspect(lowering, args, parameter, arg);
  }
}

void CapturedSizes::see(const Fact& fact) {
  if (!fact.is_tensor() || !fact.dims) return;
  for (Dim size : *fact.dims)
    if (!size.is_constant()) sizes_.insert(size);
  if (!is_integer(fact.dtype) || fact.rank() == 0) return;
  const auto numbers = fact.numbers();
  if (numbers && !numbers->empty() && numbers->size() <= kMostFrozen) constants_.insert(*numbers);
}

void CapturedSizes::see(Lowering& lowering, const Args& args) {
  if (watched_.empty()) return;
  const auto look_at = [&](const Arg& arg) {
    if (const auto* value = arg.get<Ref>(); value && *value) see(lowering->fact(*value));
  };
  for (const Parameter& parameter : args.schema().parameters) {
    const Arg& arg = args.arg(parameter.name);
    look_at(arg);
    if (const auto* items = arg.get<Arguments>()) std::for_each(items->begin(), items->end(), look_at);
  }
}

std::vector<std::string> CapturedSizes::frozen() const {
  std::set<int64_t> had, watched;
  for (Dim size : sizes_)
    if (const auto number = at_example(size)) had.insert(*number);
  for (const Watched& one : watched_) watched.insert(one.size);
  std::vector<std::vector<int64_t>> found;
  for (const auto& numbers : constants_) {
    const auto& of = numbers.size() == 1 ? watched : had;  // a single number is more often something else
    const bool all = std::all_of(numbers.begin(), numbers.end(), [&](int64_t n) { return of.contains(n); });
    if (all && *std::max_element(numbers.begin(), numbers.end()) >= kTelling) found.push_back(numbers);
  }
  std::vector<std::string> out;
  for (const auto& numbers : found) {
    const auto holds_it = [&](const auto& other) { return other.size() > numbers.size() && contains(other, numbers); };
    if (std::any_of(found.begin(), found.end(), holds_it)) continue;  // a part of another
    out.push_back(fmt::format(
        "a tensor of the program holds the numbers [{}], sizes that values had when the program was captured: "
        "what is computed from it would be right at the sizes of the example only",
        fmt::join(numbers, ", ")));
  }
  return out;
}

std::optional<int64_t> CapturedSizes::at_example(Dim size) const {
  return evaluate(size, [&](Dim symbol) -> std::optional<int64_t> {
    const auto it =
        std::find_if(watched_.begin(), watched_.end(), [&](const auto& one) { return one.symbol == symbol; });
    return it == watched_.end() ? std::nullopt : std::optional(it->size);
  });
}

bool CapturedSizes::is_baked(Dim given, Dim own) const {
  const auto number = given.constant();
  if (!number || *number < 2 || own.is_constant()) return false;
  const auto had = at_example(own);
  return had && *had > 1 && (*had % *number == 0 || *number % *had == 0);
}

}  // namespace anyshape::lower
