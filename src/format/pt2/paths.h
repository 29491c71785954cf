#pragma once

#include <string>
#include <string_view>

namespace anyshape::pt2 {

// One step of the place of an input: ['ids'].
std::string key_step(std::string_view key);
// The first step: the argument's name, or L['...'] where that is no plain name.
std::string argument_path(std::string_view name);

}  // namespace anyshape::pt2
