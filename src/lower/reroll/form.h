#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lower/reroll/captured_steps.h"
#include "lower/reroll/pattern.h"

namespace anyshape::lower::reroll {

// A stretch of the program: steps that stand there once, or the body of a loop that runs length + more times.
struct Part {
  bool loop = false;
  size_t size = 0;
  int64_t more = 0;

  int64_t copies(int64_t length) const { return loop ? length + more : 1; }
};

// Where a step of a program stands in its form.
struct Label {
  size_t part = 0, item = 0;
  int64_t step = 0;
};

// The steps of a program of one length, by part.
class Layout {
 public:
  Layout(const std::vector<Part>& parts, int64_t length);

  Label label(size_t step) const;
  size_t step(const Label& label) const {
    return starts_[label.part] + static_cast<size_t>(label.step) * sizes_[label.part] + label.item;
  }
  size_t steps() const { return starts_.back(); }

 private:
  std::vector<size_t> starts_, sizes_;
};

// What an item reads at a step of its loop, at any length.
struct Place {
  enum Kind : uint8_t { absent, input, constant, item };
  Kind kind = absent;
  size_t index = 0;   // of the input; of the part
  size_t item_ = 0;   // in its part
  size_t output = 0;  // of the item
  Affine step;        // of that part's loop
  std::shared_ptr<const Pattern> pattern;
};

struct Operand {
  Place place;
  // What is read in the loop's first steps instead.
  std::vector<Place> first = {};
  // As many values one after the other, from place.step on, in this direction: of Concat and its like.
  std::optional<Affine> count = {};
  int64_t direction = 1;
};

struct Item {
  const Node* node = nullptr;
  std::vector<Operand> in;
};

// A program of any length.
struct Form {
  std::vector<Part> parts;
  std::vector<std::vector<Item>> items;  // by part
  std::vector<Operand> outputs;

  const Item& item(const Place& place) const { return items[place.index][place.item_]; }
};

// Why there is no form of these parts, and whose loop is at fault.
struct Misfit {
  std::string why;
  std::optional<size_t> part;
};

// The form that both programs have, with these parts.
tl::expected<Form, Misfit> fit(const std::vector<Part>& parts, const CapturedSteps& shorter,
                               const CapturedSteps& longer);

// Is this the program of that form and length, step by step? The first difference, or nothing.
std::optional<Misfit> difference(const Form& form, const CapturedSteps& program);

}  // namespace anyshape::lower::reroll
