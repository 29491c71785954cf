#include <algorithm>
#include <array>

#include "kernels/matmul.h"
#include "ops/elementwise/elementwise.h"
#include "ops/records.h"
#include "ops/wide.h"

namespace anyshape::ops {
namespace {

constexpr Port kEinsumIn[] = {{"Inputs", Port::variadic}};
constexpr Port kEinsumOut[] = {{"Output"}};
constexpr AttributeDef kEinsumAttributes[] = {
    {"equation", AttributeDef::string, AttributeDef::required},
};

// One term: its letters in order; `.` stands for the ellipsis.
using Term = std::basic_string<char, std::char_traits<char>, TemporaryAllocator<char>>;

struct Equation {
  Temporary<Term> inputs;
  std::optional<Term> output;
};

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

Result<Term> parse_term(std::string_view text) {
  Term term;
  for (size_t i = 0; i < text.size(); ++i) {
    if (is_letter(text[i])) {
      term += text[i];
    } else if (text.substr(i, 3) == "...") {
      if (term.find('.') != Term::npos) return refuse("einsum.equation", "a term has two ellipses: {:?}", text);
      term += '.';
      i += 2;
    } else {
      return refuse("einsum.equation", "{:?} is no letter of an equation", std::string_view(text).substr(i, 1));
    }
  }
  return term;
}

Result<Equation> parse_equation(std::string_view written) {
  Term text(written);
  std::erase(text, ' ');
  Equation equation;
  const size_t arrow = text.find("->");
  if (arrow != Term::npos) {
    TRY(equation.output, parse_term(std::string_view(text).substr(arrow + 2)));
    text.resize(arrow);
  }
  size_t start = 0;
  while (start <= text.size()) {
    const size_t end = std::min(text.find(',', start), text.size());
    TRY(Term term, parse_term(std::string_view(text).substr(start, end - start)));
    equation.inputs.push_back(std::move(term));
    start = end + 1;
  }
  return equation;
}

struct EinsumSizes {
  std::array<std::optional<Dim>, 128> letters;
  std::optional<Dims> ellipsis;
};

// One letter, one size. A 1 in another term is stretched by ONNX Runtime; the operator's text does not say so.
// `stretches`: the terms differ, within one there is no stretching.
Status bind(InferContext& context, EinsumSizes& sizes, char letter, Dim size, bool stretches) {
  auto& known = sizes.letters[static_cast<size_t>(letter)];
  if (!known) {
    known = size;
    return {};
  }
  const Condition same = Condition::eq(*known, size);
  const Condition runs = stretches ? same || Condition::eq(*known, 1) || Condition::eq(size, 1) : same;
  const auto refuse_others = [&](const Condition& legal, RuleCode code) {
    return context.require(legal, code, "the letter {} must stand for one size: {} and {}", letter, print(*known),
                           print(size));
  };
  const bool any_runs = stretches && (*known == Dim(1) || size == Dim(1));
  if (context.strict()) {
    TRY_OK(refuse_others(same, any_runs ? lenient("lenient.einsum") : RuleCode("einsum.size")));
    known = context.only_if(same, *known);
    return {};
  }
  TRY_OK(refuse_others(runs, "einsum.size"));
  TRY_OK(context.expect(same, "lenient.einsum", "the letter {} must stand for one size: {} and {}", letter,
                        print(*known), print(size)));
  known = context.simplify(broadcast(*known, size));
  return {};
}

Status bind_ellipsis(InferContext& context, EinsumSizes& sizes, Dims own) {
  if (!sizes.ellipsis) {
    sizes.ellipsis = std::move(own);
    return {};
  }
  if (sizes.ellipsis->size() != own.size())
    return refuse("einsum.ellipsis", "the ellipsis stands for {} axes in one term and {} in another",
                  sizes.ellipsis->size(), own.size());
  const Dims both[] = {*sizes.ellipsis, std::move(own)};
  TRY(sizes.ellipsis, broadcast_dims(context, both));
  return {};
}

Status bind_term(const Call& call, InferContext& context, size_t input, const Term& term, EinsumSizes& sizes) {
  TRY(const Dims dims, call.dims(input));
  const size_t dots = term.find('.');
  const size_t letters = term.size() - (dots != Term::npos);
  if (dims.size() < letters || (dots == Term::npos && dims.size() != letters))
    return refuse("einsum.rank", "the term {:?} does not fit the shape {}", std::string_view(term), text(dims));
  const size_t hidden = dims.size() - letters;
  size_t axis = 0;
  for (size_t i = 0; i < term.size(); ++i) {
    if (term[i] != '.') {
      const bool repeated = term.find(term[i]) < i || term.find(term[i], i + 1) != Term::npos;
      TRY_OK(bind(context, sizes, term[i], dims[axis++], !repeated));
      continue;
    }
    const auto from = dims.begin() + static_cast<ptrdiff_t>(axis);
    TRY_OK(bind_ellipsis(context, sizes, Dims(from, from + static_cast<ptrdiff_t>(hidden))));
    axis += hidden;
  }
  return {};
}

// Without an arrow: the ellipsis, then every letter that occurs once, in order of its code.
Term implicit_output(const Equation& equation) {
  std::array<int, 128> uses{};
  Term out;
  for (const Term& term : equation.inputs)
    for (char c : term) ++uses[static_cast<size_t>(c)];
  if (uses['.'] > 0) out += '.';
  for (size_t c = 'A'; c < uses.size(); ++c)
    if (uses[c] == 1) out += static_cast<char>(c);
  return out;
}

Result<Dims> output_dims_einsum(const Equation& equation, const EinsumSizes& sizes) {
  const Term out = equation.output.value_or(implicit_output(equation));
  Dims dims;
  for (size_t i = 0; i < out.size(); ++i) {
    if (out.find(out[i], i + 1) != Term::npos)
      return refuse("einsum.output", "the letter {} occurs twice in the output", out[i]);
    if (out[i] == '.') {
      if (sizes.ellipsis) dims.insert(dims.end(), sizes.ellipsis->begin(), sizes.ellipsis->end());
      continue;
    }
    const auto& size = sizes.letters[static_cast<size_t>(out[i])];
    if (!size) return refuse("einsum.output", "the letter {} of the output occurs in no input", out[i]);
    dims.push_back(*size);
  }
  if (out.find('.') == Term::npos && sizes.ellipsis && !sizes.ellipsis->empty())
    return refuse("einsum.output", "the inputs have an ellipsis, the output has none");
  return dims;
}

Result<Facts> infer_einsum(const Call& call, InferContext& context) {
  for (size_t i = 0; i < call.inputs(); ++i) {
    if (!call.has(i)) return refuse("node.arity", "input {} of Einsum is missing", i);
    TRY_OK(require_tensor(call, i, kMaskNumber));
  }
  if (!call.has_attr("equation")) return refuse("attr.missing", "Einsum needs the attribute \"equation\"");
  TRY(const DType dtype, common_dtype(call, 0, call.inputs()));
  TRY(const Equation equation, parse_equation(call.s("equation")));
  if (equation.inputs.size() != call.inputs())
    return refuse("einsum.equation", "the equation has {} terms, the node {} inputs", equation.inputs.size(),
                  call.inputs());
  EinsumSizes sizes;
  for (size_t i = 0; i < call.inputs(); ++i) TRY_OK(bind_term(call, context, i, equation.inputs[i], sizes));
  TRY(Dims dims, output_dims_einsum(equation, sizes));
  return Facts{Fact::tensor(dtype, std::move(dims))};
}

// Loops of a kernel run: one per letter, and one per axis of the ellipsis, those counted from its back.
class Loops {
 public:
  // The loop of this name with a size of at least this; REQUIRES: sizes were checked by the rule.
  size_t find(int name, int64_t size) {
    for (size_t i = 0; i < names_.size(); ++i)
      if (names_[i] == name) {
        if (sizes_[i] == 1) sizes_[i] = size;
        return i;
      }
    names_.push_back(name);
    sizes_.push_back(size);
    return names_.size() - 1;
  }
  const Temporary<int64_t>& sizes() const { return sizes_; }

 private:
  Temporary<int> names_;
  Temporary<int64_t> sizes_;
};

// Axis by axis the loop of a term; ellipsis axis i from the back is called -1 - i.
Result<Temporary<size_t>> loops_of(const Term& term, std::span<const int64_t> dims, Loops& loops) {
  const size_t letters = term.size() - (term.find('.') != Term::npos);
  if (dims.size() < letters)
    return refuse("einsum.rank", "the term {:?} does not fit rank {}", std::string_view(term), dims.size());
  Temporary<size_t> out;
  for (char c : term) {
    if (c != '.') {
      if (out.size() == dims.size()) break;
      out.push_back(loops.find(c, dims[out.size()]));
      continue;
    }
    for (size_t hidden = dims.size() - letters; hidden > 0; --hidden)
      out.push_back(loops.find(-static_cast<int>(hidden), dims[out.size()]));
  }
  return out;
}

Status reference_einsum(const Call& call, KernelArgs& args) {
  TRY(const Equation equation, parse_equation(call.s("equation")));
  return run_wide(args, [&](KernelArgs& wide) -> Status {
    if (!wide.out(0)) return unknown("einsum.output", "the output is not known");
    Loops loops;
    kernels::Einsum einsum;
    TRY_OK(loops_of(equation.output.value_or(implicit_output(equation)), wide.out(0).dims(), loops));
    einsum.kept = loops.sizes().size();
    Temporary<Tensor> operands;
    for (size_t i = 0; i < wide.inputs.size(); ++i) {
      operands.push_back(wide.in(i));
      TRY(auto axes, loops_of(equation.inputs[i], operands[i].dims(), loops));
      einsum.operands.push_back(std::move(axes));
    }
    einsum.loops = loops.sizes();
    return kernels::einsum(einsum, operands, wide.out(0));
  });
}

constexpr Kernel kEinsumKernels[] = {{"reference", reference_einsum}};

}  // namespace

constexpr OpDef kEinsum12{.name = "Einsum",
                          .since = 12,
                          .sig = {kEinsumIn, kEinsumOut, "products summed over named indices", kEinsumAttributes},
                          .infer = infer_einsum,
                          .kernels = kEinsumKernels};

}  // namespace anyshape::ops
