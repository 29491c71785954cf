#include "verify/boundary.h"

#include <utility>

#include "base/among.h"
#include "base/work.h"
#include "check/ask.h"
#include "solve/contract.h"
#include "verify/typical.h"

namespace anyshape {
namespace {

// Limits of a symbol are looked for up to this size.
constexpr int64_t kLargestTried = 4096;
// The smallest size times the first, and the second more.
constexpr std::pair<int64_t, int64_t> kSteps[] = {{1, 1}, {2, 0}, {3, 0}, {4, 1}, {16, 0}};

// Calls visit with the name and the dims of every input that is a tensor of known rank.
template <class Visit>
void for_each_input(const Typed& typed, Visit visit) {
  const auto required = typed.graph().required_inputs();
  for (size_t i = 0; i < required.size(); ++i)
    if (const Fact& fact = typed.input_facts()[i]; fact.is_tensor() && fact.dims)
      visit(typed.graph().values[required[i]].name, *fact.dims);
}

// Calls visit with every size of the shapes that is of a symbol, and the symbol.
template <class Visit>
void for_each_symbol(const Typed& typed, Shapes& shapes, Visit visit) {
  for_each_input(typed, [&](const std::string& name, const Dims& dims) {
    const auto sizes = shapes.find(name);
    for (size_t i = 0; sizes != shapes.end() && i < dims.size(); ++i)
      if (!dims[i].is_constant()) visit(sizes->second[i], dims[i]);
  });
}

Shapes with_size(const Typed& typed, Shapes shapes, Dim symbol, int64_t size) {
  for_each_symbol(typed, shapes, [&](int64_t& its, Dim one) { its = one == symbol ? size : its; });
  return shapes;
}

// The shapes with this symbol as large as it is taken, where kLargestTried is not; else as they are. Where sizes in
// between are not taken either, it need not be the largest.
Shapes at_limit(const Typed& typed, Shapes shapes, Dim symbol, const std::function<bool(const Shapes&)>& taken) {
  const auto takes = [&](int64_t size) { return taken(with_size(typed, shapes, symbol, size)); };
  if (Work::stopped() || takes(kLargestTried)) return shapes;
  int64_t low = 0, high = kLargestTried;
  for_each_symbol(typed, shapes, [&](int64_t size, Dim one) { low = one == symbol ? size : low; });
  while (high - low > 1 && !Work::stopped()) {
    const int64_t middle = low + (high - low) / 2;
    (takes(middle) ? low : high) = middle;
  }
  return with_size(typed, std::move(shapes), symbol, low);
}

}  // namespace

std::vector<Shapes> shapes_around(const Typed& typed, const Shapes& smallest,
                                  const std::function<bool(const Shapes&)>& taken) {
  std::vector<Shapes> out{smallest};
  const auto try_shapes = [&](const Shapes& wanted) {
    if (!Work::stopped() && !among(wanted, out) && taken(wanted)) out.push_back(wanted);
  };
  std::vector<Dim> symbols;
  for_each_input(typed, [&](const std::string&, const Dims& dims) {
    for (Dim dim : dims)
      if (!dim.is_constant() && !among(dim, symbols)) symbols.push_back(dim);
  });
  for (const auto& [factor, more] : kSteps) {
    const auto grow = [factor = factor, more = more](int64_t& size) { size = size * factor + more; };
    for (Dim symbol : symbols) {
      if (Work::stopped()) return out;
      Shapes one = smallest;
      for_each_symbol(typed, one, [&](int64_t& size, Dim its) { its == symbol ? grow(size) : void(); });
      try_shapes(one);
    }
    Shapes all = smallest;
    for_each_symbol(typed, all, [&](int64_t& size, Dim) { grow(size); });
    try_shapes(all);
  }
  for (Dim symbol : symbols) {
    if (Work::stopped()) return out;
    try_shapes(at_limit(typed, smallest, symbol, taken));
  }
  return out;
}

std::vector<Shapes> boundary_shapes(const CheckedModel& model) {
  const Typed& typed = model.typed();
  const auto accepted = [&](const Shapes& shapes) { return ask(model, shapes).kind == Answer::Kind::accept; };
  const std::vector<Condition> meant = meant_conditions(model);
  const auto taken = [&](const Shapes& shapes) { return all_hold(typed, meant, shapes) && accepted(shapes); };
  const Shapes smallest = smallest_accepted_where(typed, model.accepted(), meant);
  if (!taken(smallest)) return shapes_around(typed, smallest_shapes(model), accepted);
  std::vector<Shapes> out = shapes_around(typed, smallest, taken);
  for (Shapes& one : typical_shapes(model, smallest, taken))
    if (!among(one, out)) out.push_back(std::move(one));
  return out;
}

Shapes completed(const Typed& typed, Shapes shapes) {
  const auto required = typed.graph().required_inputs();
  for (size_t i = 0; i < required.size(); ++i)
    if (auto sizes = typed.input_facts()[i].numeric_dims())
      shapes.try_emplace(typed.graph().values[required[i]].name, *std::move(sizes));
  return shapes;
}

}  // namespace anyshape
