#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "lower/args.h"

namespace anyshape::lower {

// The arguments as the overload takes them that is named, or that fits them as PyTorch finds it; nullopt: refused.
std::optional<Args> find_overload(Lowering& lowering, std::string_view name, std::string_view overload,
                                  const Arguments& positional, const std::vector<NamedArg>& keywords);

}  // namespace anyshape::lower
