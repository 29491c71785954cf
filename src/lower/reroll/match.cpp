#include "lower/reroll/match.h"

#include <algorithm>
#include <functional>
#include <unordered_map>
#include <unordered_set>

#include "base/among.h"

namespace anyshape::lower::reroll {
namespace {

// Constants of so few entries may be other ones in every step.
constexpr int64_t kFewEntries = 16;
// Alignments looked at before a difference counts as not understood.
constexpr int kMostTries = 200'000;

size_t hash_of(const Tensor& tensor) { return std::hash<std::string>()(content_of(tensor)); }

class Tokens {
 public:
  explicit Tokens(const std::vector<const CapturedSteps*>& programs) : programs_(programs) {
    for (const CapturedSteps* program : programs) {
      std::unordered_set<size_t> own;
      for (size_t id = 0; id < program->graph->values.size(); ++id)
        if (program->graph->values[id].is_initializer) own.insert(hash(*program, id));
      for (size_t one : own) ++holders_[one];
    }
  }

  std::vector<uint32_t> of(const CapturedSteps& program) {
    std::vector<uint32_t> out;
    for (size_t i = 0; i < program.steps.size(); ++i)
      out.push_back(numbers_.try_emplace(text(program, i), static_cast<uint32_t>(numbers_.size())).first->second);
    return out;
  }

 private:
  size_t hash(const CapturedSteps& program, size_t id) {
    const auto [known, first] = hashes_[&program].try_emplace(id);
    if (first) known->second = hash_of(program.facts[id].as_tensor());
    return known->second;
  }

  // A weight is told by its entries, a number that may follow the step or the length by its type.
  std::string constant(const CapturedSteps& program, const Source& source) {
    const Tensor tensor = program.tensor(source);
    const size_t content = hash(program, source.index);
    if (tensor.count() > kFewEntries && holders_[content] == programs_.size()) return fmt::format("w{}", content);
    return fmt::format("n{}.{}", static_cast<int>(tensor.dtype()), tensor.rank());
  }

  std::string text(const CapturedSteps& program, size_t index) {
    const Step& step = program.steps[index];
    std::string out = fmt::format("{}.{}/{}", step.node->domain, step.node->type, step.node->out.size());
    for (const Attribute& attribute : step.node->attributes) out += text_of(attribute);
    for (size_t i = 0; i < step.node->out.size(); ++i) {
      const Fact& fact = program.fact(index, i);
      out += fmt::format(";{}.{}", static_cast<int>(fact.dtype), fact.dims ? fact.dims->size() : 99);
    }
    if (is_variadic(*step.node)) return out;
    for (const Source& source : step.in) {
      if (source.kind == Source::constant)
        out += "," + constant(program, source);
      else if (source.kind == Source::input)
        out += fmt::format(",i{}", source.index);
      else
        out += source.kind == Source::made ? ",m" : ",-";
    }
    return out;
  }

  std::vector<const CapturedSteps*> programs_;
  std::unordered_map<const CapturedSteps*, std::unordered_map<size_t, size_t>> hashes_;
  std::unordered_map<size_t, size_t> holders_;
  std::unordered_map<std::string, uint32_t> numbers_;
};

struct Inserted {
  size_t end = 0, unit = 0;  // the copy is unit steps before `end` of the longer program
};

class Alignment {
 public:
  Alignment(const std::vector<uint32_t>& shorter, const std::vector<uint32_t>& longer) : a_(shorter), b_(longer) {}

  // From these places on; found_ then holds the copies.
  bool align(size_t i, size_t j) {
    while (i < a_.size() && j < b_.size() && a_[i] == b_[j]) ++i, ++j;
    if (i == a_.size() && j == b_.size()) return true;
    const size_t more = (b_.size() - j) - std::min(a_.size() - i, b_.size() - j);
    for (size_t unit = 1; unit <= std::min(more, j); ++unit) {
      if (++tries_ > kMostTries) return false;
      const auto last = b_.begin() + static_cast<ptrdiff_t>(j);
      if (!std::equal(last - static_cast<ptrdiff_t>(unit), last, last)) continue;
      found_.push_back({j + unit, unit});
      if (align(i, j + unit)) return true;
      found_.pop_back();
    }
    return false;
  }

  std::vector<Repeat> repeats() const {
    std::vector<Repeat> out;
    for (size_t k = 0; k < found_.size(); ++k) {
      const auto [end, unit] = found_[k];
      const size_t floor = out.empty() ? 0 : out.back().end;
      const size_t ceiling = k + 1 < found_.size() ? found_[k + 1].end - 2 * found_[k + 1].unit : b_.size();
      Repeat one{end - 2 * unit, end, unit};
      while (one.begin > floor && b_[one.begin - 1] == b_[one.begin - 1 + unit]) --one.begin;
      while (one.end < ceiling && b_[one.end] == b_[one.end - unit]) ++one.end;
      out.push_back(one);
    }
    return out;
  }

 private:
  const std::vector<uint32_t>&a_, &b_;
  std::vector<Inserted> found_;
  int tries_ = 0;
};

}  // namespace

std::vector<std::vector<uint32_t>> tokens_of(const std::vector<const CapturedSteps*>& programs) {
  Tokens tokens(programs);
  std::vector<std::vector<uint32_t>> out;
  for (const CapturedSteps* program : programs) out.push_back(tokens.of(*program));
  return out;
}

std::optional<std::vector<Repeat>> find_repeats(const std::vector<uint32_t>& shorter,
                                                const std::vector<uint32_t>& longer) {
  Alignment alignment(shorter, longer);
  if (longer.size() <= shorter.size() || !alignment.align(0, 0)) return std::nullopt;
  return alignment.repeats();
}

bool is_variadic(const Node& node) {
  constexpr std::string_view kTypes[] = {"Concat", "Sum", "Max", "Min", "Mean"};
  return node.domain.empty() && among(std::string_view(node.type), kTypes);
}

std::string content_of(const Tensor& tensor) {
  std::string text = fmt::format("{}[{}]", static_cast<int>(tensor.dtype()), fmt::join(tensor.dims(), ","));
  if (tensor.dtype() == DType::string) return text + fmt::format("{}", fmt::join(tensor.strings(), "\0"));
  text.append(reinterpret_cast<const char*>(tensor.bytes().data()), tensor.bytes().size());
  return text;
}

bool same_content(const Tensor& a, const Tensor& b) {
  if (a.dtype() != b.dtype() || a.dims() != b.dims()) return false;
  if (a.dtype() == DType::string) return a.strings() == b.strings();
  return a.bytes().data() == b.bytes().data() || std::ranges::equal(a.bytes(), b.bytes());
}

std::string text_of(const Attribute& attribute) {
  const auto list = [&](const auto& values) { return fmt::format(" {}=[{}]", attribute.name, fmt::join(values, ",")); };
  if (const auto* i = std::get_if<int64_t>(&attribute.value)) return fmt::format(" {}={}", attribute.name, *i);
  if (const auto* f = std::get_if<float>(&attribute.value)) return fmt::format(" {}={}f", attribute.name, *f);
  if (const auto* s = std::get_if<std::string>(&attribute.value)) return fmt::format(" {}={:?}", attribute.name, *s);
  if (const auto* many = std::get_if<std::vector<int64_t>>(&attribute.value)) return list(*many);
  if (const auto* many = std::get_if<std::vector<float>>(&attribute.value)) return list(*many);
  if (const auto* many = std::get_if<std::vector<std::string>>(&attribute.value)) return list(*many);
  if (const auto* t = std::get_if<Box<Tensor>>(&attribute.value))
    return fmt::format(" {}={}", attribute.name, content_of(**t));
  return {};
}

}  // namespace anyshape::lower::reroll
