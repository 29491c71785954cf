#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lower/args.h"

namespace anyshape::lower {

struct AtenOp;

// How a tensor of the program got its memory.
struct Variable {
  Ref value;
  Var base;  // null: memory of its own
  const AtenOp* view = nullptr;
  std::shared_ptr<const Args> args;  // of the view
  size_t index = 0;                  // which result of the view
  uint64_t seen = 0;                 // writes of the root when `value` was computed
  uint64_t writes = 0;               // of a root: how often its memory changed
  bool contiguous = true;
  bool ordered = true;         // of a root: its memory is known to be in the order of its axes, but for `layout`
  std::optional<Dims> layout;  // of a root: its strides where they are others
  std::string name;            // of a parameter, buffer or input
  std::vector<std::weak_ptr<Variable>> views;
};

// The tensors of the program and the memory they share: in-place operators change what others see.
class Memory {
 public:
  explicit Memory(Lowering& lowering) : l_(lowering) {}

  Var variable(Ref value, std::string name = {});
  // The tensor's present value; absent for an absent one.
  Ref read(const Var& variable);
  // In-place assignment: the value is cast and expanded to what the variable is.
  void write(const Var& variable, Ref value);
  // How far apart in memory the entries along each axis are in PyTorch, which decides what as_strided reads; nullopt
  // where that is not known.
  std::optional<Dims> strides(const Var& variable);

  // What a call of the operator gave, as tensors of the program: new ones, or views of `self`.
  Arg results(const AtenOp& op, const std::shared_ptr<const Args>& args, const Var& self, const Arg& result);
  // x.unsqueeze_(0): the tensor becomes a view of what it was, and so do its views.
  void view_in_place(const Var& self, const AtenOp& op, const std::shared_ptr<const Args>& args, Ref value);

 private:
  void make_view(const Var& made, const Var& base, const AtenOp& op, const std::shared_ptr<const Args>& args,
                 size_t index);
  bool stays_contiguous(const AtenOp& op, const Args& args);
  std::optional<Dims> strides_of_view(const AtenOp& op, const Args& args, Ref from, const Dims& strides, Ref to);
  std::vector<int64_t> order_of_view(const AtenOp& op, const Args& args, size_t rank);
  void note_order(const Var& made, const Args& args, const AtenOp& op, const Var& self);

  Lowering& l_;
};

}  // namespace anyshape::lower
