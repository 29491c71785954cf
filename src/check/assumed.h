#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "anyshape/report.h"
#include "solve/solve.h"

namespace anyshape {

// The metadata entry in which an exporter records what it assumed:
// {"version": 1, "conditions": [{"text": "seq >= 2", "symbols": {"seq": "x:1"}, "origin": "model.py:12"}]}; "advisory":
// true on a condition says that it need not hold.
inline constexpr std::string_view kAssumedKey = "anyshape.assumed";

// Of what is refused because a recorded condition does not hold.
inline constexpr std::string_view kAssumedCode = "assumed.condition";

struct Assumed {
  struct Entry {
    AssumedCondition text;
    Condition condition;  // over the symbols of the model
  };
  std::vector<Entry> entries;
  std::vector<std::string> unreadable;  // one sentence for each entry that could not be read
};

// `metadata`: the entry's value; empty gives nothing.
Assumed read_assumed(const Typed& typed, std::string_view metadata);

// Why a shape at which it does not hold is refused.
std::string assumed_sentence(const AssumedCondition& condition);

// The axes of an input are found under its new name.
void rename_input(AssumedCondition& condition, std::string_view from, std::string_view to);

// What read_assumed() reads.
std::string write_assumed(const std::vector<AssumedCondition>& conditions);

// May the condition be meant? True for bounds, equalities and divisibility, of one size or linear in several. Others
// (!=, products, alternatives) stem from the memory layout of the example as often as not: they are reported, and
// refuse nothing.
bool can_bind(const Condition& condition);

// The first recorded condition that binds and does not hold at these sizes.
const Assumed::Entry* violated(const Typed& typed, const Assumed& assumed, const Shapes& shapes);

}  // namespace anyshape
