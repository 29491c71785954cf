#include "format/torchscript/pickle.h"

#include <array>
#include <bit>
#include <cstring>
#include <unordered_map>

#include "base/work.h"
#include "format/torchscript/rebuild.h"

namespace anyshape::torchscript {

const Pickled* Pickled::find(std::string_view name) const {
  const Pickled* entries = this;
  if (kind == Kind::object) entries = items.empty() ? nullptr : items[0];
  if (entries == nullptr || entries->kind != Kind::dict) return nullptr;
  const auto& pairs = entries->items;
  for (size_t i = pairs.size(); i >= 2; i -= 2) {
    if (pairs[i - 2]->kind == Kind::text && pairs[i - 2]->text == name) return pairs[i - 1];
  }
  return nullptr;
}

namespace {

using Kind = Pickled::Kind;

class Machine {
 public:
  Machine(std::span<const std::byte> bytes, const TensorSource& source, uint64_t most)
      : bytes_(bytes), source_(source), most_(most) {}

  Result<Pickle> run() {
    while (!stopped_) {
      TRY_OK(Work::check());
      TRY_OK(step());
      TRY_OK(count());
    }
    if (stack_.size() != 1 || !marks_.empty()) return malformed("it leaves more than one value");
    pickle_.root = stack_[0];
    TRY_OK(check_tree(pickle_, most_ / kWalked));
    return std::move(pickle_);
  }

 private:
  tl::unexpected<Error> malformed(std::string_view what) const {
    return refuse("pickle.malformed", "the pickle is damaged at byte {}: {}", at_, what);
  }

  // Counts what a step has made: one value at most.
  Status count() {
    if (pickle_.values.size() > counted_) {
      const Pickled& made = pickle_.values[counted_++];
      used_ += sizeof(Pickled) + kHeld + made.text.size() + made.items.size() * kHeld;
      if (made.tensor)
        used_ += sizeof(PickledTensor) + made.tensor->view.key.size() +
                 (made.tensor->view.sizes.size() + made.tensor->view.strides.size()) * sizeof(int64_t);
    }
    if (used_ <= most_) return {};
    return refuse("pickle.size", "the pickle makes more than the {} bytes that a file of this size is worth", most_);
  }

  Result<uint64_t> number(size_t width) {
    if (bytes_.size() - at_ < width) return refuse("pickle.truncated", "the pickle ends at byte {}", bytes_.size());
    uint64_t value = 0;
    for (size_t i = 0; i < width; ++i) value |= uint64_t{static_cast<uint8_t>(bytes_[at_ + i])} << (8 * i);
    at_ += width;
    return value;
  }

  Result<std::string> text(uint64_t length) {
    if (bytes_.size() - at_ < length) return refuse("pickle.truncated", "the pickle ends at byte {}", bytes_.size());
    std::string value(reinterpret_cast<const char*>(bytes_.data()) + at_, length);
    at_ += length;
    return value;
  }

  Result<std::string> line() {
    const auto* begin = reinterpret_cast<const char*>(bytes_.data()) + at_;
    const void* end = std::memchr(begin, '\n', bytes_.size() - at_);
    if (end == nullptr) return refuse("pickle.truncated", "the pickle ends at byte {}", bytes_.size());
    std::string value(begin, static_cast<const char*>(end));
    at_ += value.size() + 1;
    return value;
  }

  Pickled& push(Kind kind) {
    Pickled& value = pickle_.values.emplace_back();
    value.kind = kind;
    stack_.push_back(&value);
    return value;
  }

  void push_integer(int64_t value) { push(Kind::integer).integer = value; }

  // A value that may be taken off: one above the topmost mark.
  Result<Pickled*> pop() {
    if (stack_.size() <= (marks_.empty() ? 0 : marks_.back())) return malformed("a value is missing");
    Pickled* value = stack_.back();
    stack_.pop_back();
    return value;
  }

  Result<std::vector<const Pickled*>> pop_to_mark() {
    if (marks_.empty()) return malformed("a mark is missing");
    const size_t from = marks_.back();
    marks_.pop_back();
    std::vector<const Pickled*> items(stack_.begin() + static_cast<ptrdiff_t>(from), stack_.end());
    stack_.resize(from);
    return items;
  }

  Status tuple_of(size_t count) {
    std::vector<const Pickled*> items(count);
    for (size_t i = count; i-- > 0;) {
      TRY(items[i], pop());
    }
    push(Kind::tuple).items = std::move(items);
    return {};
  }

  // The container under the values to be put into it.
  Result<Pickled*> top(Kind kind) {
    if (stack_.size() <= (marks_.empty() ? 0 : marks_.back()) || stack_.back()->kind != kind) {
      return malformed(kind == Kind::list ? "a list is missing" : "a dict is missing");
    }
    return stack_.back();
  }

  Status extend(Kind kind, std::vector<const Pickled*> items) {
    TRY(Pickled * container, top(kind));
    if (kind == Kind::dict && items.size() % 2 != 0) return malformed("a key has no value");
    container->items.insert(container->items.end(), items.begin(), items.end());
    used_ += items.size() * kHeld;
    return {};
  }

  Status append_some(Kind kind, size_t count) {
    std::vector<const Pickled*> items(count);
    for (size_t i = count; i-- > 0;) {
      TRY(items[i], pop());
    }
    return extend(kind, std::move(items));
  }

  Status append_marked(Kind kind) {
    TRY(auto items, pop_to_mark());
    return extend(kind, std::move(items));
  }

  Status long1() {
    TRY(const uint64_t width, number(1));
    if (width > 8) return malformed("an integer does not fit 64 bits");
    TRY(uint64_t value, number(width));
    if (width > 0 && width < 8 && (value >> (8 * width - 1)) != 0) value |= ~uint64_t{0} << (8 * width);
    push_integer(static_cast<int64_t>(value));
    return {};
  }

  Status real() {
    TRY(const uint64_t little, number(8));
    uint64_t big = 0;
    for (int i = 0; i < 8; ++i) big |= ((little >> (8 * i)) & 0xFF) << (56 - 8 * i);
    push(Kind::real).real = std::bit_cast<double>(big);
    return {};
  }

  Status global() {
    TRY(std::string module, line());
    TRY(std::string name, line());
    if (!known_global(module, name)) {
      return refuse("pickle.global", "the pickle asks for {}.{}, which no TorchScript archive needs", module, name);
    }
    push(Kind::global).text = module + " " + name;
    return {};
  }

  Status put(size_t width) {
    TRY(const uint64_t slot, number(width));
    if (stack_.empty()) return malformed("nothing to remember");
    memo_[slot] = stack_.back();
    used_ += kRemembered;
    return {};
  }

  Status get(size_t width) {
    TRY(const uint64_t slot, number(width));
    const auto found = memo_.find(slot);
    if (found == memo_.end()) return malformed("it recalls what it never stored");
    stack_.push_back(found->second);
    used_ += kHeld;
    return {};
  }

  Status string(size_t width) {
    TRY(const uint64_t length, number(width));
    TRY(std::string value, text(length));
    push(Kind::text).text = std::move(value);
    return {};
  }

  Status new_object() {
    TRY(const Pickled* arguments, pop());
    TRY(const Pickled* type, pop());
    const auto name = class_name(*type);
    if (!name || arguments->kind != Kind::tuple || !arguments->items.empty()) return malformed("not a class to make");
    push(Kind::object).text = *name;
    return {};
  }

  Status build() {
    TRY(const Pickled* state, pop());
    TRY(Pickled * object, pop());
    if (object->kind != Kind::object || !object->items.empty()) return malformed("a state has no object");
    object->items.push_back(state);
    stack_.push_back(object);
    return {};
  }

  Status persistent() {
    TRY(const Pickled* id, pop());
    TRY(StorageView view, storage_of(*id));
    push(Kind::storage).tensor = std::make_shared<PickledTensor>(PickledTensor{std::move(view), nullptr, {}, false});
    return {};
  }

  Status reduce() {
    TRY(const Pickled* arguments, pop());
    TRY(const Pickled* function, pop());
    if (function->kind != Kind::global) return malformed("what it calls is no global");
    // What restores a container gives the container itself, so that all who hold it hold one.
    if (const Pickled* same = passed_through(*function, *arguments)) {
      stack_.push_back(const_cast<Pickled*>(same));
      return {};
    }
    TRY(Pickled value, rebuild(*function, *arguments, source_));
    stack_.push_back(&pickle_.values.emplace_back(std::move(value)));
    return {};
  }

  Status small(uint8_t op) {
    switch (op) {
      case 'N':
        push(Kind::none);
        return {};
      case 0x88:
        push(Kind::boolean).integer = 1;
        return {};
      case 0x89:
        push(Kind::boolean);
        return {};
      case ')':
        push(Kind::tuple);
        return {};
      case ']':
        push(Kind::list);
        return {};
      case '}':
        push(Kind::dict);
        return {};
      case '(':
        marks_.push_back(stack_.size());
        used_ += kHeld;
        return {};
      case '.':
        stopped_ = true;
        return {};
      default:
        return refuse("pickle.opcode", "the pickle has the unknown opcode {:#04x} at byte {}", op, at_ - 1);
    }
  }

  template <class Signed>
  Status integer() {
    TRY(const uint64_t value, number(sizeof(Signed)));
    push_integer(static_cast<Signed>(value));
    return {};
  }

  Status containers(uint8_t op) {
    switch (op) {
      case 't': {
        TRY(auto items, pop_to_mark());
        push(Kind::tuple).items = std::move(items);
        return {};
      }
      case 0x85:
        return tuple_of(1);
      case 0x86:
        return tuple_of(2);
      case 0x87:
        return tuple_of(3);
      case 'a':
        return append_some(Kind::list, 1);
      case 'e':
        return append_marked(Kind::list);
      case 's':
        return append_some(Kind::dict, 2);
      case 'u':
        return append_marked(Kind::dict);
      case 'c':
        return global();
      case 'Q':
        return persistent();
      case 0x81:
        return new_object();
      case 'R':
        return reduce();
      case 'b':
        return build();
      default:
        return small(op);
    }
  }

  Status step() {
    TRY(const uint64_t op, number(1));
    switch (op) {
      case 0x80:
        return number(1).map([](uint64_t) {});
      case 'q':
        return put(1);
      case 'r':
        return put(4);
      case 'h':
        return get(1);
      case 'j':
        return get(4);
      case 'X':
        return string(4);
      case 0x8c:
        return string(1);
      case 'J':
        return integer<int32_t>();
      case 'K':
        return integer<uint8_t>();
      case 'M':
        return integer<uint16_t>();
      case 0x8a:
        return long1();
      case 'G':
        return real();
      default:
        return containers(static_cast<uint8_t>(op));
    }
  }

  // Bytes: a pointer in a list that grows, an entry of a table; and of the walk through the values, for each place.
  static constexpr uint64_t kHeld = 2 * sizeof(void*), kRemembered = 64, kWalked = 64;

  std::span<const std::byte> bytes_;
  const TensorSource& source_;
  uint64_t most_, used_ = 0;
  size_t counted_ = 0;  // values that are
  size_t at_ = 0;
  bool stopped_ = false;
  Pickle pickle_;
  std::vector<Pickled*> stack_;
  std::vector<size_t> marks_;
  std::unordered_map<uint64_t, Pickled*> memo_;
};

}  // namespace

Result<Pickle> unpickle(std::span<const std::byte> bytes, const TensorSource& source, uint64_t most) {
  return Machine(bytes, source, most).run();
}

}  // namespace anyshape::torchscript
