#include "lower/lowering.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <sstream>

#include "ops/all.h"

namespace anyshape::lower {
namespace {

// Programs as text over tensors of known integers, so that every result is known at once:
//   "y = slice(x, 1, 0, 2); add_(y, 10)"
// Arguments: names of tensors, numbers, [lists of numbers], none. `y[1] = ...` is not needed: results that are lists
// are named y.0, y.1, ...
class Calls {
 public:
  Calls() : assumptions_(symbols_), lowering_(all_ops(), assumptions_, 17) {}

  void tensor(const std::string& name, std::vector<int64_t> dims) {
    const int64_t count = element_count(dims).value_or(0);
    std::vector<int64_t> values;
    for (int64_t i = 0; i < count; ++i) values.push_back(i);
    values_[name] = lowering_.memory().variable(lowering_->constant(Tensor::of_ints(std::move(dims), values)));
  }

  void run(const std::string& text) {
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line, ';');) statement(line);
  }

  std::string value(const std::string& name) {
    const Ref ref = lowering_.ref(values_.at(name));
    if (lowering_->failed()) return fmt::format("error[{}]", lowering_->status().error().code);
    const Tensor* known = lowering_->tensor(ref);
    if (!known) return "not known";
    std::vector<int64_t> entries;
    for (int64_t i = 0; i < known->count(); ++i) entries.push_back(known->int_at(i));
    return fmt::format("{}", fmt::join(entries, " "));
  }

 private:
  static std::string trimmed(std::string text) {
    text.erase(0, std::min(text.find_first_not_of(' '), text.size()));
    text.erase(text.find_last_not_of(' ') + 1);
    return text;
  }
  Arg argument(const std::string& text) {
    if (text.empty() || text == "none") return {};
    if (const auto it = values_.find(text); it != values_.end()) return it->second;
    return Dim(std::stoll(text));
  }
  Arguments arguments(const std::string& text) {
    Arguments out;
    std::string part;
    std::optional<Arguments> list;
    const auto take = [&] {
      if (part = trimmed(part); !part.empty()) (list ? *list : out).push_back(argument(part));
      part.clear();
    };
    for (const char c : text) {
      if (c == '[') {
        list.emplace();
      } else if (c == ']') {
        take();
        out.push_back(Arg(*list));
        list.reset();
      } else if (c == ',') {
        take();
      } else {
        part += c;
      }
    }
    take();
    return out;
  }
  void statement(const std::string& text) {
    const size_t equal = text.find('='), open = text.find('('), close = text.rfind(')');
    const bool named = equal != std::string::npos && equal < open;
    const std::string name = trimmed(text.substr(named ? equal + 1 : 0, open - (named ? equal + 1 : 0)));
    const Arg result = lowering_.call(name, "", arguments(text.substr(open + 1, close - open - 1)));
    EXPECT_FALSE(lowering_->failed()) << text << ": " << lowering_->status().error().message;
    if (!named) return;
    const std::string target = trimmed(text.substr(0, equal));
    values_[target] = result;
    if (const auto* many = result.get<Arguments>())
      for (size_t i = 0; i < many->size(); ++i) values_[fmt::format("{}.{}", target, i)] = (*many)[i];
  }

  Symbols symbols_;
  Assumptions assumptions_;
  Lowering lowering_;
  std::map<std::string, Arg> values_;
};

struct ProgramRow {
  const char *program, *name, *value;
};

// x is 0 1 2 / 3 4 5.
TEST(Lowering, WritesThroughViews) {
  for (const ProgramRow& row : std::initializer_list<ProgramRow>{
           {"add_(x, 1)", "x", "1 2 3 4 5 6"},
           {"y = slice(x, 1, 1, 3); add_(y, 10)", "x", "0 11 12 3 14 15"},
           {"y = slice(x, 1, 0, 3, 2); mul_(y, 10)", "x", "0 1 20 30 4 50"},
           {"y = slice(x, 1, -1, none); fill_(y, 7)", "x", "0 1 7 3 4 7"},
           {"y = slice(x, 1, 2, 1); add_(y, 10)", "x", "0 1 2 3 4 5"},
           {"y = slice(x, 1, -9, 99); add_(y, 1)", "x", "1 2 3 4 5 6"},
           {"y = select(x, 0, -1); zero_(y)", "x", "0 1 2 0 0 0"},
           {"y = select(x, 1, 0); z = select(y, 0, 1); add_(z, 5)", "x", "0 1 2 8 4 5"},
           {"y = select(x, 1, 0); z = select(y, 0, 1); add_(z, 5)", "y", "0 8"},
           {"y = transpose(x, 0, 1); z = select(y, 0, 1); add_(z, 10)", "x", "0 11 2 3 14 5"},
           {"y = view(x, [3, 2]); z = select(y, 0, 1); zero_(z)", "x", "0 1 0 0 4 5"},
           {"y = slice(x, 1, 0, 2); z = slice(x, 1, 1, 3); add_(y, 10); add_(z, 100)", "y", "10 111 13 114"},
           {"y = slice(x, 1, 0, 2); z = slice(x, 1, 1, 3); add_(y, 10); add_(z, 100)", "z", "111 102 114 105"},
           {"y = slice(x, 1, 0, 1); z = add(y, 1); zero_(x)", "z", "1 4"},
           {"y = slice(x, 1, 0, 1); zero_(x); z = add(y, 1)", "z", "1 1"},
           {"y = split(x, [1, 2], 1); mul_(y.1, 2); copy_(y.0, 9)", "x", "9 2 4 9 8 10"},
           {"y = unbind(x, 0); add_(y.0, y.1)", "x", "3 5 7 3 4 5"},
           {"y = chunk(x, 2, 0); z = add_(y.1, 1)", "z", "4 5 6"},
           {"y = transpose(x, 0, 1); z = reshape(y, [6]); zero_(z)", "x", "0 1 2 3 4 5"},
           {"y = transpose(x, 0, 1); z = contiguous(y); zero_(z)", "x", "0 1 2 3 4 5"},
           {"y = select(x, 0, 1); z = contiguous(y); zero_(z)", "x", "0 1 2 0 0 0"},
           {"y = select(x, 1, 1); z = contiguous(y); zero_(z)", "x", "0 1 2 3 4 5"},
           {"y = reshape(x, [6]); zero_(y)", "x", "0 0 0 0 0 0"},
           {"y = clone(x); zero_(y)", "x", "0 1 2 3 4 5"},
           {"y = detach(x); zero_(y)", "x", "0 0 0 0 0 0"},
           {"y = select(x, 0, 0); t_(x); zero_(y)", "x", "0 3 0 4 0 5"},
           {"y = select(x, 0, 0); t_(x); z = select(x, 0, 2); add_(z, 10)", "y", "0 1 12"},
           {"unsqueeze_(x, 0); y = select(x, 1, 0); zero_(y)", "x", "0 0 0 3 4 5"},
           {"y = diagonal(x); add_(y, 10)", "x", "10 1 2 3 14 5"},
           {"y = permute(x, [1, 0]); z = unsqueeze(y, 0); w = select(z, 1, 2); zero_(w)", "x", "0 1 0 3 4 0"},
       }) {
    Calls program;
    program.tensor("x", {2, 3});
    program.run(row.program);
    EXPECT_EQ(program.value(row.name), row.value) << row.program;
  }
}

TEST(Lowering, EveryRecordHasItsOwnName) {
  std::set<std::string_view> names;
  for (const AtenOp& op : all_aten()) EXPECT_TRUE(names.insert(op.name).second) << op.name;
}

}  // namespace
}  // namespace anyshape::lower
