#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace anyshape::lower {

// "/encoder/layers.0/linear1" for modules "encoder", "encoder.layers.0", "encoder.layers.0.linear1", outermost first.
std::string node_prefix(const std::vector<std::string>& module_paths);

// A name for a place in nested outputs: "['logits']" is "logits", "['a'][0]" is "a_0"; empty where numbers say it all.
std::string name_of_path(std::string_view path);

// What an operator "ns::op" of an extension becomes in the model: (domain, name) by the request's `custom`.
std::pair<std::string, std::string> custom_name(const std::vector<std::pair<std::string, std::string>>& custom,
                                                std::string_view space, std::string_view name);

// The innermost line of a Python stack trace as "model.py:12: x = self.lin(x)"; frames inside of PyTorch are passed
// over. Empty where there is none.
std::string source_line(std::string_view stack_trace);

// The ATen operator that another library's operator is by another name, with the same arguments; empty: none.
std::string_view aten_name_of(std::string_view space, std::string_view name);

}  // namespace anyshape::lower
