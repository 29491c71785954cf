#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <utility>
#include <vector>

namespace anyshape::onnx {

// Numbers by name. For graphs of a million values: one table, nothing is allocated for a name. Names are not copied.
class Names {
 public:
  void reserve(size_t names) {
    entries_.reserve(names);
    size_t slots = kFewest;
    while (slots < 2 * names) slots *= 2;
    if (slots > slots_.size()) rehash(slots);
  }

  // Null: no such name.
  const uint32_t* find(std::string_view name) const {
    if (slots_.empty()) return nullptr;
    const size_t slot = place_of(name, hash(name));
    return slots_[slot].entry == kFree ? nullptr : &entries_[slots_[slot].entry].number;
  }
  bool contains(std::string_view name) const { return find(name) != nullptr; }

  // False: the name is there already, and stays as it is.
  bool add(std::string_view name, uint32_t number) {
    if (2 * (entries_.size() + 1) > slots_.size()) rehash(slots_.empty() ? kFewest : 2 * slots_.size());
    const uint64_t h = hash(name);
    Slot& slot = slots_[place_of(name, h)];
    if (slot.entry != kFree) return false;
    slot = {static_cast<uint32_t>(h >> 32), static_cast<uint32_t>(entries_.size())};
    entries_.push_back({name, number});
    return true;
  }

 private:
  static constexpr size_t kFewest = 16;
  static constexpr uint32_t kFree = UINT32_MAX;

  struct Entry {
    std::string_view name;
    uint32_t number;
  };
  struct Slot {
    uint32_t mark = 0;  // half of the hash, to look at few names
    uint32_t entry = kFree;
  };

  static uint64_t hash(std::string_view name) { return std::hash<std::string_view>()(name); }

  // The slot of the name, or the free one where it belongs.
  size_t place_of(std::string_view name, uint64_t h) const {
    const size_t mask = slots_.size() - 1;
    for (size_t i = h & mask;; i = (i + 1) & mask) {
      const Slot& slot = slots_[i];
      if (slot.entry == kFree) return i;
      if (slot.mark == static_cast<uint32_t>(h >> 32) && entries_[slot.entry].name == name) return i;
    }
  }

  void rehash(size_t slots) {
    slots_.assign(slots, Slot());
    for (uint32_t i = 0; i < entries_.size(); ++i) {
      const uint64_t h = hash(entries_[i].name);
      slots_[place_of(entries_[i].name, h)] = {static_cast<uint32_t>(h >> 32), i};
    }
  }

  std::vector<Entry> entries_;
  std::vector<Slot> slots_;
};

}  // namespace anyshape::onnx
