#include <algorithm>

#include "lower/reroll/match.h"
#include "lower/reroll/writer.h"

namespace anyshape::lower::reroll {
namespace {

bool same_place(const Place& a, const Place& b) {
  if (a.kind != b.kind) return false;
  if (a.kind == Place::constant)
    return a.pattern->kind == b.pattern->kind && a.pattern->numbers == b.pattern->numbers &&
           a.pattern->dims == b.pattern->dims && a.pattern->strides == b.pattern->strides &&
           same_content(a.pattern->value, b.pattern->value);
  return a.index == b.index && a.item_ == b.item_ && a.output == b.output && a.step == b.step;
}

// A value that later steps read: as many states as it is read steps later.
struct State {
  size_t item = 0, output = 0;
  std::vector<Place> first;
  size_t at = 0;  // the body's input that holds the value of the step before
};

// What the Scan takes apart.
struct Scanned {
  Ref source;
  int64_t axis = 0;
  bool backwards = false;
  friend bool operator==(const Scanned&, const Scanned&) = default;
};

// What a step reads in a body.
struct Read {
  enum Kind : uint8_t { outside, own, state, scanned, counted };
  Kind kind = outside;
  Ref ref;        // outside; of a counted constant the first step's
  size_t at = 0;  // of the state or of what is scanned
};

// The entry of an axis that an item takes, a step further at each step.
struct Entry {
  int64_t axis = 0;
  Affine index;
};

class LoopWriter {
 public:
  LoopWriter(Writer& writer, size_t part)
      : w_(writer), b_(writer.builder()), part_(part), items_(writer.form().items[part]) {}

  void run();

 private:
  bool is_own(const Place& place) const { return place.kind == Place::item && place.index == part_; }
  void collect_states();
  void prepare();
  Read prepared(const Operand& operand);
  size_t scan(Ref source, int64_t axis, const Affine& index);
  size_t add_scanned(const Scanned& wanted);
  std::optional<Entry> entry_of(const Item& item);
  std::optional<Affine> moving_number(const Operand& operand) const;
  void begin();
  void write_body();
  Ref value(const Operand& operand, const Read& read);
  Ref squeezed(Ref value, int64_t axis);
  Refs results();
  void finish(const Refs& results);

  // A Scan without a step ends ONNX Runtime's process. A loop that may have none gets one in front that changes
  // nothing.
  int64_t idle() const { return std::max(-w_.form().parts[part_].more, int64_t{0}); }
  Ref with_idle_entries(Ref source, int64_t axis, bool backwards);
  size_t counter();

  Writer& w_;
  Builder& b_;
  size_t part_;
  const std::vector<Item>& items_;
  std::vector<State> states_;
  size_t state_count_ = 0;
  std::vector<Scanned> scanned_;
  std::optional<size_t> counter_;
  Refs initial_;
  std::vector<std::vector<Read>> reads_;
  std::vector<std::optional<size_t>> taken_;  // by item: what is scanned in its place
  std::vector<Refs> made_;
};

void LoopWriter::collect_states() {
  for (const Item& item : items_)
    for (const Operand& operand : item.in) {
      if (operand.first.empty()) continue;
      const Place& place = operand.place;
      const bool known = std::ranges::any_of(states_, [&](const State& state) {
        return state.item == place.item_ && state.output == place.output &&
               std::ranges::equal(state.first, operand.first, same_place);
      });
      if (known) continue;
      states_.push_back({place.item_, place.output, operand.first, state_count_});
      state_count_ += operand.first.size();
    }
}

size_t LoopWriter::add_scanned(const Scanned& wanted) {
  const auto it = std::ranges::find(scanned_, wanted);
  if (it == scanned_.end()) {
    scanned_.push_back(wanted);
    return scanned_.size() - 1;
  }
  return static_cast<size_t>(it - scanned_.begin());
}

// Entry `index` of the axis at each step.
size_t LoopWriter::scan(Ref source, int64_t axis, const Affine& index) {
  const Dim first = w_.constants().size(index), count = w_.trips(part_);
  const bool backwards = index.step < 0;
  const Dim start = backwards ? first - count + 1 : first, end = start + count;
  const Dim size = b_.dim(source, static_cast<size_t>(axis));
  if (idle() == 0) return add_scanned({b_.slice(source, axis, start, end), axis, backwards});
  // The entries before the first stand in for what idle steps read, where there are some.
  if (!backwards && b_.proves(Condition::ge(start, idle())))
    return add_scanned({b_.slice(source, axis, start - idle(), end), axis, backwards});
  if (backwards && b_.proves(Condition::ge(size, end + idle())))
    return add_scanned({b_.slice(source, axis, start, end + idle()), axis, backwards});
  return add_scanned({with_idle_entries(b_.slice(source, axis, start, end), axis, backwards), axis, backwards});
}

Ref LoopWriter::with_idle_entries(Ref source, int64_t axis, bool backwards) {
  Dims dims = b_.dims(source);
  if (static_cast<size_t>(axis) >= dims.size()) return {};
  dims[static_cast<size_t>(axis)] = idle();
  auto zero = Tensor::allocate(b_.dtype(source), {1});
  if (!zero) {
    b_.fail(std::move(zero).error());
    return {};
  }
  const Ref none = b_.full(dims, *zero);
  return b_.concat(backwards ? Refs{source, none} : Refs{none, source}, axis);
}

// The number of the step; of an idle one below 0.
size_t LoopWriter::counter() {
  if (!counter_) {
    const Ref first = b_.number(-idle());
    counter_ = add_scanned({b_.op("Range", {first, b_.scalar(w_.trips(part_)), b_.number(int64_t{1})}), 0, false});
  }
  return *counter_;
}

std::optional<Affine> LoopWriter::moving_number(const Operand& operand) const {
  if (operand.place.kind != Place::constant || !operand.first.empty()) return std::nullopt;
  const Pattern& pattern = *operand.place.pattern;
  if (pattern.kind == Pattern::same || pattern.value.count() != 1 || is_float(pattern.value.dtype()))
    return std::nullopt;
  const Affine& number = pattern.numbers[0];
  return number.step == 1 || number.step == -1 ? std::optional(number) : std::nullopt;
}

std::optional<Entry> LoopWriter::entry_of(const Item& item) {
  const std::string& type = item.node->type;
  if (!item.node->domain.empty() || (type != "Gather" && type != "Slice")) return std::nullopt;
  const Operand& data = item.in[0];
  if (is_own(data.place) || data.place.step.step != 0 || !data.first.empty()) return std::nullopt;
  const auto index = moving_number(item.in[1]);
  if (!index) return std::nullopt;
  if (type == "Gather")
    return item.in[1].place.pattern->value.rank() == 0 ? std::optional(Entry{item.node->integer("axis"), *index})
                                                       : std::nullopt;
  const auto end = moving_number(item.in[2]);
  Affine behind = *index;
  behind.rest += 1;
  const bool plain = item.in.size() == 4 && item.in[3].place.kind == Place::constant;
  if (!end || *end != behind || !plain || item.in[3].place.pattern->kind != Pattern::same) return std::nullopt;
  return Entry{item.in[3].place.pattern->value.int_at(0), *index};
}

Read LoopWriter::prepared(const Operand& operand) {
  const Place& place = operand.place;
  if (is_own(place)) {
    if (operand.first.empty()) return {Read::own, {}, 0};
    const auto it = std::ranges::find_if(states_, [&](const State& state) {
      return state.item == place.item_ && state.output == place.output &&
             std::ranges::equal(state.first, operand.first, same_place);
    });
    return {Read::state, {}, it->at + it->first.size() - 1};
  }
  if (place.kind == Place::constant && place.pattern->follows_step()) {
    counter();
    return {Read::counted, w_.constants().wide_start(*place.pattern), 0};
  }
  if (place.kind != Place::item || place.step.step == 0) return {Read::outside, w_.outer(place), 0};
  if (place.step.step != 1 && place.step.step != -1)
    b_.refuse("reroll.stride", "a loop reads every {}th value of another one", place.step.step);
  return {Read::scanned, {}, scan(w_.stack({Writer::member_of(place)}), 0, place.step)};
}

void LoopWriter::prepare() {
  taken_.resize(items_.size());
  reads_.resize(items_.size());
  for (size_t i = 0; i < items_.size(); ++i) {
    if (const auto entry = entry_of(items_[i])) {
      const Ref source = w_.outer(items_[i].in[0].place);
      const int64_t axis = entry->axis < 0 ? entry->axis + static_cast<int64_t>(b_.rank(source)) : entry->axis;
      taken_[i] = scan(source, axis, entry->index);
      continue;
    }
    for (const Operand& operand : items_[i].in) {
      if (operand.count) b_.refuse("reroll.reader", "a step reads a loop's values all at once");
      reads_[i].push_back(prepared(operand));
    }
  }
  if (scanned_.empty() || (idle() > 0 && !states_.empty())) counter();
}

void LoopWriter::begin() {
  std::vector<std::pair<std::string, Fact>> inputs;
  for (const State& state : states_) {
    const Dims dims = w_.dims_of({part_, state.item, state.output});
    for (size_t lag = 1; lag <= state.first.size(); ++lag) {
      Ref start = w_.outer(state.first[state.first.size() - lag]);
      if (!std::ranges::equal(b_.dims(start), dims, [&](Dim a, Dim b) { return b_.same(a, b); }))
        start = b_.expand(start, dims);
      initial_.push_back(start);
      inputs.emplace_back("state", Fact::tensor(b_.dtype(start), dims));
    }
  }
  for (const Scanned& one : scanned_) {
    Dims dims = b_.dims(one.source);
    if (static_cast<size_t>(one.axis) < dims.size()) dims.erase(dims.begin() + one.axis);
    inputs.emplace_back("entry", Fact::tensor(b_.dtype(one.source), std::move(dims)));
  }
  if (!b_.failed()) b_.begin_body("step", inputs);
}

Ref LoopWriter::value(const Operand& operand, const Read& read) {
  switch (read.kind) {
    case Read::own:
      return made_[operand.place.item_][operand.place.output];
    case Read::state:
      return b_.body_input(read.at);
    case Read::scanned:
      return b_.body_input(state_count_ + read.at);
    case Read::counted: {
      const Pattern& pattern = *operand.place.pattern;
      const Ref step = b_.cast(b_.body_input(state_count_ + *counter_), b_.dtype(read.ref));
      const Ref moved = b_.op("Mul", {step, w_.constants().wide_step(pattern)});
      return b_.cast(b_.op("Add", {read.ref, moved}), pattern.value.dtype());
    }
    case Read::outside:
      break;
  }
  return read.ref;
}

void LoopWriter::write_body() {
  for (size_t i = 0; i < items_.size() && !b_.failed(); ++i) {
    if (taken_[i]) {
      Ref one = b_.body_input(state_count_ + *taken_[i]);
      if (items_[i].node->type == "Slice") one = b_.unsqueeze(one, {scanned_[*taken_[i]].axis});
      made_.push_back({one});
      continue;
    }
    Refs in;
    for (size_t k = 0; k < items_[i].in.size(); ++k) in.push_back(value(items_[i].in[k], reads_[i][k]));
    made_.push_back(w_.emit(items_[i], in));
  }
}

// What an Unsqueeze added is left out before it is taken away.
Ref LoopWriter::squeezed(Ref value, int64_t axis) {
  const Node* made = b_.producer(value);
  if (made && made->type == "Unsqueeze" && made->in.size() == 2) {
    const auto added = b_.fact({value.scope, made->in[1]}).numbers();
    if (added == std::vector<int64_t>{axis}) return {value.scope, made->in[0]};
  }
  return b_.squeeze(value, {axis});
}

Refs LoopWriter::results() {
  Refs out;
  for (const State& state : states_)
    for (size_t lag = 0; lag < state.first.size(); ++lag)
      out.push_back(lag == 0 ? made_[state.item][state.output] : b_.body_input(state.at + lag - 1));
  if (idle() > 0 && !out.empty()) {
    const Ref idles = b_.op("Less", {b_.body_input(state_count_ + counter()), b_.number(int64_t{0})});
    for (size_t i = 0; i < out.size(); ++i) out[i] = b_.op("Where", {idles, b_.body_input(i), out[i]});
  }
  for (const Stack& wanted : w_.wanted_of(part_)) {
    const Ref value = made_[wanted.member.item][wanted.member.output];
    out.push_back(wanted.axis == Stack::kNewAxis ? value : squeezed(value, wanted.axis));
  }
  return out;
}

void LoopWriter::finish(const Refs& results) {
  const std::vector<Stack> stacks = w_.wanted_of(part_);
  auto body = b_.end_body(results);
  Refs in = initial_;
  std::vector<int64_t> axes, directions, out_axes, out_directions;
  for (const Scanned& one : scanned_) {
    in.push_back(one.source);
    axes.push_back(one.axis);
    directions.push_back(one.backwards);
  }
  for (const Stack& wanted : stacks) {
    out_axes.push_back(std::max(wanted.axis, int64_t{0}));
    out_directions.push_back(wanted.backwards);
  }
  b_.set_place("/loop");
  std::vector<Attribute> attributes{attr("body", std::move(body)),
                                    attr("num_scan_inputs", static_cast<int64_t>(scanned_.size())),
                                    attr("scan_input_axes", axes), attr("scan_input_directions", directions)};
  if (!stacks.empty()) {
    attributes.push_back(attr("scan_output_axes", out_axes));
    attributes.push_back(attr("scan_output_directions", out_directions));
  }
  const Refs out = b_.emit("Scan", in, std::move(attributes), results.size());
  for (const State& state : states_) w_.give_last({part_, state.item, state.output}, out[state.at]);
  for (size_t i = 0; i < stacks.size(); ++i) {
    Ref made = out[state_count_ + i];
    const Dim start = stacks[i].backwards ? 0 : idle();
    if (idle() > 0) made = b_.slice(made, out_axes[i], start, start + w_.trips(part_));
    w_.give(stacks[i], made);
  }
}

void LoopWriter::run() {
  b_.set_place("/loop");
  collect_states();
  prepare();
  begin();
  if (b_.failed()) return;
  write_body();
  if (b_.failed()) return;
  finish(results());
}

}  // namespace

void write_loop(Writer& writer, size_t part) { LoopWriter(writer, part).run(); }

}  // namespace anyshape::lower::reroll
