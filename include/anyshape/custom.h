#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "anyshape/any_value.h"
#include "anyshape/api.h"
#include "anyshape/error.h"

namespace anyshape {

class Call;

// The node a custom kernel runs for. Valid during the call.
class ANYSHAPE_API CustomNode {
 public:
  explicit CustomNode(const Call& call) : call_(call) {}

  std::string_view name() const;
  std::optional<int64_t> integer(std::string_view attribute) const;
  std::optional<float> number(std::string_view attribute) const;
  std::optional<std::string> text(std::string_view attribute) const;
  std::vector<int64_t> integers(std::string_view attribute) const;
  std::vector<float> numbers(std::string_view attribute) const;

 private:
  const Call& call_;
};

// Absent inputs are nothing; the others are only read, and valid during the call: AnyValue::kept() gives what may be
// kept. Outputs are zero-filled tensors of the type the rule says; what is written into their memory is the result. May
// be called from several threads at once. An error ends the run.
using CustomKernelFunction =
    std::function<Status(std::span<const AnyValue> inputs, std::span<AnyValue> outputs, const CustomNode& node)>;

// Makes an operator known to models loaded from now on, in the whole process: check, fix, run and verify use it. It
// goes before a rule that a file carries for itself (which no other model sees), behind the built-in operators. A
// second registration of the same name replaces the first for models loaded later. Safe to call from several threads.
//
// `rule`: outputs separated by ';', each `NAME = DTYPE[DIMS]`. A dim is an expression of input sizes, `x0` being axis 0
// of the input called x; DTYPE may be left out (that of the first input); `NAME = x` copies the type of an input. The
// inputs are listed in front: `(x, w) -> y = [x0, w1] where x1 == w0`; without a list there is one, called x.
// Without a kernel a model with this operator can be checked, not run. Usage errors: custom.rule (also past 4,096
// characters), custom.name.
ANYSHAPE_API Status register_op(std::string_view domain, std::string_view name, std::string_view rule,
                                CustomKernelFunction kernel = nullptr);

// The same from one text: "ns::op: y = [x0, 2*x1]".
ANYSHAPE_API Status register_shape_rule(std::string_view text);

}  // namespace anyshape
