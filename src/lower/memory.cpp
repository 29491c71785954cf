#include "lower/memory.h"

#include "lower/lowering.h"

namespace anyshape::lower {
namespace {

const Var& root_of(const Var& variable) {
  const Var* root = &variable;
  while ((*root)->base) root = &(*root)->base;
  return *root;
}

}  // namespace

Var Memory::variable(Ref value, std::string name) {
  auto made = std::make_shared<Variable>();
  made->value = value;
  made->name = std::move(name);
  return made;
}

Ref Memory::read(const Var& variable) {
  if (!variable) return {};
  const Var root = root_of(variable);
  if (!l_->alive(root->value)) {
    if (!l_->failed()) l_->refuse("export.body", "a tensor that a branch or a loop writes in place is read after it");
    return {};
  }
  if (!variable->base || (variable->seen == root->writes && l_->alive(variable->value))) return variable->value;
  const Arg again = variable->view->lower(l_, variable->args->with_self(read(variable->base)));
  const Arguments* many = again.get<Arguments>();
  variable->value = l_.ref(many && variable->index < many->size() ? (*many)[variable->index] : again);
  variable->seen = root->writes;
  return variable->value;
}

void Memory::write(const Var& variable, Ref value) {
  const Ref old = read(variable);
  while (l_->rank(value) > l_->rank(old) && l_->dim(value, 0) == Dim(1)) value = l_->squeeze(value, {0});
  value = l_->expand(l_->cast(value, l_->dtype(old)), l_->dims(old));
  if (l_->failed() || value == old) return;
  if (variable->base) {
    const Ref base = read(variable->base);
    const Ref whole = variable->view->put(l_, *variable->args, base, value, variable->index);
    l_->claim(whole, l_->dims(base));
    write(variable->base, whole);
  } else {
    ++variable->writes;
  }
  variable->value = value;
  variable->seen = root_of(variable)->writes;
}

bool Memory::stays_contiguous(const AtenOp& op, const Args& args) {
  if (!op.reorders) return true;
  if (op.cuts.empty() || args.i("step", 1) != 1) return false;
  const Ref x = args.self();
  const int64_t cut = l_.axis(x, args.i(op.cuts));
  for (int64_t i = 0; i < cut; ++i)
    if (!l_->same(l_->dim(x, static_cast<size_t>(i)), 1)) return false;
  return true;
}

void Memory::make_view(const Var& made, const Var& base, const AtenOp& op, const std::shared_ptr<const Args>& args,
                       size_t index) {
  made->base = base;
  made->view = &op;
  made->args = args;
  made->index = index;
  made->seen = root_of(base)->writes;
  const bool whole = !op.cuts.empty() && l_->dims(made->value) == l_->dims(args->self()) && args->i("step", 1) == 1;
  made->contiguous = base->contiguous && (whole || stays_contiguous(op, *args));
  base->views.push_back(made);
}

void Memory::view_in_place(const Var& self, const AtenOp& op, const std::shared_ptr<const Args>& args, Ref value) {
  if (value == self->value) return;
  const auto before = std::make_shared<Variable>(*self);
  for (const auto& view : self->views)
    if (const Var one = view.lock(); one && one->base == self) one->base = before;
  if (before->base) before->base->views.push_back(before);
  self->views.clear();
  self->value = value;
  make_view(self, before, op, args, 0);
}

Arg Memory::results(const AtenOp& op, const std::shared_ptr<const Args>& args, const Var& self, const Arg& result) {
  const auto wrap = [&](const Arg& one, size_t index) -> Arg {
    const auto* value = one.get<Ref>();
    if (!value) return one;
    Var made = variable(*value);
    const bool shares = op.put && self && (!op.copies_reordered || self->contiguous);
    if (shares && (!op.shares || op.shares(*args, args->self(), *value)))
      make_view(made, self, op, args, index);
    else
      note_order(made, *args, op, self);
    return made;
  };
  const auto* many = result.get<Arguments>();
  if (!many) return wrap(result, 0);
  Arguments out;
  for (size_t i = 0; i < many->size(); ++i) out.push_back(wrap((*many)[i], i));
  return out;
}

}  // namespace anyshape::lower
