#pragma once

#include <compare>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "lower/reroll/constants.h"
#include "lower/reroll/form.h"

namespace anyshape::lower::reroll {

// The value of an item of a loop.
struct Member {
  size_t part = 0, item = 0, output = 0;
  friend auto operator<=>(const Member&, const Member&) = default;
};

// The values of all steps, as something outside of the loop reads them.
struct Stack {
  Member member;
  int64_t axis = kNewAxis;  // along which they are joined, where each has one entry
  bool backwards = false;   // the last step's first
  friend auto operator<=>(const Stack&, const Stack&) = default;

  static constexpr int64_t kNewAxis = -1;  // a new one, in front
};

// A part of the form as it is being written: loops and what stands between them.
class Writer {
 public:
  Writer(const Form& form, const CapturedSteps& shorter, const CapturedSteps& longer, std::string_view axis,
         const Lowered& captured, const OpTable& ops);

  Result<std::shared_ptr<Graph>> run(Facts& facts);

  Builder& builder() { return builder_; }
  Constants& constants() { return constants_; }
  const Form& form() const { return form_; }
  Dim length() const { return length_; }
  Dim trips(size_t part) const { return length_ + form_.parts[part].more; }

  // The value outside of all loops. REQUIRES: place.step.step == 0.
  Ref outer(const Place& place);
  // A node like the item's.
  Refs emit(const Item& item, const Refs& in);
  // The sizes of an item's value.
  Dims dims_of(const Member& member);
  // What each step of another loop takes part in: all values, the first step's in front.
  Ref stack(const Stack& wanted) { return stacks_[wanted]; }
  // What the loop has to give, and what it gave.
  std::vector<Stack> wanted_of(size_t part) const;
  void give(const Stack& wanted, Ref made) { stacks_[wanted] = made; }
  void give_last(const Member& member, Ref made) { last_[member] = made; }

  static Member member_of(const Place& place) { return {place.index, place.item_, place.output}; }
  bool is_loop(const Place& place) const { return place.kind == Place::item && form_.parts[place.index].loop; }

 private:
  void bind_inputs();
  void want(const Operand& operand, const Item* reader, size_t part);
  void want_all();
  bool is_last(const Place& place) const;
  int64_t joined_axis(const Operand& operand, const Item& reader);
  void write_straight(size_t part);
  // The values of many steps as one, and the axis they are joined along.
  Ref spread(const Operand& operand, const Item& reader);
  Ref merged(Ref stack, int64_t axis, const Dims& dims);

  const Form& form_;
  const CapturedSteps &shorter_, &longer_;
  Layout short_layout_, long_layout_;
  const Lowered& captured_;
  Assumptions assumptions_;
  Builder builder_;
  Dim length_;
  Constants constants_;
  Refs inputs_;
  std::vector<std::vector<Refs>> made_;  // by part and item, outside of loops
  std::map<Stack, Ref> stacks_;
  std::map<Member, Ref> last_;
};

// Writes the loop as a Scan.
void write_loop(Writer& writer, size_t part);

}  // namespace anyshape::lower::reroll
