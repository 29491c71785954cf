#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "format/torchscript/pickle.h"

namespace anyshape::torchscript {

// The globals of a pickle of PyTorch's: which are known, and what calling one makes.
bool known_global(std::string_view module, std::string_view name);

// "__torch__.M" where the global is a class of the archive's own code.
std::optional<std::string> class_name(const Pickled& global);

// The storage a persistent id names.
Result<StorageView> storage_of(const Pickled& id);

// What a call hands back of its arguments (restore_type_tag(x, "List[int]") is x); null where it makes something new.
const Pickled* passed_through(const Pickled& function, const Pickled& arguments);
Result<Pickled> rebuild(const Pickled& function, const Pickled& arguments, const TensorSource& source);

// Refuses cycles, nesting beyond kMaxDepth, globals and storages left as values, and more than `most` values, where one
// that is held in two places counts twice.
Status check_tree(const Pickle& pickle, uint64_t most);

}  // namespace anyshape::torchscript
