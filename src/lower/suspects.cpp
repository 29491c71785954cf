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

}  // namespace

void Lowering::watch(std::vector<std::pair<Dim, int64_t>> sizes) {
  watched_ = std::move(sizes);
  picked_.assign(watched_.size(), {});
}

void Lowering::look_for_sizes(const Args& args) {
  // Whether the places are places on that axis: then the last one, too, tells of a loop over it that was unrolled.
  const auto on_axis = [&](Dim symbol) {
    const auto& all = args.schema().parameters;
    const auto named = [&](std::string_view name) {
      return std::any_of(all.begin(), all.end(), [&](const Parameter& p) { return p.name == name; });
    };
    if (!named("self") || !named("dim") || !args.arg("self").is_tensor()) return false;
    const auto* given = args.arg("dim").get<Dim>();
    const Dims sizes = dims(ref(args.arg("self")));
    const int64_t dim = given ? given->constant().value_or(0) : 0, rank = static_cast<int64_t>(sizes.size());
    const int64_t place = dim < 0 ? dim + rank : dim;
    return place >= 0 && place < rank && sizes[static_cast<size_t>(place)] == symbol;
  };
  const auto suspect = [&](const Arg& arg, const Parameter& parameter, bool arithmetic) {
    double value = 0;
    const auto* whole = arg.get<Dim>();
    // A root is a float even where it is a whole number: sqrt(64) is 8.0, not 8.
    const bool factor = !whole && among(parameter.name, kFactors);
    if (whole && whole->is_constant())
      value = static_cast<double>(*whole->constant());
    else if (const auto* real = arg.get<double>(); real && arithmetic)
      value = *real;
    else
      return;
    for (const auto& [symbol, size] : watched_) {
      if (size < kTelling) continue;
      const Origin origin = origin_of(value, static_cast<double>(size), factor);
      if (origin == Origin::none) continue;
      const bool last = value == static_cast<double>(size - 1);
      if (!arithmetic && origin != Origin::size && !(last && on_axis(symbol))) continue;
      suspects_.push_back(fmt::format(
          "aten::{} has {} as its argument {:?}, which {} {}, the size of {:?} when the program was captured: the "
          "result would be right for that size only",
          args.schema().name, value, parameter.name, words(origin), size, print(symbol)));
    }
  };
  const auto pick = [&](int64_t entry) {
    for (size_t i = 0; i < watched_.size(); ++i) {
      const auto& [symbol, size] = watched_[i];
      if (entry < 0 || entry >= size || size < kFewestPicks || !on_axis(symbol)) continue;
      if (!picked_[i].insert(entry).second || static_cast<int64_t>(picked_[i].size()) < size) continue;
      unrolled_.push_back(
          fmt::format("the entries 0 to {} of {:?} are taken one by one, as many as there were when the program was "
                      "captured: a loop over the axis was unrolled, further entries are not looked at",
                      size - 1, print(symbol)));
    }
  };
  const auto& parameters = args.schema().parameters;
  for (size_t i = 0; i < parameters.size(); ++i) {
    const bool arithmetic = among(parameters[i].name, kFactors) || among(parameters[i].name, kValues);
    if (!arithmetic && !among(parameters[i].name, kPlaces)) continue;
    const Arg& arg = args.arg(parameters[i].name);
    if (const auto* entry = arg.get<Dim>(); entry && entry->is_constant() && parameters[i].name == "index")
      pick(*entry->constant());
    if (const auto* items = arg.get<Arguments>())
      for (const Arg& item : *items) suspect(item, parameters[i], arithmetic);
    else
      suspect(arg, parameters[i], arithmetic);
  }
}

}  // namespace anyshape::lower
