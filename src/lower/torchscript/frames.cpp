#include "lower/torchscript/frames.h"

#include "lower/naming.h"

namespace anyshape::lower::script {

Frame& Frames::push(const torchscript::Function& function) {
  all_.push_back(std::make_unique<Frame>());
  top().function = &function;
  top().line = function.line;
  return top();
}

std::string Frames::place() const {
  return empty() ? std::string() : fmt::format("{}:{}", top().function->file, top().line);
}

void Frames::show_place(Lowering& lowering) const {
  std::vector<std::pair<std::string, std::string>> metadata;
  if (!top().module.empty()) metadata.emplace_back("module", top().module);
  metadata.emplace_back("source", place());
  std::vector<std::string> modules;
  for (const auto& open : all_) modules.push_back(open->module);
  lowering->set_place(node_prefix(modules), std::move(metadata));
}

}  // namespace anyshape::lower::script
