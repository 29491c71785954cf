#include "run/engines.h"

#include <fmt/ranges.h>

#include "run/cpu/engine.h"
#include "run/ort/engine.h"

namespace anyshape {
namespace {

constexpr EngineRow kEngines[] = {
    {"anyshape", cpu::load},
    {"onnxruntime", ort::load},
};

}  // namespace

std::span<const EngineRow> engine_table() { return kEngines; }

Result<const EngineRow*> find_engine(std::span<const EngineRow> table, std::string_view name) {
  std::vector<std::string_view> names;
  for (const EngineRow& row : table) {
    if (row.name == name) return &row;
    names.push_back(row.name);
  }
  return usage("engine.unknown", "there is no engine {:?}; the engines are {}", name, fmt::join(names, ", "));
}

}  // namespace anyshape
