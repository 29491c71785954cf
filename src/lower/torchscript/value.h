#pragma once

#include <complex>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/special_members.h"
#include "format/torchscript/archive.h"
#include "lower/lowering.h"

namespace anyshape::lower::script {

struct None {};
// No value: declared without one, or different things on two ways through the program. Using it is refused.
struct Missing {
  std::string why;
  bool declared = false;  // the program promises never to use it where it is missing
};
struct Device {
  std::string text;
};
// A float or bool that only the running model knows: a tensor of rank 0. Integers of that kind are Dims, each a symbol
// of its own.
struct Scalar {
  Ref ref;
  bool truth = false;  // a bool
};

struct List;
struct Dict;
struct Instance;
struct Callable;
struct Enumerator;

// What a name of the program can stand for. Containers and instances are shared, as in Python.
struct Value {
  using Kinds = std::variant<None, Missing, bool, Condition, Dim, Ratio, double, std::complex<double>, std::string,
                             Device, Scalar, Var, std::shared_ptr<List>, std::shared_ptr<Dict>,
                             std::shared_ptr<Instance>, std::shared_ptr<Callable>, std::shared_ptr<const Enumerator>>;
  Kinds is = None{};

  ANYSHAPE_SPECIAL_MEMBERS(Value);
  template <class T, std::enable_if_t<!std::is_same_v<std::decay_t<T>, Value>, int> = 0>
  Value(T&& given) : is(std::forward<T>(given)) {}  // NOLINT: any of the kinds is a value

  template <class T>
  const T* get() const {
    return std::get_if<T>(&is);
  }
  bool is_none() const { return get<None>() != nullptr; }
  bool is_tensor() const { return get<Var>() != nullptr; }
  const Ref* scalar() const { return get<Scalar>() ? &get<Scalar>()->ref : nullptr; }
  List* list() const { return get<std::shared_ptr<List>>() ? get<std::shared_ptr<List>>()->get() : nullptr; }
  Dict* dict() const { return get<std::shared_ptr<Dict>>() ? get<std::shared_ptr<Dict>>()->get() : nullptr; }
  Instance* instance() const {
    return get<std::shared_ptr<Instance>>() ? get<std::shared_ptr<Instance>>()->get() : nullptr;
  }
  const Callable* callable() const {
    return get<std::shared_ptr<Callable>>() ? get<std::shared_ptr<Callable>>()->get() : nullptr;
  }
  const std::string* text() const { return get<std::string>(); }
  // An int, float, bool or complex number, known or not.
  bool is_number() const;
  bool is_integer() const { return get<Dim>() != nullptr; }
  bool is_truth() const;  // a bool, known or not
  bool is_float() const;
};
using Values = std::vector<Value>;

// A list, or a tuple (which nothing changes).
struct List {
  Values items;
  bool tuple = false;
  const torchscript::Class* named = nullptr;  // of a named tuple
  // A list as long as only the running model knows: its items are the slices of this tensor along axis 0, and `items`
  // is empty. Absent otherwise.
  Ref stacked;
  bool filling = false;  // a loop of unknown length is appending to it: nobody may look into it
};

struct Dict {
  std::vector<std::pair<Value, Value>> entries;  // in order of insertion
};

// An object of a class of the archive.
struct Instance {
  const torchscript::Class* type = nullptr;
  std::string type_name;
  std::string path;                              // of a module: "encoder.layers.0"; empty for the outermost
  bool module = false;                           // part of the archive's module tree
  std::map<std::string, Value> attributes;       // set, or read before
  const torchscript::Pickled* origin = nullptr;  // where the others come from
};

using Names = std::map<std::string, Value>;

struct Callable {
  enum class Kind { function, method, type, torch, op, builtin, closure };
  Kind kind = Kind::builtin;
  std::string name;                                 // qualified; "ns::op" for an operator
  const torchscript::Function* function = nullptr;  // function, method, closure
  Value self;                                       // method
  std::shared_ptr<const torchscript::Function> own;
  std::shared_ptr<Names> captured;  // closure
};

struct Enumerator {
  std::string type, name;
  Value value;
};

Value list_of(Values items);
Value tuple_of(Values items);
Value shared_dict();

// "int", "list", "Tensor", ...: for messages.
std::string kind_of(const Value& value);

// As an argument of an ATen operator; nullopt for what none takes (an object, a dict).
std::optional<Arg> to_arg(const Value& value);
Value from_arg(const Arg& arg, Lowering& lowering);

// c10's numbering of element types, which TorchScript uses as plain integers.
std::optional<DType> dtype_of_c10(int64_t number);
std::optional<int64_t> c10_of_dtype(DType dtype);

}  // namespace anyshape::lower::script
