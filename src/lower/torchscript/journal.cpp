#include "lower/torchscript/journal.h"

#include <algorithm>

namespace anyshape::lower::script {
namespace {

// Keeps what `held` is now, unless an earlier state is kept.
template <class Kept, class Held, class State>
void keep(Kept& kept, const Held& held, const State& state) {
  const auto is_it = [&](const auto& entry) { return entry.first == held; };
  if (std::none_of(kept.begin(), kept.end(), is_it)) kept.emplace_back(held, state);
}

}  // namespace

void Journal::note(const std::shared_ptr<List>& list) {
  for (Mark* mark : marks_) keep(mark->lists, list, *list);
}

void Journal::note(const std::shared_ptr<Dict>& dict) {
  for (Mark* mark : marks_) keep(mark->dicts, dict, *dict);
}

void Journal::note(const std::shared_ptr<Instance>& instance) {
  for (Mark* mark : marks_) keep(mark->instances, instance, instance->attributes);
}

}  // namespace anyshape::lower::script
