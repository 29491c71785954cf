#pragma once

#include <complex>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/special_members.h"
#include "ir/builder.h"

namespace anyshape::lower {

struct Variable;
// A tensor of the program: the object Python code holds, which in-place operators change.
using Var = std::shared_ptr<Variable>;

// numerator / denominator, for numbers computed from sizes.
struct Ratio {
  Dim numerator;
  int64_t denominator = 1;
};

struct Arg;
using Arguments = std::vector<Arg>;

// A value of the program that is handed to an operator or given back by one.
struct Arg {
  struct None {};
  // What an operator takes and this project has no use for: devices, layouts, memory formats, generators.
  struct Ignored {};
  using Value = std::variant<None, Ignored, Var, Ref, Dim, double, Ratio, bool, Condition, std::complex<double>, DType,
                             std::string, Arguments>;
  Value value;

  ANYSHAPE_SPECIAL_MEMBERS(Arg);
  Arg(Ref ref) : value(ref) {}                                           // NOLINT: the result of an operator
  Arg(Var var) : value(std::move(var)) {}                                // NOLINT
  Arg(Dim dim) : value(dim) {}                                           // NOLINT
  Arg(double number) : value(number) {}                                  // NOLINT
  Arg(bool truth) : value(truth) {}                                      // NOLINT
  Arg(Arguments items) : value(std::move(items)) {}                      // NOLINT
  Arg(const Refs& refs) : value(Arguments(refs.begin(), refs.end())) {}  // NOLINT
  template <class T>
  static Arg of(T given) {
    Arg arg;
    arg.value = std::move(given);
    return arg;
  }

  template <class T>
  const T* get() const {
    return std::get_if<T>(&value);
  }
  bool is_none() const { return std::holds_alternative<None>(value); }
  bool is_tensor() const { return get<Var>() || get<Ref>(); }
  // Any of the kinds a Python number can have.
  bool is_number() const;
};

// "tensor", "int", "float", "list of int", ...: for messages.
std::string kind_of(const Arg& arg);

struct NamedArg {
  std::string name;
  Arg value;
};

}  // namespace anyshape::lower
