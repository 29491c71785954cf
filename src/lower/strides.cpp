#include "lower/strides.h"

#include <algorithm>

#include "base/among.h"
#include "lower/aten/families.h"
#include "lower/lowering.h"

namespace anyshape::lower {
namespace {

// Their results are in the order of their axes, whatever the arguments' memory is like.
constexpr std::string_view kPacks[] = {
    "linear",  "addmm",     "mm",       "bmm",      "pad",         "constant_pad_nd", "embedding",
    "softmax", "gather",    "stack",    "cat",      "log_softmax", "repeat",          "index_select",
    "roll",    "new_zeros", "new_ones", "new_full", "layer_norm",  "contiguous"};
// Theirs may not be, even where those of all arguments are.
constexpr std::string_view kLoose[] = {"_native_multi_head_attention",
                                       "as_strided",
                                       "einsum",
                                       "gru",
                                       "istft",
                                       "linalg_cross",
                                       "linalg_matmul",
                                       "linalg_matrix_norm",
                                       "linalg_multi_dot",
                                       "linalg_norm",
                                       "linalg_vecdot",
                                       "linalg_vector_norm",
                                       "lstm",
                                       "matmul",
                                       "rnn_relu",
                                       "rnn_tanh",
                                       "stft",
                                       "tensordot"};

constexpr std::string_view kExpands[] = {"broadcast_to", "expand", "expand_as"};

bool is_loose(std::string_view name) {
  return among(name, kLoose) || is_of(attention_ops(), name) || is_of(fft_ops(), name);
}

// The strides of the same memory seen under other sizes; nullopt where it has to be copied for that.
std::optional<Dims> viewed(const Lowering& l, const Dims& from, const Dims& strides, const Dims& to) {
  Dims out(to.size(), Dim(1));
  Dim chunk = 1, filled = 1, step = strides.empty() ? Dim(1) : strides.back();
  size_t next = to.size();
  for (size_t i = from.size(); i-- > 0;) {
    chunk = chunk * from[i];
    if (i > 0 && (from[i - 1] == Dim(1) || l->same(strides[i - 1], chunk * step))) continue;
    // The counts of both agree: a chunk is full, too, when what is left of both is the same.
    const Dim left = product(Dims(from.begin(), from.begin() + static_cast<std::ptrdiff_t>(i)));
    const auto full = [&] {
      return l->same(filled, chunk) ||
             l->same(product(Dims(to.begin(), to.begin() + static_cast<std::ptrdiff_t>(next))), left);
    };
    while (next > 0 && (!full() || to[next - 1] == Dim(1))) {
      out[--next] = filled * step;
      filled = filled * to[next];
    }
    if (!full()) return std::nullopt;
    if (i > 0) step = strides[i - 1];
    chunk = filled = 1;
  }
  if (next != 0) return std::nullopt;
  return out;
}

}  // namespace

Dims row_major(const Dims& sizes) {
  Dims out(sizes.size(), Dim(1));
  for (size_t i = sizes.size(); i-- > 1;) out[i - 1] = out[i] * sizes[i];
  return out;
}

// Which axis of the argument each axis of the result is; empty where the operator does more than that.
std::vector<int64_t> Memory::order_of_view(const AtenOp& op, const Args& args, size_t rank) {
  constexpr size_t kMost = 7;
  if (rank > kMost) return {};
  std::vector<int64_t> sizes;
  for (size_t i = 0; i < rank; ++i) sizes.push_back(static_cast<int64_t>(i) + 2);
  const auto probe = Tensor::allocate(l_->dtype(args.self()), sizes);
  if (!probe) return {};
  const Arg turned = op.lower(l_, args.with_self(l_->constant(*probe)));
  std::vector<int64_t> order;
  for (const Dim size : l_->dims(l_.ref(turned))) {
    const auto number = size.constant();
    if (!number || *number < 2 || *number >= static_cast<int64_t>(rank) + 2) return {};
    order.push_back(*number - 2);
  }
  return order.size() == rank ? order : std::vector<int64_t>();
}

std::optional<Dims> Memory::strides_of_view(const AtenOp& op, const Args& args, Ref from, const Dims& strides, Ref to) {
  if (!op.reorders) return viewed(l_, l_->dims(from), strides, l_->dims(to));
  if (op.name == "as_strided") return args.dims("stride");
  Dims out = strides;
  if (!op.cuts.empty()) {
    const auto at = static_cast<size_t>(l_.axis(from, args.i(op.cuts)));
    if (l_->rank(to) + 1 == l_->rank(from)) out.erase(out.begin() + static_cast<std::ptrdiff_t>(at));
    if (l_->rank(to) == l_->rank(from)) out[at] = out[at] * Dim(args.i("step", 1));
    return out;
  }
  if (among(op.name, kExpands)) {
    const Dims sizes = l_->dims(to), before = l_->dims(from);
    out.insert(out.begin(), sizes.size() - before.size(), Dim(0));
    for (size_t i = sizes.size() - before.size(); i < sizes.size(); ++i)
      if (!l_->same(sizes[i], before[i - (sizes.size() - before.size())])) out[i] = 0;
    return out;
  }
  const std::vector<int64_t> order = order_of_view(op, args, strides.size());
  if (order.empty()) return std::nullopt;
  for (size_t i = 0; i < order.size(); ++i) out[i] = strides[static_cast<size_t>(order[i])];
  return out;
}

std::optional<Dims> Memory::strides(const Var& variable) {
  if (l_->failed()) return std::nullopt;
  if (!variable->base) {
    if (variable->layout) return variable->layout;
    return variable->ordered ? std::optional(row_major(l_->dims(variable->value))) : std::nullopt;
  }
  const auto base = strides(variable->base);
  if (!base) return std::nullopt;
  return strides_of_view(*variable->view, *variable->args, read(variable->base), *base, read(variable));
}

// Of a new tensor. A reshape of memory in another order is a view wherever the sizes allow it; here it has a value of
// its own, and the memory it really has is noted.
void Memory::note_order(const Var& made, const Args& args, const AtenOp& op, const Var& self) {
  const std::string& name = args.schema().name;
  if (op.copies_reordered && op.put && self) {
    const auto own = strides(self);
    made->ordered = own.has_value();
    if (own && name != "contiguous") made->layout = viewed(l_, l_->dims(args.self()), *own, l_->dims(made->value));
    return;
  }
  if (among(name, kPacks)) return;
  // A new tensor is dense, and its axes lie in memory in the order in which those of the arguments do.
  const auto in_order = [&](const Var& one) {
    const Var* root = &one;
    while ((*root)->base) root = &(*root)->base;
    if (one->contiguous && (*root)->ordered && !(*root)->layout) return true;
    const auto own = strides(one);
    const Dims sizes = own ? l_->dims(read(one)) : Dims();
    std::optional<Dim> before;
    for (size_t i = 0; i < sizes.size(); ++i) {
      if (sizes[i] == Dim(1) || (*own)[i] == Dim(0)) continue;
      if (before && !l_->proves(Condition::ge(*before, (*own)[i]))) return false;
      before = (*own)[i];
    }
    return own.has_value();
  };
  std::vector<Var> all = args.variables();
  if (name == "type_as" && !all.empty()) all.resize(1);
  made->ordered = !is_loose(name) && std::all_of(all.begin(), all.end(), in_order);
}

}  // namespace anyshape::lower
