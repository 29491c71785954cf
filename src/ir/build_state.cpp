#include "ir/build_state.h"

namespace anyshape {

void BuildState::fail(Error error) {
  if (status_) status_ = tl::unexpected(std::move(error));
}

Error BuildState::take_error() {
  Error error = std::move(status_).error();
  status_ = Status();
  return error;
}

size_t BuildState::rank(Ref ref) const { return dims(ref).size(); }

Dims BuildState::dims(Ref ref) const {
  const Fact& known = fact(ref);
  return known.dims ? *known.dims : Dims();
}

Dim BuildState::dim(Ref ref, size_t axis) const {
  const Fact& known = fact(ref);
  return known.dims && axis < known.dims->size() ? (*known.dims)[axis] : Dim::unknown();
}

const Tensor* BuildState::tensor(Ref ref) const { return fact(ref).constant.get(); }

void BuildState::claim(Ref ref, const Dims& dims) {
  Scopes::Scope* home = ref ? scopes_.find(ref.scope) : nullptr;
  if (!home || !home->facts[ref.id].dims || home->facts[ref.id].dims->size() != dims.size()) return;
  home->facts[ref.id].dims = dims;
  scopes_.note_sizes(ref);
}

void BuildState::forget_entries(Ref ref) {
  Scopes::Scope* home = ref ? scopes_.find(ref.scope) : nullptr;
  if (!home) return;
  Fact& known = home->facts[ref.id];
  if (known.is_tensor() && known.dims) known = Fact::tensor(known.dtype, *known.dims);
}

}  // namespace anyshape
