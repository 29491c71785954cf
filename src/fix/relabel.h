#pragma once

#include <string>
#include <utility>
#include <vector>

#include "anyshape/axes.h"
#include "fix/edit.h"
#include "solve/accepted.h"

// What the file says of the axes of its inputs, and the names it gives. Only the message changes, no operator.
namespace anyshape::fixes {

// The symbol has this size. Usage errors: freeze.symbol, freeze.size.
Status freeze(const Typed& typed, const std::string& symbol, int64_t size, Edit& edit);

// An axis that is to be of any size.
struct Freed {
  InputAxis axis;
  std::string name;
  std::optional<int64_t> old_size;  // the only one it could have, if it was so
};

// The axis is called so. Usage errors: dynamic.input, dynamic.axis.
Result<Freed> declare_dynamic(const Typed& typed, const AcceptedSet& accepted, const DynamicAxis& wanted, Edit& edit);

// The value has this name wherever it stands, in bodies, too. REQUIRES: no value has it.
void rename_value(std::string_view from, std::string_view to, Edit& edit);

// A symbol, an input or an output gets another name; that of another symbol only where the two are one size at every
// accepted shape. Usage errors: rename.unknown, rename.taken.
Status rename(const Typed& typed, const AcceptedSet& accepted, const std::string& old_name, const std::string& new_name,
              Edit& edit);

}  // namespace anyshape::fixes
