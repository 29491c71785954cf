#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "picture/scene.h"

// Every axis of every value with why it is what it is, as rows that lead from one to the next.
namespace anyshape::picture {

struct SpotRow {
  uint32_t value = kNone, index = 0;
  bool entry = false;
  uint32_t size = 0, reason = 0;  // numbers of Spots::sizes and ::reasons
  uint32_t next = kNone;          // a row
};

struct Spots {
  struct Size {
    std::string text;
    std::vector<uint32_t> symbols;  // numbers of Spots::symbols
  };
  // The words before and after those of the next row, which are left out where `whole`.
  struct Reason {
    std::string before, after;
    bool whole = true;
    friend auto operator<=>(const Reason&, const Reason&) = default;
  };

  std::vector<SpotRow> rows;
  std::vector<uint32_t> first;  // by value: the row of its axis 0, those of the others follow
  std::vector<Size> sizes;
  std::vector<Reason> reasons;
  std::vector<std::string> symbols;
};

Spots find_spots(const Typed& typed, const Scene& scene);

}  // namespace anyshape::picture
