#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace anyshape {

// The words behind the name of the program, told once, before there are other threads: advice is a whole command then.
void set_running_command(std::vector<std::string> words);

// An argument that is to be another one.
struct Correction {
  std::string_view option;  // without its dashes; empty: none, it stands by itself
  std::string_view given, wanted;
};

// The running command with it: "anyshape check m.onnx --allow x:1". Where none is told: `otherwise`.
std::string corrected_command(const Correction& correction, std::string otherwise);
// The running command with these words of a shell behind it; where none is told the words alone.
std::string running_command_with(std::string_view words);

}  // namespace anyshape
