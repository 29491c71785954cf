#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "base/special_members.h"
#include "tensor/tensor.h"

namespace anyshape {

// What flows along one edge of a running model: a tensor, or a sequence, optional or map of such. Copying copies
// handles; containers are immutable once made.
class Datum {
 public:
  enum class Kind : uint8_t { none, tensor, sequence, optional, map };

  // The first: absent.
  ANYSHAPE_SPECIAL_MEMBERS(Datum);
  Datum(Tensor tensor) : kind_(tensor ? Kind::tensor : Kind::none), tensor_(std::move(tensor)) {}

  // `dtype`: of the tensors inside, also where there are none.
  static Datum sequence(DType dtype, std::vector<Datum> items);
  // An optional without content has no items. `content` gives the type where there is none.
  static Datum empty_optional(DType dtype);
  static Datum optional(Datum item);
  // keys[i] belongs to values[i]; both of rank 1, keys i64 or string.
  static Datum map(Tensor keys, Tensor values);

  explicit operator bool() const { return kind_ != Kind::none; }
  Kind kind() const { return kind_; }
  bool is_tensor() const { return kind_ == Kind::tensor; }
  // An empty Tensor when this is none.
  const Tensor& tensor() const { return tensor_; }
  // For the one who fills an output: assigning makes it a tensor.
  Tensor& tensor() { return tensor_; }
  // Of a sequence: its items. Of an optional: none or one. Of a map: keys, then values.
  const std::vector<Datum>& items() const;
  // Of the tensor, of the tensors of a sequence or optional, of the values of a map.
  DType dtype() const;
  // After a kernel wrote through tensor(): what it is now.
  void settle() {
    if (kind_ == Kind::none && tensor_) kind_ = Kind::tensor;
  }

 private:
  Kind kind_ = Kind::none;
  DType item_dtype_ = DType::undefined;
  Tensor tensor_;
  std::shared_ptr<const std::vector<Datum>> items_;
};

}  // namespace anyshape
